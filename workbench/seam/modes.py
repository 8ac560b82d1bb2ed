"""Record modes: what becomes of a trace that is already there when an agent is recorded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from workbench.errors import TraceNotFoundError, UsageError
from workbench.seam.calls import Policy
from workbench.seam.opening import (
    ForkOptions,
    Ignore,
    Output,
    as_trace,
    check_not_replaying,
    open_fork,
    open_recording,
)
from workbench.seam.prepared import Prepared
from workbench.seam.running import Run
from workbench.trace.saving import has_content

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.seam.agentio.giving import Given
    from workbench.seam.watching import Controller
    from workbench.trace.entries import AgentInfo

Mode = Literal["none", "once", "new_episodes", "all"]


def prepare_mode(
    mode: Mode,
    function: Callable[..., Any],
    info: AgentInfo,
    given: Given,
    output: Output,
    ignore: Ignore | None,
    controller: Controller | None,
) -> Prepared:
    """A recording, or a replay of what is there, as the mode has it.

    Raises:
        UsageError: there is no such mode, no file was named, or ``replace`` was given too.
        TraceNotFoundError: nothing is to be recorded, and there is no trace.
    """
    if mode not in get_args(Mode):
        known = ", ".join(repr(each) for each in get_args(Mode))
        raise UsageError(f"mode={mode!r}: choose one of {known}")
    if output.to is None:
        raise UsageError(f"mode={mode!r} is about a trace that may be there already: say to=")
    if output.replace:
        raise UsageError(
            f"mode={mode!r} and replace=True both say what becomes of a trace that is there: give "
            'one of them (mode="all" replaces it)'
        )
    output.ambient = output.ambient or None  # unless it is asked for, as it was recorded
    path = Path(output.to)
    there = has_content(path)
    if mode == "none" and not there:
        raise TraceNotFoundError(f'{path}: there is no trace to replay, and mode="none" makes none')
    if mode == "all" or not there:
        output.replace = True
        check_not_replaying()
        setting = open_recording(info, output, arguments=given.kept, ignore=ignore)
        return Prepared(Run(setting, controller), function, *given.full)
    parent = as_trace(path)
    changes = ForkOptions(policy=Policy(), ignore=ignore, redact=output.own_rules)
    if mode == "new_episodes":
        output.replace = "unchanged"
        changes.policy = Policy(on_miss="live", tools_after="allow")
        changes.keeps = True
    else:
        output = Output()  # what is there stays as it is
    setting, _ = open_fork(info, parent, output, changes, arguments=given.kept)
    return Prepared(Run(setting, controller), function, *given.full)
