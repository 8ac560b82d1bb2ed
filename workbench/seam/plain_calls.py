"""Calls whose result is a plain value: what most adapters need, and the ``@tool`` of frameworks."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from workbench.seam.calls import MISSING, Call, Outcome, Served
from workbench.seam.current import COVERED, COVERED_TOOL, current_seam
from workbench.seam.declared import declared
from workbench.seam.drivers import call_async, call_sync
from workbench.seam.exceptions import describe, plain_error, timed, until_cancelled
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from workbench.seam.drivers import Tap
    from workbench.trace.entries import Effect, ErrorInfo


class ValueHooks:
    """One call of sync code whose result is a value. Made anew for each call.

    Args:
        make: makes the call for real; gets the request, which may have been edited.
        dump: a result as JSON that the trace keeps; it may raise
            :class:`workbench.errors.UnencodableError`. By default the type is kept where a trace
            knows it.
        load: the result again, from that JSON.
    """

    def __init__(
        self,
        make: Callable[[Any], Any],
        *,
        dump: Callable[[Any], Any] = encode,
        load: Callable[[Any], Any] = decode,
    ) -> None:
        self._make = make
        self._dump = dump
        self._load = load
        self._since = time.monotonic()

    def perform(self, request: Any) -> Any:
        """Make the call for real."""
        self._since = time.monotonic()
        return self._make(request)

    def outcome(self, result: Any) -> Outcome:
        """Read a result."""
        return Outcome(response=self._dump(result))

    def failure(self, error: BaseException) -> Outcome:
        """Read an exception."""
        return Outcome(error=timed(describe(error), self._since))

    def exception(self, info: ErrorInfo) -> BaseException:
        """A recorded or injected error as the agent gets it."""
        return plain_error(info)

    def deliver(self, served: Served) -> Any:
        """A result that does not come from the world."""
        if served.error is not None:
            raise self.exception(served.error)
        return self._load(None if served.response is MISSING else served.response)

    def is_stream(self, result: Any) -> bool:  # noqa: ARG002 - a value is none
        """Never."""
        return False

    def tee(self, result: Any, tap: Tap) -> Any:  # noqa: ARG002 - never called
        """Not called."""
        return result


class AsyncValueHooks(ValueHooks):
    """The same for async code; ``make`` gives an awaitable."""

    async def perform(self, request: Any) -> Any:
        """Make the call for real."""
        self._since = time.monotonic()
        return await self._make(request)

    async def deliver(self, served: Served) -> Any:
        """A result that does not come from the world; a call that was cancelled waits to be."""
        if served.is_cancelled and served.error is not None:
            await until_cancelled(served.error)
        return super().deliver(served)


class _Framed:
    """One call of a tool that a framework makes."""

    def __init__(
        self,
        name: str,
        arguments: dict[str, Any],
        effect: Effect | None,
        more: dict[str, Any] | None,
        of: Any,
    ) -> None:
        said = declared(name, arguments, of)
        request: dict[str, Any] = {"name": name, "arguments": encode(arguments, plain=True)}
        request |= more or {}
        key = said.key_of(**arguments) if said.key_of is not None else None
        if key is not None:
            request["key"] = key
        self.given = arguments
        self.call = Call(
            kind="tool", name=name, effect=effect or said.effect, request=request, key=key
        )

    def arguments(self, request: Any) -> dict[str, Any]:
        """What the tool is called with: the framework's own objects, unless an edit says else."""
        if request is self.call.request or request == self.call.request:
            return self.given
        changed: dict[str, Any] = decode(request["arguments"])
        return changed


@contextmanager
def _covering(name: str) -> Iterator[None]:
    """What is called here belongs to the call of this tool; models that it asks do not."""
    tokens = COVERED_TOOL.set(name), COVERED.set(False)
    try:
        yield
    finally:
        COVERED_TOOL.reset(tokens[0])
        COVERED.reset(tokens[1])


def tool_call(
    name: str,
    arguments: dict[str, Any],
    make: Callable[[dict[str, Any]], Any],
    *,
    effect: Effect | None = None,
    more: dict[str, Any] | None = None,
    of: Any = None,
    dump: Callable[[Any], Any] = encode,
    load: Callable[[Any], Any] = decode,
) -> Any:
    """Take a call that a framework makes to a tool over the seam; sync code.

    What lies further in and has the same name (a function with ``@workbench.tool``, an MCP
    server's tool) is the same call and is not recorded again; its effect and idempotency key
    count. Outside any session, and inside a call that covers this one, it is just made.

    Args:
        name: the tool's name, as the model knows it.
        arguments: what it is called with, by name, as the model gave it.
        make: makes the call; gets the arguments, which an edit may have changed.
        effect: ``"read"`` or ``"write"`` where the framework tells; None where it does not.
        more: whatever else tells two calls apart, such as ``{"server": "shop"}``.
        of: the function that does it, where the framework knows: if that is a function with
            ``@workbench.tool``, or wraps one, its effect and key count, whatever others of the
            same name say.
        dump: a result as JSON that the trace keeps.
        load: the result again, from that JSON.

    Returns:
        What ``make`` gave, or what the session gives instead.

    Raises:
        Exception: the tool's own, now or when it was recorded, or an injected one.
    """
    seam = current_seam()
    if seam is None or COVERED_TOOL.get() == name:
        return make(arguments)
    framed = _Framed(name, arguments, effect, more, of)

    def made(request: Any) -> Any:
        with _covering(name):
            return make(framed.arguments(request))

    return call_sync(seam, framed.call, ValueHooks(made, dump=dump, load=load))


async def atool_call(
    name: str,
    arguments: dict[str, Any],
    make: Callable[[dict[str, Any]], Awaitable[Any]],
    *,
    effect: Effect | None = None,
    more: dict[str, Any] | None = None,
    of: Any = None,
    dump: Callable[[Any], Any] = encode,
    load: Callable[[Any], Any] = decode,
) -> Any:
    """The same as :func:`tool_call` for async code; ``make`` gives an awaitable."""
    seam = current_seam()
    if seam is None or COVERED_TOOL.get() == name:
        return await make(arguments)
    framed = _Framed(name, arguments, effect, more, of)

    async def made(request: Any) -> Any:
        with _covering(name):
            return await make(framed.arguments(request))

    return await call_async(seam, framed.call, AsyncValueHooks(made, dump=dump, load=load))
