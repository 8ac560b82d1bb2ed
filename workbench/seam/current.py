"""Which session a call belongs to, and where in the agent it was made.

The session is found by a context variable, so it flows into tasks and copied contexts. A thread
has a context of its own: it belongs to the session that it was begun in, and what one of Python's
pools is handed to that of who handed it over. Calls from anywhere else (a task from before, a
thread that takes its work out of a queue) are taken into the one session that is open, which says
so, and are refused when several are.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from contextvars import Context, ContextVar, copy_context
from functools import wraps
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar
from weakref import WeakKeyDictionary

from pydantic import PrivateAttr

from workbench.errors import RunCancelled, UsageError
from workbench.seam.process_lock import ProcessLock
from workbench.trace.places import Place

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextvars import Token
    from types import TracebackType

    from workbench.seam.drivers import Seam

P = ParamSpec("P")
R = TypeVar("R")

SEAM: ContextVar[Seam | None] = ContextVar("workbench_seam", default=None)
ENCLOSING: ContextVar[str | None] = ContextVar("workbench_enclosing", default=None)
LAST_MODEL: ContextVar[str | None] = ContextVar("workbench_last_model", default=None)
KEY: ContextVar[str | None] = ContextVar("workbench_key", default=None)
LIVE_WRITE: ContextVar[bool] = ContextVar("workbench_live_write", default=False)
COVERED: ContextVar[bool] = ContextVar("workbench_covered", default=False)
"""Whether a model call that is on the seam already is being made here: what an SDK sends for it
is the same call, and not another."""
COVERED_TOOL: ContextVar[str | None] = ContextVar("workbench_covered_tool", default=None)
"""The tool whose call is on the seam already and is being made here: what lies further in and has
that name (a function with ``@tool``, a call to a server) is the same call, and not another."""
_STEP: ContextVar[str] = ContextVar("workbench_step", default="")

_open: list[Seam] = []
_open_lock = ProcessLock()
_late: WeakKeyDictionary[threading.Thread, Seam] = WeakKeyDictionary()
"""Threads that were begun in a session and outlived it."""
_begun: WeakKeyDictionary[threading.Thread, Context] = WeakKeyDictionary()
"""Threads that were begun in a session, with the context that they were begun in."""

_NOT_AGENTS = ("concurrent.futures.thread", "workbench.")
_HERE = str(Path(__file__).resolve().parent.parent)


def opened(seam: Seam) -> None:
    """Note that a session is open in this process."""
    with _open_lock:
        _open.append(seam)


def closed(seam: Seam, threads_before: set[threading.Thread]) -> list[threading.Thread]:
    """Note that it no longer is, and give the threads that were begun in it and still run.

    Workers of pools are left out: they belong to whoever hands them work.
    """
    with _open_lock:
        if seam in _open:
            _open.remove(seam)
    left = [
        thread
        for thread in set(threading.enumerate()) - threads_before
        if type(thread) in (threading.Thread, threading.Timer)
        and not module_of(thread).startswith(_NOT_AGENTS)
        and (thread not in _begun or _begun[thread].get(SEAM) is seam)
    ]
    _late.update(dict.fromkeys(left, seam))
    return left


def any_open() -> bool:
    """Whether a session is open in this process."""
    return bool(_open)


def begun(thread: threading.Thread) -> None:
    """Note where a thread is begun, if that is inside a session: it belongs there, too."""
    seam = SEAM.get()
    if seam is not None and not seam.over:
        _begun[thread] = copy_context()
    else:
        outer = _begun.get(threading.current_thread())
        if outer is not None:
            _begun[thread] = outer


def taken_along(work: Callable[P, R]) -> Callable[P, R]:
    """What is handed to a pool here, to be done by a worker as a part of where it was handed over:
    of the same session, step and tool. Nothing else of the context is taken along."""
    if SEAM.get() is None and _begun:
        _adopted(threading.current_thread())
    seam = SEAM.get()
    if seam is None or seam.over:
        return work
    here = copy_context()

    @wraps(work)
    def done(*args: P.args, **kwargs: P.kwargs) -> R:
        variables: tuple[ContextVar[Any], ...] = (SEAM, COVERED, *_PLACES)
        tokens = [(each, each.set(here[each])) for each in variables if each in here]
        try:
            return work(*args, **kwargs)
        finally:
            for variable, token in tokens:
                variable.reset(token)

    return done


def current_seam() -> Seam | None:
    """The session's seam for a call made here and now; None outside any.

    Raises:
        UsageError: the call comes from a thread without a context while several sessions are
            open, so that it cannot be told whose it is.
        RunCancelled: the session that the calling code was begun in has ended, and it was no
            recording: what is left of a replay never goes live.
    """
    seam = SEAM.get()
    if seam is not None and not seam.over:
        return seam
    if not _open and seam is None and not _late:
        return None
    return _without_context(seam, threading.current_thread())


def whose() -> Seam | None:
    """The same as far as it can be told, and nothing is said where it cannot."""
    seam = SEAM.get()
    if seam is not None and not seam.over:
        return seam
    here = threading.current_thread()
    born = _born_in(here)
    theirs = _theirs(here)
    return born or (theirs[0] if len(theirs) == 1 else None)


def _without_context(ended: Seam | None, here: threading.Thread) -> Seam | None:
    """The session of a call from another context than that of any: a thread, or a task that was
    begun before. ``ended`` is the one that its own context belonged to."""
    born = _adopted(here)
    if born is not None:
        return born
    theirs = _theirs(here)
    if len(theirs) == 1:
        if ended is not None:  # ids of its trace are others in this one
            ENCLOSING.set(None)
            LAST_MODEL.set(None)
        theirs[0].beside("joined", call_site(), _joined(here))
        return theirs[0]
    if theirs:
        raise UsageError(
            f"a call from {call_site() or 'a thread'} cannot be told apart: {len(theirs)} sessions "
            "are open and its thread has no context. Hand its work over with workbench.bind(…), or "
            "use asyncio.to_thread, which does that"
        )
    seam = ended or _late.get(here)
    if seam is not None and not seam.recording:
        raise RunCancelled(
            f"a call from {call_site() or 'a thread'} came after its replay had ended, and was "
            "not made: wait for threads and tasks before the agent returns"
        )
    for each in tuple(_open):
        each.beside("outside", call_site(), _outside(each))
    return None


def _theirs(here: threading.Thread) -> list[Seam]:
    """The open sessions that code without a context may belong to: not the main thread's to a
    run beside it."""
    return [each for each in _open if here is not threading.main_thread() or each.thread is here]


def _born_in(here: threading.Thread) -> Seam | None:
    """The open session that a thread was begun in. A worker of a pool works for many: with
    several open it cannot be told for whom."""
    context = _begun.get(here)
    seam = context.get(SEAM) if context is not None else None
    if seam is None or seam.over:
        return None
    pooled = module_of(here).startswith(POOLS)
    return None if pooled and len(_open) > 1 else seam


def _adopted(here: threading.Thread) -> Seam | None:
    """The session that a thread was begun in, once the thread is where it was begun, too: in the
    same step and the same tool."""
    seam = _born_in(here)
    if seam is not None and not module_of(here).startswith(POOLS):
        context = _begun[here]
        SEAM.set(seam)
        for each in _PLACES:
            variable: ContextVar[Any] = each
            if variable in context:
                variable.set(context[variable])
    return seam


POOLS = ("concurrent.futures.thread", "multiprocessing.pool")
"""Modules whose threads wait for anybody's work."""
_PLACES = (ENCLOSING, LAST_MODEL, KEY, LIVE_WRITE, COVERED_TOOL, _STEP)


def _joined(here: threading.Thread) -> str:
    try:
        task = asyncio.current_task()
    except RuntimeError:
        task = None
    who = f"the thread {here.name}" if task is None else f"the task {task.get_name()}"
    return (
        f"was made in {who}, which was not begun by this run, and counts as a part of it. If it is "
        "the run's own, hand the work over with workbench.bind(…); if not, let nothing else run "
        "meanwhile"
    )


def _outside(seam: Seam) -> str:
    what = "is not in its trace" if seam.recording else "was not answered from the recording"
    return f"was made in the main thread, beside this run, which is in another: it {what}"


def module_of(thread: threading.Thread) -> str:
    """The module of the function that a thread runs; empty when it does not tell."""
    return str(getattr(getattr(thread, "_target", None), "__module__", ""))


def current_step() -> str:
    """The path of the step that the calling code is in; empty outside any."""
    return _STEP.get()


def idempotency_key() -> str | None:
    """Inside a tool that writes: the key of this very call; None elsewhere.

    Pass it to the system that is written to, so that a retry does not write twice. A fork's live
    write has a key of its own, never a recorded one.
    """
    return KEY.get()


class Step(Place):
    """A named part of an agent: a context while it runs, and a place in its trace."""

    _tokens: list[Token[str]] = PrivateAttr(default_factory=list)

    def __enter__(self) -> Self:
        if SEAM.get() is None and _begun:
            _adopted(threading.current_thread())
        outer = _STEP.get()
        path = f"{outer}/{self.value}" if outer else str(self.value)
        self._tokens.append(_STEP.set(path))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _STEP.reset(self._tokens.pop())


def step(name: str) -> Step:
    """A step: ``with step("plan"):`` names a part of an agent, ``live_from=step("plan")`` a place.

    Steps nest: inside ``plan``, ``step("draft")`` has the path ``plan/draft``. The name flows
    into tasks and into threads that copy the context.
    """
    if not isinstance(name, str) or not name:  # type: ignore[redundant-expr]
        raise UsageError(f"step({name!r}): a step is named by a string that is not empty")
    return Step(kind="step", value=name)


def call_site() -> str | None:
    """The line of the agent's own code that is making a call, such as ``refund.py:41``.

    The innermost frame that is neither ours nor of an installed package nor of Python's own.
    """
    frame = _frame(1)
    return None if frame is None else _text(frame.f_code, frame.f_lineno)


CodePlace = tuple[CodeType, int]
"""Some code, and a place in its instructions."""


def site(place: CodePlace | None) -> str | None:
    """A place in code as :func:`call_site` writes it."""
    if place is None:
        return None
    code, at = place
    lines = (line for begin, end, line in code.co_lines() if begin <= at < end)
    return _text(code, next(lines, None) or code.co_firstlineno)


def _text(code: CodeType, line: int) -> str:
    return f"{code.co_filename.rsplit('/', 1)[-1]}:{line}"


def call_place(above: int = 0) -> CodePlace | None:
    """Where :func:`call_site` looks; its text takes longer, and can be made later.

    Args:
        above: how many of our own calls are certainly around this one.
    """
    frame = _frame(1 + above)
    return None if frame is None else (frame.f_code, frame.f_lasti)


def _frame(above: int) -> FrameType | None:
    # The documented way costs ten times as much.
    frame: FrameType | None = sys._getframe(1 + above)  # noqa: SLF001
    known = _foreign_cache.get
    while frame is not None:
        name = frame.f_code.co_filename
        foreign = known(name)
        if not (is_foreign(name) if foreign is None else foreign):
            return frame
        frame = frame.f_back
    return None


def own_frame(frame: FrameType) -> bool:
    """Whether a frame is of the agent's own code."""
    return not is_foreign(frame.f_code.co_filename)


def caller() -> FrameType | None:
    """The innermost frame of the agent's own code."""
    return _frame(1)


_foreign_cache: dict[str, bool] = {}


def is_foreign(file: str) -> bool:
    """Whether a file is ours, of an installed package, or Python's own."""
    known = _foreign_cache.get(file)
    if known is None:
        known = _foreign_cache[file] = (
            file.startswith((_HERE, "<frozen", "<string>", sys.base_prefix + "/lib/python"))
            or "site-packages" in file
            or "dist-packages" in file
        )
    return known
