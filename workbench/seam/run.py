"""``record`` and ``replay``, blocking and awaitable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from workbench.seam.agentio.giving import given_to_record, given_to_replay
from workbench.seam.agents import check_arguments, resolve
from workbench.seam.modes import Mode, prepare_mode
from workbench.seam.opening import (
    Ambient,
    ForkOptions,
    Ignore,
    Output,
    Steps,
    TraceLike,
    as_trace,
    check_not_replaying,
    open_fork,
    open_recording,
)
from workbench.seam.policies import replay_policy
from workbench.seam.prepared import Prepared, awaitable, blocking
from workbench.seam.running import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from workbench.seam.calls import Completion, Match, ReplayMiss, ToolsAfter, ToolsBefore
    from workbench.seam.latency import Latency
    from workbench.seam.watching import Controller
    from workbench.trace.edits import Edit, Edits
    from workbench.trace.faults import Fault
    from workbench.trace.redaction import Redact, Secrets


def _record(
    agent: Callable[..., Any] | str,
    *args: Any,
    to: str | Path | None = None,
    name: str | None = None,
    tags: Sequence[str] = (),
    replace: bool = False,
    mode: Mode | None = None,
    durability: Literal["os", "fsync"] = "os",
    requests: Literal["full", "hash"] = "full",
    steps: Steps | None = None,
    redact: Redact = True,
    ignore: Ignore | None = None,
    ambient: Ambient = False,
    controller: Controller | None = None,
    **kwargs: Any,
) -> Prepared:
    """Run an agent live and record all that it exchanges with the world.

    An agent that raises is recorded too: the result has ``status == "failed"`` and the error.

    Args:
        agent: a callable, sync or async, ``"module:function"``, or a script's path.
        *args: the agent's arguments; ``**kwargs`` its keyword arguments.
        to: the trace's file; by default the trace stays in memory.
        name: a name for people; by default the file's.
        tags: words to find it by.
        replace: replace a trace that is already there, once the new one is complete; not with
            ``mode``.
        mode: what becomes of a trace that is already there: ``"none"``: it is replayed, and
            nothing is recorded; ``"once"``: it is replayed, and recorded where there is none;
            ``"new_episodes"``: what it has is served, what is new is recorded beside that;
            ``"all"``: it is recorded anew.
        durability: ``"os"`` survives the death of this process, ``"fsync"`` a power loss.
        requests: ``"hash"`` keeps hashes instead of prompts and arguments.
        steps: which steps depend on which, such as ``{"plan": [], "write": ["plan"]}``: a fork that
            is live from a step is live in those that depend on it too.
        redact: takes secrets out of what is written: True (the built-in rules), False, or a list
            of further rules (:mod:`workbench.trace.redaction`).
        ignore: JSON pointers into a request that do not count when it is looked up, per api, such
            as ``{"openai.chat": ["/body/user"]}``.
        ambient: whether clocks, ids and random numbers that the agent's own modules read by
            ``time``, ``datetime``, ``uuid``, ``random`` and ``secrets`` are recorded: True, or
            names of modules.
        controller: who watches, and may cancel.

    Returns:
        A result whose ``status`` is ``"ok"``, ``"failed"`` (the agent raised) or ``"cancelled"``;
        with a ``mode`` that serves what is there, also those of :func:`replay`.

    Raises:
        UsageError: the agent is none, an option is none, or the agent is async where a loop is
            running.
        TraceExistsError: the file exists, and neither ``replace`` nor ``mode`` was given.
        TraceNotFoundError: ``mode="none"``, and there is no trace.
    """
    options = dict(locals())
    function, info = resolve(agent)
    given = given_to_record(function, info, args, kwargs)
    check_arguments(function, *given.full, record, options)
    output = Output(to, name, tags, replace, durability, requests, redact, steps, ambient)
    if mode is not None:
        return prepare_mode(mode, function, info, given, output, ignore, controller)
    check_not_replaying()
    setting = open_recording(info, output, arguments=given.kept, ignore=ignore)
    return Prepared(Run(setting, controller), function, *given.full)


def _replay(
    agent: Callable[..., Any] | str,
    trace: TraceLike,
    *args: Any,
    on_miss: ReplayMiss = "fail",
    match: Match = "hash",
    completion: Completion = "recorded",
    tools: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
    simulate: Mapping[str, Callable[..., Any]] | None = None,
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    resumes: TraceLike | None = None,
    setup: Callable[[], Any] | None = None,
    secrets: Secrets = (),
    latency: Latency | str | None = None,
    realtime: bool = False,
    redact: Redact = (),
    ignore: Ignore | None = None,
    ambient: Ambient = None,
    to: str | Path | None = None,
    name: str | None = None,
    replace: bool = False,
    controller: Controller | None = None,
    **kwargs: Any,
) -> Prepared:
    """Run an agent again with every answer from its recording: no network, no key, no cost.

    Args:
        agent: as for :func:`record`.
        trace: what was recorded, or its file.
        *args: the agent's arguments, ``**kwargs`` its keyword arguments; without any, the
            recorded ones.
        on_miss: what becomes of a call that is not in the recording: ``"fail"`` (strict),
            ``"placeholder"`` (lenient: answered as well as possible, with a notice).
        match: how a recorded call is found: ``"hash"``: the first one with this very request that
            was not served yet; ``"position"``: the next one of the whole trace, if it is this call.
        completion: ``"recorded"``: calls that ran at once end in the order in which they ended
            then; ``"free"``: as they come.
        tools: ``"replay"`` serves recorded results and runs nothing; ``"live"`` runs the tools;
            ``"verify"`` runs them and compares.
        tools_after: tools that would run and write without a ``setup`` that made a world for them:
            ``"deny"`` (the run ends ``blocked``), ``"ask"`` the controller, ``"allow"``, or
            ``"simulate"``: the function of that name in ``simulate`` runs instead.
        simulate: functions that stand in for tools that write, by the tool's name.
        edits: changes to what was recorded.
        faults: failures to inject.
        resumes: the trace of a run that an injected crash ended: what that one did is not asked
            for again, and writes carry its keys.
        setup: makes a fresh world for the run; a context manager that it gives is left at the end.
        secrets: what stands behind the placeholders of redacted secrets, for tools that run.
        latency: how long served answers take: ``"recorded"`` or a :class:`Latency`; none else.
        realtime: really wait where the agent sleeps.
        redact: the trace's own rules of redaction that are not built in. Whether anything is
            redacted is as it was recorded.
        ignore: further JSON pointers into requests that do not count, per api.
        ambient: as for :func:`record`; by default as it was recorded.
        to: a file for the trace of the replay; by default it stays in memory.
        name: a name for people; by default the file's, else the agent's.
        replace: replace a trace that is already there, once the new one is complete.
        controller: who watches, answers and may cancel.

    Returns:
        A result whose ``status`` is ``"ok"``, ``"failed"`` (the agent raised, as recorded or not),
        ``"drifted"`` (it left the recording; ``drift`` says where and how), ``"blocked"`` (a tool
        that runs was not allowed to write) or ``"cancelled"``.

    Raises:
        EditError: an edit does not fit the trace.
        PlaceError: the trace has no such place.
        UsageError: an option is none, or the options do not go together.
        TraceNotFoundError, TraceFormatError: the trace cannot be read.
        SimulatedCrash: an injected crash ended the run; its ``trace`` is what there is of it.
    """
    options = dict(locals())
    parent = as_trace(trace)
    policy = replay_policy(
        on_miss,
        tools,
        tools_after,
        match=match,
        completion=completion,
        latency=latency,
        realtime=realtime,
        simulate=simulate,
        fresh_world=setup is not None,
    )
    function, info = resolve(agent)
    given = given_to_replay(function, info, parent, args, kwargs)
    check_arguments(function, *given.full, replay, options)
    changes = ForkOptions(
        edits, faults, policy=policy, ignore=ignore, secrets=secrets, resumes=resumes, redact=redact
    )
    output = Output(to, name, (), replace, ambient=ambient)
    setting, _ = open_fork(info, parent, output, changes, arguments=given.kept)
    return Prepared(Run(setting, controller), function, *given.full, setup)


record = blocking(_record)
arecord = awaitable(_record)
replay = blocking(_replay)
areplay = awaitable(_replay)
