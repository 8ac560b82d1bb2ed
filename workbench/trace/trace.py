"""A trace: what a run left behind, opened to be read.

::

    trace = load("failed.trace.jsonl")
    for turn in trace.turns:
        print(turn.number, turn.label, turn.summary)

Opening finds the lines; what they carry is read when it is looked at. Reading never raises for
what one damaged line did to another: :attr:`Trace.notices` lists it.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import PlaceError
from workbench.trace.about import About
from workbench.trace.bodies import Bodies
from workbench.trace.entries import TraceLine
from workbench.trace.entry import Chunk, Entry
from workbench.trace.grouping import TurnTable, group
from workbench.trace.heads import read_first_line
from workbench.trace.lazy import LazySequence
from workbench.trace.lines import Lines
from workbench.trace.notices import Notice, Notices
from workbench.trace.places import Place, parse_place
from workbench.trace.saving import save_bytes
from workbench.trace.scan import EVENT, MODEL, TOOL, Index, scan
from workbench.trace.sources import BY_HAND, BytesSource, Source, open_source
from workbench.trace.times import last_end
from workbench.trace.turns import Columns, Span, Turn, add_usage, read_columns

if TYPE_CHECKING:
    from workbench.trace.diff import Diff
    from workbench.trace.edits import Edits
    from workbench.trace.findings import Finding
    from workbench.trace.recipe import Recipe

__all__ = ["Chunk", "Entry", "Notice", "Trace", "Turn", "load", "read_header"]

_BLOCK = 4 * 1024**2
_WORDS_KEPT = 20_000


def load(path: Path | str) -> Trace:
    """Open a trace file, ``NAME.trace.jsonl`` or ``NAME.trace.jsonl.gz``.

    A recording written by hand (``.json``, ``.yaml``) opens too: :mod:`workbench.trace.byhand`.

    Raises:
        TraceNotFoundError: there is no such file.
        TraceVersionError: a newer workbench wrote it, or its version is none.
        TraceFormatError: it is no trace; the text says what it seems to be, or what is malformed.
        MissingExtraError: it is YAML, and PyYAML is not installed.
    """
    notices = Notices()
    return Trace(open_source(path, notices), notices)


def read_header(path: Path | str) -> TraceLine:
    """The first line of a trace file, and nothing else. Raises as :func:`load`."""
    notices = Notices()
    return read_first_line(open_source(path, notices), notices)[0]


class Trace(About):
    """A whole recorded run. Get one from :func:`load`, or from a journal."""

    def __init__(self, source: Source, notices: Notices | None = None) -> None:
        self._notices = notices or Notices()
        self._source = source
        self.path: Path | None = source.path
        """The file; None for a trace in memory."""
        self.header, begin, reader = read_first_line(source, self._notices)
        self.index: Index = scan(source, begin, self._notices, reader)
        """Where the lines are."""
        self.lines = Lines(source, self.index, self._notices, reader)
        """The lines as they are in the file."""
        self.bodies = Bodies(self.lines)
        """What the lines carry, put together."""
        self._chunks: tuple[list[int], list[int]] | None = None
        self._labels: dict[int, tuple[str, str]] = {}

    @classmethod
    def from_bytes(cls, data: bytes) -> Trace:
        """Read a trace from memory. Raises as :func:`load`."""
        return cls(BytesSource(data))

    def __reduce__(self) -> tuple[Any, ...]:
        """A trace goes to another process as its path, or as its bytes when it has none."""
        if self.path is None:
            return Trace.from_bytes, (self._read_all(),)
        return load, (self.path,)

    def __repr__(self) -> str:
        counts = f"{len(self.turns)} turns, {len(self.entries)} entries"
        return f"<Trace {self.name or self.id}: {self.status}, {counts}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        from workbench.trace.summary import html, text

        return {"text/plain": text(self), "text/html": html(self)}

    def _repr_html_(self) -> str:
        from workbench.trace.summary import html

        return html(self)

    # -- the run

    @cached_property
    def duration_s(self) -> float | None:
        """Seconds that the run took: as recorded, or until the last entry that has a time."""
        if self.end is not None and self.end.duration_s is not None:
            return self.end.duration_s
        return last_end(self.columns.starts, self.columns.durations)

    @cached_property
    def elapsed_s(self) -> float | None:
        """:attr:`duration_s`, with what served answers took when they were recorded."""
        spans = self.timeline() if self.parent is not None else []
        ends = [start + (length or 0.0) for _, start, length, *_ in spans if start is not None]
        return max(ends, default=self.duration_s)

    @cached_property
    def usage(self) -> dict[str, int | None] | None:
        """The tokens of all model entries, added up; None when none were recorded."""
        return add_usage(entry.usage for entry in self.models())

    @cached_property
    def cost(self) -> Decimal | None:
        """What the run cost, in US dollars; None when it cannot be known."""
        from workbench.trace.prices import cost_of

        return cost_of(self)

    # -- entries and turns

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, in the order of starts, made when asked for."""
        return LazySequence(range(len(self.index.calls)), self._entry)

    @property
    def turns(self) -> Sequence[Turn]:
        """All turns, in the order of starts, made when asked for."""
        return LazySequence(range(len(self.turn_table)), self._turn)

    def _entry(self, index: int) -> Entry:
        return Entry(self, index)

    def _turn(self, place: int) -> Turn:
        table = self.turn_table
        return Turn(self, place + 1, table.models_of(place), table.tools_of(place))

    def turn(self, number: int) -> Turn:
        """The turn with that number, from 1.

        Raises:
            PlaceError: there is none; the text names the range.
        """
        count = len(self.turn_table)
        if type(number) is not int or not 1 <= number <= count:
            there = f"turns 1 to {count}" if count else "no turns"
            raise PlaceError(f"turn({number!r}): the trace {self.name or self.id} has {there}")
        return self._turn(number - 1)

    def entry(self, entry_id: str) -> Entry:
        """The entry with that id.

        Raises:
            PlaceError: there is none.
        """
        found = self.index.ids.find_text(str(entry_id))
        if found < 0:
            entries = self.entries
            there = f"ids such as {entries[0].id} to {entries[-1].id}" if entries else "no entries"
            raise PlaceError(f"entry({entry_id!r}): the trace {self.name or self.id} has {there}")
        return Entry(self, found)

    def select(self, place: Place | str) -> list[Entry]:
        """The entries at a place: a turn's, a step's (with its inner steps'), or one.

        Raises:
            PlaceError: the trace has no such place.
        """
        from workbench.trace.selecting import entries_at

        return entries_at(self, parse_place(place))

    def models(self) -> list[Entry]:
        """All model entries."""
        return self._of_kind(MODEL)

    def tools(self, name: str | None = None) -> list[Entry]:
        """All tool entries, or those of one tool."""
        found = self._of_kind(TOOL)
        return found if name is None else [entry for entry in found if entry.name == name]

    def events(self, type: str | None = None) -> list[Entry]:  # noqa: A002 - the field's name
        """All events, or those of one type."""
        found = self._of_kind(EVENT)
        return found if type is None else [entry for entry in found if entry.type == type]

    def _of_kind(self, code: int) -> list[Entry]:
        kinds, calls = self.index.kinds, self.index.calls
        return [Entry(self, place) for place, line in enumerate(calls) if kinds[line] == code]

    @cached_property
    def turn_table(self) -> TurnTable:
        """Which entries make up which turn; no line is read for it."""
        return group(self)

    @cached_property
    def columns(self) -> Columns:
        """What the heads of all entries' lines say, read once."""
        return read_columns(self)

    def turn_of(self, index: int) -> Turn | None:
        """The turn of the entry at that place in :attr:`entries`."""
        number = self.turn_table.numbers[index]
        return self._turn(number - 1) if number else None

    def chunk_lines(self, index: int) -> list[int]:
        """The lines with the chunks of the entry at that place in :attr:`entries`."""
        if self._chunks is None:
            of = self.index.chunk_entries
            order = sorted(range(len(of)), key=of.__getitem__)  # stable: chunks stay in order
            self._chunks = [of[each] for each in order], [self.index.chunk_lines[n] for n in order]
        entries, lines = self._chunks
        return lines[bisect_left(entries, index) : bisect_left(entries, index + 1)]

    def rows(self, start: int = 0, stop: int | None = None) -> list[dict[str, Any]]:
        """Light data of a range of turns, for lists: see :func:`workbench.trace.rows.row_of`."""
        from workbench.trace.rows import row_of

        return [row_of(turn) for turn in self.turns[start:stop]]

    def words(self, turn: Turn) -> tuple[str, str]:
        """A turn's label and summary, remembered."""
        found = self._labels.get(turn.number)
        if found is None:
            if len(self._labels) >= _WORDS_KEPT:
                self._labels.clear()
            found = self._labels[turn.number] = (turn.label, turn.summary)
        return found

    def timeline(self) -> list[Span]:
        """A span for each model and tool entry, in the order of starts.

        ``(turn number or 0, start_s, duration_s, kind, flags)``; the flags are those of
        :mod:`workbench.trace.turns` (``ERROR``, …), added up.
        """
        kinds = self.index.kinds
        return self.columns.timeline(kinds[line] for line in self.index.calls)

    def edit(self) -> Edits:
        """Begin a list of edits on this trace."""
        from workbench.trace.edits import Edits

        return Edits(self)

    def diff(self, other: Trace) -> Diff:
        """What differs between this trace and another one."""
        from workbench.trace.diff import diff

        return diff(self, other)

    @cached_property
    def findings(self) -> Sequence[Finding]:
        """What looks wrong in the run, such as the same write made twice."""
        from workbench.trace.findings import findings

        return findings(self)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the trace's bytes (of a compressed file: unpacked), as when it was opened."""
        found = hashlib.sha256()
        for block in self._blocks():
            found.update(block)
        return found.hexdigest()

    def trim(
        self,
        first: Place | str | None = None,
        last: Place | str | None = None,
        *,
        keep: Iterable[Place | str] = (),
    ) -> Trace:
        """A part of this trace as a trace of its own, in memory; this one stays as it is.

        Kept are all entries from one place up to another, and those at further places, each with
        the calls that it enclosed or that enclosed it, and the model call that asked for it. Ids
        and order stay. The new trace's header says what it was cut down from and how many entries
        were left out; it has an end only if it has this trace's last entry.

        Args:
            first: a place such as ``turn(2)``; from the beginning if not given.
            last: up to and with that place; to the end if not given.
            keep: further places, wherever they are. Given alone, only these are kept.

        Raises:
            PlaceError: this trace has no such place, or ``last`` comes before ``first``.
        """
        from workbench.trace.trimming import trim

        return trim(self, first, last, keep)

    def recipe(self) -> Recipe:
        """For a fork: what it was made from, enough to make it again.

        Raises:
            UsageError: it is no fork.
        """
        from workbench.trace.recipe import Recipe

        return Recipe.from_header(self.header)

    def save(self, path: Path | str, *, replace: bool = False, lossy: bool = False) -> Path:
        """Write the same bytes to a file; to ``.gz`` compressed. Gives the path.

        To ``.json`` or ``.yaml`` it writes the short form for people, which holds what a replay
        serves; what that cannot hold is refused, or left out with ``lossy``.

        Raises:
            TraceExistsError: the file exists, and ``replace`` was not given.
            TraceWriteError: it cannot be written; nothing is left of the attempt.
            UnencodableError: the short form cannot hold all of it; the text says what.
        """
        from workbench.trace.byhand.saving import save_recording

        path = Path(path)
        if path.suffix.lower() in BY_HAND:
            return save_recording(self, path, replace=replace, lossy=lossy)
        return save_bytes(path, self._blocks(), replace=replace)

    def verify(self) -> tuple[Notice, ...]:
        """Check the whole file: each line against its model, each request against its hash.

        What is wrong is added to :attr:`notices`, and given. Whether an agent still does what is
        in it is another question: see :func:`workbench.verify`.
        """
        from workbench.trace.checking import check_lines, check_requests

        for notice in (*check_lines(self), *check_requests(self)):
            self._notices.add(notice.message, notice.line)
        return self.notices

    def _blocks(self) -> Iterator[bytes]:
        for offset in range(0, self._source.size, _BLOCK):
            yield self._source.read(offset, min(_BLOCK, self._source.size - offset))

    def _read_all(self) -> bytes:
        return b"".join(self._blocks())
