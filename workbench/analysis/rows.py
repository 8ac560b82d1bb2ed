"""The rows of the frames: a trace, an entry or a turn, with what its columns are read from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from workbench.analysis.sources import Source, traces
from workbench.errors import TraceError
from workbench.trace.prices import billed, cost_of

if TYPE_CHECKING:
    from workbench.trace.trace import Entry, Trace, Turn


class Run:
    """A trace, with what the rows of its frames share."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.billed = {entry.id for entry in billed(trace)}

    @property
    def name(self) -> str:
        """A name for people: the trace's, else its file's, else its id."""
        trace = self.trace
        if trace.name:
            return trace.name
        return trace.path.name.split(".")[0] if trace.path is not None else trace.id


@dataclass(frozen=True, slots=True)
class EntryRow:
    """One entry, in its run."""

    run: Run
    entry: Entry

    @property
    def turn(self) -> int | None:
        """The turn's number."""
        return self.run.trace.columns.turns[self.entry.seq - 1] or None

    @property
    def cost(self) -> Decimal | None:
        """What the call cost when it was made; 0 where an inner call has the cost."""
        entry = self.entry
        if entry.kind != "model":
            return None
        return cost_of(entry) if entry.id in self.run.billed else Decimal(0)

    @property
    def spent(self) -> Decimal | None:
        """What was paid for it in this run."""
        if self.entry.kind != "model":
            return None
        return self.cost if self.entry.source in ("live", None) else Decimal(0)

    @property
    def saved(self) -> Decimal | None:
        """What it would have cost, had it not been served from a recording."""
        if self.entry.kind != "model":
            return None
        return self.cost if self.entry.source in ("replayed", "edited") else Decimal(0)

    def usage(self, name: str) -> int | None:
        """A token count, when it was recorded."""
        try:
            value = (self.entry.usage or {}).get(name)
        except TraceError:
            return None  # the file is damaged there
        return value if type(value) is int else None

    @property
    def outcome(self) -> str:
        """How it ended."""
        entry = self.entry
        if entry.open:
            return "open"
        if entry.ended not in (None, "complete"):
            return str(entry.ended)
        return "ok" if entry.error is None else "error"

    @property
    def tokens_per_s(self) -> float | None:
        """Output tokens per second of the whole call."""
        output, seconds = self.usage("output_tokens"), self.entry.duration_s
        return output / seconds if output is not None and seconds else None


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One turn, in its run."""

    run: Run
    turn: Turn

    @property
    def model(self) -> EntryRow:
        """The turn's model entry."""
        return EntryRow(self.run, self.turn.model)


def entry_rows(source: Source, *kinds: str) -> Iterator[EntryRow]:
    """The entries of a source, of these kinds or of all."""
    for trace in traces(source):
        run = Run(trace)
        for entry in trace.entries:
            if not kinds or entry.kind in kinds:
                yield EntryRow(run, entry)


def turn_rows(source: Source) -> Iterator[TurnRow]:
    """The turns of a source."""
    for trace in traces(source):
        run = Run(trace)
        for turn in trace.turns:
            yield TurnRow(run, turn)
