"""Turns: one model entry and the tool entries that it asked for."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from workbench.trace.entries import ErrorInfo
from workbench.trace.entry import Entry
from workbench.trace.labels import label_of, summary_of
from workbench.trace.payloads import Message, Reply
from workbench.trace.scan import ENTRY_KINDS, MODEL, TOOL
from workbench.trace.times import parse_time

if TYPE_CHECKING:
    from workbench.trace.trace import Trace

ERROR = 1
"""Timeline flag: it raised."""
FAULT = 2
"""Timeline flag: a fault was injected."""
EDITED = 4
"""Timeline flag: its outcome was changed by a person."""
REPLAYED = 8
"""Timeline flag: its outcome came from a trace."""
OPEN = 16
"""Timeline flag: it has no result."""

Span = tuple[int, float | None, float | None, str, int]
"""``(turn number or 0, start_s, duration_s, kind, flags)`` of one model or tool entry."""


class Turn:
    """One model entry and the tool entries that it asked for: what a person steps through."""

    __slots__ = ("_models", "_tools", "number", "trace")

    def __init__(
        self, trace: Trace, number: int, models: tuple[int, ...], tools: tuple[int, ...]
    ) -> None:
        self.trace = trace
        self.number = number
        """Its number in the trace, from 1."""
        self._models = models
        self._tools = tools

    def __repr__(self) -> str:
        return f"<Turn {self.number}: {self.label}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Turn):
            return NotImplemented
        return self.trace is other.trace and self.number == other.number

    def __hash__(self) -> int:
        return hash((id(self.trace), self.number))

    @property
    def attempts(self) -> list[Entry]:
        """The tries of its model call; all but the last one failed."""
        return [Entry(self.trace, index) for index in self._models]

    @property
    def model(self) -> Entry:
        """Its model entry: the last attempt."""
        return Entry(self.trace, self._models[-1])

    @property
    def tools(self) -> list[Entry]:
        """The tool entries that the model asked for, in the order of starts."""
        return [Entry(self.trace, index) for index in self._tools]

    @property
    def entries(self) -> list[Entry]:
        """All of its entries, in the order of starts."""
        return [Entry(self.trace, index) for index in sorted(self._models + self._tools)]

    @property
    def step(self) -> str:
        """The step's path; empty outside any step."""
        return self.model.step

    @property
    def duration_s(self) -> float | None:
        """Seconds from its start to the end of its last entry; None when nothing was timed."""
        return span_of(self.entries)

    @property
    def label(self) -> str:
        """A few words on what the model did: the tools called, the text's beginning, the error."""
        return label_of(self)

    @property
    def summary(self) -> str:
        """What went in and what came out, such as ``101, 149.99 → RF-1``."""
        return summary_of(self)

    @property
    def request(self) -> Any:
        """The model's request."""
        return self.model.request

    @property
    def reply(self) -> Reply | None:
        """What the model said."""
        return self.model.reply

    @property
    def text(self) -> str:
        """The text of the reply."""
        return self.model.text

    @property
    def messages(self) -> list[Message]:
        """What the model saw."""
        return self.model.messages

    @property
    def error(self) -> ErrorInfo | None:
        """What the model call raised."""
        return self.model.error

    @property
    def usage(self) -> dict[str, int | None] | None:
        """The model's tokens, over all attempts."""
        return add_usage(entry.usage for entry in self.attempts)

    @property
    def cost(self) -> Decimal | None:
        """What the turn cost, in US dollars; None when it cannot be known."""
        from workbench.trace.prices import cost_of

        return cost_of(self)


def span_of(entries: list[Entry]) -> float | None:
    """Seconds from the first start to the last end; without times, the sum of durations.

    What was served counts with the time that it took when it was recorded, and a wait to be
    allowed does not count.
    """
    durations = [entry.duration_s for entry in entries]
    known = [seconds for seconds in durations if seconds is not None]
    if not known:
        return None
    starts = [entry.at_s for entry in entries]
    if any(start is None for start in starts):
        return sum(known)
    shift = 0.0
    spans = []
    for entry, start, seconds in zip(entries, starts, durations, strict=True):
        shift -= entry.held_s or 0.0
        begun = (start or 0.0) + shift
        spans.append((begun, begun + (seconds or 0.0)))
        if entry.source in ("replayed", "edited"):
            shift += seconds or 0.0
    return max(end for _, end in spans) - min(begun for begun, _ in spans)


def add_usage(parts: Any) -> dict[str, int | None] | None:
    """Token counts added up by name; None when there are none."""
    total: dict[str, int | None] = {}
    for part in parts:
        for name, count in (part or {}).items():
            if isinstance(count, int) and not isinstance(count, bool):
                total[name] = (total.get(name) or 0) + count
    return total or None


@dataclass(slots=True)
class Columns:
    """What is known of all entries from the heads of their lines, an array for each field."""

    turns: array[int]
    """The number of the turn that each entry belongs to; 0 for none."""
    models: Sequence[tuple[int, ...]]
    """For each turn its model entries."""
    starts: array[float]
    """When each began, in seconds from the trace's start, less all waits to be allowed; NaN when
    not recorded."""
    durations: array[float]
    """How many seconds each took; NaN when not recorded."""
    flags: bytearray
    """For each what :data:`ERROR` and its like say."""

    def timeline(self, kinds: Iterator[int]) -> list[Span]:
        """The spans of all model and tool entries.

        An answer that was served from a trace took no time, but has the time that it took when it
        was recorded. It counts with that, and what follows begins that much later: so a fork and
        its parent can be laid on the same clock.
        """
        out = []
        served = 0.0
        for place, kind in enumerate(kinds):
            if kind in (MODEL, TOOL):
                start, duration = self.starts[place], self.durations[place]
                out.append(
                    (
                        self.turns[place],
                        None if math.isnan(start) else start + served,
                        None if math.isnan(duration) else duration,
                        ENTRY_KINDS[kind],
                        self.flags[place],
                    )
                )
                if self.flags[place] & (REPLAYED | EDITED) and not math.isnan(duration):
                    served += duration
        return out


def read_columns(trace: Trace) -> Columns:
    """Read the heads of all entries' lines once."""
    index, table = trace.index, trace.turn_table
    count = len(index.calls)
    columns = Columns(
        turns=table.numbers,
        models=table.models,
        starts=array("d", (math.nan,)) * count,
        durations=array("d", (math.nan,)) * count,
        flags=bytearray(count),
    )
    began = trace.started_at
    zero = math.nan if began is None else began.timestamp()
    held = 0.0
    read = trace.lines.head_reader()
    for entry, line in enumerate(index.calls):
        if index.kinds[line] not in (MODEL, TOOL):
            continue
        head = read(line)
        waited = head.get("held_s")
        if isinstance(waited, int | float):
            held += waited
        at = parse_time(head.get("at"))
        if at is not None:
            columns.starts[entry] = at.timestamp() - zero - held
        result = index.results[entry]
        outcome = None if result < 0 else read(result)
        columns.flags[entry] = flags_of(outcome)
        seconds = None if outcome is None else outcome.get("duration_s")
        if isinstance(seconds, int | float):
            columns.durations[entry] = seconds
    return columns


def flags_of(result: dict[str, Any] | None) -> int:
    """The timeline flags of a call, by the head of its result's line."""
    if result is None:
        return OPEN
    source = result.get("source")
    return (
        (ERROR if isinstance(result.get("error"), dict) else 0)
        | (FAULT if isinstance(result.get("fault"), dict) or source == "fault" else 0)
        | (EDITED if source == "edited" else 0)
        | (REPLAYED if source == "replayed" else 0)
    )
