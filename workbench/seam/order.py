"""The order in which calls at once ended when they were recorded, so that races end as they did.

A served call is handed over once all calls are that were handed over before it. If those never
come (the agent was changed, or an edit made them void) nobody waits for ever: as soon as every open
call waits and nothing new begins for a moment, the first of them goes on, and that is said.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.seam.calls import Ticket, Verdict
    from workbench.seam.tape import Tape
    from workbench.trace.trace import Entry

PATIENCE_S = 0.05
"""For so long nothing new must begin before a call goes on out of its turn."""


class Order:
    """Who may be handed over, and who waits."""

    def __init__(self, tape: Tape, entries: Iterable[Entry] = ()) -> None:
        self._tape = tape
        ranked = sorted((each.handed_over, each.id) for each in entries)
        self._queue = [entry_id for _, entry_id in ranked]
        self._rank = {entry_id: rank for rank, entry_id in enumerate(self._queue)}
        self._next = 0
        self._under_way: set[str] = set()
        """Recorded entries whose call has begun and is not handed over yet."""
        self._running = 0
        """Calls that run in the world."""
        self._waiting: dict[str, Future[Verdict]] = {}
        self._begun_at = 0.0

    def begins(self, ticket: Ticket) -> Future[Verdict] | None:
        """A served call begins: None if it may be handed over, else what it waits for."""
        entry = ticket.entry
        if not self._queue or entry is None or entry.id not in self._rank:
            return None
        self._begun_at = time.monotonic()
        self._under_way.add(entry.id)
        if self._due(entry.id):
            return None
        future: Future[Verdict] = Future()
        self._waiting[entry.id] = future
        return future

    def passes(self, entry: Entry) -> bool:
        """Whether a call may begin and end at once, and nobody waits for it; then it has."""
        if not self._queue:
            return True
        queue, name = self._queue, entry.id
        if self._waiting:
            return False
        if self._next < len(queue) and queue[self._next] == name:
            self._next += 1
            return True
        if not self._due(name):
            return False
        if self._next < len(queue) and queue[self._next] == name:
            self._next += 1
        return True

    def future(self, ticket: Ticket) -> Future[Verdict]:
        """What a waiting call waits for."""
        assert ticket.entry is not None  # noqa: S101 - else it did not wait
        return self._waiting[ticket.entry.id]

    def runs(self, ticket: Ticket, by: int) -> None:
        """One call more, or one less, runs in the world."""
        self._running += by
        self._begun_at = time.monotonic()
        if by > 0 and ticket.entry is not None and ticket.entry.id in self._rank:
            self._under_way.add(ticket.entry.id)

    def handed_over(self, ticket: Ticket) -> None:
        """A call got its answer; whoever waited for that may go on."""
        if not self._queue or ticket.entry is None:
            return
        self._under_way.discard(ticket.entry.id)
        if self._waiting:
            self._waiting.pop(ticket.entry.id, None)
            self._let_go()

    def forget(self, ticket: Ticket) -> None:
        """Whoever made a waiting call was stopped."""
        if ticket.entry is not None:
            self._waiting.pop(ticket.entry.id, None)
            self._under_way.discard(ticket.entry.id)
            self._let_go()

    def stuck(self) -> bool:
        """Whether every open call waits, and nothing new has begun for a while."""
        idle = time.monotonic() - self._begun_at
        return self._running <= 0 and idle >= PATIENCE_S * 0.9

    def skip_to(self, ticket: Ticket) -> bool:
        """Nobody waits any longer for calls that do not come; whether this very call goes on."""
        first = min(self._waiting, key=self._rank.__getitem__, default=None)
        if first is None or ticket.entry is None or ticket.entry.id != first:
            return False
        self._next = self._rank[first]
        self._waiting.pop(first)
        return True

    def release_all(self) -> None:
        """The run is stopped: nobody waits."""
        for future in self._waiting.values():
            _go(future)

    def _due(self, entry_id: str) -> bool:
        """Whether all that were handed over before it are."""
        while self._next < len(self._queue):
            head = self._queue[self._next]
            if head == entry_id:
                return True
            if head in self._under_way or not self._tape.is_gone(head):
                return self._rank[entry_id] < self._next
            self._next += 1
        return True

    def _let_go(self) -> None:
        for entry_id in list(self._waiting):
            if self._due(entry_id):
                _go(self._waiting[entry_id])


def _go(future: Future[Verdict]) -> None:
    with suppress(InvalidStateError):
        future.set_result("go")
