"""Streams: told to the session piece by piece while they are read, and played back the same way.

A piece is what a door of the SDK's hands on: one response with the next parts, as JSON text. The
SDK makes its own types of it. A piece is noted before the SDK sees it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

from workbench.adapters.google import sdk
from workbench.adapters.google.errors import is_inside, kept_headers
from workbench.errors import StopRun
from workbench.seam.calls import MISSING, Served
from workbench.seam.drivers import Tap
from workbench.trace.entries import ErrorInfo

_PATIENCE_S = 5.0
_END = object()


class Opened:
    """A stream of sync code whose connection is made: its first piece, or what came instead."""

    def __init__(self, source: Iterator[Any]) -> None:
        self.source = source
        self._first: Any = _END
        self._error: BaseException | None = None
        try:
            self._first = next(source, _END)
        except Exception as error:
            if not is_inside(error):
                raise
            self._error = error

    def __iter__(self) -> Iterator[Any]:
        if self._error is not None:
            raise self._error
        if self._first is not _END:
            yield self._first
            yield from self.source


class Tee:
    """Reads along with a stream.

    Args:
        tap: what is told.
        known: makes what is known of the outcome, from the response's headers.
    """

    def __init__(self, tap: Tap, known: Callable[[dict[str, str]], Any]) -> None:
        self._tap = tap
        self._known = known
        self.at = time.monotonic()
        """When the last piece came."""

    def read(self, source: Iterator[Any]) -> Iterator[Any]:
        """The pieces, each told before it is handed on."""
        try:
            while not self._tap.clean_cut():
                piece = next(source, _END)
                if piece is _END:
                    break
                self._note(piece)
                yield piece
            self._tap.end("complete")
        except GeneratorExit:
            self._tap.let_go()
            raise
        except BaseException as error:  # whatever ends the stream is noted, and goes on
            self._broke(error)
            raise
        finally:
            if hasattr(source, "close"):
                source.close()

    async def aread(self, source: AsyncIterator[Any]) -> AsyncIterator[Any]:
        """The same for async code."""
        reading = True
        try:
            while not self._tap.clean_cut():
                reading = True
                piece = await anext(source, _END)
                if piece is _END:
                    break
                self._note(piece)
                reading = False
                yield piece
            self._tap.end("complete")
        except GeneratorExit:
            self._tap.let_go()
            raise
        except asyncio.CancelledError as error:
            if reading:
                self._broke(error)
            else:  # a loop that ends puts away what its reader had left
                self._tap.let_go()
            raise
        except BaseException as error:  # whatever ends the stream is noted, and goes on
            self._broke(error)
            raise
        finally:
            if hasattr(source, "aclose"):
                await source.aclose()

    def _note(self, piece: Any) -> None:
        """Note a piece that is about to be handed on.

        Raises:
            BaseException: a fault breaks the stream off here, or the run was stopped.
        """
        self.at = time.monotonic()
        if self._tap.known.response is MISSING:
            self._tap.known = self._known(dict(piece.headers or {}))
        data = json.loads(piece.body) if piece.body else {}
        if self._tap.known.model is None and isinstance(data, dict):
            model = data.get("modelVersion")
            self._tap.known.model = model if isinstance(model, str) else None
        self._tap.chunk(data)

    def _broke(self, error: BaseException) -> None:
        if isinstance(error, StopRun):
            self._tap.end("cancelled")
            return
        stopped = isinstance(error, asyncio.CancelledError | KeyboardInterrupt)
        self._tap.end("cancelled" if stopped else "cut", error)


class Playback:
    """The pieces of a served stream; then its end, or what broke it."""

    def __init__(self, served: Served, exception: Callable[[ErrorInfo], BaseException]) -> None:
        head = served.response if isinstance(served.response, dict) else {}
        self.headers = kept_headers(head.get("headers") or {})
        self._chunks = served.chunks or []
        self._error = served.error
        self._exception = exception
        self.tap: Tap | None = None
        """Where its end waits for its turn, once somebody reads it."""

    def texts(self) -> Iterator[str]:
        """The JSON text of each piece."""
        for chunk in self._chunks:
            yield json.dumps(chunk)
        if self._error is not None:
            raise self._exception(self._error)
        if self.tap is not None:
            self.tap.wait()

    async def atexts(self) -> AsyncIterator[str]:
        """The same for async code; one that was cancelled waits to be."""
        for chunk in self._chunks:
            yield json.dumps(chunk)
        if self._error is not None:
            await wait_like(self._error)
            raise self._exception(self._error)
        if self.tap is not None:
            await self.tap.await_turn()

    def pieces(self) -> Iterator[Any]:
        """What the SDK's door hands on."""
        return (sdk.answer(self.headers, text) for text in self.texts())

    def apieces(self) -> AsyncIterator[Any]:
        """The same for async code."""
        return (sdk.answer(self.headers, text) async for text in self.atexts())


async def wait_like(info: ErrorInfo) -> None:
    """For a call that was cancelled: wait to be cancelled again, as by the same time limit.

    Whoever cancelled may not do so in this run, so the wait ends: then the cancellation is raised.
    """
    if info.type == "CancelledError":
        lasted = (info.model_extra or {}).get("after_s")
        await asyncio.sleep(_PATIENCE_S + 2 * (lasted if isinstance(lasted, int | float) else 0))
