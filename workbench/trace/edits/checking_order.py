"""Whether what is put in or dropped leaves a run in which every call has its result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.trace.edits.mends import Mend, Problem, instead
from workbench.trace.edits.models import DropEdit, InsertEdit, ReplyEdit, ToolResultEdit
from workbench.trace.edits.parts import CallEdit, NewTool, NewTurn
from workbench.trace.edits.places import affected, target
from workbench.trace.places import turn as turn_place
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from workbench.trace.edits.builder import Edits
    from workbench.trace.payloads import ToolCall
    from workbench.trace.trace import Entry, Turn

REMOVED = "[This result was taken out by an edit.]"
"""What a tool returns whose result was dropped, marked as such."""


def check_insert(edits: Edits, edit: InsertEdit) -> list[Problem]:
    """What is wrong with something that is put in."""
    beside = affected(edits.trace, edit)
    anchor = beside[0] if edit.where == "before" else beside[-1]
    if isinstance(edit.what, NewTurn):
        return _double_ids(edit, edit.what) + _check_between(edits, edit, anchor)
    if isinstance(edit.what, NewTool) and anchor.turn is not None:
        return _check_called(edits, edit, edit.what, anchor.turn)
    return []


def _double_ids(edit: InsertEdit, new: NewTurn) -> list[Problem]:
    ids = [call.id for call in new.tool_calls if call.id]
    double = sorted({each for each in ids if ids.count(each) > 1})
    return [Problem(f"{edit.at}: the tool call id '{each}' is used twice") for each in double]


def _check_between(edits: Edits, edit: InsertEdit, anchor: Entry) -> list[Problem]:
    """A turn in the middle of another one would part calls from their results."""
    turn = anchor.turn
    if turn is None or not turn.tools:
        return []
    ends = turn.entries[0 if edit.where == "before" else -1]
    if anchor == ends:
        return []
    new = edit.model_copy(update={"at": turn_place(turn.number)})
    text = (
        f"{edit.at}: a turn put {edit.where} this entry would stand between the calls of turn "
        f"{turn.number} and their results"
    )
    label = f"put it {edit.where} turn {turn.number}"
    return [Problem(text, (Mend(label, instead(edits, edit, new)),))]


def _check_called(edits: Edits, edit: InsertEdit, new: NewTool, turn: Turn) -> list[Problem]:
    """A result needs a call: the turn's reply has to make one more than there are entries."""
    reply = _reply_edit(edits, turn)
    calls = _calls(turn, reply)
    here = {entry.id for entry in turn.entries}
    count = sum(tool.name == new.name for tool in turn.tools)
    for other in edits:
        if isinstance(other, InsertEdit) and isinstance(other.what, NewTool):
            beside = affected(edits.trace, other)
            count += other.what.name == new.name and beside[0].id in here
        if other is edit:
            break
    if sum(call.name == new.name for call in calls) >= count:
        return []
    added = CallEdit(name=new.name, arguments=decode(new.arguments))
    at = turn_place(turn.number) if reply is None else reply.at
    saying = ReplyEdit(at=at, tool_calls=(*calls, added))
    if reply is not None:
        saying = reply.model_copy(update={"tool_calls": saying.tool_calls})
    rest = tuple(each for each in edits if each is not reply)
    mend = Mend(f"let the reply of turn {turn.number} call it", (*rest, saying))
    text = (
        f"{edit.at}: the reply of turn {turn.number} makes no such call of '{new.name}', so its "
        "result would answer no call"
    )
    return [Problem(text, (mend,))]


def check_drop(edits: Edits, edit: DropEdit) -> list[Problem]:
    """What is wrong with what is left when something is dropped."""
    entries = affected(edits.trace, edit)
    if edit.at.kind == "turn":
        return []
    entry = entries[0]
    turn = entry.turn
    if entry.kind == "model" and turn is not None and turn.model == entry and turn.tools:
        text = f"{edit.at}: its tools' results would answer no call"
        return [Problem(text, (_drop_turn(edits, edit, turn),))]
    if entry.kind == "tool" and turn is not None:
        return _check_tool(edits, edit, entry, turn)
    return []


def _check_tool(edits: Edits, edit: DropEdit, entry: Entry, turn: Turn) -> list[Problem]:
    call = call_of(entry, turn)
    said = _reply_edit(edits, turn)
    if call is None or (said is not None and said.tool_calls is not None):
        return []  # nobody asked for it, or the edited reply says what is asked for
    name = f"'{call.id}' ({call.name})" if call.id else f"of {call.name}"
    if not edit.pair:
        pair = edit.model_copy(update={"pair": True})
        stand_in = ToolResultEdit(at=edit.at, result=encode(REMOVED))
        text = (
            f"{edit.at}: the reply of turn {turn.number} makes the call {name}, which would have "
            "no result, and a provider would refuse the conversation"
        )
        mends = (
            Mend("drop the call too", instead(edits, edit, pair)),
            Mend(
                "keep it, with a result that says it was taken out", instead(edits, edit, stand_in)
            ),
        )
        return [Problem(text, (*mends, _drop_turn(edits, edit, turn)))]
    gone = sum(
        isinstance(each, DropEdit) and each.pair and _in(edits, each, turn) for each in edits
    )
    reply = turn.reply
    if reply is None or reply.text.strip() or len(reply.tool_calls) > gone:
        return []
    text = (
        f"{edit.at}: without the call {name} the reply of turn {turn.number} would be empty, and "
        "providers refuse that"
    )
    return [Problem(text, (_drop_turn(edits, edit, turn),))]


def call_of(entry: Entry, turn: Turn) -> ToolCall | None:
    """The call in a turn's reply that a tool's entry answers: the one of its tool at its rank."""
    reply = turn.reply
    same = [tool.id for tool in turn.tools if tool.name == entry.name]
    calls = [call for call in (reply.tool_calls if reply else ()) if call.name == entry.name]
    rank = same.index(entry.id)
    return calls[rank] if rank < len(calls) else None


def _drop_turn(edits: Edits, edit: DropEdit, turn: Turn) -> Mend:
    """Drop the whole turn, in place of all edits that drop parts of it."""
    place = turn_place(turn.number)
    rest = [
        each
        for each in edits
        if each is edit or not (isinstance(each, DropEdit) and _in(edits, each, turn))
    ]
    new = tuple(DropEdit(at=place) if each is edit else each for each in rest)
    return Mend(f"drop the whole turn {turn.number}", new)


def _in(edits: Edits, edit: DropEdit, turn: Turn) -> bool:
    found = affected(edits.trace, edit)
    return bool(found) and found[0].turn == turn


def _reply_edit(edits: Edits, turn: Turn) -> ReplyEdit | None:
    for edit in edits:
        if isinstance(edit, ReplyEdit) and target(edits.trace, edit) == turn.model:
            return edit
    return None


def _calls(turn: Turn, edit: ReplyEdit | None) -> tuple[CallEdit, ...]:
    if edit is not None and edit.tool_calls is not None:
        return edit.tool_calls
    reply = turn.reply
    return tuple(
        CallEdit(name=call.name, arguments=call.raw, id=call.id)
        for call in (reply.tool_calls if reply else ())
    )
