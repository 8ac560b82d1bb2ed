"""Which session a call belongs to, and where in the agent it was made.

The session is found by a context variable, so it flows into tasks and copied contexts. Threads
made without a context (a bare ``ThreadPoolExecutor``) have none: their calls belong to the one
session that is open in the process, and are refused when several are.
"""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar
from pathlib import Path
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Self
from weakref import WeakKeyDictionary

from pydantic import PrivateAttr

from workbench.errors import RunCancelled, UsageError
from workbench.seam.process_lock import ProcessLock
from workbench.trace.places import Place

if TYPE_CHECKING:
    from contextvars import Token
    from types import TracebackType

    from workbench.seam.drivers import Seam

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
        and not _module(thread).startswith(_NOT_AGENTS)
    ]
    _late.update(dict.fromkeys(left, seam))
    return left


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
    here = threading.current_thread()
    # Code from another context: a bare thread, or a task that was begun before the session. It
    # belongs to the one session that is open, but not the main thread's to a run beside it.
    theirs = [each for each in _open if here is not threading.main_thread() or each.thread is here]
    if len(theirs) == 1:
        return theirs[0]
    if theirs:
        raise UsageError(
            f"a call from {call_site() or 'a thread'} cannot be told apart: {len(theirs)} sessions "
            "are open and its thread has no context. Start the thread's work with "
            "contextvars.copy_context().run(…), or use asyncio.to_thread, which does that"
        )
    seam = seam or _late.get(here)
    if seam is not None and not seam.session.setting.recording:
        raise RunCancelled(
            f"a call from {call_site() or 'a thread'} came after its replay had ended, and was "
            "not made: wait for threads and tasks before the agent returns"
        )
    return None


def _module(thread: threading.Thread) -> str:
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
        if not (_foreign(name) if foreign is None else foreign):
            return frame
        frame = frame.f_back
    return None


_foreign_cache: dict[str, bool] = {}


def _foreign(name: str) -> bool:
    known = _foreign_cache.get(name)
    if known is None:
        known = _foreign_cache[name] = (
            name.startswith((_HERE, "<frozen", "<string>", sys.base_prefix + "/lib/python"))
            or "site-packages" in name
            or "dist-packages" in name
        )
    return known
