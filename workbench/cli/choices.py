"""The options of recording and of serving: modes, matching, order, waiting, secrets, stand-ins."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.cli.options import ToolsAfter
    from workbench.seam.latency import Latency

_NAME = re.compile("[A-Z]+(_[A-Z]+)+|[A-Z]{1,12}")
"""A variable's name that is surely no secret."""


class Mode(StrEnum):
    """What becomes of a trace that is already there."""

    none = "none"
    once = "once"
    new_episodes = "new_episodes"
    all = "all"


class Requests(StrEnum):
    """What is kept of what was asked."""

    full = "full"
    hash = "hash"


class Durability(StrEnum):
    """What a trace survives while it is written."""

    os = "os"
    fsync = "fsync"


class Match(StrEnum):
    """How a recorded call is found."""

    hash = "hash"
    position = "position"


class Completion(StrEnum):
    """The order in which calls that ran at once end."""

    recorded = "recorded"
    free = "free"


class Release(StrEnum):
    """What is read anew once a run is live."""

    clock = "clock"
    id = "id"
    random = "random"


ModeOption = Annotated[
    Mode | None,
    typer.Option(
        "--mode",
        help="What becomes of a trace that is there already (with --to). none: it is replayed, and "
        "nothing is recorded; once: the same, but recorded where there is none; new_episodes: what "
        "it has is served, what is new is recorded beside that; all: it is recorded anew.",
    ),
]
RequestsOption = Annotated[
    Requests,
    typer.Option(
        "--requests", help="What is kept of prompts and arguments. hash: nothing but their hashes."
    ),
]
NoRedact = Annotated[
    bool,
    typer.Option("--no-redact", help="Write secrets (keys, tokens, passwords) as they are."),
]
DurabilityOption = Annotated[
    Durability,
    typer.Option(
        "--durability",
        help="What the trace survives. os: the death of this process; fsync: a power loss, too.",
    ),
]
MatchOption = Annotated[
    Match,
    typer.Option(
        "--match",
        help="How a recorded call is found. hash: by what is asked; position: the next one of the "
        "trace, if it is this call.",
    ),
]
CompletionOption = Annotated[
    Completion,
    typer.Option(
        "--completion",
        help="Calls that ran at once end. recorded: in the recorded order; free: as they come.",
    ),
]
LatencyOption = Annotated[
    str,
    typer.Option(
        "--latency",
        metavar="MODEL",
        help="How long served answers take: none, recorded, constant:MS, or normal:MS[:SEED] "
        "(around MS milliseconds).",
    ),
]
Realtime = Annotated[bool, typer.Option("--realtime", help="Really wait where the agent sleeps.")]
SecretNames = Annotated[
    list[str] | None,
    typer.Option(
        "--secret",
        metavar="NAME",
        help="The environment variable that holds a secret which the trace does not, for calls "
        "that run live; repeatable.",
    ),
]
Resumes = Annotated[
    str | None,
    typer.Option(
        "--resumes",
        metavar="TRACE",
        help="The trace of a run that --fault crash ended: go on from there.",
    ),
]
ReleaseOption = Annotated[
    list[Release] | None,
    typer.Option(
        "--release",
        help="What is read anew once the run is live, instead of going on as recorded; repeatable.",
    ),
]


def serving(
    completion: Completion, latency: str, secrets: Sequence[str] | None, *, realtime: bool
) -> dict[str, Any]:
    """How recorded answers are served, as ``replay()`` and ``fork()`` take it.

    Raises:
        UsageError: one of the words is none of those that can be written there.
    """
    return {
        "completion": completion.value,
        "latency": read_latency(latency),
        "realtime": realtime,
        "secrets": read_secrets(secrets or ()),
    }


def read_latency(text: str) -> Latency | None:
    """A latency model; None for no waiting.

    Raises:
        UsageError: it is none.
    """
    from workbench.seam.latency import Latency

    model, *numbers = text.split(":")
    most = {"none": 0, "recorded": 0, "constant": 1, "normal": 2}
    if model not in most or len(numbers) > most[model] or (most[model] and not numbers):
        raise _no_latency(text)
    try:
        ms = float(numbers[0]) if numbers else 0.0
        seed = int(numbers[1]) if len(numbers) > 1 else 0
    except ValueError:
        raise _no_latency(text) from None
    if not (math.isfinite(ms) and ms >= 0):
        raise _no_latency(text)
    return Latency.of(Latency(model, ms, seed))  # type: ignore[arg-type]


def _no_latency(text: str) -> UsageError:
    return UsageError(
        f"--latency {text}: write none, recorded, constant:250 or normal:250:7 (milliseconds, and "
        "a seed that makes the waits the same in every run)"
    )


def read_secrets(names: Sequence[str]) -> dict[str, str]:
    """The values of environment variables, by their names.

    Raises:
        UsageError: one is not set, or is empty.
    """
    for name in names:
        if not os.environ.get(name):
            # What was written there may be the secret itself, so only what is none is shown.
            shown = name if _NAME.fullmatch(name) else "no variable of the given name"
            raise UsageError(
                "--secret takes the name of an environment variable that holds the secret, and "
                f"{shown} is {'set' if shown != name else 'not set'}"
            )
    return {name: os.environ[name] for name in names}


def read_simulate(texts: Sequence[str]) -> dict[str, Callable[..., Any]]:
    """The functions that stand in for tools, by the tools' names.

    Raises:
        UsageError: one is not of the form ``TOOL=MODULE:FUNCTION``, or there is no such function.
        AgentImportError: a module raised while it was imported.
    """
    from workbench.cli.agents import imported

    return {tool: imported(target) for tool, target in map(_stand_in, texts)}


def _stand_in(text: str) -> tuple[str, str]:
    tool, equals, target = text.partition("=")
    if not tool or not equals or ":" not in target:
        raise UsageError(f"--simulate {text}: write TOOL=MODULE:FUNCTION")
    return tool, target


def tools_after(chosen: ToolsAfter | None, simulated: Sequence[str] | None) -> str:
    """What becomes of live writes.

    Raises:
        UsageError: the choice and the stand-ins do not go together, or one cannot be read.
    """
    for text in simulated or ():
        _stand_in(text)
    if chosen is None:
        return "simulate" if simulated else "deny"
    if chosen.value == "simulate" and not simulated:
        raise UsageError(
            "--tools-after simulate: say what runs instead of each tool that writes, with "
            "--simulate TOOL=MODULE:FUNCTION"
        )
    if simulated and chosen.value != "simulate":
        raise UsageError(
            f"--simulate gives what runs instead of tools, and --tools-after {chosen.value} does "
            "not ask for it: leave one of them out"
        )
    return chosen.value
