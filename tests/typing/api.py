"""What a type checker tells whoever uses the public names. Checked by mypy, never run.

A wrong call stands here with an ignore that names the error: should a checker stop complaining
about it, mypy reports the ignore as unused.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, assert_type

import workbench as wb
from workbench.faults import ConnectionReset, Fault, HttpError, StreamTruncate, Timeout


def answer(question: str) -> str:
    """An agent, as far as types go."""
    return question


async def aanswer(question: str) -> str:
    """An async agent, as far as types go."""
    return question


@wb.tool(effect="write")
def refund(order_id: int, amount: float) -> str:
    """A tool of the agent's own."""
    return f"{order_id}: {amount}"


def binding() -> None:
    """A bound function is called as the function itself."""
    assert_type(wb.bind(answer)("where is order 101?"), str)
    wb.bind(answer)(5)  # type: ignore[arg-type]


def reading() -> None:
    """A trace, its turns and its entries."""
    trace = wb.load("run.trace.jsonl")
    assert_type(trace, wb.Trace)
    assert_type(wb.load(Path("run.trace.jsonl")), wb.Trace)
    assert_type(trace.turns, Sequence[wb.Turn])
    assert_type(trace.entries, Sequence[wb.Entry])
    assert_type(trace.turn(4), wb.Turn)
    assert_type(trace.tools("refund"), list[wb.Entry])
    assert_type(trace.select(wb.turn(4)), list[wb.Entry])
    assert_type(trace.status, str)
    assert_type(trace.turn(1).model, wb.Entry)
    assert_type(trace.turn(1).tools, list[wb.Entry])
    wb.load(4)  # type: ignore[arg-type]


def running(trace: wb.Trace) -> None:
    """Recording, replaying and forking give the same kind of result."""
    assert_type(wb.record(answer, "where is order 101?"), wb.RunResult)
    assert_type(wb.replay(answer, trace), wb.RunResult)
    assert_type(wb.replay(answer, "run.trace.jsonl"), wb.RunResult)
    fork = wb.fork(answer, trace, edits=trace.edit(), live_from=wb.turn(5))
    assert_type(fork, wb.RunResult)
    assert_type(fork.trace, wb.Trace)
    assert_type(fork.output, Any)
    assert_type(fork.calls, list[wb.CallReport])
    assert_type(fork.raise_for_drift(), wb.RunResult)


async def running_async(trace: wb.Trace) -> None:
    """The async twins are awaited for the same result."""
    assert_type(await wb.arecord(aanswer, "where is order 101?"), wb.RunResult)
    assert_type(await wb.areplay(aanswer, trace), wb.RunResult)
    assert_type(await wb.afork(aanswer, trace, live_from=wb.turn(5)), wb.RunResult)


def recording() -> None:
    """A block of code is recorded like a run."""
    with wb.recording("run.trace.jsonl", name="refund", tags=["staging"]) as run, wb.step("plan"):
        answer("where is order 101?")
    assert_type(run.trace, wb.Trace)


def editing(trace: wb.Trace) -> None:
    """Edits are chained, and each says what it changes and where."""
    edits = trace.edit()
    assert_type(edits, wb.Edits)
    assert_type(edits.reply(wb.turn(4), text="One refund is enough."), wb.Edits)
    assert_type(wb.turn(4), wb.Place)
    assert_type(wb.parse_place("turn:4"), wb.Place)


def failing(trace: wb.Trace) -> None:
    """Faults take what they need by name and are aimed at a place."""
    faults: list[Fault] = [
        HttpError(429, retry_after_s=2).at(wb.turn(2)),
        Timeout().at(wb.turn(2)),
        ConnectionReset().at(wb.turn(2)),
        StreamTruncate().at(wb.turn(2)),
    ]
    wb.replay(answer, trace, faults=faults)


def checking(trace: wb.Trace) -> None:
    """What is planned, verified and made again has a type of its own."""
    assert_type(wb.plan(trace, edits=trace.edit(), tools_after="allow"), wb.Plan)
    assert_type(wb.verify(answer, trace, runs=5), wb.Verification)
    assert_type(wb.verify(answer, trace).raise_for_difference(), wb.Verification)
    assert_type(wb.rebuild(answer, "fork.trace.jsonl", parent=trace), wb.RunResult)
    wb.replay(answer, trace, latency=wb.Latency("constant", ms=20))
    wb.record(answer, mode="once", to="run.trace.jsonl")
    wb.record(answer, mode="twice", to="run.trace.jsonl")  # type: ignore[arg-type]
    wb.replay(answer, trace, on_miss="live")  # type: ignore[arg-type]
    wb.fork(answer, trace, on_miss="live")


async def checking_async(trace: wb.Trace) -> None:
    """The same, awaited."""
    assert_type(await wb.averify(aanswer, trace), wb.Verification)
    assert_type(await wb.arebuild(aanswer, trace), wb.RunResult)


def blocks(trace: wb.Trace) -> None:
    """A block that replays or forks gives what one that records gives."""
    with wb.replaying(trace, match="position") as again:
        answer("where is order 101?")
    with wb.forking(trace, live_from=wb.turn(2)) as fork:
        answer("where is order 101?")
    assert_type(again.result, wb.RunResult)
    assert_type(fork.plan, wb.Plan | None)


async def through_an_io(io: wb.AgentIO) -> str:
    """An async agent's own loop, typed by what it may ask for."""
    reply = await io.call_model(model="m", messages=[{"role": "user", "content": "?"}])
    assert_type(reply, wb.Reply)
    for call in reply.tool_calls:
        wb.tool_message(call, await io.call_tool(call.name, call.arguments))
    assert_type(await io.ask_human("go on?", ["yes", "no"]), str)
    return reply.text


def through_a_sync_io(io: wb.SyncAgentIO) -> str:
    """The same for code without a loop."""
    assert_type(io.random(), float)
    return io.call_model(model="m", messages=[{"role": "user", "content": "?"}]).text


def ios(trace: wb.Trace) -> None:
    """Every io that is made is an `AgentIO`, and its twin a `SyncAgentIO`."""
    live = wb.live_io(model=wb.OpenAIModel(), tools=[refund])
    made: list[wb.AgentIO] = [
        live,
        wb.recording_io(live, "run.trace.jsonl", ignore={"workbench": ["/body/seed"]}),
        wb.replaying_io(trace, live, tools="verify"),
        wb.faulty_io(live, [HttpError(429).at(wb.turn(1))]),
        wb.scripted_io(["Hello."], human=["yes"]),
    ]
    twin: wb.SyncAgentIO = live.sync
    del made, twin
    wb.replaying_io(trace, tools="sometimes")  # type: ignore[arg-type]


def tools() -> None:
    """A decorated tool keeps the signature of the function."""
    assert_type(refund(101, 149.99), str)
    refund("101")  # type: ignore[call-arg, arg-type]


def errors(error: wb.DriftError) -> None:
    """Every error of the package can be caught as one."""
    base: wb.WorkbenchError = error
    stop: BaseException = wb.RunCancelled()
    anything: Any = (base, stop)
    del anything
