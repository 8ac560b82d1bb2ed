"""Tools that are generators: each value that they yield crosses the seam when it comes.

The agent gets a generator, as it would without a session; the call begins when the first value is
asked for, as the function itself does. What a generator's body asks of the world belongs to its
call, but what its reader asks for between two values does not: the body runs in a context of its
own.
"""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.errors import UsageError
from workbench.seam.binding import Within
from workbench.seam.calls import MISSING
from workbench.seam.current import current_seam
from workbench.seam.drivers import call_async, call_sync
from workbench.seam.exceptions import until_cancelled
from workbench.seam.served import as_yielded
from workbench.seam.tool_hooks import ToolHooks
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator
    from contextvars import Context

    from workbench.seam.calls import Served
    from workbench.seam.drivers import Tap
    from workbench.seam.tool import Tool

Piece = tuple[Any, Any]
"""A value as the trace keeps it, and as the agent gets it."""


def generated(
    tool: Tool[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Generator[Any, Any, Any]:
    """The generator that an agent gets of a tool that is one."""
    seam = current_seam()
    if seam is None:
        return (yield from tool.function(*args, **kwargs))
    hooks = StreamHooks(tool, args, kwargs)
    stream = iter(call_sync(seam, hooks.call, hooks))
    try:
        while True:
            try:
                value = next(stream)
            except StopIteration as stop:
                return stop.value
            try:
                sent = yield value
            except Exception as error:  # noqa: BLE001 - whatever is thrown in
                _refuse(tool, "throw", error)
            if sent is not None:
                _refuse(tool, "send")
    finally:
        stream.close()


async def agenerated(
    tool: Tool[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AsyncGenerator[Any, Any]:
    """The same for a tool that is an async generator."""
    seam = current_seam()
    if seam is None:
        async for value in tool.function(*args, **kwargs):
            yield value
        return
    hooks = AsyncStreamHooks(tool, args, kwargs)
    stream = aiter(await call_async(seam, hooks.call, hooks))
    try:
        async for value in stream:
            try:
                sent = yield value
            except Exception as error:  # noqa: BLE001 - whatever is thrown in
                _refuse(tool, "athrow", error)
            if sent is not None:
                _refuse(tool, "asend")
    finally:
        await stream.aclose()


def _refuse(tool: Tool[..., Any], what: str, cause: BaseException | None = None) -> NoReturn:
    raise UsageError(
        f"{what}() into the tool {tool.name}: a session keeps what a generator yields, and not "
        "what is put into it. Give it as an argument, or let another tool take it"
    ) from cause


class Recorded:
    """What a generator yields that does not run."""

    def __init__(self, hooks: StreamHooks, served: Served) -> None:
        self._hooks = hooks
        self._served = served

    def pieces(self) -> Generator[Piece, None, Any]:
        """What was recorded, one by one; gives what the generator returned."""
        hooks, served = self._hooks, self._served
        for data in served.chunks or ():
            yield data, hooks.value(data)
        if served.error is not None:
            raise hooks.exception(served.error)
        return None if served.response is MISSING else decode(served.response)

    def __iter__(self) -> Generator[Any, None, Any]:
        pieces = self.pieces()
        while True:
            try:
                _, value = next(pieces)
            except StopIteration as stop:
                return stop.value
            yield value

    async def apieces(self) -> AsyncGenerator[Piece, None]:
        """The same for async code; a call that was cancelled waits to be."""
        hooks, served = self._hooks, self._served
        for data in served.chunks or ():
            yield data, hooks.value(data)
        if served.error is not None:
            error = hooks.exception(served.error)
            if isinstance(error, asyncio.CancelledError):
                await until_cancelled(served.error)
            raise error

    async def __aiter__(self) -> AsyncGenerator[Any, None]:
        async for _, value in self.apieces():
            yield value


class StreamHooks(ToolHooks):
    """Takes one call of a generator over the seam."""

    def __init__(self, tool: Tool[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(tool, args, kwargs)
        self._context: Context | None = None

    def perform(self, request: Any) -> Any:
        """The generator; nothing of it has run."""
        self._context = copy_context()  # in which this call encloses what is asked
        return super().perform(request)

    def value(self, data: Any) -> Any:
        """A value that was yielded, from the trace."""
        return self._loaded(data)

    def is_stream(self, result: Any) -> bool:  # noqa: ARG002 - there is nothing else
        """Always."""
        return True

    def deliver(self, served: Served) -> Any:
        """What does not come from the world, as it is yielded."""
        if served.chunks is not None:
            return Recorded(self, served)
        if served.error is not None:
            raise self.exception(served.error)
        return Recorded(self, as_yielded(self._tool.name, served.response))

    def tee(self, result: Any, tap: Tap) -> Any:
        """The same values, each told to the tap before it is handed on."""
        source = result.pieces() if isinstance(result, Recorded) else self._live(result)
        return self._told(source, tap)

    def _live(self, generator: Generator[Any, Any, Any]) -> Generator[Piece, None, Any]:
        context = self._context or copy_context()
        try:
            while True:
                try:
                    value = context.run(next, generator)
                except StopIteration as stop:
                    return stop.value
                yield self._dumped(value), value
        finally:
            context.run(generator.close)

    def _told(self, source: Generator[Piece, None, Any], tap: Tap) -> Generator[Any, None, Any]:
        returned = None
        try:
            while not tap.clean_cut():
                try:
                    data, value = next(source)
                except StopIteration as stop:
                    returned = stop.value
                    break
                tap.chunk(data)
                yield value
            tap.wait()
            if returned is not None:
                tap.known.response = encode(returned, plain=self._tool.plain)
            tap.end("complete")
        except GeneratorExit:
            tap.let_go()
            raise
        except BaseException as error:
            tap.broke(error)
            raise
        finally:
            source.close()
        return returned


class AsyncStreamHooks(StreamHooks):
    """Takes one call of an async generator over the seam."""

    def tee(self, result: Any, tap: Tap) -> Any:
        """The same values, each told to the tap before it is handed on."""
        source = result.apieces() if isinstance(result, Recorded) else self._alive(result)
        return self._atold(source, tap)

    async def _alive(self, generator: AsyncGenerator[Any, Any]) -> AsyncGenerator[Piece, None]:
        context = self._context or copy_context()
        try:
            while True:
                try:
                    value = await Within(context, anext(generator))
                except StopAsyncIteration:
                    return
                yield self._dumped(value), value
        finally:
            await Within(context, generator.aclose())

    async def _atold(
        self, source: AsyncGenerator[Piece, None], tap: Tap
    ) -> AsyncGenerator[Any, None]:
        try:
            while not tap.clean_cut():
                try:
                    data, value = await anext(source)
                except StopAsyncIteration:
                    break
                tap.chunk(data)
                yield value
            await tap.await_turn()
            tap.end("complete")
        except GeneratorExit:
            tap.let_go()
            raise
        except BaseException as error:
            tap.broke(error)
            raise
        finally:
            await source.aclose()
