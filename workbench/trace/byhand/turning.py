"""One entry of a trace as a turn, a tool result or an event of a recording."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError
from workbench.trace.byhand.foreign import SPOKEN, agentloom_hash
from workbench.trace.byhand.model import TURN_FIELDS, USAGE_NAMES
from workbench.trace.byhand.shapes import NEUTRAL, NEUTRAL_VECTORS, VECTORS, as_api
from workbench.trace.payloads import has_view
from workbench.trace.redaction.placeholders import placeholders
from workbench.trace.values import decode

if TYPE_CHECKING:
    from workbench.trace.trace import Entry

_OURS = {ours: theirs for theirs, ours in USAGE_NAMES.items()}
_FIELDS_ONLY_HERE = ("reasoning", "refusal")


@dataclass(slots=True)
class Lost:
    """What a recording cannot hold."""

    lines: list[str] = field(default_factory=list)

    def add(self, entry: Entry, what: str) -> None:
        """Note something about an entry."""
        self.lines.append(f"entry {entry.id}: {what}")


def turn_of(entry: Entry, lost: Lost) -> dict[str, Any]:
    """A model entry as a turn."""
    turn: dict[str, Any] = {} if entry.fault is None else {"fault": _fault(entry)}
    if entry.fault is None:
        _note_failure(entry, lost)
    try:
        turn |= _answer(entry, lost)
    except TraceError as error:
        lost.add(entry, str(error))
    seconds = entry.duration_s
    beside = {
        "provider": entry.provider,
        "model": entry.reply_model,
        "cost_usd": entry.cost_usd,
        "latency_ms": None if seconds is None else float(Decimal(str(seconds)) * 1000),
        "request_hash": _request_hash(entry, lost),
    }
    turn |= {name: value for name, value in beside.items() if value is not None}
    if entry.enclosing is not None:
        lost.add(entry, "it was called inside another call, and a recording has no such thing")
    known = {name: turn[name] for name in TURN_FIELDS if name in turn}
    return known | turn


def _note_failure(entry: Entry, lost: Lost) -> None:
    if entry.error is not None:
        lost.add(entry, f"it failed with {entry.error.type}, and only injected faults have a form")
    elif entry.open:
        lost.add(entry, "it has no result")
    elif entry.ended in ("cut", "stopped", "cancelled"):
        lost.add(entry, f"its stream was {entry.ended}, and only an injected cut has a form")


def _answer(entry: Entry, lost: Lost) -> dict[str, Any]:
    body = entry.reply_body
    if body is None:
        return {}
    api = str(entry.api)
    if api not in (NEUTRAL, NEUTRAL_VECTORS, VECTORS) and not has_view(api):
        lost.add(entry, f"its answer has the shape {api}, which is not known here")
        return {}
    choices = body.get("choices") if isinstance(body, dict) else None
    if isinstance(choices, list) and len(choices) > 1:
        lost.add(entry, f"it has {len(choices)} choices, and a turn holds one")
    vectors = api in (NEUTRAL_VECTORS, VECTORS)
    said = as_api(body, api, NEUTRAL_VECTORS if vectors else NEUTRAL)
    if not isinstance(said, dict):
        lost.add(entry, "its answer is no object")
        return {}
    return _named(entry, said, lost)


def _named(entry: Entry, said: dict[str, Any], lost: Lost) -> dict[str, Any]:
    """A neutral reply with the names that a turn has."""
    turn = dict(said)
    if entry.source != "hand":
        for name in _FIELDS_ONLY_HERE:
            if turn.pop(name, None):
                lost.add(entry, f"a turn has no {name}")
    if turn.get("content") is None:
        turn.pop("content", None)
    if isinstance(turn.get("usage"), dict):
        turn["usage"] = {_OURS.get(name, name): count for name, count in turn["usage"].items()}
    return turn


def _fault(entry: Entry) -> dict[str, Any]:
    """The fault less what says where it was to hit: here it stands in its place."""
    found = dict(entry.fault or {})
    found.pop("aim", None)
    found.pop("times", None)
    if found.get("layer") == "above":
        del found["layer"]
    return {name: value for name, value in found.items() if value is not None and value != {}}


def _request_hash(entry: Entry, lost: Lost) -> str | None:
    if entry.foreign_hash is not None or entry.source == "hand":
        return entry.foreign_hash
    if entry.api not in SPOKEN:
        return None
    try:
        body = entry.body
    except TraceError as error:
        lost.add(entry, str(error))
        return None
    if body is None or placeholders(body):
        return None  # the agent asks with the secret itself, whose hash is another one
    return agentloom_hash(body, api=entry.api, step=entry.step)


def tool_of(entry: Entry, lost: Lost) -> dict[str, Any]:
    """A tool entry as a recorded result."""
    found: dict[str, Any] = {"name": entry.name or ""}
    try:
        request = entry.request
        arguments = request.get("arguments") if isinstance(request, dict) else None
        if arguments is not None:
            found["arguments"] = _plain(entry, arguments, "arguments", lost)
        if entry.fault is not None:
            found["fault"] = _fault(entry)
        elif entry.error is not None:
            lost.add(entry, f"the tool {entry.name} raised {entry.error.type}")
        elif entry.open:
            lost.add(entry, f"the tool {entry.name} has no result")
        if entry.error is None and not entry.open:
            found["result"] = _plain(entry, entry.response, "result", lost)
    except TraceError as error:
        lost.add(entry, str(error))
    if entry.success is not None:
        found["success"] = entry.success
    elif entry.source != "hand" and entry.error is None:
        found["success"] = True
    return found


def _plain(entry: Entry, stored: Any, what: str, lost: Lost) -> Any:
    """A stored value where it is plain JSON; what is not is noted."""
    value = decode(stored)
    if _is_json(value):
        return value
    lost.add(entry, f"the {what} of the tool {entry.name} hold more than plain JSON")
    return None


def _is_json(value: Any) -> bool:
    if isinstance(value, dict):
        return all(type(key) is str and _is_json(each) for key, each in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    if type(value) is float:
        return value == value and abs(value) != float("inf")  # noqa: PLR0124 - NaN is not itself
    return value is None or type(value) in (str, int, bool)


def event_of(entry: Entry, lost: Lost) -> list[dict[str, Any]]:
    """An event as one of the log; none where it does not fit."""
    data = entry.data
    if not isinstance(data, dict) or not _is_json(data) or "type" in data:
        lost.add(entry, f"the event {entry.type!r} carries something else than named plain values")
        return []
    if entry.step and "step_id" in data:
        lost.add(entry, f"the event {entry.type!r} carries a step_id of its own")
        return []
    where = {"step_id": entry.step} if entry.step else {}
    return [{"type": entry.type, **where, **data}]
