"""``workbench rebuild``: a fork made again from its parent, its edits, its cut and its options."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli import choices
from workbench.cli import options as opt
from workbench.cli.agents import Given, agent_for, by_name, imported, shown_import_errors
from workbench.cli.asking import may_run
from workbench.cli.output import DIFFERENT, Output, command
from workbench.errors import SimulatedCrash

if TYPE_CHECKING:
    from workbench.trace.recipe import Recipe
    from workbench.trace.trace import Trace


def rebuild_command(
    ctx: typer.Context,
    fork: Annotated[str, typer.Argument(metavar="FORK", help="A fork's or a replay's trace.")],
    agent: opt.Agent = None,
    recorded_agent: opt.RecordedAgent = False,
    parent: Annotated[
        str | None,
        typer.Option(
            "--parent", metavar="TRACE", help="What it was made from, if it lies elsewhere now."
        ),
    ] = None,
    tools_after: opt.ToolsAfterOption = None,
    simulate: opt.SimulateTexts = None,
    setup: opt.Setup = None,
    secret: choices.SecretNames = None,
    resumes: choices.Resumes = None,
    to: opt.To = None,
    name: opt.Name = None,
    replace: opt.Replace = False,
    yes: opt.Yes = False,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Make a fork again: the same parent, edits, cut, options and arguments.

    Given the same live answers it comes out the same, but for ids, times and salt. What differs is
    shown; only the run itself decides on the exit code.
    """
    with command(as_json=as_json, debug=debug) as out:
        from workbench.trace.trace import load

        made = load(fork)
        recipe = made.recipe()
        base = recipe.open_parent(parent)
        options: dict[str, Any] = {"to": to, "name": name, "replace": replace, "resumes": resumes}
        options["secrets"] = choices.read_secrets(secret or ())
        if tools_after is not None or simulate:
            options["tools_after"] = choices.tools_after(tools_after, simulate)
        with shown_import_errors(out):
            words = opt.agent_words(ctx)
            given = agent_for(made, agent, words, "rebuild", recorded=recorded_agent)
            options["setup"] = None if setup is None else imported(setup)
            options["simulate"] = choices.read_simulate(simulate or ())
        writes = options.get("tools_after", recipe.options.get("tools_after"))
        if not yes and _may_go_live(recipe) and not may_run(str(writes)):
            out.say("nothing was run")
            raise typer.Exit(DIFFERENT)
        raise typer.Exit(_run(out, made, base, given, options))


def _may_go_live(recipe: Recipe) -> bool:
    asked = recipe.options
    return bool(
        recipe.cut
        or asked.get("force_live")
        or asked.get("on_miss") == "live"
        or asked.get("tools_before", "replay") != "replay"
    )


def _run(out: Output, made: Trace, base: Trace, given: Given, options: dict[str, Any]) -> int:
    from workbench.cli.crashed import report_crash
    from workbench.cli.runs import Report, finish, run_watched
    from workbench.cli.watch import Watcher
    from workbench.seam.rebuilding import rebuild

    watcher, to = Watcher(progress=True), options["to"]
    kwargs = by_name(rebuild, given.kwargs)
    known = {**options, "parent": base, "controller": watcher, **kwargs}
    try:
        result = run_watched(
            out, watcher, lambda: rebuild(given.agent, made, *given.args, **known), to
        )
    except SimulatedCrash as crash:
        return report_crash(out, crash, "rebuild", to)
    difference = made.diff(result.trace)
    after = [f"beside {made.path}: {difference.headline}"] + ([f"→ {to}"] if to else [])
    data = {"diff": difference.to_json()}
    report = Report("rebuild", after=after, data=data, same_output=False)
    return finish(out, result, given, base, report)
