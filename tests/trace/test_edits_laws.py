"""Laws of edits, whatever they say: data and back, Python and back, undo and redo."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from pathlib import PurePosixPath
from typing import Any
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from runmaker import RunMaker, email, order, refund

from workbench.errors import EditError
from workbench.faults import HttpError, PartialSuccess, StreamTruncate, Timeout
from workbench.trace.edits import (
    EDIT,
    EDIT_TYPES,
    CallEdit,
    DropEdit,
    Edits,
    FaultEdit,
    MessageEdit,
)
from workbench.trace.entries import InputLine, TraceLine, ValueLine
from workbench.trace.faults import FAULT_TYPES
from workbench.trace.journal import Journal
from workbench.trace.places import Place, entry, turn
from workbench.trace.trace import Trace
from workbench.trace.values import dumps, loads


@cache
def trace() -> Trace:
    """Three turns with three tools, an event, two readings and a question."""
    run = RunMaker("laws").turn("", order()).turn("", refund(), email()).event("seen", {})
    journal = run.journal
    journal.append(ValueLine(line="value", id=journal.new_id(), name="id", value="a"))
    journal.append(ValueLine(line="value", id=journal.new_id(), name="random", value=0.5))
    journal.append(InputLine(id=journal.new_id(), prompt="Pay?", value="yes"))
    return run.turn("Done.").end()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
WORDS = TEXT.filter(lambda text: text.strip() != "")
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
FINITE = JSON.filter(lambda value: "Infinity" not in json.dumps(value))
VALUE: st.SearchStrategy[Any] = st.one_of(
    JSON,
    st.binary(max_size=4),
    st.tuples(st.integers(), TEXT),
    st.frozensets(st.integers(), max_size=3),
    st.sampled_from([
        Decimal("1.50"), UUID(int=7), PurePosixPath("a/b"), date(2026, 1, 5), float("inf"),
        datetime(2026, 1, 5, tzinfo=UTC), {"$wb": "bytes"}, {1: "a"}, 2**70,
    ]),
)  # fmt: skip
NAMES = st.sampled_from(["refund", "send_email", "get_order"])
ARGUMENTS = st.dictionaries(TEXT, FINITE, max_size=3) | TEXT
CALL = st.one_of(
    st.tuples(NAMES, ARGUMENTS),
    st.builds(CallEdit, name=NAMES, arguments=ARGUMENTS, id=st.none()),
)
TURN = st.integers(1, 3).map(turn)
SAID = WORDS | st.tuples(st.sampled_from(["user", "system"]), WORDS)
FAULT: st.SearchStrategy[Any] = st.sampled_from([
    HttpError(429, retry_after_s=2.5, body={"a": None}, headers={"x": "y"}).at(turn(2), times=3),
    HttpError(503, layer="below").at(turn(1)),
    Timeout(after_ms=5).at(tool="refund", nth=2),
    StreamTruncate(3, end="stall").at(entry("1-1"), attempt=2),
    PartialSuccess((1, b"x")).at(tool="refund"),
])  # fmt: skip


@st.composite
def lists(draw: st.DrawFn) -> Edits:
    """A list that fits the trace, made by the builder."""
    edits = trace().edit()
    for _ in range(draw(st.integers(1, 4))):
        made = draw(st.sampled_from(_MAKERS))
        try:
            edits = made(draw, edits)
        except EditError as error:
            for mend in error.mends:  # a mend is a list that can be looked at, whatever it holds
                assert all(each.label for each in mend.edits)
    return edits


def _reply(draw: st.DrawFn, edits: Edits) -> Edits:
    calls = draw(st.none() | st.lists(CALL, max_size=2))
    reason = draw(st.none() | st.just("length"))
    return edits.reply(draw(TURN), text=draw(TEXT), tool_calls=calls, finish_reason=reason)


def _request(draw: st.DrawFn, edits: Edits) -> Edits:
    return edits.request(
        draw(TURN),
        system=draw(st.none() | WORDS),
        model=draw(st.none() | WORDS),
        set=draw(st.dictionaries(st.sampled_from(["seed", "stop", "x"]), FINITE, max_size=2)),
        unset=draw(st.lists(st.just("temperature"), max_size=1)),
        replace=draw(st.dictionaries(st.sampled_from([1, 2]), WORDS, max_size=2)),
        append=[draw(SAID)],
    )


def _single(draw: st.DrawFn, edits: Edits) -> Edits:
    place = entry(draw(st.sampled_from(["1-6", "1-7", "1-8", "1-9"])))
    value = draw(VALUE)
    return edits.event(place, value) if place.value == "1-6" else edits.value(place, value)


def _tool(draw: st.DrawFn, edits: Edits) -> Edits:
    place: Place = entry(draw(st.sampled_from(["1-2", "1-4", "1-5"])))
    if draw(st.booleans()):
        return edits.tool_result(place, draw(VALUE))
    return edits.tool_arguments(place, {name: draw(VALUE) for name in draw(st.lists(WORDS))})


def _order(draw: st.DrawFn, edits: Edits) -> Edits:
    where: Any = draw(st.sampled_from(["before", "after"]))
    if draw(st.booleans()):
        return edits.insert_event(draw(TURN), "seen", draw(VALUE), where=where)
    calls = draw(st.lists(st.tuples(NAMES, st.dictionaries(TEXT, FINITE, max_size=2)), max_size=2))
    results = draw(st.none() | st.just([draw(VALUE) for _ in calls]))
    words = draw(WORDS)
    return edits.insert_turn(draw(TURN), text=words, tool_calls=calls, results=results, where=where)


def _drop(draw: st.DrawFn, edits: Edits) -> Edits:
    if draw(st.booleans()):
        return edits.drop(entry("1-4"), pair=True)
    return edits.drop(turn(2))


def _fault(draw: st.DrawFn, edits: Edits) -> Edits:
    return edits.fault(draw(FAULT))


_MAKERS = [_reply, _request, _single, _tool, _order, _drop, _fault]


@given(lists())
def test_data_and_back(edits: Edits) -> None:
    """A fork's header holds the edits as JSON; read from its bytes they are the very same."""
    data = edits.to_json()
    read = Edits.from_json(trace(), loads(dumps(data)))
    assert read == edits
    assert read.to_json() == data
    assert [type(each) for each in read] == [type(each) for each in edits]
    assert list(read.targets()) == list(edits.targets())
    assert read.preview() == edits.preview()


@given(lists())
def test_the_header_of_a_fork_holds_them(edits: Edits) -> None:
    """What is written to a file and read from it makes the same edits."""
    header = TraceLine.model_validate({"id": "f", "parent": {"id": "p", "edits": edits.to_json()}})
    journal = Journal.in_memory(header)
    parent = journal.trace().parent
    assert parent is not None
    assert Edits.from_json(trace(), parent.edits) == edits


@given(lists())
def test_python_and_back(edits: Edits) -> None:
    """The code that makes the edits is run, and makes equal ones."""
    names: dict[str, Any] = {"trace": trace()}
    exec(edits.code(), names)  # noqa: S102 - this very text is what a person copies
    assert names["edits"] == edits


@given(lists(), st.sampled_from(["1-2", "1-3", "1-4", "1-5", "1-7"]), st.booleans())
def test_a_mend_leaves_nothing_wrong(edits: Edits, place: str, pair: bool) -> None:
    """Whatever else was edited: what is mended can be applied, and every call has its result."""
    new = DropEdit(at=entry(place), pair=pair)
    mended = edits.add(new, mend=True)
    assert mended.problems() == []
    said = mended.targets()
    for one in mended.apply().turns:
        names = [call.name for call in one.model.tool_calls]
        if not one.model.id.startswith("hand-") and one.model.id not in said:
            assert [tool.name for tool in one.tools] == names


@given(lists(), st.integers(0, 6))
def test_undo_and_redo_meet(edits: Edits, steps: int) -> None:
    """So many steps back and forth again end where they began."""
    there, taken = edits, 0
    while taken < steps and there.can_undo:
        there, taken = there.undo(), taken + 1
    for _ in range(taken):
        there = there.redo()
    assert there == edits


@given(lists())
def test_applying_loses_nothing_else(edits: Edits) -> None:
    """Every entry that is not dropped is there once, in the old order, with its contents."""
    applied = edits.apply()
    old = [each.id for each in trace().entries]
    kept = [each.id for each in applied.entries if not each.id.startswith("hand-")]
    assert kept == [each for each in old if each in set(kept)]
    gone = set(old) - set(kept)
    assert gone <= ({"1-3", "1-4", "1-5"} if any(e.type == "drop" for e in edits) else set())
    for each in kept:
        was, now = trace().entry(each), applied.entry(each)
        assert (now.kind, now.request, now.at) == (was.kind, was.request, was.at)
        assert was.kind == "model" or now.response == was.response
    assert applied.output == trace().output
    assert edits.onto(applied).problems() == []


def test_every_kind_of_edit_and_fault_is_covered() -> None:
    """A new kind comes with its way to data and back."""
    assert set(EDIT_TYPES) == {
        *("reply", "request", "tool_result", "tool_arguments", "fault", "event", "value"),
        *("insert", "drop"),
    }
    for kind, model in FAULT_TYPES.items():
        needed = {"http_error": {"status_code": 500}}.get(kind, {})
        made = EDIT.validate_python({"type": "fault", "fault": {"type": kind, **needed}})
        assert isinstance(made, FaultEdit)
        assert type(made.fault) is model
        assert list(Edits.from_json(trace(), Edits(trace(), [made]).to_json())) == [made], kind


def test_the_code_of_a_list() -> None:
    """Short, in the words of the builder, an edit a line where there are several."""
    edits = trace().edit().request(turn(2), model="m")
    assert edits.code("parent") == (
        "import workbench as wb\nedits = parent.edit().request(wb.turn(2), model='m')"
    )
    edits = edits.tool_arguments(turn(1), {"order_id": 7}).value(entry("1-8"), Decimal("0.5"))
    assert edits.code() == (
        "from decimal import Decimal\n"
        "import workbench as wb\n"
        "edits = (\n"
        "    trace.edit()\n"
        "    .request(wb.turn(2), model='m')\n"
        "    .tool_arguments(wb.turn(1), {'order_id': 7})\n"
        "    .value(wb.entry('1-8'), Decimal('0.5'))\n"
        ")"
    )
    message = MessageEdit(op="drop", number=1)
    long = trace().edit().request(turn(2), messages=[message], system="Be brief.", scope="once")
    assert long.code().splitlines()[:2] == [
        "import workbench as wb",
        "from workbench.trace.edits import MessageEdit",
    ]
