"""Calls that were answered by the very call that was recorded: a note of each is enough.

Their lines in the new trace, and their reports, are made of the note and of the recorded entry when
somebody looks. Nothing of the agent's own is kept, which could change: what was asked is what the
entry asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import PlaceError, TraceError
from workbench.seam.calls import MISSING, Call, CallReport, Served, Ticket
from workbench.seam.current import site
from workbench.seam.writing import call_line, replayed_line, short
from workbench.trace.times import moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.seam.calls import How, Reason
    from workbench.seam.current import CodePlace
    from workbench.seam.session import Session
    from workbench.seam.taped import Taped
    from workbench.trace.entries import BaseLine
    from workbench.trace.trace import Trace


class Hit(NamedTuple):
    """A call and the entry that answered it."""

    id: str
    entry: Taped
    call: Call
    """Without its request, which is the agent's own."""
    place: CodePlace | None
    """The place in the agent's code, where the call does not say it."""
    turn: int | None
    nth: int
    attempt: int
    at: float
    """When, in seconds since 1970."""

    @property
    def ticket(self) -> Ticket:
        """The call's ticket, but for what it asked."""
        call = self.call
        call.where = self.where
        ticket = Ticket(
            self.id, call, str(call.digest), self.turn, self.nth, self.attempt, entry=self.entry
        )
        ticket.how, ticket.reason, ticket.source = "replayed", "hit", "replayed"
        return ticket

    @property
    def where(self) -> str | None:
        """The line of the agent's code, such as ``refund.py:41``."""
        return self.call.where or site(self.place)

    def report(self, trace: Trace | None) -> CallReport:  # noqa: ARG002 - all is in its entry
        """What is told of it."""
        return CallReport(
            entry=self.id,
            origin=self.entry.id,
            turn=self.turn,
            kind=self.entry.kind,
            name=self.call.name or self.call.model,
            how="replayed",
            reason="hit",
            duration_s=0.0,
            where=self.where,
            summary=short(self.call, _response(self.entry), None, []),
            step=self.call.step,
        )


class Ended(NamedTuple):
    """Any other call that ended: what is told of it, as :class:`CallReport` has it."""

    id: str
    origin: str | None
    turn: int | None
    kind: str
    name: str | None
    how: How
    reason: Reason
    duration_s: float | None
    where: str | None
    summary: str | None
    """None when it is yet to be read in the trace."""
    step: str

    def report(self, trace: Trace | None) -> CallReport:
        """What is told of it."""
        summary = self.summary
        if summary is None:
            summary = _summary(trace, self.id) if trace is not None else ""
        return CallReport(*self[:9], summary, self.step)


def _summary(trace: Trace, entry_id: str) -> str:
    try:
        entry = trace.entry(entry_id)
        kind: Any = entry.kind
        chunks = [chunk.data for chunk in entry.chunks]
        return short(Call(kind, None, entry.api), entry.response, entry.error, chunks)
    except (PlaceError, TraceError):
        return "what came of it could not be written down"


def lines_of(hit: Hit, session: Session) -> Iterator[BaseLine]:
    """Its two lines."""
    ticket, at = hit.ticket, moment(hit.at)
    ticket.key = session.guard.key(ticket)
    try:
        ticket.request = session.tickets.hasher(ticket.call).without(hit.entry.request)
    except TraceError:  # that part of the recording is damaged; the call was made all the same
        ticket.request = MISSING
    yield call_line(ticket, at)
    yield replayed_line(ticket, Served(_response(hit.entry)), hit.entry, at)


def _response(entry: Taped) -> Any:
    try:
        return entry.response
    except TraceError:
        return MISSING
