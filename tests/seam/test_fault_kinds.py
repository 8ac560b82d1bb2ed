"""Faults of tools and events in whole runs, aimed in every way: they hit that call and no other."""

from __future__ import annotations

from typing import Any

import pytest
from scripted import Lost, World, ask

import workbench as wb
from workbench.errors import UsageError
from workbench.faults import (
    ConnectionRefused,
    ConnectionReset,
    Crash,
    EmptyResult,
    HttpError,
    PartialSuccess,
    StaleResult,
    StreamTruncate,
    Timeout,
    ToolError,
    ToolTimeout,
)
from workbench.seam.faulting import SeenCall

RAN: list[int] = []


@wb.tool(effect="read")
def look(number: int) -> list[int]:
    """A tool whose results differ."""
    RAN.append(number)
    return [number, number * 2]


@wb.tool(effect="write")
def pay(amount: int) -> dict[str, int]:
    """A tool that writes."""
    RAN.append(amount)
    return {"paid": amount}


def looking() -> list[Any]:
    """An agent that looks three times and keeps what failed."""
    out: list[Any] = []
    for number in (1, 2, 3):
        try:
            out.append(look(number))
        except Exception as error:
            out.append(error)
    return out


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    RAN.clear()


@pytest.fixture
def looked() -> wb.Trace:
    """A recording of three looks."""
    trace = wb.record(looking).trace
    RAN.clear()
    return trace


FAILURES: list[tuple[Any, type[Exception], str]] = [
    (ToolError("no such order"), wb.ToolFaultError, "no such order"),
    (ToolTimeout(), TimeoutError, "injected tool time-out"),
    (Timeout(after_ms=20), TimeoutError, "injected time-out after 20 ms"),
    (ConnectionReset(), ConnectionResetError, "injected connection reset"),
    (ConnectionRefused(), ConnectionRefusedError, "injected connection refusal"),
    (HttpError(503, body="later"), wb.ToolFaultError, "injected HTTP 503"),
]


@pytest.mark.parametrize(("fault", "kind", "text"), FAILURES, ids=lambda each: str(each)[:12])
def test_a_tool_raises_what_a_tool_would(
    looked: wb.Trace, fault: Any, kind: type[Exception], text: str
) -> None:
    """Python's own exception, at the second call; the others are served, and nothing runs."""
    fault = fault.at(tool="look", nth=2)
    result = wb.replay(looking, looked, faults=[fault])
    first, error, third = result.output
    assert (first, third) == ([1, 2], [3, 6])
    assert type(error) is kind
    assert str(error) == text
    assert [each for each, _ in result.fired] == [fault]
    assert (result.status, RAN) == ("ok", [])
    entry = result.trace.tools()[1]
    assert (entry.source, (entry.fault or {})["type"]) == ("fault", fault.type)


def test_an_http_error_of_a_tool_can_be_read(looked: wb.Trace) -> None:
    """A tool has no SDK whose exception it could be: the status stands on the error."""
    fault = HttpError(429, retry_after_s=2, body={"a": 1}).at(tool="look")
    error = wb.replay(looking, looked, faults=[fault]).output[0]
    assert (error.status, error.body, error.headers) == (429, {"a": 1}, {"retry-after": "2"})


def test_the_exceptions_of_a_run_with_faults_replay_without_them(looked: wb.Trace) -> None:
    """What was injected is recorded: the new trace gives the same exceptions by itself."""
    faults: list[Any] = [
        ToolError("no").at(tool="look", nth=1),
        PartialSuccess([9]).at(tool="look", nth=2),
    ]
    faulty = wb.replay(looking, looked, faults=faults)
    again = wb.replay(looking, faulty.trace)
    assert [repr(each) for each in again.output] == [repr(each) for each in faulty.output]
    assert again.output[1].result == [9]
    assert again.status == "ok"


def test_a_partial_success_holds_what_was_done(looked: wb.Trace) -> None:
    """The agent can see what it may not do again."""
    result = wb.replay(looking, looked, faults=[PartialSuccess().at(tool="look", nth=3)])
    error = result.output[2]
    assert isinstance(error, wb.ToolFaultError)
    assert error.result == [3, 6]
    assert result.trace.tools()[2].response == [3, 6]


def test_a_live_partial_success_really_happened(world: World) -> None:
    """The tool runs, once; the agent hears of a failure: what a retry without a key would
    double."""

    def agent() -> Any:
        try:
            return pay(5)
        except wb.ToolFaultError as error:
            return error.result

    trace = wb.record(agent).trace
    RAN.clear()
    fork = wb.fork(
        agent,
        trace,
        force_live=[wb.entry(trace.tools()[0].id)],
        tools_after="allow",
        faults=[PartialSuccess().at(tool="pay")],
    )
    assert (fork.output, RAN) == ({"paid": 5}, [5])
    assert fork.trace.tools()[0].source == "fault"


def test_a_stale_result_waits_for_one_that_can_be_stale(looked: wb.Trace) -> None:
    """The first call has no result before it, so it is the second one that repeats the first."""
    result = wb.replay(looking, looked, faults=[StaleResult().at(tool="look")])
    assert result.output == [[1, 2], [1, 2], [3, 6]]
    assert [call.how for call in result.calls] == ["replayed", "fault", "replayed"]


def test_an_empty_result_is_an_empty_list(looked: wb.Trace) -> None:
    """Every call of the tool gives nothing, as its type has it."""
    result = wb.replay(looking, looked, faults=[EmptyResult().at(tool="look", times=3)])
    assert result.output == [[], [], []]
    assert (result.status, len(result.fired)) == ("ok", 3)


def test_a_fault_that_fits_no_answer_says_so(looked: wb.Trace) -> None:
    """A strict replay fails, with the reason in place of a pass."""
    first = wb.replay(looking, looked, faults=[StaleResult().at(tool="look", nth=1)])
    assert first.status == "drifted"
    entry = first.trace.tools()[0].id
    assert str(first.drift) == (
        f"the fault stale result never fired: look has given no result before in this run ({entry})"
    )


def test_tool_faults_without_a_tool_hit_the_first_tool_call(looked: wb.Trace) -> None:
    """No name is needed where it does not matter; a turn names the calls that it asked for."""
    assert isinstance(wb.replay(looking, looked, faults=[ToolError()]).output[0], Exception)

    def agent() -> list[Any]:
        out: list[Any] = []
        for question in ("one", "two"):
            ask(question)
            try:
                out.append(look(7))
            except wb.ToolFaultError as error:
                out.append(str(error))
        return out

    trace = wb.record(agent).trace
    result = wb.replay(agent, trace, faults=[ToolError("no").at(wb.turn(2))])
    assert result.output == [[7, 14], "no"]


def test_a_fault_below_no_sdk_is_no_pass() -> None:
    """A model that is reached without an SDK has no tries of its own: the fault never fired."""

    def agent() -> str:
        try:
            return str(ask("one")["content"])
        except UsageError as error:
            return str(error)

    trace = wb.record(agent).trace
    result = wb.replay(agent, trace, faults=[HttpError(503).at(layer="below", times=2)])
    assert "hits the tries that an SDK makes by itself" in result.output
    assert result.status == "drifted"
    assert "no SDK tried this call by itself" in str(result.drift)


# -- predicates -----------------------------------------------------------------------------------


def test_a_function_picks_the_call(looked: wb.Trace) -> None:
    """It sees the arguments, and counts come after it: the first look beyond one."""
    seen: list[SeenCall] = []

    def beyond_one(call: SeenCall) -> bool:
        seen.append(call)
        return bool(call.arguments["number"] > 1)

    result = wb.replay(looking, looked, faults=[ToolError().at(when=beyond_one)])
    assert [isinstance(each, Exception) for each in result.output] == [False, True, False]
    assert [(each.kind, each.name, each.attempt) for each in seen] == [("tool", "look", 1)] * 3
    assert seen[0].request == {"name": "look", "arguments": {"number": 1}}
    assert result.trace.header.parent is not None
    (data,) = result.trace.header.parent.edits
    assert data["fault"]["aim"] == {"when": "beyond_one"}


def test_a_function_sees_what_a_model_is_asked() -> None:
    """Steps, turns, models and bodies can all be asked for; what it changes is only its copy."""
    seen: list[tuple[Any, ...]] = []

    def second(call: SeenCall) -> bool:
        if call.kind != "model":
            return False
        seen.append((call.model, call.step, call.turn, call.body["messages"][0]["content"]))
        call.body.clear()
        return call.turn == 2

    def agent() -> list[Any]:
        out: list[Any] = []
        with wb.step("plan"):
            for question in ("one", "two"):
                look(1)
                try:
                    out.append(ask(question)["content"])
                except Lost:
                    out.append("lost")
        return out

    trace = wb.record(agent).trace
    result = wb.replay(agent, trace, faults=[ConnectionReset().at(when=second)])
    assert result.output == ["re: one", "lost"]
    assert seen == [("m-1", "plan", 1, "one"), ("m-1", "plan", 2, "two")]


def test_a_function_that_fails_ends_the_run(looked: wb.Trace) -> None:
    """A mistake in it is not taken for "no": every call raises it, and it is named."""

    def wrong(call: SeenCall) -> bool:
        return bool(call.arguments["amount"])

    result = wb.replay(looking, looked, faults=[ToolError().at(when=wrong)])
    for error in result.output:
        assert isinstance(error, UsageError)
        assert "wrong, given to the fault tool error with when=, failed" in str(error)
        assert "KeyError: 'amount'" in str(error)
    assert result.status == "drifted"


def test_a_faults_function_is_needed_again(looked: wb.Trace) -> None:
    """A trace holds its name only, so edits read from one refuse to guess."""
    result = wb.replay(looking, looked, faults=[ToolError().at(when=lambda call: True)])
    assert result.trace.header.parent is not None
    (data,) = result.trace.header.parent.edits
    with pytest.raises(UsageError, match=r"the predicate <lambda> .* aim the fault again"):
        wb.replay(looking, looked, edits=wb.Edits.from_json(looked, [data]))


# -- events ---------------------------------------------------------------------------------------


def working() -> str:
    """An agent that writes down what it does."""
    for number in (1, 2):
        wb.write_event("started", {"number": number})
        look(number)
        wb.write_event("done", {"number": number})
    return "finished"


@pytest.mark.parametrize(
    ("fault", "events", "ran"),
    [
        (Crash(after="done"), ["started", "done"], [1]),
        (Crash(before="done"), ["started"], [1]),
        (Crash(after="started").at(nth=2), ["started", "done", "started"], [1]),
        (Crash(when="before").at(tool="look", nth=2), ["started", "done", "started"], [1]),
        (Crash().at(tool="look", nth=2), ["started", "done", "started"], [1, 2]),
        (
            Crash(after="done").at(when=lambda call: call.data["number"] == 2),
            ["started", "done", "started", "done"],
            [1, 2],
        ),
    ],
    ids=["after", "before", "second", "tool", "after tool", "function"],
)
def test_a_process_dies_at_an_event_or_a_call(
    fault: Any, events: list[str], ran: list[int]
) -> None:
    """What came before is written down, what comes after never happens, and nothing catches it."""

    def careless() -> str:
        try:
            return working()
        except Exception:
            return "caught"

    trace = wb.record(careless).trace
    with pytest.raises(wb.SimulatedCrash) as caught:
        wb.replay(careless, trace, faults=[fault])
    left = caught.value.trace
    assert left is not None
    left = wb.load(left) if not isinstance(left, wb.Trace) else left
    assert [entry.type for entry in left.entries if entry.kind == "event"] == events
    assert [entry.request["arguments"]["number"] for entry in left.tools() if not entry.open] == ran


def test_a_stream_fault_is_no_event(world: World) -> None:
    """What can only hit models is refused where the aim is anything else."""
    with pytest.raises(ValueError, match="an event only is written down"):
        StreamTruncate(1).at(event="done")
