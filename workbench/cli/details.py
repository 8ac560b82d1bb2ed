"""One turn, or one entry, in lines and as JSON. What damage made unreadable is said, not raised."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.cli.oneline import (
    entry_line,
    error_text,
    fault_line,
    inline,
    sent_lines,
    tool_line,
)
from workbench.cli.words import seconds
from workbench.errors import TraceError, UsageError
from workbench.trace.values import encode

if TYPE_CHECKING:
    from workbench.trace.trace import Entry, Turn

_HEAD = (
    "id", "kind", "step", "api", "name", "model", "stream", "effect", "key", "hash", "attempt",
    "enclosing", "asked_by", "origin", "reason", "where", "held_s", "source", "duration_s",
    "first_s", "ended", "provider", "reply_model", "cost_usd", "success", "fault", "type", "site",
    "nth", "repeat", "foreign_hash", "hand_key", "hash_only", "open",
)  # fmt: skip


def turn_lines(turn: Turn) -> list[str]:
    """A turn for people: what was new to the model, what it said, and the tools."""
    facts = [f"turn {turn.number} of {len(turn.trace.turns)}", str(turn.model.model or "")]
    facts += [f"step {turn.step}"] if turn.step else []
    facts += [seconds(turn.duration_s)]
    facts += [str(turn.model.source)] if turn.model.source not in ("live", None) else []
    facts += [f"{len(turn.attempts)} attempts"] if len(turn.attempts) > 1 else []
    out = [" · ".join(fact for fact in facts if fact)]
    for each in turn.attempts[:-1]:
        out.append(f"  attempt {each.attempt} failed: {error_text(each)}")
        out += _fault(each, "    ")
    out += _fault(turn.model, "  ")
    out += ["", *_new(turn.model), *sent_lines(turn.model), *_said(turn.model), ""]
    for tool in turn.tools:
        out += [f"tool {tool_line(tool)}", *_fault(tool, "  ")]
    out += [line for each in beside(turn) for line in (entry_line(each), *_fault(each, "  "))]
    return out


def _fault(entry: Entry, indent: str) -> list[str]:
    said = fault_line(entry)
    return [] if said is None else [indent + said]


def beside(turn: Turn) -> list[Entry]:
    """What happened from a turn's beginning to the next one's, beside its calls: events, questions
    to a human, readings. What came before the first turn belongs to that."""
    trace = turn.trace
    first = 0 if turn.number == 1 else turn.attempts[0].seq
    last = turn.number == len(trace.turns)
    end = len(trace.entries) + 1 if last else trace.turn(turn.number + 1).attempts[0].seq
    return [each for each in trace.entries[first : end - 1] if each.kind not in ("model", "tool")]


def turn_data(turn: Turn) -> dict[str, Any]:
    """A turn for JSON."""
    from workbench.trace.rows import row_of

    return {
        **row_of(turn),
        "entries": [entry_data(entry) for entry in turn.entries],
        "beside": [entry_data(entry) for entry in beside(turn)],
    }


def entry_lines(entry: Entry) -> list[str]:
    """An entry for people: its head, then what it carries as JSON."""
    data = entry_data(entry)
    heavy = ("request", "sent", "response", "chunks", "data", "value", "prompt")
    out = [f"{name}: {inline(data[name])}" for name in data if name not in heavy]
    for name in heavy:
        if data.get(name) is not None:
            out += ["", f"{name}:", json.dumps(data[name], indent=2, ensure_ascii=False)]
    return out


def entry_data(entry: Entry) -> dict[str, Any]:
    """An entry for JSON: what its head says, and its bodies as stored, put together."""
    out: dict[str, Any] = {}
    for name in _HEAD:
        value = getattr(entry, name)
        if value not in (None, "") and (value is not False or name == "success"):
            out[name] = value
    if entry.at is not None:
        out["at"] = entry.at.isoformat()
    if entry.error is not None:
        out["error"] = entry.error.model_dump(mode="json", exclude_none=True)
    bodies: dict[str, Callable[[], Any]] = {
        "usage": lambda: entry.usage,
        "request": lambda: None if entry.hash_only else _stored(entry, entry.request),
        "sent": lambda: _stored(entry, entry.sent),
        "response": lambda: _stored(entry, entry.response),
        "chunks": lambda: [_stored(entry, chunk.data) for chunk in entry.chunks] or None,
        "chunk_offsets_s": lambda: [chunk.offset_s for chunk in entry.chunks] or None,
        "data": lambda: encode(entry.data),
        "value": lambda: encode(entry.value),
        "prompt": lambda: encode(entry.prompt),
        "choices": lambda: encode(entry.choices),
    }
    for name, read in bodies.items():
        try:
            value = read()
        except (TraceError, UsageError) as error:
            value = f"(cannot be read: {error})"
        if value is not None:
            out[name] = value
    return out


def _stored(entry: Entry, value: Any) -> Any:
    """The stored form. A tool's bodies come as stored, a model's decoded."""
    return value if entry.kind == "tool" else encode(value)


def _new(entry: Entry) -> list[str]:
    if entry.hash_only:
        return ["the prompt was not recorded, only its hash", ""]
    try:
        messages = entry.messages
        shared = entry.shared_count
    except (TraceError, UsageError) as error:
        return [f"what the model saw cannot be read: {error}"]
    out = [f"the model saw {shared} messages from before, and these:"] if shared else []
    for message in messages[shared:]:
        out.append(f"{message.role}: {message.text}".rstrip())
        out += [f"  calls {call.name}({call.raw})" for call in message.tool_calls]
    return [*out, ""]


def _said(entry: Entry) -> list[str]:
    try:
        reply = entry.reply
    except (TraceError, UsageError) as error:
        return [f"what the model said cannot be read: {error}"]
    out = []
    if reply is not None:
        if reply.reasoning:
            out.append(f"thought: {reply.reasoning}")
        if reply.text or not reply.tool_calls:
            out.append(f"said: {reply.text or reply.refusal or '(nothing)'}")
        out += [f"called: {call.name}({call.raw})" for call in reply.tool_calls]
    if entry.error is not None:
        out.append(f"failed: {error_text(entry)}")
    if entry.open:
        out.append("no reply: the call is open, so the process died in the middle of it")
    return out
