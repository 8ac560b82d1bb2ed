"""What begins while a session is open: threads and the work of pools, which belong to it, and other
processes, which no session reaches.

Python tells of processes by audit events; of threads it does not in all its versions, so that
their ``start`` is wrapped while a session is open. Nothing is done outside of sessions, and an
agent is never disturbed: a process that it starts is noted in the trace, with a warning.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TypeAlias

from workbench.errors import UnrecordedWarning
from workbench.seam import pools
from workbench.seam.current import ENCLOSING, any_open, begun, own_frame, whose
from workbench.seam.process_lock import ProcessLock

_Handler: TypeAlias = Callable[[str, tuple[Any, ...]], None]

_STARTERS = frozenset(
    {"subprocess", "os", "asyncio", "multiprocessing", "concurrent", "pty", "nt", "posix"}
)
"""Packages of Python's own that start a process for whoever asks."""
_lock = ProcessLock()
_listening = threading.Event()


def watch() -> None:
    """See to it that what begins is noticed, until :func:`unwatch`."""
    with _lock:
        if threading.Thread.start is _START:
            threading.Thread.start = _started  # type: ignore[assignment, method-assign]
        pools.hook()
        if not _listening.is_set():
            _listening.set()
            sys.addaudithook(functools.partial(_heard, _HANDLERS, any_open))


def unwatch() -> None:
    """A session has ended; after the last one threads begin as they did."""
    with _lock:
        if any_open():
            return
        if threading.Thread.start is _started:
            threading.Thread.start = _START  # type: ignore[method-assign]
        pools.unhook()


_START = threading.Thread.start


@functools.wraps(_START)
def _started(thread: threading.Thread) -> None:
    if any_open():
        begun(thread)
        pools.hook()  # it may be the first worker of a kind of pool that was just imported
    _START(thread)


def _heard(
    handlers: dict[str, _Handler],
    is_open: Callable[[], bool],
    event: str,
    args: tuple[Any, ...],
) -> None:
    """It is handed what it needs: a hook stays until the process ends, and this module's own names
    are gone before that."""
    handler = handlers.get(event)
    if handler is not None and is_open():
        handler(event, args)


def _process(event: str, args: tuple[Any, ...]) -> None:
    seam, frame = whose(), _starter()
    if seam is None or frame is None or ENCLOSING.get() is not None:
        return  # what a tool does is recorded as its result
    where = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
    text = f"starts another process ({_name(event, args)}): {_so(event, seam)}"
    here = seam.pid == os.getpid()  # a fork that is about to be another program has no trace
    if here and seam.beside("process", where, text):
        with contextlib.suppress(
            UnrecordedWarning, RuntimeWarning
        ):  # made an error: an agent is not disturbed
            warnings.warn_explicit(
                f"a call at {where} {text}",
                RuntimeWarning if event == "os.exec" else UnrecordedWarning,
                frame.f_code.co_filename,
                frame.f_lineno,
            )


def _so(event: str, seam: Any) -> str:
    if event == "os.exec":
        return "it takes the place of this one, and the trace ends here"
    if seam.recording:
        return "what that one asks of models and tools is not recorded"
    return "what that one asks of models and tools is live, and not from the recording"


def _spawned(event: str, args: tuple[Any, ...]) -> None:
    """A pipe to a process of multiprocessing is opened, which it starts without saying so."""
    if type(args[0]) is int and args[1] == "w":
        frame = sys._getframe(2)  # noqa: SLF001 - of the file's opening
        if str(frame.f_globals.get("__name__")).startswith("multiprocessing.popen_"):
            _process(event, args)


def _starter() -> FrameType | None:
    """The agent's own code that starts a process; None where a library does for itself."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - as in current.call_site
    while frame is not None:
        package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if package not in _STARTERS and frame.f_globals is not globals():
            break
        frame = frame.f_back
    return frame if frame is not None and own_frame(frame) else None


def _name(event: str, args: tuple[Any, ...]) -> str:
    """The program's name, and nothing of its arguments, which may hold a secret."""
    if event == "os.system":
        return "a shell"
    if event == "open":
        return "of multiprocessing"
    given = args[1] if event == "os.spawn" else args[0]
    if isinstance(given, list | tuple):
        given = given[0] if given else ""
    return Path(os.fsdecode(given)).name if given else "a program"


_HANDLERS: dict[str, _Handler] = {
    "subprocess.Popen": _process,
    "os.posix_spawn": _process,
    "os.spawn": _process,
    "os.exec": _process,
    "os.system": _process,
    "os.startfile": _process,
    "pty.spawn": _process,
    "open": _spawned,
}
