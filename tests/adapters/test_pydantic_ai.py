"""pydantic-ai agents over a model server on loopback: recorded, replayed, edited, made to fail."""

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from chat_server import ChatServer, call, results
from pydantic import AfterValidator
from pydantic_ai import Agent, ModelRetry, RunContext
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.toolsets import FunctionToolset, WrapperToolset
from pydantic_shop import WAYS, Way, chat, get_order, ran, ran_sync, refund
from pydantic_shop import shop_agent as make
from shop_model import QUESTION, own_loop, shop

import workbench as wb
from workbench.faults import HttpError, ToolError, ToolTimeout


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model server that plays :func:`shop`, if nothing else is said."""
    ran.clear()
    with own_loop(), ChatServer(shop) as running:
        yield running


@pytest.mark.parametrize("way", WAYS)
def test_an_agent_is_replayed_with_its_server_stopped(
    server: ChatServer, connections: list[object], way: Way
) -> None:
    """In every way to run an agent, a replay gives what the run gave, without any connection."""

    def agent() -> Any:
        return way(make(server.url), QUESTION)

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert [(e.kind, e.name or e.api, e.effect, e.key) for e in recorded.trace.entries] == [
        ("model", "openai.chat", None, None),
        ("tool", "get_order", "read", None),
        ("model", "openai.chat", None, None),
        ("tool", "refund", "write", "refund:101"),
        ("model", "openai.chat", None, None),
    ]
    assert {e.step for e in recorded.trace.entries} == {"shop"}
    assert [e.asked_by for e in recorded.trace.tools()] == ["1-1", "1-3"]
    assert ran == [("get_order", 101), ("refund", 101, 149.99)]
    server.stop()
    connections.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert (len(ran), connections) == (2, [])


def test_an_edited_result_reaches_the_model_and_a_write_is_denied(server: ChatServer) -> None:
    """What a tool is said to have returned goes on as if it had; a live write wants permission."""

    def agent() -> Any:
        return make(server.url).run_sync(QUESTION).output

    recorded = wb.record(agent)
    ran.clear()
    edits = recorded.trace.edit().tool_result(wb.turn(1), {"number": 101, "total": 7})
    denied = wb.fork(agent, recorded.trace, edits=edits)
    assert denied.status == "blocked"
    assert ran == []
    forked = wb.fork(agent, recorded.trace, edits=edits, tools_after="allow")
    assert forked.output == 'Done: {"number":101,"total":7}, refunded 0.5'
    assert [(c.name, c.how) for c in forked.calls] == [
        ("m", "replayed"),
        ("get_order", "edited"),
        ("m", "live"),
        ("refund", "live"),
        ("m", "live"),
    ]
    assert ran == [("refund", 101, 0.5)]


def test_edited_arguments_are_validated_like_the_models(server: ChatServer) -> None:
    """A tool is called with what an edit says, made of the types that the function wants."""

    def agent() -> Any:
        return make(server.url).run_sync(QUESTION).output

    recorded = wb.record(agent)
    ran.clear()
    edits = recorded.trace.edit().tool_arguments(wb.turn(1), {"number": "7"})
    forked = wb.fork(agent, recorded.trace, edits=edits, tools_after="allow")
    assert forked.status == "ok", forked.error
    assert ran[0] == ("get_order", 7)
    assert '{"number":7,"total":149.99}' in str(forked.output)


def test_a_changed_argument_is_a_drift(server: ChatServer) -> None:
    """A strict replay stops where a tool is called with something else than it was."""
    added = 0

    def look_up(number: Annotated[int, AfterValidator(lambda n: n + added)]) -> str:
        ran.append(number)
        return f"order {number}"

    tools: FunctionToolset[None] = FunctionToolset([look_up])
    server.answer = lambda asked: "".join(results(asked)) or call("look_up", number=101)

    def agent() -> Any:
        return make(server.url, tools=[], toolsets=[tools]).run_sync(QUESTION).output

    recorded = wb.record(agent)
    assert recorded.output == "order 101"
    added = 1
    drifted = wb.replay(agent, recorded.trace)
    assert (drifted.status, ran) == ("drifted", [101])
    assert "arguments.number" in str(drifted.drift)
    assert "102" in str(drifted.drift)


def test_a_retry_that_a_tool_asks_for_is_replayed(server: ChatServer) -> None:
    """``ModelRetry`` is raised again, so that the library tells the model as it did, and counts."""
    tools: FunctionToolset[None] = FunctionToolset()

    @tools.tool
    async def look_up(ctx: RunContext[None], who: str) -> str:
        ran.append((who, ctx.retry))
        if who != "Ada":
            raise ModelRetry("say the first name")
        return "found"

    def answer(asked: dict[str, Any]) -> Any:
        got = results(asked)
        if not got:
            return call("look_up", who="Lovelace")
        return call("look_up", who="Ada") if len(got) == 1 else got[-1]

    server.answer = answer

    def agent() -> Any:
        return ran_sync(make(server.url, tools=[], toolsets=[tools]), QUESTION)

    recorded = wb.record(agent)
    assert ran == [("Lovelace", 0), ("Ada", 1)]
    first, second = recorded.trace.tools("look_up")
    assert (first.error and first.error.type, second.result) == ("ModelRetry", "found")
    assert "ctx" not in first.request["arguments"]
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(ran) == 2


def test_faults_reach_the_agent_as_the_library_has_it(server: ChatServer) -> None:
    """A 429 is the library's own exception, below it is survived by the SDK's retries; a tool's
    time-out ends the run, as the tool's own would."""

    def agent() -> Any:
        return make(server.url).run_sync(QUESTION).output

    recorded = wb.record(agent)
    failed = wb.replay(agent, recorded.trace, faults=[HttpError(429).at(wb.turn(2))])
    assert isinstance(failed.error, ModelHTTPError)
    assert failed.error.status_code == 429
    below = [HttpError(429).at(wb.turn(2), layer="below")]
    survived = wb.replay(agent, recorded.trace, faults=below)
    assert (survived.status, survived.output) == ("ok", recorded.output)
    late = wb.replay(agent, recorded.trace, faults=[ToolTimeout().at(tool="refund")])
    assert isinstance(late.error, TimeoutError)
    broken = wb.replay(agent, recorded.trace, faults=[ToolError("closed").at(tool="get_order")])
    assert isinstance(broken.error, wb.ToolFaultError)
    assert len(ran) == 2


def test_calls_at_once_are_each_answered(server: ChatServer) -> None:
    """Three calls in one reply run as tasks and in threads, and come back each to its own."""

    async def slow(number: int) -> int:
        await asyncio.sleep(0.03 * (3 - number))
        ran.append(number)
        return number * 10

    def threaded(number: int) -> int:
        ran.append(number)
        return int(get_order(number=number)["number"]) + 5

    tools: FunctionToolset[None] = FunctionToolset([slow, threaded])
    many = [call("slow", number=n) for n in (0, 1, 2)] + [call("threaded", number=3)]
    server.answer = lambda asked: " ".join(results(asked)) if results(asked) else many

    def agent() -> Any:
        return make(server.url, tools=[], toolsets=[tools]).run_sync(QUESTION).output

    recorded = wb.record(agent)
    assert recorded.output == "0 10 20 8"
    assert len(recorded.trace.turn(1).tools) == 4 + 1
    (inner,) = recorded.trace.tools("get_order")
    assert inner.enclosing == recorded.trace.tools("threaded")[0].id
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", "0 10 20 8", [])


def test_an_agent_called_in_a_tool_is_a_step_of_its_own(server: ChatServer) -> None:
    """Its calls are in the tool that made them, under its name; the tool's own recording answers
    for all of them, unless it runs again."""
    boss: Agent[None, Any] = Agent(chat(server.url))

    @boss.tool_plain
    async def ask_clerk(question: str) -> str:
        clerk = Agent(chat(server.url), name="clerk", tools=[get_order])
        return str((await clerk.run(question)).output)

    def answer(asked: dict[str, Any]) -> Any:
        got = results(asked)
        if any(tool["function"]["name"] == "get_order" for tool in asked["tools"]):
            return f"clerk says {got[0]}" if got else call("get_order", number=5)
        return got[0] if got else call("ask_clerk", question="5?")

    server.answer = answer

    async def agent() -> Any:
        return (await boss.run(QUESTION)).output

    recorded = wb.record(agent)
    assert recorded.output == 'clerk says {"number":5,"total":149.99}'
    tool = recorded.trace.tools("ask_clerk")[0].id
    assert [(e.kind, e.step, e.enclosing) for e in recorded.trace.entries] == [
        ("model", "boss", None),
        ("tool", "boss", None),
        ("model", "boss/clerk", tool),
        ("tool", "boss/clerk", tool),
        ("model", "boss/clerk", tool),
        ("model", "boss", None),
    ]
    server.stop()
    assert wb.replay(agent, recorded.trace).output == recorded.output


def test_a_tool_is_recorded_once_by_the_name_that_the_model_knows(server: ChatServer) -> None:
    """Also through the library's wrappers and through one of the user's own."""

    class Loud(WrapperToolset[None]):
        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            return f"{await super().call_tool(name, tool_args, ctx, tool)}!"

    tools = FunctionToolset([get_order, refund]).prefixed("shop")
    server.answer = lambda asked: "".join(results(asked)) or call("shop_get_order", number=9)

    def agent() -> Any:
        return make(server.url, tools=[], toolsets=[Loud(tools)]).run_sync(QUESTION).output

    recorded = wb.record(agent)
    assert recorded.output == "{'number': 9, 'total': 149.99}!"
    (entry,) = recorded.trace.tools()
    assert (entry.name, entry.result) == ("shop_get_order", recorded.output)
    assert wb.replay(agent, recorded.trace).output == recorded.output
    assert len(ran) == 1
    assert refund.name == "refund"
