"""Calls that were answered by the very call that was recorded: a note of each is enough.

Their lines in the new trace, and their reports, are made of the note and of the recorded entry when
somebody looks. Nothing of the agent's own is kept, which could change: what was asked is what the
entry asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from workbench.errors import TraceError
from workbench.seam.calls import MISSING, Call, CallReport, Served, Ticket
from workbench.seam.current import site
from workbench.seam.writing import call_line, replayed_line, short
from workbench.trace.times import moment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.seam.session import Session
    from workbench.seam.taped import Taped
    from workbench.trace.entries import BaseLine, Effect


class Hit(NamedTuple):
    """A call and the entry that answered it."""

    id: str
    entry: Taped
    digest: str
    name: str | None
    model: str | None
    effect: Effect | None
    key: str | None
    """A tool's own idempotency key, when it declares one."""
    step: str
    enclosing: str | None
    asked_by: str | None
    where: tuple[str, int] | str | None
    """The line of the agent's code: its file and number, or as text."""
    turn: int | None
    nth: int
    attempt: int
    at: float
    """When, in seconds since 1970."""

    @property
    def ticket(self) -> Ticket:
        """The call's ticket, but for what it asked."""
        entry = self.entry
        kind: Any = entry.kind
        call = Call(
            kind,
            None,
            entry.api,
            self.name,
            self.model,
            effect=self.effect,
            key=self.key,
            step=self.step,
            enclosing=self.enclosing,
            asked_by=self.asked_by,
            where=site(self.where),
        )
        ticket = Ticket(self.id, call, self.digest, self.turn, self.nth, self.attempt, entry=entry)
        ticket.how, ticket.reason, ticket.source = "replayed", "hit", "replayed"
        return ticket

    @property
    def report(self) -> CallReport:
        """What is told of it."""
        return CallReport(
            entry=self.id,
            origin=self.entry.id,
            turn=self.turn,
            kind=self.entry.kind,
            name=self.name or self.model,
            how="replayed",
            reason="hit",
            duration_s=0.0,
            where=site(self.where),
            summary=short(self.ticket.call, _response(self.entry), None, []),
            step=self.step,
        )


def lines_of(hit: Hit, session: Session) -> Iterator[BaseLine]:
    """Its two lines."""
    ticket, at = hit.ticket, moment(hit.at)
    ticket.key = session.guard.key(ticket)
    try:
        ticket.request = session.hasher(ticket.call).without(hit.entry.request)
    except TraceError:  # that part of the recording is damaged; the call was made all the same
        ticket.request = MISSING
    yield call_line(ticket, at)
    yield replayed_line(ticket, Served(_response(hit.entry)), hit.entry, at)


def _response(entry: Taped) -> Any:
    try:
        return entry.response
    except TraceError:
        return MISSING
