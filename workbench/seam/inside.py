"""What was recorded inside calls that are served whole: kept in the new trace, between the other
lines, in the order in which it was written when it was recorded."""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING

from workbench.seam.writing import kept_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workbench.seam.calls import Ticket
    from workbench.seam.ledger import Ledger
    from workbench.seam.tries import Tries
    from workbench.trace.entries import BaseLine
    from workbench.trace.entry import Entry


class Inside:
    """Entries that are still to be written once more, each line when its turn comes."""

    def __init__(self, ledger: Ledger, tries: Tries) -> None:
        self._ledger = ledger
        self._tries = tries
        self._due: list[tuple[int, int, Entry, Iterator[BaseLine], dict[str, str]]] = []
        self._added = 0

    def add(self, ticket: Ticket, entries: Sequence[Entry]) -> None:
        """A call is served whole, inside which these were recorded."""
        assert ticket.entry is not None  # noqa: S101 - what is served whole was recorded
        self.keep(entries, {ticket.entry.id: ticket.id})

    def keep(self, entries: Sequence[Entry], ids: dict[str, str]) -> None:
        """These are to be written once more; ``ids``: new ids of what encloses them."""
        for entry in entries:
            self._put(entry.line, entry, kept_lines(entry, ids), ids)

    def until(self, line: int) -> None:
        """What stood before a line of the recording is written, and its turns are counted."""
        while self._due and self._due[0][0] < line:
            self._write()

    def rest(self) -> None:
        """The run is over: all is written."""
        while self._due:
            self._write()

    def _put(self, line: int, entry: Entry, lines: Iterator[BaseLine], ids: dict[str, str]) -> None:
        self._added += 1
        heappush(self._due, (line, self._added, entry, lines, ids))

    def _write(self) -> None:
        _, _, entry, lines, ids = heappop(self._due)
        if entry.id in ids:  # its call is written; what came of it is not
            for each in lines:
                self._ledger.journal.append(each)
            return
        self._ledger.again(entry, ids, lines)
        if entry.kind == "model" and entry.attempt == 1:
            self._tries.turns += 1
        self._put(ended(entry), entry, lines, ids)


def ended(entry: Entry | None) -> int:
    """The line at which a call got its answer, from 1; 0 where it was not recorded."""
    if entry is None:
        return 0
    return int(getattr(entry, "handed_over", entry.line - 1)) + 1
