"""``workbench fork``: run an agent with a changed past, and live from a point on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from workbench.cli import choices
from workbench.cli import options as opt
from workbench.cli.agents import Given, agent_for, by_name, imported, shown_import_errors
from workbench.cli.asking import may_run
from workbench.cli.output import DIFFERENT, OK, Output, command
from workbench.errors import SimulatedCrash, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.cli.runs import Report
    from workbench.cli.watch import Watcher
    from workbench.seam.result import Plan, RunResult
    from workbench.trace.trace import Trace


_NOTHING_LIVE = "nothing expected live"


def fork_command(
    ctx: typer.Context,
    trace: opt.TraceFile,
    agent: opt.Agent = None,
    recorded_agent: opt.RecordedAgent = False,
    edit: opt.EditTexts = None,
    fault: opt.FaultTexts = None,
    live_from: opt.LiveFrom = None,
    force_live: opt.ForceLive = None,
    on_miss: opt.OnMissOption = None,
    tools_before: opt.ToolsBeforeOption = opt.ToolsBefore.replay,
    tools_after: opt.ToolsAfterOption = None,
    simulate: opt.SimulateTexts = None,
    ignore: opt.IgnoreTexts = None,
    ambient: opt.AmbientNames = None,
    setup: opt.Setup = None,
    secret: choices.SecretNames = None,
    release: choices.ReleaseOption = None,
    completion: choices.CompletionOption = choices.Completion.recorded,
    latency: choices.LatencyOption = "none",
    realtime: choices.Realtime = False,
    to: opt.ForkTo = None,
    name: opt.Name = None,
    replace: opt.Replace = False,
    plan: opt.PlanOnly = False,
    yes: opt.Yes = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Run an agent with a changed past: recorded answers up to a point, live from there on.

    The trace itself is never changed; what happens becomes a new one beside it.
    """
    with command(as_json=as_json, debug=debug) as out:
        job = _Job(out, trace, opt.read_changes(edit, fault, live_from, force_live, ignore))
        job.options["on_miss"] = None if on_miss is None else on_miss.value
        job.options["tools_before"] = tools_before.value
        job.options["tools_after"] = choices.tools_after(tools_after, simulate)
        job.where = {"to": to, "name": name, "replace": replace}
        job.serving = choices.serving(completion, latency, secret, realtime=realtime)
        job.serving["ambient"] = opt.read_ambient(ambient)
        job.serving["release"] = [each.value for each in release or ()]
        planned = job.planned(only=plan)
        with shown_import_errors(out):
            words = opt.agent_words(ctx)
            given = agent_for(job.trace, agent, words, "fork", recorded=recorded_agent)
            job.serving["setup"] = None if setup is None else imported(setup)
            job.serving["simulate"] = choices.read_simulate(simulate or ())
        raise typer.Exit(job.run(given, planned, sure=yes))


class _Job:
    """One fork, from the plan to the report."""

    def __init__(self, out: Output, path: str, options: dict[str, Any]) -> None:
        from workbench.trace.trace import load

        self.out = out
        self.trace: Trace = load(path)
        self.options = options
        """What is changed, and what the plan depends on."""
        self.serving: dict[str, Any] = {}
        """How the rest goes."""
        self.where: dict[str, Any] = {}

    def planned(self, *, only: bool) -> Plan:
        """Say what is going to happen.

        Raises:
            UsageError: the fork would change nothing.
            typer.Exit: that was ``only`` to be said.
        """
        from workbench.seam.forks import plan
        from workbench.trace.edits import Edits
        from workbench.trace.preview import preview_rows

        asked = ("edits", "faults", "live_from", "force_live", "on_miss")
        if not any(self.options[each] for each in asked):
            raise UsageError(
                "nothing is to be changed: give --edit, --fault, --live-from, --force-live or "
                f"--on-miss live (to run it as recorded: workbench replay {self.trace.path})"
            )
        known = {name: value for name, value in self.options.items() if name != "ignore"}
        planned = plan(self.trace, **known)
        planned = self._open_ended(planned)
        self.out.say(f"plan: {planned}")
        for row in preview_rows(Edits.of(self.trace, self.options["edits"] or ())):
            for warning in row["warnings"]:
                self.out.say(f"warning: {row['title']}: {warning}")
        if only:
            self.out.data({"command": "fork", "plan": planned.to_json()})
            raise typer.Exit(OK)
        return planned

    def _open_ended(self, planned: Plan) -> Plan:
        """The plan, with a word on what nobody can count: all after the end of a cut-off trace."""
        if self.trace.status != "cut short" or not self.may_go_live:
            return planned
        turns = len(self.trace.turns)
        where = f"at turn {turns}" if turns else "before its first turn"
        counted = [line for line in planned.lines if planned.live or line != _NOTHING_LIVE]
        unknown = f"the trace ends {where}: what comes after it is live, and how much is not known"
        return replace(planned, lines=(*counted, unknown))

    @property
    def may_go_live(self) -> bool:
        """Whether any call could run instead of being answered from the trace."""
        asked = self.options
        return bool(
            asked["on_miss"] in (None, "live")
            or asked["live_from"]
            or asked["force_live"]
            or asked["tools_before"] != "replay"
        )

    def run(self, given: Given, planned: Plan, *, sure: bool) -> int:
        """Do it and report on it; unless ``sure``, ask first."""
        from workbench.cli.crashed import report_crash
        from workbench.cli.runs import finish, run_watched
        from workbench.cli.watch import Watcher
        from workbench.seam.forks import fork

        writes, otherwise = self.options["tools_after"], ", or --plan to see what would happen"
        if not (sure or not self.may_go_live or may_run(writes, otherwise)):
            self.out.say("nothing was run")
            return DIFFERENT
        expected = planned.served + planned.rerun + planned.live
        watcher = Watcher(progress=True, expected=expected)
        kwargs = by_name(fork, given.kwargs)
        where = {**self.where, "to": Path(self.where["to"] or self._next())}

        def start() -> RunResult:
            return fork(
                given.agent,
                self.trace,
                *given.args,
                **self.options,
                **self.serving,
                **where,
                controller=watcher,
                **kwargs,
            )

        try:
            result = run_watched(self.out, watcher, start, where["to"])
        except SimulatedCrash as crash:
            return report_crash(self.out, crash, "fork", where["to"])
        return finish(self.out, result, given, self.trace, self._report(result, planned, watcher))

    def _report(self, result: RunResult, planned: Plan, watcher: Watcher) -> Report:
        from workbench.cli.runs import Report
        from workbench.cli.words import call_lines

        difference = self.trace.diff(result.trace)
        return Report(
            "fork",
            before=call_lines(
                result.calls,
                cut=self.options["live_from"] is not None,
                misses_live=self.options["on_miss"] == "live",
            ),
            after=[*_hints(result, watcher), difference.headline, f"→ {result.trace.path}"],
            data={"plan": planned.to_json(), "diff": difference.to_json()},
            same_output=False,
        )

    def _next(self) -> Path:
        from workbench.cli.record import next_free

        path = Path(self.trace.path or "run")
        stem = path.name.partition(".trace.jsonl")[0]
        for ending in (".jsonl", ".json", ".yaml", ".yml"):
            stem = stem.removesuffix(ending)
        return next_free(path.parent, stem, mark="-fork", digits=1)


def _hints(result: RunResult, watcher: Watcher) -> Sequence[str]:
    if result.status != "blocked":
        return []
    asked = ["nobody could be asked, since this is no terminal"] if watcher.unasked else []
    return [
        *asked,
        "let live writes run: --tools-after allow; be asked for each: --tools-after ask",
    ]
