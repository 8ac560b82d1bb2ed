"""What the commands' arguments and options have in common."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

Json = Annotated[
    bool,
    typer.Option("--json", help="Standard output holds one JSON document and nothing else."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
TraceFile = Annotated[str, typer.Argument(metavar="TRACE", help="A trace file.")]
Agent = Annotated[
    str | None,
    typer.Argument(metavar="AGENT", help="A script, or module:function.", show_default=False),
]
RecordedAgent = Annotated[
    bool,
    typer.Option("--recorded-agent", help="Run the agent that the trace names. It is your code."),
]
To = Annotated[str | None, typer.Option("--to", metavar="PATH", help="Where the new trace goes.")]
ForkTo = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="PATH",
        help="The fork's file; by default TRACE-fork1.trace.jsonl beside it.",
    ),
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a trace that is there.")]
LiveFrom = Annotated[
    str | None,
    typer.Option("--live-from", metavar="PLACE", help="Go live there: turn:5, step:x, entry:1-7."),
]
ForceLive = Annotated[
    list[str] | None,
    typer.Option(
        "--force-live", metavar="PLACE", help="One more place that runs live; repeatable."
    ),
]
FaultTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="FAULT",
        help="Inject a failure, TYPE[:VALUE][@AIM]: http_error:429@turn:2, as shown at the end of "
        "this help, or JSON; repeatable.",
    ),
]
IgnoreTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--ignore",
        metavar="API:/POINTER",
        help="A part of requests that does not count, openai.chat:/body/user; repeatable.",
    ),
]
Setup = Annotated[
    str | None,
    typer.Option("--setup", metavar="MODULE:FUNCTION", help="Makes a fresh world for the run."),
]


class ToolsBefore(StrEnum):
    """Recorded tool calls before the cut."""

    replay = "replay"
    verify = "verify"
    live = "live"


class ToolsAfter(StrEnum):
    """Live tool calls that write."""

    deny = "deny"
    ask = "ask"
    allow = "allow"
    simulate = "simulate"


class OnMiss(StrEnum):
    """A call that the recording does not have."""

    live = "live"
    fail = "fail"
    placeholder = "placeholder"


ToolsOption = Annotated[
    ToolsBefore,
    typer.Option(
        "--tools",
        help="Recorded tool calls. replay: serve the results; verify: run the tools, and compare; "
        "live: run the tools.",
    ),
]
ToolsBeforeOption = Annotated[
    ToolsBefore,
    typer.Option(
        "--tools-before",
        help="Recorded tool calls before the cut. replay: serve the results; verify: run the "
        "tools, and compare; live: run the tools.",
    ),
]
ToolsAfterOption = Annotated[
    ToolsAfter | None,
    typer.Option(
        "--tools-after",
        show_default="deny, or simulate with --simulate",
        help="Live tool calls that write. deny: end the run; ask: ask for each; allow: let them "
        "run; simulate: what --simulate names runs instead.",
    ),
]
OnMissOption = Annotated[
    OnMiss | None,
    typer.Option(
        "--on-miss",
        help="A call that the recording does not have. live: only what the edits change.",
    ),
]
EditTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--edit",
        metavar="FILE|JSON",
        help="What was said or returned instead: a JSON file, or JSON as shown at the end of this "
        "help; repeatable.",
    ),
]
PlanOnly = Annotated[bool, typer.Option("--plan", help="Say what would happen, and stop.")]
Yes = Annotated[
    bool,
    typer.Option(
        "--yes",
        "-y",
        help="Do not ask before calls go live. Without a terminal nothing is asked: calls go live "
        "as planned, but --tools-after allow needs this.",
    ),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="Answer changed calls as well as possible.")
]
Name = Annotated[str | None, typer.Option("--name", help="A name for people.")]
Tags = Annotated[list[str] | None, typer.Option("--tag", help="A word to find it by; repeatable.")]
Target = Annotated[
    str | None,
    typer.Argument(metavar="SCRIPT|MODULE:FUNCTION", help="What to run.", show_default=False),
]
Module = Annotated[
    str | None, typer.Option("-m", metavar="MODULE", help="Run a module, as python -m does.")
]
RecordTo = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="PATH", help="The trace's file; by default runs/NAME-01.trace.jsonl."
    ),
]

_OWN_MODULES = "*"
AmbientNames = Annotated[
    list[str] | None,
    typer.Option(
        "--ambient",
        metavar="[=MODULE]",
        help="Clocks, ids and random numbers that the agent's own modules (or MODULE; repeatable) "
        "read are part of the recording; a replay does as was recorded.",
    ),
]
_WORDS = "workbench.words"
_OWN = "workbench.own"


SimulateTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--simulate",
        metavar="TOOL=MODULE:FUNCTION",
        help="A function of yours that runs instead of a tool that would write live; repeatable.",
    ),
]


class AgentCommand(TyperCommand):
    """A command whose arguments after ``--`` are the agent's own, whatever they look like."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the agent's arguments aside; the rest are the command's."""
        own, words = list(args), []
        if "--" in own:
            at = own.index("--")
            own, words = own[:at], own[at + 1 :]
        ctx.meta[_WORDS], ctx.meta[_OWN] = words, list(own)
        own = [f"--ambient={_OWN_MODULES}" if word == "--ambient" else word for word in own]
        try:
            return list(super().parse_args(ctx, own))
        except _USAGE as error:
            if "No such option" in str(error.message) or "unexpected extra" in str(error.message):
                said = str(error.message).rstrip(".")
                error.message = f"{said}. The agent's own arguments go after --."
            raise

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line ends with the agent's arguments."""
        return [*super().collect_usage_pieces(ctx), "[-- ARGS...]"]


_USAGE: Any = typer.BadParameter.__mro__[1]
"""The class of all errors in a command line; the library has it under changing names."""


def agent_words(ctx: typer.Context) -> Sequence[str]:
    """What stood after ``--``."""
    words: Sequence[str] = ctx.meta.get(_WORDS, ())
    return words


def read_ambient(names: Sequence[str] | None) -> bool | list[str] | None:
    """What ``--ambient`` says: True, or names of modules; None when it is not there."""
    if not names:
        return None
    return True if _OWN_MODULES in names else list(names)


def own_words(ctx: typer.Context) -> Sequence[str]:
    """What stood before ``--``, without the command's name."""
    words: Sequence[str] = ctx.meta.get(_OWN, ())
    return words


def read_changes(
    edits: Sequence[str] | None,
    faults: Sequence[str] | None,
    live_from: str | None,
    force_live: Sequence[str] | None,
    ignore: Sequence[str] | None,
) -> dict[str, Any]:
    """What ``fork()`` takes, from the words that stand for it.

    Raises:
        UsageError: a word is none of those that can be written there.
    """
    from workbench.cli.edit_words import read_edits
    from workbench.cli.fault_words import read_fault
    from workbench.cli.parsing import read_ignore, read_place
    from workbench.trace.places import parse_place

    return {
        "edits": read_edits(edits or ()),
        "faults": [read_fault(each) for each in faults or ()],
        "live_from": read_place(live_from),
        "force_live": [parse_place(each) for each in force_live or ()],
        "ignore": read_ignore(ignore or ()),
    }
