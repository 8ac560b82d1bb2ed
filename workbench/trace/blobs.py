"""The blobs of a trace, and putting them back where values refer to them.

A reference has some eighty bytes and a blob can have millions, so a small file can describe a
value that no memory holds. Texts are therefore shared among all places that refer to them, and
what a value grows to is counted before it is made.
"""

from __future__ import annotations

from typing import Any, Final

from workbench.errors import UnavailableError
from workbench.trace.jcs import MAX_DEPTH, TAG
from workbench.trace.lines import Lines

MAX_EXPANDED: Final = 256 * 1024**2
"""A value may grow to that many bytes of JSON by the blobs that are put back into it."""

_COPY_COST: Final = 16
"""Objects take more memory than their JSON: each further copy of a blob counts so many times."""
_KEPT_TEXT: Final = 32 * 1024**2
"""Bytes of texts that are kept for the next value that refers to them."""


class Blobs:
    """The blobs of a trace, by the SHA-256 of their JSON."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._by_name: dict[str, int] | None = None
        self._texts: dict[str, tuple[str, int]] = {}
        self._kept = 0

    def read(self, name: Any, line: int) -> tuple[Any, int]:
        """A blob's value and the size of its line in bytes.

        A text is shared; any other value is made anew, since a caller may change what it gets.

        Raises:
            UnavailableError: the trace has no such blob, or its line is damaged.
        """
        found = self._find(name)
        if found is None:
            raise UnavailableError(
                f"{self._lines.place(line)} needs the blob {str(name)[:16]}…, and the line of that "
                "blob is missing or damaged"
            )
        if name in self._texts:
            return self._texts[name]
        value = self._lines.heavy(found)[0]
        size = self.size(found)
        if isinstance(value, str):
            self._keep(name, value, size)
        return value, size

    def size(self, line: int) -> int:
        """How many bytes a line has."""
        starts = self._lines.index.starts
        return starts[line + 1] - starts[line]

    def _find(self, name: Any) -> int | None:
        if self._by_name is None:
            found: dict[str, int] = {}
            for each in self._lines.index.blobs:
                found.setdefault(str(self._lines.read_head(each).get("sha256")), each)
            self._by_name = found
        return self._by_name.get(name) if isinstance(name, str) else None

    def _keep(self, name: str, text: str, size: int) -> None:
        if size > _KEPT_TEXT:
            return
        if self._kept + size > _KEPT_TEXT:
            self._texts, self._kept = {}, 0
        self._texts[name] = text, size
        self._kept += size


class Filler:
    """Puts blobs back into the parts of one value, and counts what it grows to."""

    def __init__(self, blobs: Blobs, line: int, place: str) -> None:
        self._blobs = blobs
        self._line = line
        self._place = place
        self._texts: dict[str, tuple[str, int]] = {}
        self._copied: set[str] = set()
        self._expanded = 0

    def fill(self, value: Any, depth: int = 0) -> Any:
        """An encoded value with blobs in place of the references to them.

        Raises:
            UnavailableError: a blob is missing or damaged, the value would grow beyond
                :data:`MAX_EXPANDED`, or it is nested too deep.
        """
        if not isinstance(value, dict | list):
            return value
        if depth > MAX_DEPTH + 10:  # a line has a few levels of its own
            raise UnavailableError(
                f"{self._place} holds a value that is nested more than {MAX_DEPTH} levels deep"
            )
        if isinstance(value, list):
            return [self.fill(item, depth + 1) for item in value]
        if value.get(TAG) == "blob":
            return self._blob(value.get("v"))
        return {key: self.fill(item, depth + 1) for key, item in value.items()}

    def _blob(self, name: Any) -> Any:
        # A text too long to be kept by the trace is kept for this value at least.
        if isinstance(name, str) and name in self._texts:
            text, size = self._texts[name]
            self._count(size)
            return text
        value, size = self._blobs.read(name, self._line)
        if isinstance(value, str):
            self._texts[name] = value, size
        elif name in self._copied:
            size *= _COPY_COST
        else:
            self._copied.add(name)
        self._count(size)
        return value

    def _count(self, size: int) -> None:
        self._expanded += size
        if self._expanded > MAX_EXPANDED:
            raise UnavailableError(
                f"{self._place} refers to blobs that make its value larger than "
                f"{MAX_EXPANDED // 1024**2:,} MiB, so it is not put together. No recording makes "
                "such a value of itself: ask whoever gave you the trace. The other values in it "
                "can be read"
            )
