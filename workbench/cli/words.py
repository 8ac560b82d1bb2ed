"""Runs in words: what ``record``, ``replay``, ``fork`` and ``show`` have in common."""

from __future__ import annotations

import asyncio
import difflib
import importlib
import json
import traceback
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.seam.result import CallReport, RunResult
    from workbench.trace.prices import Total
    from workbench.trace.trace import Trace

_DIFF_LINES = 20
_OURS = Path(__file__).resolve().parent.parent
_MACHINERY = (
    "<frozen runpy>",
    "<frozen importlib._bootstrap>",
    "<frozen importlib._bootstrap_external>",
)
_STARTERS = (Path(asyncio.__file__).parent, Path(importlib.__file__).parent)
_WHY = {
    "hit": "as recorded",
    "cut": "past the cut",
    "forced": "forced live",
    "miss": "not in the recording",
    "edited": "edited",
    "fault": "injected",
    "verify": "run again, same",
    "rerun": "run again",
    "placeholder": "served though it differs",
    "record": "",
}


def count(number: int, word: str) -> str:
    """A number and what it counts, such as ``1 call``."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def seconds(value: float | None) -> str:
    """A duration, such as ``4.1 s``; empty when it is not known."""
    if value is None:
        return ""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:,.1f} s"


def cost(total: Total) -> str:
    """A sum of money, such as ``$0.0004``; ``cost not known`` when no part of it is."""
    known = total.complete or total.amount
    return str(total) if known else "cost not known"


def usd(total: Total) -> float | None:
    """The same for JSON: US dollars, None when a part is unknown."""
    return None if total.exact is None else float(total.exact)


def call_lines(
    calls: list[CallReport], *, cut: bool = False, misses_live: bool = False
) -> list[str]:
    """A line for each call: turn, what it was, how it was answered and why.

    Args:
        calls: the run's calls.
        cut: whether the run was to go live at a place.
        misses_live: whether calls that the recording lacks go live before that place, too.
    """
    whys = _whys(calls, cut=cut, misses_live=misses_live)
    rows = [
        (
            "" if call.turn is None else str(call.turn),
            str(call.name or call.kind),
            call.how,
            why,
            " ".join(call.summary.split())[:60],
        )
        for call, why in zip(calls, whys, strict=True)
    ]
    return table(("turn", "call", "how", "why", "outcome"), rows)


def _whys(calls: list[CallReport], *, cut: bool, misses_live: bool) -> list[str]:
    """Why each call was answered as it was.

    Past the cut all calls run live, also those that the recording has; whether it has one says
    nothing there.
    """
    past, out = cut and not misses_live, []
    for call in calls:
        past = past or (cut and call.reason == "cut")
        reason = "cut" if past and call.reason == "miss" and call.how == "live" else call.reason
        out.append(_WHY.get(reason, reason))
    return out


def table(names: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines with aligned columns; numbers stand to the right. No lines without rows."""
    if not rows:
        return []
    widths = [max(len(row[n]) for row in [names, *rows]) for n in range(len(names))]
    right = [all(not row[n] or row[n][0].isdecimal() for row in rows) for n in range(len(names))]
    out = []
    for row in [names, *rows]:
        cells = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(row, widths, right, strict=True)
        ]
        out.append(("  " + "  ".join(cells)).rstrip())
    return out


def call_data(call: CallReport) -> dict[str, Any]:
    """A call for JSON."""
    return asdict(call)


def run_data(result: RunResult) -> dict[str, Any]:
    """What all runs against a recording say in JSON."""
    from workbench.trace.prices import spent_and_saved

    trace = result.trace
    spent, saved = spent_and_saved(trace)
    hows = [call.how for call in result.calls]
    return {
        "status": result.status,
        "output": stored_output(trace),
        "replayed": hows.count("replayed"),
        "live": hows.count("live"),
        "edited": hows.count("edited"),
        "simulated": hows.count("simulated"),
        "faults": hows.count("fault"),
        "spent_usd": usd(spent),
        "saved_usd": usd(saved),
        "drift": drift_data(result),
        "error": error_data(trace) if result.status != "drifted" else None,
        "leftover": [entry.id for entry in result.leftover],
        "notices": list(result.notices),
        "calls": [call_data(call) for call in result.calls],
        "path": None if trace.path is None else str(trace.path),
    }


def drift_data(result: RunResult) -> dict[str, Any] | None:
    """A drift for JSON: its text, and the miss when a call was not found."""
    if result.drift is None:
        return None
    miss = result.drift.miss
    return {"text": str(result.drift), "miss": None if miss is None else asdict(miss)}


def error_data(trace: Trace) -> dict[str, Any] | None:
    """What an agent raised, for JSON."""
    error = trace.error
    return None if error is None else {"type": error.type, "message": error.message}


def stored_output(trace: Trace) -> Any:
    """An agent's output as the trace keeps it: plain JSON, other values tagged."""
    return None if trace.end is None else trace.end.output


def pretty(stored: Any) -> str:
    """A stored value for people: a text as it is, else JSON."""
    if isinstance(stored, str):
        return stored
    return json.dumps(stored, indent=2, ensure_ascii=False)


def output_difference(before: Trace, now: Trace) -> list[str]:
    """How an agent's output differs from the recorded one; empty when it does not."""
    old, new = stored_output(before), stored_output(now)
    if before.end is None or before.status != "ok" or old == new:
        return []
    lines = list(
        difflib.unified_diff(
            pretty(old).splitlines(), pretty(new).splitlines(), "recorded", "now", "", "", 1, ""
        )
    )
    left = len(lines) - _DIFF_LINES
    more = [f"… and {count(left, 'more line')}"] if left > 0 else []
    return [*lines[:_DIFF_LINES], *more]


def agent_traceback(error: BaseException) -> str:
    """A traceback as Python prints it, without the frames that ran the agent."""
    from workbench.cli.agents import AgentImportError

    if isinstance(error, AgentImportError) and error.__cause__ is not None:
        error = error.__cause__
    found = traceback.TracebackException.from_exception(error)
    part: traceback.TracebackException | None = found
    while part is not None:
        part.stack = traceback.StackSummary.from_list(
            [frame for frame in part.stack if not _is_ours(frame.filename)]
        )
        part = part.__cause__ or part.__context__
    return "".join(found.format()).rstrip("\n")


def _is_ours(file: str) -> bool:
    inside = Path(file).is_relative_to(_OURS) or Path(file).parent in _STARTERS
    return inside or file in _MACHINERY
