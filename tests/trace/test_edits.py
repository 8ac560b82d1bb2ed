"""Edits as a list: made, refused with the mend, taken back, compared."""

from datetime import UTC, datetime
from typing import Any

import pytest
from runmaker import RunMaker, email, order, refund

from workbench.errors import EditError
from workbench.faults import HttpError
from workbench.trace.edits import (
    CallEdit,
    Edits,
    Mend,
    ReplyEdit,
    RequestEdit,
    ToolArgumentsEdit,
    ToolResultEdit,
)
from workbench.trace.entries import InputLine, ValueLine
from workbench.trace.places import entry, step, turn
from workbench.trace.trace import Trace
from workbench.trace.values import decode, encode


def refunds() -> Trace:
    """Looks an order up, refunds it and writes an email in one turn, and is done."""
    run = RunMaker().turn("", order()).turn("", refund(), email()).event("answered", {"ok": True})
    return run.turn("Done.").end()


def refused(make: object, *words: str) -> EditError:
    """The error of an edit that is refused, whose text has these words."""
    with pytest.raises(EditError) as caught:
        make()  # type: ignore[operator]
    for each in words:
        assert each in str(caught.value)
    return caught.value


def test_two_edits_for_two_things_that_are_easily_mixed_up() -> None:
    """What the model said, and what the tool was called with: one never rewrites the other."""
    trace = refunds()
    edits = trace.edit().tool_arguments(turn(2), {"order_id": 101, "amount": 1.0}, tool="refund")
    edit = edits.targets()["1-4"]
    assert isinstance(edit, ToolArgumentsEdit)
    asked = trace.entry("1-4").request
    assert edit.rewrite(asked) == {**asked, "arguments": {"order_id": 101, "amount": 1.0}}
    assert asked["arguments"] == {"order_id": 101, "amount": 149.99}
    assert trace.turn(2).model.id not in edits.targets()
    assert edits.preview() == (
        "turn 2 · arguments of refund\n"
        "  refund(\n"
        "    order_id=101,\n"
        "-   amount=149.99,\n"
        "+   amount=1.0,\n"
        "  )"
    )


def test_a_tool_whose_result_is_said_would_not_run_with_other_arguments() -> None:
    """The two contradict each other; the mend drops the older one."""
    edits = refunds().edit().tool_result(turn(2), "no", tool="refund")
    made = ToolArgumentsEdit(at=turn(2), tool="refund", arguments={})
    error = refused(lambda: edits.add(made), "it would not run with these arguments")
    assert [mend.label for mend in error.mends] == [
        "drop the edit “the result of refund at turn 2”",
        "drop the edit “the arguments of refund at turn 2”",
    ]
    assert list(edits.add(made, mend=True)) == [made]


def test_none_empty_and_nothing_are_three_results() -> None:
    """A result of None is no missing one, and an empty map neither."""
    trace = refunds()
    results: tuple[Any, ...] = (None, {}, [], "")
    for result in results:
        edits = trace.edit().tool_result(turn(1), result)
        again = Edits.from_json(trace, edits.to_json())
        (edit,) = again
        assert isinstance(edit, ToolResultEdit)
        assert edit.result == result
        assert type(edit.result) is type(result)
        assert "result" in edits.to_json()[0]
    args: list[Any] = [("refund", {"a": None, "b": {}})]
    said = trace.edit().reply(turn(2), tool_calls=args)
    (reply,) = Edits.from_json(trace, said.to_json())
    assert isinstance(reply, ReplyEdit)
    assert reply.tool_calls is not None
    assert reply.tool_calls[0].arguments == {"a": None, "b": {}}
    (dropped,) = Edits.from_json(trace, trace.edit().reply(turn(2), tool_calls=[]).to_json())
    assert dropped == ReplyEdit(at=turn(2), tool_calls=())


def test_ids_stay_and_a_changed_one_is_refused() -> None:
    """With another id the recorded result answers no call, and the provider says 400."""
    trace = refunds()
    new = CallEdit(name="refund", arguments={"amount": 5}, id="call_new")
    mail = ("send_email", {"to": "ada@example.com"})
    error = refused(
        lambda: trace.edit().reply(turn(2), tool_calls=[new, mail]),
        "the call of refund has the id 'call_2_0', under which its result is given back",
        "with the id 'call_new' a provider would refuse the result",
    )
    assert [mend.label for mend in error.mends] == ["keep the id 'call_2_0'"]
    edits = trace.edit().mend(error.mends[0])
    (edit,) = edits
    assert isinstance(edit, ReplyEdit)
    body = edit.rewrite("openai.chat", trace.turn(2).model.reply_body)
    ids = [call["id"] for call in body["choices"][0]["message"]["tool_calls"]]
    assert ids == ["call_2_0", "call_2_1"]


def test_two_calls_with_one_id_are_refused_and_mended() -> None:
    """Ids are unique within a turn; the first one keeps it."""
    trace = refunds()
    calls = [CallEdit(name="send_email", id="x"), CallEdit(name="get_order", id="x")]
    edit = ReplyEdit(at=turn(3), tool_calls=tuple(calls))
    error = refused(lambda: trace.edit().add(edit), "the tool call id 'x' is used twice")
    assert error.problems == ("turn:3: the tool call id 'x' is used twice",)
    (made,) = trace.edit().add(edit, mend=True)
    assert isinstance(made, ReplyEdit)
    assert [call.id for call in made.tool_calls or ()] == ["x", None]


def test_several_calls_of_one_tool_are_kept_apart() -> None:
    """A list, not a map by name: the second call of a tool has a result of its own."""
    run = RunMaker().turn("", order(101), order(102)).turn("Done.")
    trace = run.end()
    edits = trace.edit().tool_result(turn(1), "first").tool_result(turn(1), "second", nth=2)
    found = [(key, each.result) for key, each in edits.targets().items()
             if isinstance(each, ToolResultEdit)]  # fmt: skip
    assert found == [("1-2", "first"), ("1-3", "second")]
    one = trace.edit().reply(turn(1), tool_call=("get_order", {"order_id": 101}))
    refused(lambda: one.tool_result(turn(1), "x", nth=2), "no longer calls 'get_order' 2 times")
    assert len(one.tool_result(turn(1), "x")) == 2


def test_a_reply_that_cannot_be_written_is_refused_when_it_is_made() -> None:
    """Not later, in the middle of a run that is paid for."""
    trace = refunds()
    refused(lambda: trace.edit().reply(turn(1), tool_call=("", {})), "tool call 1 has no name")
    refused(
        lambda: trace.edit().reply(turn(1), tool_call=("f", {"when": {1}})), "can't be written as"
    )
    refused(lambda: trace.edit().reply(step("x"), text="y"), "names a turn or an entry")


def test_an_event_and_a_reading_can_be_edited() -> None:
    """By their entries, with any value a trace can hold; a clock keeps its type."""
    run = RunMaker().turn("Done.").event("answered", {"ok": True})
    noon = datetime(2026, 1, 5, 12, tzinfo=UTC)
    journal = run.journal
    clock = {"line": "clock", "name": "now", "value": encode(noon)}
    journal.append(ValueLine(id=journal.new_id(), **clock))
    journal.append(ValueLine(line="value", id=journal.new_id(), name="random", value=0.5))
    journal.append(InputLine(id=journal.new_id(), prompt="Pay?", value="yes"))
    trace = run.end()
    later = noon.replace(hour=13)
    edits = (
        trace.edit()
        .event(entry("1-2"), {"ok": None})
        .value(entry("1-3"), later)
        .value(entry("1-4"), 0.75)
        .value(entry("1-5"), "no")
    )
    held = {
        key: getattr(e, "value", getattr(e, "data", None)) for key, e in edits.targets().items()
    }
    assert held["1-2"] == {"ok": None}
    assert decode(held["1-3"]) == later
    assert (held["1-4"], held["1-5"]) == (0.75, "no")
    assert edits.preview().split("\n\n")[3] == 'entry:1-5 · human\'s answer\n- "yes"\n+ "no"'
    refused(
        lambda: trace.edit().value(entry("1-3"), "13:00"),
        "'now' gave a datetime, and the agent cannot take a str for it",
    )
    refused(lambda: trace.edit().value(entry("1-2"), 1), "entry:1-2 is a event entry")
    refused(lambda: trace.edit().event(turn(1), 1), "names an entry")


def test_one_turn_is_either_said_or_asked() -> None:
    """A request whose reply is said is never sent; only the later ones can be rewritten."""
    trace = refunds()
    said = trace.edit().reply(turn(2), text="No.", tool_calls=[])
    once = RequestEdit(at=turn(2), model="m-2", scope="once")
    error = refused(lambda: said.add(once), "its request would not be sent")
    mended = said.mend(error.mends[0])
    assert [getattr(each, "scope", "") for each in mended] == ["", "onwards"]
    assert isinstance(mended.targets()["1-3"], ReplyEdit)


def test_undo_and_redo() -> None:
    """Undo gives the list before, also where an edit took the place of another one."""
    trace = refunds()
    first = trace.edit().reply(turn(1), text="a")
    second = first.reply(turn(1), text="b").fault(HttpError(429))
    assert [each.type for each in second] == ["reply", "fault"]
    back = second.undo().undo()
    assert back == first
    assert [getattr(each, "text", None) for each in back] == ["a"]
    assert back.redo().redo() == second
    assert not back.redo().redo().can_redo
    assert back.undo() == trace.edit()
    assert back.undo().redo() == first
    other = back.reply(turn(3), text="c")
    assert not other.can_redo
    assert other.redo() is other
    empty = trace.edit()
    assert empty.undo() is empty


def test_undo_of_a_list_that_was_read() -> None:
    """Nothing is known of how it came about: its last edit goes."""
    trace = refunds()
    edits = trace.edit().reply(turn(1), text="a").reply(turn(3), text="b")
    read = Edits.from_json(trace, edits.to_json())
    assert read == edits
    assert read.undo() == edits.undo()
    assert read.undo().redo() == edits


def test_lists_are_equal_by_what_they_say() -> None:
    """1, 1.0 and true are told apart, since a provider does."""
    trace = refunds()

    def said(value: object) -> Edits:
        return trace.edit().reply(turn(2), tool_call=("refund", {"amount": value}))

    assert said(1) == said(1)
    assert said(1) != said(1.0)
    assert said(1) != said(True)
    other = RunMaker("other").turn("", order()).turn("", refund(), email()).turn("Done.").end()
    assert said(1) != other.edit().reply(turn(2), tool_call=("refund", {"amount": 1}))
    with pytest.raises(TypeError):
        hash(said(1))


def test_a_mend_says_what_it_does_and_a_stale_one_is_refused() -> None:
    """A mend is a whole list of edits: what else is wrong in it is refused all the same."""
    trace = refunds()
    bad = Mend("do", (ReplyEdit(at=turn(9), text="x"),))
    refused(lambda: trace.edit().mend(bad), "turns 1 to 3")
    assert repr(trace.edit().reply(turn(1), text="a")).startswith("<Edits of run: 1>\nturn 1 · re")


def test_a_place_that_is_not_there() -> None:
    """Named with what is there instead; nothing mends it."""
    trace = refunds()
    error = refused(lambda: trace.edit().tool_arguments(turn(3), {}), "called no tool")
    assert error.mends == ()
    refused(lambda: trace.edit().tool_arguments(turn(2), {}), "called several tools (refund, send")
