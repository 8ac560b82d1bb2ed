"""How long the server lives: as long as it has users, and a little longer."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from workbench.providers.local.api import ApiError

FIRST_USER_S = 10.0
"""Seconds that the server waits at least for the user who started it."""


class Life:
    """Counts users and running requests; knows when nobody has needed the server for a while."""

    def __init__(self, idle_s: float) -> None:
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._limit_s = max(idle_s, FIRST_USER_S)
        self._needed = 0
        self._free_since = time.monotonic()
        self._stopping = threading.Event()

    @contextlib.contextmanager
    def needed(self) -> Iterator[None]:
        """Stay for as long as this lasts: a user's connection, or a request being answered.

        Raises:
            ApiError: status 503: it is about to stop; start another.
        """
        with self._lock:
            if self._stopping.is_set():
                raise ApiError(503, "The local model's server is stopping.")
            self._needed += 1
            self._limit_s = self._idle_s
        try:
            yield
        finally:
            with self._lock:
                self._needed -= 1
                self._free_since = time.monotonic()

    def stop(self) -> None:
        """End now, users or not."""
        self._stopping.set()

    def wait(self, poll_s: float) -> None:
        """Return when it is time to end; from then on nobody is let in."""
        while not self._stopping.wait(poll_s):
            with self._lock:
                idle = time.monotonic() - self._free_since
                if self._needed == 0 and idle >= self._limit_s:
                    self._stopping.set()
