"""The command ``workbench`` and its subcommands."""

from __future__ import annotations

from typing import Annotated

import typer

from workbench.cli import (
    diff,
    edit_words,
    fault_words,
    fork,
    lab,
    rebuild,
    record,
    replay,
    scan,
    show,
    verify,
)
from workbench.cli.options import AgentCommand
from workbench.cli.output import OK, print_version

_EXIT_CODES = (
    "Exit codes: 0 ok; 1 drift, a difference, or a run that failed or was blocked; "
    "2 wrong use, or a file that cannot be read; 130 interrupted."
)

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    # Plain text: fast to load, and the same on every terminal and in every log.
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    epilog=_EXIT_CODES,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:  # noqa: FBT001 - what typer calls
    if asked:
        print_version()
        raise typer.Exit(OK)


@app.callback()
def _workbench(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Record, replay, fork and look at what an AI agent exchanges with the world."""


_RECORD_CODES = (
    "Exit codes: the script's own; 1 when it raised; 2 wrong use or unreadable input; "
    "130 interrupted. The trace is kept whatever happens."
)

_VERIFY_CODES = (
    "Exit codes: 0 no difference, 1 different, or a run that failed or was blocked; "
    "2 wrong use or unreadable input; 130 interrupted."
)

_REPLAY_CODES = (
    "Exit codes: 0 ok, or the script's own; 1 drift, or a run that failed or was blocked; "
    "2 wrong use, or a file that cannot be read; 130 interrupted."
)

_REPLAY_END = f"{fault_words.EXAMPLES}\n\n{_REPLAY_CODES}"
_FORK_END = f"{edit_words.EXAMPLES}\n\n{_REPLAY_END}"

app.command("record", cls=AgentCommand, epilog=_RECORD_CODES, short_help="Record a run.")(
    record.record_command
)
app.command("replay", cls=AgentCommand, epilog=_REPLAY_END, short_help="Run it again offline.")(
    replay.replay_command
)
app.command(
    "fork",
    cls=AgentCommand,
    epilog=_FORK_END,
    short_help="Change its past, and run on live.",
)(fork.fork_command)
app.command(
    "verify", cls=AgentCommand, epilog=_VERIFY_CODES, short_help="Replay it several times."
)(verify.verify_command)
app.command("rebuild", cls=AgentCommand, epilog=_EXIT_CODES, short_help="Make a fork again.")(
    rebuild.rebuild_command
)
app.command(
    "show",
    short_help="Look at a trace.",
    epilog="Exit codes: 0 ok, also when the run failed; 2 wrong use or unreadable input.",
)(show.show_command)
app.command(
    "diff",
    short_help="Compare two traces.",
    epilog="Exit codes: 0 the same, 1 different, 2 wrong use or unreadable input.",
)(diff.diff_command)
app.command(
    "lab",
    short_help="Open a trace in JupyterLab.",
    epilog="Exit codes: JupyterLab's own; 2 wrong use or unreadable input.",
)(lab.lab_command)
app.command(
    "scan",
    short_help="Look for secrets in files.",
    epilog="Exit codes: 0 none found, 1 found, 2 wrong use or a file that cannot be read.",
)(scan.scan_command)
