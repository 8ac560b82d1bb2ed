"""Streams of frameworks: each piece as the trace keeps it, beside what the framework is given."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from workbench.adapters.frameworks.codec import NATIVE, Body, Codec
from workbench.seam.agentio.streams import aclose, close
from workbench.seam.drivers import Tap
from workbench.seam.exceptions import until_cancelled
from workbench.trace.entries import ErrorInfo


class Piece(NamedTuple):
    """One chunk of a trace, and what the framework's reader gets of it."""

    kept: Body
    given: Sequence[Any]


class Pieces:
    """A stream that nobody has read yet, and what is to be closed when it is let go."""

    def __init__(self, pieces: Iterator[Piece], source: Any) -> None:
        self.pieces = pieces
        self.source = source


class APieces:
    """The same of async code."""

    def __init__(self, pieces: AsyncIterator[Piece], source: Any) -> None:
        self.pieces = pieces
        self.source = source


def live_pieces(codec: Codec, source: Iterator[Any]) -> Iterator[Piece]:
    """What comes from the framework's own stream."""
    for chunk in source:
        yield _piece(codec, chunk)


async def alive_pieces(codec: Codec, source: AsyncIterator[Any]) -> AsyncIterator[Piece]:
    """The same of async code."""
    async for chunk in source:
        yield _piece(codec, chunk)


def _piece(codec: Codec, chunk: Any) -> Piece:
    return Piece({**codec.chunk_body(chunk), NATIVE: codec.dump_chunk(chunk)}, (chunk,))


def served_pieces(codec: Codec, chunks: Sequence[Any]) -> Iterator[Piece]:
    """What stands for a stream: its own pieces where nobody has edited it, else pieces that say
    the same as the chunks."""
    whole = [chunk if isinstance(chunk, dict) else {} for chunk in chunks]
    exact = [_exact(codec, chunk) for chunk in whole]
    if all(exact):
        yield from (piece for piece in exact if piece is not None)
        return
    make = codec.maker()
    for chunk in whole:
        said = {key: value for key, value in chunk.items() if key != NATIVE}
        yield Piece(said, tuple(make(said)))


def _exact(codec: Codec, chunk: Body) -> Piece | None:
    if NATIVE not in chunk:
        return None
    piece = codec.load_chunk(chunk[NATIVE])
    said = {key: value for key, value in chunk.items() if key != NATIVE}
    return Piece(chunk, (piece,)) if codec.chunk_body(piece) == said else None


Raise = Callable[[ErrorInfo], BaseException]


def played(pieces: Iterable[Piece], error: ErrorInfo | None, exception: Raise) -> Iterator[Piece]:
    """Pieces that do not come from the world, and then what broke them off."""
    yield from pieces
    if error is not None:
        raise exception(error)


async def aplayed(
    pieces: Iterable[Piece], error: ErrorInfo | None, exception: Raise
) -> AsyncIterator[Piece]:
    """The same for async code; a stream that was cancelled waits to be."""
    for piece in pieces:
        yield piece
    if error is not None:
        if error.type == "CancelledError":
            await until_cancelled(error)
        raise exception(error)


def tee(stream: Pieces, tap: Tap) -> Iterator[Any]:
    """What the framework's reader gets; each piece is told to the tap before."""
    try:
        while not tap.clean_cut():
            piece = next(stream.pieces, None)
            if piece is None:
                break
            _note(piece, tap)
            yield from piece.given
        tap.wait()
        tap.end("complete")
    except GeneratorExit:
        tap.let_go()
        raise
    except BaseException as error:
        tap.broke(error)
        raise
    finally:
        close(stream.source)


async def atee(stream: APieces, tap: Tap) -> AsyncIterator[Any]:
    """The same for async code."""
    try:
        while not tap.clean_cut():
            piece = await anext(stream.pieces, None)
            if piece is None:
                break
            _note(piece, tap)
            for each in piece.given:
                yield each
        await tap.await_turn()
        tap.end("complete")
    except GeneratorExit:
        tap.let_go()
        raise
    except BaseException as error:
        tap.broke(error)
        raise
    finally:
        await aclose(stream.source)


def _note(piece: Piece, tap: Tap) -> None:
    model = piece.kept.get("model")
    if tap.known.model is None and isinstance(model, str):
        tap.known.model = model
    tap.chunk(piece.kept)
