"""Cutting a trace down to a part of it.

The part is written by a journal like any other trace, so conversations that began in what was left
out are whole again, and large values stand where they are needed first.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from workbench.errors import PlaceError, TraceError, UnavailableError
from workbench.trace.entries import LINE, EndLine, Line, TraceLine
from workbench.trace.entry import Entry
from workbench.trace.header import TrimmedInfo
from workbench.trace.index import CHUNK, HEAVY, MODEL, RESULT, WRITER
from workbench.trace.journal import Journal
from workbench.trace.places import Place, parse_place

if TYPE_CHECKING:
    from workbench.trace.trace import Trace


def trim(
    trace: Trace,
    first: Place | str | None,
    last: Place | str | None,
    keep: Iterable[Place | str],
) -> Trace:
    """A part of a trace: see :meth:`workbench.trace.trace.Trace.trim`."""
    places = [parse_place(place) for place in ((keep,) if isinstance(keep, str | Place) else keep)]
    chosen = _range(trace, first, last, alone=not places)
    for place in places:
        chosen |= {entry.seq - 1 for entry in trace.select(place)}
    kept = _related(trace, chosen)
    copy = _Copy(trace, kept)
    info: dict[str, Any] = {
        "id": trace.id,
        "name": trace.name,
        "path": None if trace.path is None else str(trace.path),
        "digest": trace.digest,
        "first": None if first is None else str(parse_place(first)),
        "last": None if last is None else str(parse_place(last)),
        "keep": [str(place) for place in places] or None,
        "left_out": len(trace.entries) - len(kept),
        "lost": copy.lost() or None,
    }
    return copy.write(
        TrimmedInfo(**{name: each for name, each in info.items() if each is not None})
    )


def _range(
    trace: Trace, first: Place | str | None, last: Place | str | None, *, alone: bool
) -> set[int]:
    """The entries from one place up to another, counted from 0."""
    if first is None and last is None and not alone:
        return set()
    begin, stop = 0, len(trace.entries)
    if first is not None:
        begin = min(entry.seq for entry in trace.select(first)) - 1
    if last is not None:
        stop = max(entry.seq for entry in trace.select(last))
    if stop <= begin and trace.entries:
        raise PlaceError(
            f"trim({first}, {last}): {last} ends before {first} begins; name the earlier one first"
        )
    return set(range(begin, stop))


def _related(trace: Trace, chosen: set[int]) -> set[int]:
    """These entries, what they enclosed, what enclosed them, and what asked for them."""
    index, read = trace.index, trace.lines.head_reader()
    around = [
        index.ids.find_text(inside) if isinstance(inside := read(line).get("in"), str) else -1
        for line in index.calls
    ]
    kept = set(chosen)
    for entry, outer in enumerate(around):  # a call's line comes before those of what it encloses
        if outer in kept:
            kept.add(entry)
    todo = list(kept)
    while todo:
        entry = todo.pop()
        for other in (around[entry], index.askers[entry]):
            if other >= 0 and other not in kept:
                kept.add(other)
                todo.append(other)
    return kept


class _Copy:
    """Writes some entries of a trace into another one."""

    def __init__(self, trace: Trace, kept: set[int]) -> None:
        self._trace = trace
        self._kept = kept
        self._lost: dict[str, None] = {}
        self._lines: list[Line] = []
        broken = set()
        for number, entry in self._wanted():
            line = None if entry in broken else self._line(number, entry)
            if line is not None:
                self._lines.append(line)
            elif entry >= 0 and number == trace.index.calls[entry]:
                broken.add(entry)  # without its beginning the rest would belong to nothing

    def lost(self) -> list[str]:
        """The ids of entries of which a part could not be read."""
        return list(self._lost)

    def write(self, trimmed: TrimmedInfo) -> Trace:
        """The new trace."""
        fields = {name: getattr(self._trace.header, name) for name in self._header_fields()}
        kept = ",".join(map(str, sorted(self._kept)))
        name = hashlib.sha256(f"{trimmed.digest} {kept}".encode()).hexdigest()
        header = TraceLine(**fields, id=f"tr-{name[:16]}", trimmed=trimmed)
        with Journal.in_memory(header, strict=True) as journal:
            for line in self._lines:
                journal.append(line)
            journal.close(self._end(trimmed))
            return journal.trace()

    def _header_fields(self) -> set[str]:
        header = self._trace.header
        extra = set(header.__pydantic_extra__ or ())
        return (header.model_fields_set | extra) - {"id", "trimmed"}

    def _wanted(self) -> list[tuple[int, int]]:
        """The lines to be written, in order, with the entry of each; -1 for a writer's line."""
        index = self._trace.index
        lines = {index.calls[entry]: entry for entry in self._kept}
        lines |= {line: entry for entry in self._kept if (line := index.results[entry]) >= 0}
        chunks = zip(index.chunk_lines, index.chunk_entries, strict=True)
        lines |= {line: entry for line, entry in chunks if entry in self._kept}
        writers = {entry.id.partition("-")[0] for entry in self._entries()}
        for line, kind in enumerate(index.kinds):
            if kind == WRITER and self._trace.lines.head(line).get("id") in writers:
                lines[line] = -1
        return sorted(lines.items())

    def _entries(self) -> list[Entry]:
        return [self._trace.entries[entry] for entry in sorted(self._kept)]

    def _line(self, number: int, place: int) -> Line | None:
        """One line with its body whole; None when it cannot be read."""
        entry = self._trace.entries[place] if place >= 0 else None
        try:
            fields = self._trace.lines.whole(number)
            if entry is not None:
                self._fill(fields, number, entry)
            return LINE.validate_python(fields)
        except (UnavailableError, ValidationError):
            if entry is not None:
                self._lost[entry.id] = None
            return None

    def _fill(self, fields: dict[str, Any], number: int, entry: Entry) -> None:
        """Put back what the line leaves to other lines; what is lost with them is left out."""
        kind = self._trace.index.kinds[number]
        fields.pop("base", None)
        for name in ("sent", HEAVY[kind]):
            if name not in fields:
                continue
            try:
                fields[name] = self._value(name, kind, number, entry)
            except TraceError:
                del fields[name]
                self._lost[entry.id] = None

    def _value(self, name: str, kind: int, number: int, entry: Entry) -> Any:
        if name in ("sent", "request"):
            return getattr(entry, name)
        bodies = self._trace.bodies
        payload = kind in (RESULT, CHUNK) and self._trace.index.kind(entry.seq - 1) == MODEL
        return bodies.decoded(number) if payload else bodies.stored(number)

    def _end(self, trimmed: TrimmedInfo) -> EndLine | None:
        end = self._trace.end
        if end is None or len(self._trace.entries) - 1 not in self._kept:
            return None
        counts = Counter(entry.kind for entry in self._entries())
        left = {"duration_s"} if trimmed.left_out else set()
        fields = {name: getattr(end, name) for name in end.model_fields_set - left}
        return EndLine(**fields | {"counts": dict(counts)})
