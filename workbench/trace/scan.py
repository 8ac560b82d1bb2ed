"""Finding the lines of a trace without reading what they carry.

One pass over the bytes gives an :class:`~workbench.trace.index.Index`: where each line begins,
what it is, and which lines make up which entry. Lines as a journal writes them are recognised by
their first bytes, a block of them at once; any other is parsed whole. Of small files every line is
parsed, so that all damage is known at once; in large ones damage inside a line shows when the line
is looked at.
"""

from __future__ import annotations

import re
from array import array
from itertools import accumulate, compress
from operator import add, itemgetter, lt, not_
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
_SAMPLES = 20
_HEAD = itemgetter(slice(192))
_LAST = itemgetter(slice(-1, None))

_LINES = re.compile(
    rb'\n\{"line":"([a-z]++(?:","(?:id|of|sha256))?+)"'
    rb'(?::"([0-9A-Za-z]++)-([1-9][0-9]{0,8}+)"'
    rb'(?:,"kind":"(model|tool)"(?:,"at":"[^"\\]*+")?+'
    rb'((?:,"(?:step|attempt|in|asked_by)":(?:"[^"\\]*+"|[0-9]++))*+)'
    rb'(?=,"(?!(?:at|step|attempt|in|asked_by)")[a-z_]++"|\}))?+)?+'
)
"""Each line that begins as a journal writes it, of many beginnings of lines put together."""
_FIRST = ("line", "id", "kind", "at", "step", "attempt", "in", "asked_by")
"""The order in which a journal writes the fields that this module looks at."""

_PLAIN = {"trace": TRACE, "writer": WRITER, "blob": BLOB, "end": END}
_SINGLE = {"event": EVENT, "value": VALUE, "clock": CLOCK, "input": INPUT}
_SINGLE_BYTES = {b'%b","id' % name.encode(): code for name, code in _SINGLE.items()}
_CALL, _RESULT, _CHUNK, _BLOB = b'call","id', b'result","of', b'chunk","of', b'blob","sha256'

_PAIRS = {(_CALL, b"model"), (_CALL, b"tool"), (_RESULT, b"")}
_CODE = {b"model": MODEL, b"tool": TOOL, b"": RESULT}

_Found = tuple[bytes, bytes, bytes, bytes, bytes]


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
        # A writer's lines are recognised by their first bytes once some were found to be as a
        # journal writes them: until then, how many those are.
        self.samples: dict[str, int] = {}
        self.trusted: dict[bytes, array[int]] = {}
        self.singles: dict[int, int] = {}
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
        if not self.parse_all:
            # Only the beginnings: searching through what the lines carry would take far longer.
            found = _LINES.findall(b"\n" + b"\n".join(map(_HEAD, lines)))
            if len(found) == len(lines) and set(map(_LAST, lines)) == {b"}"}:
                if not self.at_once(found):
                    self.recognised(found, lines)
                return taken
        for line in lines:
            self.parsed(line)
        return taken

    def at_once(self, found: list[_Found]) -> bool:
        """A block of nothing but calls and results of one writer, whose calls follow each other.

        A trace can have millions of such lines, so nothing here is done line by line in Python.
        False, with nothing changed, when the block is something else.
        """
        names, writers, numbers, kinds, related = zip(*found, strict=True)
        index = self.index
        table = self.trusted.get(writers[0])
        if table is None or index.ids.other or writers.count(writers[0]) != len(writers):
            return False
        if not _PAIRS.issuperset(zip(names, kinds, strict=True)):
            return False
        line, entry, next_number = len(index.kinds), len(index.calls), len(table)
        lines, counted = range(line, line + len(found)), list(map(int, numbers))
        new = len(kinds) - kinds.count(b"")
        if list(compress(counted, kinds)) != list(range(next_number, next_number + new)):
            return False
        table.extend(range(entry, entry + new))
        index.calls.extend(compress(lines, kinds))
        index.results += array("q", (-1,)) * new
        ended = list(map(not_, kinds))
        if not self.end_at_once(
            table, list(compress(counted, ended)), list(compress(lines, ended))
        ):
            del table[next_number:], index.calls[entry:], index.results[entry:]
            return False
        index.askers += array("i", (-1,)) * new
        index.places += array("i", (0,)) * new
        index.kinds += bytes(map(_CODE.__getitem__, kinds))
        if any(related):
            for each, text in enumerate(compress(related, kinds), entry):
                if text:
                    self.relate(each, _fields(text))
        return True

    def end_at_once(self, table: array[int], numbers: list[int], lines: list[int]) -> bool:
        """Results of these entries at these lines; False, with nothing changed, if one is wrong."""
        if not numbers:
            return True
        calls, results = self.index.calls, self.index.results
        if max(numbers) >= len(table) or len(set(numbers)) != len(numbers):
            return False
        entries = list(map(table.__getitem__, numbers))
        if min(entries) < 0 or max(map(results.__getitem__, entries)) >= 0:
            return False
        if not all(map(lt, map(calls.__getitem__, entries), lines)):
            return False
        for entry, line in zip(entries, lines, strict=True):
            results[entry] = line
        return True

    def recognised(self, found: list[_Found], lines: list[bytes]) -> None:
        """Lines that all begin as a journal writes them; one that must be looked at is parsed."""
        index, table, parsed = self.index, self.trusted.get, self.parsed
        kinds, results = index.kinds, index.results
        for at, (name, writer, number, kind, related) in enumerate(found):
            numbers = table(writer)
            if numbers is None:
                if name == _BLOB and self.trusted:
                    index.blobs.append(len(kinds))
                    kinds.append(BLOB)
                else:
                    parsed(lines[at])
            elif kind:
                if len(numbers) == int(number) and not index.ids.other and name == _CALL:
                    numbers.append(len(index.calls))
                    index.add_entry(_CODE[kind])
                    if related:
                        self.relate(len(index.calls) - 1, _fields(related))
                else:
                    parsed(lines[at])
            elif name == _RESULT:
                place = int(number)
                entry = numbers[place] if place < len(numbers) else -1
                if entry >= 0 and results[entry] < 0:
                    results[entry] = len(kinds)
                    kinds.append(RESULT)
                else:
                    parsed(lines[at])
            elif not self.single(name, numbers, int(number)):
                parsed(lines[at])

    def single(self, name: bytes, numbers: array[int], number: int) -> bool:
        """A chunk, or an entry of one line; False when it must be looked at."""
        index = self.index
        if name == _CHUNK:
            entry = numbers[number] if number < len(numbers) else -1
            return entry >= 0 and self.belongs("chunk", entry)
        code = _SINGLE_BYTES.get(name, BAD)
        if self.singles.get(code, 0) < _SAMPLES or len(numbers) != number or index.ids.other:
            return False
        numbers.append(len(index.calls))
        index.add_entry(code)
        return True

    def belongs(self, of: str, entry: int) -> bool:
        """A result or chunk of an entry; False when there is no such entry, or it has one."""
        index = self.index
        if entry < 0:
            return False
        line = len(index.kinds)
        if of == "chunk":
            index.chunk_lines.append(line)
            index.chunk_entries.append(entry)
            index.kinds.append(CHUNK)
            return True
        if index.results[entry] >= 0:
            return False
        index.results[entry] = line
        index.kinds.append(RESULT)
        return True

    def sample(self, line: dict[str, Any], *, heavy_last: bool) -> None:
        """Whether a writer orders the fields as a journal does, by the first lines of it."""
        name = line.get("id") if line["line"] == "call" else None
        code = self.index.kinds[-1]
        self.singles[code] = self.singles.get(code, 0) + 1
        if not heavy_last or (name and not _in_order(line)):
            self.index.all_loose |= not heavy_last
            self.parse_all = True
        writer, dash, number = str(name).partition("-")
        if not name or not dash or not number.isdecimal() or not writer.isalnum():
            return
        count = self.samples[writer] = self.samples.get(writer, 0) + 1
        if count == _SAMPLES and writer.isascii():
            self.trusted[writer.encode()] = self.index.ids.table(writer.encode())

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
            found = _SINGLE.get(name)
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


def _fields(text: bytes) -> dict[str, Any]:
    """The fields of a piece of a line that begins with a comma."""
    found: dict[str, Any] = loads(b"{%b}" % text[1:])
    return found


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _in_order(line: dict[str, Any]) -> bool:
    """Whether the fields that are looked at come first, in a journal's order."""
    wanted = [name for name in _FIRST if name in line]
    return list(line)[: len(wanted)] == wanted
