"""What ``replay`` and ``fork`` share: running an agent against a trace, and reporting on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import DIFFERENT, INTERRUPTED, OK, Output
from workbench.cli.watch import Watcher
from workbench.cli.words import (
    agent_traceback,
    count,
    output_difference,
    pretty,
    run_data,
    stored_output,
)
from workbench.errors import RunCancelled

if TYPE_CHECKING:
    from workbench.cli.agents import Given
    from workbench.seam.result import RunResult
    from workbench.trace.trace import Trace


def run_watched(
    out: Output, watcher: Watcher, run: Callable[[], RunResult], path: Path | str | None
) -> RunResult:
    """Run with the watcher's progress and Ctrl-C; an interrupted run gives a result as well.

    Args:
        out: the command's output.
        watcher: the controller that ``run`` was given.
        run: does it.
        path: where the new trace goes, to find it again when the run was interrupted.

    Raises:
        KeyboardInterrupt: interrupted before there was a trace.
    """
    from workbench.seam.result import RunResult
    from workbench.trace.trace import load

    try:
        with out.agent(), watcher.watching():
            return run()
    except KeyboardInterrupt as error:
        if path is None or not Path(path).exists():
            raise
        stopped = RunCancelled("the run was cancelled")
        stopped.__cause__ = error
        return RunResult("cancelled", error=stopped, trace=load(path))


@dataclass
class Report:
    """What a command adds to the report on a run."""

    command: str
    before: Sequence[str] = ()
    """Lines before the summary."""
    after: Sequence[str] = ()
    """Lines after it."""
    data: dict[str, Any] = field(default_factory=dict)
    """More for the JSON document."""
    same_output: bool = True
    """Whether the output is expected to be the recorded one."""


def finish(out: Output, result: RunResult, given: Given, parent: Trace, report: Report) -> int:
    """Report on a run, and give the exit code."""
    _agent_said(out, result, given)
    if result.drift is not None:
        out.say(str(result.drift))
    different = output_difference(parent, result.trace) if result.status == "ok" else []
    if different and report.same_output:
        out.say("warning: the output differs from the recorded one")
        for line in different:
            out.say(f"  {line}")
    for notice in result.notices:
        out.say(f"note: {notice}")
    for line in report.before:
        out.say(line)
    out.say(summary(result))
    for line in report.after:
        out.say(line)
    data = {"command": report.command, **run_data(result)}
    data |= {"same_output": None if result.status != "ok" else not different}
    out.data(data | report.data)
    if result.status == "cancelled":
        return INTERRUPTED
    return OK if result.status == "ok" else DIFFERENT


def _agent_said(out: Output, result: RunResult, given: Given) -> None:
    if result.status == "ok" and not given.is_script:
        stored = stored_output(result.trace)
        if stored is not None:
            out.say(pretty(stored))
    if result.error is None or result.status == "drifted":
        return
    if result.status in ("blocked", "cancelled"):
        out.say(str(result.error))
    elif isinstance(result.error, SystemExit):
        out.say(f"the agent ended the process: sys.exit({result.error.code!r})")
    else:
        out.warn(agent_traceback(result.error))


def summary(result: RunResult) -> str:
    """One line: ``ok · 9 calls from the trace, 0 live · saved $0.0004``."""
    from workbench.trace.prices import spent_and_saved

    hows = [call.how for call in result.calls]
    counts = [
        f"{count(hows.count('replayed'), 'call')} from the trace",
        f"{hows.count('live')} live",
    ]
    if "edited" in hows:
        counts.append(f"{hows.count('edited')} edited")
    if "fault" in hows:
        counts.append(count(hows.count("fault"), "fault"))
    parts = [result.status, ", ".join(counts)]
    models = [call.how for call in result.calls if call.kind == "model"]
    spent, saved = spent_and_saved(result.trace)
    if "live" in models:
        known = spent.complete or spent.amount
        parts.append(f"spent {spent}" if known else "spent not known")
    if models and ("replayed" in models or "edited" in models):
        known = saved.complete or saved.amount
        parts.append(f"saved {saved}" if known else "saved not known")
    return " · ".join(parts)
