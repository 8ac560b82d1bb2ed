"""Unpacking gzip data as far as they go: what a damage or a cut leaves is all of it given."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterable
from typing import Any

MAGIC = b"\x1f\x8b"
"""How gzip data begin."""

_GZIP = 31
_PIECE = 16 * 1024
_MOST = 1 << 20


class TooLargeError(Exception):
    """The data unpack to more than was allowed."""


def unpack(packed: Iterable[bytes], limit: int) -> tuple[bytes, str | None]:
    """Unpack gzip data, also several of them one after the other.

    Args:
        packed: the packed bytes, in blocks.
        limit: that many bytes may come out.

    Returns:
        What came out, and what is wrong with the packed data; None when nothing is.

    Raises:
        TooLargeError: more came out; no more than that was held in memory.
    """
    unpacker = _Unpacker(limit)
    for block in packed:
        for at in range(0, len(block), _PIECE):
            if not unpacker.feed(block[at : at + _PIECE]):
                return unpacker.out.getvalue(), unpacker.problem
    return unpacker.out.getvalue(), unpacker.end()


class _Unpacker:
    def __init__(self, limit: int) -> None:
        self.out = io.BytesIO()  # its value is the buffer itself, not a copy of it
        self.problem: str | None = None
        self._limit = limit
        self._member = zlib.decompressobj(_GZIP)

    def feed(self, piece: bytes) -> bool:
        """Go on with these bytes; False when nothing more can be read."""
        while piece:
            if self._member.eof:
                # Behind whole data stand more of them, padding, or rubbish.
                piece = piece.lstrip(b"\0")
                if not piece.startswith(MAGIC[: len(piece)]):
                    self.problem = "something else stands behind them"
                    return False
                if piece:
                    self._member = zlib.decompressobj(_GZIP)
            elif not self._take(piece):
                return False
            else:
                piece = self._member.unused_data
        return True

    def _take(self, piece: bytes) -> bool:
        before, size = self._member.copy(), self.out.tell()
        try:
            self._write(self._member.decompress(piece, _MOST))
            while self._member.unconsumed_tail:
                self._write(self._member.decompress(self._member.unconsumed_tail, _MOST))
        except zlib.error:
            self.out.seek(size)
            self.out.truncate()
            return self._slowly(before, piece)
        return True

    def end(self) -> str | None:
        """There are no more bytes; gives what is wrong."""
        if self._member.eof:
            return self.problem
        self._write(self._member.flush())
        return "they end before their end mark"

    def _slowly(self, member: Any, piece: bytes) -> bool:
        """Byte by byte up to the one that is wrong: all before it comes out."""
        try:
            for byte in piece:
                self._write(member.decompress(bytes((byte,))))
        except zlib.error as error:
            self.problem = str(error)
        return False

    def _write(self, data: bytes) -> None:
        if self.out.tell() + len(data) > self._limit:
            raise TooLargeError
        self.out.write(data)
