"""A session with what it needs around it, and what adapters bring to it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections import deque
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import DriftError, RunCancelled, StopRun, UsageError
from workbench.seam.calls import (
    MISSING,
    Call,
    Decision,
    Fail,
    Hold,
    Outcome,
    Question,
    Serve,
    Served,
    Ticket,
    Verdict,
)
from workbench.seam.process_lock import ProcessLock
from workbench.seam.watching import Controller, Progress
from workbench.trace.entries import ErrorInfo

if TYPE_CHECKING:
    from workbench.seam.session import Session
    from workbench.trace.entries import Ended


class Hooks(Protocol):
    """What an adapter knows of one call of its SDK. Made anew for each call."""

    def perform(self, request: Any) -> Any:
        """Make the call for real (the async driver awaits what comes back)."""

    def outcome(self, result: Any) -> Outcome:
        """Read a finished result."""

    def failure(self, error: BaseException) -> Outcome:
        """Read an exception that :meth:`perform` raised."""

    def exception(self, info: ErrorInfo) -> BaseException:
        """The SDK's own exception for a recorded or injected error."""

    def deliver(self, served: Served) -> Any:
        """The SDK's own result for a served answer; an error after chunks is raised by the
        stream, one without any chunks is raised here. The async driver awaits it if need be."""

    def is_stream(self, result: Any) -> bool:
        """Whether the result is a stream that its reader has yet to read."""

    def tee(self, result: Any, tap: Tap) -> Any:
        """The same stream, telling ``tap`` of each chunk before it is handed on, and of the
        end."""


class Seam:
    """A session with what it needs around it: a lock, and somebody who watches."""

    def __init__(self, session: Session, controller: Controller | None = None) -> None:
        self.session = session
        self.controller = controller or Controller()
        self._heard = session.ledger.heard = self.controller.listens
        self.lock = ProcessLock()
        self.thread = threading.current_thread()
        """The thread that opened it."""
        self.expected = 0
        self.over = False
        self._reported = 0
        self._streams: dict[str, Tap] = {}
        self.notes: list[str] = []
        """What happened beside the agent, a sentence each."""
        self._told: set[tuple[str, str | None]] = set()
        self.pid = os.getpid()
        self.forgotten: deque[Tap] = deque()
        """Streams that were let go of, still to be noted as stopped."""
        if self.controller.cancelled:
            raise UsageError(
                "this controller was cancelled, and would end this run at once: make a new one "
                "for each run"
            )
        self.controller.when_cancelled(self._cancel)

    def beside(self, kind: str, where: str | None, text: str) -> bool:
        """Note something that happens beside the agent, once for each place in the code.

        Args:
            kind: what kind of thing, so that two at one place are two.
            where: the line of code.
            text: the rest of a sentence that begins with ``a call at refund.py:41``.

        Returns:
            Whether it is new.
        """
        with self.lock:
            if (kind, where) in self._told:
                return False
            self._told.add((kind, where))
        self.note(f"a call at {where} {text}" if where else f"a call {text}")
        return True

    def note(self, sentence: str) -> None:
        """Note what the trace does not have, in the trace and in the result."""
        with self.lock:
            if sentence not in self.notes:
                self.notes.append(sentence)
                self.session.ledger.note(sentence)

    @property
    def recording(self) -> bool:
        """Whether this is a recording: all is live, and nothing is served."""
        return self.session.setting.recording

    @property
    def offline(self) -> bool:
        """Whether this is a replay of which nothing can go live."""
        return self.session.setting.offline

    def notice(self, sentence: str) -> None:
        """Say something in the run's notices, once."""
        with self.lock:
            self.session.ledger.note(sentence)

    def missed(self, sentence: str) -> None:
        """Something was asked that is not in the recording, and was refused.

        A strict run has drifted by it, also if the agent swallows the refusal; any other says so
        in its notices.
        """
        with self.lock:
            if self.session.policy.strict:
                self.session.drift = self.session.drift or DriftError(sentence)
            else:
                self.session.ledger.note(sentence)

    def release(self) -> None:
        """The run is over: the controller no longer reaches it."""
        self.controller.forget(self._cancel)

    def _cancel(self) -> None:
        with self.lock:
            self.session.stop(RunCancelled("the run was cancelled"))

    def begin(self, call: Call) -> Decision:
        """Ask the session, under the lock."""
        if self.forgotten:
            self._end_forgotten()
        with self.lock.here():
            return self.session.begin(call)

    def at_once(self, call: Call) -> tuple[str, Any] | None:
        """The short way: a call's new id and its response; None if it must go the whole way."""
        express = self.session.express
        if not express.possible:
            return None
        if self.forgotten:
            self._end_forgotten()
        with self.lock.here():
            found = express.answer(call)
        if found is not None and self._heard:
            self.report()
        return found

    def wait_for(self, hold: Hold) -> Future[Any]:
        """What a held call waits for; its question is put to the watcher."""
        if hold.question is not None:
            return self.ask(hold.question)
        assert hold.future is not None  # noqa: S101 - a hold has one of the two
        return hold.future

    def resume(self, hold: Hold, verdict: Any) -> Decision:
        """Tell the session what came of a hold."""
        with self.lock:
            return self.session.resume(hold.ticket, verdict)

    def abandon(self, hold: Hold, outcome: Outcome) -> None:
        """Tell the session that whoever made a held call was stopped while it waited."""
        with self.lock:
            self.session.abandon(hold.ticket, outcome)

    def cancelled(self, ticket: Ticket) -> None:
        """Tell the session that a call was cancelled which was to be."""
        with self.lock:
            self.session.handing.order.cancelled(ticket)

    def tap(self, ticket: Ticket, hooks: Hooks) -> Tap:
        """What a stream reports to."""
        if ticket.running:
            with self.lock:
                self.session.handing.ran(ticket)  # its reader may take his time
        tap = self._streams[ticket.id] = Tap(self, ticket, hooks)
        return tap

    def end_streams(self) -> None:
        """Note the streams that nobody reads on as stopped: the session ends."""
        self._end_forgotten()
        for tap in list(self._streams.values()):
            tap.end("stopped")

    def _end_forgotten(self) -> None:
        with contextlib.suppress(IndexError):  # another thread may be doing the same
            while self.forgotten:
                self.forgotten.popleft().end("stopped")

    def finish(self, ticket: Ticket, outcome: Outcome) -> Fail | Serve | None:
        """Tell the session how a call ended; gives what the agent gets instead, if anything."""
        self._streams.pop(ticket.id, None)
        with self.lock.here():
            instead = self.session.finish(ticket, outcome)
        if self._heard:
            self.report()
        return instead

    def report(self) -> None:
        """Tell the watcher of the calls that ended since the last time."""
        if not self._heard:
            return
        with self.lock:
            new = self.session.ledger.reports(self._reported)
            start, self._reported = self._reported, self._reported + len(new)
        for number, call in enumerate(new, start + 1):
            self._tell(Progress(number, max(self.expected, number), call))

    def ask(self, question: Question) -> Future[Any]:
        """Show a question to the watcher; the future holds the verdict."""
        self.controller.when_cancelled(lambda: _resolve(question.future, "cancel"))
        try:
            if question.kind == "pause":
                self.controller.on_pause(question)
            else:
                self.controller.on_question(question)
        except Exception as error:  # noqa: BLE001 - whatever it does, the agent is not to blame
            write = "asked about a live write, which was denied"
            paused = "told that the run waits at a breakpoint, which ended it"
            self._watcher_failed(write if question.kind == "write" else paused, error)
            question.deny()
        return question.future

    def _tell(self, progress: Progress) -> None:
        try:
            self.controller.on_progress(progress)
        except Exception as error:  # noqa: BLE001 - whatever it does, the agent is not to blame
            self._watcher_failed("told of a call", error)

    def _watcher_failed(self, what: str, error: Exception) -> None:
        self.notice(f"the controller failed when it was {what}: {type(error).__name__}: {error}")


def _resolve(future: Future[Any], verdict: str) -> None:
    with contextlib.suppress(InvalidStateError):  # somebody was quicker
        future.set_result(verdict)


class Tap:
    """What a stream tells: each chunk before it is delivered, and how it ended."""

    def __init__(self, seam: Seam, ticket: Ticket, hooks: Hooks) -> None:
        self._seam = seam
        self._ticket = ticket
        self._hooks = hooks
        self.known = Outcome()
        """What an adapter knows of the outcome before the end: status and headers, provider,
        model. It is part of the result however the stream ends."""
        self.instead: Fail | Serve | None = None
        """What the agent gets instead of the stream, once it is read to its end."""
        self.whole = False
        """Whether the answer is there to its end: a reader who stops here has missed nothing."""
        self._over = False

    def chunk(self, data: Any) -> None:
        """Note a chunk that is about to be delivered. After the end there is nothing to note.

        Raises:
            StopRun: the run was stopped.
            Exception: a fault breaks the stream off here: the SDK's own exception.
        """
        if self._ticket.closed or self._over:
            return
        with self._seam.lock:
            verdict = self._seam.session.chunk(self._ticket, data)
        if verdict is None:
            return
        error = raised(verdict, self._hooks)
        raise error

    def wait(self) -> None:
        """The last piece is next: wait until it is its turn, in a replay of streams at once."""
        hold = self._ends(None)
        while hold is not None and hold.future is not None:
            try:
                hold = self._ends(hold.future.result(hold.patience_s))
            except TimeoutError:
                hold = self._ends("time")

    async def await_turn(self) -> None:
        """The same for a stream that is read by async code."""
        hold = self._ends(None)
        while hold is not None and hold.future is not None:
            future = asyncio.wrap_future(hold.future)
            done, _ = await asyncio.wait({future}, timeout=hold.patience_s)
            hold = self._ends(future.result() if done else "time")

    def _ends(self, verdict: Verdict | None) -> Hold | None:
        if self._ticket.closed or self._over:
            return None
        with self._seam.lock:
            return self._seam.session.handing.ends(self._ticket, verdict)

    def clean_cut(self) -> bool:
        """Whether a fault wants the stream to end here, as if it were complete."""
        return self._seam.session.injecting.ends_clean(self._ticket)

    def end(self, ended: Ended, error: BaseException | None = None) -> None:
        """Note how the stream ended; further calls are ignored."""
        if self._ticket.closed or self._over:
            return
        self._over = True
        outcome = self._hooks.failure(error) if error is not None else Outcome()
        outcome.ended = "complete" if ended == "stopped" and self.whole else ended
        if outcome.response is MISSING:
            outcome.response = self.known.response
        outcome.provider = outcome.provider or self.known.provider
        outcome.model = outcome.model or self.known.model
        self.instead = self._seam.finish(self._ticket, outcome)
        if isinstance(self.instead, Fail) and error is None and ended == "complete":
            raise raised(self.instead, self._hooks)

    def broke(self, error: BaseException) -> None:
        """Note what a stream ended by: a failure, a cancellation, or the end of the run.

        Args:
            error: what was raised while it was read; it is for the caller to raise it again.
        """
        if isinstance(error, StopRun):
            self.end("cancelled")
        elif isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
            self.end("cancelled", error)
        else:
            self.end("cut", error)

    def let_go(self) -> None:
        """Note that the reader closed the stream, or forgot it, before its end.

        This may come from the garbage collector, in the middle of anything: it takes no lock and
        writes nothing. The session notes it before its next call, or at its end.
        """
        self._seam.forgotten.append(self)


def raised(fail: Fail, hooks: Hooks) -> BaseException:
    """What a decision to fail makes the agent get."""
    if isinstance(fail.error, ErrorInfo):
        return hooks.exception(fail.error)
    return fail.error
