"""Streams: told to the session event by event while they are read, and played back the same way.

Both work on bytes, below the SDK's stream classes, so that those are the SDK's own in every way
that a stream can be asked for. An event is noted before the SDK sees it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

from workbench.adapters.http.wire import DONE, Event, body_bytes, body_text
from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.description import Endpoint
from workbench.adapters.stainless.errors import (
    EventFault,
    StreamEventError,
    as_seen,
    to_exception,
    transport_error,
)
from workbench.errors import StopRun
from workbench.seam.calls import Served
from workbench.seam.drivers import Tap
from workbench.trace.entries import ErrorInfo

_PATIENCE_S = 5.0


class Tee:
    """Reads along with a response's stream, whoever reads it and by which method."""

    def __init__(self, asked: sdk.Asked, response: Any, tap: Tap, *, is_async: bool) -> None:
        self._about = asked.about
        self._endpoint = asked.endpoint
        self._over = False
        """Whether it said itself that it is complete, or was broken by what it said."""
        self._stops = False
        """Whether a fault lets nothing more through."""
        self._is_async = is_async
        self._response = response
        self._tap = tap
        self._framing = asked.about.framing(asked.client)
        self._splitter = self._framing.splitter()
        self._pulling = False
        self.at = time.monotonic()
        """When the last event came."""

    def attach(self) -> None:
        """From now on the response's readers read through this."""
        response = self._response
        if self._is_async:
            response.aiter_bytes, response.aclose = self._aiter_bytes, self._aclose
        else:
            response.iter_bytes, response.close = self._iter_bytes, self._close

    def _iter_bytes(self, _size: int | None = None) -> Iterator[bytes]:
        response = self._response
        source = type(response).iter_bytes(response)
        try:
            while self._goes_on():
                piece = self._pull(source)
                if piece is None:
                    yield self._rest()
                    break
                for event in self._splitter.feed(piece):
                    if not self._goes_on():
                        break
                    yield self._admit(event)
            if not self._over:
                self._complete(done=False)
        except GeneratorExit:
            self._tap.let_go()
            raise
        except BaseException as error:  # whatever ends the stream is noted, and goes on
            broken = self._broke(error)
            if broken is error:
                raise
            raise broken from broken.__cause__
        response.close()

    async def _aiter_bytes(self, _size: int | None = None) -> AsyncIterator[bytes]:
        response = self._response
        source = type(response).aiter_bytes(response)
        try:
            while self._goes_on():
                piece = await self._apull(source)
                if piece is None:
                    yield self._rest()
                    break
                for event in self._splitter.feed(piece):
                    if not self._goes_on():
                        break
                    yield self._admit(event)
            if not self._over:
                self._complete(done=False)
        except GeneratorExit:
            self._tap.let_go()
            raise
        except BaseException as error:  # whatever ends the stream is noted, and goes on
            broken = self._broke(error)
            if broken is error:
                raise
            raise broken from broken.__cause__
        await response.aclose()

    def _goes_on(self) -> bool:
        """Whether a fault lets more of it through."""
        return not self._stops and not self._tap.clean_cut()

    def _rest(self) -> bytes:
        """What came after the last event, or instead of any: it is kept as text."""
        rest = self._splitter.rest()
        if rest.strip() and self._framing.is_text:
            self._head["rest"] = body_text(rest, self._head.get("headers") or {})
        return rest

    def drain(self) -> None:
        """Read to the end, or to what breaks the stream, which is noted as if it were read."""
        with contextlib.suppress(Exception):
            for _ in self._response.iter_bytes():
                pass

    async def adrain(self) -> None:
        """The same, async."""
        with contextlib.suppress(Exception):
            async for _ in self._response.aiter_bytes():
                pass

    # A response closes itself when its last byte is read: that is no reader who lets go.

    def _pull(self, source: Iterator[bytes]) -> bytes | None:
        self._pulling = True
        try:
            return next(source, None)
        finally:
            self._pulling = False

    async def _apull(self, source: AsyncIterator[bytes]) -> bytes | None:
        self._pulling = True
        try:
            return await anext(source, None)
        finally:
            self._pulling = False

    def _close(self) -> None:
        if not self._pulling:
            self._tap.let_go()
        type(self._response).close(self._response)

    async def _aclose(self) -> None:
        if not self._pulling:
            self._tap.let_go()
        await type(self._response).aclose(self._response)

    def _admit(self, event: Event) -> bytes:
        """Note an event that is about to be handed on; gives what is.

        Raises:
            BaseException: a fault breaks the stream off here, or the run was stopped.
        """
        self.at = time.monotonic()
        if event.data is None:
            return event.raw
        if event.is_done:
            self._complete(done=True)
            return event.raw
        data, bad = _parsed(event)
        raised = self._about.event_error(event, data)
        if raised is not None:
            kind, message = raised
            failed = StreamEventError(kind, self._about.module, message, data, event.name)
            self._over = True
            self._tap.end("cut", failed)
            return event.raw
        if bad is not None:
            self._over = True
            self._tap.end("cut", bad)
            return event.raw
        if self._tap.known.model is None:
            self._tap.known.model = model_of(data)
        self._named(event.name, data)
        try:
            self._tap.chunk(data)
        except EventFault as fault:
            return self._spoilt(fault)
        self._tap.whole = kind_of(data) in self._endpoint.last
        return event.raw

    def _spoilt(self, fault: EventFault) -> bytes:
        """The provider's error in the place of an event, and of all that would follow."""
        self._stops = True
        (event,) = self._framing.splitter().feed(self._framing.write(fault.body, "error"))
        return self._admit(event)

    def _named(self, name: str | None, data: Any) -> None:
        """Keep an event's name where it is not the one that is expected, once for each type."""
        kind = kind_of(data)
        if name != (kind if self._endpoint.named else None):
            self._head.setdefault("event_names", {})[kind or ""] = name

    def _complete(self, *, done: bool) -> None:
        """Note that the stream came to its end, and whether it said so as is expected."""
        self._over = True
        if done != self._endpoint.done and "rest" not in self._head:
            self._head["done"] = done
        self._tap.end("complete")

    @property
    def _head(self) -> dict[str, Any]:
        """What is known of the response, to which a stream's own ways are added."""
        head: dict[str, Any] = self._tap.known.response
        return head

    def _broke(self, error: BaseException) -> BaseException:
        """Note how the stream broke, and give what is to be raised from the bytes' source."""
        request = self._response.request
        if isinstance(error, StopRun):
            self._tap.end("cancelled")
            return error
        if isinstance(error.__cause__, sdk.transport(request).RequestError):
            error = error.__cause__  # the SDK makes its own type of it, where it does
        stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        self._tap.end("cancelled" if stopped else "cut", as_seen(self._about, error, request))
        return error


def model_of(data: Any) -> str | None:
    """The model that an answer names, plain or the first events of a stream."""
    if not isinstance(data, dict):
        return None
    for each in (data, data.get("response"), data.get("message")):
        if isinstance(each, dict) and isinstance(each.get("model"), str):
            return str(each["model"])
    return None


class Playback:
    """The bytes of a served stream, one event at a time; then its end, or what broke it."""

    def __init__(self, asked: sdk.Asked, request: Any, served: Served) -> None:
        self._asked = asked
        self._request = request
        endpoint = asked.endpoint
        write = asked.about.framing(asked.client).write
        head = served.response if isinstance(served.response, dict) else {}
        names = head.get("event_names") or {}
        self._left = [write(chunk, _name(chunk, names, endpoint)) for chunk in served.chunks or ()]
        self._left.reverse()
        self._error = served.error
        self.tap: Any = None
        """Where its end waits for its turn, once somebody reads it."""
        rest = head.get("rest")
        if isinstance(rest, str):
            self._left.insert(0, body_bytes(rest, head.get("headers") or {}))
        elif served.error is None:
            self._left.insert(0, DONE if head.get("done", endpoint.done) else b"")
        elif _is_event(served.error):
            extra = served.error.model_extra or {}
            self._left.insert(0, write(served.error.body, extra.get("event")))
            self._error = None

    def stream(self, *, is_async: bool) -> Any:
        """The body of a response, as its HTTP library wants it."""
        library = sdk.transport(self._request)
        base = library.AsyncByteStream if is_async else library.SyncByteStream
        reader = "__aiter__" if is_async else "__iter__"
        method = self._apieces if is_async else self._pieces
        return type("Playback", (base,), {reader: lambda _: method()})()

    def _pieces(self) -> Iterator[bytes]:
        while self._left:
            if self._ends():
                self.tap.wait()
            yield self._left.pop()
        if self._error is not None:
            raise self._exception(self._error)

    async def _apieces(self) -> AsyncIterator[bytes]:
        while self._left:
            if self._ends():
                await self.tap.await_turn()
            yield self._left.pop()
        if self._error is not None:
            await wait_like(self._error)
            raise self._exception(self._error)

    def _ends(self) -> bool:
        """Whether the last piece is next, of a stream that ends as it should."""
        return len(self._left) == 1 and self._error is None and self.tap is not None

    def _exception(self, info: ErrorInfo) -> BaseException:
        error = to_exception(self._asked, info)
        is_lost = isinstance(error.__cause__, sdk.transport(self._request).RequestError)
        return transport_error(info, self._request) if is_lost else error


def kind_of(data: Any) -> str | None:
    """The type that an event's data have."""
    found = data.get("type") if isinstance(data, dict) else None
    return found if isinstance(found, str) else None


def _name(chunk: Any, names: dict[str, str | None], endpoint: Endpoint) -> str | None:
    kind = kind_of(chunk)
    return names.get(kind or "", kind if endpoint.named else None)


def _parsed(event: Event) -> tuple[Any, StreamEventError | None]:
    """An event's data; its text, and what the SDK raises, where that is no JSON."""
    text = event.data or ""
    try:
        return json.loads(text), None
    except ValueError as error:
        kind, module = type(error).__name__, type(error).__module__
        return text, StreamEventError(kind, module, str(error), text, event.name)


def _is_event(info: ErrorInfo) -> bool:
    return info.status is None and info.body is not None


async def wait_like(info: ErrorInfo) -> None:
    """For a call that was cancelled: wait to be cancelled again, as by the same time limit.

    Without it the cancellation would come from within, where nothing tells it from a bug. Whoever
    cancelled may not do so in this run, so the wait ends: then the cancellation is raised.
    """
    if info.type == "CancelledError":
        lasted = (info.model_extra or {}).get("after_s")
        await asyncio.sleep(_PATIENCE_S + 2 * (lasted if isinstance(lasted, int | float) else 0))
