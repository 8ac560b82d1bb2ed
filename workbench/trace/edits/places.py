"""What an edit is about: the entry that it changes, found by its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import PlaceError
from workbench.trace.edits.models import (
    DropEdit,
    Edit,
    EventEdit,
    FaultEdit,
    InsertEdit,
    ReplyEdit,
    RequestEdit,
    ToolArgumentsEdit,
    ToolResultEdit,
    ValueEdit,
)
from workbench.trace.places import Place
from workbench.trace.places import entry as entry_place

if TYPE_CHECKING:
    from workbench.trace.trace import Entry, Trace

READINGS = ("value", "clock", "input")
"""The kinds of entries whose value an edit can change."""

_WANTS = {"reply": "a reply edit", "request": "a request edit", "tool_result": "a tool result edit"}
_WANTS |= {"tool_arguments": "a tool arguments edit", "event": "an event edit"}
_WANTS |= {"value": "a value edit"}


def target(trace: Trace, edit: Edit) -> Entry | None:
    """The entry that an edit changes; None for a fault, and for what is put in or dropped.

    Raises:
        PlaceError: the trace has no such place, or nothing of that kind there.
    """
    if isinstance(edit, ReplyEdit | RequestEdit):
        return _model_entry(trace, edit)
    if isinstance(edit, ToolResultEdit | ToolArgumentsEdit):
        return _tool_entry(trace, edit)
    if isinstance(edit, EventEdit):
        return _single(trace, edit, ("event",), "an event's")
    if isinstance(edit, ValueEdit):
        return _single(trace, edit, READINGS, "that of a reading or of a human's answer")
    return None


def affected(trace: Trace, edit: InsertEdit | DropEdit) -> list[Entry]:
    """The entries at the place of what is put in or dropped, in the order of starts.

    Raises:
        PlaceError: there are none, or the place is a step.
    """
    if edit.at.kind == "step":
        raise PlaceError(f"{edit.at}: name a turn or an entry, which has a place in the order")
    return trace.select(edit.at)


def moved(edit: Edit, trace: Trace, onto: Trace) -> Edit:
    """The same edit for a trace in which turns have other numbers and entries the same ids.

    Raises:
        PlaceError: what it changes is not there any more.
    """
    found = target(trace, edit)
    if found is not None:
        onto.entry(found.id)
        changes: dict[str, object] = {"at": entry_place(found.id)}
        if isinstance(edit, ToolResultEdit | ToolArgumentsEdit):
            changes |= {"tool": None, "nth": 1}
        return edit.model_copy(update=changes)
    if isinstance(edit, FaultEdit) and edit.fault.aim.place is not None:
        aim = edit.fault.aim
        place = moved_place(edit.fault.aim.place, trace, onto)
        fault = edit.fault.model_copy(update={"aim": aim.model_copy(update={"place": place})})
        return edit.model_copy(update={"fault": fault})
    return edit


def moved_place(place: Place, trace: Trace, onto: Trace) -> Place:
    """A place of one trace in another that has the same entries under the same ids.

    The turn after the last one stays that.

    Raises:
        PlaceError: it is not there any more.
    """
    if place.kind != "turn":
        return place
    count = len(trace.turns)
    if place.value == count + 1:
        return Place(kind="turn", value=len(onto.turns) + 1)
    found = onto.entry(trace.turn(int(place.value)).model.id).turn
    if found is None:
        raise PlaceError(f"{place} is no turn any more")
    return Place(kind="turn", value=found.number)


def _model_entry(trace: Trace, edit: ReplyEdit | RequestEdit) -> Entry:
    at = edit.at
    if at.kind == "turn":
        return trace.turn(int(at.value)).model
    if at.kind == "entry":
        entry = trace.entry(str(at.value))
        if entry.kind == "model":
            return entry
        raise _other_kind(edit, entry, "a model's")
    raise PlaceError(f"{at}: {_WANTS[edit.type]} names a turn or an entry")


def _single(trace: Trace, edit: EventEdit | ValueEdit, kinds: tuple[str, ...], whose: str) -> Entry:
    if edit.at.kind != "entry":
        raise PlaceError(f"{edit.at}: {_WANTS[edit.type]} names an entry, such as entry('1-7')")
    entry = trace.entry(str(edit.at.value))
    if entry.kind not in kinds:
        raise _other_kind(edit, entry, whose)
    return entry


def _tool_entry(trace: Trace, edit: ToolResultEdit | ToolArgumentsEdit) -> Entry:
    at = edit.at
    if at.kind == "entry":
        entry = trace.entry(str(at.value))
        if entry.kind == "tool":
            return entry
        raise _other_kind(edit, entry, "a tool's")
    if at.kind != "turn":
        raise PlaceError(f"{at}: {_WANTS[edit.type]} names a turn or an entry")
    found = trace.turn(int(at.value)).tools
    tools = [each for each in found if edit.tool is None or each.name == edit.tool]
    if not tools:
        called = f"called no tool '{edit.tool}'" if edit.tool else "called no tool"
        lacks = "result" if isinstance(edit, ToolResultEdit) else "call"
        raise PlaceError(f"{at} {called}, so it has no {lacks} to change")
    if edit.tool is None and len({each.name for each in tools}) > 1:
        names = ", ".join(sorted({str(each.name) for each in tools}))
        raise PlaceError(f"{at} called several tools ({names}): say which with tool=")
    if edit.nth > len(tools):
        raise PlaceError(f"{at} called '{tools[0].name}' {len(tools)} times, not {edit.nth}")
    return tools[edit.nth - 1]


def _other_kind(edit: Edit, entry: Entry, whose: str) -> PlaceError:
    return PlaceError(
        f"entry:{entry.id} is a {entry.kind} entry; {_WANTS[edit.type]} wants {whose}"
    )
