"""The lines that a session writes, made from its tickets and outcomes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from workbench.seam.calls import MISSING
from workbench.trace.entries import (
    CallLine,
    ChunkLine,
    ErrorInfo,
    EventLine,
    InputLine,
    ResultLine,
    ValueLine,
)
from workbench.trace.entry import USAGE_FIELDS
from workbench.trace.payloads import has_view, view
from workbench.trace.times import utc_now
from workbench.trace.toolresults import in_words
from workbench.trace.values import dumps, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from workbench.seam.calls import Call, Outcome, Served, Ticket
    from workbench.trace.entries import BaseLine
    from workbench.trace.trace import Entry


def call_line(ticket: Ticket, at: str | None = None) -> CallLine:
    """The line that says that a call begins, now or at that time."""
    call = ticket.call
    origin = ticket.entry.id if ticket.entry is not None else None
    fields: dict[str, Any] = {
        "id": ticket.id,
        "kind": call.kind,
        "at": at or utc_now(),
        "step": call.step or None,
        "attempt": ticket.attempt if ticket.attempt > 1 else None,
        "enclosing": call.enclosing,
        "asked_by": call.asked_by,
        "api": call.api,
        "name": call.name,
        "model": call.model,
        "stream": call.stream or None,
        "effect": call.effect,
        "key": ticket.key,
        "hash": ticket.digest,
        "where": call.where,
        "origin": origin,
        "held_s": None if ticket.held_s is None else round(ticket.held_s, 6),
        "reason": None if ticket.reason == "record" else ticket.reason,
    }
    if ticket.sent is not MISSING:
        fields["sent"] = ticket.sent
    set_fields = {name: value for name, value in fields.items() if value is not None}
    if ticket.request is not MISSING:
        set_fields["request"] = ticket.request
    return CallLine.made(set_fields)


def event_line(ticket: Ticket) -> EventLine:
    """The line of an event."""
    fields = _place(ticket) | {"type": ticket.call.name}
    return EventLine(line="event", **fields, data=ticket.request["data"])


def input_line(ticket: Ticket, answer: Any, error: ErrorInfo | None) -> InputLine:
    """The line of a question to a human, and of what was answered."""
    fields = _place(ticket) | ticket.request
    fields["duration_s"] = _duration(ticket, ticket.entry if ticket.source == "replayed" else None)
    if error is not None:
        fields["error"] = error
    if ticket.source == "fault":
        fields["fault"] = fault_json(ticket)
    if answer is not MISSING:
        fields["value"] = answer
    return InputLine(line="input", **fields)


def _place(ticket: Ticket) -> dict[str, Any]:
    """What an event and an input have in common."""
    call = ticket.call
    fields: dict[str, Any] = {
        "id": ticket.id,
        "at": utc_now(),
        "step": call.step or None,
        "enclosing": call.enclosing,
        "hash": ticket.digest,
        "where": call.where,
        "origin": ticket.entry.id if ticket.entry is not None else None,
        "reason": None if ticket.reason == "record" else ticket.reason,
        "source": None if ticket.source == "live" else ticket.source,
    }
    return {name: value for name, value in fields.items() if value is not None}


def fault_json(ticket: Ticket) -> dict[str, Any]:
    """The fault that hit a call, as plain data."""
    found: dict[str, Any] = ticket.fault.model_dump(mode="json", exclude_none=True)
    return found


def chunk_line(ticket: Ticket, offset: float, data: Any) -> ChunkLine:
    """The line for one chunk of a stream."""
    return ChunkLine(of=ticket.id, offset_s=round(offset, 6), data=data)


def result_line(ticket: Ticket, outcome: Outcome) -> ResultLine:
    """The line that says how a call ended."""
    recorded = ticket.entry if ticket.source == "replayed" else None
    provider = outcome.provider or (recorded.provider if recorded is not None else None)
    fields: dict[str, Any] = {
        "source": ticket.source,
        "duration_s": _duration(ticket, recorded),
        "first_s": None if ticket.first is None else round(ticket.first, 6),
        "ended": outcome.ended,
        "provider": provider,
        "model": outcome.model,
        "usage": outcome.usage or _usage(ticket, outcome),
        "fault": fault_json(ticket) if ticket.source == "fault" or ticket.below else None,
        "error": outcome.error,
    }
    if outcome.response is not MISSING:
        fields["response"] = outcome.response
    return _result(ticket.id, fields)


def _duration(ticket: Ticket, recorded: Entry | None) -> float:
    """Seconds; those of the recording when a recorded stream was read again to its end."""
    if recorded is not None and recorded.duration_s is not None and ticket.fault is None:
        return recorded.duration_s
    return round(time.monotonic() - ticket.begun, 6)


def replayed_line(
    ticket: Ticket, served: Served, entry: Entry | None, at: str | None = None
) -> ResultLine:
    """The line for an answer that was served whole: as recorded, but for what was edited."""
    fields: dict[str, Any] = {"source": ticket.source, "error": served.error}
    if ticket.source == "fault":
        fields["fault"] = fault_json(ticket)
    elif entry is not None:
        fields |= {
            "duration_s": entry.duration_s,
            "first_s": entry.first_s,
            "ended": "cancelled" if served.error and entry.ended == "cancelled" else None,
            "provider": entry.provider,
            "model": entry.reply_model,
            "usage": entry.usage,
        }
    if served.response is not MISSING:
        fields["response"] = served.response
    return _result(ticket.id, fields, at)


def kept_lines(entry: Entry, ids: Mapping[str, str]) -> Iterator[BaseLine]:
    """The lines of a recorded entry once more. ``ids``: new ids, of it and of what it names."""
    names = {"kind", "api", "model", "name", "stream", "effect", "key", "hash", "where", "step"}
    head = {name: getattr(entry, name) for name in (*names, "nth", "site")}
    head |= {"id": ids[entry.id], "origin": entry.id, "reason": "hit", "at": utc_now()}
    head["enclosing"] = ids.get(str(entry.enclosing))
    fields = {name: value for name, value in head.items() if value}
    again: dict[str, Any] = {"source": "replayed"}
    if entry.kind == "event":
        yield _one_line(EventLine, fields, type=entry.type, data=entry.request["data"], **again)
    elif entry.kind == "input":
        answer = {"value": entry.response} if entry.error is None else {"error": entry.error}
        yield _one_line(InputLine, fields, **entry.request, **answer, **again)
    elif entry.kind in ("clock", "value"):
        yield _one_line(ValueLine, fields, line=entry.kind, value=encode(entry.value), **again)
    else:
        if entry.attempt > 1:
            fields["attempt"] = entry.attempt
        asked_by = ids.get(str(entry.asked_by))
        if asked_by is not None:
            fields["asked_by"] = asked_by
        known = {k: v for k, v in fields.items() if k in CallLine.model_fields}
        yield CallLine(**known, request=entry.request)
        for chunk in entry.chunks:
            yield ChunkLine(of=ids[entry.id], offset_s=chunk.offset_s, data=chunk.data)
        found = ("duration_s", "first_s", "ended", "provider", "usage", "error")
        result = {name: getattr(entry, name) for name in found} | again
        result |= {"model": entry.reply_model, "response": entry.stored_response}
        yield _result(ids[entry.id], result)


def _one_line(kind: type[BaseLine], fields: dict[str, Any], **more: Any) -> BaseLine:
    known = {name: value for name, value in fields.items() if name in kind.model_fields}
    return kind(**{"line": kind.model_fields["line"].default, **known, **more})


def _result(of: str, fields: dict[str, Any], at: str | None = None) -> ResultLine:
    kept = {k: v for k, v in fields.items() if v is not None or k == "response"}
    return ResultLine.made({"of": of, "at": at or utc_now(), **kept})


def _usage(ticket: Ticket, outcome: Outcome) -> dict[str, int | None] | None:
    call = ticket.call
    if call.kind != "model" or not has_view(str(call.api)):
        return None
    shape = view(str(call.api))
    body = shape.assemble(ticket.chunks) if ticket.chunks else _body(outcome.response)
    usage = shape.usage(body) if body is not None else None
    if usage is None:
        return None
    counts = {name: getattr(usage, name) for name in USAGE_FIELDS}
    return {name: count for name, count in counts.items() if count is not None}


def _body(response: Any) -> Any:
    return response.get("body") if isinstance(response, dict) else None


def short(
    call: Call,
    response: Any,
    error: ErrorInfo | None,
    chunks: list[Any],
    clean: Callable[[Any], Any] = lambda value: value,
) -> str:
    """A few words on how a call ended, for lists and messages.

    ``clean`` takes the secrets out of what comes from the world and not from a trace, as long as
    it is whole: half of a secret is none that can be found.
    """
    if call.kind == "event" and error is None:
        return clip(dumps(clean(call.request["data"])).decode())
    if error is not None:
        status = f" {error.status}" if error.status else ""
        return clip(clean(f"{error.type}{status}: {error.message}"))
    if call.kind == "model" and has_view(str(call.api)):
        shape = view(str(call.api))
        reply = shape.reply(shape.assemble(chunks) if chunks else _body(response))
        asked = ", ".join(each.name for each in reply.tool_calls)
        return clip(clean(asked or reply.text))
    if call.kind == "tool" and chunks:  # what a generator yielded
        response = chunks
    return "nothing" if response is MISSING else clip(dumps(clean(in_words(response))).decode())


def clip(text: str, limit: int = 120) -> str:
    """The first line's worth of a text."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
