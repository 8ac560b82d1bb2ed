"""What is wrong with a trace file but does not keep it from being read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that is wrong, with its place."""

    message: str
    """What is wrong, and what that means for the rest."""
    line: int | None = None
    """The line's number, from 1; None for the whole file."""

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


class Notices:
    """Collects notices; beyond a limit it only counts, so that a broken file stays readable."""

    LIMIT = 1000

    def __init__(self) -> None:
        self._kept: list[Notice] = []
        self._seen: set[Notice] = set()
        self._more = 0

    def add(self, message: str, line: int | None = None) -> None:
        """Note something, once."""
        notice = Notice(message, line)
        if notice in self._seen:
            return
        if len(self._kept) < self.LIMIT:
            self._kept.append(notice)
            self._seen.add(notice)
        else:
            self._more += 1

    def all(self) -> tuple[Notice, ...]:
        """The notices by line; the last one says how many were left out."""
        ordered = sorted(self._kept, key=lambda each: each.line or 0)
        if self._more:
            ordered.append(Notice(f"and {self._more:,} more of such notices"))
        return tuple(ordered)
