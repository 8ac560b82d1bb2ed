"""An advisory lock on an open file, held between processes while one of them appends."""

from __future__ import annotations

import os
import sys
from types import TracebackType

if sys.platform == "win32":
    import msvcrt

    _FAR = 0x7FFF_FFFF
    """Windows locks bytes, and locked bytes cannot be read: so one that no trace reaches."""

    def _lock(fd: int) -> None:
        os.lseek(fd, _FAR, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_LOCK, 1)

    def _unlock(fd: int) -> None:
        os.lseek(fd, _FAR, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


class Locked:
    """Holds the file's lock: one holder at a time, over all processes that ask for it.

    Raises:
        OSError: the file system has no locks, or (Windows) another holder kept it for ten seconds.
    """

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> None:
        _lock(self._fd)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _unlock(self._fd)
