"""Model calls that no hooked SDK sends: ``Model.request`` and ``Model.request_stream``."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import ModelResponse

from workbench.adapters.frameworks.asking import answered
from workbench.adapters.frameworks.models import amodel_call, amodel_stream
from workbench.adapters.pydantic_ai.codec import Edge, ResponseCodec
from workbench.adapters.pydantic_ai.conversation import Asked, request_body
from workbench.adapters.pydantic_ai.library import Replayed, event_iterator, is_ours, read_through
from workbench.seam.current import COVERED, current_seam


def request(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``Model.request`` of any model."""
    if COVERED.get() or current_seam() is None:
        return wrapped(*args, **kwargs)
    if not is_ours(model):
        return _answered(wrapped(*args, **kwargs))
    asked = _asked(*args, **kwargs)
    body = request_body(_name(model), asked)
    call = amodel_call(_codec(model), body, asked, lambda given: wrapped(*given.arguments))
    return _answered(call)


async def _answered(call: Any) -> Any:
    response = await call
    answered()
    return response


def request_stream(
    wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> AbstractAsyncContextManager[Any]:
    """``Model.request_stream`` of any model."""
    if COVERED.get() or current_seam() is None:
        real: AbstractAsyncContextManager[Any] = wrapped(*args, **kwargs)
        return real
    if not is_ours(model):
        return _opened(wrapped(*args, **kwargs))
    return _opened(_streamed(wrapped, model, _asked(*args, **kwargs)))


@asynccontextmanager
async def _opened(streaming: Any) -> AsyncIterator[Any]:
    async with streaming as stream:
        answered()
        yield stream


@asynccontextmanager
async def _streamed(wrapped: Any, model: Any, asked: Asked) -> AsyncIterator[Any]:
    codec = _codec(model)
    async with AsyncExitStack() as stack:
        live = _Live(wrapped, stack)
        body = request_body(_name(model), asked)
        pieces: Any = await amodel_stream(codec, body, asked, live.pieces)
        stack.push_async_callback(pieces.aclose)
        first = await anext(pieces, None)
        begin = first if isinstance(first, Edge) and not first.last else None
        if live.stream is not None and begin is live.begin:
            read_through(live.stream, _live_events(pieces))
            yield live.stream
            return
        if begin is None:
            made = codec.make({"content": None})
            begin, pieces = Edge(_without_parts(made)), _again(first, pieces)
        events = _Served(pieces)
        events.stream = Replayed.of(asked.parameters, begin.response, events.read())
        yield events.stream


class _Live:
    """The model's own stream, while it is open."""

    def __init__(self, wrapped: Any, stack: AsyncExitStack) -> None:
        self._wrapped = wrapped
        self._stack = stack
        self.stream: Any = None
        self.begin: Edge | None = None

    async def pieces(self, given: Asked) -> AsyncIterator[Any]:
        """Its events, between its edges."""
        self.stream = await self._stack.enter_async_context(self._wrapped(*given.arguments))
        self.begin = Edge(_without_parts(self.stream.get()))
        events = event_iterator(self.stream)  # before the stream is made to read through ours
        yield self.begin
        async for event in events:
            yield event
        yield Edge(_without_parts(self.stream.get()), last=True)


async def _live_events(pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for piece in pieces:
        if not isinstance(piece, Edge):
            yield piece


class _Served:
    """Events that no model sends."""

    def __init__(self, pieces: AsyncIterator[Any]) -> None:
        self._pieces = pieces
        self.stream: Replayed | None = None

    async def read(self) -> AsyncIterator[Any]:
        """The events; what the edges say, the stream is told."""
        async for piece in self._pieces:
            if not isinstance(piece, Edge):
                yield piece
            elif self.stream is not None:
                self.stream.take(piece.response)


async def _again(first: Any, rest: AsyncIterator[Any]) -> AsyncIterator[Any]:
    if first is not None:
        yield first
    async for piece in rest:
        yield piece


def _without_parts(response: Any) -> Any:
    bare: ModelResponse = replace(response, parts=[])
    return bare


def _asked(
    messages: Any, model_settings: Any, model_request_parameters: Any, *more: Any, **named: Any
) -> Asked:
    return Asked(messages, model_settings, model_request_parameters, (*more, *named.values()))


def _codec(model: Any) -> ResponseCodec:
    return ResponseCodec(_name(model), getattr(model, "system", None))


def _name(model: Any) -> str:
    return str(model.model_name)
