"""How often each request was made: attempts, turns, and which of several equal calls it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.seam.calls import Call, Ticket


@dataclass(slots=True)
class _Tried:
    calls: int = 0
    attempt: int = 0
    failed: bool = False
    turn: int | None = None


class Tries:
    """Counts calls. The same request after a failure is another attempt, not another turn."""

    def __init__(self) -> None:
        self.turns = 0
        self._seen: dict[tuple[str, str, str], _Tried] = {}

    def begin(self, call: Call, digest: str) -> tuple[int, int | None, int]:
        """A call begins: its attempt (from 1), its turn (from 1), and how many equal calls,
        retries aside, came before it."""
        tried = self._seen.setdefault((call.kind, call.step, digest), _Tried())
        if tried.failed:
            tried.failed = False
            tried.attempt += 1
            return tried.attempt, tried.turn, tried.calls - 1
        if call.kind == "model":
            self.turns += 1
        tried.calls += 1
        tried.attempt = 1
        tried.turn = self.turns or None
        return 1, tried.turn, tried.calls - 1

    def end(self, ticket: Ticket, *, failed: bool) -> None:
        """A call ended."""
        call = ticket.call
        self._seen[call.kind, call.step, ticket.digest].failed = failed
