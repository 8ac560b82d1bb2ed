"""The two drivers: they carry out what a session decides, one for sync code, one for async.

An adapter brings :class:`Hooks`, which translate between an SDK and the seam. Nothing here
decides anything; the session does.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from concurrent.futures import Future, InvalidStateError
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import RunCancelled, StopRun, UsageError
from workbench.seam.calls import (
    MISSING,
    Call,
    Fail,
    Hold,
    Outcome,
    Perform,
    Question,
    Serve,
    Served,
    Ticket,
)
from workbench.seam.current import (
    ENCLOSING,
    KEY,
    LAST_MODEL,
    LIVE_WRITE,
    call_site,
    current_step,
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
        self.lock = ProcessLock()
        self.thread = threading.current_thread()
        """The thread that opened it."""
        self.expected = 0
        self.over = False
        self._reported = 0
        self._streams: dict[str, Tap] = {}
        self.forgotten: deque[Tap] = deque()
        """Streams that were let go of, still to be noted as stopped."""
        if self.controller.cancelled:
            raise UsageError(
                "this controller was cancelled, and would end this run at once: make a new one "
                "for each run"
            )
        self.controller.when_cancelled(self._cancel)

    def release(self) -> None:
        """The run is over: the controller no longer reaches it."""
        self.controller.forget(self._cancel)

    def _cancel(self) -> None:
        with self.lock:
            self.session.stop(RunCancelled("the run was cancelled"))

    def begin(self, call: Call) -> Serve | Perform | Fail | Hold:
        """Ask the session, under the lock."""
        self._end_forgotten()
        with self.lock:
            return self.session.begin(call)

    def tap(self, ticket: Ticket, hooks: Hooks) -> Tap:
        """What a stream reports to."""
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

    def finish(self, ticket: Ticket, outcome: Outcome) -> None:
        """Tell the session how a call ended; raises what the session makes of it."""
        self._streams.pop(ticket.id, None)
        with self.lock:
            error = self.session.finish(ticket, outcome)
        self.report()
        if error is not None:
            raise error

    def report(self) -> None:
        """Tell the watcher of the calls that ended since the last time."""
        with self.lock:
            new = self.session.reports[self._reported :]
            start, self._reported = self._reported, self._reported + len(new)
        for number, call in enumerate(new, start + 1):
            self._tell(Progress(number, max(self.expected, number), call))

    def ask(self, question: Question) -> Future[Any]:
        """Show a question to the watcher; the future holds the verdict."""
        self.controller.when_cancelled(lambda: _resolve(question.future, "cancel"))
        try:
            self.controller.on_question(question)
        except Exception as error:  # noqa: BLE001 - whatever it does, the agent is not to blame
            self._watcher_failed("asked about a live write, which was denied", error)
            question.deny()
        return question.future

    def _tell(self, progress: Progress) -> None:
        try:
            self.controller.on_progress(progress)
        except Exception as error:  # noqa: BLE001 - whatever it does, the agent is not to blame
            self._watcher_failed("told of a call", error)

    def _watcher_failed(self, what: str, error: Exception) -> None:
        text = f"the controller failed when it was {what}: {type(error).__name__}: {error}"
        with self.lock:
            if text not in self.session.notices:
                self.session.notices.append(text)


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

    def chunk(self, data: Any) -> None:
        """Note a chunk that is about to be delivered. After the end there is nothing to note.

        Raises:
            StopRun: the run was stopped.
            Exception: a fault breaks the stream off here: the SDK's own exception.
        """
        if self._ticket.closed:
            return
        with self._seam.lock:
            verdict = self._seam.session.chunk(self._ticket, data)
        if verdict is None:
            return
        error = _raised(verdict, self._hooks)
        raise error

    def clean_cut(self) -> bool:
        """Whether a fault wants the stream to end here, as if it were complete."""
        return self._seam.session.ends_clean(self._ticket)

    def end(self, ended: Ended, error: BaseException | None = None) -> None:
        """Note how the stream ended; further calls are ignored."""
        if self._ticket.closed:
            return
        outcome = self._hooks.failure(error) if error is not None else Outcome()
        outcome.ended = ended
        if outcome.response is MISSING:
            outcome.response = self.known.response
        outcome.provider = outcome.provider or self.known.provider
        outcome.model = outcome.model or self.known.model
        self._seam.finish(self._ticket, outcome)

    def let_go(self) -> None:
        """Note that the reader closed the stream, or forgot it, before its end.

        This may come from the garbage collector, in the middle of anything: it takes no lock and
        writes nothing. The session notes it before its next call, or at its end.
        """
        self._seam.forgotten.append(self)


def call_sync(seam: Seam, call: Call, hooks: Hooks) -> Any:
    """Take one call of sync code through the session and give what the agent gets."""
    _place(call)
    decision = seam.begin(call)
    while isinstance(decision, Hold):
        verdict = seam.ask(decision.question).result()
        with seam.lock:
            decision = seam.session.resume(decision.ticket, verdict)
    seam.report()
    if isinstance(decision, Fail):
        raise _raised(decision, hooks)
    ticket = decision.ticket
    if isinstance(decision, Serve):
        if decision.served.error is None or decision.served.chunks is not None:
            _remember(call, ticket)
        return _tapped(seam, ticket, hooks, hooks.deliver(decision.served))
    tokens = _enter(call, ticket)
    try:
        result = hooks.perform(decision.request)
    except BaseException as error:
        _failed(seam, ticket, hooks, error)
        raise
    finally:
        _leave(tokens)
    return _performed(seam, call, ticket, hooks, result)


async def call_async(seam: Seam, call: Call, hooks: Hooks) -> Any:
    """Take one call of async code through the session and give what the agent gets."""
    _place(call)
    decision = seam.begin(call)
    while isinstance(decision, Hold):
        verdict = await asyncio.wrap_future(seam.ask(decision.question))
        with seam.lock:
            decision = seam.session.resume(decision.ticket, verdict)
    seam.report()
    if isinstance(decision, Fail):
        raise _raised(decision, hooks)
    ticket = decision.ticket
    if isinstance(decision, Serve):
        if decision.served.error is None or decision.served.chunks is not None:
            _remember(call, ticket)
        return _tapped(seam, ticket, hooks, await _settled(hooks.deliver(decision.served)))
    tokens = _enter(call, ticket)
    try:
        result = await _settled(hooks.perform(decision.request))
    except BaseException as error:
        _failed(seam, ticket, hooks, error)
        raise
    finally:
        _leave(tokens)
    return _performed(seam, call, ticket, hooks, result)


_RERUN = ("verify", "rerun")


async def _settled(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


def _place(call: Call) -> None:
    call.step = call.step or current_step()
    call.enclosing = call.enclosing or ENCLOSING.get()
    call.where = call.where or call_site()
    if call.kind == "tool":
        call.asked_by = call.asked_by or LAST_MODEL.get()


def _remember(call: Call, ticket: Ticket) -> None:
    if call.kind == "model":
        LAST_MODEL.set(ticket.id)


def _enter(call: Call, ticket: Ticket) -> list[tuple[Any, Any]]:
    if call.kind != "tool":
        return []
    return [
        (ENCLOSING, ENCLOSING.set(ticket.id)),
        (LAST_MODEL, LAST_MODEL.set(None)),
        (KEY, KEY.set(ticket.key)),
        (LIVE_WRITE, LIVE_WRITE.set(ticket.key is not None and ticket.reason not in _RERUN)),
    ]


def _leave(tokens: list[tuple[Any, Any]]) -> None:
    for variable, token in tokens:
        variable.reset(token)


def _failed(seam: Seam, ticket: Ticket, hooks: Hooks, error: BaseException) -> None:
    if isinstance(error, StopRun):
        seam.finish(ticket, Outcome(ended="cancelled"))
        return
    outcome = hooks.failure(error)
    if isinstance(error, (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)):
        outcome.ended = "cancelled"
    seam.finish(ticket, outcome)


def _performed(seam: Seam, call: Call, ticket: Ticket, hooks: Hooks, result: Any) -> Any:
    _remember(call, ticket)
    try:
        if hooks.is_stream(result):
            return hooks.tee(result, seam.tap(ticket, hooks))
        outcome = hooks.outcome(result)
    except BaseException as error:
        # It happened, but what came of it cannot be kept: the entry says so.
        seam.finish(ticket, hooks.failure(error))
        raise
    seam.finish(ticket, outcome)
    return result


def _tapped(seam: Seam, ticket: Ticket, hooks: Hooks, result: Any) -> Any:
    if not ticket.closed and hooks.is_stream(result):
        return hooks.tee(result, seam.tap(ticket, hooks))
    return result


def _raised(fail: Fail, hooks: Hooks) -> BaseException:
    if isinstance(fail.error, ErrorInfo):
        return hooks.exception(fail.error)
    return fail.error
