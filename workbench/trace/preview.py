"""What edits change, before anything is run: what was, and what is said instead."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from workbench.errors import PlaceError
from workbench.trace.edits.models import DropEdit, Edit, FaultEdit, InsertEdit
from workbench.trace.edits.places import affected
from workbench.trace.edits.places import target as target_of
from workbench.trace.edits.showing import shown
from workbench.trace.faults import Fault, StreamTruncate, fault_sentence

if TYPE_CHECKING:
    from workbench.trace.edits import Edits
    from workbench.trace.trace import Entry

_MOST_LINES = 2_000
"""Lines of one side that are compared; what comes after is shown as a count."""


def preview(edits: Edits) -> str:
    """The difference that edits make, as text.

    Each edit has a heading with its place and kind, lines with ``-`` for what was recorded and
    ``+`` for what is said instead, and a line with ``!`` for each thing that looks wrong without
    being impossible. A fault is a sentence.
    """
    if not len(edits):
        return "no edits"
    return "\n\n".join(_as_text(row) for row in preview_rows(edits))


def preview_rows(edits: Edits) -> list[dict[str, Any]]:
    """The same as plain data, one dict for each edit.

    Keys: ``index`` (from 0), ``type``, ``place`` (as text, such as ``turn:4``), ``turn`` and
    ``entry`` (None where the edit names none), ``tool``, ``title``, ``before`` and ``after``
    (texts; None for a fault), ``diff`` (a list of ``{"sign", "text"}``, the sign one of blank,
    ``-`` and ``+``), ``text`` (one sentence, for a fault), ``warnings`` (sentences).
    """
    rows = []
    for number, edit in enumerate(edits):
        entry = target_of(edits.trace, edit)
        rows.append(_row(edits, number, edit, entry.id if entry is not None else None))
    return rows


def _row(edits: Edits, number: int, edit: Edit, target: str | None) -> dict[str, Any]:
    if isinstance(edit, FaultEdit):
        return _fault_row(edits, number, edit)
    entry = edits.trace.entry(target) if target is not None else None
    beside = _beside(edits, edit) if entry is None else entry
    turn = beside.turn if beside is not None else None
    made = shown(edits, edit, entry)
    if made.before == made.after:
        made.warnings.append("this edit changes nothing")
    where = f"turn {turn.number}" if turn is not None else str(edit.at)
    if isinstance(edit, InsertEdit):
        where = f"{edit.where} {where}"
    return {
        "index": number, "type": edit.type, "place": str(edit.at),
        "turn": turn.number if turn is not None else None, "entry": target,
        "tool": entry.name if entry is not None and entry.kind == "tool" else None,
        "title": f"{where} · {made.what}", "before": made.before, "after": made.after,
        "diff": _lines(made.before, made.after), "text": None, "warnings": made.warnings,
    }  # fmt: skip


def _beside(edits: Edits, edit: Edit) -> Entry | None:
    """An entry at the place of what is put in or dropped."""
    if not isinstance(edit, InsertEdit | DropEdit):
        return None
    found = affected(edits.trace, edit)
    return found[0] if found else None


def _fault_row(edits: Edits, number: int, edit: FaultEdit) -> dict[str, Any]:
    aim = edit.fault.aim
    place = aim.place
    entry = turn = None
    if place is not None and place.kind == "entry":
        found = edits.trace.entry(str(place.value))
        entry, turn = found.id, found.turn.number if found.turn is not None else None
    elif place is not None and place.kind == "turn":
        turn = int(place.value)
    sentence = fault_sentence(edit.fault)
    where = str(aim) if turn is None else f"turn {turn}"
    return {
        "index": number, "type": edit.type, "place": str(place) if place is not None else "",
        "turn": turn, "entry": entry, "tool": aim.tool, "title": f"{where} · fault",
        "before": None, "after": None, "diff": [], "text": sentence,
        "warnings": _fault_warnings(edits, edit.fault),
    }  # fmt: skip


def _fault_warnings(edits: Edits, fault: Fault) -> list[str]:
    trace, aim = edits.trace, fault.aim
    if aim.tool is not None and not trace.tools(aim.tool):
        return [f"the trace has no call of '{aim.tool}', so this may never fire"]
    if not isinstance(fault, StreamTruncate) or aim.place is None or aim.place.kind == "step":
        return []
    try:
        entry = (
            trace.turn(int(aim.place.value)).model
            if aim.place.kind == "turn"
            else trace.entry(str(aim.place.value))
        )
    except PlaceError:
        return []
    if entry.kind == "tool" and not entry.stream:
        return [f"{entry.name} is no generator: it gives its result whole, so this hits nothing"]
    if entry.kind == "model" and not entry.stream:
        return ["that reply is not streamed, so the call fails at once"]
    return []


def _lines(before: str, after: str) -> list[dict[str, str]]:
    old, new = before.splitlines(), after.splitlines()
    cut = max(len(old), len(new)) - _MOST_LINES
    rows: list[dict[str, str]] = []
    matcher = difflib.SequenceMatcher(None, old[:_MOST_LINES], new[:_MOST_LINES])
    for what, i, i_end, j, j_end in matcher.get_opcodes():
        if what == "equal":
            rows += [{"sign": " ", "text": line} for line in old[i:i_end]]
            continue
        rows += [{"sign": "-", "text": line} for line in old[i:i_end]]
        rows += [{"sign": "+", "text": line} for line in new[j:j_end]]
    if cut > 0:
        rows.append({"sign": " ", "text": f"… {cut:,} more lines"})
    return rows


def _as_text(row: dict[str, Any]) -> str:
    lines = [f"{row['title']}"]
    if row["text"] is not None:
        lines.append(f"* {row['text']}")
    lines += [f"{each['sign']} {each['text']}".rstrip() for each in row["diff"]]
    lines += [f"! {warning}" for warning in row["warnings"]]
    return "\n".join(lines)
