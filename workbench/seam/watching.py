"""Who watches a run, answers its questions and may cancel it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.seam.asking import ask_in_terminal
from workbench.seam.process_lock import ProcessLock

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.seam.calls import CallReport, Question


class Controller:
    """Whoever watches one run: a notebook, a terminal. Override what you need.

    Its methods are called from the thread that makes the call in question, and what they raise is
    a notice of the result, never the agent's failure.
    """

    def __init__(self) -> None:
        self.cancelled = False
        self._on_cancel: list[Callable[[], None]] = []
        self._lock = ProcessLock()

    @property
    def listens(self) -> bool:
        """Whether it wants to know of each call."""
        return getattr(self.on_progress, "__func__", None) is not Controller.on_progress

    def on_progress(self, progress: Progress) -> None:
        """A call ended."""

    def on_question(self, question: Question) -> None:
        """A live write asks. Answer with ``question.allow()`` or ``.deny()``, now or later.

        Here it is asked on the terminal, or in the notebook's cell, if the run has one; else it is
        denied.
        """
        ask_in_terminal(question)

    def on_pause(self, question: Question) -> None:
        """The run came to a breakpoint. Answer as a question; here it goes on at once."""
        question.allow()

    def cancel(self) -> None:
        """End the run at its next call or chunk. Safe from any thread, any number of times."""
        with self._lock:
            self.cancelled = True
            todo, self._on_cancel = self._on_cancel, []
        for each in todo:
            each()

    def when_cancelled(self, do: Callable[[], None]) -> None:
        """Call ``do`` when the run is cancelled; at once if it already is."""
        with self._lock:
            if not self.cancelled:
                self._on_cancel.append(do)
                return
        do()

    def forget(self, do: Callable[[], None]) -> None:
        """No longer call ``do``."""
        with self._lock:
            self._on_cancel = [each for each in self._on_cancel if each != do]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is."""

    done: int
    """Calls that ended."""
    expected: int
    """Calls that are expected in all; a guess beyond the recording."""
    call: CallReport
    """The call that ended just now."""
