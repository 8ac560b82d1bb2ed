"""Agents of OpenAI's agents SDK over a model server on loopback: recorded, replayed, edited."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    RunContextWrapper,
    Runner,
    function_tool,
)
from agents_shop import TOOLS, WAYS, Way, get_order, ran, ran_async, refund, streamed
from agents_shop import shop_agent as make
from chat_server import ChatServer, call, results
from pydantic import BaseModel
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


def final(server: ChatServer, **options: Any) -> Any:
    """The agent, and what it says in the end."""
    return lambda: asyncio.run(Runner.run(make(server.url, **options), QUESTION)).final_output


def test_an_edited_result_reaches_the_model_and_a_write_is_denied(server: ChatServer) -> None:
    """What a tool is said to have returned goes on as if it had; a live write wants permission."""
    agent = final(server)
    recorded = wb.record(agent)
    ran.clear()
    edits = recorded.trace.edit().tool_result(wb.turn(1), {"number": 101, "total": 7})
    denied = wb.fork(agent, recorded.trace, edits=edits)
    assert denied.status == "blocked"
    assert ran == []
    forked = wb.fork(agent, recorded.trace, edits=edits, tools_after="allow")
    assert forked.output == "Done: {'number': 101, 'total': 7}, refunded 0.5"
    assert [(c.name, c.how) for c in forked.calls] == [
        ("m", "replayed"),
        ("get_order", "edited"),
        ("m", "live"),
        ("refund", "live"),
        ("m", "live"),
    ]
    assert ran == [("refund", 101, 0.5)]


def test_edited_arguments_are_what_the_tool_gets(server: ChatServer) -> None:
    """A tool is called with what an edit says, read as the SDK reads what a model says."""
    agent = final(server)
    recorded = wb.record(agent)
    ran.clear()
    edits = recorded.trace.edit().tool_arguments(wb.turn(1), {"number": "7"})
    forked = wb.fork(agent, recorded.trace, edits=edits, tools_after="allow")
    assert forked.status == "ok", forked.error
    assert ran[0] == ("get_order", 7)


def test_another_question_is_a_drift_and_so_are_other_arguments(server: ChatServer) -> None:
    """A strict replay stops at the first request that was not made."""
    agent = final(server)
    recorded = wb.record(agent)
    changed = wb.replay(final(server, instructions="Be rude."), recorded.trace)
    assert changed.status == "drifted"
    edits = recorded.trace.edit().reply(wb.turn(1), tool_call=("get_order", {"number": 102}))
    other = wb.fork(agent, recorded.trace, edits=edits, on_miss="fail")
    assert other.status == "drifted"
    assert "102" in str(other.drift)
    assert len(ran) == 2


def test_a_failure_is_told_to_the_model_as_the_sdk_tells_it(server: ChatServer) -> None:
    """Live, replayed, and on purpose: the same words reach the model, and the run goes on."""

    @function_tool
    def look_up(number: int) -> str:
        """Look up."""
        ran.append(number)
        raise LookupError(f"no order {number}")

    server.answer = lambda asked: "".join(results(asked)) or call("look_up", number=7)
    agent = final(server, tools=[look_up])
    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    (entry,) = recorded.trace.tools()
    assert entry.error is not None
    assert (entry.error.type, entry.error.message) == ("LookupError", "no order 7")
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, [7])
    faults = [ToolError("the shop is closed").at(tool="look_up")]
    told = wb.fork(agent, recorded.trace, faults=faults, on_miss="live")
    assert told.status == "ok", told.error
    assert str(told.output).startswith("An error occurred while running the tool")
    late = [ToolTimeout().at(tool="look_up")]
    assert wb.fork(agent, recorded.trace, faults=late, on_miss="live").status == "ok"
    assert ran == [7]


def test_faults_of_the_model_reach_the_agent(server: ChatServer) -> None:
    """A 429 is the SDK's own exception, and below it is survived by the SDK's retries."""
    agent = final(server)
    recorded = wb.record(agent)
    failed = wb.replay(agent, recorded.trace, faults=[HttpError(429).at(wb.turn(2))])
    assert isinstance(failed.error, openai.RateLimitError)
    below = [HttpError(429).at(wb.turn(2), layer="below")]
    survived = wb.replay(agent, recorded.trace, faults=below)
    assert (survived.status, survived.output) == ("ok", recorded.output)


def test_calls_at_once_are_each_answered(server: ChatServer) -> None:
    """Three calls in one reply run as tasks, and come back each to its own."""

    @function_tool
    async def slow(number: int) -> int:
        await asyncio.sleep(0.03 * (3 - number))
        ran.append(number)
        return number * 10

    many = [call("slow", number=n) for n in (0, 1, 2)] + [call("get_order", number=3)]
    server.answer = lambda asked: " ".join(results(asked)) if results(asked) else many
    agent = final(server, tools=[slow, *TOOLS])
    recorded = wb.record(agent)
    assert recorded.output == "0 10 20 {'number': 3, 'total': 149.99}"
    assert len(recorded.trace.turn(1).tools) == 4
    ran.clear()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, [])


@pytest.mark.parametrize("way", [ran_async, streamed])
def test_agents_that_hand_over_are_steps_by_name(server: ChatServer, way: Way) -> None:
    """Each turn is in the step of the agent whose turn it was."""

    def agent() -> Any:
        clerk = make(server.url, name="clerk")
        return way(make(server.url, name="front", tools=[], handoffs=[clerk]), QUESTION)

    def answer(asked: dict[str, Any]) -> Any:
        names = [tool["function"]["name"] for tool in asked["tools"]]
        if "transfer_to_clerk" in names:
            return call("transfer_to_clerk")
        got = [text for text in results(asked) if "total" in text]
        return f"clerk: {got[0]}" if got else call("get_order", number=5)

    server.answer = answer
    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert [(e.kind, e.step) for e in recorded.trace.entries] == [
        ("model", "front"),
        ("model", "clerk"),
        ("tool", "clerk"),
        ("model", "clerk"),
    ]
    server.stop()
    assert wb.replay(agent, recorded.trace).output == recorded.output


def test_an_agent_as_a_tool_is_a_step_and_no_tool(server: ChatServer) -> None:
    """What it asks and calls is recorded, so that its calls are guarded one by one."""

    def agent() -> Any:
        clerk = make(server.url, name="clerk")
        asking = clerk.as_tool("ask_clerk", "Ask the clerk.")
        return ran_async(make(server.url, name="boss", tools=[asking]), QUESTION)

    def answer(asked: dict[str, Any]) -> Any:
        got = results(asked)
        if any(tool["function"]["name"] == "get_order" for tool in asked["tools"]):
            return f"clerk says {got[0]}" if got else call("get_order", number=5)
        return got[0] if got else call("ask_clerk", input="5?")

    server.answer = answer
    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert [(e.kind, e.step) for e in recorded.trace.entries] == [
        ("model", "boss"),
        ("model", "boss/clerk"),
        ("tool", "boss/clerk"),
        ("model", "boss/clerk"),
        ("model", "boss"),
    ]
    server.stop()
    assert wb.replay(agent, recorded.trace).output == recorded.output


def test_a_guardrail_runs_live_and_its_model_is_replayed(server: ChatServer) -> None:
    """What a guardrail decides is the agent's own code; what it asks is in the trace."""
    judged: list[str] = []

    class Verdict(BaseModel):
        fine: bool

    async def judge(ctx: RunContextWrapper[Any], agent: Agent[Any], said: Any) -> Any:
        asked = make(server.url, name="judge", tools=[], output_type=Verdict)
        verdict = (await Runner.run(asked, said)).final_output
        judged.append(str(said))
        return GuardrailFunctionOutput(verdict, tripwire_triggered=not verdict.fine)

    def answer(asked: dict[str, Any]) -> Any:
        return json.dumps({"fine": True}) if "response_format" in asked else "hello"

    server.answer = answer

    def agent() -> Any:
        rails = [InputGuardrail(judge, run_in_parallel=False)]
        return ran_async(make(server.url, tools=[], input_guardrails=rails), QUESTION)

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert [e.step for e in recorded.trace.models()] == ["judge", "shop"]
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(judged) == 2
    assert (get_order.name, refund.effect) == ("get_order", "write")
