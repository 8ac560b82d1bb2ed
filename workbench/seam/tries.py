"""How often each request was made: attempts, turns, and which of several equal calls it is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from workbench.seam.calls import Call, Ticket


@dataclass(slots=True)
class _Tried:
    calls: int = 0
    attempt: int = 0
    failed: bool = False
    turn: int | None = None
    in_step: int = 0


class Try(NamedTuple):
    """How often a call was made."""

    attempt: int
    """From 1."""
    turn: int | None
    """From 1; None before the first model call."""
    nth: int
    """How many equal calls, retries aside, came before it."""
    in_step: int
    """Of a model call: the how-manyeth it is in its step, retries aside, from 1."""


class Tries:
    """Counts calls. The same request after a failure is another attempt, not another turn."""

    def __init__(self) -> None:
        self.turns = 0
        self._in_step: Counter[tuple[str, bool]] = Counter()
        self._seen: dict[tuple[str, str, str], _Tried] = {}

    def begin(self, call: Call, digest: str) -> Try:
        """A call begins."""
        tried = self._seen.setdefault((call.kind, call.step, digest), _Tried())
        if tried.failed:
            tried.failed = False
            tried.attempt += 1
            return Try(tried.attempt, tried.turn, tried.calls - 1, tried.in_step)
        if call.kind == "model":
            self.turns += 1
            place = call.step, call.enclosing is not None
            self._in_step[place] += 1
            tried.in_step = self._in_step[place]
        tried.calls += 1
        tried.attempt = 1
        tried.turn = self.turns or None
        return Try(1, tried.turn, tried.calls - 1, tried.in_step)

    def end(self, ticket: Ticket, *, failed: bool) -> None:
        """A call ended."""
        call = ticket.call
        self._seen[call.kind, call.step, ticket.digest].failed = failed
