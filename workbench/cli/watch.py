"""Watching a run from a terminal: progress, the guard's questions, Ctrl-C."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from workbench.cli.output import clean, fitting, write
from workbench.cli.words import seconds
from workbench.seam.result import Controller
from workbench.trace.labels import clip

if TYPE_CHECKING:
    from workbench.seam.result import Progress, Question


_SLOW_S = 1.0
"""From here on a tool is worth a line of its own."""


def on_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> bool:
    """Ask on the terminal; only a clear yes is one."""
    sys.stderr.write(fitting(clean(question), sys.stderr.encoding) + " [y/N] ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer.endswith("\n"):
        sys.stderr.write("\n")
    return answer.strip().lower() in ("y", "yes")


class Watcher(Controller):
    """Shows a run on the terminal, and asks there before a live write."""

    def __init__(self, *, progress: bool, expected: int | None = None) -> None:
        super().__init__()
        self._bar = _bar(expected) if progress and sys.stderr.isatty() else None
        self.unasked = 0
        """Questions that were denied because nobody was there."""

    def on_progress(self, progress: Progress) -> None:
        """Show how far the run is."""
        if self._bar is not None:
            self._bar.show(progress)

    def on_question(self, question: Question) -> None:
        """Ask for a live write; without a terminal it is denied."""
        if not on_terminal():
            self.unasked += 1
            question.deny()
            return
        with self._bar.paused() if self._bar is not None else contextlib.nullcontext():
            turn = f"turn {question.turn}: " if question.turn else ""
            allowed = ask(f"{turn}{question.text}. Allow it?")
        if allowed:
            question.allow()
        else:
            question.deny()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """While the run lasts: the bar is shown, and the first Ctrl-C cancels the run."""
        with _cancelled_by_ctrl_c(self):
            if self._bar is None:
                yield
                return
            with self._bar.shown():
                yield


class TurnLines(Controller):
    """A line on the terminal for each turn that ends, and for each tool that took its time."""

    def on_progress(self, progress: Progress) -> None:
        """Say which turn ended: what the model did, and how long it took."""
        call = progress.call
        took = call.duration_s or 0.0
        if call.kind != "model" and took < _SLOW_S:
            return
        did = call.summary if call.kind == "model" else f"{call.name} ran"
        turn = f"turn {call.turn}" if call.turn else ""
        parts = [turn, clip(" ".join(did.split()), 40), seconds(took)]
        write(sys.stderr, " · ".join(part for part in parts if part))


@contextlib.contextmanager
def _cancelled_by_ctrl_c(controller: Controller) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def cancel(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the second one is not polite
        # In a thread, because this code may hold the very lock that cancelling takes.
        threading.Thread(target=controller.cancel, daemon=True).start()
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            signal.default_int_handler(number, frame)
        # In a loop the agent's task is cancelled, which lets it clean up.

    before = signal.signal(signal.SIGINT, cancel)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class _PlainBar:
    """A line for each call."""

    def show(self, progress: Progress) -> None:
        call = progress.call
        write(
            sys.stderr, f"  {progress.done}/{progress.expected} {call.name or call.kind} {call.how}"
        )

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        yield

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        yield


class _RichBar(_PlainBar):
    """One line that is drawn over and over, and gone at the end."""

    def __init__(self, rich_progress: Any, console: Any, expected: int | None) -> None:
        self._progress = rich_progress.Progress(
            rich_progress.TextColumn("{task.fields[count]}"),
            rich_progress.BarColumn(bar_width=20),
            rich_progress.TextColumn("{task.description}", markup=False),
            rich_progress.TimeElapsedColumn(),
            console=console,
            transient=True,
            # On one terminal, what the agent prints goes above the bar; elsewhere it is let alone.
            redirect_stdout=sys.stdout.isatty(),
            redirect_stderr=True,
        )
        count = f"0/{expected}" if expected else ""
        self._task = self._progress.add_task("starting", total=expected or None, count=count)

    def show(self, progress: Progress) -> None:
        call = progress.call
        words = clean(f"{call.name or call.kind} {call.how}")
        self._progress.update(
            self._task,
            completed=progress.done,
            total=progress.expected,
            description=words,
            count=f"{progress.done}/{progress.expected}",
        )

    @contextlib.contextmanager
    def shown(self) -> Iterator[None]:
        with self._progress:
            yield

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()


def _bar(expected: int | None) -> _PlainBar:
    try:
        from rich import console, progress
    except ImportError:
        return _PlainBar()
    return _RichBar(progress, console.Console(stderr=True), expected)
