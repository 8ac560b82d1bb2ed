"""An agent whose model is offered an MCP server's tools, and calls them."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from mcp_ways import session, shop, text, watched
from openai_results import async_client
from openai_server import Server

import workbench


def _agent(url: str, *options: str) -> Callable[[], Awaitable[str]]:
    """The plainest agent there is: what the model asks for is asked of the server."""

    async def agent() -> str:
        said: list[Any] = [{"role": "user", "content": "What is order 101?"}]
        async with session(shop(*options)) as tools, async_client(url) as model:
            offered = [_offer(tool) for tool in (await tools.list_tools()).tools]
            reply = await model.chat.completions.create(model="ok", messages=said, tools=offered)
            message: Any = reply.choices[0].message
            function = message.tool_calls[0].function
            given = json.loads(function.arguments)
            result = await tools.call_tool(function.name, {"order_id": given["number"]})
            said.append({"role": "user", "content": text(result)})
            last = await model.chat.completions.create(model="ok", messages=said)
        return str(last.choices[0].message.content)

    return agent


def _offer(tool: Any) -> Any:
    schema = tool.input_schema if hasattr(tool, "input_schema") else tool.inputSchema
    told = {"name": tool.name, "description": tool.description, "parameters": schema}
    return {"type": "function", "function": told}


def test_an_agent_replays_without_model_and_server(server: Server) -> None:
    """Model and tools are answered from one recording; the tool's call belongs to the turn that
    asked for it, and what keeps up the session to none."""
    agent = _agent(server.url)
    recorded = workbench.record(agent)
    assert recorded.output == "You said: shop: order 101 is unknown"
    server.stop()
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert (seen, replayed.status, replayed.output) == ([], "ok", recorded.output)
    first, second = replayed.trace.turns
    assert [entry.name for entry in first.tools] == ["get_order"]
    assert list(second.tools) == []
    assert [entry.turn for entry in replayed.trace.tools() if entry.name != "get_order"] == [
        None,
        None,
    ]


def test_a_model_s_drift_names_the_tools_that_it_is_offered(server: Server) -> None:
    """Where the server's list changed, and with it what the model is offered, the drift says which
    tools came, went and changed, and shows no schema."""
    recorded = workbench.record(_agent(server.url))
    changed = workbench.replay(
        _agent(server.url, "--changed"), recorded.trace, tools="live", tools_after="allow"
    )
    assert changed.status == "drifted"
    said = str(changed.drift)
    words = "cancel added; refund removed; get_order: argument 'order_id' integer → string"
    assert words in said
    assert "nearest   entry 1-3 (turn 1)" in said
    assert "properties" not in said
    assert changed.notices == [f"the tool list of server 'shop' changed: {words}"]


def test_two_recordings_say_what_the_model_was_offered(server: Server) -> None:
    """Their difference says so for the model's request in the same words."""
    first = workbench.record(_agent(server.url)).trace
    second = workbench.record(_agent(server.url, "--changed")).trace
    said = str(first.diff(second))
    assert "request: tool get_order: argument 'order_id' integer → string" in said
    assert "request: tool refund no longer offered" in said
    assert "request: tool cancel offered" in said
