"""The ways to an MCP server: none is opened in a replay, and a fork opens what it needs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import import_module
from typing import Any

import mcp_shop
import pytest
from mcp_ways import SECOND, events_session, http_session, plain, serving, shop, text, watched

import workbench

Session = Callable[[str], Any]
WAYS: list[Any] = [
    pytest.param("http", http_session, id="streamable-http"),
    pytest.param("sse", events_session, id="server-sent-events"),
]


def _agent(opening: Session, url: str) -> Callable[[], Awaitable[list[Any]]]:
    async def agent() -> list[Any]:
        async with opening(url) as client:
            found = [
                plain(await client.list_tools()),
                text(await client.call_tool("get_order", {"order_id": 7})),
            ]
            with workbench.step("later"):
                found.append(text(await client.call_tool("get_order", {"order_id": 8})))
        return found

    return agent


@pytest.mark.parametrize(("kind", "opening"), WAYS)
def test_http_replays_without_a_connection(kind: str, opening: Session) -> None:
    """Recorded over real HTTP; replayed with the server killed, and no socket connected."""
    with serving(kind) as url:
        agent = _agent(opening, url)
        recorded = workbench.record(agent)
    assert recorded.status == "ok"
    assert recorded.output[1:] == ["shop: order 7 is two lamps", "shop: order 8 is one chair"]
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert (seen, replayed.drift, replayed.output) == ([], None, recorded.output)
    first = recorded.trace.entries[0].request
    assert first["server"] == f"127.0.0.1/{url.rpartition('/')[2]}"


@pytest.mark.parametrize(("kind", "opening"), WAYS)
def test_a_fork_over_http_begins_with_the_server_where_it_goes_live(
    kind: str, opening: Session
) -> None:
    """What was recorded is served; the live call is made in a session that was begun properly."""
    with serving(kind) as url:
        recorded = workbench.record(_agent(opening, url))
    with serving(kind) as url:
        fork = workbench.fork(
            _agent(opening, url), recorded.trace, live_from=workbench.step("later")
        )
    assert (fork.status, fork.output) == ("ok", recorded.output)
    assert [call.how for call in fork.calls] == ["replayed", "replayed", "replayed", "live"]


def test_a_server_that_is_away_fails_as_it_does_live() -> None:
    """Where a fork goes live and nobody answers, that is what its call meets, with a trace."""
    with serving("http") as url:
        recorded = workbench.record(_agent(http_session, url))
    fork = workbench.fork(
        _agent(http_session, url), recorded.trace, live_from=workbench.step("later")
    )
    assert fork.status == "failed"
    assert [entry.error is None for entry in fork.trace.entries] == [True, True, True, False]


_lives: list[str] = []


def _living_server() -> Any:
    """A server in this process that says when it begins and ends."""
    server = mcp_shop.build("within")
    low = server._lowlevel_server if SECOND else server._mcp_server

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[dict[str, Any]]:
        _lives.append("begun")
        yield {}
        _lives.append("over")

    low.lifespan = lifespan
    return server if SECOND else low


@asynccontextmanager
async def _in_process(_: str) -> AsyncIterator[Any]:
    server = _living_server()
    if SECOND:
        async with import_module("mcp").Client(server) as client:
            yield client
        return
    memory = import_module("mcp.shared.memory")
    async with memory.create_connected_server_and_client_session(server) as session:
        yield session


def test_a_server_in_this_process_does_not_run_in_a_replay() -> None:
    """Its lifespan is not entered and its tools do not run; a fork that may go live runs it."""
    agent = _agent(_in_process, "")
    _lives.clear()
    recorded = workbench.record(agent)
    assert recorded.output[1:] == ["within: order 7 is two lamps", "within: order 8 is one chair"]
    assert _lives == ["begun", "over"]
    replayed = workbench.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert _lives == ["begun", "over"]
    fork = workbench.fork(agent, recorded.trace, live_from=workbench.step("later"))
    assert (fork.status, fork.output) == ("ok", recorded.output)
    assert [call.how for call in fork.calls][-2:] == ["replayed", "live"]
    assert _lives == ["begun", "over"] * 2


@pytest.mark.skipif(not SECOND, reason="the first generation has no such client")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_client_of_the_second_generation(mode: str) -> None:
    """The high-level client agrees on a version by itself; that is recorded, and its tools, its
    pages and its output are served with no server."""

    async def agent() -> list[Any]:
        client_class = import_module("mcp").Client
        async with client_class(shop(), mode=mode, read_timeout_seconds=20) as client:
            await client.list_tools()
            with workbench.step("calls"):
                return [
                    client.protocol_version,
                    client.server_info and client.server_info.name,
                    plain(await client.call_tool("weigh", {"order_id": 2})),
                    plain(await client.list_resources()),
                ]

    recorded = workbench.record(agent)
    assert recorded.status == "ok"
    assert recorded.output[1] == "shop"
    assert recorded.output[2]["structuredContent"] == {"kg": 3.0}
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert (seen, replayed.drift, replayed.output) == ([], None, recorded.output)
    assert recorded.trace.entries[0].name == (
        "mcp:server/discover" if mode == "auto" else "mcp:initialize"
    )
    with watched() as seen:
        fork = workbench.fork(agent, recorded.trace, live_from=workbench.step("calls"))
    assert (fork.status, fork.output, len(seen)) == ("ok", recorded.output, 1)


@pytest.mark.skipif(not SECOND, reason="the first generation has no such client")
def test_a_subscription_opens_in_a_replay_and_stays_silent() -> None:
    """A stream of changes is no call: nothing of it is recorded, and without a server it opens and
    says nothing."""

    async def agent() -> list[str]:
        found = []
        client_class = import_module("mcp").Client
        async with (
            client_class(shop(), read_timeout_seconds=20) as client,
            client.listen(tools_list_changed=True) as changes,
        ):
            found.append(type(changes).__name__)
            found.append(text(await client.call_tool("get_order", {"order_id": 7})))
            try:
                await asyncio.wait_for(anext(changes), 0.1)
            except TimeoutError:
                found.append("silent")
        return found

    recorded = workbench.record(agent)
    assert recorded.output == ["Subscription", "shop: order 7 is two lamps", "silent"]
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert (seen, replayed.status, replayed.output) == ([], "ok", recorded.output)
