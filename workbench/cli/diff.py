"""``workbench diff``: what differs between two traces."""

from __future__ import annotations

from typing import Annotated

import typer

from workbench.cli.options import Debug, Json
from workbench.cli.output import DIFFERENT, OK, command


def diff_command(
    a: Annotated[str, typer.Argument(metavar="A", help="A trace file.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The one to compare it with.")],
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Compare two traces: first divergence, outcome, tools, cost, time, and turn by turn."""
    with command(as_json=as_json, debug=debug) as out:
        from workbench.trace.diff import diff
        from workbench.trace.trace import load

        found = diff(load(a), load(b))
        if not as_json:
            out.say(str(found))
        out.data({"command": "diff", **found.to_json()})
        raise typer.Exit(OK if found.same else DIFFERENT)
