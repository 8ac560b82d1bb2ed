"""What tools of the agents SDK are made of, return and wait for, as a replay gives it."""

import asyncio
import datetime as dt
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from agents import (
    FunctionTool,
    Runner,
    ToolOutputImage,
    ToolOutputText,
    function_tool,
)
from agents.mcp import MCPServer
from agents_shop import ran
from agents_shop import shop_agent as make
from chat_server import ChatServer, call, results
from pydantic import BaseModel

import workbench as wb


class Order(BaseModel):
    """An order."""

    number: int
    day: dt.date


@dataclass
class Parcel:
    """What was sent."""

    to: str


DAY = dt.date(2025, 11, 3)


@function_tool
def one_order() -> Order:
    """A model of pydantic's."""
    ran.append("one_order")
    return Order(number=101, day=DAY)


@function_tool
async def picture() -> Any:
    """The SDK's own outputs."""
    ran.append("picture")
    return [ToolOutputText(text="see"), ToolOutputImage(image_url="https://example.com/a.png")]


@function_tool
def parcel() -> Any:
    """A type that nobody names."""
    ran.append("parcel")
    return Parcel("Ada")


async def _double(context: Any, given: str) -> Any:
    ran.append(given)
    return f"{context.tool_name}: {json.loads(given)['n'] * 2}"


DOUBLE = FunctionTool("double", "Double it.", {"type": "object", "properties": {}}, _double, False)


@wb.tool(effect="write", idempotency_key=lambda number: f"pay:{number}")
async def pay(number: int) -> str:
    """Pay."""
    await asyncio.sleep(0)
    ran.append((number, wb.idempotency_key()))
    return "paid"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model server."""
    ran.clear()
    with ChatServer(lambda _: "hello") as running:
        yield running


def outputs(url: str, *tools: Any, **options: Any) -> Any:
    """Run an agent with these tools; gives what each returned, and what the model was told."""
    agent = make(url, tools=list(tools), **options)
    result = asyncio.run(Runner.run(agent, "go"))
    given: list[Any] = [i for i in result.new_items if i.type == "tool_call_output_item"]
    return [(type(i.output).__name__, i.output, i.raw_item["output"]) for i in given]


def test_results_come_back_as_the_sdk_had_them(server: ChatServer) -> None:
    """With their types where those are known, and with the very words that the model was told."""
    server.answer = lambda asked: (
        "done" if results(asked) else [call("one_order"), call("picture"), call("double", n=4)]
    )

    def agent() -> Any:
        return outputs(server.url, one_order, picture, DOUBLE)

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert recorded.output[0][:2] == ("Order", Order(number=101, day=DAY))
    assert recorded.output[2][1] == "double: 8"
    replayed = wb.replay(agent, recorded.trace)
    expected = recorded.output
    if "__wrapped__" not in vars(FunctionTool):  # a release that does not tell a tool's function
        expected = [("str", str(expected[0][1]), expected[0][2]), *expected[1:]]
    assert (replayed.status, replayed.output) == ("ok", expected)
    assert sorted(map(str, ran)) == ["one_order", "picture", '{"n": 4}']
    (order,) = recorded.trace.tools("one_order")
    if expected == recorded.output:
        assert order.result == {"number": 101, "day": DAY}


def test_a_type_that_nobody_names_comes_back_as_what_the_model_was_told(server: ChatServer) -> None:
    """Its text, so that the replay's next request is the recorded one; and the run says so."""
    server.answer = lambda asked: "".join(results(asked)) or call("parcel")

    def agent() -> Any:
        return outputs(server.url, parcel)

    recorded = wb.record(agent)
    assert recorded.output == [("Parcel", Parcel("Ada"), "Parcel(to='Ada')")], recorded.error
    assert any("annotate what it returns" in each for each in recorded.notices)
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output[0][1:]) == ("ok", ("Parcel(to='Ada')",) * 2)
    assert len(ran) == 1


def test_an_async_tool_of_the_workbench_is_recorded_once(server: ChatServer) -> None:
    """A function with ``@workbench.tool`` is a tool of the SDK like any other."""
    server.answer = lambda asked: "".join(results(asked)) or call("pay", number=7)

    def agent() -> Any:
        return outputs(server.url, function_tool(pay))

    recorded = wb.record(agent)
    assert recorded.output == [("str", "paid", "paid")], recorded.error
    (entry,) = recorded.trace.tools()
    assert (entry.name, entry.effect, entry.arguments) == ("pay", "write", {"number": 7})
    assert ran == [(7, entry.key)]
    assert wb.replay(agent, recorded.trace).output == recorded.output
    assert len(ran) == 1


def test_what_needs_approval_is_not_called_before_it_has_it(server: ChatServer) -> None:
    """A run that waits, and goes on when it may, is replayed as that."""
    server.answer = lambda asked: "".join(results(asked)) or call("wipe")

    @function_tool(needs_approval=True)
    def wipe() -> str:
        """Wipe."""
        ran.append("wipe")
        return "wiped"

    async def agent() -> Any:
        shop = make(server.url, tools=[wipe])
        waiting = await Runner.run(shop, "go")
        names = [item.tool_name for item in waiting.interruptions]
        state = waiting.to_state()
        for item in waiting.interruptions:
            state.approve(item)
        return names, (await Runner.run(shop, state)).final_output

    recorded = wb.record(agent)
    assert recorded.output == (["wipe"], "wiped"), recorded.error
    assert [(e.name, e.step) for e in recorded.trace.tools()] == [("wipe", "shop")]
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, ran) == ("ok", recorded.output, ["wipe"])


class Shop(MCPServer):
    """An MCP server of this process."""

    @property
    def name(self) -> str:
        return "shop"

    async def connect(self) -> None:
        """There is nothing to connect to."""

    async def cleanup(self) -> None:
        """There is nothing to clean up."""

    async def list_tools(self, *_args: Any, **_more: Any) -> Any:
        from mcp.types import Tool, ToolAnnotations

        reads = ToolAnnotations.model_validate({"readOnlyHint": True})
        schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
        given = {"name": "stock", "inputSchema": schema, "annotations": reads}
        return [Tool.model_validate(given)]

    async def call_tool(self, tool_name: str, arguments: Any, *_args: Any, **_more: Any) -> Any:
        from mcp.types import CallToolResult

        ran.append((tool_name, arguments))
        content = [{"type": "text", "text": f"{arguments['number']} left"}]
        return CallToolResult.model_validate({"content": content})

    async def list_prompts(self) -> Any:
        raise NotImplementedError

    async def get_prompt(self, name: str, arguments: Any = None) -> Any:
        raise NotImplementedError


def test_a_servers_tools_are_recorded_and_answered(server: ChatServer) -> None:
    """Of an MCP server too, with what it says of them."""
    server.answer = lambda asked: "".join(results(asked)) or call("stock", number=3)

    def agent() -> Any:
        return outputs(server.url, mcp_servers=[Shop()])

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    (entry,) = recorded.trace.tools("stock")
    assert (entry.effect, entry.arguments, ran) == (
        "read" if hasattr(FunctionTool, "mcp_annotations") else None,
        {"number": 3},
        [("stock", {"number": 3})],
    )
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(ran) == 1
