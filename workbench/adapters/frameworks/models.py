"""Model calls of frameworks that no hooked SDK sends: how they cross the seam.

An adapter brings a :class:`~workbench.adapters.frameworks.codec.Codec` and wraps its framework's
model method with one of the four functions here. What is called while the real call runs belongs
to it (``COVERED``), so a call that an SDK makes inside is not recorded a second time.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from workbench.adapters.frameworks.codec import NATIVE, Body, Codec
from workbench.adapters.frameworks.pieces import (
    APieces,
    Pieces,
    alive_pieces,
    aplayed,
    atee,
    live_pieces,
    played,
    served_pieces,
    tee,
)
from workbench.seam.agentio.streams import APulled, Pulled
from workbench.seam.calls import Call, Outcome, Served
from workbench.seam.current import COVERED, current_seam
from workbench.seam.drivers import Seam, Tap, call_async, call_sync
from workbench.seam.exceptions import timed, until_cancelled
from workbench.trace.entries import ErrorInfo

__all__ = ["Codec", "amodel_call", "amodel_stream", "model_call", "model_stream"]

API = "workbench"


def model_call(codec: Codec, request: Body, given: Any, make: Callable[[Any], Any]) -> Any:
    """Take a framework's model call over the seam; sync code.

    Args:
        codec: what the framework's calls look like.
        request: what is asked, in the neutral shape: ``{"model", "messages", "tools", …}``, plain
            JSON that nobody changes later.
        given: all that ``make`` needs.
        make: makes the call for real; gets ``given``, which an edited request may have changed.

    Returns:
        The framework's response: what ``make`` gave, or what the session gives instead.

    Raises:
        Exception: the framework's own, now or when it was recorded, or an injected one.
    """
    seam = _seam()
    if seam is None:
        return make(given)
    call = _call(request, stream=False)
    return call_sync(seam, call, ModelHooks(codec, call, given, make))


async def amodel_call(
    codec: Codec, request: Body, given: Any, make: Callable[[Any], Awaitable[Any]]
) -> Any:
    """The same as :func:`model_call` for async code; ``make`` gives an awaitable."""
    seam = _seam()
    if seam is None:
        return await make(given)
    call = _call(request, stream=False)
    return await call_async(seam, call, AsyncModelHooks(codec, call, given, make))


def model_stream(
    codec: Codec, request: Body, given: Any, make: Callable[[Any], Iterator[Any]]
) -> Iterator[Any]:
    """Take a framework's streamed model call over the seam; sync code.

    The call is made at once, and its first piece fetched, so that one that fails before that fails
    here. ``make`` gives an iterator of the framework's pieces. Arguments else as
    :func:`model_call`.
    """
    seam = _seam()
    if seam is None:
        return make(given)
    call = _call(request, stream=True)
    got: Iterator[Any] = call_sync(seam, call, ModelHooks(codec, call, given, make))
    return got


async def amodel_stream(
    codec: Codec, request: Body, given: Any, make: Callable[[Any], Any]
) -> AsyncIterator[Any]:
    """The same as :func:`model_stream` for async code: ``make`` gives an async iterator, or an
    awaitable of one."""
    seam = _seam()
    if seam is None:
        source: AsyncIterator[Any] = await _settled(make(given))
        return source
    call = _call(request, stream=True)
    got: AsyncIterator[Any] = await call_async(
        seam, call, AsyncModelHooks(codec, call, given, make)
    )
    return got


class ModelHooks:
    """One model call of sync code. Made anew for each call."""

    def __init__(self, codec: Codec, call: Call, given: Any, make: Callable[[Any], Any]) -> None:
        self._codec = codec
        self._call = call
        self._request = call.request
        self._given = given
        self._make = make
        self._since = time.monotonic()
        self._served = False

    def perform(self, request: Any) -> Any:
        """Make the call for real."""
        token = COVERED.set(True)
        try:
            result = self._make(self._asked(request))
            if not self._call.stream:
                return result
            pulled: Any = Pulled(result)
            return Pieces(live_pieces(self._codec, pulled), pulled)
        finally:
            COVERED.reset(token)

    def _asked(self, request: Any) -> Any:
        self._since = time.monotonic()
        if request is self._request or request == self._request:
            return self._given
        return self._codec.apply(self._given, request["body"], self._request["body"])

    def outcome(self, result: Any) -> Outcome:
        """Read a response."""
        body = self._codec.body(result)
        return Outcome(
            response={"body": body, NATIVE: self._codec.dump(result)},
            provider=None if self._served else self._codec.provider,
            model=_model(body),
        )

    def failure(self, error: BaseException) -> Outcome:
        """Read an exception."""
        return Outcome(
            error=timed(self._codec.failure(error), self._since),
            provider=None if self._served else self._codec.provider,
        )

    def exception(self, info: ErrorInfo) -> BaseException:
        """The framework's own exception."""
        return self._codec.exception(info)

    def deliver(self, served: Served) -> Any:
        """A response that does not come from the world."""
        self._served = True
        if served.chunks is not None:
            pieces = played(served_pieces(self._codec, served.chunks), served.error, self.exception)
            return Pieces(pieces, pieces)
        if served.error is not None:
            raise self.exception(served.error)
        return self._loaded(served.response)

    def _loaded(self, response: Any) -> Any:
        whole = response if isinstance(response, dict) else {}
        body = whole.get("body")
        if not isinstance(body, dict):
            raise self.exception(_no_reply(body))
        if NATIVE in whole:
            result = self._codec.load(whole[NATIVE])
            if self._codec.body(result) == body:
                return result
        return self._codec.make(body)

    def is_stream(self, result: Any) -> bool:
        """Whether pieces are yet to be read."""
        return isinstance(result, Pieces | APieces)

    def tee(self, result: Any, tap: Tap) -> Any:
        """The framework's pieces, told to the tap."""
        self._tell(tap)
        return tee(result, tap)

    def _tell(self, tap: Tap) -> None:
        if not self._served:
            tap.known.provider = self._codec.provider


class AsyncModelHooks(ModelHooks):
    """One model call of async code."""

    async def perform(self, request: Any) -> Any:
        """Make the call for real."""
        token = COVERED.set(True)
        try:
            result = await _settled(self._make(self._asked(request)))
            if not self._call.stream:
                return result
            pulled: Any = await APulled(result).start()
            return APieces(alive_pieces(self._codec, pulled), pulled)
        finally:
            COVERED.reset(token)

    def deliver(self, served: Served) -> Any:
        """A response that does not come from the world; a cancelled call waits to be."""
        self._served = True
        if served.chunks is not None:
            pieces = aplayed(
                served_pieces(self._codec, served.chunks), served.error, self.exception
            )
            return APieces(pieces, pieces)
        if served.is_cancelled and served.error is not None:
            return until_cancelled(served.error)
        return super().deliver(served)

    def tee(self, result: Any, tap: Tap) -> Any:
        """The framework's pieces, told to the tap."""
        self._tell(tap)
        return atee(result, tap)


def _seam() -> Seam | None:
    return None if COVERED.get() else current_seam()


def _call(request: Body, *, stream: bool) -> Call:
    body = {**request, "stream": True} if stream else request
    return Call(kind="model", api=API, model=_model(body), stream=stream, request={"body": body})


def _model(body: Body) -> str | None:
    model = body.get("model")
    return model if isinstance(model, str) else None


def _no_reply(body: Any) -> ErrorInfo:
    return ErrorInfo(
        type="malformed_response",
        message=f"what was recorded here is no reply of a model: {body!r:.200}",
    )


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value
