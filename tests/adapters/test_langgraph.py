"""LangGraph agents over a model server on loopback: recorded, replayed, edited, made to fail."""

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import openai
import pytest
from chat_server import ChatServer, call, results
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, ToolRuntime, tools_condition
from langgraph.types import Command, interrupt
from langgraph_agent import langgraph_agent

import workbench as wb
from workbench.faults import HttpError, ToolError

ran: list[Any] = []
QUESTION = "What did order 101 cost?"


@wb.tool(effect="read")
def get_order(number: int) -> dict[str, Any]:
    """Look up an order."""
    ran.append(("get_order", number))
    return {"number": number, "total": 149.99}


@wb.tool(effect="write", idempotency_key=lambda number, **_: f"refund:{number}")
def refund(number: int, amount: float) -> str:
    """Pay an order back."""
    ran.append(("refund", number, amount))
    return f"refunded {amount}"


def shop(asked: dict[str, Any]) -> Any:
    """The model: looks the order up, pays it back, and says so."""
    got = results(asked)
    if not got:
        return call("get_order", number=101)
    if len(got) == 1:
        return call("refund", number=101, amount=_total(got[0]))
    return "Done: " + ", ".join(got)


def _total(result: str) -> float:
    try:
        return float(json.loads(result)["total"])
    except ValueError:
        return 0.5


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model server that plays :func:`shop`, if nothing else is said."""
    ran.clear()
    with ChatServer(shop) as running:
        yield running


def chat(server: ChatServer) -> ChatOpenAI:
    """A model on the server."""
    settings: dict[str, Any] = {"model": "m", "base_url": server.url, "api_key": "k"}
    return ChatOpenAI(**settings)


Ways = Callable[[Any, dict[str, Any]], Any]


def invoked(graph: Any, state: dict[str, Any]) -> Any:
    """All at once."""
    return [_said(m) for m in graph.invoke(state)["messages"]]


def ainvoked(graph: Any, state: dict[str, Any]) -> Any:
    """All at once, by async code."""
    return [_said(m) for m in asyncio.run(graph.ainvoke(state))["messages"]]


def streamed(graph: Any, state: dict[str, Any]) -> Any:
    """Update by update."""
    return [
        (node, [_said(m) for m in update["messages"]])
        for each in graph.stream(state, stream_mode="updates")
        for node, update in each.items()
    ]


def tokens(graph: Any, state: dict[str, Any]) -> Any:
    """Piece by piece, as the model says it."""
    return [
        (_said(m), meta["langgraph_node"])
        for m, meta in graph.stream(state, stream_mode="messages")
    ]


def atokens(graph: Any, state: dict[str, Any]) -> Any:
    """Piece by piece, by async code."""

    async def read() -> list[Any]:
        return [
            (_said(m), meta["langgraph_node"])
            async for m, meta in graph.astream(state, stream_mode="messages")
        ]

    return asyncio.run(read())


def _said(message: Any) -> Any:
    calls = [(c["name"], c["args"], c["id"]) for c in getattr(message, "tool_calls", ())]
    return message.type, message.content, calls, getattr(message, "usage_metadata", None)


@pytest.mark.parametrize("way", [invoked, ainvoked, streamed, tokens, atokens])
def test_an_agent_is_replayed_with_its_server_stopped(
    server: ChatServer, connections: list[object], way: Ways
) -> None:
    """In every way to run a graph, a replay gives what the run gave, without any connection."""

    def agent() -> Any:
        graph: Any = create_agent(chat(server), [tool(get_order), tool(refund)])
        return way(graph, {"messages": [("user", QUESTION)]})

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    kinds = [(e.kind, e.name or e.api, e.effect) for e in recorded.trace.entries]
    assert kinds == [
        ("model", "openai.chat", None),
        ("tool", "get_order", "read"),
        ("model", "openai.chat", None),
        ("tool", "refund", "write"),
        ("model", "openai.chat", None),
    ]
    assert [e.step for e in recorded.trace.entries] == [""] * 5
    assert ran == [("get_order", 101), ("refund", 101, 149.99)]
    assert recorded.trace.entries[0].stream is (way in (tokens, atokens))
    server.stop()
    connections.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert (len(ran), connections) == (2, [])


def test_one_edit_one_fork_and_one_fault_of_the_agent_of_the_four(server: ChatServer) -> None:
    """The same lines as for any other agent: edit, fork to the live model, 429 survived."""
    agent = langgraph_agent(server.url, [get_order, refund])
    recorded = wb.record(agent, QUESTION)
    assert recorded.output == 'Done: {"number": 101, "total": 149.99}, refunded 149.99'
    ran.clear()

    failed = wb.replay(agent, recorded.trace, QUESTION, faults=[HttpError(429).at(wb.turn(2))])
    assert isinstance(failed.error, openai.RateLimitError)
    below = [HttpError(429).at(wb.turn(2), layer="below")]
    survived = wb.replay(agent, recorded.trace, QUESTION, faults=below)
    assert (survived.status, survived.output) == ("ok", recorded.output)
    assert [str(kind.type) for kind, _ in survived.fired] == ["http_error"]

    edits = recorded.trace.edit().tool_result(wb.turn(1), {"number": 101, "total": 7})
    denied = wb.fork(agent, recorded.trace, QUESTION, edits=edits)
    assert denied.status == "blocked"
    assert ran == []
    forked = wb.fork(agent, recorded.trace, QUESTION, edits=edits, tools_after="allow")
    assert forked.output == 'Done: {"number": 101, "total": 7}, refunded 7.0'
    assert [(c.name, c.how) for c in forked.calls] == [
        ("local", "replayed"),
        ("get_order", "edited"),
        ("local", "live"),
        ("refund", "live"),
        ("local", "live"),
    ]
    assert ran == [("refund", 101, 7.0)]


def test_an_edited_reply_changes_what_the_agent_does(server: ChatServer) -> None:
    """Another call in the model's mouth reaches the framework as if the model had made it."""
    agent = langgraph_agent(server.url, [get_order, refund])
    recorded = wb.record(agent, QUESTION)
    ran.clear()
    edits = recorded.trace.edit().reply(wb.turn(1), tool_call=("get_order", {"number": 7}))
    forked = wb.fork(agent, recorded.trace, QUESTION, edits=edits, tools_after="allow")
    assert forked.output == 'Done: {"number": 7, "total": 149.99}, refunded 149.99'
    assert ran == [("get_order", 7)]  # the very refund of the recording was made already
    changed = wb.replay(agent, recorded.trace, "Another question")
    assert changed.status == "drifted"
    assert "Another question" in str(changed.drift)


def test_calls_at_once_are_each_answered_and_belong_to_their_turn(server: ChatServer) -> None:
    """Three calls in one reply run in threads, or as tasks, and come back each to its own."""
    numbers = (1, 2, 3)
    many = [call("get_order", number=n) for n in numbers]
    server.answer = lambda asked: " ".join(results(asked)) if results(asked) else many

    def agent(way: Ways) -> Any:
        graph: Any = create_agent(chat(server), [tool(get_order)])
        return way(graph, {"messages": [("user", "hi")]})

    for way in (invoked, ainvoked):
        recorded = wb.record(agent, way)
        assert sorted(e.arguments["number"] for e in recorded.trace.tools("get_order")) == [1, 2, 3]
        assert len(recorded.trace.turn(1).tools) == 3
        ran.clear()
        replayed = wb.replay(agent, recorded.trace, way)
        assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, [])


def test_a_tool_that_fails_is_handled_as_the_graph_says(server: ChatServer) -> None:
    """A node that tells the model of errors does so for an injected one; another stops the run."""

    def agent(handles: bool) -> Any:
        def model(state: MessagesState) -> Any:
            return {"messages": [chat(server).bind_tools(tools).invoke(state["messages"])]}

        tools = [tool(get_order), tool(refund)]
        builder = StateGraph(MessagesState)
        builder.add_node("model", model)
        builder.add_node("tools", ToolNode(tools, handle_tool_errors=handles))
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", tools_condition)
        builder.add_edge("tools", "model")
        graph: Any = builder.compile()
        return graph.invoke({"messages": [("user", QUESTION)]})["messages"][-1].content

    recorded = wb.record(agent, True)
    faults = [ToolError("the shop is closed").at(tool="get_order")]
    ran.clear()
    told = wb.fork(agent, recorded.trace, True, faults=faults, on_miss="live", tools_after="allow")
    assert "the shop is closed" in str(told.output)
    assert ran == [("refund", 101, 0.5)]
    stopped = wb.replay(agent, recorded.trace, False, faults=faults)
    assert isinstance(stopped.error, wb.ToolFaultError)
    assert str(stopped.error) == "the shop is closed"


def test_what_a_graph_injects_is_not_part_of_a_call(server: ChatServer) -> None:
    """State, runtime and config reach the tool, live, and are in no trace."""

    @tool
    def count(
        word: str, state: Annotated[dict[str, Any], InjectedState], runtime: ToolRuntime
    ) -> str:
        """Count."""
        ran.append(runtime.tool_call_id)
        return f"{word}: {len(state['messages'])} of {runtime.config['configurable']['user']}"

    server.answer = lambda asked: "".join(results(asked)) or call("count", word="x")

    def agent(user: str) -> Any:
        graph: Any = create_agent(chat(server), [count])
        state = {"messages": [("user", "hi")]}
        return graph.invoke(state, {"configurable": {"user": user}})["messages"][-1].content

    recorded = wb.record(agent, "ada")
    assert recorded.output == "x: 2 of ada"
    (entry,) = recorded.trace.tools("count")
    assert entry.request == {"name": "count", "arguments": {"word": "x"}}
    assert wb.replay(agent, recorded.trace, "bob").output == "x: 2 of ada"
    assert len(ran) == 1


def test_an_interrupt_and_its_answer_are_replayed(server: ChatServer) -> None:
    """A tool that asks a person stops the graph in a replay too, and goes on with the answer."""

    @tool
    def pay(number: int) -> str:
        """Pay, if somebody agrees."""
        ran.append(number)
        return f"paid: {interrupt({'pay': number})}"

    server.answer = lambda asked: "".join(results(asked)) or call("pay", number=7)

    def agent(saver: Any) -> Any:
        graph: Any = create_agent(chat(server), [pay], checkpointer=saver())
        thread = {"configurable": {"thread_id": "t"}}
        asked = graph.invoke({"messages": [("user", "hi")]}, thread)["__interrupt__"]
        answer = {asked[0].id: "yes"}
        state = graph.invoke(Command(resume=answer), thread)
        return [asked[0].value, state["messages"][-1].content]

    recorded = wb.record(agent, InMemorySaver)
    assert recorded.output == [{"pay": 7}, "paid: yes"], recorded.error
    ran.clear()
    replayed = wb.replay(agent, recorded.trace, InMemorySaver)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, [])


def test_a_tool_that_commands_its_graph_is_replayed(server: ChatServer) -> None:
    """A command that updates the state does so again."""

    @tool
    def remember(runtime: ToolRuntime) -> Any:
        """Put a message into the state."""
        said = {"role": "tool", "content": "noted", "tool_call_id": runtime.tool_call_id}
        return Command(update={"messages": [said]})

    server.answer = lambda asked: "".join(results(asked)) or call("remember")

    def agent() -> Any:
        return invoked(create_agent(chat(server), [remember]), {"messages": [("user", "hi")]})

    recorded = wb.record(agent)
    assert recorded.output[-1][1] == "noted"
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
