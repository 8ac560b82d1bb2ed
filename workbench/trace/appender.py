"""Appending whole lines to a file that other threads and processes append to as well.

Each append is one write under the file's lock, at the end that the file has at that moment. So
lines of several writers never mix, and a line is with the operating system when the call returns.
"""

from __future__ import annotations

import errno
import os
import weakref
from pathlib import Path
from typing import Protocol

from workbench.errors import UsageError
from workbench.trace.locks import Locked
from workbench.trace.unpacking import MAGIC

OWNER_ONLY = 0o600
"""A trace can hold what was said in confidence, so only its owner may read it."""

_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class ClosedError(OSError):
    """Something was to be written after the end."""

    def __init__(self) -> None:
        super().__init__(errno.EBADF, "the trace is closed")


class Appender(Protocol):
    """Where a journal's lines go."""

    def append(self, data: bytes) -> None:
        """Add whole lines at the end. Raises OSError when they could not all be written."""

    def close(self) -> None:
        """Let go of what is held."""


class MemoryAppender:
    """Lines in memory."""

    def __init__(self) -> None:
        self.data = bytearray()

    def append(self, data: bytes) -> None:
        """Add whole lines at the end."""
        self.data += data

    def close(self) -> None:
        """Nothing is held."""


class FileAppender:
    """Lines at the end of a file.

    Args:
        path: the file.
        new: make the file; it must not exist, or be empty.
        fsync: wait for the disk after each append, so that a power loss takes nothing.

    Raises:
        FileExistsError: ``new``, and the file has something in it.
        FileNotFoundError: not ``new``, and there is no such file.
        UsageError: not ``new``, and the file is compressed.
        OSError: the file cannot be opened for writing.
    """

    def __init__(self, path: Path, *, new: bool, fsync: bool = False) -> None:
        self.path = path
        self._fsync = fsync
        self._end = -1  # where the file ended after this appender's last write; -1: look
        self._fd = os.open(path, _FLAGS | (os.O_CREAT if new else 0), OWNER_ONLY)
        self._close = weakref.finalize(self, os.close, self._fd)
        if not new and _read(self._fd, 2, 0) == MAGIC:
            self.close()
            raise UsageError(f"{path}: a trace is recorded uncompressed; unpack it with gunzip")
        self._first = new

    def append(self, data: bytes) -> None:
        """Add whole lines at the end, or nothing.

        A torn last line that a dying process left behind is ended first. What a full disk cut
        short is taken back.

        Raises:
            FileExistsError: the file was to be new, and somebody else wrote to it first.
            ClosedError: it is closed.
            OSError: the lines could not be written; the file is as it was.
        """
        if not self._close.alive:
            raise ClosedError
        with Locked(self._fd):
            status = os.fstat(self._fd)
            if status.st_nlink == 0:
                raise OSError(errno.ENOENT, "the file was deleted while it was being written")
            start = status.st_size
            if self._first and start:
                raise FileExistsError(errno.EEXIST, "the file is not empty", str(self.path))
            if start not in (self._end, 0) and _read(self._fd, 1, start - 1) != b"\n":
                data = b"\n" + data
            self._write(data, start)
            self._first = False
            self._end = start + len(data)

    def _write(self, data: bytes, start: int) -> None:
        written = 0
        try:
            written = os.write(self._fd, data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
            if self._fsync:
                os.fsync(self._fd)
        except BaseException:
            # Also for an interrupt between two parts: half a line would spoil the next one.
            self._end = -1
            if 0 < written < len(data):
                os.ftruncate(self._fd, start)
            raise

    def close(self) -> None:
        """Close the file."""
        self._close()


def _read(fd: int, length: int, offset: int) -> bytes:
    if hasattr(os, "pread"):
        return os.pread(fd, length, offset)
    os.lseek(fd, offset, os.SEEK_SET)  # Windows; appending moves to the end by itself
    return os.read(fd, length)
