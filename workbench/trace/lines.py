"""Reading lines of an indexed trace: their heads, cheaply, and whole ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from workbench.errors import TraceFormatError, UnavailableError
from workbench.trace.notices import Notices
from workbench.trace.scan import HEAVY, Index
from workbench.trace.sources import Source
from workbench.trace.versions import Reader

_HEAD = 1024
_MARKS = {code: f',"{name}":'.encode() for code, name in HEAVY.items()}
_KEPT = 4096
_WINDOW = 1024**2
_SHORT = 64 * 1024


class Lines:
    """The lines of a trace."""

    def __init__(self, source: Source, index: Index, notices: Notices, reader: Reader) -> None:
        self.source = source
        self.index = index
        self.notices = notices
        self.reader = reader
        self._heads: dict[int, dict[str, Any]] = {}

    def raw(self, line: int) -> bytes:
        """A line's bytes, without the newline."""
        start, stop = self.index.starts[line], self.index.starts[line + 1]
        return self.source.read(start, stop - start).rstrip(b"\r\n")

    def whole(self, line: int) -> dict[str, Any]:
        """A whole line, parsed anew at each call.

        Raises:
            UnavailableError: the line is damaged; it becomes a notice too.
        """
        return self.parse(self.raw(line), line)

    def parse(self, data: bytes, line: int) -> dict[str, Any]:
        """A line's bytes as an object. Raises as :meth:`whole`."""
        try:
            found = self.reader.loads(data)
        except TraceFormatError as error:
            self.notices.add(f"damaged ({error}); what it held is lost", line + 1)
            raise UnavailableError(
                f"{self.place(line)} is damaged ({error}), and with it what it held is lost"
            ) from error
        if not isinstance(found, dict):
            raise UnavailableError(f"{self.place(line)} is no object")
        return found

    def place(self, line: int) -> str:
        """How a line is named in messages."""
        name = self.source.path
        return f"line {line + 1} of {name}" if name else f"line {line + 1} of the trace"

    def head(self, line: int) -> dict[str, Any]:
        """A line's small fields. It is shared: do not change it. Empty for a damaged line."""
        found = self._heads.get(line)
        if found is None:
            found = self.read_head(line)
            if len(self._heads) >= _KEPT:
                self._heads.clear()
            self._heads[line] = found
        return found

    def read_head(self, line: int) -> dict[str, Any]:
        """As :meth:`head`, for passing over many lines: nothing is kept."""
        index = self.index
        start, stop = index.starts[line], index.starts[line + 1]
        if not index.all_loose and line not in index.loose:
            mark = _MARKS.get(index.kinds[line], b"\n")
            size = min(stop - start, _HEAD)
            data = self.source.read(start, size)
            cut = data.find(mark)
            if cut < 0 and start + size < stop:
                data = self.source.read(start, stop - start)
                cut = data.find(mark)
            if cut >= 0:
                try:
                    # In a text the mark's quotes would be escaped. In a nested object it could
                    # stand; then the braces do not close, and the line is read whole.
                    head = orjson.loads(data[:cut] + b"}")
                except orjson.JSONDecodeError:
                    pass
                else:
                    return head if isinstance(head, dict) else {}
        try:
            found = self.whole(line)
        except UnavailableError:
            return {}
        found.pop(HEAVY.get(index.kinds[line], ""), None)
        return found

    def head_reader(self) -> Callable[[int], dict[str, Any]]:
        """:meth:`read_head` for going over a whole trace in order, line by line.

        Where lines are short on average, many heads come from one reading of the file.
        """
        index, source, starts = self.index, self.source, self.index.starts
        if index.all_loose or source.size > _SHORT * len(index.kinds):
            return self.read_head
        kinds, loose, marks = index.kinds, index.loose, _MARKS
        begin, window = 0, b""

        def read(line: int) -> dict[str, Any]:
            nonlocal begin, window
            start, stop = starts[line], starts[line + 1]
            last = min(stop, start + _HEAD)
            if line in loose:
                return self.read_head(line)
            if not begin <= start <= last <= begin + len(window):
                begin = start
                window = source.read(start, min(_WINDOW, source.size - start))
            cut = window.find(marks.get(kinds[line], b"\n"), start - begin, last - begin)
            if cut >= 0:
                try:
                    found = orjson.loads(window[start - begin : cut] + b"}")
                except orjson.JSONDecodeError:
                    return self.read_head(line)
                if isinstance(found, dict):
                    return found
            return self.read_head(line)

        return read

    def heavy(self, line: int) -> tuple[Any, bool]:
        """A line's heavy field as it is stored, and whether it can hold tagged values.

        Raises:
            UnavailableError: the line is damaged.
        """
        data = self.raw(line)
        found = self.parse(data, line)
        tags = self.reader.old or may_hold_tags(data)
        return found.get(HEAVY.get(self.index.kinds[line], "")), tags


def may_hold_tags(data: bytes) -> bool:
    """Whether JSON can hold the reserved key: written out, or with an escape in its place."""
    return b"$wb" in data or b"\\u00" in data
