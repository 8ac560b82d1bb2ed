"""How tests of the MCP adapter reach the shop, and see that nothing was started or connected."""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

SECOND = find_spec("mcp_types") is not None
"""Whether the SDK's second generation is installed."""
types: Any = import_module("mcp_types" if SECOND else "mcp.types")
Error: Any = getattr(import_module("mcp.shared.exceptions"), "MCPError" if SECOND else "McpError")
SHOP = Path(__file__).with_name("mcp_shop.py")


def shop(*args: str, name: str = "shop") -> StdioServerParameters:
    """The shop as a process of its own."""
    return StdioServerParameters(command=sys.executable, args=[str(SHOP), "--name", name, *args])


@asynccontextmanager
async def session(server: StdioServerParameters, **options: Any) -> AsyncIterator[Any]:
    """A session with a server of its own, begun."""
    async with (
        stdio_client(server, errlog=_quiet()) as (reading, writing),
        ClientSession(reading, writing, **options) as opened,
    ):
        await opened.initialize()
        yield opened


def _quiet() -> TextIO:
    """Where the servers' own logs go."""
    global _nowhere
    if _nowhere is None:
        _nowhere = Path(os.devnull).open("w")  # noqa: SIM115 - as long as this process
    return _nowhere


_nowhere: TextIO | None = None


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
