"""What ``replay`` and ``fork`` share: running an agent against a trace, and reporting on it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.hints import drift_text
from workbench.cli.output import DIFFERENT, INTERRUPTED, OK, Output, cli_words
from workbench.cli.own import remember
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

_CAME_OF = {
    "ok": "the agent went on",
    "drifted": "the agent left the recording (in a fork with this fault it runs on live)",
    "blocked": "the agent went on, until a live write was denied",
    "cancelled": "the run was cancelled",
}

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
    if result.trace.path is not None:
        remember(result.trace.header, given.folder)
    if result.drift is not None:
        out.say(drift_text(str(result.drift), given, parent))
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
    if result.fired:
        out.say(faults_hit(result))
    for line in report.after:
        out.say(line)
    data = {"command": report.command, **run_data(result)}
    data |= {"same_output": None if result.status != "ok" else not different}
    out.data(data | report.data)
    return _exit_code(result)


def _exit_code(result: RunResult) -> int:
    """A script's own where it gave one: whatever runs it sees what it would without us."""
    from workbench.seam.scripts import ScriptExit

    if result.status == "failed" and isinstance(result.error, ScriptExit):
        return int(result.error.code)
    known = {"ok": OK, "cancelled": INTERRUPTED}
    return known.get(result.status, DIFFERENT)


def _agent_said(out: Output, result: RunResult, given: Given) -> None:
    from workbench.seam.scripts import ScriptExit

    if result.status == "ok" and not given.is_script:
        stored = stored_output(result.trace)
        if stored is not None:
            out.say(pretty(stored))
    if result.error is None or result.status == "drifted":
        return
    if result.status in ("blocked", "cancelled"):
        out.say(cli_words(str(result.error)))
    elif isinstance(result.error, ScriptExit):
        out.say(str(result.error))
    elif isinstance(result.error, SystemExit):
        out.say(f"the agent ended the process: sys.exit({result.error.code!r})")
    else:
        out.warn(agent_traceback(result.error))


def faults_hit(result: RunResult) -> str:
    """What came of injected faults: ``1 fault hit: HTTP 429 at turn 3; the agent went on``."""
    from workbench.seam.scripts import ScriptExit

    calls = {call.entry: call for call in result.calls}
    hits = []
    for fault, entry in result.fired:
        call = calls.get(entry)
        where = [call.name] if call is not None and call.kind == "tool" else []
        where += [f"turn {call.turn}"] if call is not None and call.turn else []
        hits.append(" at ".join([fault.label, *([" in ".join(map(str, where))] if where else [])]))
    if result.status == "failed" and result.error is not None:
        code = f"exit code {result.error.code}" if isinstance(result.error, ScriptExit) else None
        came = f"the agent ended with {code or type(result.error).__name__}"
    else:
        came = _CAME_OF.get(result.status, f"the run is {result.status}")
    return f"{count(len(hits), 'fault')} hit: {', '.join(hits)}; {came}"


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
    if "simulated" in hows:
        counts.append(f"{hows.count('simulated')} simulated")
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
