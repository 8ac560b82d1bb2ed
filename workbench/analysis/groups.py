"""Grouping calls by columns, into a frame of declared columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from workbench.analysis.columns import Dtype, pandas
from workbench.analysis.sources import Source

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Measure:
    """One column of a summary, declared."""

    name: str
    """Its name."""
    dtype: Dtype
    """Its dtype."""
    of: Callable[[pd.DataFrame], Any]
    """Reads its value from the rows of one group."""
    doc: str
    """What it holds."""


def as_calls(source: Any, read: Callable[[Source], pd.DataFrame]) -> pd.DataFrame:
    """The frame itself when it is one, else the frame read from a source."""
    return source if isinstance(source, pandas().DataFrame) else read(source)


def summarize(
    data: pd.DataFrame, by: Sequence[str], measures: Sequence[Measure], *, order: str
) -> pd.DataFrame:
    """One row for each group, the largest ``order`` first, plus its share and their sum.

    ``share`` is the group's part of all of ``order``, 0 to 1; ``cumulative`` adds the shares up.
    Both are NA where nothing is known of ``order``.
    """
    module = pandas()
    rows: list[tuple[tuple[Any, ...], list[Any]]] = [
        (values, [each.of(group) for each in measures]) for values, group in _groups(data, by)
    ]
    out: dict[str, Any] = {
        name: module.array([values[place] for values, _ in rows], dtype=data[name].dtype)
        for place, name in enumerate(by)
    }
    for place, each in enumerate(measures):
        out[each.name] = module.array([cells[place] for _, cells in rows], dtype=each.dtype)
    frame = module.DataFrame(out)
    frame = frame.sort_values(order, ascending=False, kind="stable", na_position="last")
    frame = frame.reset_index(drop=True)
    whole = frame[order].sum(min_count=1)
    nothing = module.isna(whole) or not whole
    frame["share"] = frame[order] / (module.NA if nothing else whole)
    frame["share"] = frame["share"].astype("Float64")
    frame["cumulative"] = frame["share"].cumsum()
    return cast("pd.DataFrame", frame)


def _groups(
    data: pd.DataFrame, by: Sequence[str]
) -> Iterator[tuple[tuple[Any, ...], pd.DataFrame]]:
    if by:
        yield from data.groupby(list(by), dropna=False, sort=True)
    elif len(data):
        yield (), data
