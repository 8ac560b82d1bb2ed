"""The two drivers: they carry out what a session decides, one for sync code, one for async.

An adapter brings :class:`~workbench.seam.seams.Hooks`, which translate between an SDK and the seam.
Nothing here decides anything; the session does.
"""

from __future__ import annotations

import asyncio
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import StopRun, UsageError
from workbench.seam.calls import (
    Call,
    Fail,
    Hold,
    Outcome,
    Perform,
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
from workbench.seam.seams import Hooks, Seam, Tap, raised
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from workbench.seam.calls import Decision

__all__ = ["Hooks", "Seam", "Tap", "call_async", "call_sync"]


def call_sync(seam: Seam, call: Call, hooks: Hooks) -> Any:
    """Take one call of sync code through the session and give what the agent gets."""
    quick = seam.at_once(call)
    if quick is not None:
        return _known(call, quick[0], hooks.deliver(Served(quick[1])))
    _place(call)
    decision = seam.begin(call)
    while isinstance(decision, Hold):
        decision = _wait(seam, decision, hooks)
    seam.report()
    if isinstance(decision, Serve) and not decision.below:
        return _handed(seam, call, decision, hooks, _delivered(seam, decision, hooks))
    if isinstance(decision, Fail):
        raise raised(decision, hooks)
    tokens = _enter(call, decision.ticket)
    try:
        result = _doing(decision, hooks)
        _refuse_async(decision, result)
    except BaseException as error:
        _failed(seam, decision.ticket, hooks, error)
        raise
    finally:
        _leave(tokens)
        _tried(seam, decision, hooks)
    ended = _performed(seam, call, decision, hooks, result)
    if isinstance(ended, Drain):
        ended = _drain(ended, hooks)
    if isinstance(ended, Serve):
        return _handed(seam, call, ended, hooks, hooks.deliver(ended.served))
    return ended.result


async def call_async(seam: Seam, call: Call, hooks: Hooks) -> Any:
    """Take one call of async code through the session and give what the agent gets."""
    quick = seam.at_once(call)
    if quick is not None:
        result = hooks.deliver(Served(quick[1]))
        return _known(call, quick[0], await result if hasattr(result, "__await__") else result)
    _place(call)
    decision = seam.begin(call)
    while isinstance(decision, Hold):
        decision = await _await(seam, decision, hooks)
    seam.report()
    if isinstance(decision, Serve) and not decision.below:
        result = await _adelivered(seam, decision, hooks)
        return _handed(seam, call, decision, hooks, result)
    if isinstance(decision, Fail):
        raise raised(decision, hooks)
    tokens = _enter(call, decision.ticket)
    try:
        result = await _settled(_doing(decision, hooks))
        if isinstance(result, StandIn):
            result.result = await _settled(result.result)
    except BaseException as error:
        _failed(seam, decision.ticket, hooks, error)
        raise
    finally:
        _leave(tokens)
        _tried(seam, decision, hooks)
    ended = _performed(seam, call, decision, hooks, result)
    if isinstance(ended, Drain):
        ended = await _adrain(ended, hooks)
    if isinstance(ended, Serve):
        result = await _settled(hooks.deliver(ended.served))
        return _handed(seam, call, ended, hooks, result)
    return ended.result


_RERUN = ("verify", "rerun")
_TURNS = 50
"""So many turns of the loop suffice for tasks that wake each other."""


def _wait(seam: Seam, hold: Hold, hooks: Hooks) -> Decision:
    verdict: Any
    try:
        verdict = seam.wait_for(hold).result(hold.patience_s or None)
    except TimeoutError:
        verdict = "time"
    except BaseException as error:
        seam.abandon(hold, _cancelled(hooks, error))
        raise
    return seam.resume(hold, verdict)


async def _await(seam: Seam, hold: Hold, hooks: Hooks) -> Decision:
    future = asyncio.wrap_future(seam.wait_for(hold))
    verdict: Any = "time"
    try:
        # Not wait_for, which lets a cancellation go by that comes with the answer.
        done, _ = await asyncio.wait({future}, timeout=hold.patience_s or None)
        if done:
            verdict = future.result()
            if hold.apart:
                await others_first()
    except BaseException as error:
        seam.abandon(hold, _cancelled(hooks, error))
        raise
    return seam.resume(hold, verdict)


async def others_first() -> None:
    """Let the tasks go on that others wake, one the next: what follows from an answer comes
    before the answer that came long after it when it was recorded."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


def _delivered(seam: Seam, decision: Serve, hooks: Hooks) -> Any:
    try:
        return hooks.deliver(decision.served)
    finally:
        if decision.served.is_cancelled:
            seam.cancelled(decision.ticket)


async def _adelivered(seam: Seam, decision: Serve, hooks: Hooks) -> Any:
    try:
        return await _settled(hooks.deliver(decision.served))
    finally:
        if decision.served.is_cancelled:
            seam.cancelled(decision.ticket)


@dataclass(slots=True)
class Got:
    """What the agent gets."""

    result: Any


@dataclass(slots=True)
class Drain:
    """A stream that is read to its end first, since a fault changes the whole answer."""

    stream: Any
    tap: Tap

    def then(self) -> Got | Serve:
        """What comes of it.

        Raises:
            Exception: the call fails instead.
        """
        instead = self.tap.instead
        if isinstance(instead, Serve):
            return instead
        return Got(self.stream)


def _drain(ended: Drain, hooks: Hooks) -> Got | Serve:
    try:
        if hasattr(hooks, "drain"):  # what the agent asked for may not be a thing to iterate over
            hooks.drain(ended.stream)
        else:
            for _ in ended.stream:
                pass
    except Exception:
        if ended.tap.instead is None:
            raise
    return ended.then()


async def _adrain(ended: Drain, hooks: Hooks) -> Got | Serve:
    try:
        if hasattr(hooks, "drain"):
            await hooks.drain(ended.stream)
        else:
            async for _ in ended.stream:
                pass
    except Exception:
        if ended.tap.instead is None:
            raise
    return ended.then()


def _doing(decision: Perform | Serve, hooks: Hooks) -> Any:
    """The call itself: for real, by what stands in for it, or with tries that fail before."""
    if decision.below:
        through = getattr(hooks, "through", None)
        if through is None:
            name = decision.ticket.call.name
            raise UsageError(
                f"a fault with layer='below' hits the tries that an SDK makes by itself, and the "
                f"{' '.join(filter(None, (decision.ticket.call.kind, 'call', name)))} has none: "
                "use layer='above'"
            )
        if isinstance(decision, Serve):
            return through(decision.ticket.call.request, decision.below, decision.served)
        return through(decision.request, decision.below, None)
    assert isinstance(decision, Perform)  # noqa: S101 - a Serve without tries is handed over
    if decision.stand_in is not None:
        arguments = decode(decision.request["arguments"])
        made = decision.stand_in(**arguments)
        return StandIn(list(made) if inspect.isgenerator(made) else made)
    return hooks.perform(decision.request)


def _tried(seam: Seam, decision: Perform | Serve, hooks: Hooks) -> None:
    if decision.below:
        tries, waits = getattr(hooks, "tries", 0), getattr(hooks, "waited_s", 0.0)
        session = seam.session
        with seam.lock:
            session.injecting.tried(decision.ticket, tries, waits, session.tape, session.ledger)


@dataclass(slots=True)
class StandIn:
    """What a function gave that ran instead of a tool."""

    result: Any


def _refuse_async(decision: Perform | Serve, result: Any) -> None:
    if isinstance(result, StandIn) and inspect.isawaitable(result.result):
        if inspect.iscoroutine(result.result):
            result.result.close()
        name = decision.ticket.call.name
        raise UsageError(
            f"what stands in for {name} is async, and {name} is not: give a plain function"
        )


async def _settled(value: Any) -> Any:
    if isinstance(value, StandIn) and inspect.isasyncgen(value.result):
        value.result = [each async for each in value.result]
    return await value if hasattr(value, "__await__") else value


def _place(call: Call) -> None:
    call.step = call.step or current_step()
    call.enclosing = call.enclosing or ENCLOSING.get()
    call.where = call.where or call_site()
    if call.kind == "tool":
        call.asked_by = call.asked_by or LAST_MODEL.get()


def _known(call: Call, name: str, result: Any) -> Any:
    if call.kind == "model":
        LAST_MODEL.set(name)
    return result


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
    seam.finish(ticket, _cancelled(hooks, error))


def _cancelled(hooks: Hooks, error: BaseException) -> Outcome:
    outcome = hooks.failure(error)
    if isinstance(error, (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit)):
        outcome.ended = "cancelled"
    return outcome


def _performed(
    seam: Seam, call: Call, decision: Perform | Serve, hooks: Hooks, result: Any
) -> Got | Serve | Drain:
    _remember(call, decision.ticket)
    ticket = decision.ticket
    try:
        if isinstance(result, StandIn):
            outcome = Outcome(response=encode(result.result, plain=True))
            instead = seam.finish(ticket, outcome)
            return _instead(instead, hooks) or Serve(ticket, Served(outcome.response))
        if hooks.is_stream(result):
            tap = seam.tap(ticket, hooks)
            stream = hooks.tee(result, tap)
            return Drain(stream, tap) if ticket.reshapes else Got(stream)
        outcome = hooks.outcome(result)
    except BaseException as error:
        # It happened, but what came of it cannot be kept: the entry says so.
        seam.finish(ticket, hooks.failure(error))
        raise
    return _instead(seam.finish(ticket, outcome), hooks) or Got(result)


def _instead(instead: Fail | Serve | None, hooks: Hooks) -> Serve | None:
    if isinstance(instead, Fail):
        raise raised(instead, hooks)
    return instead


def _handed(seam: Seam, call: Call, decision: Serve, hooks: Hooks, result: Any) -> Any:
    ticket = decision.ticket
    if decision.served.error is None or decision.served.chunks is not None:
        _remember(call, ticket)
    if not ticket.closed and hooks.is_stream(result):
        return hooks.tee(result, seam.tap(ticket, hooks))
    return result
