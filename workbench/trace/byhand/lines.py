"""The lines of the trace that a recording stands for."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from workbench.trace.appender import MemoryAppender
from workbench.trace.byhand.faulty import first_words, read_fault
from workbench.trace.byhand.foreign import is_digest
from workbench.trace.byhand.model import TURN_FIELDS, USAGE_NAMES, VERSION, Recording, Step
from workbench.trace.byhand.shapes import NEUTRAL, NEUTRAL_VECTORS
from workbench.trace.canonical import digest
from workbench.trace.entries import (
    CallLine,
    ChunkLine,
    ErrorInfo,
    EventLine,
    ResultLine,
    TraceLine,
)
from workbench.trace.faults import BaseFault, StreamTruncate
from workbench.trace.journal import Journal
from workbench.trace.payloads.base import TOKEN_COUNTS
from workbench.trace.sharing import Packed
from workbench.trace.values import encode

# What stands in a line of its own; the rest of a turn is the reply's body.
_BESIDE = ("provider", "latency_ms", "cost_usd", "request_hash", "fault", "content", "usage")


def trace_lines(recording: Recording, *, name: str) -> bytes:
    """A recording as a whole trace file.

    Args:
        recording: what is to be in it.
        name: the trace's name.
    """
    header = TraceLine(
        id=f"hand-{digest(_identity(recording))[:16]}",
        name=name,
        hand={"version": VERSION, **({"kept": encode(recording.kept)} if recording.kept else {})},
    )
    appender = MemoryAppender()
    first = {"line": "trace", "format": header.format, "version": header.version}
    appender.append(Packed({**first, **header.as_dict()}).json())
    writer = _Writer(Journal(header, appender, writer="1"))
    for key, step in recording.steps.items():
        writer.step(key, step, list(recording.tools.get(key, ())))
    for key, results in recording.tools.items():
        if key not in recording.steps:
            writer.tools(key, results, None)
    for event in recording.events:
        writer.event(event)
    return bytes(appender.data)


def _identity(recording: Recording) -> Any:
    return [
        {key: [step.repeats, step.turns] for key, step in recording.steps.items()},
        recording.tools,
        recording.events,
        recording.kept,
    ]


class _Writer:
    def __init__(self, journal: Journal) -> None:
        self.journal = journal

    def step(self, key: str, step: Step, results: list[dict[str, Any]]) -> None:
        """A step's turns, each followed by the tool results that it asked for."""
        attempt = 1
        for turn in step.turns:
            call_id, failed = self.turn(key, step, turn, attempt)
            attempt = attempt + 1 if failed else 1
            self.tools(key, list(_taken(results, turn)), call_id)
        self.tools(key, results, None)

    def turn(self, key: str, step: Step, turn: dict[str, Any], attempt: int) -> tuple[str, bool]:
        """One turn; gives its entry's id, and whether it fails."""
        fault = None if turn.get("fault") is None else read_fault(turn["fault"])
        words = _words(turn, fault)
        call = CallLine(id=self.journal.new_id(), kind="model", api=_api(turn))
        if key and not is_digest(key):
            call.step = key
        elif key:
            call.hand_key = key
        if attempt > 1:
            call.attempt = attempt
        if step.repeats:
            call.repeat = True
        if words is not None:
            call.stream = True
        if turn.get("request_hash") is not None:
            call.foreign_hash = turn["request_hash"]
        self.journal.call(call)
        for word in words or ():
            self.journal.append(ChunkLine(of=call.id, data={"text": word}))
        error = fault.error() if fault is not None else None
        self.journal.append(_result(call.id, turn, fault, error, cut=words is not None))
        return call.id, error is not None

    def tools(self, key: str, results: list[dict[str, Any]], asked_by: str | None) -> None:
        """Recorded tool results of a step."""
        for found in results:
            call = CallLine(id=self.journal.new_id(), kind="tool", name=found["name"])
            if key:
                call.step = key
            if asked_by is not None:
                call.asked_by = asked_by
            if found.get("arguments") is not None:
                call.request = {"name": found["name"], "arguments": encode(found["arguments"])}
            self.journal.call(call)
            result = ResultLine(of=call.id, source="hand")
            if found.get("success") is not None:
                result.success = found["success"]
            if found.get("fault") is not None:
                result.fault = found["fault"]
                result.error = read_fault(found["fault"]).error()
            if "result" in found or result.error is None:
                result.response = encode(found.get("result"))
            self.journal.append(result)

    def event(self, event: dict[str, Any]) -> None:
        """One event of the log."""
        line = EventLine(id=self.journal.new_id(), type=event["type"], source="hand")
        data = {key: value for key, value in event.items() if key != "type"}
        if isinstance(data.get("step_id"), str) and data["step_id"]:
            line.step = data.pop("step_id")
        line.data = encode(data)
        self.journal.append(line)


def _taken(results: list[dict[str, Any]], turn: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Takes out of a step's results those that come next and that this turn asked for."""
    asked = [(c["name"], c.get("arguments") or {}) for c in turn.get("tool_calls") or ()]
    while results:
        wanted = (results[0]["name"], results[0].get("arguments") or {})
        if wanted not in asked:
            return
        asked.remove(wanted)
        yield results.pop(0)


def _api(turn: dict[str, Any]) -> str:
    only = turn.get("embeddings") is not None and turn.get("content") is None
    return NEUTRAL_VECTORS if only and not turn.get("tool_calls") else NEUTRAL


def _words(turn: dict[str, Any], fault: BaseFault | None) -> list[str] | None:
    """What a stream that is cut delivers first; None for a turn whose stream is not cut."""
    if not isinstance(fault, StreamTruncate):
        return None
    return list(first_words(turn.get("content") or "", fault.after_chunks))


def _result(
    call_id: str,
    turn: dict[str, Any],
    fault: BaseFault | None,
    error: ErrorInfo | None,
    *,
    cut: bool,
) -> ResultLine:
    line = ResultLine(of=call_id, source="hand")
    if turn.get("latency_ms") is not None:
        line.duration_s = float(Decimal(str(turn["latency_ms"])) / 1000)
    if cut:
        line.ended = "complete" if error is None else "cut"
    for name in ("provider", "model", "cost_usd"):
        if turn.get(name) is not None:
            setattr(line, name, turn[name])
    usage = _usage(turn)
    counts = {name: usage[name] for name in TOKEN_COUNTS if usage and name in usage}
    if counts:
        line.usage = counts
    if fault is not None:
        line.fault = turn["fault"]
        line.error = error
    body = _body(turn, usage)
    if fault is None or set(turn) - {"fault"}:
        line.response = {"status": 200, "body": body}
    return line


def _usage(turn: dict[str, Any]) -> dict[str, Any] | None:
    given = turn.get("usage")
    if given is None:
        return None
    return {USAGE_NAMES.get(name, name): count for name, count in given.items()}


def _body(turn: dict[str, Any], usage: dict[str, Any] | None) -> dict[str, Any]:
    body: dict[str, Any] = {"content": turn.get("content")} if _api(turn) == NEUTRAL else {}
    body |= {
        name: value
        for name, value in turn.items()
        if name not in _BESIDE and (value is not None or name not in TURN_FIELDS)
    }
    if body.get("tool_calls"):
        body["tool_calls"] = [_call(each) for each in body["tool_calls"]]
    if usage is not None:
        body["usage"] = usage
    return body


def _call(call: dict[str, Any]) -> dict[str, Any]:
    """A tool call with arguments, none when there are none, and without fields that say nothing."""
    found = {key: value for key, value in call.items() if value is not None}
    found.setdefault("arguments", {})
    return found
