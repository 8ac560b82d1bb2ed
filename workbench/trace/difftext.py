"""What differs between two items of two traces, in short words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError, UsageError
from workbench.trace.fingerprint import Item, call_value, digest, error_label
from workbench.trace.jcs import dump_stored
from workbench.trace.payloads import compare, view
from workbench.trace.toollists import LIST, list_changed, specs, tool_changes, tools_in
from workbench.trace.toolresults import in_words

if TYPE_CHECKING:
    from workbench.trace.payloads import Change, Message, ToolCall
    from workbench.trace.trace import Entry

_LENGTH = 60
_NOTES = 12
_FOLLOWS = frozenset({"assistant", "tool"})
"""Roles of messages that repeat what the model and the tools said before."""


def brief(value: Any, length: int = _LENGTH) -> str:
    """A value on one line of at most ``length`` characters."""
    if isinstance(value, str):
        text = value
    else:
        try:
            text = dump_stored(value).decode()
        except (TypeError, ValueError):
            text = repr(value)
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def item_label(item: Item) -> str:
    """What an item is, in a word or two: ``refund``, ``"Done."``, ``event answered``."""
    entry = item.entry
    if item.turn is None and entry.kind != "model":
        return f"{entry.kind} {entry.name or entry.type or ''}".strip()
    error = error_label(entry)
    if item.names:
        return " + ".join(item.names)
    if error is not None:
        return error
    if entry.open:
        return "no reply"
    text = _text(entry)
    return f"“{brief(text, 40)}”" if text else "an empty reply"


def differences(a: Item, b: Item) -> list[str]:
    """The short differences between two items: reply, tool calls, results, errors, step."""
    notes: list[str] = []
    if a.entry.step != b.entry.step:
        notes.append(f"step: {a.entry.step or '(none)'} → {b.entry.step or '(none)'}")
    if a.key != b.key:
        notes += _decisions(a, b)
    if a.result != b.result:
        notes += _tools(a, b) if a.turn is not None and b.turn is not None else _loose(a, b)
    return notes[:_NOTES]


def _decisions(a: Item, b: Item) -> list[str]:
    errors = [_ended(item.entry) for item in (a, b)]
    if a.names != b.names or errors[0] != errors[1]:
        labels = [item_label(item) for item in (a, b)]
        if errors[0] != errors[1] and labels[0] == labels[1]:
            labels = [error or label for error, label in zip(errors, labels, strict=True)]
        return [f"{labels[0]} → {labels[1]}"] if labels[0] != labels[1] else []
    if a.entry.kind != "model" or b.entry.kind != "model":
        return [f"{item_label(a)}: asked {_asked(a.entry)} → {_asked(b.entry)}"]
    notes = []
    for old, new in zip(_calls(a.entry), _calls(b.entry), strict=False):
        notes += _arguments(old.name, call_value(old), call_value(new))
    texts = _text(a.entry), _text(b.entry)
    if texts[0] != texts[1]:
        notes.append(f"text: “{brief(texts[0])}” → “{brief(texts[1])}”")
    return notes or _finish(a.entry, b.entry)


def _finish(a: Entry, b: Entry) -> list[str]:
    try:
        old, new = a.reply, b.reply
    except (TraceError, UsageError):
        return ["reply: the payload differs"]
    if old is None or new is None:
        return ["reply: none on one side"]
    if old.refusal != new.refusal:
        return [f"refusal: {old.refusal or 'none'} → {new.refusal or 'none'}"]
    return [f"finish reason: {old.finish_reason or 'none'} → {new.finish_reason or 'none'}"]


def _arguments(name: str, old: Any, new: Any) -> list[str]:
    if not (isinstance(old, dict) and isinstance(new, dict)):
        return [] if digest(old) == digest(new) else [f"{name}: {brief(old)} → {brief(new)}"]
    notes = []
    for key in [*old, *(each for each in new if each not in old)]:
        if key not in new:
            notes.append(f"{name}.{key}: {brief(old[key])} → (none)")
        elif key not in old:
            notes.append(f"{name}.{key}: (none) → {brief(new[key])}")
        elif digest(old[key]) != digest(new[key]):
            notes.append(f"{name}.{key}: {brief(old[key])} → {brief(new[key])}")
    return notes


def _tools(a: Item, b: Item) -> list[str]:
    notes = []
    left = list(b.tools)
    for entry, mark in a.tools:
        same = next((pair for pair in left if pair[1].key == mark.key), None)
        same = same or next((pair for pair in left if pair[0].name == entry.name), None)
        if same is None:
            if entry.name in b.names:
                notes.append(f"{entry.name}: {_came(entry)} → not run")
            continue
        left.remove(same)
        if same[1].result != mark.result:
            text = f"{entry.name}: {_came(entry)} → {_came(same[0])}"
            notes.append(_listed(entry, same[0]) or text)
        elif same[1].key != mark.key and a.key == b.key:
            notes.append(f"{entry.name}: ran with {_asked(entry)} → {_asked(same[0])}")
    notes += [
        f"{entry.name}: not run → {_came(entry)}" for entry, _ in left if entry.name in a.names
    ]
    return notes


def _loose(a: Item, b: Item) -> list[str]:
    text = f"{item_label(a)}: {_came(a.entry)} → {_came(b.entry)}"
    return [_listed(a.entry, b.entry) or text]


def _listed(a: Entry, b: Entry) -> str | None:
    """How the tools of a server differ that was asked for their list; None for anything else."""
    if a.name != LIST or a.error is not None or b.error is not None:
        return None
    try:
        server = a.request.get("server") if isinstance(a.request, dict) else None
        old, new = tools_in(a.response), tools_in(b.response)
    except TraceError:
        return None
    changes = tool_changes(old or (), new or ())
    return list_changed(server, changes) if changes else None


def _came(entry: Entry) -> str:
    """What came of a tool call, an event, or a question to a human."""
    error = error_label(entry)
    if error is not None:
        return f"failed ({brief(error)})"
    if entry.open:
        return "no result"
    try:
        if entry.kind == "tool":
            return brief(in_words(entry.response))
        return brief(entry.data if entry.kind == "event" else entry.value)
    except TraceError:
        return "unavailable"


def _asked(entry: Entry) -> str:
    if entry.hash_only:
        return "not recorded"
    try:
        return brief(entry.arguments if entry.kind == "tool" else entry.prompt)
    except TraceError:
        return "unavailable"


def _text(entry: Entry) -> str:
    try:
        return entry.text or ""
    except (TraceError, UsageError):
        return ""


def _calls(entry: Entry) -> Sequence[ToolCall]:
    try:
        return entry.tool_calls
    except (TraceError, UsageError):
        return ()


def _ended(entry: Entry) -> str | None:
    error = error_label(entry)
    if error is None and entry.ended not in (None, "complete"):
        return f"stream {entry.ended}"
    return error


def request_differences(a: Entry, b: Entry, *, everything: bool, told: set[str]) -> list[str]:
    """How what the model saw differs: parameters, tools, messages.

    Args:
        a: a model entry of the first trace.
        b: its partner in the second.
        everything: also messages that repeat what the model and the tools said; False where
            earlier differences explain those.
        told: differences that were told already, by their words; new ones are added.
    """
    try:
        if a.api != b.api:
            notes = [f"api: {a.api} → {b.api}"]
        elif a.hash_only or b.hash_only:
            same = a.hash == b.hash
            notes = [] if same else ["request: another one (its words were not recorded)"]
        else:
            notes = _request(a, b, everything=everything)
    except TraceError:
        notes = ["request: unavailable, because the file is damaged"]
    except UsageError:
        notes = ["request: the payload differs"]
    fresh = [each for each in notes if each not in told]
    told.update(fresh)
    return fresh[:_NOTES]


def _request(a: Entry, b: Entry, *, everything: bool) -> list[str]:
    api = view(str(a.api))
    old, new = a.body, b.body
    around = [
        {key: value for key, value in (each.request or {}).items() if key != "body"}
        for each in (a, b)
    ]
    notes = [
        f"request {note}"
        for note in (
            *_arguments("call", *around),
            *_arguments("parameter", api.parameters(old), api.parameters(new)),
        )
    ]
    tools = [{each.name: each for each in api.tools(body)} for body in (old, new)]
    for name in [*tools[0], *(each for each in tools[1] if each not in tools[0])]:
        if name not in tools[1]:
            notes.append(f"request: tool {name} no longer offered")
        elif name not in tools[0]:
            notes.append(f"request: tool {name} offered")
        elif (tools[0][name], tools[0][name].raw) != (tools[1][name], tools[1][name].raw):
            changes = tool_changes(specs([tools[0][name]]), specs([tools[1][name]]))
            notes += [f"request: tool {each}" for each in changes or [f"{name} differs"]]
    numbered = [list(enumerate(api.messages(body), 1)) for body in (old, new)]
    kept = [
        [(n, each) for n, each in side if everything or each.role not in _FOLLOWS]
        for side in numbered
    ]
    said = [[each for _, each in side] for side in kept]
    notes += [
        _message(change, said[0], said[1], [n for n, _ in kept[0]])
        for change in compare(said[0], said[1])
        if change.kind != "same"
    ]
    return notes


def _message(
    change: Change, old: Sequence[Message], new: Sequence[Message], numbers: Sequence[int]
) -> str:
    if change.before is None and change.after is not None:
        message = new[change.after]
        return f"request: message injected ({message.role}): {brief(message.text)}"
    before = old[change.before or 0]
    if change.after is None:
        return f"request: message dropped ({before.role}): {brief(before.text)}"
    number = numbers[change.before or 0]
    fields = "" if change.kind == "truncated" else f" ({', '.join(change.fields)})"
    return f"request: message {number} ({before.role}) {change.kind}{fields}"
