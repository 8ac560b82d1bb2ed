"""The faults themselves: what each one is, where it can be aimed, and how it is written."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from runmaker import RunMaker, order

from workbench.errors import PlaceError
from workbench.faults import (
    Aim,
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
from workbench.trace.faults import (
    FAULT,
    FAULT_TYPES,
    aimed_kinds,
    check_entry,
    check_fault,
    fault_sentence,
)
from workbench.trace.faults.forms import fault_forms
from workbench.trace.places import entry, step, turn

TEXT = st.text(max_size=12)
SECONDS = st.none() | st.floats(0, 1e6)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
FIELDS: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "http_error": {
        "status_code": st.integers(400, 599),
        "retry_after_s": SECONDS,
        "body": JSON,
        "headers": st.dictionaries(TEXT, TEXT, max_size=2),
    },
    "timeout": {"after_ms": SECONDS},
    "connection_reset": {},
    "connection_refused": {},
    "stream_truncate": {
        "after_chunks": st.integers(0, 99),
        "end": st.sampled_from(["reset", "stall", "clean"]),
    },
    "malformed_response": {"text": st.none() | st.text(max_size=9).map(lambda text: "{" + text)},
    "refusal": {"text": TEXT},
    "malformed_tool_call": {
        "mutate": st.sampled_from(
            ["bad_json", "unknown_tool", "missing_argument", "extra_argument", "wrong_type"]
        )
    },
    "cut_off": {"after_tokens": st.none() | st.integers(0, 999)},
    "tool_error": {"message": TEXT},
    "tool_timeout": {"message": TEXT},
    "partial_success": {"result": JSON},
    "stale_result": {},
    "empty_result": {},
    "crash": {"when": st.sampled_from(["before", "after"])},
}
SIDEWAYS: Any = {"layer": "beside"}
RUDE: Any = {"mutate": "rude"}
PLACES = st.sampled_from([turn(2), step("plan/draft"), entry("1-7")])


@st.composite
def faults(draw: st.DrawFn) -> Any:
    """Any fault, aimed in any way that could be met."""
    name = draw(st.sampled_from(sorted(FAULT_TYPES)))
    model = FAULT_TYPES[name]
    made = model(**draw(st.fixed_dictionaries(FIELDS[name])))
    where: dict[str, Any] = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "place": PLACES,
                "nth": st.integers(1, 9),
                "attempt": st.integers(1, 4),
                "times": st.integers(1, 5),
            },
        )
    )
    kinds = sorted(str(kind) for kind in model.kinds if kind in ("tool", "event"))
    other = draw(st.integers(0, 2))
    if kinds and other == 1:
        where[draw(st.sampled_from(kinds))] = draw(st.text(min_size=1, max_size=9))
    elif model.reaches_below and other == 2:
        where["layer"] = "below"
    return made.at(where.pop("place", None), **where)


def test_every_type_has_its_model_and_its_fields_here() -> None:
    """The table of the tests is the table of the faults: none is forgotten."""
    assert set(FIELDS) == set(FAULT_TYPES)
    for name, model in FAULT_TYPES.items():
        assert model.model_fields["type"].default == name
        assert set(FIELDS[name]) == set(model.model_fields) - {"type", "aim", "times", "layer"}


@given(faults())
def test_a_fault_comes_back_from_json(fault: Any) -> None:
    """What a trace's header holds is the fault: no field is lost, none is added."""
    data = fault.model_dump(mode="json", exclude_none=True)
    again = FAULT.validate_python(json.loads(json.dumps(data)))
    assert again == fault
    assert again.model_dump(mode="json", exclude_none=True) == data


@given(faults())
def test_every_fault_is_a_sentence(fault: Any) -> None:
    """A list of edits can say what any fault does; it names its tool or event."""
    said = fault_sentence(fault)
    assert said.startswith("The ")
    assert said.endswith(".")
    for name in (fault.aim.tool, fault.aim.event):
        assert name is None or name in said


TABLE: list[tuple[Any, str, str, str | None]] = [
    (HttpError(429), "before", "model tool", "http_error"),
    (Timeout(), "before", "input model tool", "timeout"),
    (ConnectionReset(), "before", "model tool", "connection_reset"),
    (ConnectionRefused(), "before", "model tool", "connection_refused"),
    (StreamTruncate(2), "outcome", "model tool", "connection_reset"),
    (StreamTruncate(2, end="stall"), "outcome", "model tool", "timeout"),
    (StreamTruncate(2, end="error"), "outcome", "model tool", "http_error"),
    (MalformedResponse(), "outcome", "model", None),
    (Refusal(), "outcome", "model", None),
    (MalformedToolCall(), "outcome", "model", None),
    (CutOff(3), "outcome", "model", None),
    (ToolError("no"), "before", "tool", "ToolFaultError"),
    (ToolTimeout(), "before", "tool", "timeout"),
    (PartialSuccess({"paid": 1}), "outcome", "tool", "ToolFaultError"),
    (StaleResult(), "outcome", "tool", None),
    (EmptyResult(), "outcome", "tool", None),
    (Crash(when="before"), "before", "event input model tool", None),
    (Crash(), "after", "event input model tool", None),
]


@pytest.mark.parametrize(("fault", "phase", "kinds", "error"), TABLE)
def test_the_table(fault: Any, phase: str, kinds: str, error: str | None) -> None:
    """When each fault strikes, what it can hit, and what the call then fails with."""
    assert fault.phase == phase
    assert sorted(fault.kinds) == kinds.split()
    found = fault.error()
    assert (found.type if found else None) == error


def test_what_a_failure_carries() -> None:
    """Status, headers and body of an HTTP error; the done part of a partial success."""
    error = HttpError(429, retry_after_s=2, body={"a": 1}, headers={"X-A": "b"}).error()
    assert (error.status, error.body) == (429, {"a": 1})
    assert error.headers == {"X-A": "b", "retry-after": "2"}
    assert HttpError(503, retry_after_s=2, headers={"Retry-After": "9"}).error().headers == {
        "Retry-After": "9"
    }
    partial = PartialSuccess({"paid": 1}).error()
    assert partial is not None
    assert partial.attributes == {"result": {"paid": 1}}
    assert ConnectionRefused().error().cause == "ConnectError"
    assert Timeout(after_ms=1500).error().message == "injected time-out after 1500 ms"


def test_a_partial_result_may_be_any_value_that_a_trace_holds() -> None:
    """A tuple or a set stands in the trace as such, not as a list."""
    fault = PartialSuccess({"ids": (1, 2)})
    assert FAULT.validate_json(fault.model_dump_json()) == fault
    assert fault.result == {"ids": {"$wb": "tuple", "v": [1, 2]}}


async def later(_call: Any) -> bool:
    """No predicate: its answer would come too late."""
    return True


LATE: Any = {"when": later}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Refusal().at(tool="look"), "a tool is no model: refusal hits model calls"),
        (lambda: HttpError(500).at(event="paid"), "an event only is written down"),
        (lambda: ToolError().at(event="paid"), "tool_error hits tool calls"),
        (lambda: Crash().at(tool="a", event="b"), "a tool and at an event"),
        (lambda: Timeout().at(tool="look", layer="below"), "a tool has no SDK that retries"),
        (lambda: ToolError().at(layer="below"), "nothing that an SDK retries"),
        (lambda: CutOff(1).at(turn(1), layer="below"), "Below the retries are http_error"),
        (lambda: Refusal(aim=Aim(tool="look")), "a tool is no model: refusal hits model calls"),
        (lambda: HttpError(500).at(nth=0), "greater than or equal to 1"),
        (lambda: HttpError(500).at(times=0), "greater than or equal to 1"),
        (lambda: HttpError(500).at(tool=""), "at least 1 character"),
        (lambda: HttpError(500).at(**SIDEWAYS), "'above' or 'below'"),
        (lambda: HttpError(200), "greater than or equal to 400"),
        (lambda: Timeout(after_ms=-1), "greater than or equal to 0"),
        (lambda: MalformedToolCall(**RUDE), "'bad_json', 'unknown_tool'"),
        (lambda: MalformedResponse(text="[1]"), "this text is valid JSON"),
        (lambda: Crash(before="a", after="b"), "a process crashes once"),
        (lambda: FAULT.validate_python({"type": "flood"}), "'http_error', 'timeout'"),
        (lambda: ToolError(colour="red"), "Extra inputs are not permitted"),
        (lambda: ToolError().at(**LATE), "later is async, and a call cannot wait"),
    ],
)
def test_what_could_never_hit_is_refused_when_it_is_made(make: Any, message: str) -> None:
    """A fault that cannot fire would look like an agent that withstood it."""
    with pytest.raises(ValueError, match=message):
        make()


def test_aiming_keeps_the_rest() -> None:
    """The fault's own fields stay; a new aim replaces the old one; so do times and layer."""
    fault = HttpError(429, retry_after_s=2).at(turn(2), attempt=2, times=3, layer="below")
    assert (fault.status_code, fault.retry_after_s, fault.times) == (429, 2, 3)
    assert fault.aim == Aim(place=turn(2), attempt=2)
    again = fault.at(step("plan"))
    assert again.aim == Aim(place=step("plan"))
    assert (again.times, again.layer) == (3, "below")
    assert again.at(layer="above").layer == "above"
    assert HttpError(429).at(turn(2), tool="look").aim.nth == 1
    with pytest.raises(PlaceError, match=r"2 is not a place: say turn\(n\)"):
        fault.at(2)  # type: ignore[arg-type]


def test_a_crash_is_written_short() -> None:
    """after= and before= name the event; the aim can be narrowed further."""
    crash = Crash(after="tool_succeeded")
    assert (crash.when, crash.aim) == ("after", Aim(event="tool_succeeded"))
    assert Crash(before="paid") == Crash(when="before").at(event="paid")
    assert crash.at(nth=2).aim == Aim(event="tool_succeeded", nth=2)
    assert crash.at(tool="refund").aim == Aim(tool="refund")
    assert aimed_kinds(crash) == {"event"}
    assert aimed_kinds(Crash()) == {"model"}


def test_what_is_hit_without_an_aim() -> None:
    """A fault that models can have hits model calls, one of tools hits tool calls; a function or
    an entry may pick any kind that it can hit."""
    assert aimed_kinds(Timeout()) == {"model"}
    assert aimed_kinds(ToolError()) == {"tool"}
    assert aimed_kinds(ToolError().at(turn(2))) == {"tool"}
    assert aimed_kinds(Timeout().at(entry("1-2"))) == {"model", "tool", "input"}
    assert aimed_kinds(HttpError(500).at(when=bool)) == {"model", "tool"}


def is_large(call: Any) -> bool:
    """A predicate with a name."""
    return bool(call.arguments)


def test_a_predicate_leaves_its_name() -> None:
    """A header says which function chose; without the function the fault is refused, not lost."""
    fault = ToolError().at(when=is_large)
    data = fault.model_dump(mode="json", exclude_none=True)
    assert data["aim"] == {"when": "is_large"}
    assert ToolError().at(when=lambda _: True).aim.predicate_name == "<lambda>"
    assert str(fault.aim) == "when is_large"
    assert check_fault(fault) is fault
    again = FAULT.validate_python(data)
    assert again.aim.predicate is None
    with pytest.raises(ValueError, match=r"the predicate is_large .* aim the fault again"):
        check_fault(again)


def test_an_entry_of_another_kind_is_no_aim() -> None:
    """A tool's fault at a model's entry could never hit: the text says what is there."""
    trace = RunMaker("one").turn("", order()).turn("Done.").end()
    model = trace.models()[0].id
    tool = trace.tools()[0].id
    assert check_entry(HttpError(500).at(entry(model)), trace) is None
    assert check_entry(ToolError().at(entry(tool)), trace) is None
    assert check_entry(ToolError().at(turn(1)), trace) is None
    assert check_entry(ToolError().at(entry(model)), trace) == (
        f"entry:{model} is a model entry, and tool_error hits tool calls"
    )
    assert check_entry(Refusal().at(entry(tool)), trace) == (
        f"entry:{tool} is a tool entry, and refusal hits model calls"
    )
    assert check_entry(HttpError(500).at(entry(tool), layer="below"), trace) == (
        f"entry:{tool} is a tool entry, and http_error hits model calls"
    )


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (ConnectionRefused().at(turn(1)), "The model call of turn 1 is refused a connection."),
        (ToolError("no such order").at(tool="get_order", nth=2),
         'The 2nd call of get_order fails with "no such order".'),
        (ToolTimeout(), "The first tool call times out."),
        (MalformedToolCall("extra_argument").at(turn(3)),
         "The model call of turn 3 gets a tool call with an extra argument."),
        (MalformedToolCall(), "The first model call gets a tool call with bad json."),
        (CutOff(20), "The first model call is cut off after 20 tokens."),
        (CutOff(), "The first model call is cut off half-way."),
        (Crash(after="paid"), "The event paid is ended by a crash."),
        (Timeout().at(when=is_large), "The call for which is_large is true times out."),
        (HttpError(503).at(turn(2), times=2, layer="below"),
         "The model call of turn 2 fails with HTTP 503, for 2 tries of the SDK's own."),
    ],
)  # fmt: skip
def test_sentences(fault: Any, sentence: str) -> None:
    """What will go wrong, where, without knowing the names of the fields."""
    assert fault_sentence(fault) == sentence


def test_a_form_explains_every_field() -> None:
    """Whoever fills in a form reads what a field means; what ends the run is not offered."""
    forms = fault_forms(FAULT_TYPES)
    assert set(forms) == set(FAULT_TYPES) - {"crash"}
    for name, form in forms.items():
        assert form["description"], name
        for field, schema in form["properties"].items():
            assert schema.get("description"), f"{name}.{field}"
        assert set(form["properties"]) == {*FIELDS[name], "times"} | (
            {"layer"} if len(form["layers"]) > 1 else set()
        )
    assert forms["refusal"]["kinds"] == ["model"]
    below = {name for name, form in forms.items() if form["layers"] == ["above", "below"]}
    assert below == {"http_error", "timeout", "connection_reset", "connection_refused"}


def test_a_form_can_be_sent_as_it_opens() -> None:
    """Every offered fault but the HTTP error, whose status is asked for, has all it needs."""
    forms = fault_forms(FAULT_TYPES)
    needed = {name for name, form in forms.items() if form.get("required")}
    assert needed == {"http_error"}
    for name in set(forms) - needed:
        made = FAULT.validate_python({"type": name, "aim": {"place": {"kind": "turn", "value": 1}}})
        assert made.aim.place == turn(1)


def test_old_faults_load_as_they_were_written() -> None:
    """A header written before there were layers and events still says the same."""
    old = {
        "type": "http_error", "status_code": 429, "times": 1,
        "aim": {"place": {"kind": "turn", "value": 2}},
    }  # fmt: skip
    assert FAULT.validate_python(old) == HttpError(429).at(turn(2))
    with pytest.raises(ValidationError):
        FAULT.validate_python({**old, "layer": "beside"})
