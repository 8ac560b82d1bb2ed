"""Faults through an io: its own exceptions for models, Python's for tools and people."""

from __future__ import annotations

from typing import Any

import pytest
from iostore import Shop, said

import workbench as wb
from workbench.faults import (
    ConnectionRefused,
    ConnectionReset,
    Crash,
    CutOff,
    EmptyResult,
    HttpError,
    MalformedResponse,
    MalformedToolCall,
    PartialSuccess,
    Refusal,
    StaleResult,
    StreamTruncate,
    Timeout,
    ToolError,
    ToolTimeout,
)

SCRIPT: list[Any] = [[("get_order", {"number": 1})], "Hello there, everybody."]


async def once(io: wb.AgentIO, _question: str) -> list[Any]:
    """A plain call, a streamed one, two of a tool and a question; what failed is kept."""
    out: list[Any] = []

    async def keep(made: Any) -> None:
        try:
            out.append(await made)
        except Exception as error:
            out.append(error)

    await keep(io.call_model(model="m", messages=said("hi")))
    await keep(io.stream_model(model="m", messages=said("hi")).read())
    await keep(io.call_tool("get_order", {"number": 1}))
    await keep(io.call_tool("get_order", {"number": 2}))
    await keep(io.ask_human("Go on?"))
    return out


@pytest.fixture
def trace() -> wb.Trace:
    """One run without any fault."""
    result = wb.record(once, "?", io=wb.scripted_io(SCRIPT, tools=Shop().tools, human=["yes"]))
    assert result.status == "ok", result.error
    return result.trace


FAILED: list[tuple[Any, str, str]] = [
    (HttpError(429, retry_after_s=3), "RateLimitError", "injected HTTP 429"),
    (HttpError(404), "RequestRefusedError", "injected HTTP 404"),
    (HttpError(502), "ServerFailedError", "injected HTTP 502"),
    (Timeout(), "ModelTimeoutError", "injected time-out"),
    (ConnectionReset(), "ConnectionLostError", "injected connection reset"),
    (ConnectionRefused(), "ConnectionLostError", "injected connection refusal"),
    (MalformedResponse(text="<html>"), "BadReplyError", "Expecting value"),
]


@pytest.mark.parametrize("place", [0, 1], ids=["plain", "stream"])
@pytest.mark.parametrize(("fault", "kind", "text"), FAILED, ids=lambda each: str(each)[:20])
def test_a_model_fails_with_the_ios_own_error(
    trace: wb.Trace, place: int, fault: Any, kind: str, text: str
) -> None:
    """The agent catches the same exceptions whichever provider it will have."""
    result = wb.replay(once, trace, "?", faults=[fault.at(wb.turn(place + 1))])
    assert type(result.output[place]).__name__ == kind
    assert str(result.output[place]).startswith(text)
    assert not isinstance(result.output[1 - place], Exception)
    assert (result.status, len(result.fired)) == ("ok", 1)


@pytest.mark.parametrize("place", [0, 1], ids=["plain", "stream"])
def test_a_model_says_something_else(trace: wb.Trace, place: int) -> None:
    """Refused, cut off, with a broken call: as the reply has it, plain or read from a stream."""

    def reply(fault: Any) -> Any:
        return wb.replay(once, trace, "?", faults=[fault.at(wb.turn(place + 1))]).output[place]

    refused = reply(Refusal("No."))
    assert (refused.text, refused.refusal, refused.tool_calls) == ("", "No.", ())
    short = reply(CutOff(1))
    assert short.finish_reason == "length"
    if place == 1:
        assert short.text == "Hell"
        return
    assert short.tool_calls[0].raw == '{"nu'
    broken = reply(MalformedToolCall("bad_json")).tool_calls[0]
    assert (broken.name, broken.raw, broken.arguments) == ("get_order", '{"number":1', None)


def test_a_stream_is_cut(trace: wb.Trace) -> None:
    """Reading on raises after the chunks that came."""
    fault = StreamTruncate(1, end="stall").at(wb.turn(2))
    assert type(wb.replay(once, trace, "?", faults=[fault]).output[1]).__name__ == (
        "ModelTimeoutError"
    )


TOOLS: list[tuple[Any, Any]] = [
    (ToolError("no"), wb.ToolFaultError("no")),
    (ToolTimeout("late"), TimeoutError("late")),
    (HttpError(500), wb.ToolFaultError("injected HTTP 500")),
    (ConnectionRefused(), ConnectionRefusedError("injected connection refusal")),
    (PartialSuccess(), wb.ToolFaultError("injected failure after a part of the work")),
]


@pytest.mark.parametrize(("fault", "error"), TOOLS, ids=lambda each: str(each)[:12])
def test_a_tool_fails_as_everywhere(trace: wb.Trace, fault: Any, error: Exception) -> None:
    """A tool that is called through an io raises what it raises when it is called itself."""
    result = wb.replay(once, trace, "?", faults=[fault.at(tool="get_order", nth=2)])
    assert repr(result.output[3]) == repr(error)
    assert result.output[2]["number"] == 1


def test_a_tool_gives_another_result(trace: wb.Trace) -> None:
    """The one before, or nothing."""
    stale = wb.replay(once, trace, "?", faults=[StaleResult().at(tool="get_order")])
    assert stale.output[3] == stale.output[2]
    assert stale.output[3]["number"] == 1
    empty = wb.replay(once, trace, "?", faults=[EmptyResult().at(tool="get_order")])
    assert empty.output[2] == {}


def test_a_person_does_not_answer(trace: wb.Trace) -> None:
    """A question can time out: it is picked by its entry, or by a function."""
    (asked,) = [entry for entry in trace.entries if entry.kind == "input"]
    for fault in (
        Timeout().at(wb.entry(asked.id)),
        Timeout().at(when=lambda call: bool(call.kind == "input")),
    ):
        result = wb.replay(once, trace, "?", faults=[fault])
        assert repr(result.output[4]) == "TimeoutError('injected time-out')"


def test_the_process_dies_when_a_person_is_asked(trace: wb.Trace) -> None:
    """Before the question was answered: the trace ends with what came before it."""
    (asked,) = [entry for entry in trace.entries if entry.kind == "input"]
    with pytest.raises(wb.SimulatedCrash) as crash:
        wb.replay(once, trace, "?", faults=[Crash(when="before").at(wb.entry(asked.id))])
    assert [entry.kind for entry in crash.value.trace.entries] == ["model", "model", "tool", "tool"]
