"""Handing an answer over that does not come from the world: in its turn, and written down."""

from __future__ import annotations

from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING

from workbench.seam.calls import Hold, Serve
from workbench.seam.inside import ended
from workbench.seam.order import PATIENCE_S, Order

if TYPE_CHECKING:
    from workbench.seam.calls import Served, Ticket, Verdict
    from workbench.seam.guard import Guard
    from workbench.seam.injecting import Injecting
    from workbench.seam.ledger import Ledger
    from workbench.seam.setting import Setting
    from workbench.seam.tickets import Tickets
    from workbench.trace.trace import Entry


class Handing:
    """Keeps the answers of calls that wait for those which ended before them when recorded."""

    def __init__(
        self, setting: Setting, ledger: Ledger, injecting: Injecting, guard: Guard, tickets: Tickets
    ) -> None:
        self._setting = setting
        self._tape = setting.tape
        self._latency = setting.policy.latency
        self._ledger = ledger
        self._injecting = injecting
        self._guard = guard
        self._tries = tickets.tries
        self._inside = tickets.inside
        self.order = Order(setting.tape, setting.ordered())
        self._held: dict[str, Served] = {}
        self._delayed: dict[str, Future[Verdict]] = {}
        """Those among them that take a while, by a latency model."""

    def holds(self, ticket: Ticket) -> bool:
        """Whether a call waits for its turn."""
        return ticket.id in self._held

    def forget(self, ticket: Ticket) -> bool:
        """Whoever made a waiting call was stopped; False when it did not wait."""
        if self._held.pop(ticket.id, None) is None:
            return False
        if self._delayed.pop(ticket.id, None) is not None:
            self.order.runs(ticket, -1)
        self.order.forget(ticket)
        return True

    def runs(self, ticket: Ticket) -> None:
        """A call begins to run in the world."""
        ticket.running = True
        self.order.runs(ticket, +1)

    def ran(self, ticket: Ticket) -> None:
        """A call no longer runs in the world, if it did."""
        if ticket.running:
            ticket.running = False
            self.order.runs(ticket, -1)

    def serve(self, ticket: Ticket, served: Served) -> Hold | Serve:
        """A call is answered: now, or when it is its turn."""
        if ticket.reshapes:
            served = self._injecting.reshaped(ticket, served) or served
        if ticket.entry is not None and ticket.source in ("replayed", "edited"):
            self._tape.consume(ticket.entry)
        self._ledger.begin(ticket)
        if ticket.source == "replayed" and ticket.entry is not None:
            self._keep_inside(ticket, ticket.entry)
        delay = self._latency.seconds(ticket.entry) if self._latency is not None else 0.0
        if not delay:
            return self._when_due(ticket, served)
        self._held[ticket.id] = served
        future: Future[Verdict] = Future()
        self._delayed[ticket.id] = future
        self.order.runs(ticket, +1)
        return Hold(ticket, future=future, patience_s=delay)

    def _keep_inside(self, ticket: Ticket, entry: Entry) -> None:
        inside = self._setting.inside(entry)
        for each in inside:
            if each.kind in ("clock", "value"):
                self._setting.pins.consume(each)
        self._inside.add(ticket, inside)

    def in_turn(self, ticket: Ticket, verdict: Verdict) -> Hold | Serve:
        """It waited: as long as an answer takes, or for the calls that were handed over before it
        when they were recorded."""
        if self._delayed.pop(ticket.id, None) is not None:
            self.order.runs(ticket, -1)
            return self._when_due(ticket, self._held.pop(ticket.id))
        if verdict == "time" and not self.order.is_due(ticket):
            if not self.order.stuck(ticket) or not self.order.skip_to(ticket):
                return self._waits(ticket, self.order.future(ticket))
            entry = ticket.entry.id if ticket.entry is not None else ticket.id
            self._ledger.note(f"{entry} was reordered: what came before it did not come")
        return self.over(ticket, self._held.pop(ticket.id))

    def release_all(self) -> None:
        """The run is stopped: nobody waits."""
        for future in self._delayed.values():
            with suppress(InvalidStateError):
                future.set_result("go")
        self.order.release_all()

    def _when_due(self, ticket: Ticket, served: Served) -> Hold | Serve:
        turn = self.order.begins(ticket) if ticket.source == "replayed" else None
        if turn is None:
            return self.over(ticket, served)
        self._held[ticket.id] = served
        return self._waits(ticket, turn)

    def _waits(self, ticket: Ticket, turn: Future[Verdict]) -> Hold:
        apart = self.order.came_apart(ticket)
        # Of very many none would come to its turn if each looked for it all the time.
        patience = PATIENCE_S * max(1.0, self.order.crowd(ticket) / 20)
        return Hold(ticket, future=turn, patience_s=patience, apart=apart)

    def ends(self, ticket: Ticket, verdict: Verdict | None = None) -> Hold | None:
        """The last piece of a served stream is next: whether its reader waits for it, so that
        streams at once end as they did. Asked again with a verdict after a wait."""
        if ticket.source != "replayed":
            return None
        if verdict is None:
            turn = self.order.ends(ticket)
            return None if turn is None else Hold(ticket, future=turn, patience_s=PATIENCE_S)
        if verdict == "time" and not self.order.is_due(ticket):
            if not self.order.stuck(ticket) or not self.order.skip_to(ticket):
                return Hold(ticket, future=self.order.future(ticket), patience_s=PATIENCE_S)
            self._ledger.note(f"{ticket.id} was reordered: what ended before it did not come")
        self.order.read_on(ticket)
        return None

    def over(self, ticket: Ticket, served: Served) -> Serve:
        """Hand it over: what comes whole is written down, of a stream its reader tells."""
        below = self._injecting.below(ticket)
        if served.chunks is None and not below:
            ticket.closed = True
            entry = ticket.entry if ticket.source in ("replayed", "edited") else None
            self._inside.until(ended(entry))
            self._ledger.served(ticket, served, entry)
            self._tries.end(ticket, failed=self._injecting.failed(ticket, served.error))
            self._injecting.remember(ticket, served.response)
        elif ticket.entry is not None and ticket.source == "replayed":
            ticket.offsets = [chunk.offset_s or 0.0 for chunk in ticket.entry.chunks]
        self._guard.served(ticket, served)
        if served.is_cancelled:
            self.order.left(ticket)
        else:
            self.order.handed_over(ticket, read=served.chunks is not None)
        return Serve(ticket, served, below)
