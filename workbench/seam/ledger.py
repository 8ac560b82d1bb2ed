"""What a session writes down: the lines of its trace, and a report of each call."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from workbench.seam.hits import Ended, Hit
from workbench.seam.writing import (
    call_line,
    chunk_line,
    event_line,
    input_line,
    replayed_line,
    result_line,
    short,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.seam.calls import CallReport, Outcome, Served, Ticket
    from workbench.trace.entries import BaseLine, ErrorInfo
    from workbench.trace.journal import Journal
    from workbench.trace.redaction import Redactor
    from workbench.trace.trace import Entry, Trace


class Ledger:
    """Writes a session's lines, and remembers what became of each call."""

    def __init__(self, journal: Journal, redactor: Redactor) -> None:
        self.journal = journal
        self._redactor = redactor
        self.heard = False
        """Somebody is told of each call as it ends."""
        self._done: list[Ended | Hit] = []
        self._counts: Counter[str] = Counter()
        self.notices: list[str] = []
        """What else is worth knowing."""

    def reports(self, number: int = 0, trace: Trace | None = None) -> list[CallReport]:
        """What became of each call, but for so many first ones; an event is none. Where nobody
        was told as it ended, the words on its outcome are read in the trace."""
        return [each.report(trace) for each in self._done[number:]]

    @property
    def counts(self) -> dict[str, int]:
        """How many entries of each kind there are, by kind."""
        hits = Counter(each.entry.kind for each in self._done if isinstance(each, Hit))
        return dict(sorted((self._counts + hits).items()))

    def hit(self, hit: Hit) -> None:
        """A call is answered by the very same call; its lines are written later."""
        self._done.append(hit)

    def begin(self, ticket: Ticket) -> None:
        """A call begins. What takes no time has one line, written when it ends."""
        ticket.begun = time.monotonic()  # a wait for somebody's verdict is not the call's
        if ticket.call.kind in ("model", "tool"):
            self.journal.call(call_line(ticket), ticket.request if ticket.clean else None)

    def chunk(self, ticket: Ticket, data: Any) -> None:
        """A piece of a stream is about to be handed over; a replay repeats when it came."""
        offset = time.monotonic() - ticket.begun
        if len(ticket.chunks) < len(ticket.offsets):
            offset = ticket.offsets[len(ticket.chunks)]
        ticket.first = offset if ticket.first is None else ticket.first
        ticket.chunks.append(data)
        self.journal.append(chunk_line(ticket, offset, data))

    def end(self, ticket: Ticket, outcome: Outcome) -> None:
        """A call that ran, or a stream that was read, ended so."""
        if ticket.call.kind == "event":
            self.journal.append(event_line(ticket))
        elif ticket.call.kind == "input":
            self.journal.append(input_line(ticket, outcome.response, outcome.error))
        else:
            self.journal.append(result_line(ticket, outcome))
        self._report(ticket, outcome.response, outcome.error)

    def served(self, ticket: Ticket, served: Served, entry: Entry | None) -> None:
        """A call is answered whole, not by the world."""
        if ticket.call.kind == "event":
            self.journal.append(event_line(ticket))
        elif ticket.call.kind == "input":
            self.journal.append(input_line(ticket, served.response, served.error))
        else:
            self.journal.append(replayed_line(ticket, served, entry))
        self._report(ticket, served.response, served.error)

    def again(self, entry: Entry, ids: dict[str, str], lines: Iterator[BaseLine]) -> None:
        """A recorded entry is written once more: the first of its lines, under a new id."""
        ids[entry.id] = self.journal.new_id()
        self._counts[entry.kind] += entry.kind not in ("clock", "value")
        self.journal.append(next(lines))

    def note(self, text: str) -> None:
        """Something that is worth knowing, once."""
        if text not in self.notices:
            self.notices.append(text)

    def _report(self, ticket: Ticket, response: Any, error: ErrorInfo | None) -> None:
        call = ticket.call
        self._counts[call.kind] += 1
        if call.kind == "event":
            return
        summary = None
        if self.heard:
            summary = short(call, response, error, ticket.chunks, self._redactor.clean)
        self._done.append(
            Ended(
                ticket.id,
                ticket.entry.id if ticket.entry is not None else None,
                ticket.turn,
                call.kind,
                call.name or call.model,
                ticket.how,
                ticket.reason,
                time.monotonic() - ticket.begun,
                call.where,
                summary,
                call.step,
            )
        )
