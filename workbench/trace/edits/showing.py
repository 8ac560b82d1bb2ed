"""What each kind of edit changes, as two texts: what was recorded, and what is said instead."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError, UsageError
from workbench.trace.callcheck import call_problems, offered_tools
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
from workbench.trace.edits.parts import CallEdit, NewEvent, NewTool, NewTurn
from workbench.trace.edits.places import affected
from workbench.trace.payloads import Message, PayloadView, Reply, ToolCall, view
from workbench.trace.values import decode

if TYPE_CHECKING:
    from workbench.trace.edits.builder import Edits
    from workbench.trace.trace import Entry

_EMPTY = Reply()


@dataclass(slots=True)
class Shown:
    """One edit as texts."""

    what: str
    """What is changed, such as ``reply``."""
    before: str
    """What was recorded."""
    after: str
    """What is said instead."""
    warnings: list[str] = field(default_factory=list)
    """What looks wrong without being impossible, and what is left out."""


def shown(edits: Edits, edit: Edit, entry: Entry | None) -> Shown:
    """An edit (no fault) as texts; ``entry`` is the one that it changes, where there is one."""
    if isinstance(edit, FaultEdit):
        raise TypeError("a fault is a sentence")
    if isinstance(edit, InsertEdit):
        return Shown(edit.what.label, "", _new(edit.what))
    if isinstance(edit, DropEdit):
        return _dropped(edits, edit)
    assert entry is not None  # noqa: S101 - every other edit changes an entry
    return _SHOWN[edit.type](edit, entry)


def pretty(value: Any) -> str:
    """JSON for people."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def call_text(name: str, arguments: Any) -> str:
    """A call as Python writes it, an argument a line."""
    if isinstance(arguments, str):
        return f"{name}({arguments})"
    if not isinstance(arguments, dict):
        return f"{name}({pretty(arguments)})"
    if not arguments:
        return f"{name}()"
    inner = "\n".join(f"  {key}={_indented(pretty(item))}," for key, item in arguments.items())
    return f"{name}(\n{inner}\n)"


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")


# -- replies


def _reply(edit: ReplyEdit, entry: Entry) -> Shown:
    old, unreadable = _recorded(entry)
    before, after = _said(old), _said(_edited(edit, old))
    if edit.finish_reason is not None:
        before.append(f"finish reason: {old.finish_reason or '(not said)'}")
        after.append(f"finish reason: {edit.finish_reason}")
    before = [unreadable] if unreadable else before
    return Shown("reply", "\n".join(before), "\n".join(after), _reply_warnings(edit, entry))


def _recorded(entry: Entry) -> tuple[Reply, str]:
    try:
        return entry.reply or _EMPTY, ""
    except (TraceError, UsageError) as error:
        return _EMPTY, f"({error})"


def _edited(edit: ReplyEdit, old: Reply) -> Reply:
    """What the reply then says; given calls stay as they were given."""
    text = old.text if edit.text is None and edit.refusal is None else edit.text or ""
    calls: Sequence[Any] = old.tool_calls if edit.refusal is None else ()
    if edit.tool_calls is not None:
        calls = edit.tool_calls
    refusal = edit.refusal if edit.text is None or edit.refusal is not None else None
    if edit.text is None and edit.refusal is None:
        refusal = old.refusal
    return Reply(text=text, tool_calls=tuple(calls), refusal=refusal)


def _said(reply: Reply) -> list[str]:
    words = [reply.text] if reply.text else []
    words += [f"refusal: {reply.refusal}"] if reply.refusal else []
    return [*words, *(call_text(call.name, _value(call)) for call in reply.tool_calls)]


def _value(call: ToolCall | CallEdit) -> Any:
    if isinstance(call, ToolCall) and call.error is not None:
        return call.raw
    return call.arguments


def _reply_warnings(edit: ReplyEdit, entry: Entry) -> list[str]:
    tools = offered_tools(entry) if edit.tool_calls else []
    warnings: list[str] = []
    for call in edit.tool_calls or ():
        arguments: Any = call.arguments
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError as error:
                warnings.append(f"the arguments of {call.name} are not JSON: {error}")
                continue
        warnings += call_problems(call.name, arguments, tools)
    try:
        shape = view(entry.api or "")
        old, new = (
            entry.reply or _EMPTY,
            shape.reply(edit.rewrite(entry.api or "", entry.reply_body)),
        )
    except (TraceError, UsageError):
        return warnings
    if lost := [name for name in old.signed if name not in new.signed]:
        warnings.append(
            f"the signed reasoning ({', '.join(lost)}) is left out: its signature holds for the "
            "recorded words only, and a provider would refuse it with others"
        )
    if not (new.text.strip() or new.tool_calls or new.refusal):
        warnings.append(
            "the reply says nothing, and some providers refuse an empty message in what follows"
        )
    return warnings


# -- requests


def _request(edit: RequestEdit, entry: Entry) -> Shown:
    on = " and the later ones of its step" if edit.scope == "onwards" else ""
    try:
        shape = view(entry.api or "")
        request = entry.request if isinstance(entry.request, dict) else {"body": None}
        new = edit.rewrite(entry.api or "", request)["body"]
    except (TraceError, UsageError) as error:
        return Shown(f"request{on}", f"({error})", "")
    old = request.get("body")
    before, after = _parameters(shape, old, new)
    said, says = shape.messages(old), shape.messages(new)
    here, there = {id(each.raw) for each in said}, {id(each.raw) for each in says}
    before += [_message(n, m) for n, m in enumerate(said, 1) if id(m.raw) not in there]
    after += [_message(n, m) for n, m in enumerate(says, 1) if id(m.raw) not in here]
    return Shown(f"request{on}", "\n".join(before), "\n".join(after), _unsigned(edit, said, says))


def _parameters(shape: PayloadView, old: Any, new: Any) -> tuple[list[str], list[str]]:
    was, now = shape.parameters(old), shape.parameters(new)
    before, after = [], []
    for name in [*was, *(name for name in now if name not in was)]:
        if name in was and name in now and pretty(was[name]) == pretty(now[name]):
            continue
        before.append(f"{name}: {pretty(was[name]) if name in was else '(not sent)'}")
        after.append(f"{name}: {pretty(now[name]) if name in now else '(not sent)'}")
    return before, after


def _message(number: int, message: Message) -> str:
    calls = [call_text(call.name, _value(call)) for call in message.tool_calls]
    words = [*([message.text] if message.text else []), *calls]
    words += [f"({message.images} parts that are no text)"] if message.images else []
    return f"message {number} ({message.role}): " + "\n".join(words)


def _unsigned(edit: RequestEdit, said: Sequence[Message], says: Sequence[Message]) -> list[str]:
    dropped = {each.number for each in edit.messages if each.op == "drop"}
    old = [m for n, m in enumerate(said, 1) if m.signed and n not in dropped]
    left = sum(1 for message in says if message.signed)
    if len(old) <= left:
        return []
    names = ", ".join(dict.fromkeys(name for message in old for name in message.signed))
    count = len(old) - left
    messages = "a message" if count == 1 else f"{count} messages"
    why = "another model" if edit.model is not None else "other words"
    what = f"the signed reasoning of {messages} ({names}) is left out"
    return [f"{what}: a provider would refuse it with {why}"]


# -- tools, events, readings


def _result(edit: ToolResultEdit, entry: Entry) -> Shown:
    return Shown(f"result of {entry.name}", _came(entry), pretty(edit.result))


def _came(entry: Entry) -> str:
    """What came of a tool's call."""
    if entry.error is not None:
        return f"raised {entry.error.type}: {entry.error.message}"
    return "(no result)" if entry.open else _stored(lambda: entry.response)


def _arguments(edit: ToolArgumentsEdit, entry: Entry) -> Shown:
    name = str(entry.name)
    try:
        request = entry.request if isinstance(entry.request, dict) else {}
        before = call_text(name, request.get("arguments"))
    except TraceError as error:
        before = f"({error})"
    turn = entry.turn
    tools = offered_tools(turn.model) if turn is not None else []
    warnings = call_problems(name, decode(edit.arguments), tools)
    return Shown(f"arguments of {name}", before, call_text(name, edit.arguments), warnings)


def _event(edit: EventEdit, entry: Entry) -> Shown:
    before = _stored(lambda: entry.request["data"])
    return Shown(f"event {entry.type}", before, pretty(edit.data))


def _reading(edit: ValueEdit, entry: Entry) -> Shown:
    what = "human's answer" if entry.kind == "input" else f"{entry.kind} {entry.name}"
    stored = entry.trace.bodies.stored
    before = _stored(lambda: stored(entry.line - 1))
    warnings = []
    try:
        was, new = type(entry.value), type(decode(edit.value))
        if was is not new:
            warnings.append(f"it was a {was.__name__}, and is now a {new.__name__}")
    except TraceError as error:
        warnings.append(f"the recorded value cannot be read: {error}")
    return Shown(what, before, pretty(edit.value), warnings)


def _stored(read: Callable[[], Any]) -> str:
    try:
        return pretty(read())
    except TraceError as error:
        return f"({error})"


# -- what is put in, and what is dropped


def _new(new: NewTurn | NewTool | NewEvent) -> str:
    if isinstance(new, NewEvent):
        return f"event {new.event}: {pretty(new.data)}"
    if isinstance(new, NewTool):
        return f"{call_text(new.name, new.arguments)}\n→ {pretty(new.result)}"
    words = _said(Reply(text=new.text))
    for place, call in enumerate(new.tool_calls):
        words.append(call_text(call.name, call.arguments))
        words += [f"→ {pretty(new.results[place])}"] if new.results is not None else []
    return "\n".join(words)


def _dropped(edits: Edits, edit: DropEdit) -> Shown:
    entries = affected(edits.trace, edit)
    words = [_entry(entry) for entry in entries]
    what = {"turn": "dropped", "entry": f"{entries[0].kind} entry dropped"}[edit.at.kind]
    return Shown(f"{what}, with its call" if edit.pair else what, "\n".join(words), "")


def _entry(entry: Entry) -> str:
    if entry.kind == "model":
        old, unreadable = _recorded(entry)
        failed = f"raised {entry.error.type}: {entry.error.message}" if entry.error else ""
        return unreadable or "\n".join(_said(old)) or failed or "(no reply)"
    if entry.kind == "tool":
        return f"{entry.name} → {_came(entry)}"
    if entry.kind == "event":
        return f"event {entry.type}"
    return f"{entry.kind} {entry.name or ''}".strip()


_SHOWN: dict[str, Callable[[Any, Entry], Shown]] = {
    "reply": _reply,
    "request": _request,
    "tool_result": _result,
    "tool_arguments": _arguments,
    "event": _event,
    "value": _reading,
}
