"""``workbench show``: a run at a glance, one turn of it, or one entry."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.cli.options import Debug, Json, TraceFile
from workbench.cli.output import Output, command, write
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.trace.trace import Trace


def show_command(
    trace: TraceFile,
    turn: Annotated[
        int | None, typer.Option("--turn", metavar="N", help="One turn in detail.")
    ] = None,
    entry: Annotated[
        str | None, typer.Option("--entry", metavar="ID", help="One entry in detail.")
    ] = None,
    html: Annotated[
        str | None, typer.Option("--html", metavar="FILE", help="Write a page that stands alone.")
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Requests and responses whole, one JSON line an entry.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the page that is there.")
    ] = False,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what is in a trace: how the run ended, what is wrong in it, and its turns."""
    with command(as_json=as_json, debug=debug) as out:
        from workbench.trace.trace import load

        if turn is not None and entry is not None:
            raise UsageError("give --turn or --entry, not both")
        opened = load(trace)
        if html is not None:
            _page(out, opened, Path(html), replace=replace)
        elif raw:
            _raw(opened, turn, entry)
        else:
            _show(out, opened, turn, entry)


def _show(out: Output, trace: Trace, turn: int | None, entry: str | None) -> None:
    from workbench.cli import details, overview

    if turn is not None:
        found = trace.turn(turn)
        data: dict[str, Any] = {"turn": details.turn_data(found)} if out.as_json else {}
        lines = [] if out.as_json else details.turn_lines(found)
    elif entry is not None:
        one = trace.entry(entry)
        data = {"entry": details.entry_data(one)} if out.as_json else {}
        lines = [] if out.as_json else details.entry_lines(one)
    else:
        data = overview.data(trace) if out.as_json else {}
        lines = [] if out.as_json else overview.lines(trace)
    out.data({"command": "show", **data})
    if lines:
        out.say("\n".join(lines))


def _raw(trace: Trace, turn: int | None, entry: str | None) -> None:
    import json
    import sys

    from workbench.cli.details import entry_data

    if turn is not None:
        entries: Any = trace.turn(turn).entries
    else:
        entries = trace.entries if entry is None else [trace.entry(entry)]
    for each in entries:
        write(sys.stdout, json.dumps(entry_data(each)))


def _page(out: Output, trace: Trace, path: Path, *, replace: bool) -> None:
    from workbench.ui.static_view import to_html

    text = to_html(trace)
    try:
        with path.open("w" if replace else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise UsageError(f"{path} exists already; give another name, or --replace") from None
    out.say(f"→ {path}")
    out.data({"command": "show", "html": str(path)})
