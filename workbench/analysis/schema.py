"""The columns of each frame."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from workbench.analysis.columns import MISSING, Column
from workbench.analysis.rows import EntryRow, Run, TurnRow
from workbench.errors import TraceError, UsageError
from workbench.trace.findings import headline
from workbench.trace.prices import spent_and_saved, total

if TYPE_CHECKING:
    from workbench.trace.trace import Entry, Turn


def _decimal(value: Decimal | None) -> float | None:
    return None if value is None else float(value)


def _raw(read: Any) -> Any:
    """A body as it is; missing where the file is damaged."""
    try:
        return read()
    except (TraceError, UsageError):
        return MISSING


def _result(entry: Entry) -> Any:
    """What a tool returned, which may be None; missing where it returned nothing at all."""
    return MISSING if entry.open or entry.error is not None else _raw(lambda: entry.result)


def _identity(run: Any) -> list[Column[Any]]:
    return [
        Column("run", "string", lambda row: run(row).name, "the run's name"),
        Column("trace_id", "string", lambda row: run(row).trace.id, "the trace's id"),
        Column("path", "string", lambda row: run(row).trace.path, "its file"),
    ]


_HEAD: list[Column[EntryRow]] = [
    *_identity(lambda row: row.run),
    Column("entry", "string", lambda row: row.entry.id, "the entry's id"),
    Column("seq", "Int64", lambda row: row.entry.seq, "its place in the order of starts"),
    Column("kind", "string", lambda row: row.entry.kind, "model, tool, input, event, clock, value"),
    Column("turn", "Int64", lambda row: row.turn, "the turn's number, from 1"),
    Column("step", "string", lambda row: row.entry.step, "the step's path; empty outside any"),
    Column("started_at", "datetime64[us, UTC]", lambda row: row.entry.at, "when it began"),
]

_OUTCOME: list[Column[EntryRow]] = [
    Column("attempt", "Int64", lambda row: row.entry.attempt, "which try of the call, from 1"),
    Column("source", "string", lambda row: row.entry.source,
           "where the outcome came from: live, replayed, edited, fault, simulated, hand"),
    Column("outcome", "string", lambda row: row.outcome,
           "ok, error, open, or how a stream ended early: cut, stopped, cancelled"),
    Column("error", "string", lambda row: row.entry.error and row.entry.error.type,
           "the class of what was raised"),
    Column("error_message", "string", lambda row: row.entry.error and row.entry.error.message,
           "its text"),
    Column("error_status", "Int64", lambda row: row.entry.error and row.entry.error.status,
           "its HTTP status"),
    Column("fault", "string", lambda row: (row.entry.fault or {}).get("type"),
           "the type of an injected fault"),
    Column("duration_s", "Float64", lambda row: row.entry.duration_s, "seconds"),
]  # fmt: skip


def _tokens(entry: Any) -> list[Column[Any]]:
    docs = {
        "input_tokens": "all input tokens, cached ones included",
        "output_tokens": "all output tokens, reasoning included",
        "cache_read_tokens": "input tokens read from a cache",
        "cache_write_tokens": "input tokens written to a cache",
        "reasoning_tokens": "output tokens that were reasoning",
    }
    columns = [
        Column(name, "Int64", lambda row, name=name: entry(row).usage(name), doc)  # type: ignore[misc]
        for name, doc in docs.items()
    ]
    money = {
        "cost": "US dollars when the call was made; NA when unknown",
        "spent": "US dollars paid in this run: 0 for what was served from a recording",
        "saved": "US dollars not paid, because the reply came from a recording",
    }
    return columns + [
        Column(name, "Float64", lambda row, name=name: _decimal(getattr(entry(row), name)), doc)  # type: ignore[misc]
        for name, doc in money.items()
    ]


ENTRY_COLUMNS: list[Column[EntryRow]] = [
    *_HEAD,
    Column("name", "string", lambda row: row.entry.name or row.entry.type or row.entry.model,
           "the tool, the event's type, the value's name or the model"),
    Column("source", "string", lambda row: row.entry.source, "where the outcome came from"),
    Column("duration_s", "Float64", lambda row: row.entry.duration_s, "seconds"),
    Column("where", "string", lambda row: row.entry.where, "the line of the agent's code"),
]  # fmt: skip
"""The columns of :func:`entries`."""

CALL_COLUMNS: list[Column[EntryRow]] = [
    *_HEAD,
    Column("api", "string", lambda row: row.entry.api, "the shape of a model's payload"),
    Column("provider", "string", lambda row: row.entry.provider, "who answered"),
    Column("model", "string", lambda row: row.entry.model, "the model asked for"),
    Column("tool", "string", lambda row: row.entry.name, "the tool"),
    Column("effect", "string", lambda row: row.entry.effect, "read or write, for a tool"),
    Column("key", "string", lambda row: row.entry.key, "a tool's idempotency key"),
    *_OUTCOME,
    Column("stream", "boolean", lambda row: row.entry.stream, "asked for as a stream"),
    Column("first_s", "Float64", lambda row: row.entry.first_s, "seconds to the first chunk"),
    Column("tokens_per_s", "Float64", lambda row: row.tokens_per_s,
           "output tokens per second of the whole call"),
    *_tokens(lambda row: row),
    Column("origin", "string", lambda row: row.entry.origin, "the parent's entry that answered it"),
    Column("reason", "string", lambda row: row.entry.reason, "why it was served or run"),
    Column("enclosing", "string", lambda row: row.entry.enclosing, "the call around it"),
    Column("asked_by", "string", lambda row: row.entry.asked_by, "the model call that asked"),
    Column("hash", "string", lambda row: row.entry.hash, "SHA-256 of the request"),
    Column("where", "string", lambda row: row.entry.where, "the line of the agent's code"),
]  # fmt: skip
"""The columns of :func:`calls`."""

TOOL_COLUMNS: list[Column[EntryRow]] = [
    *_HEAD,
    Column("tool", "string", lambda row: row.entry.name, "the tool"),
    Column("effect", "string", lambda row: row.entry.effect, "read or write; NA when unknown"),
    Column("key", "string", lambda row: row.entry.key, "the idempotency key"),
    *_OUTCOME,
    Column("hash", "string", lambda row: row.entry.hash, "equal for equal calls"),
    Column("arguments", "object", lambda row: _raw(lambda: row.entry.arguments),
           "the arguments, as they are"),
    Column("result", "object", lambda row: _result(row.entry),
           "what it returned, as it is; None when that was None, NA when nothing came back"),
]  # fmt: skip
"""The columns of :func:`tools`."""

EVENT_COLUMNS: list[Column[EntryRow]] = [
    *_HEAD,
    Column("type", "string", lambda row: row.entry.type, "what kind of event"),
    Column("data", "object", lambda row: _raw(lambda: row.entry.data), "what it carries, as it is"),
]
"""The columns of :func:`events`."""


def _read(turn: Turn, name: str) -> Any:
    """A part of a turn's reply; None where it cannot be read."""
    value = _raw(lambda: getattr(turn.model, name))
    return None if value is MISSING else value


def _seconds_in_tools(turn: Turn) -> float | None:
    known = [each.duration_s for each in turn.tools if each.duration_s is not None]
    return sum(known) if len(known) == len(turn.tools) else None


TURN_COLUMNS: list[Column[TurnRow]] = [
    *_identity(lambda row: row.run),
    Column("turn", "Int64", lambda row: row.turn.number, "the turn's number, from 1"),
    Column("entry", "string", lambda row: row.turn.model.id, "its model entry's id"),
    Column("step", "string", lambda row: row.turn.model.step, "the step's path"),
    Column("started_at", "datetime64[us, UTC]", lambda row: row.turn.model.at, "when it began"),
    Column("provider", "string", lambda row: row.turn.model.provider, "who answered"),
    Column("model", "string", lambda row: row.turn.model.model, "the model asked for"),
    Column("source", "string", lambda row: row.turn.model.source,
           "where the reply came from: live, replayed, edited, fault, simulated, hand"),
    Column("outcome", "string", lambda row: row.model.outcome,
           "ok, error, open, or how a stream ended early"),
    Column("error", "string",
           lambda row: row.turn.model.error and row.turn.model.error.type,
           "the class of what the model call raised"),
    Column("fault", "string", lambda row: (row.turn.model.fault or {}).get("type"),
           "the type of an injected fault"),
    Column("text", "string", lambda row: _read(row.turn, "text"), "what the model said"),
    Column("tools", "object", lambda row: [each.name for each in row.turn.tools],
           "the names of the tools that ran, a list"),
    Column("tool_calls", "Int64", lambda row: len(row.turn.tools), "how many tools ran"),
    Column("tool_errors", "Int64",
           lambda row: sum(each.error is not None for each in row.turn.tools),
           "how many of them raised"),
    Column("duration_s", "Float64", lambda row: row.turn.duration_s, "seconds, tools included"),
    Column("model_s", "Float64", lambda row: row.turn.model.duration_s, "seconds of the model"),
    Column("tools_s", "Float64", lambda row: _seconds_in_tools(row.turn),
           "seconds of the tools, summed"),
    Column("first_s", "Float64", lambda row: row.turn.model.first_s, "seconds to the first chunk"),
    *_tokens(lambda row: row.model),
]  # fmt: skip
"""The columns of :func:`turns`."""

RUN_COLUMNS: list[Column[Run]] = [
    *_identity(lambda row: row),
    Column("started_at", "datetime64[us, UTC]",
           lambda row: next((each.at for each in row.trace.entries if each.at), None),
           "when its first call began"),
    Column("status", "string", lambda row: row.trace.status, "how it ended"),
    Column("headline", "string", lambda row: headline(row.trace), "what is wrong, in short"),
    Column("error", "string", lambda row: row.trace.error and row.trace.error.type,
           "the class of what the agent raised"),
    Column("turns", "Int64", lambda row: len(row.trace.turns), "how many turns"),
    Column("model_calls", "Int64", lambda row: len(row.trace.models()), "how many model calls"),
    Column("tool_calls", "Int64", lambda row: len(row.trace.tools()), "how many tool calls"),
    Column("duration_s", "Float64", lambda row: row.trace.duration_s, "seconds"),
    Column("cost", "Float64", lambda row: _decimal(total(row.trace).exact),
           "US dollars when the calls were made; NA when a part is unknown"),
    Column("cost_at_least", "Float64", lambda row: float(total(row.trace).amount),
           "US dollars of the known parts"),
    Column("spent", "Float64", lambda row: _decimal(spent_and_saved(row.trace)[0].exact),
           "US dollars paid in this run"),
    Column("saved", "Float64", lambda row: _decimal(spent_and_saved(row.trace)[1].exact),
           "US dollars not paid, because replies came from a recording"),
    Column("parent", "string", lambda row: row.trace.parent and row.trace.parent.id,
           "the trace that it was forked from"),
    Column("tags", "object", lambda row: list(row.trace.header.tags), "its tags, a list"),
    Column("output", "object",
           lambda row: _raw(lambda: row.trace.output) if row.trace.end is not None else MISSING,
           "what the agent returned, as it is; NA when it was cut short"),
]  # fmt: skip
"""The columns of :func:`runs`."""
