"""``workbench record``: run a script or a function, and keep what it exchanged with the world."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from workbench.cli import options as opt
from workbench.cli.agents import Given, by_name, given_agent, shown_import_errors
from workbench.cli.output import DIFFERENT, INTERRUPTED, OK, Output, command, write

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
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Run an agent and keep all that it exchanges with the world in a trace.

    Not one line of it is changed. A function's arguments after -- are read as JSON where they are
    JSON, else as text; key=value gives one by name.
    """
    with command(as_json=as_json, debug=debug) as out:
        with shown_import_errors(out):
            given = given_agent(target, opt.agent_words(ctx), module=module)
        recording = _Recording(given, to, name, tag or [], replace=replace)
        try:
            with out.agent():
                result = recording.run()
        except KeyboardInterrupt:  # the trace has been ended properly
            if recording.path is None or not recording.path.exists():
                raise
            _report(out, recording.path, INTERRUPTED, None)
            raise typer.Exit(INTERRUPTED) from None
        raise typer.Exit(_finished(out, result))


class _Recording:
    """One recording, and where it goes."""

    def __init__(
        self, given: Given, to: str | None, name: str | None, tags: list[str], *, replace: bool
    ) -> None:
        self.given, self.to, self.name = given, to, name
        self.tags, self.replace = tags, replace
        self.path: Path | None = None
        """The trace's file, once it is settled."""

    def run(self) -> RunResult:
        """Record; without a path under the next free number, also when two start at once."""
        from workbench.errors import TraceExistsError

        if self.to is not None:
            path = Path(self.to)
            self.path = None if path.exists() and not self.replace else path
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
            name=self.name,
            tags=self.tags,
            replace=self.replace,
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


def _finished(out: Output, result: RunResult) -> int:
    """Report a recording that came to its end, and give the exit code."""
    from workbench.cli.words import agent_traceback
    from workbench.seam.agents import ScriptExit

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


def _report(out: Output, path: Path | None, code: int, trace: Trace | None) -> None:
    from workbench.cli.words import cost, count, error_data, seconds, stored_output, usd
    from workbench.trace.prices import total
    from workbench.trace.trace import load

    trace = trace or load(str(path))
    turns, tools = len(trace.turns), len(trace.tools())
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
