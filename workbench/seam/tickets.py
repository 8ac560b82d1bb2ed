"""What a call asks, told apart from every other: redacted, hashed, counted, and found again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.seam.calls import Ticket
from workbench.seam.inside import Inside
from workbench.seam.tries import Tries
from workbench.trace.canonical import Hasher

if TYPE_CHECKING:
    from workbench.seam.calls import Call
    from workbench.seam.guard import Guard
    from workbench.seam.ledger import Ledger
    from workbench.seam.reach import Reach
    from workbench.seam.setting import Setting


class Tickets:
    """Makes the tickets of one session's calls."""

    def __init__(self, setting: Setting, ledger: Ledger, guard: Guard, reach: Reach) -> None:
        self._setting = setting
        self._guard = guard
        self._reach = reach
        self._hashers: dict[str, Hasher] = {}
        self.tries = Tries()
        self.inside = Inside(ledger, self.tries)

    def make(self, call: Call) -> Ticket:
        """The ticket of a call that begins, with the entry that would answer it."""
        setting = self._setting
        request, digest, clean = self._asked(call)
        entry = setting.tape.find(call, digest, request)
        if entry is not None:
            self.inside.until(entry.line)
        tried = self.tries.begin(call, digest)
        if entry is not None and self._guard.wrote and self._reach.void(call, entry):
            entry = None
        ticket = Ticket(
            setting.journal.new_id(),
            call,
            digest,
            tried.turn,
            tried.nth,
            tried.attempt,
            tried.in_step,
            entry,
            request=request,
            clean=clean,
        )
        ticket.key = self._guard.key(ticket)
        return ticket

    def end(self, ticket: Ticket, *, failed: bool) -> None:
        """A call ended; it failed where who asks the same again tries again."""
        self.tries.end(ticket, failed=failed)
        if ticket.source == "fault" and ticket.entry is not None:
            self._setting.tape.failed(ticket.entry)

    def hasher(self, call: Call) -> Hasher:
        """What hashes such requests, less what the trace ignores in them."""
        name = call.api or call.kind
        found = self._hashers.get(name)
        if found is None:
            found = self._hashers[name] = Hasher(self._setting.ignore.get(name, ()))
        return found

    def _asked(self, call: Call) -> tuple[Any, str, bool]:
        """What is written of a request, its hash, and whether it is redacted already.

        What a recording has by this very hash holds no secret, as all that it has.
        """
        request, hasher = call.request, self.hasher(call)
        clean = self._setting.redactor.clean
        if not self._setting.tape.entries:
            request = clean(request)
            return request, hasher(call.kind, call.api, request), True
        digest = call.digest or hasher(call.kind, call.api, request)
        if self._setting.tape.waits_for(call.kind, call.step, digest):
            return request, digest, False
        cleaned = clean(request)
        if cleaned is not request:
            digest = hasher(call.kind, call.api, cleaned)
        return cleaned, digest, True
