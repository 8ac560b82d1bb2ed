"""Reading a file piece by piece, whatever it holds."""

from __future__ import annotations

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final, Self, cast

from workbench.errors import TraceFormatError, TraceNotFoundError
from workbench.trace.notices import Notices

MAX_WHOLE: Final = 64 * 1024**2
"""A file, or a line, of more bytes is not parsed as one JSON value."""

_BLOCK: Final = 1024**2
_GZIP: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_WIDE: Final = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


class Reader:
    """Bytes of a file, unpacked where it is compressed by gzip."""

    def __init__(self, file: BufferedReader, notices: Notices) -> None:
        self._file = file
        self._notices = notices
        self._begun = b""
        self._ended = False
        self._begun = self._read()

    @classmethod
    def open(cls, path: Path, notices: Notices) -> Self:
        """Open a file.

        Raises:
            TraceNotFoundError: there is none.
            TraceFormatError: it is a folder, or cannot be read.
        """
        try:
            file = path.open("rb")
            if file.read(2) == _GZIP:
                file.close()
                file = cast("BufferedReader", gzip.open(path, "rb"))  # noqa: SIM115 - closed with the reader
            else:
                file.seek(0)
            return cls(file, notices)
        except FileNotFoundError as error:
            raise TraceNotFoundError(f"{path}: there is no such file") from error
        except (OSError, EOFError, zlib.error) as error:
            why = getattr(error, "strerror", None) or error
            raise TraceFormatError(f"the file cannot be read ({why})", file=path) from error

    @classmethod
    def of(cls, data: bytes) -> Self:
        """Bytes in memory."""
        return cls(cast("BufferedReader", io.BytesIO(data)), Notices())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def is_lines(self) -> bool:
        """Whether it is JSON Lines: the first line that is not empty is a JSON value of its own."""
        from workbench.trace.values import loads

        begin = self._begun.removeprefix(_BOM).lstrip()
        if begin.startswith(b'{"line":'):
            return True
        if not begin.startswith((b"{", b"[")):
            return False
        cut = begin.find(b"\n")
        if cut < 0 and len(self._begun) >= _BLOCK:
            return True  # a first line of that length is no file that a person wrote
        try:
            loads(begin[:cut] if cut >= 0 else begin)
        except TraceFormatError:
            return False
        return True

    def size_at_most(self, limit: int) -> bool:
        """Whether that is all; what was read for it is kept."""
        while len(self._begun) <= limit and not self._ended:
            block = self._read()
            self._begun += block
            self._ended = not block
        return len(self._begun) <= limit

    def whole(self) -> bytes | None:
        """All of it, after :meth:`size_at_most`; None when it is no JSON by its first character."""
        data = self._begun.removeprefix(_BOM).lstrip()
        return data if data.startswith((b"{", b"[")) else None

    def blocks(self) -> Iterator[bytes]:
        """All of it."""
        if self._begun:
            yield self._begun
        while not self._ended and (block := self._read()):
            yield block

    def lines(self) -> Iterator[tuple[int, bytes, bool]]:
        """Each line's number, its bytes, and whether it is whole: a longer one comes in parts."""
        number, kept = 1, bytearray()
        whole, first = True, True
        for block in self.blocks():
            parts = (block.removeprefix(_BOM) if first else block).split(b"\n")
            first = False
            kept += parts[0]
            for part in parts[1:]:
                yield number, bytes(kept), whole
                number, whole = number + 1, True
                kept = bytearray(part)
            if len(kept) > MAX_WHOLE:
                yield number, bytes(kept), False
                whole = False
                del kept[: -_BLOCK // 32]
        if kept:
            yield number, bytes(kept), whole

    def texts(self) -> Iterator[str]:
        """All of it as text, in pieces; what is no UTF-8 becomes something that is no secret."""
        encoding = next((name for mark, name in _WIDE if self._begun.startswith(mark)), "utf-8-sig")
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        for block in self.blocks():
            yield decoder.decode(block)
        yield decoder.decode(b"", final=True)

    def _read(self) -> bytes:
        """The next block. Raises when the first bytes of all cannot be unpacked."""
        block = bytearray()
        try:
            # One piece at a time, so that of damaged data all that came before is read.
            while len(block) < _BLOCK and (piece := self._file.read1(_BLOCK - len(block))):
                block += piece
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            if not block and not self._begun:
                raise
            self._damaged(error)
        return bytes(block)

    def _damaged(self, error: Exception) -> None:
        self._ended = True
        self._notices.add(f"the compressed data are damaged ({error}); what came before was read")
