"""The ways to a server: in a replay they open, and nothing is started or connected.

Whoever uses them has imported ``stdio_client`` and its like long before, so what these call is
hooked: what starts a process, what connects, what runs a server in this very process. Streamable
HTTP connects when something is sent, and nothing is sent. A process is started when something is
sent to it. What else there is (server-sent events, web sockets, servers in this process) opens at
once in a run that may go live, and leads nowhere in one that never does.

Not public are ``mcp.client.stdio._create_platform_compatible_process`` and
``mcp.client.client._connect_inproc``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Self

from workbench.adapters.mcp.opened import (
    Opened,
    label_of_command,
    label_of_url,
    note_opened,
)
from workbench.errors import UsageError
from workbench.seam.current import current_seam, whose
from workbench.trace.edits import ToolArgumentsEdit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from workbench.seam.patching import Patches
    from workbench.seam.seams import Seam

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def hook_transports(patches: Patches) -> None:
    """Hook what opens the ways to servers.

    Raises:
        AttributeError: the SDK has not the names that are hooked.
    """
    stdio: Any = import_module("mcp.client.stdio")
    http: Any = import_module("mcp.client.streamable_http")
    events: Any = import_module("mcp.client.sse")
    patches.wrap(stdio, "_create_platform_compatible_process", _start_process)
    patches.wrap(http.StreamableHTTPTransport, "__init__", _http)
    within = hasattr(events, "sse_within_origin")
    patches.wrap(events, "sse_within_origin" if within else "aconnect_sse", _events)
    server: Any = import_module("mcp.server.lowlevel.server").Server
    patches.wrap(server, "run", _run_server)
    if hasattr(import_module("mcp.shared.exceptions"), "MCPError"):
        patches.wrap(import_module("mcp.client.client"), "_connect_inproc", _in_process)
        return
    try:
        sockets: Any = import_module("mcp.client.websocket")
    except ImportError:  # an extra of the SDK's: without it nobody opens one
        return
    patches.wrap(sockets, "ws_connect", _socket)


def never_live(seam: Seam | None) -> bool:
    """Whether nothing of this run can reach a server."""
    if seam is None:
        return False
    setting = seam.session.setting
    sent = any(isinstance(each, ToolArgumentsEdit) for each in setting.edits.values())
    return setting.offline and setting.policy.tools_before == "replay" and not sent


def _start_process(wrapped: Any, _instance: Any, args: Args, kwargs: Kwargs) -> Awaitable[Any]:
    given = dict(zip(("command", "args"), args, strict=False)) | kwargs
    opened = Opened(label_of_command(str(given.get("command")), given.get("args") or ()))
    note_opened(opened)
    seam = current_seam()
    if seam is None or seam.recording:
        started: Awaitable[Any] = wrapped(*args, **kwargs)
        return started
    return _late(lambda: wrapped(*args, **kwargs), opened)


async def _late(start: Callable[[], Awaitable[Any]], opened: Opened) -> Any:
    from workbench.adapters.mcp.process import LateProcess

    return LateProcess(start, opened)


def _http(wrapped: Any, _instance: Any, args: Args, kwargs: Kwargs) -> Any:
    url = args[0] if args else kwargs.get("url")
    note_opened(Opened(label_of_url(str(url))))
    return wrapped(*args, **kwargs)


def _events(wrapped: Any, _instance: Any, args: Args, kwargs: Kwargs) -> Any:
    url = str(kwargs.get("url") or args[-1])  # of (client, url) or (client, method, url)
    if not never_live(current_seam()):
        note_opened(Opened(label_of_url(url)))
        return wrapped(*args, **kwargs)
    note_opened(Opened(label_of_url(url), nowhere=True))
    return _NoEvents(url)


def _socket(wrapped: Any, _instance: Any, args: Args, kwargs: Kwargs) -> Any:
    url = str(args[0] if args else kwargs.get("uri"))
    nowhere = never_live(current_seam())
    note_opened(Opened(label_of_url(url), nowhere=nowhere))
    return _Silence() if nowhere else wrapped(*args, **kwargs)


async def _run_server(wrapped: Any, _instance: Any, args: Args, kwargs: Kwargs) -> Any:
    """A server that runs in this process, for a client that never asks it."""
    if not never_live(whose()):
        return await wrapped(*args, **kwargs)
    given = dict(zip(("read_stream", "write_stream"), args, strict=False)) | kwargs
    async with given["read_stream"] as reading, given["write_stream"]:
        async for _ in reading:
            pass
    return None


def _in_process(wrapped: Any, _instance: Any, args: Args, kwargs: Kwargs) -> Any:
    server = args[0] if args else kwargs.get("server")
    label = str(getattr(server, "name", ""))
    real = wrapped(*args, **kwargs)

    async def connect(*given: Any, **more: Any) -> Any:
        nowhere = never_live(current_seam())
        note_opened(Opened(label, nowhere=nowhere))
        return _Nowhere() if nowhere else await real(*given, **more)

    return connect


class _Silence:
    """A connection on which nothing comes; nothing is sent on it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def __aiter__(self) -> AsyncIterator[Any]:
        import anyio

        await anyio.sleep_forever()
        yield None


class _NoEvents(_Silence):
    """The same for server-sent events, of which the first is the address to send to."""

    def __init__(self, url: str) -> None:
        self._url = url

    @property
    def response(self) -> _NoEvents:
        """The answer to the request for events, which is well."""
        return self

    def raise_for_status(self) -> None:
        """All is well."""

    async def __aiter__(self) -> AsyncIterator[Any]:
        import anyio

        yield _Event("endpoint", self._url)
        await anyio.sleep_forever()

    def aiter_sse(self) -> AsyncIterator[Any]:
        """The events."""
        return aiter(self)


class _Event:
    def __init__(self, event: str, data: str) -> None:
        self.event = event
        self.data = data
        self.id = None


class _Nowhere:
    """A dispatcher without anybody at the other end."""

    async def run(self, *_: Any, task_status: Any, **_more: Any) -> None:
        """Wait until the session is over."""
        import anyio

        task_status.started()
        await anyio.sleep_forever()

    async def send_raw_request(self, method: str, *_: Any, **_more: Any) -> Any:
        """There is nobody to ask."""
        raise UsageError(f"{method}: the server was not started in this replay")

    async def notify(self, *_: Any, **_more: Any) -> None:
        """There is nobody to tell."""
