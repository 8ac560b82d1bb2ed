"""``workbench record``: run a script or a function, and keep what it exchanged with the world."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from workbench.cli import choices
from workbench.cli import options as opt
from workbench.cli.agents import Given, by_name, given_agent, shown_import_errors
from workbench.cli.output import DIFFERENT, INTERRUPTED, OK, Output, command, write
from workbench.cli.own import remember
from workbench.cli.parsing import read_ignore
from workbench.errors import SimulatedCrash, UsageError

if TYPE_CHECKING:
    from workbench.seam.result import RunResult
    from workbench.trace.trace import Trace

_FOLDER = "runs"


def record_command(
    ctx: typer.Context,
    target: opt.Target = None,
    module: opt.Module = None,
    to: opt.RecordTo = None,
    name: opt.Name = None,
    tag: opt.Tags = None,
    replace: opt.Replace = False,
    mode: choices.ModeOption = None,
    requests: choices.RequestsOption = choices.Requests.full,
    no_redact: choices.NoRedact = False,
    durability: choices.DurabilityOption = choices.Durability.os,
    ignore: opt.IgnoreTexts = None,
    ambient: opt.AmbientNames = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Run an agent and keep all that it exchanges with the world in a trace.

    Not one line of it is changed. A function's arguments after -- are read as JSON where they are
    JSON, else as text; key=value gives one by name.
    """
    with command(as_json=as_json, debug=debug) as out:
        options: dict[str, Any] = {"name": name, "tags": tag or [], "replace": replace}
        options |= {"requests": requests.value, "durability": durability.value}
        options |= {"redact": not no_redact, "ignore": read_ignore(ignore or ())}
        options["ambient"] = opt.read_ambient(ambient) or False
        options["mode"] = _mode(mode, to, replace=replace)
        _check_name(to, options["mode"])
        with shown_import_errors(out):
            given = given_agent(target, opt.agent_words(ctx), module=module)
        recording = _Recording(given, to, options)
        try:
            with out.agent():
                result = recording.run()
        except KeyboardInterrupt:  # the trace has been ended properly
            if recording.path is None or not recording.path.exists():
                raise
            _report(out, recording.path, INTERRUPTED, None)
            raise typer.Exit(INTERRUPTED) from None
        except SimulatedCrash as crash:  # written by hand into what was replayed
            from workbench.cli.crashed import report_crash

            raise typer.Exit(report_crash(out, crash, "record", None)) from None
        raise typer.Exit(_finished(out, result, given))


def _check_name(to: str | None, mode: str | None) -> None:
    """Refuse to write a trace under the name of a recording that is written by hand."""
    if to is None or Path(to).suffix.lower() not in (".yaml", ".yml", ".json"):
        return
    if mode == "none" or (mode == "once" and Path(to).exists()):
        return
    raise UsageError(
        f"--to {to}: a file of that name is a recording written by hand, and what is recorded is a "
        "trace: name it NAME.trace.jsonl (to replay one that is there: --mode none)"
    )


def _mode(mode: choices.Mode | None, to: str | None, *, replace: bool) -> str | None:
    if mode is None:
        return None
    if to is None:
        raise UsageError(
            f"--mode {mode.value} is about a trace that may be there already: say which, with --to"
        )
    if replace:
        raise UsageError(
            "--mode and --replace both say what becomes of a trace that is there: give one of them"
        )
    return mode.value


class _Recording:
    """One recording, and where it goes."""

    def __init__(self, given: Given, to: str | None, options: dict[str, Any]) -> None:
        self.given, self.to, self.options = given, to, options
        self.path: Path | None = None
        """The trace's file, once it is settled."""

    def run(self) -> RunResult:
        """Record; without a path under the next free number, also when two start at once."""
        from workbench.errors import TraceExistsError

        if self.to is not None:
            path = Path(self.to)
            anew = self.options["replace"] or self.options["mode"] in ("all", "new_episodes")
            self.path = None if path.exists() and not anew else path
            return self._record(path)
        while True:
            path = next_free(Path(_FOLDER), self.given.name)
            path.parent.mkdir(parents=True, exist_ok=True)
            self.path = path
            try:
                return self._record(path)
            except TraceExistsError:
                continue

    def _record(self, path: Path) -> RunResult:
        from workbench.cli.watch import TurnLines
        from workbench.seam.run import record

        given = self.given
        return record(
            given.agent,
            *given.args,
            to=path,
            **self.options,
            controller=TurnLines() if sys.stderr.isatty() else None,
            **by_name(record, given.kwargs),
        )


def next_free(folder: Path, name: str, mark: str = "-", digits: int = 2) -> Path:
    """``NAME-NN.trace.jsonl`` with the number after the highest that is there."""
    taken = [0]
    for path in folder.glob(f"{name}{mark}*.trace.jsonl*"):
        number = path.name.removeprefix(f"{name}{mark}").partition(".")[0]
        if number.isdecimal():
            taken.append(int(number))
    return folder / f"{name}{mark}{max(taken) + 1:0{digits}}.trace.jsonl"


def _finished(out: Output, result: RunResult, given: Given) -> int:
    """Report a recording that came to its end, and give the exit code."""
    from workbench.cli.words import agent_traceback
    from workbench.seam.scripts import ScriptExit

    if result.parent is not None:
        return _from_trace(out, result, given, result.parent)
    error = result.error
    code = OK
    if isinstance(error, ScriptExit):
        code = error.code
    elif isinstance(error, SystemExit):
        code = _exit_code(error)
    elif error is not None:
        out.warn(agent_traceback(error))
        code = DIFFERENT
    for notice in result.notices:
        out.warn(f"note: {notice}")
    _report(out, result.trace.path, code, result.trace)
    return code


def _from_trace(out: Output, result: RunResult, given: Given, parent: Trace) -> int:
    """Report on a run that a trace which was there already answered, all of it or in part."""
    from workbench.cli.runs import Report, finish

    path = result.trace.path
    after = f"replayed from {parent.path}; nothing was recorded" if path is None else f"→ {path}"
    return finish(out, result, given, parent, Report("record", after=[after]))


def _report(out: Output, path: Path | None, code: int, trace: Trace | None) -> None:
    from workbench.cli.words import cost, count, error_data, seconds, stored_output, usd
    from workbench.trace.prices import total
    from workbench.trace.toollists import called
    from workbench.trace.trace import load

    trace = trace or load(str(path))
    remember(trace.header)
    turns, tools = len(trace.turns), called(trace.tools())
    facts = [seconds(trace.elapsed_s)]
    if turns:
        facts.append(cost(total(trace)))
    ended = {"ok": "", "failed": "the agent failed · ", "cancelled": "interrupted · "}
    out.say(
        f"{ended.get(trace.status, f'{trace.status} · ')}recorded {count(turns, 'turn')}, "
        f"{count(tools, 'tool call')} → {path}   ({', '.join(facts)})"
    )
    error = error_data(trace)
    out.data(
        {
            "command": "record",
            "status": trace.status,
            "path": str(path),
            "turns": turns,
            "tool_calls": tools,
            "duration_s": trace.elapsed_s,
            "cost_usd": usd(total(trace)),
            "output": stored_output(trace),
            "error": error,
            "exit_code": code,
        }
    )


def _exit_code(stop: SystemExit) -> int:
    """The exit code of a function that ended the process; what Python would print is printed."""
    if stop.code is None or isinstance(stop.code, int):
        return int(stop.code or OK)
    write(sys.stderr, str(stop.code))
    return DIFFERENT
