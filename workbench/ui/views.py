"""The answers that are about whole traces: a comparison, a summary, the faults' forms."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from math import isnan
from typing import Any

from workbench.errors import WorkbenchError
from workbench.trace.diff import Diff, Row
from workbench.trace.faults import FAULT_TYPES, forms
from workbench.trace.prices import Total
from workbench.trace.trace import Trace
from workbench.trace.turns import EDITED, FAULT, REPLAYED
from workbench.ui.clips import label
from workbench.ui.sheet import Sheet

MOST_ROWS = 1_000
"""Rows of a comparison that the page gets; those that are the same are left out first."""


SHORT = 1_000
"""Turns up to which the time to the first token is told for each."""


def comparison(diff: Diff, sheets: Sequence[Sheet]) -> dict[str, Any]:
    """The protocol's comparison of the two traces that ``diff`` compares."""
    rows = list(diff.rows)
    if len(rows) > MOST_ROWS:
        rows = [row for row in rows if row.kind != "same"][:MOST_ROWS]
    return {
        "headline": label(diff.headline, 400),
        "rows": [_row(diff, row) for row in rows],
        "table": [_line(sheet) for sheet in sheets],
    }


def _row(diff: Diff, row: Row) -> dict[str, Any]:
    return {
        "kind": row.kind,
        "a": row.turn_a,
        "b": row.turn_b,
        "text_a": _text(diff.a, row.turn_a, row.entry_a),
        "text_b": _text(diff.b, row.turn_b, row.entry_b),
        "what": label("; ".join(row.what), 400),
    }


def _text(trace: Trace, number: int | None, entry_id: str | None) -> str | None:
    try:
        if number is not None:
            turn = trace.turn(number)
            return label(f"{turn.label} {turn.summary}".strip())
        if entry_id is not None:
            entry = trace.entry(entry_id)
            return label(f"{entry.kind} {entry.name or entry.type or ''}".strip())
    except WorkbenchError as error:
        return label(f"not readable: {error}")
    return None


def _line(sheet: Sheet) -> dict[str, Any]:
    info = sheet.info()
    return {
        "name": info["name"],
        "outcome": info["headline"],
        "tone": info["tone"],
        "turns": info["n_turns"],
        "tools": info["tools_called"],
        "cost": info["cost"],
        "time": info["duration_s"],
    }


def divergence(diff: Diff) -> dict[str, Any] | None:
    """Where a fork first parts from its parent: the fork's turn, and one line."""
    first = diff.first
    if first is None:
        return None
    number = first.turn_b if first.turn_b is not None else first.turn_a
    return {"turn": number, "text": label(first.text, 200)}


def summary(sheet: Sheet) -> dict[str, Any]:
    """The protocol's summary: cost by model, and how long each turn's model call took.

    All of it is read from heads that are in memory already; what it cost is known once the trace
    was studied, and missing before.
    """
    columns, forked = sheet.trace.columns, sheet.trace.header.parent is not None
    latency = []
    for number, models in enumerate(columns.models, 1):
        length, flags = columns.durations[models[-1]], columns.flags[models[-1]]
        latency.append(
            {
                "turn": number,
                "duration_s": None if isnan(length) else length,
                "source": _source(flags, forked=forked),
                "first_s": None,
            }
        )
    if len(latency) <= SHORT:
        for line, turn in zip(latency, sheet.trace.turns, strict=True):
            line["first_s"] = turn.model.first_s
    known = sorted(columns.durations[models[-1]] for models in columns.models)
    known = [length for length in known if not isnan(length)]
    return {
        "cost": [_cost(model, amount) for model, amount in sheet.costs.items()],
        "latency": latency,
        "p50_s": percentile(known, 50),
        "p95_s": percentile(known, 95),
    }


def _source(flags: int, *, forked: bool) -> str:
    if flags & FAULT:
        return "fault"
    if flags & EDITED:
        return "edited"
    if flags & REPLAYED:
        return "replayed"
    return "live" if forked else "recorded"


def _cost(key: str, amount: Total) -> dict[str, Any]:
    exact: Decimal | None = amount.exact
    return {
        "key": label(key, 60),
        "value": None if exact is None else float(exact),
        "text": str(amount),
    }


def percentile(values: Sequence[float], percent: float) -> float | None:
    """A percentile of sorted values, with linear interpolation; None of no values."""
    if not values:
        return None
    place = (len(values) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(values) - 1)
    return values[low] + (values[high] - values[low]) * (place - low)


@cache
def fault_forms() -> dict[str, Any]:
    """For each type of fault that the page offers the JSON Schema of its own model, with the
    kinds of call that it can hit."""
    return forms.fault_forms(FAULT_TYPES)
