"""What changed from one trace to another, as a frame."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.analysis.columns import Column, documented, frame
from workbench.analysis.sources import Source, one
from workbench.trace.diff import Diff, Divergence, Row, diff

if TYPE_CHECKING:
    import pandas as pd

DRIFT_COLUMNS: list[Column[Row]] = [
    Column("kind", "string", lambda row: row.kind, "same, changed, inserted, dropped, moved"),
    Column("turn_a", "Int64", lambda row: row.turn_a, "the turn in a; NA when it is not there"),
    Column("turn_b", "Int64", lambda row: row.turn_b, "the turn in b; NA when it is not there"),
    Column("entry_a", "string", lambda row: row.entry_a, "the entry in a"),
    Column("entry_b", "string", lambda row: row.entry_b, "the entry in b"),
    Column("what", "object", lambda row: list(row.what), "what differs, a list of few words each"),
    Column("text", "string", lambda row: row.text if row.kind != "same" else "",
           "the row in one line; empty when nothing differs"),
]  # fmt: skip
"""The columns of :attr:`Drift.frame`."""


@dataclass(frozen=True)
class Drift:
    """What changed from trace ``a`` to trace ``b``."""

    diff: Diff = field(repr=False)
    """The comparison itself: outcome, cost, duration, counts."""

    @property
    def first(self) -> Divergence | None:
        """The first divergence, or None when there is none."""
        return self.diff.first

    @property
    def same(self) -> bool:
        """Whether nothing changed."""
        return self.diff.same

    @cached_property
    def frame(self) -> pd.DataFrame:
        """One row for each turn of either trace, by :data:`DRIFT_COLUMNS`.

        Raises:
            MissingExtraError: pandas is not installed.
        """
        return frame(DRIFT_COLUMNS, self.diff.rows)

    def __str__(self) -> str:
        return str(self.diff)

    def __repr__(self) -> str:
        return f"<Drift: {self.diff.headline}>"

    def _repr_html_(self) -> str:
        return self.diff._repr_html_()


@documented(DRIFT_COLUMNS)
def drift(a: Source, b: Source) -> Drift:
    """Compare two traces, aligned by what happened and not by position.

    ``drift(a, b).first`` is where they part, ``.frame`` has a row for each turn of either.

    Args:
        a: one trace, or something that names one.
        b: the other.

    Raises:
        UsageError: ``a`` or ``b`` names no trace or several.
    """
    return Drift(diff(one(a, "the first of the two"), one(b, "the second of the two")))
