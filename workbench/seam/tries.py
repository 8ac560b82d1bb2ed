"""How often each request was made: attempts, turns, and which of several equal calls it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.seam.calls import Call, Ticket


class Tried:
    """How often a call was made."""

    calls: int = 1
    """Retries aside."""
    attempt: int = 1
    """Which try of the call the last one is, from 1."""
    failed: bool = False
    """Whether that one failed."""
    turn: int | None = None
    """From 1; None before the first model call."""
    in_step: int = 0
    """Of a model call: the how-manyeth it is in its step, retries aside, from 1."""

    @property
    def nth(self) -> int:
        """How many equal calls, retries aside, came before the last one."""
        return self.calls - 1


class Tries:
    """Counts calls. The same request after a failure is another attempt, not another turn."""

    def __init__(self) -> None:
        self.turns = 0
        self._in_step: dict[tuple[str, bool], int] = {}
        self._seen: dict[tuple[str, str, str], Tried] = {}

    def begin(self, call: Call, digest: str) -> Tried:
        """A call begins."""
        key = (call.kind, call.step, digest)
        tried = self._seen.get(key)
        if tried is None:
            tried = self._seen[key] = Tried()
        elif tried.failed:
            tried.failed = False
            tried.attempt += 1
            return tried
        else:
            tried.calls += 1
            tried.attempt = 1
        if call.kind == "model":
            self.turns += 1
            place = call.step, call.enclosing is not None
            tried.in_step = self._in_step[place] = self._in_step.get(place, 0) + 1
        tried.turn = self.turns or None
        return tried

    def end(self, ticket: Ticket, *, failed: bool) -> None:
        """A call ended."""
        call = ticket.call
        self._seen[call.kind, call.step, ticket.digest].failed = failed
