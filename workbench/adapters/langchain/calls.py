"""The four methods of a chat model that its author writes, on the seam."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import aclosing, closing
from typing import Any

from workbench.adapters.frameworks.codec import Body, Codec
from workbench.adapters.frameworks.models import (
    amodel_call,
    amodel_stream,
    model_call,
    model_stream,
)
from workbench.adapters.langchain import names
from workbench.adapters.langchain.codec import Asked, ChatCodec, apart
from workbench.adapters.langchain.neutral import request_of


class Calls:
    """The methods of one model."""

    def __init__(self, model: Any) -> None:
        self._model = model

    @functools.cached_property
    def generate(self) -> Callable[..., Any]:
        """Ask, and get the whole answer."""
        method = self._model._generate  # noqa: SLF001 - the method that a model's author writes

        @functools.wraps(method)
        def generate(
            messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
        ) -> Any:
            codec, request, asked = self._asked(messages, stop, options)
            return model_call(codec, request, asked, _through(method, run_manager))

        return generate

    @functools.cached_property
    def agenerate(self) -> Callable[..., Awaitable[Any]]:
        """The same for async code."""
        method = self._model._agenerate  # noqa: SLF001 - as above

        @functools.wraps(method)
        async def agenerate(
            messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
        ) -> Any:
            codec, request, asked = self._asked(messages, stop, options)
            return await amodel_call(codec, request, asked, _through(method, run_manager))

        return agenerate

    @functools.cached_property
    def stream(self) -> Callable[..., Iterator[Any]]:
        """Ask, and get the answer in pieces."""
        method = self._model._stream  # noqa: SLF001 - as above

        @functools.wraps(method)
        def stream(
            messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
        ) -> Iterator[Any]:
            codec, request, asked = self._asked(messages, stop, options)
            make = _through(method, run_manager)
            return model_stream(codec, request, asked, lambda g: self._apart(make(g)))

        return stream

    @functools.cached_property
    def astream(self) -> Callable[..., AsyncIterator[Any]]:
        """The same for async code."""
        method = self._model._astream  # noqa: SLF001 - as above

        @functools.wraps(method)
        async def astream(
            messages: Any, stop: Any = None, run_manager: Any = None, **options: Any
        ) -> AsyncIterator[Any]:
            codec, request, asked = self._asked(messages, stop, options)
            make = _through(method, run_manager)
            read: Any = await amodel_stream(codec, request, asked, lambda g: self._aapart(make(g)))
            async with aclosing(read) as chunks:
                async for chunk in chunks:
                    yield chunk

        return astream

    def _asked(
        self, messages: Any, stop: Any, options: dict[str, Any]
    ) -> tuple[Codec, Body, Asked]:
        name, provider, settings = self._known(stop, options)
        request = request_of(name, messages, stop, {**settings, **options})
        return ChatCodec(provider), request, Asked(list(messages), stop, options)

    def _known(self, stop: Any, options: dict[str, Any]) -> tuple[str, str | None, dict[str, Any]]:
        """The model's name, who serves it, and how it is set."""
        known = names.about(self._model, stop, options)
        settings = {
            key: known[f"ls_{key}"]
            for key in ("temperature", "max_tokens")
            if known.get(f"ls_{key}") is not None
        }
        name = known.get("ls_model_name") or self._model._llm_type  # noqa: SLF001 - authors write it
        return str(name), known.get("ls_provider"), settings

    def _split(self, chunk: Any) -> Iterable[Any]:
        """The pieces that a chunk is kept as."""
        return apart(chunk)

    def _apart(self, chunks: Any) -> Iterator[Any]:
        with closing(chunks):
            for chunk in chunks:
                yield from self._split(chunk)

    async def _aapart(self, chunks: Any) -> AsyncIterator[Any]:
        async with aclosing(chunks):
            async for chunk in chunks:
                for each in self._split(chunk):
                    yield each


def _through(method: Any, run_manager: Any) -> Callable[[Asked], Any]:
    """Makes the call for real; a model need not want to hear of callbacks."""
    wants = "run_manager" in names.parameters(method)
    more = {"run_manager": run_manager} if wants and run_manager is not None else {}

    def make(asked: Asked) -> Any:
        return method(asked.messages, stop=asked.stop, **more, **asked.options)

    return make
