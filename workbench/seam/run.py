"""``record`` and ``replay``, blocking and awaitable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

from workbench.errors import UsageError
from workbench.seam.agents import check_arguments, resolve
from workbench.seam.calls import OnMiss, Policy, ReplayMiss, ToolsAfter, ToolsBefore
from workbench.seam.opening import (
    ForkOptions,
    Ignore,
    Output,
    TraceLike,
    as_trace,
    input_of,
    open_fork,
    open_recording,
)
from workbench.seam.running import Run, acall_agent, call_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from workbench.seam.result import RunResult
    from workbench.seam.watching import Controller
    from workbench.trace.edits import Edit, Edits
    from workbench.trace.faults import Fault


def record(
    agent: Callable[..., Any] | str,
    *args: Any,
    to: str | Path | None = None,
    name: str | None = None,
    tags: Sequence[str] = (),
    replace: bool = False,
    durability: Literal["os", "fsync"] = "os",
    ignore: Ignore | None = None,
    controller: Controller | None = None,
    **kwargs: Any,
) -> RunResult:
    """Run an agent live and record all that it exchanges with the world.

    An agent that raises is recorded too: the result has ``status == "failed"`` and the error.

    Args:
        agent: a callable, sync or async, ``"module:function"``, or a script's path.
        *args: the agent's arguments; ``**kwargs`` its keyword arguments.
        to: the trace's file; by default the trace stays in memory.
        name: a name for people; by default the file's.
        tags: words to find it by.
        replace: replace a trace that is already there, once the new one is complete.
        durability: ``"os"`` survives the death of this process, ``"fsync"`` a power loss.
        ignore: JSON pointers into a request that do not count when it is looked up, per api.
        controller: who watches, and may cancel.

    Raises:
        UsageError: the agent is none, or is async where a loop is running.
        TraceExistsError: the file exists, and ``replace`` was not given.
    """
    options = dict(locals())
    run, function = _recording(
        agent,
        Output(to, name, tags, replace, durability),
        (args, kwargs),
        ignore,
        controller,
        options,
    )
    return call_agent(run, function, args, kwargs)


async def arecord(
    agent: Callable[..., Any] | str,
    *args: Any,
    to: str | Path | None = None,
    name: str | None = None,
    tags: Sequence[str] = (),
    replace: bool = False,
    durability: Literal["os", "fsync"] = "os",
    ignore: Ignore | None = None,
    controller: Controller | None = None,
    **kwargs: Any,
) -> RunResult:
    """:func:`record`, to be awaited where a loop is running."""
    options = dict(locals())
    run, function = _recording(
        agent,
        Output(to, name, tags, replace, durability),
        (args, kwargs),
        ignore,
        controller,
        options,
    )
    return await acall_agent(run, function, args, kwargs)


def replay(
    agent: Callable[..., Any] | str,
    trace: TraceLike,
    *args: Any,
    on_miss: ReplayMiss = "fail",
    tools: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    setup: Callable[[], Any] | None = None,
    realtime: bool = False,
    ignore: Ignore | None = None,
    to: str | Path | None = None,
    name: str | None = None,
    replace: bool = False,
    controller: Controller | None = None,
    **kwargs: Any,
) -> RunResult:
    """Run an agent again with every answer from its recording: no network, no key, no cost.

    Args:
        agent: as for :func:`record`.
        trace: what was recorded, or its file.
        *args: the agent's arguments; without any, the recorded ones.
        on_miss: what becomes of a call that is not in the recording: ``"fail"`` (strict),
            ``"placeholder"`` (lenient: answered as well as possible, with a notice).
        tools: ``"replay"`` serves recorded results and runs nothing; ``"live"`` runs the tools;
            ``"verify"`` runs them and compares.
        tools_after: tools that would run and write without a ``setup`` that made a world for them:
            ``"deny"`` (the run ends ``blocked``), ``"ask"`` the controller, or ``"allow"``.
        edits: changes to what was recorded.
        faults: failures to inject.
        setup: makes a fresh world for the run; a context manager that it gives is left at the end.
        realtime: really wait where the agent sleeps.
        ignore: further JSON pointers into requests that do not count, per api.
        to: a file for the trace of the replay; by default it stays in memory.

    Returns:
        A result whose ``status`` is ``"ok"``, ``"failed"`` (the agent raised, as recorded or not)
        or ``"drifted"`` (it left the recording; ``drift`` says where and how).
    """
    options = dict(locals())
    policy = replay_policy(
        on_miss, tools, tools_after, realtime=realtime, fresh_world=setup is not None
    )
    run, function, given = _replaying(
        agent,
        as_trace(trace),
        (args, kwargs),
        Output(to, name, (), replace),
        ForkOptions(edits, faults, policy=policy, ignore=ignore),
        controller,
        options,
    )
    return call_agent(run, function, *given, setup)


async def areplay(
    agent: Callable[..., Any] | str,
    trace: TraceLike,
    *args: Any,
    on_miss: ReplayMiss = "fail",
    tools: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    setup: Callable[[], Any] | None = None,
    realtime: bool = False,
    ignore: Ignore | None = None,
    to: str | Path | None = None,
    name: str | None = None,
    replace: bool = False,
    controller: Controller | None = None,
    **kwargs: Any,
) -> RunResult:
    """:func:`replay`, to be awaited where a loop is running."""
    options = dict(locals())
    policy = replay_policy(
        on_miss, tools, tools_after, realtime=realtime, fresh_world=setup is not None
    )
    run, function, given = _replaying(
        agent,
        as_trace(trace),
        (args, kwargs),
        Output(to, name, (), replace),
        ForkOptions(edits, faults, policy=policy, ignore=ignore),
        controller,
        options,
    )
    return await acall_agent(run, function, *given, setup)


def _recording(
    agent: Callable[..., Any] | str,
    output: Output,
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    ignore: Ignore | None,
    controller: Controller | None,
    options: dict[str, Any],
) -> tuple[Run, Callable[..., Any]]:
    function, info = resolve(agent)
    check_arguments(function, *arguments, record, options)
    setting = open_recording(info, output, arguments=arguments, ignore=ignore)
    return Run(setting, controller), function


def _replaying(
    agent: Callable[..., Any] | str,
    parent: Any,
    arguments: tuple[tuple[Any, ...], dict[str, Any]],
    output: Output,
    changes: ForkOptions,
    controller: Controller | None,
    options: dict[str, Any],
) -> tuple[Run, Callable[..., Any], tuple[tuple[Any, ...], dict[str, Any]]]:
    function, info = resolve(agent)
    given = input_of(parent, *arguments)
    check_arguments(function, *given, replay, options)
    setting, _ = open_fork(info, parent, output, changes, arguments=given)
    return Run(setting, controller), function, given


def replay_policy(
    on_miss: ReplayMiss,
    tools: ToolsBefore,
    tools_after: ToolsAfter,
    *,
    realtime: bool,
    fresh_world: bool = False,
) -> Policy:
    """The policy of a replay: nothing is asked of a model, and no tool writes unasked.

    Raises:
        UsageError: a choice is none.
    """
    if str(on_miss) == "live":  # what a checker refuses, a script may still say
        raise UsageError("a replay makes no live calls; for that there is workbench.fork(…)")
    policy = Policy(
        on_miss=on_miss,
        tools_before=tools,
        tools_after=tools_after,
        realtime=realtime,
        fresh_world=fresh_world,
    )
    return check_policy(policy)


def check_policy(policy: Policy) -> Policy:
    """The policy, once it is sure that each choice is one.

    Raises:
        UsageError: one is not; the text lists what is valid.
    """
    for name, valid in (
        ("on_miss", OnMiss),
        ("tools_before", ToolsBefore),
        ("tools_after", ToolsAfter),
    ):
        choices = get_args(valid)
        if getattr(policy, name) not in choices:
            raise UsageError(
                f"{name}={getattr(policy, name)!r}: choose one of "
                + ", ".join(repr(each) for each in choices)
            )
    return policy
