"""Injected faults: they fail as the provider would, hit what they aim at, and say whether."""

from typing import Any

import pytest
from pydantic import ValidationError
from scripted import HttpStatus, Lost, World, ask

import workbench as wb
from workbench.errors import ToolFaultError
from workbench.faults import (
    Aim,
    ConnectionReset,
    HttpError,
    Refusal,
    StreamTruncate,
    Timeout,
    ToolError,
    ToolTimeout,
)


def patient(questions: list[str]) -> list[str]:
    """An agent that retries every failed call up to three times."""
    said = []
    for question in questions:
        for attempt in range(3):
            try:
                said.append(ask(question)["content"])
                break
            except (HttpStatus, Lost, TimeoutError) as error:
                if attempt == 2:
                    said.append(f"gave up: {type(error).__name__}")
    return said


def reader(question: str) -> list[str]:
    """An agent that reads a stream and says how it ended."""
    pieces = []
    try:
        for chunk in ask(question, stream=True):
            if chunk.get("text"):
                pieces.append(chunk["text"])
    except (Lost, TimeoutError) as error:
        pieces.append(f"!{type(error).__name__}")
    return pieces


@pytest.fixture
def two() -> wb.Trace:
    """A recording of two questions."""
    return wb.record(patient, ["one", "two"]).trace


def test_a_fault_fails_one_attempt_and_the_retry_is_served(two: wb.Trace, world: World) -> None:
    """A 429 at turn 2 is met once; the entry is not consumed, so the retry gets the answer."""
    result = wb.replay(patient, two, faults=[HttpError(429, retry_after_s=2).at(wb.turn(2))])
    assert (result.status, result.output) == ("ok", ["re: one", "re: two"])
    assert [(c.turn, c.how) for c in result.calls] == [
        (1, "replayed"),
        (2, "fault"),
        (2, "replayed"),
    ]
    assert [entry.attempt for entry in result.trace.models()] == [1, 1, 2]
    failed = result.trace.models()[1]
    assert failed.source == "fault"
    assert failed.error is not None
    assert (failed.error.status, failed.error.headers) == (429, {"retry-after": "2"})
    assert failed.fault is not None
    assert failed.fault["type"] == "http_error"
    assert len(world.ran) == 2


def test_a_fault_can_hit_every_attempt(two: wb.Trace) -> None:
    """times=3 outlasts an agent that tries three times."""
    result = wb.replay(patient, two, faults=[Timeout().at(wb.turn(1), times=3)])
    assert result.output == ["gave up: TimeoutError", "re: two"]
    assert result.status == "ok"
    assert len(result.fired) == 3


def test_a_fault_can_aim_at_one_attempt(two: wb.Trace) -> None:
    """attempt=2 lets the first try fail by another fault and hits the second."""
    result = wb.replay(
        patient,
        two,
        faults=[
            ConnectionReset().at(wb.turn(1), attempt=1),
            HttpError(500).at(wb.turn(1), attempt=2),
        ],
    )
    assert [c.summary.split(":")[0] for c in result.calls] == [
        "connection_reset",
        "http_error 500",
        "re",
        "re",
    ]
    assert result.output == ["re: one", "re: two"]


def test_a_fault_that_never_fires_fails_a_strict_replay(two: wb.Trace) -> None:
    """A fault whose call is never made is no pass: it is named, with its aim."""
    result = wb.replay(patient, two, faults=[HttpError(500).at(tool="refund")])
    assert result.status == "drifted"
    assert str(result.drift) == (
        "the fault HTTP 500 never fired: no call met its aim (tool refund)"
    )
    assert [fault.label for fault in result.unfired] == ["HTTP 500"]


def test_a_tool_that_a_fault_names_wrongly_is_put_right() -> None:
    """Most faults that never fire were aimed at a name with a slip in it."""

    @wb.tool(effect="read")
    def look() -> int:
        return 1

    def agent() -> int:
        return look()

    trace = wb.record(agent).trace
    result = wb.replay(agent, trace, faults=[ToolTimeout().at(tool="lok")])
    assert str(result.drift) == (
        "the fault tool timeout never fired: no call met its aim (tool lok); "
        "did you mean the tool look?"
    )


def test_a_fault_without_an_aim_hits_the_first_model_call(two: wb.Trace) -> None:
    """The plain form does what one expects."""
    result = wb.replay(patient, two, faults=[ConnectionReset()])
    assert [c.how for c in result.calls] == ["fault", "replayed", "replayed"]


def test_a_fault_without_an_aim_hits_every_model_call_until_it_is_used_up(two: wb.Trace) -> None:
    """times=4 fails three tries of the first question, and goes on with the second one."""
    result = wb.replay(patient, two, faults=[ConnectionReset(times=4)])
    assert result.output == ["gave up: Lost", "re: two"]
    assert [call.how for call in result.calls] == ["fault"] * 4 + ["replayed"]
    assert [call.turn for call in result.calls] == [1, 1, 1, 2, 2]


def test_nth_counts_calls_not_retries(two: wb.Trace) -> None:
    """nth=2 is the second call, although the first was tried twice."""
    first = ConnectionReset().at(wb.turn(1))
    second = HttpError(503).at(nth=2)
    result = wb.replay(patient, two, faults=[first, second])
    assert [(c.turn, c.how) for c in result.calls] == [
        (1, "fault"),
        (1, "replayed"),
        (2, "fault"),
        (2, "replayed"),
    ]


def test_a_tools_fault_hits_that_call_of_it() -> None:
    """A tool's time-out at its second call: the first and third are served."""

    @wb.tool(effect="read")
    def look(number: int) -> int:
        return number * 2

    def agent() -> list[Any]:
        out: list[Any] = []
        for number in range(3):
            try:
                out.append(look(number))
            except TimeoutError as error:
                out.append(str(error))
        return out

    recorded = wb.record(agent)
    result = wb.replay(agent, recorded.trace, faults=[Timeout().at(tool="look", nth=2)])
    assert result.output == [0, "injected time-out", 4]


def test_a_stream_is_cut_after_n_chunks(world: World) -> None:
    """The reader gets the chunks before the cut, then the provider's own error."""
    world.answer = lambda _: {"content": " ".join(["word"] * 60)}
    recorded = wb.record(reader, "count")
    whole = recorded.output
    assert len(whole) > 2
    cut = wb.replay(reader, recorded.trace, faults=[StreamTruncate(2).at(wb.turn(1))])
    assert cut.output == [*whole[:2], "!Lost"]
    entry = cut.trace.models()[0]
    assert (entry.source, entry.ended, len(entry.chunks)) == ("fault", "cut", 2)
    stalled = wb.replay(reader, recorded.trace, faults=[StreamTruncate(1, end="stall")])
    assert stalled.output == [whole[0], "!TimeoutError"]
    clean = wb.replay(reader, recorded.trace, faults=[StreamTruncate(1, end="clean")])
    assert clean.output == [whole[0]]
    assert clean.fired
    assert clean.trace.models()[0].source == "fault"


def test_a_stream_that_is_over_before_the_cut_was_not_hit(world: World) -> None:
    """A cut after more chunks than there are never fires, and a strict replay says so."""
    world.answer = lambda _: {"content": "short"}
    recorded = wb.record(reader, "count")
    late = wb.replay(reader, recorded.trace, faults=[StreamTruncate(50).at(wb.turn(1))])
    assert late.output == recorded.output
    assert (late.status, late.fired) == ("drifted", [])
    assert "the fault stream cut after 50 never fired" in str(late.drift)
    assert late.trace.models()[0].source == "replayed"


def test_a_stream_cut_on_a_plain_call_fails_at_once(two: wb.Trace) -> None:
    """A reply that is not streamed cannot be cut in the middle: the call fails."""
    result = wb.replay(patient, two, faults=[StreamTruncate(1).at(wb.turn(1))])
    assert [c.how for c in result.calls] == ["fault", "replayed", "replayed"]


def test_a_live_stream_can_be_cut_too(world: World) -> None:
    """Past the cut the fault breaks a live stream, and the rest is never asked for."""
    world.answer = lambda _: {"content": " ".join(["word"] * 60)}
    recorded = wb.record(reader, "count")
    fork = wb.fork(
        reader, recorded.trace, live_from=wb.turn(1), faults=[StreamTruncate(1).at(wb.turn(1))]
    )
    assert fork.output == [recorded.output[0], "!Lost"]
    assert [c.how for c in fork.calls] == ["fault"]


def test_faults_validate_as_they_are_made() -> None:
    """A status that is no error, a negative wait, a model's fault on a tool: refused at once."""
    with pytest.raises(ValidationError, match="less than or equal to 599"):
        HttpError(700)
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Timeout(after_ms=-1)
    with pytest.raises(ValidationError, match="greater than or equal to 1"):
        Aim(nth=0)
    recorded = wb.record(patient, ["one"])
    with pytest.raises(ValueError, match="a tool is no model"):
        wb.replay(patient, recorded.trace, faults=[Refusal().at(tool="look")])
    with pytest.raises(wb.EditError, match="has turns 1 to 1"):
        wb.replay(patient, recorded.trace, faults=[HttpError(500).at(wb.turn(5))])


def test_a_tool_that_fails_before_the_cut_does_not_keep_the_run_from_going_live() -> None:
    """How an agent takes a failure is what the live part is to show: whether the failed call is
    made again, which is then served, is the agent's business."""

    @wb.tool(effect="read")
    def look(number: int) -> str:
        return f"order {number}"

    def agent(*, again: bool = False) -> str:
        asked = [{"role": "user", "content": "where?"}]
        ask(asked)
        try:
            found = look(1)
        except ToolFaultError:
            found = look(1) if again else "it failed"
        return str(ask([*asked, {"role": "user", "content": found}])["content"])

    run = wb.record(agent)
    faults = [ToolError(message="down").at(tool="look", nth=1)]
    fork = wb.fork(agent, run.trace, faults=faults, live_from=wb.turn(2))
    assert (fork.status, fork.output) == ("ok", "re: it failed")
    assert [(call.how, call.kind) for call in fork.calls] == [
        ("replayed", "model"),
        ("fault", "tool"),
        ("live", "model"),
    ]
    fork = wb.fork(agent, run.trace, again=True, faults=faults, live_from=wb.turn(2))
    assert (fork.status, fork.output) == ("ok", "re: order 1")
    assert [call.how for call in fork.calls] == ["replayed", "fault", "replayed", "live"]
