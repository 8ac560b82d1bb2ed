"""The tools that Anthropic's own tool runner calls: recorded, and answered in a replay."""

import asyncio
from collections.abc import Iterator
from typing import Any

import anthropic
import pytest
from loopback import Server
from sdk_cases import KEY, no_network
from ways_anthropic import async_client, client

import workbench
from workbench.faults import ToolError as ToolFault

if not hasattr(anthropic, "beta_tool"):
    pytest.skip("this release of the SDK has no tool runner", allow_module_level=True)

from anthropic import beta_async_tool, beta_tool
from anthropic.lib.tools import BetaAbstractMemoryTool

ran: list[Any] = []


@beta_tool
def get_order(number: int) -> str:
    """Look up an order."""
    ran.append(number)
    return f"order {number}: shipped"


@beta_async_tool(name="get_order")
async def get_order_later(number: int) -> str:
    """Look up an order."""
    ran.append(number)
    return f"order {number}: shipped"


@beta_tool(name="get_order")
def get_blocks(number: int) -> Iterator[Any]:
    """Look up an order, block by block."""
    ran.append(number)
    yield {"type": "text", "text": str(number)}
    yield {"type": "text", "text": "shipped"}


@beta_tool(name="get_order")
def get_nothing(number: int) -> str:
    """Fail to look up an order."""
    ran.append(number)
    raise LookupError(f"no order {number}")


@workbench.tool(effect="read")
def looked_up(number: int) -> str:
    """Look up an order."""
    ran.append(number)
    return f"order {number}: shipped"


def get_order_by_ours(number: int) -> str:
    """Look up an order through a tool of ours."""
    return looked_up(number)


def asked(**more: Any) -> Any:
    """The arguments of a run."""
    messages = [{"role": "user", "content": "where is 101?"}]
    return {"model": "m", "max_tokens": 100, "messages": messages, "max_iterations": 2, **more}


def run(url: str, tool: Any) -> list[Any]:
    """What a run of the sync runner sends and gets."""
    with client(url, KEY, 0) as made:
        runner = made.beta.messages.tool_runner(**asked(tools=[tool]))
        return [message.to_dict(warnings=False) for message in runner]


def run_stream(url: str, tool: Any) -> list[Any]:
    """The same, each message streamed."""
    with client(url, KEY, 0) as made:
        runner = made.beta.messages.tool_runner(**asked(tools=[tool]), stream=True)
        found = []
        for stream in runner:
            found.append([event.type for event in stream])
            found.append(stream.get_final_message().to_dict(warnings=False))
        return found


def run_later(url: str, tool: Any) -> list[Any]:
    """The same of the async runner."""

    async def go() -> list[Any]:
        async with async_client(url, KEY, 0) as made:
            runner = made.beta.messages.tool_runner(**asked(tools=[tool]))
            return [message.to_dict(warnings=False) async for message in runner]

    return asyncio.run(go())


@pytest.fixture(autouse=True)
def _empty() -> None:
    ran.clear()


@pytest.mark.parametrize(
    ("way", "tool"),
    [
        (run, get_order),
        (run_stream, get_order),
        (run_later, get_order_later),
        (run, get_blocks),
        (run, get_nothing),
    ],
    ids=["sync", "streamed", "async", "blocks", "failing"],
)
def test_a_replay_answers_the_tools_and_runs_none(speaker: Server, way: Any, tool: Any) -> None:
    """Each call is an entry of its own, asked for by the reply before; its result, or its
    failure, is what the model is told again."""
    bare = way(speaker.url, tool)
    with workbench.recording() as recorded:
        live = way(speaker.url, tool)
    assert live == bare
    sent = [seen.body for seen in speaker.seen]
    assert sent[: len(sent) // 2] == sent[len(sent) // 2 :]
    one, call, *_ = recorded.trace.entries
    assert (call.kind, call.name, call.arguments) == ("tool", "get_order", {"number": 101})
    assert call.asked_by == one.id
    assert (call.error is None) == (tool is not get_nothing)
    speaker.stop()
    ran.clear()
    with no_network() as tried, workbench.replaying(recorded.trace) as replayed:
        again = way(speaker.url, tool)
    assert again == live
    assert (ran, tried, replayed.result.status) == ([], [], "ok")
    assert [entry.hash for entry in replayed.trace.entries] == [
        entry.hash for entry in recorded.trace.entries
    ]


def test_a_tool_of_ours_inside_is_not_recorded_twice(speaker: Server) -> None:
    """The runner's call and the function's own are one, with the effect that it declares."""
    ours = beta_tool(get_order_by_ours, name="looked_up")
    with workbench.recording() as recorded:
        run(speaker.url, ours)
    tools = [entry for entry in recorded.trace.entries if entry.kind == "tool"]
    assert {(entry.name, entry.effect) for entry in tools} == {("looked_up", "read")}
    assert len(tools) == len(ran)


def test_an_injected_failure_is_told_to_the_model(speaker: Server) -> None:
    """The runner takes it for the tool's own, and goes on."""
    recorded = workbench.record(run, speaker.url, get_order)
    before = len(speaker.seen)
    fault = ToolFault("database is locked").at(tool="get_order")
    forked = workbench.fork(
        run,
        recorded.trace,
        speaker.url,
        get_order,
        faults=[fault],
        on_miss="live",
        tools_after="allow",
    )
    assert forked.fired
    told = speaker.seen[before].body["messages"][-1]["content"][0]
    assert told["is_error"] is True
    assert "database is locked" in str(told["content"])


class Notebook(BetaAbstractMemoryTool):
    """A memory that keeps nothing."""

    def view(self, command: Any) -> str:
        ran.append(command.path)
        return "empty"

    create = str_replace = insert = delete = rename = view


def test_the_memory_tool_is_one_of_them() -> None:
    """What it read is recorded by its command, and given again."""
    ask: Any = {"command": "view", "path": "/memories"}
    recorded = workbench.record(lambda: Notebook().call(ask))
    (entry,) = recorded.trace.entries
    assert (entry.name, entry.arguments, entry.result) == ("memory", ask, "empty")
    replayed = workbench.replay(lambda: Notebook().call(ask), recorded.trace)
    assert (replayed.output, ran) == ("empty", ["/memories"])
