"""DSPy's engines on the seam: one attempt of one call, below DSPy's own retries.

Caches, retries, history, usage, prices and the parsing of answers stay DSPy's own, in a replay too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from workbench.adapters.dspy.codec import EngineCodec, asked_of
from workbench.adapters.dspy.legacy import LegacyAsked, LegacyCodec, legacy_asked_of
from workbench.adapters.frameworks.models import (
    amodel_call,
    amodel_stream,
    model_call,
    model_stream,
)
from workbench.seam.current import current_seam


def on_seam(wrapped: Any, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps the choice of an engine: gives it with its methods on the seam."""
    if current_seam() is None:
        return wrapped(*args, **kwargs)
    engine, *rest = wrapped(*args, **kwargs)
    asynchronous = args[2] if len(args) > 2 else kwargs["asynchronous"]
    return ((AsyncOnSeam if asynchronous else OnSeam)(engine), *rest)


class OnSeam:
    """An engine of sync code."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def complete(self, request: Any) -> Any:
        """Ask, and get the whole answer."""
        return model_call(EngineCodec(), asked_of(request), request, self._engine.complete)

    def stream(self, request: Any) -> Iterator[Any]:
        """Ask, and get the answer in pieces."""
        return model_stream(EngineCodec(), asked_of(request), request, self._engine.stream)

    def complete_legacy(self, lm: Any, request: dict[str, Any], **context: Any) -> Any:
        """Ask in the older shape."""
        asked = LegacyAsked(request, context)

        def make(given: LegacyAsked) -> Any:
            return self._engine.complete_legacy(lm, given.request, **given.context)

        return model_call(LegacyCodec(lm), legacy_asked_of(request), asked, make)


class AsyncOnSeam:
    """An engine of async code."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    async def complete(self, request: Any) -> Any:
        """Ask, and get the whole answer."""
        return await amodel_call(EngineCodec(), asked_of(request), request, self._engine.complete)

    async def stream(self, request: Any) -> AsyncIterator[Any]:
        """Ask, and get the answer in pieces."""
        pieces: Any = await amodel_stream(
            EngineCodec(), asked_of(request), request, self._engine.stream
        )
        try:
            async for piece in pieces:
                yield piece
        finally:
            await pieces.aclose()

    async def complete_legacy(self, lm: Any, request: dict[str, Any], **context: Any) -> Any:
        """Ask in the older shape."""
        asked = LegacyAsked(request, context)

        async def make(given: LegacyAsked) -> Any:
            return await self._engine.complete_legacy(lm, given.request, **given.context)

        return await amodel_call(LegacyCodec(lm), legacy_asked_of(request), asked, make)
