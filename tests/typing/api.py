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
    """The four faults take what they need by name and are aimed at a place."""
    faults: list[Fault] = [
        HttpError(429, retry_after_s=2).at(wb.turn(2)),
        Timeout().at(wb.turn(2)),
        ConnectionReset().at(wb.turn(2)),
        StreamTruncate().at(wb.turn(2)),
    ]
    wb.replay(answer, trace, faults=faults)


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
