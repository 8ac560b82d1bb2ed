"""What an MCP client asks of a real server, recorded, and answered again with no server."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import mcp_shop
import pytest
from mcp_ways import plain, session, shop, text, types, watched

import workbench


def _again(agent: Any, recorded: workbench.RunResult) -> workbench.RunResult:
    """The agent replayed; nothing is started or connected, and nothing left over."""
    with watched() as seen:
        replayed = workbench.replay(agent, recorded.trace)
    assert seen == []
    assert replayed.drift is None
    assert replayed.status == recorded.status
    assert replayed.leftover == []
    return replayed


async def _everything() -> list[Any]:
    async with session(shop()) as client:
        found = [
            await client.list_tools(),
            await client.call_tool("get_order", {"order_id": 7}),
            await client.call_tool("weigh", {"order_id": 7}),
            await client.call_tool("picture"),
            await client.call_tool("fail", {"why": "no"}),
            await client.send_ping(),
            await client.list_resources(),
            await client.read_resource("shop://stock"),
            await client.list_resource_templates(),
            await client.list_prompts(),
            await client.get_prompt("greet", {"name": "Ada"}),
        ]
        return [(type(each).__name__, plain(each)) for each in found]


@pytest.fixture(scope="module")
def everything() -> workbench.RunResult:
    """Everything that a client can ask, recorded."""
    return workbench.record(_everything)


def test_a_session_replays_with_no_server(everything: workbench.RunResult) -> None:
    """Tools, resources and prompts come back field by field, as the SDK's own types, and neither
    a process is started nor a socket opened."""
    assert everything.status == "ok"
    replayed = _again(_everything, everything)
    assert replayed.output == everything.output
    kinds = [kind for kind, _ in everything.output]
    assert kinds[:3] == ["ListToolsResult", "CallToolResult", "CallToolResult"]
    results = [each for _, each in everything.output]
    assert results[2]["structuredContent"] == {"kg": 10.5}
    assert results[3]["content"][1]["data"] == mcp_shop.PIXEL
    assert results[4]["isError"] is True
    assert results[7]["contents"][0]["text"] == "3 lamps"
    assert "Say hello to Ada." in str(results[10])


def test_entries_say_what_was_asked_of_whom(everything: workbench.RunResult) -> None:
    """Each request is one entry with the server's name and an effect; a ping leaves none; and the
    trace of the replay is the same."""
    replayed = _again(_everything, everything)
    for trace in (everything.trace, replayed.trace):
        assert [(entry.name, entry.effect) for entry in trace.entries] == [
            ("mcp:initialize", "read"),
            ("mcp:tools/list", "read"),
            ("get_order", "read"),
            ("weigh", "read"),
            ("picture", None),
            ("fail", None),
            ("mcp:resources/list", "read"),
            ("mcp:resources/read", "read"),
            ("mcp:resources/templates/list", "read"),
            ("mcp:prompts/list", "read"),
            ("mcp:prompts/get", "read"),
        ]
        order = trace.tools("get_order")[0]
        assert order.request == {
            "name": "get_order", "arguments": {"order_id": 7}, "server": "shop",
        }  # fmt: skip
        assert trace.entries[0].request["server"] == "mcp_shop.py"
        assert trace.tools("mcp:resources/read")[0].arguments == {"uri": "shop://stock"}
        assert order.turn is None


async def _listened() -> list[Any]:
    heard: list[Any] = []

    async def progress(done: float, total: float | None, message: str | None) -> None:
        heard.append(("progress", done, total, message))

    async def log(params: Any) -> None:
        heard.append(("log", params.level, params.data))

    async def anything(message: Any) -> None:
        heard.append(type(getattr(message, "root", message)).__name__)

    async with session(shop(), logging_callback=log, message_handler=anything) as client:
        result = await client.call_tool("count", {"upto": 2}, progress_callback=progress)
        heard.append(text(result))
        heard.append(text(await client.call_tool("count", {"upto": 1})))
    return heard


def test_what_the_server_says_meanwhile_is_heard_again() -> None:
    """Progress and log messages are kept with their call and reach the callbacks again in their
    order, before the call's result."""
    recorded = workbench.record(_listened)
    heard = recorded.output
    assert heard[:4] == [
        ("progress", 1.0, 2.0, "at 1"),
        "ProgressNotification",
        ("log", "info", "counted 1"),
        "LoggingMessageNotification",
    ]
    assert heard.index("counted to 2") == 8
    assert heard[-1] == "counted to 1"
    assert _again(_listened, recorded).output == heard
    kept = recorded.trace.tools("count")[0].response
    assert [each.get("progress", each.get("method")) for each in kept["notifications"]] == [
        1.0, "notifications/message", 2.0, "notifications/message",
    ]  # fmt: skip
    assert kept["content"] == [{"type": "text", "text": "counted to 2"}]


_thoughts: list[str] = []


@workbench.tool(effect="read")
def think(question: str) -> str:
    """Stands where a model's call would."""
    _thoughts.append(question)
    return "because"


async def _asked_back() -> str:
    async def sampling(context: Any, params: Any) -> Any:
        with workbench.step("answering"):
            said = think(params.messages[0].content.text)
        return types.CreateMessageResult(
            role="assistant", model="m", content=types.TextContent(type="text", text=said)
        )

    async with session(shop(), sampling_callback=sampling) as client:
        with workbench.step("asking"):
            return text(await client.call_tool("ask", {"question": "why"}))


def test_what_the_server_asks_for_is_a_part_of_the_call() -> None:
    """Sampling is done once, while recording: what it calls is recorded inside the tool's call,
    in its step, and a replay serves the call whole and keeps what was inside."""
    _thoughts.clear()
    recorded = workbench.record(_asked_back)
    assert recorded.output == "it says because"
    replayed = _again(_asked_back, recorded)
    assert replayed.output == "it says because"
    assert _thoughts == ["why"]
    for trace in (recorded.trace, replayed.trace):
        (call,), (inner,) = trace.tools("ask"), trace.tools("think")
        assert inner.enclosing == call.id
        assert inner.step == "asking/answering"


async def _two_shops() -> list[str]:
    async with AsyncExitStack() as stack:
        names = ("north", "south")
        opened = [await stack.enter_async_context(session(shop(name=each))) for each in names]
        calls = [
            client.call_tool("get_order", {"order_id": number})
            for number in (7, 8)
            for client in opened
        ]
        calls.append(opened[0].call_tool("slow", {"seconds": 0.2}))
        return [text(each) for each in await asyncio.gather(*calls)]


def test_servers_with_the_same_tool_are_told_apart() -> None:
    """Calls at once, of two servers that have the same tools, each get their server's answer."""
    recorded = workbench.record(_two_shops)
    assert recorded.output == [
        "north: order 7 is two lamps",
        "south: order 7 is two lamps",
        "north: order 8 is one chair",
        "south: order 8 is one chair",
        "at last",
    ]
    assert _again(_two_shops, recorded).output == recorded.output


async def _opened_at_once() -> list[str]:
    async def one(name: str) -> str:
        async with session(shop(name=name)) as client:
            return text(await client.call_tool("get_order", {"order_id": 7}))

    return list(await asyncio.gather(one("north"), one("south")))


def test_sessions_that_begin_at_once_replay() -> None:
    """Two sessions of tasks at once, as frameworks open them, are answered each by its own."""
    recorded = workbench.record(_opened_at_once)
    assert recorded.output == ["north: order 7 is two lamps", "south: order 7 is two lamps"]
    assert _again(_opened_at_once, recorded).output == recorded.output


def test_a_session_that_was_open_before_is_answered_too() -> None:
    """A notebook's long-lived session: its calls are recorded, and a replay does not reach its
    server, though that is there."""

    async def run() -> None:
        async with session(shop()) as client:
            with workbench.recording() as recording:
                first = text(await client.call_tool("get_order", {"order_id": 7}))
            with workbench.replaying(recording.trace) as replaying:
                again = text(await client.call_tool("get_order", {"order_id": 7}))
            assert again == first == "shop: order 7 is two lamps"
            assert [call.how for call in replaying.result.calls][:1] == ["replayed"]
            assert text(await client.call_tool("get_order", {"order_id": 8})).endswith("chair")

    asyncio.run(run())


def test_nothing_is_changed_outside_a_session() -> None:
    """With the hooks in place and no session open, the SDK works as it does without them."""
    found = asyncio.run(_everything())
    assert found[1][1]["content"] == [{"type": "text", "text": "shop: order 7 is two lamps"}]
