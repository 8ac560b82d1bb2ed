"""Every fault does the same to an agent, wherever it comes from."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from iostore import said

import workbench as wb
from workbench.faults import (
    ConnectionRefused,
    ConnectionReset,
    CutOff,
    EmptyResult,
    Fault,
    HttpError,
    MalformedResponse,
    MalformedToolCall,
    PartialSuccess,
    Refusal,
    StaleResult,
    StreamTruncate,
    Timeout,
    ToolError,
    ToolTimeout,
)

FAULTS: list[Fault] = [
    HttpError(429, retry_after_s=3, body={"error": "slow"}),
    HttpError(503).at(tool="look", nth=2),
    Timeout(),
    ConnectionReset(),
    ConnectionRefused(),
    MalformedResponse(),
    MalformedResponse().at(nth=2),
    Refusal("I would rather not."),
    Refusal("I would rather not.").at(nth=2),
    CutOff(2),
    CutOff(2).at(nth=2),
    MalformedToolCall(mutate="unknown_tool").at(nth=3),
    MalformedToolCall(mutate="bad_json").at(nth=3),
    StreamTruncate(1).at(nth=2),
    StreamTruncate(1, end="stall").at(nth=2),
    StreamTruncate(1, end="clean").at(nth=2),
    ToolError("broken").at(tool="look"),
    ToolTimeout().at(tool="look", nth=2),
    StaleResult().at(tool="look", nth=2),
    EmptyResult().at(tool="look"),
    PartialSuccess({"n": 0}).at(tool="look"),
]


def look(n: int) -> dict[str, int]:
    """A tool."""
    return {"n": n}


def answer(body: dict[str, Any]) -> Any:
    """A model that talks, and asks for a tool when told to."""
    text = body["messages"][-1]["content"]
    if text == "use it":
        return {"content": None, "tool_calls": [{"id": "1", "name": "look", "arguments": {"n": 1}}]}
    return f"a long answer to {text}"


def live() -> Any:
    """The world."""
    return wb.live_io(model=answer, tools=[look])


def error_of(error: Exception) -> Any:
    """What an agent can tell of an error."""
    seen = [getattr(error, name, None) for name in ("status", "headers", "body", "retry_after_s")]
    return [type(error).__name__, str(error), *seen]


def walk(io: wb.SyncAgentIO) -> list[Any]:
    """A plain call, a streamed one, one that gives a tool call, and a tool twice."""
    seen: list[Any] = []

    def streamed() -> Any:
        got: list[Any] = []
        try:
            got.extend(c.raw for c in io.stream_model(model="m", messages=said("two")))
        except (wb.WorkbenchError, OSError) as error:
            return [*got, error_of(error)]
        return got

    for step in (
        lambda: io.call_model(model="m", messages=said("one")).raw,
        streamed,
        lambda: io.call_model(model="m", messages=said("use it")).raw,
        lambda: io.call_tool("look", {"n": 1}),
        lambda: io.call_tool("look", {"n": 2}),
    ):
        try:
            seen.append(step())
        except (wb.WorkbenchError, OSError) as error:
            seen.append(error_of(error))
    return seen


async def awalk(io: wb.AgentIO) -> list[Any]:
    """The same in a loop."""
    seen: list[Any] = []

    async def streamed() -> Any:
        got: list[Any] = []
        try:
            async for chunk in io.stream_model(model="m", messages=said("two")):
                got.append(chunk.raw)
        except (wb.WorkbenchError, OSError) as error:
            return [*got, error_of(error)]
        return got

    async def asked(text: str) -> Any:
        return (await io.call_model(model="m", messages=said(text))).raw

    steps: list[Callable[[], Awaitable[Any]]] = [
        lambda: asked("one"),
        streamed,
        lambda: asked("use it"),
        lambda: io.call_tool("look", {"n": 1}),
        lambda: io.call_tool("look", {"n": 2}),
    ]
    for step in steps:
        try:
            seen.append(await step())
        except (wb.WorkbenchError, OSError) as error:
            seen.append(error_of(error))
    return seen


@pytest.fixture(scope="module")
def calm() -> wb.Trace:
    """A run without any fault."""
    return wb.record(walk, io=live().sync).trace


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.label} at {fault.aim}")
def test_a_fault_is_the_same_from_an_io_and_in_a_replay(calm: wb.Trace, fault: Fault) -> None:
    """Injected into the live world by an io, blocking and in a loop; into a replay; and replayed
    from the recording of a run that it hit: one thing for the agent, and never nothing."""
    with wb.recording_io(wb.faulty_io(live(), [fault])) as io:
        hit = walk(io.sync)
    assert hit != wb.replay(walk, calm).output
    with wb.faulty_io(live(), [fault]) as faulty:
        assert asyncio.run(awalk(faulty)) == hit
    replayed = wb.replay(walk, calm, faults=[fault])
    assert replayed.output == hit
    assert [found is fault or found == fault for found, _ in replayed.fired] == [True]
    with wb.replaying_io(io.trace) as again:
        assert walk(again.sync) == hit
    with wb.replaying_io(io.trace) as again:
        assert asyncio.run(awalk(again)) == hit
