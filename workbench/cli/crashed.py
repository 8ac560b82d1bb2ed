"""What is said when an injected crash ended a run: where its trace lies, and how to go on."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import DIFFERENT, Output

if TYPE_CHECKING:
    from workbench.errors import SimulatedCrash

_LEFT_OUT = ("--fault", "--to", "--resumes")
"""Options that the run which goes on does not have again, each with a value."""
_FLAGS = ("--replace", "--json", "--debug")


def report_crash(
    out: Output,
    crash: SimulatedCrash,
    name: str,
    path: Path | str | None,
    then: str | None = None,
) -> int:
    """Report on a run that an injected crash ended, and give the exit code.

    Args:
        out: the command's output.
        crash: what ended the run.
        name: the command's name.
        path: the file of its trace; None when it was not kept.
        then: the command that goes on from there, when there is one.
    """
    out.say(str(crash))
    if path is None:
        out.say(
            "its trace was not kept. To go on from there: give --to PATH, and then run it again "
            "with --resumes PATH"
        )
    else:
        out.say(f"its trace ends there, as that of a process that died → {path}")
    if then is not None:
        out.say(f"go on from there: {then}")
    calls = 0 if crash.trace is None else len(crash.trace.entries)
    out.data(
        {
            "command": name,
            "status": "crashed",
            "error": {"type": type(crash).__name__, "message": str(crash)},
            "entries": calls,
            "path": None if path is None else str(path),
            "next": then,
        }
    )
    return DIFFERENT


def resuming(own: Sequence[str], words: Sequence[str], path: Path | str) -> str:
    """The replay that goes on from a crash: the same command, with neither its faults nor its
    file.

    Args:
        own: the command's own words, without its name.
        words: the agent's, which stood after ``--``.
        path: the crashed run's trace.
    """
    kept, rest = [], iter(own)
    for word in rest:
        if word in _LEFT_OUT:
            next(rest, None)
        elif word not in _FLAGS and not word.startswith(tuple(f"{each}=" for each in _LEFT_OUT)):
            kept.append(word)
    after = ["--", *words] if words else []
    return shlex.join(["workbench", "replay", *kept, "--resumes", str(path), *after])
