"""An io in a loop: calls at once, time limits, and the ways to hand an agent its io."""

import asyncio
import functools
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostore import said

import workbench as wb
from workbench.faults import HttpError


async def slow_echo(body: dict[str, Any]) -> str:
    """Answers later calls sooner, so that they end in another order than they began in."""
    text = body["messages"][-1]["content"]
    await asyncio.sleep(0.002 * (9 - int(text[-1])))
    return f"re: {text}"


async def crowd(io: wb.AgentIO) -> list[Any]:
    """Nine things at once: model calls, streams, and tools that ask the model themselves."""

    async def one(number: int) -> Any:
        text = f"q{number}"
        try:
            if number % 3 == 0:
                return await io.call_tool("ask", {"text": text})
            if number % 3 == 1:
                return (await io.stream_model(model="m", messages=said(text)).read()).text
            return (await io.call_model(model="m", messages=said(text))).text
        except wb.ServerFailedError as error:
            return error.status

    return await asyncio.gather(*(one(number) for number in range(9)))


def made(faults: list[Any]) -> tuple[wb.AgentIO, Any]:
    """A recording around faults around a world whose tool uses the whole io again."""
    held: list[Any] = []

    async def ask(text: str) -> str:
        """Ask the model from inside a tool."""
        return str((await held[0].call_model(model="m", messages=said(text))).text)

    world = wb.live_io(model=slow_echo, tools=[ask])
    io = wb.recording_io(wb.faulty_io(wb.recording_io(world), faults))
    held.append(io)
    return io, io


def test_calls_at_once_keep_apart_in_every_session() -> None:
    """Through three sessions each call gets its own answer, each trace has the ids of its own
    calls only, and what a tool asks stands inside it in both recordings."""
    io, closing = made([HttpError(503).at(nth=3)])
    with closing:
        seen = asyncio.run(crowd(io))
    assert seen == [503 if number == 2 else f"re: q{number}" for number in range(9)]
    outer = closing.layers[0].trace
    inner = closing.layers[2].trace
    for trace, models in ((outer, 9), (inner, 8)):
        assert len(trace.models()) == models
        tools = {entry.id: entry for entry in trace.tools("ask")}
        inside = [entry for entry in trace.models() if entry.enclosing]
        assert [entry.messages[-1].text for entry in inside] == ["q0", "q3", "q6"]
        for entry in inside:
            assert entry.enclosing is not None
            tool = tools[entry.enclosing]
            assert tool.arguments["text"] == entry.messages[-1].text
    with wb.replaying_io(outer) as again:
        assert asyncio.run(crowd(again)) == seen


@settings(max_examples=12)
@given(seed=st.integers(0, 10_000))
def test_any_interleaving_replays_from_every_trace(seed: int) -> None:
    """Equal questions at once, tools that ask, people and ids, answered in any order, under a run
    and through three sessions: every trace refers to its own calls only, and replays the same."""
    chance = random.Random(seed)  # noqa: S311 - only for delays
    held: list[Any] = []

    async def model(body: dict[str, Any]) -> str:
        await asyncio.sleep(chance.random() / 500)
        return f"re: {body['messages'][-1]['content']}"

    async def nest(text: str) -> str:
        await asyncio.sleep(chance.random() / 500)
        return str((await held[0].call_model(model="m", messages=said(f"n{text}"))).text)

    async def agent(io: wb.AgentIO) -> list[Any]:
        async def one(number: int) -> Any:
            text = str(number % 3)
            if number % 4 == 0:
                return (await io.call_model(model="m", messages=said(text))).text
            if number % 4 == 1:
                return await io.call_tool("nest", {"text": text})
            if number % 4 == 2:
                return (await io.stream_model(model="m", messages=said(text)).read()).text
            return [io.new_id(), await io.ask_human(text)]

        return [await asyncio.gather(*(one(n) for n in range(12))) for _ in range(2)]

    world = wb.live_io(model=model, tools=[nest], human=lambda *_: "yes")
    with wb.recording_io(wb.faulty_io(wb.recording_io(world), [])) as io:
        held.append(io)
        run = wb.record(agent, io=io)
    assert run.status == "ok", run.error
    for trace in (run.trace, io.layers[0].trace, io.layers[2].trace):
        kinds = {entry.id: entry.kind for entry in trace.entries}
        assert {kinds[e.enclosing] for e in trace.entries if e.enclosing} == {"tool"}
        with wb.replaying_io(trace) as again:
            assert asyncio.run(agent(again)) == run.output
    assert wb.replay(agent, run.trace).output == run.output


def test_a_call_that_ran_out_of_time_does_so_again() -> None:
    """A time limit of the agent cancels the call; the replay is cancelled by the same limit, at
    once where the limit is short, and nothing is taken for a bug."""

    async def hasty(io: wb.AgentIO) -> str:
        try:
            async with asyncio.timeout(0.05):
                await io.call_model(model="m", messages=said("q1"))
        except TimeoutError:
            return "too late"
        return "in time"

    async def never(_: Any) -> str:
        await asyncio.sleep(60)
        return "never"

    live = wb.record(hasty, io=wb.live_io(model=never))
    (entry,) = live.trace.entries
    assert (live.output, entry.ended, entry.error and entry.error.type) == (
        "too late",
        "cancelled",
        "CancelledError",
    )
    again = wb.replay(hasty, live.trace)
    assert (again.status, again.output) == ("ok", "too late"), again.drift


def test_a_stream_that_ran_out_of_time_keeps_what_came() -> None:
    """The chunks before the limit are recorded and come again."""

    async def chunks(io: wb.AgentIO) -> list[str]:
        got: list[str] = []
        try:
            async with asyncio.timeout(0.2):
                async for chunk in io.stream_model(model="m", messages=said("q1")):
                    got.append(chunk.text)
        except TimeoutError:
            got.append("(late)")
        return got

    class Stalls(wb.Model):
        async def stream(self, request: Any) -> Any:
            yield {"text": "one "}
            yield {"text": "two "}
            await asyncio.sleep(60)

    live = wb.record(chunks, io=wb.live_io(model=Stalls()))
    assert live.output == ["one ", "two ", "(late)"]
    again = wb.replay(chunks, live.trace)
    assert (again.status, again.output) == ("ok", live.output), again.drift


def test_threads_share_a_blocking_io() -> None:
    """Workers without a context belong to the one run that is open, and replay the same."""

    def agent(io: wb.SyncAgentIO) -> list[str]:
        texts: dict[int, str] = {}

        def one(number: int) -> None:
            texts[number] = io.call_model(model="m", messages=said(f"q{number}")).text

        threads = [threading.Thread(target=one, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [texts[number] for number in range(4)]

    live = wb.record(agent, io=wb.live_io(model=slow_echo).sync)
    assert live.output == [f"re: q{number}" for number in range(4)]
    assert wb.replay(agent, live.trace).output == live.output


def test_threads_share_a_recording_of_an_io() -> None:
    """Threads need no context and no session around them where the io has its own."""
    with wb.recording_io(wb.live_io(model=slow_echo)) as io, ThreadPoolExecutor(4) as pool:
        blocking = io.sync
        live = list(pool.map(lambda n: _ask(blocking, f"q{n}"), range(8)))
    with wb.replaying_io(io.trace) as again, ThreadPoolExecutor(4) as pool:
        served = again.sync
        assert list(pool.map(lambda n: _ask(served, f"q{n}"), range(8))) == live
    assert live == [f"re: q{number}" for number in range(8)]


def _ask(io: wb.SyncAgentIO, text: str) -> str:
    return io.call_model(model="m", messages=said(text)).text


async def simple(io: wb.AgentIO, text: str) -> str:
    """One question."""
    return (await io.call_model(model="m", messages=said(text))).text


def test_an_io_may_come_first_by_name_or_with_the_agent() -> None:
    """By position, by keyword, bound by ``partial``: it is never part of the input, and a fork of
    an agent that brings its own io reaches the world through that one."""
    asked: list[str] = []

    def model(body: dict[str, Any]) -> str:
        asked.append(body["messages"][-1]["content"])
        return f"re: {asked[-1]}"

    io = wb.live_io(model=model)
    bound = functools.partial(simple, io=io)
    runs = [
        wb.record(simple, io, "q1"),
        wb.record(simple, "q1", io=io),
        wb.record(simple, text="q1", io=io),
        wb.record(bound, text="q1"),
    ]
    for run in runs:
        assert run.output == "re: q1", run.error
        assert run.trace.header.agent is not None
        assert run.trace.header.agent.io is True
        assert "io" not in str(run.trace.header.input).replace("q1", "")
        assert wb.replay(simple, run.trace, text="q1").output == "re: q1"
    asked.clear()
    fork = wb.fork(bound, runs[3].trace, live_from=wb.turn(1))
    assert (fork.output, asked) == ("re: q1", ["q1"]), fork.error
    served = wb.fork(simple, runs[0].trace, live_from=wb.turn(1))
    assert isinstance(served.error, wb.UsageError)
    assert "can only be served from the recording: pass an io" in str(served.error)


def test_record_modes_take_an_io(tmp_path: Path) -> None:
    """``once`` records with the io, then serves; the io is there for what a new question needs."""
    path = tmp_path / "once.trace.jsonl"
    for _ in range(2):
        script = wb.scripted_io(["first"])
        assert wb.record(simple, "q1", io=script, to=path, mode="once").output == "first"
    more = wb.record(simple, "q2", io=wb.scripted_io(["new"]), to=path, mode="new_episodes")
    assert more.output == "new", more.drift
    assert sorted(turn.text for turn in wb.load(path).turns) == ["first", "new"]


def test_a_wrong_use_of_an_io_is_said() -> None:
    """A stream has no reply before its end, an io no trace of its own without a session."""
    io = wb.scripted_io(["x"])
    with pytest.raises(wb.UsageError, match=r"recording_io\(io\) makes one"):
        _ = io.trace
    recording = wb.recording_io(io)
    with pytest.raises(wb.UsageError, match="once the io is closed"):
        _ = recording.result
    assert repr(recording) == "<SeamIO: recording>"
    assert repr(wb.faulty_io(recording, []).sync) == "<SyncSeamIO: faulty of recording>"
