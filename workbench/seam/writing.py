"""The lines that a session writes, made from its tickets and outcomes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from workbench.seam.calls import MISSING
from workbench.trace.entries import CallLine, ChunkLine, ErrorInfo, ResultLine
from workbench.trace.payloads import has_view, view
from workbench.trace.times import utc_now
from workbench.trace.values import dumps

if TYPE_CHECKING:
    from workbench.seam.calls import Call, Outcome, Served, Ticket
    from workbench.trace.trace import Entry


def call_line(ticket: Ticket) -> CallLine:
    """The line that says that a call begins."""
    call = ticket.call
    origin = ticket.entry.id if ticket.entry is not None else None
    fields: dict[str, Any] = {
        "id": ticket.id,
        "kind": call.kind,
        "at": utc_now(),
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
    set_fields = {name: value for name, value in fields.items() if value is not None}
    return CallLine(**set_fields, request=call.request)


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
        "fault": ticket.fault.model_dump(mode="json", exclude_none=True)
        if ticket.source == "fault"
        else None,
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


def replayed_line(ticket: Ticket, served: Served, entry: Entry | None) -> ResultLine:
    """The line for an answer that was served whole: as recorded, but for what was edited."""
    fields: dict[str, Any] = {"source": ticket.source, "error": served.error}
    if entry is not None:
        fields |= {
            "duration_s": entry.duration_s,
            "first_s": entry.first_s,
            "provider": entry.provider,
            "model": entry.reply_model,
            "usage": entry.usage,
        }
    if served.response is not MISSING:
        fields["response"] = served.response
    return _result(ticket.id, fields)


def _result(of: str, fields: dict[str, Any]) -> ResultLine:
    kept = {k: v for k, v in fields.items() if v is not None or k == "response"}
    return ResultLine(of=of, at=utc_now(), **kept)


def _usage(ticket: Ticket, outcome: Outcome) -> dict[str, int | None] | None:
    call = ticket.call
    if call.kind != "model" or not has_view(str(call.api)):
        return None
    shape = view(str(call.api))
    body = shape.assemble(ticket.chunks) if ticket.chunks else _body(outcome.response)
    usage = shape.usage(body) if body is not None else None
    if usage is None:
        return None
    names = ("input", "output", "cache_read", "cache_write", "reasoning")
    return {
        f"{name}_tokens": getattr(usage, f"{name}_tokens")
        for name in names
        if getattr(usage, f"{name}_tokens") is not None
    }


def _body(response: Any) -> Any:
    return response.get("body") if isinstance(response, dict) else None


def short(call: Call, response: Any, error: ErrorInfo | None, chunks: list[Any]) -> str:
    """A few words on how a call ended, for lists and messages."""
    if error is not None:
        status = f" {error.status}" if error.status else ""
        return clip(f"{error.type}{status}: {error.message}")
    if call.kind == "model" and has_view(str(call.api)):
        shape = view(str(call.api))
        reply = shape.reply(shape.assemble(chunks) if chunks else _body(response))
        asked = ", ".join(each.name for each in reply.tool_calls)
        return clip(asked or reply.text)
    return "nothing" if response is MISSING else clip(dumps(response).decode())


def clip(text: str, limit: int = 120) -> str:
    """The first line's worth of a text."""
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"
