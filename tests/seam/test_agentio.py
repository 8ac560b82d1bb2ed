"""An agent with an io: recorded, then replayed, by the calls that every agent is run with."""

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import Any

import iostore
import pytest
from iostore import SCRIPT, Shop, agent, said, sync_agent

import workbench as wb
from workbench.faults import HttpError
from workbench.trace.trace import Trace

RESULTS = [
    {"number": 101, "total": Decimal("149.90"), "items": ("cup",)},
    "UnknownToolError: no tool is named 'no_such_tool'. There are: get_order, refund",
]


def scripted(shop: Shop) -> Any:
    """An io whose model and person answer by a script, with the shop's real tools."""
    return wb.scripted_io(SCRIPT, tools=shop.tools, human=["yes"])


def record(shop: Shop, to: Path | None = None) -> wb.RunResult:
    """One recorded run of the async agent."""
    return wb.record(agent, "Pay 101 back.", io=scripted(shop), to=to)


def kinds(trace: Trace) -> list[tuple[str, str | None, str]]:
    """What crossed the seam, in order, without the clock's readings."""
    return [
        (e.kind, e.name or e.model or e.type, e.step) for e in trace.entries if e.kind != "clock"
    ]


def test_a_run_is_recorded_through_one_seam() -> None:
    """Model, tools, person, event, ids and dice are all in the trace, each once, with steps, who
    asked for a tool and what was read from a stream."""
    shop = Shop()
    result = record(shop)
    assert result.status == "ok", result.error
    assert kinds(result.trace) == [
        ("value", "id", ""),
        ("value", "random", ""),
        ("model", "m-1", "think"),
        ("tool", "get_order", ""),
        ("model", "m-1", "think"),
        ("tool", "refund", ""),
        ("tool", "no_such_tool", ""),
        ("model", "m-1", "think"),
        ("input", None, ""),
        ("event", "answered", ""),
    ]
    assert result.output["text"] == "Order 101 is paid back."
    assert result.output["results"][0] == RESULTS[0]
    assert result.output["results"][2] == RESULTS[1]
    first, second, third = result.trace.turns
    assert [call.name for call in second.model.tool_calls] == ["refund", "no_such_tool"]
    assert [tool.name for tool in second.tools] == ["refund", "no_such_tool"]
    assert first.model.stream
    assert third.text == "Order 101 is paid back."
    (refund,) = result.trace.tools("refund")
    assert (refund.effect, refund.key) == ("write", "refund:101:149.90")
    assert result.output["results"][1] == "paid 149.90 under refund:101:149.90"
    assert [name for name, _ in shop.ran] == ["get_order", "refund"]


def test_a_replay_needs_no_io(tmp_path: Path) -> None:
    """Without model, tools or person the agent gets the very same, and nothing runs; its recorded
    question is used again and its io is no part of the input."""
    path = tmp_path / "run.trace.jsonl"
    shop = Shop()
    live = record(shop, path)
    shop.ran.clear()
    again = wb.replay(agent, path)
    assert again.status == "ok", (again.drift, again.error)
    assert again.output == live.output
    assert kinds(again.trace) == kinds(live.trace)
    assert shop.ran == []
    assert live.trace.header.input == {"args": ["Pay 101 back."], "kwargs": {}}


def test_the_twins_replay_each_other() -> None:
    """One source of truth: what the async agent did replays with the sync one, and back."""
    shop = Shop()
    live = record(shop)
    sync_live = wb.record(sync_agent, "Pay 101 back.", io=scripted(shop).sync)
    assert sync_live.status == "ok", sync_live.error
    for other, recorded in ((sync_agent, live), (agent, sync_live)):
        crossed = wb.replay(other, _as_if_by(other, recorded.trace))
        assert crossed.output is not None, crossed.drift
        assert crossed.output["results"] == recorded.output["results"]
        assert crossed.output["readings"] == recorded.output["readings"]
        assert crossed.status == "ok"


def _as_if_by(function: Any, trace: Trace) -> Trace:
    """The trace with its readings at the other twin's line of code, where they belong."""
    raw = trace.to_bytes() if hasattr(trace, "to_bytes") else trace._read_all()
    here = {agent: b"iostore:agent", sync_agent: b"iostore:sync_agent"}
    there = here[sync_agent if function is agent else agent]
    return Trace.from_bytes(raw.replace(there + b'"', here[function] + b'"'))


def test_awaiting_forms(tmp_path: Path) -> None:
    """In a running loop the awaitable forms do the same; a replay may get the live io as well."""

    async def main() -> tuple[wb.RunResult, wb.RunResult, wb.RunResult]:
        shop = Shop()
        live = await wb.arecord(agent, "Pay 101 back.", io=scripted(shop))
        bare = await wb.areplay(agent, live.trace)
        given = await wb.areplay(agent, live.trace, io=wb.live_io(tools=shop.tools))
        assert [name for name, _ in shop.ran] == ["get_order", "refund"]
        return live, bare, given

    live, bare, given = asyncio.run(main())
    assert bare.output == given.output == live.output


def test_a_call_that_was_not_recorded_is_drift() -> None:
    """A changed question is caught at the model's call, with the words that differ."""
    live = record(Shop())
    drifted = wb.replay(agent, live.trace, "Pay 102 back.")
    assert drifted.status == "drifted"
    assert "102" in str(drifted.drift)


def test_another_answer_of_the_person_is_asked_for_past_a_cut() -> None:
    """A fork asks the person again, and the rest comes from the recording."""
    live = record(Shop())
    asked: list[str] = []

    def human(prompt: str, choices: Any) -> str:
        asked.append(f"{prompt} {choices}")
        return "no"

    io = wb.live_io(model=lambda _: "unused", human=human)
    question = next(entry for entry in live.trace.entries if entry.kind == "input")
    fork = wb.fork(agent, live.trace, io=io, live_from=wb.entry(question.id), tools_after="allow")
    assert fork.output is not None, (fork.drift, fork.error)
    assert fork.output["choice"] == "no"
    assert asked == ["Send it? ['yes', 'no']"]
    assert fork.output["results"] == live.output["results"]


def test_faults_of_a_replay_reach_the_agent_as_model_errors() -> None:
    """An injected 429 is the error that the provider would have raised, its headers readable; the
    retry gets the recorded answer."""
    caught: list[wb.ModelError] = []

    async def patient(io: wb.AgentIO, text: str) -> str:
        while True:
            try:
                reply = await io.call_model(model="m-1", messages=said(text))
            except wb.RateLimitError as error:
                caught.append(error)
                await io.sleep(error.retry_after_s or 0)
            else:
                return reply.text

    live = wb.record(patient, "hi", io=wb.scripted_io(["hello"]))
    again = wb.replay(patient, live.trace, faults=[HttpError(429, retry_after_s=60).at(wb.turn(1))])
    assert again.output == "hello"
    assert [(error.status, error.retry_after_s) for error in caught] == [(429, 60.0)]
    assert again.trace.turns[0].attempts[0].error is not None


def test_calls_at_once_get_their_own_replies() -> None:
    """Ten model calls gathered, half of them streamed: each replay gives each its own answer."""

    async def busy(io: wb.AgentIO) -> list[str]:
        async def one(number: int) -> str:
            asked = said(f"question {number}")
            if number % 2:
                return (await io.stream_model(model="m", messages=asked).read()).text
            return (await io.call_model(model="m", messages=asked)).text

        return await asyncio.gather(*(one(number) for number in range(10)))

    async def answer(body: dict[str, Any]) -> str:
        number = int(body["messages"][-1]["content"].split()[-1])
        await asyncio.sleep((7 * number % 10) / 1000)
        return f"answer {number}"

    live = wb.record(busy, io=wb.live_io(model=answer))
    assert live.output == [f"answer {number}" for number in range(10)]
    again = wb.replay(busy, live.trace)
    assert again.status == "ok", again.drift
    assert again.output == live.output


def test_a_tool_called_by_a_tool_and_its_model_stand_inside_it() -> None:
    """What a tool asks by itself is recorded with the tool's call around it, and is not asked
    again in a replay."""

    async def outer(io: wb.AgentIO) -> str:
        async def summary(text: str) -> str:
            inner = await io.call_model(model="m", messages=said(text))
            return f"{inner.text} {io.new_id()[:0]}".strip()

        world = wb.live_io(
            model=lambda body: body["messages"][0]["content"].upper(), tools=[summary]
        )
        return str(await world.call_tool("summary", {"text": "short"}))

    live = wb.record(outer, io=wb.scripted_io([lambda body: "SHORT"]))
    assert live.output == "SHORT", live.error
    tool, model, ident = live.trace.entries
    assert (tool.kind, model.kind, ident.kind) == ("tool", "model", "value")
    assert model.enclosing == tool.id == ident.enclosing
    again = wb.replay(outer, live.trace)
    assert (again.status, again.output) == ("ok", "SHORT"), again.drift


def test_agents_are_recognised_by_their_parameter() -> None:
    """Any place, any name with the annotation, keyword-only: the io finds its parameter; an agent
    that needs one and gets none is told so before anything runs."""

    async def last(question: str, times: int = 1, *, world: wb.AgentIO) -> str:
        return (await world.call_model(model="m", messages=said(question * times))).text

    def plain(question: str, io: Any = None) -> str:
        return "none" if io is None else str(io.call_model(model="m", messages=said(question)).text)

    live = wb.record(
        last, "hi", times=2, world=wb.scripted_io([lambda b: b["messages"][0]["content"]])
    )
    assert live.output == "hihi"
    assert wb.replay(last, live.trace).output == "hihi"
    without = wb.record(plain, "x")
    assert (without.output, wb.replay(plain, without.trace).output) == ("none", "none")
    sync_live = wb.record(plain, "x", io=wb.scripted_io(["y"]).sync)
    assert wb.replay(plain, sync_live.trace).output == "y"
    with pytest.raises(
        wb.UsageError, match=r"takes an io and none was passed: .*io=workbench.live"
    ):
        wb.record(iostore.agent, "hi")


def test_an_io_of_the_other_kind_is_refused_before_the_agent_runs() -> None:
    """A forgotten ``.sync`` is told as that, not as a coroutine that has no text."""

    def blocking(io: wb.SyncAgentIO) -> str:
        return str(io.call_model(model="m", messages=said("hi")).text)

    async def waiting(io: wb.AgentIO) -> str:
        return str((await io.call_model(model="m", messages=said("hi"))).text)

    io = wb.scripted_io(["hello", "hello"])
    with pytest.raises(wb.UsageError, match=r"takes a SyncAgentIO.*: pass its twin, io\.sync"):
        wb.record(blocking, io=io)
    with pytest.raises(wb.UsageError, match=r"takes an AgentIO.*: pass the io, not io\.sync"):
        wb.record(waiting, io=io.sync)
    trace = wb.record(blocking, io=io.sync).trace
    with pytest.raises(wb.UsageError, match=r"pass its twin, io\.sync"):
        wb.fork(blocking, trace, live_from=wb.turn(1), io=io)
    assert wb.record(waiting, io=io).output == "hello"
