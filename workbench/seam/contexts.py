"""The same as contexts: ``with recording(…)``, ``replaying(…)``, ``forking(…)``."""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import StopRun, UsageError
from workbench.seam.forks import fork_output, make_plan
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
from workbench.seam.policies import fork_policy, replay_policy
from workbench.seam.running import Ending, Run
from workbench.trace.entries import AgentInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from decimal import Decimal
    from pathlib import Path

    from workbench.seam.calls import (
        Call,
        Completion,
        Match,
        OnMiss,
        Released,
        ReplayMiss,
        ToolsAfter,
        ToolsBefore,
    )
    from workbench.seam.latency import Latency
    from workbench.seam.result import Plan, RunResult
    from workbench.seam.watching import Controller
    from workbench.trace.edits import Edit, Edits
    from workbench.trace.faults import Fault
    from workbench.trace.places import Place
    from workbench.trace.redaction import Redact, Secrets
    from workbench.trace.trace import Entry, Trace


class OpenRun:
    """A session that is open in a ``with`` block. Its result is there once the block has ended."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._result: RunResult | None = None

    @property
    def trace(self) -> Trace:
        """The trace as it is: what has happened until now."""
        if self._result is not None:
            return self._result.trace
        return self._run.setting.journal.trace()

    @property
    def plan(self) -> Plan | None:
        """A fork's plan."""
        return self._run.plan

    @property
    def result(self) -> RunResult:
        """How it went.

        Raises:
            UsageError: the block has not ended yet.
        """
        if self._result is None:
            raise UsageError("the result is there once the with block has ended")
        return self._result

    @property
    def spent(self) -> Decimal | None:
        """US dollars that live calls cost, as :attr:`RunResult.spent`, once the block has ended."""
        return self.result.spent

    @property
    def saved(self) -> Decimal | None:
        """US dollars that replayed calls did not cost again, once the block has ended."""
        return self.result.saved

    def active(self) -> AbstractContextManager[None]:
        """The block in which calls belong to this session."""
        return self._run.active()

    def end(self, ending: Ending) -> RunResult:
        """End the trace; called when the block is left."""
        self._result = self._run.close(ending)
        return self._result


@contextmanager
def recording(
    to: str | Path | None = None,
    *,
    name: str | None = None,
    tags: Sequence[str] = (),
    replace: bool = False,
    durability: Literal["os", "fsync"] = "os",
    requests: Literal["full", "hash"] = "full",
    steps: Steps | None = None,
    redact: Redact = True,
    ignore: Ignore | None = None,
    ambient: Ambient = False,
    controller: Controller | None = None,
) -> Iterator[OpenRun]:
    """Record all that the block exchanges with the world, not one line of the agent changed.

    The options are those of :func:`workbench.record`. For example::

        with workbench.recording("runs/refund.trace.jsonl") as run:
            answer("Order 101 arrived broken")
        print(run.trace.turns[-1].text, run.spent)

    An exception of the block is recorded, and goes on.

    Raises:
        TraceExistsError: the file exists, and ``replace`` was not given.
    """
    output = Output(to, name, tags, replace, durability, requests, redact, steps, ambient)
    check_not_replaying()
    setting = open_recording(AgentInfo(kind="code"), output, arguments=None, ignore=ignore)
    with _open(OpenRun(Run(setting, controller))) as run:
        yield run


@contextmanager
def replaying(
    trace: TraceLike,
    *,
    on_miss: ReplayMiss = "fail",
    match: Match = "hash",
    completion: Completion = "recorded",
    tools: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
    simulate: Mapping[str, Callable[..., Any]] | None = None,
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    resumes: TraceLike | None = None,
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
) -> Iterator[OpenRun]:
    """Answer all that the block asks of the world from a recording.

    The options are those of :func:`workbench.replay`. For a fresh world make it before the block.

    Raises:
        DriftError: at the block's end, when it did not do what was recorded.
    """
    policy = replay_policy(
        on_miss,
        tools,
        tools_after,
        match=match,
        completion=completion,
        latency=latency,
        realtime=realtime,
        simulate=simulate,
    )
    changes = ForkOptions(
        edits, faults, policy=policy, ignore=ignore, secrets=secrets, resumes=resumes, redact=redact
    )
    output = Output(to, name, (), replace, ambient=ambient)
    setting, _ = open_fork(AgentInfo(kind="code"), as_trace(trace), output, changes, arguments=None)
    with _open(OpenRun(Run(setting, controller))) as run:
        yield run
    run.result.raise_for_drift()


@contextmanager
def forking(
    trace: TraceLike,
    *,
    edits: Edits | Iterable[Edit] | None = None,
    faults: Iterable[Fault] = (),
    live_from: Place | Callable[[Entry], bool] | None = None,
    force_live: Sequence[Place] = (),
    on_miss: OnMiss | None = None,
    completion: Completion = "recorded",
    tools_before: ToolsBefore = "replay",
    tools_after: ToolsAfter = "deny",
    simulate: Mapping[str, Callable[..., Any]] | None = None,
    release: Iterable[Released] = (),
    secrets: Secrets = (),
    breakpoints: Sequence[Place | Callable[[Call], bool]] = (),
    latency: Latency | str | None = None,
    realtime: bool = False,
    redact: Redact = (),
    ignore: Ignore | None = None,
    ambient: Ambient = None,
    to: str | Path | None = None,
    name: str | None = None,
    replace: bool = False,
    controller: Controller | None = None,
) -> Iterator[OpenRun]:
    """Run the block with a changed past.

    The options are those of :func:`workbench.fork`. For a fresh world make it before the block.

    Raises:
        DriftError: at the block's end, when it left the recording where that was not allowed.
    """
    changes = ForkOptions(
        edits, faults, live_from, force_live, ignore=ignore, secrets=secrets, redact=redact
    )
    changes.policy = fork_policy(
        changes,
        on_miss,
        tools_before,
        tools_after,
        completion=completion,
        latency=latency,
        realtime=realtime,
        release=release,
        simulate=simulate,
        breakpoints=breakpoints,
    )
    parent = as_trace(trace)
    output = fork_output(parent, to, name, replace=replace, ambient=ambient)
    setting, checked = open_fork(AgentInfo(kind="code"), parent, output, changes, arguments=None)
    plan = make_plan(checked, setting.cut, changes.policy)
    with _open(OpenRun(Run(setting, controller, plan))) as run:
        yield run
    run.result.raise_for_drift()


@contextmanager
def _open(run: OpenRun) -> Iterator[OpenRun]:
    ending = Ending()
    try:
        with run.active():
            yield run
    except BaseException as error:
        ending.error = error
        stopped = isinstance(error, StopRun) or not isinstance(error, Exception)
        ending.status = "cancelled" if stopped else "failed"
        run.end(ending)
        raise
    run.end(ending)
