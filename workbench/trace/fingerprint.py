"""What a run did, item by item, each with digests by which two runs are compared.

An item is a turn (what the model said, and what its tools returned), or an entry outside any
turn: a workflow's own tool call, an event, a human's answer, a failed attempt. Clock readings,
ids and random numbers are no items: they differ between any two runs.

Ids that providers make up do not count. Two replies that say the same and call the same are the
same reply.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError, UnencodableError, UsageError
from workbench.trace.canonical import canonical

if TYPE_CHECKING:
    from workbench.trace.payloads import ToolCall
    from workbench.trace.trace import Entry, Trace, Turn

_LOOSE = frozenset({"model", "tool", "event", "input"})


@dataclass(slots=True)
class Mark:
    """What stays of one entry for comparing it."""

    key: str
    """Digest of what it decided: a reply, a tool's call, an event's type."""
    result: str
    """Digest of what came of it: a tool's result, an event's data, a human's answer."""
    names: tuple[str, ...] = ()
    """The tools that it calls, in order."""


@dataclass(slots=True)
class Item:
    """One turn, or one entry outside any turn."""

    entry: Entry
    """The turn's model entry, or the entry itself."""
    turn: Turn | None
    """The turn, when it is one."""
    key: str
    """What was decided, and in which step."""
    result: str
    """What came of it."""
    names: tuple[str, ...]
    """The tools that it calls, in order."""
    tools: list[tuple[Entry, Mark]] = field(default_factory=list)
    """A turn's tool entries."""

    @property
    def number(self) -> int | None:
        """The number of the turn that it is, or is a failed attempt of."""
        if self.turn is not None:
            return self.turn.number
        return self.entry.trace.turn_table.numbers[self.entry.seq - 1] or None

    @property
    def kind(self) -> str:
        """``turn``, or the kind of the entry."""
        return self.entry.kind if self.turn is None else "turn"


class Fingerprints:
    """The items of a trace.

    Args:
        trace: the trace.
        parent: the fingerprints of the trace that this one may have been replayed from. What was
            served from there unchanged is not read a second time.
    """

    def __init__(self, trace: Trace, parent: Fingerprints | None = None) -> None:
        self.trace = trace
        self.marks: dict[str, Mark] = {}
        related = parent is not None and trace.parent is not None
        self._served = (
            parent.marks
            if related and parent is not None and _parent_id(trace) == parent.trace.id
            else {}
        )
        self.items = self._items()

    def _items(self) -> list[Item]:
        items = [self._turn(turn) for turn in self.trace.turns]
        covered = {item.entry.seq for item in items}
        numbers = self.trace.turn_table.numbers
        for entry in self.trace.entries:
            in_turn = numbers[entry.seq - 1] and entry.kind != "model"
            if in_turn or entry.seq in covered or entry.kind not in _LOOSE:
                continue
            mark = self._mark(entry)
            items.append(Item(entry, None, _join(entry.step, mark.key), mark.result, mark.names))
        return sorted(items, key=lambda each: each.entry.seq)

    def _turn(self, turn: Turn) -> Item:
        mark = self._mark(turn.model)
        tools = [(each, self._mark(each)) for each in turn.tools]
        results = sorted(f"{tool.key} {tool.result}" for _, tool in tools)
        key = _join(turn.model.step, mark.key)
        return Item(turn.model, turn, key, _join(*results), mark.names, tools)

    def _mark(self, entry: Entry) -> Mark:
        served = None
        if entry.source == "replayed" and entry.origin is not None:
            served = self._served.get(entry.origin)
        mark = served or _read(entry)
        self.marks[entry.id] = mark
        return mark


def _parent_id(trace: Trace) -> str | None:
    parent = trace.parent
    return None if parent is None else parent.id


def _read(entry: Entry) -> Mark:
    if entry.kind == "model":
        return _model(entry)
    if entry.kind == "tool":
        key = _join("tool", str(entry.name), entry.hash or _digest(lambda: entry.arguments))
        return Mark(key, _outcome(entry, lambda: entry.response), (str(entry.name),))
    if entry.kind == "event":
        return Mark(_join("event", str(entry.type)), _digest(lambda: entry.data))
    return Mark(_join("input", _digest(lambda: entry.prompt)), _digest(lambda: entry.value))


def _model(entry: Entry) -> Mark:
    error = error_label(entry)
    if entry.open:
        return Mark(_join("model", "open"), "")
    try:
        reply = entry.reply
        if reply is None:
            return Mark(_join("model", "error", str(error)), "")
        calls = reply.tool_calls
        said = {
            "text": reply.text,
            "refusal": reply.refusal,
            "finish": reply.finish_reason,
            "calls": [[call.name, call_value(call)] for call in calls],
            "error": error,
            "ended": None if entry.ended == "complete" else entry.ended,
        }
        names = tuple(call.name for call in calls)
        return Mark(_join("model", _digest(lambda: said)), "", names)
    except (TraceError, UsageError):
        return Mark(_join("model", _digest(lambda: entry.reply_body), str(error)), "")


def call_value(call: ToolCall) -> Any:
    """A call's arguments as data; the text itself where it is not JSON."""
    return call.raw if call.error is not None else call.arguments


def error_label(entry: Entry) -> str | None:
    """An entry's error for comparing: class and status of a model's, class and text of a tool's.

    A provider's text often holds a request id, which differs in each run.
    """
    error = entry.error
    if error is None:
        return None
    if entry.kind == "model":
        return error.type if error.status is None else f"{error.type} {error.status}"
    return f"{error.type}: {error.message}" if error.message else error.type


def _outcome(entry: Entry, read: Any) -> str:
    if entry.open:
        return "open"
    error = error_label(entry)
    return _digest(read) if error is None else _join("error", error)


def _digest(read: Any) -> str:
    """A digest of what a function reads; of the reason where the file is damaged there."""
    try:
        value = read()
    except TraceError:
        return "unavailable"
    return digest(value)


def digest(value: Any) -> str:
    """A short digest, equal for equal values, whatever they are."""
    try:
        data = canonical(value)
    except UnencodableError:
        data = repr(_shape(value)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _shape(value: Any) -> Any:
    if isinstance(value, Mapping):
        return sorted((str(key), repr(item)) for key, item in value.items())
    return value


def _join(*parts: str) -> str:
    """Parts as one key. A part can hold any text, so its length goes before it."""
    return "".join(f"{len(part)}:{part}" for part in parts)
