"""Finding the lines of a trace without reading what they carry.

One pass over the bytes gives an :class:`Index`: where each line begins, what it is, and which
lines make up which entry. A line as a journal writes it is recognised by its first bytes; any
other is parsed whole. Of small files every line is parsed, so that all damage is known at once;
in large ones damage inside a line shows when the line is looked at.
"""

from __future__ import annotations

import re
from array import array
from typing import Any, Final

from workbench.errors import TraceFormatError
from workbench.trace.ids import Ids
from workbench.trace.notices import Notices
from workbench.trace.sources import Source
from workbench.trace.values import loads

BAD: Final = 0
TRACE: Final = 1
WRITER: Final = 2
MODEL: Final = 3
TOOL: Final = 4
EVENT: Final = 5
VALUE: Final = 6
CLOCK: Final = 7
INPUT: Final = 8
RESULT: Final = 9
CHUNK: Final = 10
BLOB: Final = 11
END: Final = 12
OTHER: Final = 13

ENTRY_KINDS: Final = {
    MODEL: "model",
    TOOL: "tool",
    EVENT: "event",
    VALUE: "value",
    CLOCK: "clock",
    INPUT: "input",
}
"""The kinds of lines that begin an entry, with the entry's kind."""

HEAVY: Final = {
    TRACE: "input",
    MODEL: "request",
    TOOL: "request",
    EVENT: "data",
    VALUE: "value",
    CLOCK: "value",
    INPUT: "value",
    RESULT: "response",
    CHUNK: "data",
    BLOB: "value",
    END: "output",
}
"""The field of each kind of line that is written last, because it can be large."""

MAX_LINE: Final = 256 * 1024**2
"""A longer line is not read."""

_BLOCK = 1024**2
_PARSE_ALL = 8 * 1024**2
_SAMPLES = 50
_BRACE = ord("}")

_ONE_LINE = re.compile(
    rb'\{"line":"(?:(call|event|value|clock|input)","id|(result|chunk)","of)":"'
    rb'(?:([0-9A-Za-z]+)-([1-9][0-9]{0,8})|([^"\\]+))"'
    rb'(?:,"kind":"(model|tool)")?'
)
_CALL = re.compile(
    rb'\{"line":"call","id":"([0-9A-Za-z]+)-([1-9][0-9]{0,8})","kind":"(model|tool)"'
)
_RESULT = re.compile(rb'\{"line":"result","of":"([0-9A-Za-z]+)-([1-9][0-9]{0,8})"')
_BLOB = b'{"line":"blob","sha256":"'
_CODES = {
    b"event": EVENT,
    b"value": VALUE,
    b"clock": CLOCK,
    b"input": INPUT,
    b"result": RESULT,
    b"chunk": CHUNK,
    b"model": MODEL,
    b"tool": TOOL,
}
_PLAIN = {"trace": TRACE, "writer": WRITER, "blob": BLOB, "end": END}


class Index:
    """Where the lines of a trace are. Lines are counted from 0 here, and from 1 for people."""

    def __init__(self) -> None:
        self.starts = array("q")
        """Where each line begins; one more than there are lines."""
        self.kinds = bytearray()
        """What each line is."""
        self.calls = array("q")
        """For each entry, in order of starts, the line that begins it."""
        self.results = array("q")
        """For each entry the line with its result, or -1."""
        self.chunk_lines = array("q")
        """The lines with chunks."""
        self.chunk_entries = array("q")
        """For each of these the entry that it belongs to."""
        self.blobs = array("q")
        """The lines with blobs."""
        self.ends = array("q")
        """The lines that end the run."""
        self.ids = Ids()
        """The entries by id."""
        self.loose: set[int] = set()
        """Lines whose heavy field need not be the last one."""
        self.all_loose = False
        """The file's writer orders fields in its own way."""

    def kind(self, entry: int) -> int:
        """The kind of the line that begins an entry."""
        return self.kinds[self.calls[entry]]


def scan(source: Source, begin: int, notices: Notices) -> Index:
    """Find the lines of a source, from the byte where the first begins."""
    return _Scan(source, notices).run(begin)


class _Scan:
    def __init__(self, source: Source, notices: Notices) -> None:
        self.source = source
        self.notices = notices
        self.index = Index()
        self.parse_all = source.size <= _PARSE_ALL
        self.samples = 0
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
        find, call, result = data.find, _CALL.match, _RESULT.match
        index = self.index
        starts, kinds, calls, results = index.starts, index.kinds, index.calls, index.results
        table, others = index.ids.table, index.ids.other
        quick = not self.parse_all and self.samples >= _SAMPLES
        at = 0
        while (end := find(b"\n", at)) >= 0:
            starts.append(base + at)
            # The commonest lines, without a call for each: a trace can have millions of them.
            if quick and data[end - 1] == _BRACE:
                found = call(data, at)
                if found:
                    writer, number, kind = found.groups()
                    numbers = table(writer)
                    if len(numbers) == int(number) and not others:
                        numbers.append(len(calls))
                        calls.append(len(kinds))
                        results.append(-1)
                        kinds.append(MODEL if kind == b"model" else TOOL)
                        at = end + 1
                        continue
                elif found := result(data, at):
                    writer, number = found.groups()
                    numbers, place = table(writer), int(number)
                    entry = numbers[place] if place < len(numbers) else -1
                    if entry >= 0 and results[entry] < 0:
                        results[entry] = len(kinds)
                        kinds.append(RESULT)
                        at = end + 1
                        continue
                elif data.startswith(_BLOB, at):
                    index.blobs.append(len(kinds))
                    kinds.append(BLOB)
                    at = end + 1
                    continue
            self.line(data[at:end])
            at = end + 1
        return at

    def line(self, data: bytes) -> None:
        """One line of any kind."""
        found = None if self.parse_all else _ONE_LINE.match(data)
        if found is None or data[-1] != _BRACE or not self.simple(found):
            self.parsed(data)
        elif self.samples < _SAMPLES:
            self.sample(data)

    def simple(self, found: re.Match[bytes]) -> bool:
        """A line recognised by its first bytes; False when it must be looked at."""
        first, of, writer, number, whole, kind = found.groups()
        index = self.index
        if first is None:
            entry = (
                index.ids.find_numbered(writer, int(number))
                if writer is not None
                else index.ids.find(whole)
            )
            return self.belongs(of, entry)
        if first == b"call":
            if kind is None:
                return False
            first = kind
        entry = len(index.calls)
        if writer is not None:
            if not index.ids.add_numbered(writer, int(number), entry):
                return False
        elif not index.ids.add(whole, entry):
            return False
        index.calls.append(len(index.kinds))
        index.results.append(-1)
        index.kinds.append(_CODES[first])
        return True

    def belongs(self, of: bytes, entry: int) -> bool:
        """A result or chunk of an entry; False when there is no such entry, or it has one."""
        index = self.index
        if entry < 0:
            return False
        line = len(index.kinds)
        if of == b"chunk":
            index.chunk_lines.append(line)
            index.chunk_entries.append(entry)
            index.kinds.append(CHUNK)
            return True
        if index.results[entry] >= 0:
            return False
        index.results[entry] = line
        index.kinds.append(RESULT)
        return True

    def sample(self, data: bytes) -> None:
        """Whether this file's writer puts the heavy field last, by its first lines."""
        self.samples += 1
        heavy = HEAVY.get(self.index.kinds[-1])
        try:
            line = loads(data)
        except TraceFormatError:
            return
        if heavy in line and next(reversed(line)) != heavy:
            self.index.all_loose = True

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
            line = loads(data)
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
        if heavy in line and next(reversed(line)) != heavy:
            self.index.loose.add(number)

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
            found = {"event": EVENT, "value": VALUE, "clock": CLOCK, "input": INPUT}.get(name)
            if found is None:
                return f"a line of the unknown kind {name[:40]!r}; it is ignored"
        return self.known_entry(line.get("id"), found)

    def known_entry(self, name: Any, code: int) -> str | None:
        index = self.index
        if not isinstance(name, str) or not name:
            return "an entry without an id; it is ignored"
        if not index.ids.add_text(name, len(index.calls)):
            return f"the id {name[:60]!r} is used twice; this entry is ignored"
        index.calls.append(len(index.kinds))
        index.results.append(-1)
        index.kinds.append(code)
        return None

    def known_outcome(self, name: str, of: Any) -> str | None:
        entry = self.index.ids.find_text(of) if isinstance(of, str) else -1
        if entry < 0:
            return f"a {name} of {str(of)[:60]!r}, but no call before it has that id; it is ignored"
        if not self.belongs(name.encode(), entry):
            return f"a second result of {of[:60]!r}; the first counts, this one is ignored"
        return None
