"""What a provider would refuse, and what contradicts itself, in a list of edits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.errors import EditError, PlaceError, TraceError, UnavailableError, UsageError
from workbench.trace.edits.checking_order import check_drop, check_insert
from workbench.trace.edits.checking_requests import check_request
from workbench.trace.edits.mends import Mend, Problem, either, instead, without
from workbench.trace.edits.models import (
    DropEdit,
    Edit,
    FaultEdit,
    ReplyEdit,
    RequestEdit,
    ToolArgumentsEdit,
    ToolResultEdit,
    ValueEdit,
)
from workbench.trace.edits.places import affected, target
from workbench.trace.edits.requests import settled
from workbench.trace.faults import check_entry
from workbench.trace.values import decode

if TYPE_CHECKING:
    from workbench.trace.edits.builder import Edits
    from workbench.trace.edits.parts import CallEdit
    from workbench.trace.payloads import ToolCall
    from workbench.trace.trace import Entry, Trace


def settle(trace: Trace, edit: Edit) -> Edit:
    """The edit with what only the trace knows: which messages it is made for.

    Raises:
        EditError: the request has no such message.
    """
    if not isinstance(edit, RequestEdit):
        return edit
    try:
        entry = target(trace, edit)
        return edit if entry is None else settled(edit, entry)
    except (UsageError, TraceError):
        return edit  # check() says what is wrong with the place


def check(edits: Edits) -> list[Problem]:
    """What is wrong with the edits, in their order, each with what would put it right."""
    out: list[Problem] = []
    dropped = _dropped(edits)
    for edit in edits:
        try:
            entry = _aimed_at(edits.trace, edit)
            found = _gone(edits, edit, entry, dropped)
            found += _CHECKS.get(edit.type, _nothing)(edits, edit)
        except (UsageError, TraceError, EditError) as error:
            mend = Mend(f"drop the edit “{edit.label}”", without(edits, edit))
            found = [Problem(str(error), (mend,) if len(edits) > 1 else ())]
        out += found
    return out


def _nothing(edits: Edits, edit: Any) -> list[Problem]:  # noqa: ARG001 - as the other checks
    return []


def _dropped(edits: Edits) -> dict[str, DropEdit]:
    """The edits that drop entries, by the ids of these."""
    out: dict[str, DropEdit] = {}
    for edit in edits:
        if isinstance(edit, DropEdit):
            try:
                out |= {entry.id: edit for entry in affected(edits.trace, edit)}
            except PlaceError:
                continue  # its own check says so
    return out


def _aimed_at(trace: Trace, edit: Edit) -> Entry | None:
    """The entry that an edit changes, or that a fault is aimed at."""
    place = edit.fault.aim.place if isinstance(edit, FaultEdit) else None
    if place is None:
        return target(trace, edit)
    if place.kind == "turn":
        return trace.turn(int(place.value)).model
    return trace.entry(str(place.value)) if place.kind == "entry" else None


def _gone(
    edits: Edits, edit: Edit, entry: Entry | None, dropped: dict[str, DropEdit]
) -> list[Problem]:
    if entry is None or entry.id not in dropped:
        return []
    by = dropped[entry.id]
    text = f"{edit.label}: entry {entry.id} is dropped by another edit, so there is nothing to edit"
    return [Problem(text, either(edits, edit, by))]


# -- replies


def _check_reply(edits: Edits, edit: ReplyEdit) -> list[Problem]:
    entry = target(edits.trace, edit)
    assert entry is not None  # noqa: S101 - a reply edit has one
    out = _double_ids(edits, edit)
    if not out:
        recorded = entry.reply
        edit.rewrite(entry.api or "", entry.reply_body)  # refuses what cannot be written
        out += _changed_ids(edits, edit, recorded.tool_calls if recorded else ())
    return out


def _double_ids(edits: Edits, edit: ReplyEdit) -> list[Problem]:
    ids = [call.id for call in edit.tool_calls or () if call.id]
    double = sorted({each for each in ids if ids.count(each) > 1})
    if not double:
        return []
    seen: set[str | None] = set()
    calls = []
    for call in edit.tool_calls or ():
        calls.append(_without_id(call) if call.id in seen else call)
        seen.add(call.id)
    new = edit.model_copy(update={"tool_calls": tuple(calls)})
    mend = Mend("give the later ones ids of their own", instead(edits, edit, new))
    return [
        Problem(f"{edit.at}: the tool call id '{each}' is used twice", (mend,)) for each in double
    ]


def _changed_ids(edits: Edits, edit: ReplyEdit, recorded: tuple[ToolCall, ...]) -> list[Problem]:
    """An id that takes the place of the recorded one parts the call from its result."""
    calls = edit.tool_calls or ()
    known = {call.id for call in recorded}
    given = {call.id for call in calls}
    out = []
    for old, call in zip(recorded, calls, strict=False):
        if old.name != call.name or call.id is None or old.id is None:
            continue
        if call.id in known or old.id in given:
            continue
        kept = tuple(_without_id(each) if each is call else each for each in calls)
        new = edit.model_copy(update={"tool_calls": kept})
        out.append(
            Problem(
                f"{edit.at}: the call of {call.name} has the id '{old.id}', under which its result "
                f"is given back; with the id '{call.id}' a provider would refuse the result",
                (Mend(f"keep the id '{old.id}'", instead(edits, edit, new)),),
            )
        )
    return out


def _without_id(call: CallEdit) -> CallEdit:
    return call.model_copy(update={"id": None})


# -- tools


def _check_tool(edits: Edits, edit: ToolResultEdit | ToolArgumentsEdit) -> list[Problem]:
    entry = target(edits.trace, edit)
    assert entry is not None  # noqa: S101 - the edit of a tool has one
    problems = _check_call(edits, edit, entry) + _check_other(edits, edit, entry)
    return problems + _check_yields(edits, edit, entry)


def _check_yields(
    edits: Edits, edit: ToolResultEdit | ToolArgumentsEdit, entry: Entry
) -> list[Problem]:
    """What a generator yields is a list."""
    if not isinstance(edit, ToolResultEdit) or not entry.stream or isinstance(edit.result, list):
        return []
    text = f"{edit.at}: '{entry.name}' is a generator; give the list of what it yields"
    new = edit.model_copy(update={"result": [edit.result]})
    return [Problem(text, (Mend("let it yield this only", instead(edits, edit, new)),))]


def _check_call(
    edits: Edits, edit: ToolResultEdit | ToolArgumentsEdit, entry: Entry
) -> list[Problem]:
    turn = entry.turn
    for other in edits:
        if not isinstance(other, ReplyEdit) or other.tool_calls is None or turn is None:
            continue
        model = target(edits.trace, other)
        if model is None or model.id != turn.model.id:
            continue
        same = [tool.id for tool in turn.tools if tool.name == entry.name]
        calls = [call for call in other.tool_calls if call.name == entry.name]
        if entry.id in same[: len(calls)]:
            continue
        again = "" if not calls else f" {len(calls) + 1} times"
        text = (
            f"{edit.at}: the edited reply no longer calls '{entry.name}'{again}, so its result "
            "would answer no call, and a provider would refuse the conversation; "
            "drop one of the two edits"
        )
        return [Problem(text, either(edits, edit, other))]
    return []


def _check_other(
    edits: Edits, edit: ToolResultEdit | ToolArgumentsEdit, entry: Entry
) -> list[Problem]:
    """Its result is said by another edit: it would not run."""
    if not isinstance(edit, ToolArgumentsEdit):
        return []
    if not isinstance(edit.arguments, dict):
        return [Problem(f"{edit.at}: arguments are given by name, as an object")]
    for other in edits:
        if isinstance(other, ToolResultEdit) and target(edits.trace, other) == entry:
            text = (
                f"{edit.at}: another edit says what '{entry.name}' returned, so it would not run "
                "with these arguments"
            )
            return [Problem(text, either(edits, edit, other))]
    return []


# -- the rest


def _check_fault(edits: Edits, edit: FaultEdit) -> list[Problem]:
    reason = check_entry(edit.fault, edits.trace)
    return [] if reason is None else [Problem(reason)]


def _check_value(edits: Edits, edit: ValueEdit) -> list[Problem]:
    entry = target(edits.trace, edit)
    if entry is not None and entry.kind == "input":
        return _check_answer(edit, entry)
    if entry is None or entry.kind != "clock":
        return []
    was, new = type(entry.value), type(decode(edit.value))
    if was is new:
        return []
    return [
        Problem(
            f"{edit.at}: '{entry.name}' gave a {was.__name__}, and the agent cannot take a "
            f"{new.__name__} for it; give a {was.__name__}"
        )
    ]


def _check_answer(edit: ValueEdit, entry: Entry) -> list[Problem]:
    """A person can only give what could be chosen."""
    try:
        choices = entry.request.get("choices") if isinstance(entry.request, dict) else None
    except UnavailableError:
        return []
    if not choices or edit.value in choices:
        return []
    allowed = ", ".join(repr(each) for each in choices)
    return [
        Problem(f"{edit.at}: {decode(edit.value)!r} was not among the answers; choose {allowed}")
    ]


_CHECKS: dict[str, Callable[[Edits, Any], list[Problem]]] = {
    "reply": _check_reply,
    "request": check_request,
    "tool_result": _check_tool,
    "tool_arguments": _check_tool,
    "fault": _check_fault,
    "value": _check_value,
    "insert": check_insert,
    "drop": check_drop,
}
