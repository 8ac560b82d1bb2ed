"""Where the lines of a trace are, and how its entries hang together: what a scan finds.

Everything here is an array with a number for each line or entry, so that a trace with millions of
them takes little memory.
"""

from __future__ import annotations

from array import array
from typing import Final

from workbench.trace.ids import Ids

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
        self.askers = array("i")
        """For each entry the entry before it that asked for it, or -1."""
        self.places = array("i")
        """For each entry a number that stands for its step and the call around it."""
        self.again = array("i")
        """The entries that say that they are a further attempt."""
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
        self._places: dict[tuple[str, str], int] = {("", ""): 0}

    def kind(self, entry: int) -> int:
        """The kind of the line that begins an entry."""
        return self.kinds[self.calls[entry]]

    def entry_kinds(self) -> bytes:
        """The kind of each entry."""
        return bytes(map(self.kinds.__getitem__, self.calls))

    def add_entry(self, code: int) -> None:
        """The next line begins an entry."""
        self.calls.append(len(self.kinds))
        self.results.append(-1)
        self.askers.append(-1)
        self.places.append(0)
        self.kinds.append(code)

    def add_chunk(self, entry: int) -> None:
        """The next line is a chunk of an entry."""
        self.chunk_lines.append(len(self.kinds))
        self.chunk_entries.append(entry)
        self.kinds.append(CHUNK)

    def place(self, step: str, inside: str) -> int:
        """A number that stands for a step and the call around it; 0 for neither."""
        return self._places.setdefault((step, inside), len(self._places))
