"""``workbench replay``: run an agent again with every answer from its recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from workbench.cli import choices
from workbench.cli import options as opt
from workbench.cli.agents import Given, by_name, imported, named_agent, shown_import_errors
from workbench.cli.output import Output, command
from workbench.errors import SimulatedCrash, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from workbench.cli.watch import Watcher
    from workbench.seam.result import RunResult
    from workbench.trace.trace import Trace

_WHOLE = ("match", "resumes")
"""Options of a replay that serves everything, beside what it may share with a fork."""


def replay_command(
    ctx: typer.Context,
    trace: opt.TraceFile,
    agent: opt.Agent = None,
    recorded_agent: opt.RecordedAgent = False,
    lenient: opt.Lenient = False,
    match: choices.MatchOption = choices.Match.hash,
    completion: choices.CompletionOption = choices.Completion.recorded,
    tools: opt.ToolsOption = opt.ToolsBefore.replay,
    live_from: opt.LiveFrom = None,
    force_live: opt.ForceLive = None,
    tools_after: opt.ToolsAfterOption = None,
    simulate: opt.SimulateTexts = None,
    fault: opt.FaultTexts = None,
    resumes: choices.Resumes = None,
    ignore: opt.IgnoreTexts = None,
    ambient: opt.AmbientNames = None,
    setup: opt.Setup = None,
    secret: choices.SecretNames = None,
    latency: choices.LatencyOption = "none",
    realtime: choices.Realtime = False,
    to: opt.To = None,
    replace: opt.Replace = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Run an agent again: every answer from its recording, no network, no key, no cost.

    TRACE may be a recording written by hand, too (.yaml, .json). The agent's arguments are the
    recorded ones, or those after --.
    """
    with command(as_json=as_json, debug=debug) as out:
        options = opt.read_changes(None, fault, live_from, force_live, ignore)
        options |= {"on_miss": "placeholder" if lenient else "fail", "to": to, "replace": replace}
        options |= {
            "tools_before": tools.value,
            "tools_after": choices.tools_after(tools_after, simulate),
            "match": match.value,
            "resumes": resumes,
            "ambient": opt.read_ambient(ambient),
        }
        options |= choices.serving(completion, latency, secret, realtime=realtime)
        _check_whole(options)
        words = opt.agent_words(ctx)
        with shown_import_errors(out):
            opened, given = named_agent(trace, agent, words, "replay", recorded=recorded_agent)
            options["setup"] = None if setup is None else imported(setup)
            options["simulate"] = choices.read_simulate(simulate or ())
        raise typer.Exit(_run(out, opened, given, options, opt.own_words(ctx)))


def _check_whole(options: dict[str, Any]) -> None:
    """Refuse what only a replay can do that serves everything."""
    if not (options["live_from"] or options["force_live"]):
        return
    for name, given in (("--match position", options["match"] == "position"),
                        ("--resumes", options["resumes"] is not None)):  # fmt: skip
        if given:
            raise UsageError(
                f"{name} goes with a replay that serves everything: leave --live-from and "
                "--force-live out"
            )


def _run(
    out: Output, trace: Trace, given: Given, options: dict[str, Any], own: Sequence[str]
) -> int:
    from workbench.cli.crashed import report_crash, resuming
    from workbench.cli.runs import Report, finish, run_watched
    from workbench.cli.watch import Watcher

    live = bool(options["live_from"] or options["force_live"])
    watcher = Watcher(progress=live)
    run = (_partly_live if live else _offline)(trace, given, options, watcher)
    to = options["to"]
    try:
        result = run_watched(out, watcher, run, to)
    except SimulatedCrash as crash:
        then = None if to is None or live else resuming(own, given.words, to)
        return report_crash(out, crash, "replay", to, then)
    report = Report("replay", after=[] if to is None else [f"→ {to}"])
    return finish(out, result, given, trace, report)


def _offline(
    trace: Trace, given: Given, options: dict[str, Any], watcher: Watcher
) -> Callable[[], RunResult]:
    from workbench.seam.run import replay

    kwargs = by_name(replay, given.kwargs)
    known = {name: value for name, value in options.items() if name not in _LIVE}
    known["tools"] = known.pop("tools_before")
    return lambda: replay(given.agent, trace, *given.args, **known, controller=watcher, **kwargs)


_LIVE = ("edits", "live_from", "force_live")


def _partly_live(
    trace: Trace, given: Given, options: dict[str, Any], watcher: Watcher
) -> Callable[[], RunResult]:
    from workbench.seam.forks import fork

    kwargs = by_name(fork, given.kwargs)
    known = {name: value for name, value in options.items() if name not in _WHOLE}
    return lambda: fork(given.agent, trace, *given.args, **known, controller=watcher, **kwargs)
