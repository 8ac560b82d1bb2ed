"""``workbench replay``: run an agent again with every answer from its recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from workbench.cli import options as opt
from workbench.cli.agents import Given, by_name, imported, named_agent, shown_import_errors
from workbench.cli.output import Output, command

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.cli.watch import Watcher
    from workbench.seam.result import RunResult
    from workbench.trace.trace import Trace


def replay_command(
    ctx: typer.Context,
    trace: opt.TraceFile,
    agent: opt.Agent = None,
    recorded_agent: opt.RecordedAgent = False,
    lenient: opt.Lenient = False,
    tools: opt.ToolsOption = opt.ToolsBefore.replay,
    live_from: opt.LiveFrom = None,
    force_live: opt.ForceLive = None,
    tools_after: opt.ToolsAfterOption = opt.ToolsAfter.deny,
    fault: opt.FaultTexts = None,
    ignore: opt.IgnoreTexts = None,
    setup: opt.Setup = None,
    to: opt.To = None,
    replace: opt.Replace = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Run an agent again: every answer from its recording, no network, no key, no cost.

    The agent's arguments are the recorded ones, or those after --.
    """
    with command(as_json=as_json, debug=debug) as out:
        options = opt.read_changes(None, fault, live_from, force_live, ignore)
        options |= {"on_miss": "placeholder" if lenient else "fail", "to": to, "replace": replace}
        options |= {"tools_before": tools.value, "tools_after": tools_after.value}
        words = opt.agent_words(ctx)
        with shown_import_errors(out):
            opened, given = named_agent(trace, agent, words, "replay", recorded=recorded_agent)
            options["setup"] = None if setup is None else imported(setup)
        raise typer.Exit(_run(out, opened, given, options))


def _run(out: Output, trace: Trace, given: Given, options: dict[str, Any]) -> int:
    from workbench.cli.runs import Report, finish, run_watched
    from workbench.cli.watch import Watcher

    live = bool(options["live_from"] or options["force_live"])
    watcher = Watcher(progress=live)
    run = (_partly_live if live else _offline)(trace, given, options, watcher)
    to = options["to"]
    result = run_watched(out, watcher, run, to)
    report = Report("replay", after=[] if to is None else [f"→ {to}"])
    return finish(out, result, given, trace, report)


def _offline(
    trace: Trace, given: Given, options: dict[str, Any], watcher: Watcher
) -> Callable[[], RunResult]:
    from workbench.seam.run import replay

    kwargs = by_name(replay, given.kwargs)
    names = ("faults", "ignore", "on_miss", "setup", "to", "replace", "tools_after")
    known = {name: options[name] for name in names} | {"tools": options["tools_before"]}
    return lambda: replay(given.agent, trace, *given.args, **known, controller=watcher, **kwargs)


def _partly_live(
    trace: Trace, given: Given, options: dict[str, Any], watcher: Watcher
) -> Callable[[], RunResult]:
    from workbench.seam.forks import fork

    kwargs = by_name(fork, given.kwargs)
    return lambda: fork(given.agent, trace, *given.args, **options, controller=watcher, **kwargs)
