"""What calls cost, by any key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.analysis.columns import documented, keys, require
from workbench.analysis.frames import calls
from workbench.analysis.groups import Measure, as_calls, summarize
from workbench.analysis.sources import Source
from workbench.trace.prices import price_note

if TYPE_CHECKING:
    import pandas as pd

_SUMS = {
    "input_tokens": "input tokens of the calls that recorded them, cached ones included",
    "output_tokens": "output tokens of the calls that recorded them",
    "cache_read_tokens": "of the input tokens, those read from a cache",
    "cache_write_tokens": "of the input tokens, those written to a cache",
    "reasoning_tokens": "of the output tokens, those of reasoning",
}


def _sum(name: str) -> Callable[[pd.DataFrame], Any]:
    return lambda group: group[name].sum(min_count=1)


MEASURES: list[Measure] = [
    Measure("n", "Int64", len, "model calls"),
    Measure(
        "unpriced", "Int64", lambda group: group["cost"].isna().sum(),
        "calls of unknown cost; where there are any, the sums are lower bounds",
    ),
    *(Measure(name, "Int64", _sum(name), doc) for name, doc in _SUMS.items()),
    Measure(
        "cost", "Float64", _sum("cost"),
        "US dollars when the calls were made, those of known cost; NA when none is known",
    ),
    Measure("spent", "Float64", _sum("spent"), "of it, US dollars paid in these runs"),
    Measure(
        "saved", "Float64", _sum("saved"),
        "of it, US dollars not paid, because the replies came from a recording",
    ),
]  # fmt: skip
"""The columns of :func:`cost`, after the keys and before ``share`` and ``cumulative``."""


@documented(MEASURES)
def cost(source: Source | pd.DataFrame, by: str | Sequence[str] = "model") -> pd.DataFrame:
    """What model calls cost: one row for each value of ``by``, the dearest first.

    ``share`` is a row's part of the known cost of all, 0 to 1; ``cumulative`` adds the shares up.
    Tool calls have no price and are left out. Which price list was used stands in
    ``frame.attrs["prices"]``.

    Args:
        source: traces (as for :func:`workbench.analysis.calls`), or a frame from
            :func:`~workbench.analysis.calls` or :func:`~workbench.analysis.turns`.
        by: one column or several, such as ``model``, ``step``, ``turn``, ``run``; ``run`` also
            gives ``trace_id``, so that two runs of one name stay apart. Empty: one row in all.

    Raises:
        UsageError: the frame lacks a column.
        MissingExtraError: pandas is not installed.
    """
    data = as_calls(source, calls)
    names = keys(by)
    require(data, [*names, *_SUMS, "cost", "spent", "saved"], "cost()")
    if "kind" in data.columns:
        data = data[data["kind"] == "model"]
    frame = summarize(data, names, MEASURES, order="cost")
    frame.attrs["prices"] = price_note()
    return frame
