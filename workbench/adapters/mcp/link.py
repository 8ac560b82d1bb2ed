"""What is known of one client session, and its way to the live server.

In a replay the server is not there: what a session begins with is answered from the recording.
Where a later call goes live, the link begins the session with the real server first.
"""

from __future__ import annotations

import asyncio
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from workbench.adapters.mcp.listing import note_changes, recorded_tools
from workbench.errors import UsageError
from workbench.seam.current import whose

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextvars import Context

    from workbench.adapters.mcp.opened import Opened
    from workbench.seam.seams import Seam
    from workbench.trace.entries import Effect

    Progress = Callable[[float, float | None, str | None], Awaitable[None]]

INITIALIZE = "initialize"
DISCOVER = "server/discover"
LIST_TOOLS = "tools/list"
CALL_TOOL = "tools/call"
HANDSHAKE_S = 60.0
"""How long the live server may take for what begins a session, in seconds."""
ON_SESSION = "_workbench_link"
"""The attribute of a session under which its link is kept."""
_INITIALIZED = "notifications/initialized"
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_PAGES = 100
_BETWEEN = 1_000
"""No more of what a server says between calls is kept."""


class Wire(Protocol):
    """What a link needs of the SDK's own session."""

    async def request(self, method: str, params: Any) -> dict[str, Any]:
        """Ask the live server, past every hook; gives the result as it was on the wire."""

    async def notify(self, method: str, params: Any) -> None:
        """Tell the live server something."""

    async def hear(self, method: str, params: Any) -> None:
        """Let the session's own callbacks have what a server said."""

    def server(self) -> str | None:
        """The server's name, where the session itself knows it."""


@dataclass(slots=True)
class Heard:
    """What a server says while a call of its runs."""

    context: Context = field(default_factory=copy_context)
    """Where the call was made from: what the server asks for meanwhile is a part of it."""
    notes: list[dict[str, Any]] = field(default_factory=list)

    def progress(self, callback: Progress | None) -> Progress | None:
        """The caller's callback, with a note of each time that it is called."""
        if callback is None:
            return None

        async def noted(progress: float, total: float | None, message: str | None) -> None:
            said = {"progress": progress, "total": total, "message": message}
            self.notes.append({key: value for key, value in said.items() if value is not None})
            await callback(progress, total, message)

        return noted


class Link:
    """One client session."""

    def __init__(self, wire: Wire, opened: Opened | None) -> None:
        self.wire = wire
        self.opened = opened
        self.label = opened.label if opened is not None else None
        self.nowhere = opened is not None and opened.nowhere
        self.name: str | None = None
        self.tools: dict[str, dict[str, Any]] = {}
        """The server's tools, as far as they were listed."""
        self.pending: tuple[str, Any] | None = None
        """How the session was begun, where the recording answered that."""
        self.running: list[Heard] = []
        """The calls that run live, the one that began last at the end."""
        self.between: list[dict[str, Any]] = []
        """What the server said while no call ran: the next one keeps it."""
        self._lock = asyncio.Lock()

    @property
    def server(self) -> str | None:
        """The server's own name, as far as it is known."""
        return self.name or self.wire.server()

    @property
    def failure(self) -> OSError | None:
        """Why the server could not be started, where it was to be."""
        return self.opened.failure if self.opened is not None else None

    @property
    def away(self) -> bool:
        """Whether the server has not been reached: it does not know of this session."""
        return self.nowhere or self.pending is not None

    def effect(self, tool: str) -> Effect | None:
        """What the server says of a tool: that it only reads, or that it does not."""
        hints = (self.tools.get(tool) or {}).get("annotations")
        if not isinstance(hints, dict) or "readOnlyHint" not in hints:
            return None
        return "read" if hints["readOnlyHint"] is True else "write"

    def saw(self, method: str, params: Any, result: Any, *, live: bool) -> None:
        """Note what an answer says of the server."""
        if not isinstance(result, dict):
            return
        if method in (INITIALIZE, DISCOVER):
            info = result.get("serverInfo") or (result.get("_meta") or {}).get(_SERVER_INFO)
            name = info.get("name") if isinstance(info, dict) else None
            self.name = name if isinstance(name, str) else self.name
            self.pending = None if live else (method, params)
        elif method == LIST_TOOLS and isinstance(result.get("tools"), list):
            if not (params or {}).get("cursor"):
                self.tools = {}
            for tool in result["tools"]:
                if isinstance(tool, dict):
                    self.tools[str(tool.get("name"))] = tool

    # -- going live -----------------------------------------------------------------------

    async def ready(self, seam: Seam | None) -> None:
        """Begin the session with the real server, if the recording began it so far.

        Raises:
            UsageError: there is no way to a server in this run.
        """
        if self.nowhere:
            raise UsageError(
                f"the MCP server {self.server or self.label or ''} was not started, since nothing "
                "of this replay could go live; fork the trace, with live_from= for the place"
            )
        async with self._lock:
            if self.pending is None:
                return
            method, params = self.pending
            if method == INITIALIZE:
                self.saw(method, params, await self.wire.request(method, params), live=True)
                await self.wire.notify(_INITIALIZED, None)
            self.pending = None
            recorded = recorded_tools(seam, self.server)
            if seam is not None and recorded is not None:
                note_changes(seam, self.server, recorded, await self._listed(params))

    async def _listed(self, params: Any) -> list[dict[str, Any]]:
        """The live server's tools, all pages."""
        meta = (params or {}).get("_meta")
        found: list[dict[str, Any]] = []
        cursor: Any = None
        for _ in range(_PAGES):
            asked = {"cursor": cursor} if cursor else {}
            asked |= {"_meta": meta} if meta else {}
            page = await self.wire.request(LIST_TOOLS, asked or None)
            self.saw(LIST_TOOLS, asked, page, live=True)
            found += page.get("tools") or []
            cursor = page.get("nextCursor")
            if not cursor:
                break
        return found

    # -- what the server says -------------------------------------------------------------

    def begin(self) -> Heard:
        """A call begins to run live."""
        heard = Heard()
        heard.notes, self.between = self.between, []
        self.running.append(heard)
        return heard

    def end(self, heard: Heard) -> None:
        """It is over."""
        self.running.remove(heard)

    def note(self, method: str, params: Any) -> None:
        """The server said something that no call's own callback gets."""
        if method == "notifications/progress":
            return  # the callback of its call notes it
        said = {"method": method, **({"params": params} if params is not None else {})}
        if self.running:
            self.running[-1].notes.append(said)
        elif len(self.between) < _BETWEEN and whose() is not None:
            self.between.append(said)
