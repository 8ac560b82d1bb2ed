"""Vectors for texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from workbench.seam.agentio.reply import VIEW
from workbench.trace.payloads import Usage


class Embeddings:
    """A vector for each text, in their order.

    Attributes:
        raw: the body, ``{"embeddings": [[…], …], "usage"?, "model"?}``.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    @property
    def vectors(self) -> list[list[float]]:
        """The vectors."""
        return list(self.raw.get("embeddings") or ())

    @property
    def usage(self) -> Usage | None:
        """Token counts; None when the provider gave none."""
        return VIEW.usage(self.raw)

    def __len__(self) -> int:
        return len(self.vectors)

    def __iter__(self) -> Iterator[list[float]]:
        return iter(self.vectors)

    def __getitem__(self, place: int) -> list[float]:
        return self.vectors[place]

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Embeddings) else NotImplemented

    def __hash__(self) -> int:
        return hash(len(self))

    def __repr__(self) -> str:
        return f"<Embeddings of {len(self)} texts>"
