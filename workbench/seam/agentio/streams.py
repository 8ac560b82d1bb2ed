"""Streams: pulled from a model, told to the session, read by the agent."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Final, Self

from workbench.errors import UsageError
from workbench.seam.agentio.reply import VIEW, Chunk, Reply
from workbench.seam.current import COVERED
from workbench.seam.drivers import Tap

Body = dict[str, Any]
_END: Final[Any] = object()


class Pulled:
    """A model's chunks. The first is fetched at once, so that a call which fails before it fails
    as a whole, not as a stream that broke."""

    __slots__ = ("_first", "_source")

    def __init__(self, source: Iterator[Body]) -> None:
        self._source = iter(source)
        self._first = _END
        self._first = next(self, _END)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Body:
        if self._first is not _END:
            first, self._first = self._first, _END
            return first  # type: ignore[no-any-return]
        token = COVERED.set(True)
        try:
            return next(self._source)
        finally:
            COVERED.reset(token)

    def close(self) -> None:
        """Let the source go."""
        close(self._source)


class APulled:
    """The same for async code; await :meth:`start` first."""

    __slots__ = ("_first", "_source")

    def __init__(self, source: AsyncIterator[Body]) -> None:
        self._source = aiter(source)
        self._first = _END

    async def start(self) -> Self:
        """Fetch the first chunk."""
        self._first = await anext(self, _END)
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Body:
        if self._first is not _END:
            first, self._first = self._first, _END
            return first  # type: ignore[no-any-return]
        token = COVERED.set(True)
        try:
            return await anext(self._source)
        finally:
            COVERED.reset(token)

    async def aclose(self) -> None:
        """Let the source go."""
        await aclose(self._source)


def tee(source: Iterator[Body], tap: Tap) -> Iterator[Body]:
    """The same chunks, each told to the tap before it is handed on."""
    try:
        while not tap.clean_cut():
            chunk = next(source, _END)
            if chunk is _END:
                break
            _note(chunk, tap)
            yield chunk
        tap.wait()
        tap.end("complete")
    except GeneratorExit:
        tap.let_go()
        raise
    except BaseException as error:
        tap.broke(error)
        raise
    finally:
        close(source)


async def atee(source: AsyncIterator[Body], tap: Tap) -> AsyncIterator[Body]:
    """The same chunks, each told to the tap before it is handed on."""
    try:
        while not tap.clean_cut():
            chunk = await anext(source, _END)
            if chunk is _END:
                break
            _note(chunk, tap)
            yield chunk
        await tap.await_turn()
        tap.end("complete")
    except GeneratorExit:
        tap.let_go()
        raise
    except BaseException as error:
        tap.broke(error)
        raise
    finally:
        await aclose(source)


def _note(chunk: Body, tap: Tap) -> None:
    if tap.known.model is None:
        tap.known.model = VIEW.model(chunk)
    tap.chunk(chunk)


def close(source: Any) -> None:
    """Close an iterator that can be closed."""
    closing = getattr(source, "close", None)
    if closing is not None:
        closing()


async def aclose(source: Any) -> None:
    """Close an async iterator that can be closed."""
    closing = getattr(source, "aclose", None)
    if closing is not None:
        await closing()


class _Read:
    """What has been read of a stream."""

    __slots__ = ("_chunks", "_done", "_over", "_reply", "_source", "_start")

    def __init__(self, start: Callable[[], Any]) -> None:
        self._start = start
        self._source: Any = None
        self._chunks: list[Body] = []
        self._done = False  # read to its end
        self._over = False  # broken off, or let go
        self._reply: Reply | None = None

    @property
    def reply(self) -> Reply:
        """The whole reply, once the stream has been read to its end.

        Raises:
            UsageError: it has not.
        """
        if not self._done:
            raise UsageError(
                "the reply is there once the stream has been read to its end; read() reads the rest"
            )
        if self._reply is None:
            self._reply = Reply(VIEW.assemble(self._chunks))
        return self._reply

    def _took(self, chunk: Body) -> Chunk:
        self._chunks.append(chunk)
        return Chunk(chunk)


class SyncStream(_Read):
    """A reply in pieces: an iterator of chunks. The call begins when the first one is asked for."""

    __slots__ = ()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Chunk:
        if self._done or self._over:
            raise StopIteration
        try:
            if self._source is None:
                self._source = self._start()
            chunk = next(self._source, _END)
        except BaseException:
            self._over = True
            raise
        if chunk is _END:
            self._done = True
            raise StopIteration
        return self._took(chunk)

    def read(self) -> Reply:
        """The whole reply, the rest of the stream read."""
        for _ in self:
            continue
        return self.reply

    def close(self) -> None:
        """Read no further: the call ends here."""
        self._over = True
        close(self._source)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Stream(_Read):
    """A reply in pieces: an async iterator of chunks. The call begins when the first one is asked
    for."""

    __slots__ = ()

    def __init__(self, start: Callable[[], Awaitable[Any]]) -> None:
        super().__init__(start)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Chunk:
        if self._done or self._over:
            raise StopAsyncIteration
        try:
            if self._source is None:
                self._source = await self._start()
            chunk = await anext(self._source, _END)
        except BaseException:
            self._over = True
            raise
        if chunk is _END:
            self._done = True
            raise StopAsyncIteration
        return self._took(chunk)

    async def read(self) -> Reply:
        """The whole reply, the rest of the stream read."""
        async for _ in self:
            continue
        return self.reply

    async def aclose(self) -> None:
        """Read no further: the call ends here."""
        self._over = True
        await aclose(self._source)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
