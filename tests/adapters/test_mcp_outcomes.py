"""How calls to an MCP server go wrong: recorded as what it was, and raised again."""

import asyncio
from typing import Any

import anyio
import pytest
from mcp_ways import SECOND, Error, plain, seconds, session, shop, text, watched

import workbench
from workbench.faults import (
    ConnectionReset,
    EmptyResult,
    HttpError,
    PartialSuccess,
    StaleResult,
    ToolError,
    ToolTimeout,
)


async def _caught(call: Any) -> tuple[str, Any]:
    try:
        result = await call
    except Exception as error:
        parts = getattr(error, "error", None)
        return type(error).__name__, (
            parts.code,
            parts.message,
        ) if parts is not None else error.args
    return type(result).__name__, plain(result)


def _twice(agent: Any) -> tuple[workbench.RunResult, Any]:
    recorded = workbench.record(agent)
    assert recorded.status == "ok"
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert (seen, replayed.drift) == ([], None)
    assert replayed.output == recorded.output
    return recorded, recorded.output


async def _refused() -> list[Any]:
    async with session(shop()) as client:
        return [
            await _caught(client.read_resource("shop://nothing")),
            await _caught(client.get_prompt("nothing")),
            await _caught(
                client.call_tool("slow", {"seconds": 9}, read_timeout_seconds=seconds(0.3))
            ),
            await _caught(client.call_tool("nothing")),
        ]


def test_errors_of_the_protocol_are_raised_again() -> None:
    """An error that the server answers with, and a time limit, are the SDK's own exception with
    code and message; a tool that is not there is what the server makes of it."""
    recorded, found = _twice(_refused)
    assert [kind for kind, _ in found[:3]] == [Error.__name__] * 3
    assert "nothing" in found[0][1][1]
    assert found[2][1][0] == (-32001 if SECOND else 408)
    slow = recorded.trace.tools("slow")[0]
    assert slow.error is not None
    assert slow.error.body == {"code": found[2][1][0], "message": found[2][1][1]}


async def _killed() -> list[Any]:
    async with session(shop()) as client:
        return [
            await _caught(client.call_tool("get_order", {"order_id": 7})),
            await _caught(client.call_tool("die")),
            await _caught(client.call_tool("get_order", {"order_id": 8})),
        ]


def test_a_server_that_is_killed_is_lost_again() -> None:
    """A server that dies by SIGKILL in the middle of a call: that the connection closed is
    recorded and raised again, and so is what every later call meets."""
    recorded, found = _twice(_killed)
    assert found[1] == (Error.__name__, (-32000, "Connection closed"))
    assert found[2][0] in (Error.__name__, "ClosedResourceError")
    assert [entry.error is None for entry in recorded.trace.entries] == [
        True, True, True, False, False,
    ]  # fmt: skip


async def _cancelled() -> list[Any]:
    found: list[Any] = []
    async with session(shop()) as client:
        with anyio.move_on_after(0.2) as scope:
            await client.call_tool("slow", {"seconds": 9})
        found.append(scope.cancelled_caught)
        found.append(text(await client.call_tool("get_order", {"order_id": 7})))
        try:
            await asyncio.wait_for(client.call_tool("slow", {"seconds": 8}), 0.2)
        except TimeoutError:
            found.append("late")
    return found


def test_a_call_that_was_cancelled_is_cancelled_again() -> None:
    """A scope's and a task's cancellation are recorded as that, and the session goes on."""
    recorded, found = _twice(_cancelled)
    assert found == [True, "shop: order 7 is two lamps", "late"]
    assert [entry.ended for entry in recorded.trace.tools("slow")] == ["cancelled", "cancelled"]


async def _orders() -> list[Any]:
    async with session(shop()) as client:
        return [await _caught(client.call_tool("get_order", {"order_id": n})) for n in (7, 8)]


@pytest.fixture(scope="module")
def orders() -> workbench.RunResult:
    """Two orders looked up, recorded."""
    return workbench.record(_orders)


@pytest.mark.parametrize(
    ("fault", "gets"),
    [
        (ToolTimeout("too slow"), (Error.__name__, (-32001 if SECOND else 408, "too slow"))),
        (ConnectionReset(), (Error.__name__, (-32000, "Connection closed"))),
        (HttpError(503), (Error.__name__, -32603)),
        (ToolError("no such order"),
         ("CallToolResult",
          {"content": [{"type": "text", "text": "no such order"}], "isError": True})),
        (EmptyResult(), ("CallToolResult", {"content": []})),
        (PartialSuccess(),
         ("CallToolResult",
          {"content": [
              {"type": "text", "text": "injected failure after a part of the work"},
              {"type": "text", "text": "shop: order 8 is one chair"}],
           "isError": True})),
        (StaleResult(),
         ("CallToolResult",
          {"content": [{"type": "text", "text": "shop: order 7 is two lamps"}],
           "isError": False})),
    ],
    ids=lambda each: getattr(each, "type", ""),
)  # fmt: skip
def test_faults_are_what_a_client_meets(orders: workbench.RunResult, fault: Any, gets: Any) -> None:
    """A fault aimed at a tool gives the SDK's own exception, or a result that says that the tool
    failed; a replay of that run gives it once more."""
    with watched() as seen:
        spoilt = workbench.replay(_orders, orders.trace, faults=[fault.at(tool="get_order", nth=2)])
    assert (seen, spoilt.status, len(spoilt.fired)) == ([], "ok", 1)
    assert spoilt.output[0] == orders.output[0]
    kind, what = spoilt.output[1]
    assert (kind, what[0] if isinstance(gets[1], int) else what) == gets
    again = workbench.replay(_orders, spoilt.trace)
    assert (again.status, again.output) == ("ok", spoilt.output)


def test_a_fault_without_an_aim_hits_what_a_model_asks_for(orders: workbench.RunResult) -> None:
    """What keeps a session up is no tool that a model calls: an unaimed fault passes it by, and
    one that names it hits it."""
    spoilt = workbench.replay(_orders, orders.trace, faults=[ToolError()])
    ((_, hit),) = spoilt.fired
    assert spoilt.trace.entry(hit).name == "get_order"
    named = workbench.replay(
        _orders, orders.trace, faults=[ToolTimeout("down").at(tool="mcp:initialize")]
    )
    assert named.status == "failed"
    assert "down" in repr(named.error)


def test_an_edited_result_is_what_the_client_gets(orders: workbench.RunResult) -> None:
    """A person's text in the place of a tool's result becomes a text in a result of the SDK's."""
    place = workbench.entry(orders.trace.tools("get_order")[1].id)
    edits = orders.trace.edit().tool_result(place, "order 8 is lost")
    changed = workbench.replay(_orders, orders.trace, edits=edits)
    assert changed.output[1][1]["content"] == [{"type": "text", "text": "order 8 is lost"}]
