"""An MCP call inside a framework's tool call is recorded once, by whichever seam comes first."""

from typing import Any

import pytest
from mcp_ways import session, shop, text, watched

import workbench
from workbench.plugins import atool_call


def _agent(outer: str) -> Any:
    async def agent() -> list[str]:
        async with session(shop()) as client:
            await client.list_tools()

            async def made(arguments: dict[str, Any]) -> str:
                return text(await client.call_tool("get_order", arguments))

            return [await atool_call(outer, {"order_id": number}, made) for number in (7, 8)]

    return agent


@pytest.mark.parametrize(
    "outer", ["get_order", "shop_get_order", "shop__get_order", "shop.get_order"]
)
def test_a_framework_s_call_covers_the_server_s(outer: str) -> None:
    """The same tool by the same name, or with a name put before it, is one entry; what else the
    session asks is recorded still; and the whole replays with no server."""
    recorded = workbench.record(_agent(outer))
    assert recorded.output == ["shop: order 7 is two lamps", "shop: order 8 is one chair"]
    assert [entry.name for entry in recorded.trace.entries] == [
        "mcp:initialize",
        "mcp:tools/list",
        outer,
        outer,
    ]
    with watched() as seen:
        replayed = workbench.replay(_agent(outer), recorded.trace)
    assert (seen, replayed.drift, replayed.output) == ([], None, recorded.output)


def test_a_covered_call_that_goes_live_reaches_the_server() -> None:
    """In a fork the framework's call runs, and the server is started and begun with for it."""
    agent = _agent("get_order")
    recorded = workbench.record(agent)
    place = workbench.entry(recorded.trace.tools("get_order")[1].id)
    with watched() as seen:
        fork = workbench.fork(agent, recorded.trace, live_from=place, tools_after="allow")
    assert (fork.status, fork.output, len(seen)) == ("ok", recorded.output, 1)
    assert [call.how for call in fork.calls] == ["replayed", "replayed", "replayed", "live"]


@pytest.mark.parametrize("outer", ["reget_order", "lookup"])
def test_another_tool_is_another_call(outer: str) -> None:
    """A tool whose name only ends alike, or not at all, is another one: the server's call is
    recorded inside it, and served with it."""
    recorded = workbench.record(_agent(outer))
    inner = recorded.trace.tools("get_order")
    assert [entry.enclosing for entry in inner] == [e.id for e in recorded.trace.tools(outer)]
    with watched() as seen:
        replayed = workbench.replay(_agent(outer), recorded.trace)
    assert (seen, replayed.drift, replayed.output) == ([], None, recorded.output)
    assert len(replayed.trace.tools("get_order")) == 2
