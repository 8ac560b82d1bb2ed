"""``workbench verify``: the same recording replayed several times, and every replay the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli import choices
from workbench.cli import options as opt
from workbench.cli.agents import Given, by_name, imported, named_agent, shown_import_errors
from workbench.cli.output import DIFFERENT, INTERRUPTED, OK, Output, cli_words, command
from workbench.cli.parsing import read_ignore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.seam.verifying import Verification
    from workbench.trace.trace import Trace

_REPLAY = re.compile(r"replay (\d+)")


def verify_command(
    ctx: typer.Context,
    trace: opt.TraceFile,
    agent: opt.Agent = None,
    recorded_agent: opt.RecordedAgent = False,
    runs: Annotated[int, typer.Option("--runs", metavar="N", min=1, help="How many replays.")] = 3,
    tools: opt.ToolsOption = opt.ToolsBefore.replay,
    tools_after: opt.ToolsAfterOption = None,
    simulate: opt.SimulateTexts = None,
    allow_failed: Annotated[
        bool,
        typer.Option(
            "--allow-failed", help="An agent that fails as it did when it was recorded is fine."
        ),
    ] = False,
    ignore: opt.IgnoreTexts = None,
    setup: opt.Setup = None,
    as_json: opt.Json = False,
    debug: opt.Debug = False,
) -> None:
    """Replay a recording several times, strictly, and compare: output, calls, events, readings.

    Each replay is compared with the recording and with the others. What the agent prints goes to
    standard error; each difference to standard output.
    """
    with command(as_json=as_json, debug=debug) as out:
        options: dict[str, Any] = {"runs": runs, "allow_failed": allow_failed, "tools": tools.value}
        options["tools_after"] = choices.tools_after(tools_after, simulate)
        options["ignore"] = read_ignore(ignore or ())
        words = opt.agent_words(ctx)
        with shown_import_errors(out):
            opened, given = named_agent(trace, agent, words, "verify", recorded=recorded_agent)
            options["setup"] = None if setup is None else imported(setup)
            options["simulate"] = choices.read_simulate(simulate or ())
        raise typer.Exit(_run(out, opened, given, options))


def _run(out: Output, trace: Trace, given: Given, options: dict[str, Any]) -> int:
    from workbench.cli.watch import Watcher
    from workbench.seam.run import replay
    from workbench.seam.verifying import verify

    by_name(verify, given.kwargs)
    kwargs = by_name(replay, given.kwargs)
    watcher = Watcher(progress=True)
    with out.agent(aside=True), watcher.watching():
        found = verify(given.agent, trace, *given.args, **options, controller=watcher, **kwargs)
    if watcher.cancelled:
        out.warn("workbench: interrupted")
        return INTERRUPTED
    return _report(out, found, given)


def _report(out: Output, found: Verification, given: Given) -> int:
    from workbench.cli.hints import drift_text
    from workbench.cli.words import count

    differences = [cli_words(drift_text(each, given, found.trace)) for each in found.differences]
    for each in _together(differences):
        out.say(each)
    for notice in dict.fromkeys(each for result in found.results for each in result.notices):
        out.say(f"note: {notice}")
    runs = len(found.results)
    verdict = count(len(differences), "difference") if differences else "no difference"
    calls = sorted({len(result.calls) for result in found.results})
    most = count(calls[-1], "call")
    each = most if len(calls) == 1 else f"{calls[0]:,} to {most}"
    out.say(f"{verdict} · {count(runs, 'replay')} of {found.trace.path}, {each} each")
    out.data(
        {
            "command": "verify",
            "path": str(found.trace.path),
            "ok": found.ok,
            "runs": [
                {"status": result.status, "calls": len(result.calls)} for result in found.results
            ],
            "differences": differences,
        }
    )
    return OK if found.ok else DIFFERENT


def _together(differences: Sequence[str]) -> list[str]:
    """What several replays have in common is said once."""
    found: dict[str, list[str]] = {}
    for each in differences:
        number = _REPLAY.match(each)
        rest = each if number is None else each[number.end() :]
        found.setdefault(rest, []).append("" if number is None else number[1])
    out = []
    for rest, numbers in found.items():
        word = "replay" if len(numbers) == 1 else "replays"
        out.append(f"{word} {', '.join(numbers)}{rest}" if all(numbers) else rest)
    return out
