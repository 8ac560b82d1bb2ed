"""Agents of frameworks whose tools are an MCP server's."""

import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_ways import SHOP, plain, shop, watched

import workbench

Agent = Callable[[], Awaitable[Any]]


def _clerk(ledger: Path, *options: str, prefix: str = "") -> Agent:
    """An agent of pydantic-ai that looks an order up and pays it back."""
    from fastmcp.client.transports import StdioTransport
    from pydantic_ai import Agent as Clerk
    from pydantic_ai.mcp import MCPToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    async def decide(messages: list[Any], info: Any) -> ModelResponse:
        done = [part for each in messages for part in each.parts if part.part_kind == "tool-return"]
        asked: list[tuple[str, dict[str, Any]]] = [
            ("get_order", {"order_id": 7}),
            ("refund", {"order_id": 7, "amount": 3.5}),
        ]
        if len(done) < len(asked):
            name, given = asked[len(done)]
            call = ToolCallPart(prefix + name, given, tool_call_id=f"call-{len(done)}")
            return ModelResponse(parts=[call])
        return ModelResponse(parts=[TextPart(" and ".join(str(each.content) for each in done))])

    async def agent() -> str:
        parameters = shop("--ledger", str(ledger), *options)
        tools: Any = MCPToolset(StdioTransport(parameters.command, parameters.args))
        if prefix:
            tools = tools.prefixed(prefix.rstrip("_"))
        clerk = Clerk(FunctionModel(decide), toolsets=[tools], name="clerk")
        async with clerk:
            return str((await clerk.run("Pay order 7 back.")).output)

    return agent


SAID = "shop: order 7 is two lamps and refunded 3.5"


@pytest.mark.parametrize("prefix", ["", "shop_"])
def test_a_pydantic_ai_agent_replays_with_no_server(tmp_path: Path, prefix: str) -> None:
    """Each tool call is one entry, in its turn and in the agent's step, with the effect that the
    server tells; the replay starts nothing and writes nothing."""
    ledger = tmp_path / "ledger"
    agent = _clerk(ledger, prefix=prefix)
    recorded = workbench.record(agent)
    assert (recorded.status, recorded.output) == ("ok", SAID)
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert (seen, replayed.drift, replayed.output) == ([], None, SAID)
    assert ledger.read_text() == "7 3.5\n"
    calls = [entry for entry in replayed.trace.tools() if not str(entry.name).startswith("mcp:")]
    assert [(entry.name, entry.step, entry.turn and entry.turn.number) for entry in calls] == [
        (f"{prefix}get_order", "clerk", 1),
        (f"{prefix}refund", "clerk", 2),
    ]
    assert calls[0].effect == "read"
    assert calls[1].effect != "read"
    assert len(replayed.trace.tools("mcp:tools/list")) == 1


def test_a_pydantic_ai_agent_forks(tmp_path: Path) -> None:
    """A fork stops before the write without a server; allowed, it really happens; and a list that
    has changed since is named."""
    ledger = tmp_path / "ledger"
    agent = _clerk(ledger)
    recorded = workbench.record(agent)
    place = workbench.entry(recorded.trace.tools("refund")[0].id)
    with watched() as seen:
        denied = workbench.fork(agent, recorded.trace, live_from=place)
    assert (denied.status, seen, ledger.read_text()) == ("blocked", [], "7 3.5\n")
    with watched() as seen:
        allowed = workbench.fork(agent, recorded.trace, live_from=place, tools_after="allow")
    assert (allowed.status, allowed.output, len(seen)) == ("ok", SAID, 1)
    assert ledger.read_text() == "7 3.5\n7 3.5\n"
    changed = workbench.fork(
        _clerk(ledger, "--changed"), recorded.trace, live_from=place, tools_after="allow"
    )
    assert changed.notices[0].startswith(
        "the tool list of server 'shop' changed: cancel added; refund removed; get_order:"
    )
    assert ledger.read_text() == "7 3.5\n7 3.5\n"


def test_a_server_of_openai_agents_replays_with_no_process() -> None:
    """The framework's own server object connects, lists and calls as it did, with nothing
    started."""

    async def agent() -> list[Any]:
        from agents.mcp import MCPServerStdio

        given = shop()
        async with MCPServerStdio(params={"command": given.command, "args": given.args}) as server:
            tools = await server.list_tools()
            result = await server.call_tool("get_order", {"order_id": 7})
            return [[tool.name for tool in tools], plain(result)]

    recorded = workbench.record(agent)
    assert recorded.output[1]["content"] == [{"type": "text", "text": "shop: order 7 is two lamps"}]
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert (seen, replayed.drift, replayed.output) == ([], None, recorded.output)


def test_a_client_of_fastmcp_replays_with_no_process() -> None:
    """The client that other frameworks build on is a session of the SDK's underneath."""

    async def agent() -> list[Any]:
        from fastmcp import Client
        from fastmcp.client.transports import StdioTransport

        given = shop()
        async with Client(StdioTransport(given.command, given.args)) as client:
            tools = await client.list_tools()
            found = await client.call_tool("weigh", {"order_id": 2})
            return [len(tools), found.structured_content]

    recorded = workbench.record(agent)
    assert recorded.output == [9, {"kg": 3.0}]
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert (seen, replayed.drift, replayed.output) == ([], None, recorded.output)


_SCRIPT = """
import asyncio
import sys

from mcp.client.session import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client


async def main():
    server = StdioServerParameters(command=sys.executable, args=[sys.argv[1]])
    async with stdio_client(server) as (reading, writing):
        async with ClientSession(reading, writing) as client:
            await client.initialize()
            result = await client.call_tool("get_order", {"order_id": 8})
            print(result.content[0].text)


asyncio.run(main())
"""


def test_a_script_is_recorded_and_replayed_by_the_command(tmp_path: Path) -> None:
    """A program that imports the SDK only once it runs, by names of its own: recorded and replayed
    unchanged, the second time with a server that is not there any more."""
    (tmp_path / "agent.py").write_text(_SCRIPT)
    server = tmp_path / "mcp_shop.py"
    server.write_bytes(SHOP.read_bytes())

    def command(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "workbench", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    said = command("record", "--to", "t.jsonl", "agent.py", "--", str(server))
    assert "shop: order 8 is one chair" in said
    server.unlink()
    again = command("replay", "t.jsonl", "agent.py", "--", str(server))
    assert "shop: order 8 is one chair" in again
    assert "3 calls from the trace, 0 live" in again
