"""Passing a call through several sessions, one inside the other, each with its own eyes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import UsageError
from workbench.seam.current import ENCLOSING, KEY, LAST_MODEL, LIVE_WRITE, SEAM, current_seam
from workbench.seam.drivers import Seam, call_async, call_sync
from workbench.seam.pins import agent_site, reading, sleeps

if TYPE_CHECKING:
    from types import TracebackType

    from workbench.seam.agentio.hooks import Ask
    from workbench.seam.agentio.layers import Layer
    from workbench.seam.agentio.world import World
    from workbench.seam.calls import Call

Seen = tuple[Any, Any, Any, Any]
"""The values of ENCLOSING, LAST_MODEL, KEY and LIVE_WRITE."""

_FRESH: Seen = (None, None, None, False)
_SEEN: ContextVar[Mapping[Seam, Seen]] = ContextVar("workbench_seen", default={})  # noqa: B039
"""What each session last saw of this context: the ids of calls are a session's own."""


class Switched:
    """Within it the context is that of one session: its ids, and not those of the one around."""

    __slots__ = ("_around", "_seam", "_was")

    def __init__(self, seam: Seam) -> None:
        self._seam = seam
        self._around: Seam | None = None
        self._was = _FRESH

    def __enter__(self) -> None:
        self._around = SEAM.get()
        self._was = _now_seen()
        if self._around is not None:
            _note(self._around, self._was)
        _put(self._seam, _SEEN.get().get(self._seam, _FRESH))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _note(self._seam, _now_seen())
        _put(self._around, self._was)


def _now_seen() -> Seen:
    return ENCLOSING.get(), LAST_MODEL.get(), KEY.get(), LIVE_WRITE.get()


def _note(seam: Seam, values: Seen) -> None:
    kept = {each: seen for each, seen in _SEEN.get().items() if not each.over}
    kept[seam] = values
    _SEEN.set(kept)


def _put(seam: Seam | None, values: Seen) -> None:
    enclosing, last_model, key, live_write = values
    SEAM.set(seam)
    ENCLOSING.set(enclosing)
    LAST_MODEL.set(last_model)
    KEY.set(key)
    LIVE_WRITE.set(live_write)


class Below:
    """One call as an outer session sees it: made for real, it passes the sessions further in."""

    __slots__ = (
        "_ask",
        "_call",
        "_home",
        "_inner",
        "deliver",
        "exception",
        "failure",
        "is_stream",
        "outcome",
        "tee",
    )

    def __init__(self, ask: Ask, call: Call, inner: Sequence[Seam], home: Seam) -> None:
        self._ask = ask
        self._call = call
        self._inner = inner
        self._home = home
        self.outcome = ask.outcome
        self.failure = ask.failure
        self.exception = ask.exception
        self.deliver = ask.deliver
        self.is_stream = ask.is_stream
        self.tee = ask.tee

    def perform(self, request: Any) -> Any:
        """Pass it on."""
        if not self._inner:
            with Switched(self._home):
                return self._ask.perform(request)
        return through(self._ask, self._further(request), self._inner, self._home)

    def _further(self, request: Any) -> Call:
        """The same call as the next session sees it."""
        call = self._call
        key = (KEY.get() or call.key) if call.kind == "tool" else None
        return replace(call, request=request, enclosing=None, asked_by=None, key=key)


class AsyncBelow(Below):
    """The same in async code."""

    __slots__ = ()

    async def perform(self, request: Any) -> Any:
        """Pass it on."""
        if not self._inner:
            with Switched(self._home):
                given = self._ask.perform(request)
                return await given if hasattr(given, "__await__") else given
        return await athrough(self._ask, self._further(request), self._inner, self._home)


def through(ask: Ask, call: Call, seams: Sequence[Seam], home: Seam) -> Any:
    """Take a call of sync code through sessions, the outermost first.

    Args:
        ask: how it is made for real.
        call: the call as the first of the sessions sees it.
        seams: the sessions; at least one.
        home: the one that belongs to what the call itself calls.
    """
    seam, inner = seams[0], seams[1:]
    hooks = Below(ask, call, inner, home) if inner or home is not seam else ask
    with Switched(seam):
        return call_sync(seam, call, hooks)


async def athrough(ask: Ask, call: Call, seams: Sequence[Seam], home: Seam) -> Any:
    """:func:`through` for async code."""
    seam, inner = seams[0], seams[1:]
    hooks = AsyncBelow(ask, call, inner, home) if inner or home is not seam else ask
    with Switched(seam):
        return await call_async(seam, call, hooks)


class Stack:
    """The sessions that a call of an io passes: the run's own, if one is open, then the io's."""

    __slots__ = ("_mine", "layers", "world")

    def __init__(self, world: World, layers: Sequence[Layer]) -> None:
        self.world = world
        self.layers = tuple(layers)
        self._mine: list[Layer | World] = []

    # -- calls ------------------------------------------------------------------------------

    def reach(self, ask: Ask) -> Any:
        """Take a call of sync code to the world."""
        seams, home = self._seams()
        return through(ask, ask.call, seams, home)

    def areach(self, ask: Ask) -> Awaitable[Any]:
        """Take a call of async code to the world."""
        seams, home = self._seams()
        return athrough(ask, ask.call, seams, home)

    def read(self, name: Literal["now", "id", "random"], live: Callable[[], Any]) -> Any:
        """Take a reading: the first session that has it recorded serves it, those around it note
        it."""
        if not self.layers:
            return reading(name, live, site=agent_site(2))
        seams, _ = self._seams()
        return _read(seams, name, live, agent_site(2))

    def sleeps(self, seconds: float) -> bool:
        """Whether a wait is a real one: not where any of the sessions serves a recording."""
        if not self.layers:
            return sleeps(seconds)
        really = True
        for seam in self._seams()[0]:
            with Switched(seam):
                really &= sleeps(seconds)
        return really

    def _seams(self) -> tuple[Sequence[Seam], Seam]:
        """The sessions, the outermost first, and the one that a tool's own calls belong to: the
        run's, else the outermost that keeps a recording, else the outermost."""
        own = [layer.open_seam() for layer in self.layers]
        here = current_seam()
        if here is not None and here not in own:
            return [here, *own], here
        kept = [layer.seam for layer in self.layers if layer.keeps]
        return own, (kept or own)[0]

    # -- ends -------------------------------------------------------------------------------

    @property
    def outermost(self) -> Layer:
        """The outermost session of the io's own."""
        if not self.layers:
            raise UsageError(
                "this io has no session of its own: its calls are in the trace of the run around "
                "it; recording_io(io) makes one"
            )
        return self.layers[0]

    def enter(self) -> None:
        """A block begins: what is open and nobody else's is ended with it."""
        self._mine = [each for each in self._parts() if not each.entered]
        for each in self._mine:
            each.entered = True

    def leave(self, error: BaseException | None) -> None:
        """The block ends, by an error of the agent or without one."""
        mine, self._mine = self._mine, []
        _end(mine, error)

    async def aleave(self, error: BaseException | None) -> None:
        """:meth:`leave` in the loop to which the model's connections belong."""
        if self.world in self._mine:
            await self.world.model.aclose()
        self.leave(error)

    def close(self, error: BaseException | None) -> None:
        """End what no block will end."""
        _end([each for each in self._parts() if not each.entered], error)

    def _parts(self) -> list[Layer | World]:
        return [*self.layers, self.world]


def _end(parts: Sequence[Layer | World], error: BaseException | None) -> None:
    problem: BaseException | None = None
    for part in parts:
        problem = problem or part.end(error)
    if problem is not None and error is None:
        raise problem


def _read(
    seams: Sequence[Seam],
    name: Literal["now", "id", "random"],
    live: Callable[[], Any],
    site: str,
) -> Any:
    seam, *inner = seams
    below = (lambda: _read(inner, name, live, site)) if inner else live
    with Switched(seam):
        return reading(name, below, site=site)
