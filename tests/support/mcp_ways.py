"""How tests of the MCP adapter reach the shop, and see that nothing was started or connected."""

import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SECOND = find_spec("mcp_types") is not None
"""Whether the SDK's second generation is installed."""
types: Any = import_module("mcp_types" if SECOND else "mcp.types")
Error: Any = getattr(import_module("mcp.shared.exceptions"), "MCPError" if SECOND else "McpError")
QUIET: Any = subprocess.DEVNULL
"""Where the servers' own logs go."""
SHOP = Path(__file__).with_name("mcp_shop.py")


def shop(*args: str, name: str = "shop") -> StdioServerParameters:
    """The shop as a process of its own."""
    return StdioServerParameters(command=sys.executable, args=[str(SHOP), "--name", name, *args])


@asynccontextmanager
async def session(server: StdioServerParameters, **options: Any) -> AsyncIterator[Any]:
    """A session with a server of its own, begun."""
    async with (
        stdio_client(server, errlog=QUIET) as (reading, writing),
        ClientSession(reading, writing, **options) as opened,
    ):
        await opened.initialize()
        yield opened


@contextmanager
def serving(kind: str) -> Iterator[str]:
    """The shop over HTTP on loopback, in a process of its own; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, str(SHOP), "--serve", kind, "--port", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            _reached(port)
            yield f"http://127.0.0.1:{port}/{'mcp' if kind == 'http' else 'sse'}"
        finally:
            process.kill()


def _reached(port: int) -> None:
    until = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
        else:
            return


@asynccontextmanager
async def http_session(url: str, **options: Any) -> AsyncIterator[Any]:
    """A session over streamable HTTP, begun."""
    http = import_module("mcp.client.streamable_http")
    opening = getattr(http, "streamable_http_client", None) or http.streamablehttp_client
    async with (
        opening(url) as (reading, writing, *_),
        ClientSession(reading, writing, **options) as opened,
    ):
        await opened.initialize()
        yield opened


@asynccontextmanager
async def events_session(url: str) -> AsyncIterator[Any]:
    """A session over server-sent events, begun."""
    sse = import_module("mcp.client.sse")
    async with (
        sse.sse_client(url) as (reading, writing),
        ClientSession(reading, writing) as opened,
    ):
        await opened.initialize()
        yield opened


@contextmanager
def watched() -> Iterator[list[str]]:
    """What this process starts and connects to meanwhile."""
    seen: list[str] = []
    on = True

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if on and event in ("subprocess.Popen", "socket.connect", "os.posix_spawn", "os.fork"):
            seen.append(f"{event} {args[:2]!r}")

    sys.addaudithook(hook)
    try:
        yield seen
    finally:
        on = False


def seconds(number: float) -> Any:
    """A time limit as this generation takes it."""
    return number if SECOND else timedelta(seconds=number)


def plain(result: Any) -> Any:
    """A result as on the wire."""
    return result.model_dump(by_alias=True, mode="json", exclude_unset=True)


def text(result: Any) -> str:
    """The text of a tool's result."""
    return " ".join(each.text for each in result.content if each.type == "text")
