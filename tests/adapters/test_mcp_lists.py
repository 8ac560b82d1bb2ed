"""Lists that come in pages, and sessions that list their tools again."""

from importlib import import_module
from typing import Any

import pytest
from mcp_ways import SECOND, plain, types

import workbench
from workbench.trace.toollists import LIST

pytestmark = pytest.mark.skipif(not SECOND, reason="a server in pages is written for this one")


class _Paged:
    """A server in this process with a tool on each page."""

    def __init__(self) -> None:
        self.names = ["a", "b", "c"]
        self.asked: list[Any] = []

    async def list_tools(self, context: Any, params: Any) -> Any:
        """One page."""
        cursor = params.cursor if params is not None else None
        self.asked.append(cursor)
        number = int(cursor or 0)
        reads = types.ToolAnnotations(read_only_hint=True)
        tool = types.Tool(
            name=self.names[number], input_schema={"type": "object"}, annotations=reads
        )
        more = str(number + 1) if number + 1 < len(self.names) else None
        return types.ListToolsResult(tools=[tool], next_cursor=more)

    async def call_tool(self, context: Any, params: Any) -> Any:
        """What was called."""
        said = types.TextContent(type="text", text=f"{params.name} ran")
        return types.CallToolResult(content=[said])

    async def agent(self) -> list[Any]:
        """Lists every page, and calls the tool of the last."""
        server = import_module("mcp.server.lowlevel.server").Server(
            "paged", on_list_tools=self.list_tools, on_call_tool=self.call_tool
        )
        found: list[Any] = []
        async with import_module("mcp").Client(server, cache=None) as client:
            cursor = None
            while True:
                page = await client.list_tools(cursor=cursor)
                found += [tool.name for tool in page.tools]
                cursor = page.next_cursor
                if cursor is None:
                    break
            with workbench.step("calls"):
                found.append(plain(await client.call_tool(found[-1]))["content"][0]["text"])
        return found


def test_pages_are_recorded_each_and_make_one_list() -> None:
    """Each page is asked for by its cursor and served by it; the tools of all of them are known,
    so that the last page's tool is one that only reads."""
    paged = _Paged()
    recorded = workbench.record(paged.agent)
    assert recorded.output == ["a", "b", "c", "c ran"]
    pages = recorded.trace.tools(LIST)
    assert [page.arguments for page in pages] == [{}, {"cursor": "1"}, {"cursor": "2"}]
    assert recorded.trace.tools("c")[0].effect == "read"
    before = len(paged.asked)
    replayed = workbench.replay(paged.agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(paged.asked) == before


def test_a_change_on_any_page_is_named() -> None:
    """All pages of the live server are compared with all that were recorded."""
    paged = _Paged()
    recorded = workbench.record(paged.agent)
    same = workbench.fork(paged.agent, recorded.trace, live_from=workbench.step("calls"))
    assert (same.status, same.notices) == ("ok", [])
    paged.names = ["a", "x", "c", "d"]
    fork = workbench.fork(paged.agent, recorded.trace, live_from=workbench.step("calls"))
    assert fork.notices == ["the tool list of server 'paged' changed: x added; d added; b removed"]
