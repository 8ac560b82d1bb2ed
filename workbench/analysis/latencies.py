"""How long calls took, by any key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.analysis.columns import documented, keys, pandas, require
from workbench.analysis.frames import calls
from workbench.analysis.groups import Measure, as_calls, summarize
from workbench.analysis.sources import Source

if TYPE_CHECKING:
    import pandas as pd


def _quantile(name: str, share: float) -> Callable[[pd.DataFrame], Any]:
    return lambda group: _or_na(group[name].dropna().quantile(share))


def _or_na(value: Any) -> Any:
    pd = pandas()
    return pd.NA if pd.isna(value) else float(value)


def _tokens_per_s(group: pd.DataFrame) -> Any:
    known = group[group["output_tokens"].notna() & (group["duration_s"] > 0).fillna(value=False)]
    seconds = known["duration_s"].sum()
    return known["output_tokens"].sum() / seconds if len(known) else pandas().NA


MEASURES: list[Measure] = [
    Measure("n", "Int64", lambda group: group["duration_s"].count(), "calls of known duration"),
    Measure("p50_s", "Float64", _quantile("duration_s", 0.5), "median of seconds"),
    Measure("p95_s", "Float64", _quantile("duration_s", 0.95), "95th percentile of seconds"),
    Measure("p99_s", "Float64", _quantile("duration_s", 0.99), "99th percentile of seconds"),
    Measure("mean_s", "Float64", lambda group: _or_na(group["duration_s"].mean()), "mean seconds"),
    Measure("max_s", "Float64", lambda group: _or_na(group["duration_s"].max()), "most seconds"),
    Measure("first_p50_s", "Float64", _quantile("first_s", 0.5),
            "median of the seconds to the first chunk, of streamed calls"),
    Measure("first_p95_s", "Float64", _quantile("first_s", 0.95), "its 95th percentile"),
    Measure("tokens_per_s", "Float64", _tokens_per_s,
            "output tokens of all calls by the seconds of all calls"),
    Measure("total_s", "Float64", lambda group: group["duration_s"].sum(min_count=1),
            "seconds of all calls; those that ran at once are all counted"),
]  # fmt: skip
"""The columns of :func:`latency`, after the keys and before ``share`` and ``cumulative``."""


@documented(MEASURES)
def latency(source: Source | pd.DataFrame, by: str | Sequence[str] = "kind") -> pd.DataFrame:
    """How long calls took: one row for each value of ``by``, the one that took most first.

    ``share`` is a row's part of all seconds, 0 to 1; ``cumulative`` adds the shares up.
    Percentiles interpolate linearly between the two nearest calls. Calls without a duration (open
    when the process died) are left out. By ``tool`` only tool calls count, by ``model`` only model
    calls, by both all.

    Args:
        source: traces (as for :func:`workbench.analysis.calls`), or a frame from
            :func:`~workbench.analysis.calls`.
        by: one column or several, such as ``kind``, ``model``, ``tool``, ``step``, ``turn``,
            ``run``; ``run`` also gives ``trace_id``. Empty: one row in all.

    Raises:
        UsageError: the frame lacks a column.
        MissingExtraError: pandas is not installed.
    """
    data = as_calls(source, calls)
    names = keys(by)
    require(data, [*names, "kind", "duration_s", "first_s", "output_tokens"], "latency()")
    data = data[data["duration_s"].notna() & data["kind"].isin(["model", "tool"])]
    if ("tool" in names) != ("model" in names):
        data = data[data["kind"] == ("tool" if "tool" in names else "model")]
    return summarize(data, names, MEASURES, order="total_s")
