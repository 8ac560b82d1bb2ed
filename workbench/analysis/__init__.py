"""Traces as pandas frames, and what they cost, how long they took, and what changed.

::

    import workbench.analysis as wa

    calls = wa.calls("runs/*.trace.jsonl")
    wa.cost(calls, by=["model", "step"])
    wa.latency(calls, by="tool")
    wa.drift("runs/before.trace.jsonl", "runs/after.trace.jsonl").first

Every function takes a trace, a path, a glob, a folder, or several of these. Needs the extra
``analysis`` (pandas, genai-prices), which is loaded when a function is called.
"""

from workbench.analysis.columns import Column
from workbench.analysis.costs import cost
from workbench.analysis.drifts import Drift, drift
from workbench.analysis.frames import calls, entries, events, runs, tools, turns
from workbench.analysis.latencies import latency
from workbench.analysis.schema import (
    CALL_COLUMNS,
    ENTRY_COLUMNS,
    EVENT_COLUMNS,
    RUN_COLUMNS,
    TOOL_COLUMNS,
    TURN_COLUMNS,
)
from workbench.analysis.sources import SkippedTraceWarning

__all__ = [
    "CALL_COLUMNS",
    "ENTRY_COLUMNS",
    "EVENT_COLUMNS",
    "RUN_COLUMNS",
    "TOOL_COLUMNS",
    "TURN_COLUMNS",
    "Column",
    "Drift",
    "SkippedTraceWarning",
    "calls",
    "cost",
    "drift",
    "entries",
    "events",
    "latency",
    "runs",
    "tools",
    "turns",
]
