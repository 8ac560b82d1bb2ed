"""What edits change, before anything is run: what was, and what is said instead."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import PlaceError, TraceError, UsageError
from workbench.trace.callcheck import call_problems, offered_tools
from workbench.trace.edits import Edit, FaultEdit, ReplyEdit, ToolResultEdit
from workbench.trace.faults import Fault, StreamTruncate, fault_sentence

if TYPE_CHECKING:
    from workbench.trace.edits import Edits
    from workbench.trace.payloads import ToolCall
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
    targets = {id(edit): entry_id for entry_id, edit in edits.targets().items()}
    return [_row(edits, number, edit, targets.get(id(edit))) for number, edit in enumerate(edits)]


def _row(edits: Edits, number: int, edit: Edit, target: str | None) -> dict[str, Any]:
    if isinstance(edit, FaultEdit):
        return _fault_row(edits, number, edit)
    entry = edits.trace.entry(target) if target is not None else None
    turn = entry.turn if entry is not None else None
    if isinstance(edit, ReplyEdit):
        before, after = _reply_texts(entry, edit)
        warnings = _reply_warnings(entry, edit)
    else:
        before, after = _result_texts(entry, edit)
        warnings = []
    tool = entry.name if entry is not None and entry.kind == "tool" else None
    where = f"turn {turn.number}" if turn is not None else str(edit.at)
    kind = "reply" if isinstance(edit, ReplyEdit) else f"result of {tool}"
    if before == after:
        warnings.append("this edit changes nothing")
    return {
        "index": number, "type": edit.type, "place": str(edit.at),
        "turn": turn.number if turn is not None else None, "entry": target, "tool": tool,
        "title": f"{where} · {kind}", "before": before, "after": after,
        "diff": _lines(before, after), "text": None, "warnings": warnings,
    }  # fmt: skip


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
    if entry.kind == "model" and not entry.stream:
        return ["that reply is not streamed, so the call fails at once"]
    return []


def _reply_texts(entry: Entry | None, edit: ReplyEdit) -> tuple[str, str]:
    text, calls = _recorded(entry)
    before = [*([text] if text else []), *(_call_text(c.name, _value(c)) for c in calls)]
    new_text = text if edit.text is None else edit.text
    new_calls = (
        [_call_text(call.name, _value(call)) for call in calls]
        if edit.tool_calls is None
        else [_call_text(call.name, call.arguments) for call in edit.tool_calls]
    )
    after = [*([new_text] if new_text else []), *new_calls]
    return "\n".join(before), "\n".join(after)


def _recorded(entry: Entry | None) -> tuple[str, Sequence[ToolCall]]:
    if entry is None:
        return "", ()
    try:
        reply = entry.reply
    except (TraceError, UsageError) as error:
        return f"({error})", ()
    return (reply.text, reply.tool_calls) if reply is not None else ("", ())


def _value(call: ToolCall) -> Any:
    return call.raw if call.error is not None else call.arguments


def _call_text(name: str, arguments: Any) -> str:
    if isinstance(arguments, str):
        return f"{name}({arguments})"
    if not isinstance(arguments, dict):
        return f"{name}({_pretty(arguments)})"
    if not arguments:
        return f"{name}()"
    inner = "\n".join(f"  {key}={_indented(_pretty(item))}," for key, item in arguments.items())
    return f"{name}(\n{inner}\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _result_texts(entry: Entry | None, edit: ToolResultEdit) -> tuple[str, str]:
    after = _pretty(edit.result)
    if entry is None:
        return "", after
    if entry.error is not None:
        return f"raised {entry.error.type}: {entry.error.message}", after
    if entry.open:
        return "(no result)", after
    try:
        return _pretty(entry.response), after
    except TraceError as error:
        return f"({error})", after


def _reply_warnings(entry: Entry | None, edit: ReplyEdit) -> list[str]:
    if entry is None or not edit.tool_calls:
        return []
    tools = offered_tools(entry)
    warnings: list[str] = []
    for call in edit.tool_calls:
        arguments: Any = call.arguments
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError as error:
                warnings.append(f"the arguments of {call.name} are not JSON: {error}")
                continue
        warnings += call_problems(call.name, arguments, tools)
    return warnings


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
