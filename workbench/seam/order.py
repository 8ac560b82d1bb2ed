"""The order in which calls at once began and ended when they were recorded, so that races end as
they did.

Calls that overlapped are a **race**. In a race a served call is handed over once every call has
begun that had begun by then, and every answer was handed over that had been handed over by then.
Calls of different races wait for nothing: whoever asks one after the other keeps his own order.
Only where an agent's own waits are skipped, while other tasks go on, all is one race.

If what is waited for never comes (the agent was changed, or an edit made it void) nobody waits for
ever: once nothing new begins for as long as it took when it was recorded, the first call that waits
goes on, and that is said.
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
_SLOWER = 1.5
"""By so much a replay may be slower than the recording in coming to its next call."""
_APART_S = 0.001
"""What ended within so short a time may have ended before anything followed from it."""
_LONGEST_S = 10.0
"""So long a call waits at most, whatever else goes on."""


class Race:
    """Recorded calls that overlapped: what began, was handed over and, of a stream, was read to
    its end, in its order."""

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = {each.id: each for each in entries}
        begun = [(each.line, "begun", each.id) for each in entries]
        over = [(each.handed_over + 1, "over", each.id) for each in entries]
        end = [(_last(each), "read", each.id) for each in entries if _is_read(each)]
        self.moments = sorted(begun + over + end)
        self.place = {(what, name): at for at, (_, what, name) in enumerate(self.moments)}
        self.next = 0
        """The first moment that has not come yet."""
        self.waiting: dict[str, Waiting] = {}
        """Calls that wait for their turn, by entry."""


class Waiting:
    """A call that waits for its turn."""

    __slots__ = ("future", "since", "ticket", "what")

    def __init__(self, ticket: Ticket, what: str = "over") -> None:
        self.ticket = ticket
        self.what = what
        self.future: Future[Verdict] = Future()
        self.since = time.monotonic()

    def go(self) -> None:
        """Its turn has come."""
        with suppress(InvalidStateError):
            self.future.set_result("go")


class Order:
    """Who may be handed over, and who waits."""

    def __init__(self, tape: Tape, entries: Iterable[Entry] = ()) -> None:
        self._tape = tape
        self._race: dict[str, Race] = {}
        self._all = list(entries)
        self._joined = False
        for race in _races(self._all):
            self._race.update(dict.fromkeys(race.entries, race))
        self._under_way: set[str] = set()
        """Recorded entries whose call has begun and is not handed over yet."""
        self._read: set[str] = set()
        """Recorded streams that are being read."""
        self._running: dict[str, Ticket] = {}
        """Calls that run in the world."""
        self._begun_at = 0.0

    def join(self) -> None:
        """A wait between calls was skipped, while others went on: what was apart only by the time
        that it took is told apart by nothing now, and all is one race from here on."""
        if self._joined or len(self._all) < 2:
            return
        self._joined = True
        whole = Race(self._all)
        for race in set(self._race.values()):
            whole.waiting.update(race.waiting)
        self._race = dict.fromkeys(whole.entries, whole)

    def begins(self, ticket: Ticket) -> Future[Verdict] | None:
        """A served call begins: None if it may be handed over, else what it waits for."""
        entry = ticket.entry
        race = self._race.get(entry.id) if entry is not None else None
        if entry is None or race is None:
            return None
        self._begun_at = time.monotonic()
        self._under_way.add(entry.id)
        due = self._due(race, entry.id)
        waiting = Waiting(ticket)
        if not due:
            race.waiting[entry.id] = waiting
        self._let_go(race)
        return None if due else waiting.future

    def ends(self, ticket: Ticket) -> Future[Verdict] | None:
        """A served stream has one more piece: None if its reader may have it, else what for he
        waits."""
        entry = ticket.entry
        race = self._race.get(entry.id) if entry is not None else None
        if entry is None or race is None or entry.ended != "complete":
            return None
        if self._due(race, entry.id, "read"):
            return None
        waiting = race.waiting[entry.id] = Waiting(ticket, "read")
        return waiting.future

    def read_on(self, ticket: Ticket) -> None:
        """The reader of a stream has waited for its end."""
        if ticket.entry is not None and ticket.entry.id in self._race:
            self._race[ticket.entry.id].waiting.pop(ticket.entry.id, None)

    def passes(self, entry: Entry) -> bool:
        """Whether a call may begin and end at once, and nobody waits for it; then it has."""
        race = self._race.get(entry.id) if self._race else None
        if race is None:
            return True
        if race.waiting:
            return False
        self._under_way.add(entry.id)
        due = self._due(race, entry.id)
        self._under_way.discard(entry.id)
        return due

    def future(self, ticket: Ticket) -> Future[Verdict]:
        """What a waiting call waits for."""
        return self._waits(ticket).future

    def is_due(self, ticket: Ticket) -> bool:
        """Whether the turn of a waiting call has come, though nobody said so."""
        assert ticket.entry is not None  # noqa: S101 - else it did not wait
        what = self._waits(ticket).what
        return self._due(self._race[ticket.entry.id], ticket.entry.id, what)

    def crowd(self, ticket: Ticket) -> int:
        """How many wait in the race of a waiting call."""
        assert ticket.entry is not None  # noqa: S101 - else it did not wait
        return len(self._race[ticket.entry.id].waiting)

    def came_apart(self, ticket: Ticket) -> bool:
        """Whether a waiting call was handed over a while after the one before it."""
        entry = ticket.entry
        assert entry is not None  # noqa: S101 - else it did not wait
        race = self._race[entry.id]
        place = race.place["over", entry.id]
        earlier = (race.moments[at] for at in range(place - 1, -1, -1))
        before = next((name for _, what, name in earlier if what == "over"), None)
        if before is None:
            return False
        this, other = _end_s(entry), _end_s(race.entries[before])
        # In a replay's own trace calls begin at once, but last as long as they did.
        return this is None or other is None or abs(this - other) >= _APART_S

    def runs(self, ticket: Ticket, by: int) -> None:
        """One call more, or one less, runs in the world."""
        self._begun_at = time.monotonic()
        if by < 0:
            self._running.pop(ticket.id, None)
            return
        self._running[ticket.id] = ticket
        race = self._race.get(ticket.entry.id) if ticket.entry is not None else None
        if race is not None and ticket.entry is not None:
            self._under_way.add(ticket.entry.id)
            self._let_go(race)

    def handed_over(self, ticket: Ticket, *, read: bool = False) -> None:
        """A call got its answer; whoever waited for that may go on. ``read``: it is a stream, and
        its reader begins to read."""
        race = self._race.get(ticket.entry.id) if ticket.entry is not None else None
        if race is not None and ticket.entry is not None:
            self._under_way.discard(ticket.entry.id)
            (self._read.add if read else self._read.discard)(ticket.entry.id)
            race.waiting.pop(ticket.entry.id, None)
            self._let_go(race)

    def left(self, ticket: Ticket) -> None:
        """A call is left to wait until it is cancelled, as it was: only then is it over."""
        race = self._race.get(ticket.entry.id) if ticket.entry is not None else None
        if race is not None and ticket.entry is not None:
            race.waiting.pop(ticket.entry.id, None)
        self.runs(ticket, +1)

    def cancelled(self, ticket: Ticket) -> None:
        """A call that was left to wait is over."""
        self.runs(ticket, -1)
        self.handed_over(ticket)

    forget = handed_over
    """Whoever made a waiting call was stopped: nobody waits for it."""

    def stuck(self, ticket: Ticket) -> bool:
        """Whether what a call waits for does not come: nothing runs that could bring it, and
        nothing new has begun for longer than it took when it was recorded."""
        now, waiting = time.monotonic(), self._waits(ticket)
        if now - waiting.since >= _LONGEST_S:
            return True
        if any(not self._holds_up(each, ticket) for each in self._running.values()):
            return False
        idle = now - max(self._begun_at, waiting.since)
        return idle >= self._patience(ticket) * 0.9

    def skip_to(self, ticket: Ticket) -> bool:
        """Nobody waits any longer for calls that do not come; whether this very call goes on."""
        assert ticket.entry is not None  # noqa: S101 - else it did not wait
        race = self._race[ticket.entry.id]
        places = {name: race.place[each.what, name] for name, each in race.waiting.items()}
        first = min(places, key=places.__getitem__)
        if ticket.entry.id != first:
            return False
        race.next = places[first]
        return True

    def release_all(self) -> None:
        """The run is stopped: nobody waits."""
        for race in set(self._race.values()):
            for waiting in race.waiting.values():
                waiting.go()

    def _waits(self, ticket: Ticket) -> Waiting:
        assert ticket.entry is not None  # noqa: S101 - else it did not wait
        return self._race[ticket.entry.id].waiting[ticket.entry.id]

    def _due(self, race: Race, name: str, what_next: str = "over") -> bool:
        """Whether all has come that came before it was handed over, or read to its end."""
        place = race.place[what_next, name]
        while race.next < place:
            _, what, other = race.moments[race.next]
            if other != name and not self._has_come(what, other):
                return False
            race.next += 1
        return True

    def _has_come(self, what: str, name: str) -> bool:
        if what == "begun":
            return name in self._under_way or self._tape.is_gone(name)
        if what == "read" and name in self._read:
            return False
        return name not in self._under_way and self._tape.is_gone(name)

    def _let_go(self, race: Race) -> None:
        for name, waiting in race.waiting.items():
            if self._due(race, name, waiting.what):
                waiting.go()

    def _holds_up(self, running: Ticket, ticket: Ticket) -> bool:
        """Whether a call that runs cannot end before the waiting one, which is inside it."""
        outer = ticket.call.enclosing
        while outer is not None:
            if outer == running.id:
                return True
            around = self._running.get(outer)
            outer = around.call.enclosing if around is not None else None
        return False

    def _patience(self, ticket: Ticket) -> float:
        """How long to wait for what comes next: longer where it was long in coming."""
        entry = ticket.entry
        assert entry is not None  # noqa: S101 - else it did not wait
        race = self._race[entry.id]
        _, what, awaited = race.moments[race.next]
        begun, then = entry.at_s, race.entries[awaited].at_s
        if what == "read" and then is not None:
            then += race.entries[awaited].duration_s or 0.0
        gap = then - begun if begun is not None and then is not None else 0.0
        return min(PATIENCE_S + _SLOWER * max(gap, 0.0), _LONGEST_S)


def _end_s(entry: Entry | None) -> float | None:
    """When a call was handed over, in seconds from the start of its trace."""
    if entry is None or entry.at_s is None:
        return None
    lasted = entry.first_s if entry.first_s is not None else entry.duration_s
    return None if lasted is None else entry.at_s + lasted


def _is_read(entry: Entry) -> bool:
    """Whether a call's answer was a stream that came to an end: its own, the server's, or that of
    whoever's patience. When a reader stopped is noted later than it was."""
    return _last(entry) > entry.handed_over + 1 and entry.ended not in (None, "stopped")


def _last(entry: Entry) -> int:
    """The line with which a call was over."""
    return max(entry.handed_over, entry.trace.index.results[entry.seq - 1]) + 1


def _races(entries: Iterable[Entry]) -> Iterable[Race]:
    """The calls that overlapped, put together; one that ran alone is in none."""
    together: list[Entry] = []
    end = -1
    for entry in sorted(entries, key=lambda each: each.line):
        if entry.line > end:
            if len(together) > 1:
                yield Race(together)
            together = []
        together.append(entry)
        end = max(end, _last(entry))
    if len(together) > 1:
        yield Race(together)
