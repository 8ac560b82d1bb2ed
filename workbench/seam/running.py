"""Running an agent inside a session, and what comes of it."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.errors import (
    DriftError,
    RunBlocked,
    RunCancelled,
    SimulatedCrash,
    UnencodableError,
    UsageError,
)
from workbench.seam.begins import unwatch, watch
from workbench.seam.current import LAST_MODEL, SEAM, closed, opened
from workbench.seam.drivers import Seam
from workbench.seam.exceptions import describe
from workbench.seam.explain import leftovers
from workbench.seam.lazily import Later
from workbench.seam.result import Plan, RunResult
from workbench.seam.scripts import ScriptExit
from workbench.seam.session import Session
from workbench.seam.tape import leftover
from workbench.seam.watching import Controller
from workbench.trace.entries import EndLine, Status
from workbench.trace.losses import leaked
from workbench.trace.times import utc_now
from workbench.trace.toollists import OPENING
from workbench.trace.values import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.seam.setting import Setting


class AwaitNeededError(UsageError):
    """A blocking form was used for an async agent while a loop is running."""


@dataclass(slots=True)
class Ending:
    """How an agent's code ended."""

    status: Status = "ok"
    output: Any = None
    error: BaseException | None = None


class Run:
    """One open session: from its start to its result."""

    def __init__(
        self, setting: Setting, controller: Controller | None = None, plan: Plan | None = None
    ) -> None:
        self.setting = setting
        self.seam = Seam(Session(setting), controller)
        self.plan = plan
        if plan is not None:
            self.seam.expected = plan.served + plan.rerun + plan.live
        elif setting.parent is not None:
            self.seam.expected = sum(each.kind != "event" for each in setting.tape.entries)
        self._began = time.monotonic()
        self._result: RunResult | None = None

    @contextlib.contextmanager
    def active(self, agent: Callable[..., Any] | None = None) -> Iterator[None]:
        """Calls made in this block, here and in what flows from it, belong to this session.

        ``agent`` is who runs in it, if that is not the very code of the block.
        """
        with contextlib.ExitStack() as around:
            if self.setting.ambient:
                from workbench.seam.ambient import ambient

                around.enter_context(ambient(self.setting.ambient, agent, self.seam.note))
            around.enter_context(self._open())
            yield

    @contextlib.contextmanager
    def _open(self) -> Iterator[None]:
        before = set(threading.enumerate())
        opened(self.seam)
        watch()
        seam, last = SEAM.set(self.seam), LAST_MODEL.set(None)
        try:
            yield
        finally:
            left = closed(self.seam, before)
            unwatch()
            with contextlib.suppress(ValueError):  # left in another task than it was entered in
                SEAM.reset(seam)
                LAST_MODEL.reset(last)
            self.seam.end_streams()
            self.seam.over = True
            self.seam.release()
            waited_for = [thread for thread in left if not thread.daemon]
            if waited_for:
                names = ", ".join(sorted(thread.name for thread in waited_for))
                self.seam.session.ledger.note(
                    f"the agent ended before its threads did ({names}); what they do is not part "
                    "of this run"
                )

    def close(self, ending: Ending) -> RunResult:
        """End the trace and give the result."""
        if self._result is not None:
            return self._result
        session, setting = self.seam.session, self.setting
        if isinstance(session.stopped, SimulatedCrash):
            self._die(session.stopped)
        result = RunResult(
            status=_status(ending, session),
            output=ending.output,
            error=ending.error,
            drift=session.drift,
            calls=[],
            fired=setting.faults.fired,
            unfired=setting.faults.unfired(),
            notices=[*session.ledger.notices, *setting.notices],
            plan=self.plan,
            parent=setting.parent,
        )
        if session.stopped is not None and result.error is None:
            result.error = session.stopped
        if setting.parent is not None:
            _judge(result, session)
            if setting.keeps:
                self._keep(result)
        self._end(result)
        self._result = result
        return result

    def _die(self, crash: SimulatedCrash) -> NoReturn:
        """The process is said to have died: the trace ends as it would have, without an end."""
        self.setting.journal.close()
        crash.trace = self.setting.journal.trace()
        raise crash

    def _keep(self, result: RunResult) -> None:
        """What was recorded and not asked for this time stays in the trace."""
        readings = self.setting.pins.inside
        inside = [each for entry in result.leftover for each in readings.get(entry.id, ())]
        self.seam.session.tickets.inside.keep([*result.leftover, *inside], {})
        kept = len(result.leftover)
        if kept:
            result.notices.append(f"{kept} recorded calls were not made this time, and are kept")
        result.leftover = []

    def _end(self, result: RunResult) -> None:
        ledger = self.seam.session.ledger
        self.seam.session.tickets.inside.rest()
        result.calls = Later(lambda: ledger.reports(trace=result.trace))
        journal = self.setting.journal
        fields: dict[str, Any] = {
            "status": result.status,
            "at": utc_now(),
            "duration_s": round(time.monotonic() - self._began, 6),
            "counts": ledger.counts,
        }
        problem = result.drift if result.status == "drifted" else result.error
        if problem is not None:
            fields["error"] = describe(problem)
        if self.seam.notes:
            fields["notes"] = list(self.seam.notes)
        try:
            fields["output"] = encode(result.output, plain=True)
        except UnencodableError as error:
            result.notices.append(f"the output is not in the trace: {error}")
        journal.close(EndLine(**fields))
        result.notices += [str(each) for each in journal.errors]
        result.notices += [leaked(journal.findings)] if journal.findings else []
        # In memory nobody may ever look at it; a file may soon be replaced by another.
        result.trace = Later(journal.trace) if journal.path is None else journal.trace()


def _status(ending: Ending, session: Session) -> Status:
    if isinstance(session.stopped, RunBlocked):
        return "blocked"
    if isinstance(session.stopped, RunCancelled):
        return "cancelled"
    if session.drift is not None:
        return "drifted"
    return ending.status


def _judge(result: RunResult, session: Session) -> None:
    """A strict replay also fails for what did not happen."""
    setting = session.setting
    live = {e.id for e in session.tape.entries if session.cut.why(e) is not None}
    result.leftover = leftover(session.tape, live | setting.done_before())
    unapplied = [f"the edit of {each.label} was never reached" for each in setting.unapplied()]
    result.notices += unapplied
    result.notices += [
        f"the fault {fault.label} at {fault.aim} never fired" for fault in result.unfired
    ]
    if not session.policy.strict or result.drift is not None or result.status != "ok":
        return
    if unapplied:
        result.drift = DriftError("\n".join(unapplied))
    elif result.unfired:
        result.drift = DriftError(setting.faults.complaint())
    elif not result.fired and not setting.edits:
        missing = [each for each in result.leftover if each.name not in OPENING]
        result.drift = leftovers(missing) if missing else None
    if result.drift is not None:
        result.status = "drifted"


def call_agent(
    run: Run,
    agent: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    setup: Callable[[], Any] | None = None,
) -> RunResult:
    """Run an agent to its end, blocking; async agents in a loop of their own."""
    _check_blocking(agent)
    return contextvars.copy_context().run(_call, run, agent, args, kwargs, setup)


def _call(
    run: Run,
    agent: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    setup: Callable[[], Any] | None,
) -> RunResult:
    ending = Ending()
    with _world(run, setup), _judged(run, ending), run.active(agent):
        result = agent(*args, **kwargs)
        ending.output = _awaited(run, result) if inspect.isawaitable(result) else result
    return run.close(ending)


async def acall_agent(
    run: Run,
    agent: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    setup: Callable[[], Any] | None = None,
) -> RunResult:
    """Run an agent to its end inside the running loop; sync agents in a thread."""
    ending = Ending()
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    if task is not None:
        run.seam.controller.when_cancelled(lambda: _cancel(loop, task))
    with _world(run, setup), _judged(run, ending), run.active(agent):
        if inspect.iscoroutinefunction(agent) or _async_call(agent):
            ending.output = await agent(*args, **kwargs)
        else:
            result = await asyncio.to_thread(agent, *args, **kwargs)
            ending.output = await result if inspect.isawaitable(result) else result
    return run.close(ending)


@contextlib.contextmanager
def _judged(run: Run, ending: Ending) -> Iterator[None]:
    """Notes how the agent's code ended, and lets go on what is not the agent's own failure."""
    try:
        yield
    except BaseException as error:
        if not _caught(run, ending, error):
            run.seam.session.stop(RunCancelled("the run was cancelled"))  # for what still runs
            run.close(ending)
            raise


def _caught(run: Run, ending: Ending, error: BaseException) -> bool:
    """Note how the agent's code ended; False when the error must go on to the caller."""
    ending.error = error
    ending.status = "failed"
    stopped = run.seam.session.stopped
    if stopped is not None and _holds(error, stopped):
        ending.error = stopped
        return True
    if isinstance(error, asyncio.CancelledError) and run.seam.controller.cancelled:
        ending.error = stopped
        return True
    if isinstance(error, AwaitNeededError):
        return False
    if _holds(error, DriftError) and run.seam.session.drift is not None:
        ending.error = None
        return True
    if isinstance(error, ScriptExit):
        ending.output = error.output
    if isinstance(error, SystemExit):  # an agent that is a main() ends itself so
        ending.status = "ok" if error.code in (None, 0) else "failed"
        ending.error = None if ending.status == "ok" else error
        return True
    if isinstance(error, Exception):
        return True
    ending.status = "cancelled"
    return False


def _holds(error: BaseException, what: BaseException | type[BaseException]) -> bool:
    """Whether an error is that one, or of that type, or a group of a task group that holds it."""
    if isinstance(error, BaseExceptionGroup):
        return any(_holds(each, what) for each in error.exceptions)
    return isinstance(error, what) if isinstance(what, type) else error is what


def _awaited(run: Run, result: Any) -> Any:
    if _loop_runs():
        if inspect.iscoroutine(result):
            result.close()
        raise AwaitNeededError(_AWAIT)

    async def main() -> Any:
        task = asyncio.ensure_future(result)
        loop = asyncio.get_running_loop()
        run.seam.controller.when_cancelled(lambda: _cancel(loop, task))
        return await task

    return asyncio.run(main())


def _cancel(loop: asyncio.AbstractEventLoop, task: asyncio.Future[Any]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: the run is over already
        loop.call_soon_threadsafe(task.cancel)


def _made_world(setup: Callable[[], Any] | None) -> Any:
    made = setup() if setup is not None else None
    if inspect.isawaitable(made):
        if inspect.iscoroutine(made):
            made.close()
        raise UsageError("setup= is async, and would never run: give a function that is not")
    return made


@contextlib.contextmanager
def _world(run: Run, setup: Callable[[], Any] | None) -> Iterator[None]:
    """A fresh world for the run; a context manager is left again at its end.

    What ``setup`` raises is raised: the agent never began.
    """
    try:
        made = _made_world(setup)
    except BaseException as error:
        run.close(Ending("failed", error=error))
        raise
    if hasattr(made, "__enter__") and hasattr(made, "__exit__"):
        with made:
            yield
    else:
        yield


def _async_call(agent: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(getattr(agent, "__call__", None))  # noqa: B004


def _check_blocking(agent: Callable[..., Any]) -> None:
    if not (inspect.iscoroutinefunction(agent) or _async_call(agent)):
        return
    if _loop_runs():
        raise AwaitNeededError(_AWAIT)


_AWAIT = (
    "this agent is async and a loop is running here already (a notebook has one): "
    "use the awaitable form, such as  await workbench.areplay(…)"
)


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
