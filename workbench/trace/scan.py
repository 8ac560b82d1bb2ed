"""Finding the lines of a trace without reading what they carry.

One pass over the bytes gives an :class:`~workbench.trace.index.Index`: where each line begins,
what it is, and which lines make up which entry. Lines as a journal writes them are recognised by
their first bytes, a block of them at once; any other is parsed whole. Of small files every line is
parsed, so that all damage is known at once; in large ones damage inside a line shows when the line
is looked at.
"""

from __future__ import annotations

from itertools import accumulate
from operator import add
from typing import Any, Final

from workbench.errors import TraceFormatError
from workbench.trace.index import (
    BAD,
    BLOB,
    CHUNK,
    CLOCK,
    END,
    ENTRY_KINDS,
    EVENT,
    HEAVY,
    INPUT,
    MODEL,
    OTHER,
    RESULT,
    TOOL,
    TRACE,
    VALUE,
    WRITER,
    Index,
)
from workbench.trace.notices import Notices
from workbench.trace.recognising import SINGLE, Recogniser
from workbench.trace.sources import Source
from workbench.trace.values import loads
from workbench.trace.versions import Reader

__all__ = [
    "BAD", "BLOB", "CHUNK", "CLOCK", "END", "ENTRY_KINDS", "EVENT", "HEAVY", "INPUT", "MAX_LINE",
    "MODEL", "OTHER", "RESULT", "TOOL", "TRACE", "VALUE", "WRITER", "Index", "scan",
]  # fmt: skip

MAX_LINE: Final = 256 * 1024**2
"""A longer line is not read."""

_BLOCK = 256 * 1024  # what a processor keeps close
_PARSE_ALL = 8 * 1024**2
_PLAIN = {"trace": TRACE, "writer": WRITER, "blob": BLOB, "end": END}


def scan(source: Source, begin: int, notices: Notices, reader: Reader) -> Index:
    """Find the lines of a source, from the byte where the first begins."""
    return _Scan(source, notices, reader).run(begin)


class _Scan:
    def __init__(self, source: Source, notices: Notices, reader: Reader) -> None:
        self.source = source
        self.notices = notices
        self.index = Index()
        self.loads = reader.loads
        self.index.all_loose = reader.old  # what stands in the file is not what is read
        self.parse_all = source.size <= _PARSE_ALL or reader.old
        self.quick = Recogniser(self.index, self.parsed)
        self.returns = False

    def run(self, begin: int) -> Index:
        offset, length, size = begin, _BLOCK, self.source.size
        while offset < size:
            data = self.source.read(offset, min(length, size - offset))
            taken = self.take(data, offset)
            if taken:
                offset, length = offset + taken, _BLOCK
            elif offset + len(data) == size:
                self.tail(data, offset)
                break
            elif length > MAX_LINE:
                self.begin_line(offset)
                self.bad(f"longer than {MAX_LINE:,} bytes, so it is not read")
                offset, length = self.next_line(offset + length), _BLOCK
            else:
                length = min(length * 8, MAX_LINE + 1)
        self.index.starts.append(size)
        return self.index

    def next_line(self, offset: int) -> int:
        """Where the first line after this place begins."""
        size = self.source.size
        while offset < size:
            data = self.source.read(offset, min(_BLOCK, size - offset))
            cut = data.find(b"\n")
            if cut >= 0:
                return offset + cut + 1
            offset += len(data)
        return size

    def take(self, data: bytes, base: int) -> int:
        """All whole lines of a block; gives where the unfinished one begins."""
        lines = data.split(b"\n")
        taken = len(data) - len(lines.pop())
        if not lines:
            return 0
        starts = self.index.starts
        starts.extend(map(add, accumulate(map(len, lines), initial=base), range(len(lines) + 1)))
        starts.pop()
        if not self.parse_all and self.quick.take(lines):
            return taken
        for line in lines:
            self.parsed(line)
        return taken

    def belongs(self, of: str, entry: int) -> bool:
        """A result or chunk of an entry; False when there is no such entry, or it has one."""
        index = self.index
        if entry < 0:
            return False
        if of == "chunk":
            index.add_chunk(entry)
            return True
        if index.results[entry] >= 0:
            return False
        index.results[entry] = len(index.kinds)
        index.kinds.append(RESULT)
        return True

    def sample(self, line: dict[str, Any], *, heavy_last: bool) -> None:
        """Whether a writer orders the fields as a journal does, by the first lines of it."""
        if not heavy_last or not self.quick.sample(line):
            self.index.all_loose |= not heavy_last
            self.parse_all = True

    def begin_line(self, start: int) -> None:
        self.index.starts.append(start)

    def bad(self, message: str) -> None:
        self.index.kinds.append(BAD)
        self.notices.add(message, len(self.index.kinds))

    def tail(self, data: bytes, start: int) -> None:
        """What stands after the last newline: a whole line, or one that was cut off."""
        self.begin_line(start)
        try:
            loads(data.strip() or b"0")
        except TraceFormatError:
            self.bad(
                "the last line was cut off as it was written, so what it held is lost; "
                "the lines before it are whole"
            )
        else:
            self.parsed(data)

    def parsed(self, data: bytes) -> None:
        """A line that must be parsed to know what it is."""
        if data.endswith(b"\r") and not self.returns:
            self.returns = True
            self.notices.add("lines end with \\r\\n, and a trace's end with \\n; it is ignored", 1)
        if not data.strip():
            self.index.kinds.append(OTHER)
            return
        try:
            line = self.loads(data)
        except TraceFormatError as error:
            self.bad(f"damaged ({error}); what it held is lost, the other lines are read")
            return
        if not isinstance(line, dict) or not isinstance(line.get("line"), str):
            self.bad('not a trace\'s line (an object with the key "line"); it is ignored')
            return
        number = len(self.index.kinds)
        problem = self.known(line)
        if problem:
            del self.index.kinds[number:]
            self.index.kinds.append(OTHER)
            self.notices.add(problem, number + 1)
            return
        heavy = HEAVY.get(self.index.kinds[number])
        heavy_last = heavy not in line or next(reversed(line)) == heavy
        if not heavy_last and not self.index.all_loose:
            self.index.loose.add(number)
        if not self.parse_all:
            self.sample(line, heavy_last=heavy_last)

    def known(self, line: dict[str, Any]) -> str | None:
        """Take a parsed line into the index; gives what is wrong with it."""
        index, name = self.index, line["line"]
        number = len(index.kinds)
        if name in _PLAIN:
            code = _PLAIN[name]
            index.kinds.append(code)
            if code == TRACE and number:
                return "a second header; it is ignored. Were two files put together?"
            if code == BLOB:
                index.blobs.append(number)
            if code == END:
                index.ends.append(number)
            return None
        if name in ("result", "chunk"):
            return self.known_outcome(name, line.get("of"))
        if name == "call":
            kind = line.get("kind")
            found = {"model": MODEL, "tool": TOOL}.get(str(kind))
            if found is None:
                return f"a call of the unknown kind {str(kind)[:40]!r}; it is ignored"
        else:
            found = SINGLE.get(name)
            if found is None:
                return f"a line of the unknown kind {name[:40]!r}; it is ignored"
        problem = self.known_entry(line.get("id"), found)
        if problem is None and name == "call":
            self.relate(len(index.calls) - 1, line)
        return problem

    def relate(self, entry: int, line: dict[str, Any]) -> None:
        """Keep how a call hangs together with others."""
        index = self.index
        asked_by, attempt = line.get("asked_by"), line.get("attempt")
        if isinstance(asked_by, str):
            asker = index.ids.find_text(asked_by)
            index.askers[entry] = asker if asker < entry else -1
        index.places[entry] = index.place(_text(line.get("step")), _text(line.get("in")))
        if isinstance(attempt, int) and attempt > 1:
            index.again.append(entry)

    def known_entry(self, name: Any, code: int) -> str | None:
        if not isinstance(name, str) or not name:
            return "an entry without an id; it is ignored"
        if not self.index.ids.add_text(name, len(self.index.calls)):
            return f"the id {name[:60]!r} is used twice; this entry is ignored"
        self.index.add_entry(code)
        return None

    def known_outcome(self, name: str, of: Any) -> str | None:
        entry = self.index.ids.find_text(of) if isinstance(of, str) else -1
        if entry < 0:
            return f"a {name} of {str(of)[:60]!r}, but no call before it has that id; it is ignored"
        if not self.belongs(name, entry):
            return f"a second result of {of[:60]!r}; the first counts, this one is ignored"
        return None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
