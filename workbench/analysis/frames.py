"""Frames of runs, turns, calls, tools, events and entries, each from declared columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.columns import documented, frame
from workbench.analysis.rows import Run, entry_rows, turn_rows
from workbench.analysis.schema import (
    CALL_COLUMNS,
    ENTRY_COLUMNS,
    EVENT_COLUMNS,
    RUN_COLUMNS,
    TOOL_COLUMNS,
    TURN_COLUMNS,
)
from workbench.analysis.sources import Source, traces

if TYPE_CHECKING:
    import pandas as pd


@documented(RUN_COLUMNS)
def runs(source: Source) -> pd.DataFrame:
    """One row a run.

    Args:
        source: a trace, a path, a glob, a folder, or several of these.
    """
    return frame(RUN_COLUMNS, (Run(trace) for trace in traces(source)))


@documented(TURN_COLUMNS)
def turns(source: Source) -> pd.DataFrame:
    """One row a turn: what the model said, and the tools that it asked for.

    Args:
        source: a trace, a path, a glob, a folder, or several of these.
    """
    return frame(TURN_COLUMNS, turn_rows(source))


@documented(CALL_COLUMNS)
def calls(source: Source) -> pd.DataFrame:
    """One row a call of a model or a tool, from the heads of the entries: no body is opened.

    Args:
        source: a trace, a path, a glob, a folder, or several of these.
    """
    return frame(CALL_COLUMNS, entry_rows(source, "model", "tool"))


@documented(TOOL_COLUMNS)
def tools(source: Source) -> pd.DataFrame:
    """One row a tool call, with its arguments and its result as they are.

    Args:
        source: a trace, a path, a glob, a folder, or several of these.
    """
    return frame(TOOL_COLUMNS, entry_rows(source, "tool"))


@documented(EVENT_COLUMNS)
def events(source: Source) -> pd.DataFrame:
    """One row an event that the agent wrote, with what it carries as it is.

    Args:
        source: a trace, a path, a glob, a folder, or several of these.
    """
    return frame(EVENT_COLUMNS, entry_rows(source, "event"))


@documented(ENTRY_COLUMNS)
def entries(source: Source) -> pd.DataFrame:
    """One row for everything that crossed the seam, in order.

    Args:
        source: a trace, a path, a glob, a folder, or several of these.
    """
    return frame(ENTRY_COLUMNS, entry_rows(source))
