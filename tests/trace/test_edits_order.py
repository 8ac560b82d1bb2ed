"""Putting something into a trace and dropping something from it."""

from typing import Any

import pytest
from runmaker import RunMaker, email, order, refund

from workbench.errors import EditError, PlaceError
from workbench.faults import HttpError
from workbench.trace.edits import DropEdit, Edits, InsertEdit, NewTool, NewTurn, ReplyEdit, as_edits
from workbench.trace.entries import CallLine, ChunkLine, EndLine, ResultLine, TraceLine
from workbench.trace.journal import Journal
from workbench.trace.places import entry, step, turn
from workbench.trace.trace import Trace


def shop() -> Trace:
    """Looks up, refunds and writes in one turn, says an event, and is done."""
    run = RunMaker().turn("", order()).turn("", refund(), email()).event("answered", {"ok": True})
    return run.turn("Done.").end(counts={"model": 3, "tool": 3, "event": 1})


def by_hand() -> Trace:
    """A trace written in an editor: no requests and no hashes, answers by their order."""
    journal = Journal.in_memory(TraceLine(id="hand"))
    for number, text in enumerate(("one", "two", "three"), 1):
        journal.append(CallLine(id=f"a-{number}", kind="model", api="workbench", step="draft"))
        body = {"content": text, "finish_reason": "stop"}
        result = {"status": 200, "body": body}
        journal.append(ResultLine(of=f"a-{number}", source="hand", response=result))
    journal.close(EndLine(status="ok", output="three"))
    return journal.trace()


def ids(trace: Trace) -> list[str]:
    """The ids of the entries, in order."""
    return [each.id for each in trace.entries]


def refused(make: Any, *words: str) -> EditError:
    """The error of an edit that is refused, whose text has these words."""
    with pytest.raises(EditError) as caught:
        make()
    for each in words:
        assert each in str(caught.value)
    return caught.value


def test_a_turn_is_put_in_with_its_tools() -> None:
    """It has ids of its own, no hash, and the source hand; all others keep their ids."""
    trace = shop()
    edits = trace.edit().insert_turn(
        turn(1), text="And the mail?", tool_calls=[("send_email", {"to": "a"})], results=[None]
    )
    applied = edits.apply()
    assert ids(applied) == ["1-1", "1-2", "hand-1", "hand-2", *[f"1-{n}" for n in range(3, 8)]]
    new = applied.turn(2)
    assert (new.model.source, new.model.hash, new.model.api) == ("hand", None, "openai.chat")
    assert new.text == "And the mail?"
    assert [(c.name, c.arguments, c.id) for c in new.model.tool_calls] == [
        ("send_email", {"to": "a"}, "call_hand-1_1")
    ]
    (tool,) = new.tools
    assert (tool.name, tool.arguments, tool.result, tool.source) == (
        *("send_email", {"to": "a"}),
        *(None, "hand"),
    )
    assert (applied.id, applied.status, applied.output) == (trace.id, "ok", None)
    assert applied.end is not None
    assert applied.end.counts == {"model": 4, "tool": 4, "event": 1}
    assert len(trace.entries) == 7


def test_what_comes_after_answers_by_its_order() -> None:
    """No agent would ask for it in the recorded words: those lack what was put in."""
    trace = shop()
    applied = trace.edit().insert_turn(turn(1), text="Hm.").apply()
    kept = [(e.id, e.hash is not None) for e in applied.entries if e.kind in ("model", "tool")]
    assert kept == [
        *(("1-1", True), ("1-2", True), ("hand-1", False), ("1-3", False)),
        *(("1-4", True), ("1-5", True), ("1-7", False)),
    ]
    assert applied.entry("1-3").request == trace.entry("1-3").request
    first = trace.edit().insert_turn(turn(1), text="Hm.", where="before").apply()
    assert ids(first)[0] == "hand-1"
    assert [e.hash for e in first.models()] == [None] * 4


def test_another_step_keeps_its_hashes() -> None:
    """What is put into one step says nothing about another one."""
    run = RunMaker().turn("a", step="plan").turn("b", step="write").turn("c", step="plan")
    applied = run.end().edit().insert_turn(turn(1), text="x").apply()
    assert [(e.step, e.text, e.hash is not None) for e in applied.models()] == [
        *(("plan", "a", True), ("plan", "x", False)),
        *(("write", "b", True), ("plan", "c", False)),
    ]


def test_several_are_put_in_the_order_in_which_they_were_given() -> None:
    """On either side, also where an id of that kind is there already."""
    trace = by_hand()
    edits = (
        trace.edit()
        .insert_turn(turn(2), text="A")
        .insert_turn(turn(2), text="B")
        .insert_event(turn(2), "seen", {"n": (1,)}, where="before")
        .insert_turn(turn(2), text="C", where="before")
    )
    applied = edits.apply()
    assert [e.text if e.kind == "model" else e.type for e in applied.entries] == [
        *("one", "seen", "C", "two"),
        *("A", "B", "three"),
    ]
    assert applied.events("seen")[0].data == {"n": (1,)}
    assert {each.step for each in applied.entries} == {"draft"}
    again = applied.edit().insert_turn(turn(1), text="D").apply()
    assert len(set(ids(again))) == len(again.entries) == 8
    assert [each.api for each in again.models()] == ["workbench"] * 7


def test_a_dropped_turn_takes_its_tools() -> None:
    """With its attempts and results; the others keep ids and contents."""
    trace = shop()
    applied = trace.edit().drop(turn(2)).apply()
    assert ids(applied) == ["1-1", "1-2", "1-6", "1-7"]
    assert applied.entry("1-7").request == trace.entry("1-7").request
    assert applied.entry("1-6").data == {"ok": True}
    assert (applied.entry("1-1").hash, applied.entry("1-7").hash) == (trace.entry("1-1").hash, None)


def test_what_stays_is_the_bytes_of_the_file() -> None:
    """Large values, unknown fields and damaged lines stay as they are, only the hash goes."""
    run = RunMaker(system="Be kind. " * 2_000).turn("", order()).turn("", refund()).turn("Done.")
    data = run.journal.trace()._read_all()
    lines = data.splitlines(keepends=True)
    odd = b'{"line":"event","id":"1-90","type":"odd","x_new":[1,{}],"data":1}\n'
    trace = Trace.from_bytes(b"".join([*lines[:4], b'{"line":"event","id"\n', odd, *lines[4:]]))
    applied = trace.edit().drop(turn(1)).apply()
    kept = applied._read_all().splitlines(keepends=True)
    assert odd in kept
    assert b'{"line":"event","id"\n' in kept
    assert applied.entry("1-3").messages == trace.entry("1-3").messages
    assert applied.entry("1-5").messages == trace.entry("1-5").messages
    assert len(applied.entry("1-5").messages[0].text) == 18_000
    tool = [line for line in lines if b'"name":"refund"' in line and b'"kind":"tool"' in line]
    assert len(tool) == 1
    assert tool[0] in kept


def test_a_dropped_result_takes_its_call_or_is_refused() -> None:
    """A call without a result would poison every later turn: three mends, each one holds."""
    trace = shop()
    error = refused(
        lambda: trace.edit().drop(entry("1-4")),
        "the reply of turn 2 makes the call 'call_2_0' (refund), which would have no result",
    )
    assert [mend.label for mend in error.mends] == [
        "drop the call too",
        "keep it, with a result that says it was taken out",
        "drop the whole turn 2",
    ]
    pair, stands_in, whole = (trace.edit().mend(mend) for mend in error.mends)
    applied = pair.apply()
    assert ids(applied) == ["1-1", "1-2", "1-3", "1-5", "1-6", "1-7"]
    assert [(c.name, c.id) for c in applied.turn(2).model.tool_calls] == [
        ("send_email", "call_2_1")
    ]
    assert applied.turn(2).model.source == "edited"
    assert applied.turn(2).model.hash == trace.turn(2).model.hash
    assert not stands_in.structural
    assert "[This result was taken out by an edit.]" in stands_in.preview()
    assert ids(whole.apply()) == ["1-1", "1-2", "1-6", "1-7"]


def test_a_reply_without_words_and_calls_is_refused() -> None:
    """An empty message ends the agent's loop and is refused in the next request: the turn goes."""
    trace = shop()
    edit = DropEdit(at=entry("1-2"))
    error = refused(lambda: trace.edit().drop(entry("1-2"), pair=True), "would be empty")
    assert [mend.label for mend in error.mends] == ["drop the whole turn 1"]
    both = trace.edit().drop(entry("1-4"), pair=True)
    refused(lambda: both.drop(entry("1-5"), pair=True), "would be empty")
    mended = both.add(DropEdit(at=entry("1-5"), pair=True), mend=True)
    assert list(mended) == [DropEdit(at=turn(2))]
    (made,) = trace.edit().add(edit, mend=True)
    assert made.type == "tool_result", "the first mend that leaves nothing wrong"


def test_of_two_calls_of_one_tool_the_right_one_goes() -> None:
    """The second entry answers the second call."""
    trace = RunMaker().turn("Both.", order(101), order(102)).turn("Done.").end()
    applied = trace.edit().drop(entry("1-3"), pair=True).apply()
    assert [c.arguments for c in applied.turn(1).model.tool_calls] == [{"order_id": 101}]
    assert applied.turn(1).text == "Both."


def test_a_dropped_call_of_a_streamed_reply() -> None:
    """The reply is written plain: chunks that still make the call would contradict it."""
    journal = Journal.in_memory(TraceLine(id="s"))
    request = {"body": {"messages": [{"role": "user", "content": "x"}], "stream": True}}
    journal.append(CallLine(id="1-1", kind="model", api="workbench", stream=True, request=request))
    call = {"index": 0, "id": "c", "name": "f", "arguments": "{}"}
    for data in ({"text": "Look"}, {"tool_call": call}, {"finish_reason": "tool_calls"}):
        journal.append(ChunkLine(of="1-1", offset_s=0.1, data=data))
    response = {"status": 200, "headers": {"x-id": "7"}}
    journal.append(ResultLine(of="1-1", ended="complete", first_s=0.1, response=response))
    journal.append(
        CallLine(id="1-2", kind="tool", name="f", asked_by="1-1", request={"arguments": {}})
    )
    journal.append(ResultLine(of="1-2", response=1))
    trace = journal.trace()
    model = trace.edit().drop(entry("1-2"), pair=True).apply().entry("1-1")
    assert (model.text, model.tool_calls, model.chunks) == ("Look", (), [])
    assert (model.ended, model.response["headers"]) == (None, {"x-id": "7"})


def test_a_result_that_is_put_in_needs_a_call() -> None:
    """The mend lets the reply make it."""
    trace = shop()
    edit = InsertEdit(at=turn(1), what=NewTool(name="refund", arguments={"amount": 1}, result={}))
    error = refused(lambda: trace.edit().add(edit), "makes no such call of 'refund'")
    assert [mend.label for mend in error.mends] == ["let the reply of turn 1 call it"]
    edits = trace.edit().add(edit, mend=True)
    reply = next(each for each in edits if isinstance(each, ReplyEdit))
    assert [(c.name, c.id) for c in reply.tool_calls or ()] == [
        ("get_order", "call_1_0"),
        ("refund", None),
    ]
    (tool,) = [each for each in edits.apply().turn(1).tools if each.name == "refund"]
    assert (tool.asked_by, tool.arguments, tool.result) == ("1-1", {"amount": 1}, {})
    assert as_edits(trace, list(edits), ()) == edits, "some edits fit only together"
    refused(lambda: edits.insert_tool(turn(1), "refund"), "makes no such call")


def test_a_turn_never_stands_between_a_call_and_its_result() -> None:
    """Put beside the whole turn instead."""
    trace = shop()
    edit = InsertEdit(at=entry("1-4"), what=NewTurn(text="x"))
    error = refused(lambda: trace.edit().add(edit), "between the calls of turn 2 and their results")
    assert list(trace.edit().mend(error.mends[0])) == [InsertEdit(at=turn(2), what=edit.what)]
    assert len(trace.edit().insert_turn(entry("1-5"), text="x")) == 1
    assert len(trace.edit().insert_turn(entry("1-3"), text="x", where="before")) == 1


def test_the_model_entry_of_a_turn_with_tools_stays() -> None:
    """Its results would answer no call."""
    trace = shop()
    error = refused(lambda: trace.edit().drop(entry("1-3")), "its tools' results would answer no")
    assert ids(trace.edit().mend(error.mends[0]).apply()) == ["1-1", "1-2", "1-6", "1-7"]
    assert ids(trace.edit().drop(entry("1-7")).apply()) == ids(trace)[:-1]
    assert ids(trace.edit().drop(entry("1-6")).apply()) == [*ids(trace)[:5], "1-7"]


def test_what_is_dropped_is_not_edited_too() -> None:
    """The two contradict each other, whichever came first."""
    trace = shop()
    edits = trace.edit().reply(turn(3), text="x")
    error = refused(lambda: edits.drop(turn(3)), "entry 1-7 is dropped by another edit")
    assert [mend.label for mend in error.mends] == [
        "drop the edit “turn 3”",
        "drop the edit “turn 3 dropped”",
    ]
    assert list(edits.add(DropEdit(at=turn(3)), mend=True)) == [DropEdit(at=turn(3))]
    failing = trace.edit().fault(HttpError(429).at(turn(3)))
    refused(lambda: failing.drop(turn(3)), "entry 1-7 is dropped by another edit")


def test_an_edited_reply_says_itself_what_is_called() -> None:
    """The recorded result of a call that it no longer makes can go alone."""
    trace = shop()
    edits = trace.edit().reply(turn(1), tool_call=("refund", {"amount": 1}))
    applied = edits.drop(entry("1-2")).apply()
    assert ids(applied)[:2] == ["1-1", "1-3"]


def test_the_other_edits_move_to_the_applied_trace() -> None:
    """Turns have other numbers there; edits and aims follow their entries."""
    trace = shop()
    edits = (
        trace.edit()
        .insert_turn(turn(1), text="Hm.")
        .reply(turn(3), text="Gone.")
        .tool_result(turn(2), "no", tool="refund")
        .fault(HttpError(429).at(turn(2)))
    )
    applied = edits.apply()
    there = edits.onto(applied)
    assert there.problems() == []
    assert {key: each.type for key, each in there.targets().items()} == {
        "1-7": "reply",
        "1-4": "tool_result",
    }
    assert applied.entry("1-7").turn == applied.turn(4)
    assert [str(fault.aim.place) for fault in there.faults()] == ["turn:3"]
    assert not there.structural
    assert Edits(applied, there).apply() is applied


def test_places_that_have_no_order() -> None:
    """A step has many entries, and a trace without such an entry none."""
    trace = shop()
    refused(lambda: trace.edit().drop(step("x")), "name a turn or an entry, which has a place")
    refused(lambda: trace.edit().insert_turn(entry("9-9"), text="x"), "ids such as 1-1 to 1-7")
    refused(lambda: trace.edit().insert_turn(turn(1)), "a new turn says something, or calls a tool")
    refused(
        lambda: trace.edit().insert_turn(turn(1), tool_calls=[("f", {})], results=[]),
        "0 results for 1 tool calls",
    )
    with pytest.raises(PlaceError):
        trace.edit().reply(turn(3), text="x").onto(trace.edit().drop(turn(3)).apply())


def test_the_preview_of_what_is_put_in_and_dropped() -> None:
    """What comes with +, what goes with -, and beside which turn."""
    trace = shop()
    edits = (
        trace.edit()
        .insert_turn(turn(1), tool_calls=[("f", {"a": 1})], results=[{"b": None}])
        .drop(turn(2))
        .insert_event(turn(3), "seen", None, where="before")
    )
    assert edits.preview() == (
        "after turn 1 · a turn\n"
        "+ f(\n+   a=1,\n+ )\n"
        '+ → {\n+   "b": null\n+ }\n'
        "\n"
        "turn 2 · dropped\n"
        "- refund(\n-   order_id=101,\n-   amount=149.99,\n- )\n"
        '- send_email(\n-   to="ada@example.com",\n- )\n'
        '- refund → {\n-   "ok": true\n- }\n'
        '- send_email → {\n-   "sent": true\n- }\n'
        "\n"
        "before turn 3 · an event seen\n"
        "+ event seen: null"
    )
    assert [each.label for each in edits] == [
        "a turn put after turn 1",
        "turn 2 dropped",
        "an event seen put before turn 3",
    ]
