"""Requests that take a while, answered one after the other by a thread of their own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

IDLE_S = 5.0
"""Seconds after which a thread that has nothing to do ends."""


class Later:
    """A queue with at most one daemon thread, which is there only while there is work."""

    def __init__(self) -> None:
        self._jobs: deque[Callable[[], None]] = deque()
        self._more = threading.Condition()
        self._working = False

    def put(self, job: Callable[[], None]) -> None:
        """Do ``job`` later."""
        with self._more:
            self._jobs.append(job)
            self._more.notify()
            if not self._working:
                self._working = True
                threading.Thread(target=self._work, name="workbench-later", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._more:
                if not self._jobs and not self._more.wait_for(lambda: self._jobs, IDLE_S):
                    self._working = False
                    return
                job = self._jobs.popleft()
            job()
