"""A lock that a forked child finds free, whoever held it in the parent."""

from __future__ import annotations

import threading
from os import getpid
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType


class ProcessLock:
    """A re-entrant lock of one process.

    A forked child has none of its parent's other threads: a lock that one of them held would stay
    locked for ever. So each process has a lock of its own here.
    """

    def __init__(self) -> None:
        self._pid = getpid()
        self._lock = threading.RLock()

    def here(self) -> AbstractContextManager[Any]:
        """The lock of this process: a ``with`` of that costs less."""
        if self._pid != getpid():
            self._pid, self._lock = getpid(), threading.RLock()
        return self._lock

    def __enter__(self) -> None:
        self.here()
        self._lock.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._lock.release()
