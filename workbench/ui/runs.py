"""Running the agent beside the kernel: one daemon thread, its state told to the page.

A widget's callback must return at once, and a kernel that runs an agent must stay usable. So a
run has a thread of its own; what the page shows of it is sent at most ten times a second, and
the end of it twice, since a front end that is flooded drops messages in silence.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import UsageError
from workbench.seam.result import Controller
from workbench.ui.clips import clean, label, plain
from workbench.ui.page import IDLE
from workbench.ui.reports import failure_text, result_text

if TYPE_CHECKING:
    from workbench.seam.result import CallReport, Progress, Question, RunResult

EVERY_S = 0.1
"""Seconds between two messages of a run's state."""

AGAIN_S = 0.25
"""Seconds after which the final state is sent once more."""

TAIL = 8
"""Calls made last that the page shows."""


class Send(Protocol):
    """Sends the run's state as it then is."""

    def __call__(self, *, again: bool) -> None:
        """``again``: also when the page was told it before."""


Answer = Callable[["Question"], bool]
"""Decides on a live write in Python: true allows it."""

ENDINGS = {"ok": "done"}
"""The page's word for a status, where it differs."""


class Beat:
    """Sends the newest state at a bounded rate."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock = threading.RLock()
        self._last = 0.0
        self._timer: threading.Timer | None = None

    def changed(self) -> None:
        """The state is new: send it now, or when its time comes."""
        with self._lock:
            if self._timer is not None:
                return
            wait = self._last + EVERY_S - monotonic()
            if wait > 0:
                self._later(wait, again=False)
                return
            self._last = monotonic()
        self._send(again=False)

    def last(self) -> None:
        """The state is final: send it now, and once more a moment later."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._last = monotonic()
            self._later(AGAIN_S, again=True)
        self._send(again=False)

    def _later(self, wait: float, *, again: bool) -> None:
        self._timer = threading.Timer(wait, self._fire, (again,))
        self._timer.daemon = True
        self._timer.start()

    def _fire(self, again: bool) -> None:  # noqa: FBT001 - a timer passes no names
        with self._lock:
            if self._timer is not threading.current_thread():
                return
            self._timer = None
            self._last = monotonic()
        self._send(again=again)


class Run(Controller):
    """What the seam tells about a run, kept as the page's state."""

    def __init__(self, changed: Callable[[], None], expected: int, answer: Answer | None) -> None:
        super().__init__()
        self._changed = changed
        self._answer = answer
        self.cancelling = False
        self.done = 0
        self.expected = expected
        self.question: Question | None = None
        self.tail: deque[dict[str, Any]] = deque(maxlen=TAIL)

    def on_progress(self, progress: Progress) -> None:
        """A call ended."""
        self.done = progress.done
        self.expected = max(progress.expected, progress.done)
        self.tail.append(call_line(progress.call))
        self._changed()

    def on_question(self, question: Question) -> None:
        """A live write asks. It is answered in Python, or by whoever looks at the page."""
        if self._answer is None:
            self.question = question
            self._changed()
        elif self._answer(question):
            question.allow()
        else:
            question.deny()

    def settle(self, question_id: str, *, allow: bool) -> None:
        """Answer the question.

        Raises:
            UsageError: it is no longer asked.
        """
        question = self.question
        if question is None or str(question.id) != question_id:
            raise UsageError("this question is no longer asked: the run went on or ended")
        self.question = None
        if allow:
            question.allow()
        else:
            question.deny()
        self._changed()

    def stop(self) -> None:
        """Cancel at the next call; a question that is asked goes unanswered."""
        self.cancelling = True
        self.question = None
        self.cancel()
        self._changed()

    def state(self) -> dict[str, Any]:
        """The protocol's run object, while it runs."""
        state = "cancelling" if self.cancelling else "asking" if self.question else "running"
        message = "Waiting for the call in progress to end." if self.cancelling else ""
        return {
            "state": state,
            "done": self.done,
            "expected": self.expected,
            "message": message,
            "question": question_view(self.question) if self.question else None,
            "tail": list(self.tail),
        }


class Runner:
    """Runs one job at a time in a daemon thread."""

    def __init__(self, send: Send) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._run: Run | None = None
        self._ended: dict[str, Any] = dict(IDLE)
        self._beat = Beat(send)

    @property
    def busy(self) -> bool:
        """Whether a run is going on."""
        return self._run is not None

    def state(self) -> dict[str, Any]:
        """The protocol's run object."""
        run = self._run
        return dict(self._ended) if run is None else run.state()

    def start(
        self,
        job: Callable[[Controller], RunResult],
        done: Callable[[RunResult], None],
        *,
        expected: int,
        answer: Answer | None = None,
        times: int = 1,
    ) -> None:
        """Start a job. ``done`` gets its result, in the job's thread, before the page is told.

        With ``times`` the job is done that often, until one does not end with ``ok``.

        Raises:
            UsageError: another run is going on.
        """
        with self._lock:
            if self._run is not None:
                raise UsageError("a run is going on: wait for it to end, or cancel it first")
            run = self._run = Run(self._beat.changed, expected, answer)
            self._thread = threading.Thread(
                target=self._work, args=(run, job, done, times), name="workbench-run", daemon=True
            )
        self._beat.changed()
        self._thread.start()

    def cancel(self) -> None:
        """Stop the run at its next call.

        Raises:
            UsageError: nothing runs.
        """
        self._going().stop()

    def answer(self, question_id: str, *, allow: bool) -> None:
        """Answer the question that a live write asks.

        Raises:
            UsageError: nothing runs, or this is no longer asked.
        """
        self._going().settle(question_id, allow=allow)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the run has ended; false when it has not after ``timeout`` seconds."""
        thread = self._thread
        if thread is not None:
            thread.join(timeout)
            return not thread.is_alive()
        return True

    def _going(self) -> Run:
        run = self._run
        if run is None:
            raise UsageError("nothing runs")
        return run

    def _work(
        self,
        run: Run,
        job: Callable[[Controller], RunResult],
        done: Callable[[RunResult], None],
        times: int,
    ) -> None:
        try:
            result = job(run)
            done(result)
            for _ in range(times - 1):
                if result.status == "ok":
                    result = job(run)
                    done(result)
            state, message = ENDINGS.get(result.status, result.status), result_text(result)
        except BaseException as error:  # noqa: BLE001 - nobody stands above this thread to see it
            state, message = "failed", failure_text(error)
        self._ended = {
            "state": state,
            "done": run.done,
            "expected": run.expected,
            "message": message,
            "question": None,
            "tail": list(run.tail),
        }
        self._run = None
        self._beat.last()


def call_line(call: CallReport) -> dict[str, Any]:
    """A call as the run's tail shows it."""
    return {
        "turn": call.turn,
        "kind": call.kind,
        "name": label(call.name or "", 60),
        "how": call.how,
        "reason": call.reason,
        "summary": label(call.summary or ""),
    }


def question_view(question: Question) -> dict[str, Any]:
    """The protocol's question."""
    return {
        "id": str(question.id),
        "tool": question.tool,
        "arguments": plain(question.arguments),
        "key": question.key,
        "turn": question.turn,
        "text": clean(question.text),
    }
