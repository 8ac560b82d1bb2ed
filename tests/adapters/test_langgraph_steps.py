"""Graphs of several agents: steps by name, turns that know their tools, nothing reported home."""

import asyncio
import operator
from collections.abc import Iterator
from typing import Annotated, Any, TypedDict

import pytest
from chat_server import ChatServer, call, results
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_core.tracers.langchain import wait_for_all_tracers
from langchain_openai import ChatOpenAI
from langgraph.cache.memory import InMemoryCache
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import CachePolicy, Send

import workbench as wb

ran: list[str] = []


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model that looks once, then says what it saw and was told by its system prompt."""

    def answer(asked: dict[str, Any]) -> Any:
        system = next((m["content"] for m in asked["messages"] if m["role"] == "system"), "")
        got = results(asked)
        if asked.get("tools") and (not got or (system == "W" and got == ["<R>"])):
            name = asked["tools"][0]["function"]["name"]
            return call(name, what=f"{system or asked['messages'][-1]['content']}")
        return f"{system}:{','.join(got)}"

    ran.clear()
    with ChatServer(answer) as running:
        yield running


def chat(server: ChatServer) -> ChatOpenAI:
    """A model on the server."""
    settings: dict[str, Any] = {"model": "m", "base_url": server.url, "api_key": "k"}
    return ChatOpenAI(**settings)


@tool
def look(what: str) -> str:
    """Look."""
    ran.append(what)
    return f"<{what}>"


def member(server: ChatServer, prompt: str, name: str | None = None) -> Any:
    """One agent, with a name or without."""
    return create_agent(chat(server), [look], system_prompt=prompt, name=name)


def team(server: ChatServer, name: str | None) -> Any:
    """Two agents one after the other: one that has a name, one that is just a node."""
    builder = StateGraph(MessagesState)
    builder.add_node("first", member(server, "R", "researcher"))
    builder.add_node("writer", member(server, "W"))
    builder.add_edge(START, "first")
    builder.add_edge("first", "writer")
    return builder.compile(name=name)


QUESTION = {"messages": [("user", "hi")]}


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
@pytest.mark.parametrize("name", [None, "team"])
def test_agents_of_a_team_are_steps_by_name(server: ChatServer, way: str, name: str | None) -> None:
    """Named agents and graphs, and agents that are nodes, are steps within each other."""

    def agent() -> Any:
        graph: Any = team(server, name)
        if way == "invoke":
            return graph.invoke(QUESTION)["messages"][-1].content
        if way == "ainvoke":
            return asyncio.run(graph.ainvoke(QUESTION))["messages"][-1].content
        if way == "stream":
            return str([list(each) for each in graph.stream(QUESTION)])

        async def read() -> str:
            return str([list(each) async for each in graph.astream(QUESTION)])

        return asyncio.run(read())

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    above = f"{name}/" if name else ""
    steps = [f"{above}researcher"] * 3 + [f"{above}writer"] * 3
    assert [e.step for e in recorded.trace.entries] == steps
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, [])
    assert [e.step for e in replayed.trace.entries] == steps


def test_a_fork_goes_live_where_a_named_agent_begins(server: ChatServer) -> None:
    """The step of an agent is a place like any other."""

    def agent() -> Any:
        return team(server, None).invoke(QUESTION)["messages"][-1].content

    recorded = wb.record(agent)
    ran.clear()
    forked = wb.fork(agent, recorded.trace, live_from=wb.step("writer"), tools_after="allow")
    assert forked.output == recorded.output
    assert [c.how for c in forked.calls] == ["replayed"] * 3 + ["live"] * 3
    assert ran == ["W"]


def test_agents_that_tools_run_are_inside_their_tool(server: ChatServer) -> None:
    """An agent that is another one's tool has its calls inside it, as a step if it has a name."""

    @tool
    def ask(what: str) -> str:
        """Ask a colleague."""
        states = [member(server, "C", name).invoke(QUESTION) for name in (None, "colleague")]
        return str(states[-1]["messages"][-1].content)

    def agent() -> Any:
        graph: Any = create_agent(chat(server), [ask])
        return graph.invoke(QUESTION)["messages"][-1].content

    recorded = wb.record(agent)
    outer = next(iter(recorded.trace.tools("ask")))
    inside = [e for e in recorded.trace.entries if e.enclosing == outer.id]
    assert [(e.kind, e.step) for e in inside] == [
        *[(kind, "") for kind in ("model", "tool", "model")],
        *[(kind, "colleague") for kind in ("model", "tool", "model")],
    ]
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, [])


class Many(TypedDict):
    """What branches share."""

    found: Annotated[list[str], operator.add]


def test_turns_of_branches_at_once_keep_their_own_tools(server: ChatServer) -> None:
    """Branches without names run side by side: each tool belongs to the model that asked for it."""

    def branch(state: dict[str, str]) -> Any:
        graph: Any = create_agent(chat(server), [look])
        asked = {"messages": [("user", state["what"])]}
        return {"found": [graph.invoke(asked)["messages"][-1].content]}

    def agent() -> Any:
        builder: Any = StateGraph(Many)
        builder.add_node("branch", branch)
        sends = [Send("branch", {"what": each}) for each in "abc"]
        builder.add_conditional_edges(START, lambda _: sends, ["branch"])
        builder.add_edge("branch", END)
        return sorted(builder.compile().invoke({"found": []})["found"])

    recorded = wb.record(agent)
    assert recorded.output == [":<a>", ":<b>", ":<c>"], recorded.error
    turns = [t for t in recorded.trace.turns if t.tools]
    assert len(turns) == 3
    for turn in turns:
        question = turn.model.messages[-1].text
        assert [each.arguments for each in turn.tools] == [{"what": question}]
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)


def test_the_functional_way_is_recorded_without_steps(server: ChatServer) -> None:
    """Functions as graphs have no name that anybody gave them."""

    @task
    def ask(word: str) -> str:
        return str(chat(server).invoke(word).content) + str(look.invoke(word))

    @entrypoint()
    def flow(words: list[str]) -> list[str]:
        return [each.result() for each in [ask(word) for word in words]]

    def agent() -> Any:
        return flow.invoke(["a", "b"])

    recorded = wb.record(agent)
    assert recorded.output == [":<a>", ":<b>"], recorded.error
    assert {e.step for e in recorded.trace.entries} == {""}
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, [])


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_cache_of_nodes_hides_no_call(server: ChatServer, asynchronous: bool) -> None:
    """What a node gave before the session is not used in it, and is used again after it."""
    builder: Any = StateGraph(Many)
    builder.add_node(
        "ask",
        lambda _: {"found": [str(chat(server).invoke("hi").content)]},
        cache_policy=CachePolicy(key_func=lambda _: b"always"),
    )
    builder.add_edge(START, "ask")
    graph = builder.compile(cache=InMemoryCache())

    def agent() -> Any:
        if asynchronous:
            return asyncio.run(graph.ainvoke({"found": []}))["found"]
        return graph.invoke({"found": []})["found"]

    assert agent() == agent() == [":"]
    assert len(server.seen) == 1
    recorded = wb.record(agent)
    assert (len(recorded.trace.models()), len(server.seen)) == (1, 2)
    assert wb.replay(agent, recorded.trace).status == "ok"
    assert agent() == [":"]
    assert len(server.seen) == 2


def test_a_replay_reports_nothing_to_langsmith(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch, connections: list[object]
) -> None:
    """With tracing switched on, a recording reports as ever, and a replay connects to nothing."""
    from langsmith import Client, utils

    known: Any = utils.get_env_var
    monkeypatch.setenv("LANGSMITH_TRACING", "true")
    monkeypatch.setenv("LANGSMITH_API_KEY", "none")
    monkeypatch.setenv("LANGSMITH_ENDPOINT", server.url)
    known.cache_clear()
    reported: list[str] = []

    def agent() -> Any:
        return member(server, "R").invoke(QUESTION)["messages"][-1].content

    def counted(self: Any, *args: Any, **kwargs: Any) -> None:
        reported.append(str(kwargs.get("name")))

    wb.record(lambda: None)  # so that the hooks are in before the method is replaced for a while
    try:
        with monkeypatch.context() as patched:
            patched.setattr(Client, "create_run", counted)
            patched.setattr(Client, "update_run", counted)
            recorded = wb.record(agent)
        assert "ChatOpenAI" in reported
        server.stop()
        connections.clear()
        assert wb.replay(agent, recorded.trace).output == recorded.output
        wait_for_all_tracers()
        assert connections == []
    finally:
        monkeypatch.undo()
        known.cache_clear()
