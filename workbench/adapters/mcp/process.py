"""A server's process that is started when something is sent to it, and not before.

A replay opens its transports as the recording did, and sends nothing. So nothing starts, unless
a call goes live.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from anyio import ClosedResourceError, EndOfStream
from anyio.abc import ByteReceiveStream, ByteSendStream, Process

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from workbench.adapters.mcp.opened import Opened


class LateProcess(Process):
    """Stands for a process.

    Args:
        start: starts the real one.
        opened: is told why, where it cannot be started: the transport says no more than that the
            connection was closed.
    """

    def __init__(self, start: Callable[[], Awaitable[Any]], opened: Opened) -> None:
        self._start = start
        self._opened = opened
        self._real: Any = None
        self._lock = asyncio.Lock()
        self._there = asyncio.Event()
        """The real one was started, or never will be."""
        self._over = False
        self._input = _Input(self)
        self._output = _Output(self)

    async def real(self) -> Any:
        """The real process, started now if it was not.

        Raises:
            ClosedResourceError: it was closed before.
            OSError: it cannot be started.
        """
        async with self._lock:
            if self._over:
                raise ClosedResourceError
            if self._real is None:
                try:
                    self._real = await self._start()
                except OSError as error:
                    self._opened.failure = error
                    self.finish()
                    raise
                self._there.set()
        return self._real

    async def started(self) -> Any:
        """Wait for the real process; None when it was never started."""
        await self._there.wait()
        return self._real

    def finish(self) -> None:
        """Its input is closed: it ends, if it ever began."""
        if self._real is None:
            self._over = True
            self._there.set()

    # -- what a process has ---------------------------------------------------------------

    async def aclose(self) -> None:
        """End it, and wait until it has ended."""
        self.finish()
        if self._real is not None:
            await self._real.aclose()

    async def wait(self) -> int:
        """Wait until it has ended; gives the exit code."""
        found = await self.started()
        return 0 if found is None else int(await found.wait())

    def terminate(self) -> None:
        """Ask it to end."""
        self._each("terminate")

    def kill(self) -> None:
        """End it."""
        self._each("kill")

    def send_signal(self, signal: Any) -> None:
        """Send it a signal."""
        self._each("send_signal", signal)

    def _each(self, name: str, *args: Any) -> None:
        self.finish()
        if self._real is not None:
            getattr(self._real, name)(*args)

    @property
    def pid(self) -> int:
        """The real one's id; there is none before."""
        if self._real is None:
            raise ProcessLookupError("the server was not started")
        return int(self._real.pid)

    @property
    def returncode(self) -> int | None:
        """The exit code; None while it may still run, or start."""
        if self._real is None:
            return 0 if self._over else None
        code: int | None = self._real.returncode
        return code

    @property
    def stdin(self) -> ByteSendStream | None:
        """What it reads."""
        return self._input

    @property
    def stdout(self) -> ByteReceiveStream | None:
        """What it writes."""
        return self._output

    @property
    def stderr(self) -> ByteReceiveStream | None:
        """Goes where the transport sends it."""
        return None

    @property
    def _process(self) -> Any:
        """The event loop's own object, which the SDK closes where it finds it."""
        return getattr(self._real, "_process", None)


class _Input(ByteSendStream):
    def __init__(self, process: LateProcess) -> None:
        self._process = process

    async def send(self, item: bytes) -> None:
        await (await self._process.real()).stdin.send(item)

    async def aclose(self) -> None:
        self._process.finish()
        if self._process.returncode is None:
            await (await self._process.real()).stdin.aclose()


class _Output(ByteReceiveStream):
    def __init__(self, process: LateProcess) -> None:
        self._process = process

    async def receive(self, max_bytes: int = 65536) -> bytes:
        found = await self._process.started()
        if found is None:
            raise EndOfStream
        piece: bytes = await found.stdout.receive(max_bytes)
        return piece

    async def aclose(self) -> None:
        self._process.finish()
        if self._process.returncode is None:
            await (await self._process.real()).stdout.aclose()
