"""The bytes of a trace: in memory, or in a file that is read piece by piece.

A file is read by position and never mapped into memory: a map would keep what was looked at, and
a file that somebody cuts short would take the process down with it.
"""

from __future__ import annotations

import difflib
import os
import weakref
from pathlib import Path
from typing import Protocol

from workbench.errors import TraceFormatError, TraceNotFoundError, UnavailableError
from workbench.trace.notices import Notices
from workbench.trace.unpacking import MAGIC, TooLargeError, unpack

MAX_UNPACKED = 256 * 1024**2
"""A compressed trace may have that many bytes when unpacked, since it is held in memory."""

BY_HAND = (".json", ".yaml", ".yml")
"""The endings of files that may be recordings written by hand."""

_SMALL = 256 * 1024
"""A file of at most that size is read at once, and not kept open."""
_PIECE = 4 * 1024
_AHEAD = 32 * 1024
"""So much is read where a piece of at most that size is wanted."""
_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_BLOCK = 1 << 20


class Source(Protocol):
    """Bytes to read from."""

    @property
    def path(self) -> Path | None:
        """The file, when there is one."""

    @property
    def size(self) -> int:
        """How many bytes there are."""

    def read(self, offset: int, length: int) -> bytes:
        """Exactly these bytes. Raises UnavailableError when the file has become shorter."""


class BytesSource:
    """Bytes in memory."""

    def __init__(self, data: bytes, path: Path | None = None) -> None:
        self.data = data
        self.path = path
        self.size = len(data)

    def read(self, offset: int, length: int) -> bytes:
        """Exactly these bytes."""
        return self.data[offset : offset + length]


class FileSource:
    """A file as it was when it was opened: what is appended later is not seen."""

    def __init__(self, path: Path, fd: int, size: int) -> None:
        self.path = path
        self.size = size
        self._fd = fd
        self._ahead = (0, b"")  # where what was read last begins, and what that was
        weakref.finalize(self, os.close, fd)

    def read(self, offset: int, length: int) -> bytes:
        """Exactly these bytes.

        Raises:
            UnavailableError: the file is shorter than when it was opened, or cannot be read.
        """
        begin, block = self._ahead
        if begin <= offset and offset + length <= begin + len(block):
            return block[offset - begin : offset - begin + length]
        try:
            if length <= _PIECE:  # lines are mostly read one after the other
                block = _read_at(self._fd, min(_AHEAD, self.size - offset), offset)
                if len(block) >= length:
                    self._ahead = (offset, block)
                    return block[:length]
            data = _read_at(self._fd, length, offset)
            while len(data) < length:
                more = _read_at(self._fd, length - len(data), offset + len(data))
                if not more:
                    raise self._cut_short()
                data += more
        except OSError as error:
            raise UnavailableError(f"{self.path}: cannot be read ({error})") from error
        return data

    def _cut_short(self) -> UnavailableError:
        now = os.fstat(self._fd).st_size
        return UnavailableError(
            f"{self.path}: the file has {now:,} bytes now, and had {self.size:,} when it was "
            "opened. Somebody cut it short; load it again to see what is left"
        )


def _read_at(fd: int, length: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(fd, length, offset)
    os.lseek(fd, offset, os.SEEK_SET)
    return os.read(fd, length)


def open_source(path: Path | str, notices: Notices) -> Source:
    """Open a trace's file; one compressed by gzip is unpacked into memory.

    A recording written by hand, in JSON or YAML, is read into the lines of the trace that it
    stands for.

    Raises:
        TraceNotFoundError: there is no such file.
        TraceFormatError: it is a folder, cannot be read, its compressed data are damaged, or it
            is a malformed recording.
        MissingExtraError: it is YAML, and PyYAML is not installed.
    """
    path = Path(path)
    if path.is_dir():
        message = "this is a folder; name a trace file in it" + _traces_in(path)
        raise TraceFormatError(message, file=path)
    try:
        fd = os.open(path, _FLAGS)
    except FileNotFoundError as error:
        raise TraceNotFoundError(f"{path}: there is no such file{_similar(path)}") from error
    except OSError as error:
        raise TraceFormatError(f"the file cannot be read ({error.strerror})", file=path) from error
    source = FileSource(path, fd, os.fstat(fd).st_size)
    if source.read(0, min(2, source.size)) == MAGIC:
        return BytesSource(_unpacked(source, notices), path)
    by_hand = _read_by_hand(source)
    if by_hand is not None:
        return BytesSource(by_hand, path)
    if source.size <= _SMALL:
        return BytesSource(source.read(0, source.size), path)
    return source


def _read_by_hand(source: FileSource) -> bytes | None:
    """The lines that a recording written by hand stands for; None for any other file."""
    if source.path.suffix.lower() not in BY_HAND:
        return None
    # What reads recordings makes traces, and so stands above this file.
    from workbench.trace.byhand.opening import check_size, read_recording, seems_recording

    if not seems_recording(source.path, source.read(0, min(4096, source.size))):
        return None
    check_size(source.path, source.size)
    return read_recording(source.path, source.read(0, source.size))


def _unpacked(source: FileSource, notices: Notices) -> bytes:
    offsets = range(0, source.size, _BLOCK)
    blocks = (source.read(at, min(_BLOCK, source.size - at)) for at in offsets)
    try:
        data, problem = unpack(blocks, MAX_UNPACKED)
    except TooLargeError as error:
        raise TraceFormatError(
            f"unpacked it has more than {MAX_UNPACKED // 1024**2:,} MiB, and a "
            "compressed trace is held in memory. Unpack it with gunzip and load that: "
            "an uncompressed trace is read piece by piece, however large it is",
            file=source.path,
        ) from error
    if problem is not None and not data:
        raise TraceFormatError(f"the compressed data are damaged ({problem})", file=source.path)
    if problem is not None:
        notices.add(f"the compressed data are damaged ({problem}); what came before is read")
    return data


def _traces_in(folder: Path) -> str:
    names = sorted(each.name for each in folder.glob("*.trace.jsonl*"))[:3]
    return f", such as {', '.join(names)}" if names else ""


def _similar(path: Path) -> str:
    if not path.parent.is_dir():
        return f" (and no folder {path.parent})"
    kinds = ("*.jsonl*", *(f"*{ending}" for ending in BY_HAND if path.suffix in BY_HAND))
    names = [each.name for kind in kinds for each in path.parent.glob(kind)]
    near = difflib.get_close_matches(path.name, names, n=1, cutoff=0.5)
    return f". Did you mean {path.with_name(near[0])}?" if near else ""
