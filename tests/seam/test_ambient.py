"""Ambient sessions: what the agent's own modules read of clocks and chance is in the trace."""

import asyncio
import datetime as dt
import random as real_random
import sys
import threading
import time as real_time
import uuid as real_uuid
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb

clockwork: Any = import_module("clockwork")  # whose names change while a session is open
REAL = {name: vars(clockwork)[name] for name in vars(clockwork) if not name.startswith("__")}
"""The names of the agent's module before any session."""


@pytest.fixture(autouse=True)
def put_back() -> Iterator[None]:
    """After each test the agent's module is exactly what it was."""
    yield
    now = {name: vars(clockwork)[name] for name in vars(clockwork) if not name.startswith("__")}
    assert now.keys() == REAL.keys()
    assert all(now[name] is REAL[name] for name in REAL)
    assert real_random.random.__self__.__class__ is real_random.Random  # type: ignore[attr-defined]
    assert not any(type(each).__module__.startswith("workbench") for each in sys.meta_path)


def test_all_of_it_comes_back() -> None:
    """A replay reads the recorded clocks, ids and draws, of their own types; without ambient it
    reads others."""
    recorded = wb.record(clockwork.agent, ambient=True)
    assert recorded.status == "ok", recorded.error
    replayed = wb.replay(clockwork.agent, recorded.trace)
    assert replayed.status == "ok", replayed.drift
    assert replayed.output == recorded.output
    for name, value in recorded.output.items():
        assert type(replayed.output[name]) is type(value)
    assert type(replayed.output["now"][0]) is dt.datetime
    assert type(replayed.output["today"][1]) is dt.date
    assert isinstance(replayed.output["ids"][0], real_uuid.UUID)
    again = wb.replay(clockwork.agent, replayed.trace)
    assert again.output == recorded.output
    plain = wb.record(clockwork.agent)
    assert not [entry for entry in plain.trace.entries if entry.kind in ("clock", "value")]
    assert plain.output["ids"] != recorded.output["ids"]


def test_the_header_says_so() -> None:
    """A trace keeps how it was recorded, and a replay may say otherwise."""
    recorded = wb.record(clockwork.some_ids, 1, ambient="clockwork")
    assert recorded.trace.header.ambient == ["clockwork"]
    replayed = wb.replay(clockwork.some_ids, recorded.trace)
    assert replayed.trace.header.ambient == ["clockwork"]
    fresh = wb.replay(clockwork.some_ids, recorded.trace, ambient=False)
    assert fresh.trace.header.ambient is None
    assert fresh.output != recorded.output
    assert wb.record(clockwork.some_ids, 1).trace.header.ambient is None


@pytest.mark.parametrize("ambient", [5, "", "not a module", [], ["shop", 3]])
def test_what_is_no_module_is_refused(ambient: Any) -> None:
    """Before anything runs."""
    with pytest.raises(wb.UsageError, match="the agent's own modules"):
        wb.record(clockwork.agent, ambient=ambient)


def test_one_more_draw_shifts_nothing_and_is_named() -> None:
    """A random draw that was not recorded leaves the ids as they were; a strict replay names it."""
    recorded = wb.record(clockwork.some_ids, 2, ambient=True)
    forked = wb.fork(clockwork.some_ids, recorded.trace, 2, 1, on_miss="live")
    assert forked.output[1] == recorded.output[1]
    (drawn,) = forked.output[0]
    assert 0 <= drawn < 1
    again = wb.fork(clockwork.some_ids, recorded.trace, 2, 1, on_miss="live")
    assert again.output[0] == [drawn], "further draws depend on the trace's seed alone"
    strict = wb.replay(clockwork.some_ids, recorded.trace, 2, 1)
    assert "reading 1 of random.random in clockwork:some_ids was not recorded" in str(strict.drift)


def test_ids_beyond_the_recording_go_on_from_the_seed() -> None:
    """More ids than were recorded: the first ones are the recorded, the others derived."""
    recorded = wb.record(clockwork.some_ids, 1, ambient=True)
    more = [wb.fork(clockwork.some_ids, recorded.trace, 3, on_miss="live") for _ in range(2)]
    assert more[0].output == more[1].output
    assert more[0].output[1][0] == recorded.output[1][0]
    assert [each.version for each in more[0].output[1]] == [4, 4, 4]
    released = wb.fork(
        clockwork.some_ids, recorded.trace, 3, live_from=lambda _: True, release=["id"]
    )
    assert released.status == "ok"


def test_clocks_go_on_and_never_back() -> None:
    """Beyond the recording a clock goes on from its last reading: no drift, no step back."""
    recorded = wb.record(stretch, 2, ambient=True)
    longer = wb.replay(stretch, recorded.trace, 5)
    assert (longer.status, longer.output[:2]) == ("ok", recorded.output[:2])
    ticks = [reading[0] for reading in longer.output]
    assert ticks == sorted(ticks)
    assert ticks[-1] - ticks[1] < 5, "it goes on from the recorded reading"
    assert all(type(reading[1]) is dt.datetime for reading in longer.output)


import time  # noqa: E402 - the names of this module are the agent's
from datetime import datetime  # noqa: E402


def stretch(times: int) -> list[Any]:
    """Read two clocks so many times."""
    return [(time.monotonic(), datetime.now(dt.UTC)) for _ in range(times)]


def test_a_clock_can_be_read_after_a_drift() -> None:
    """What cleans up after a drift reads the time, and the drift stays what is reported."""
    cleaned: list[Any] = []

    def agent(count: int) -> None:
        try:
            clockwork.some_ids(count)
        finally:
            cleaned.append(clockwork.time.time())

    recorded = wb.record(agent, 1, ambient=["clockwork"])
    drifted = wb.replay(agent, recorded.trace, 2)
    assert "reading 2 of uuid.uuid4 in clockwork:some_ids" in str(drifted.drift)
    assert cleaned[0] == cleaned[1]


def test_only_the_agent_s_modules_read_the_tape(world: World) -> None:
    """Libraries, the event loop and waits go on by the real clock: time limits work, and a sleep
    takes its time."""

    async def agent() -> list[Any]:
        begun = time.monotonic()
        await asyncio.sleep(0.02)
        try:
            async with asyncio.timeout(0.02):
                await asyncio.sleep(30)
        except TimeoutError:
            pass
        threading.Event().wait(0.01)
        time.sleep(0.01)  # noqa: ASYNC251 - that a wait is a real one is what is tested
        return [begun, time.monotonic() - begun]

    recorded = wb.record(agent, ambient=True)
    begun = real_time.perf_counter()
    replayed = wb.replay(agent, recorded.trace)
    assert real_time.perf_counter() - begun >= 0.05
    assert replayed.output == recorded.output
    assert recorded.output[1] >= 0.05


def test_objects_stay_the_agent_s_own() -> None:
    """A choice gives the very object, not a copy; a list is shuffled in its place."""
    things = [object() for _ in range(9)]

    def agent() -> list[int]:
        order = list(things)
        clockwork.random.shuffle(order)
        one = clockwork.choice(things)
        return [things.index(one), *(things.index(each) for each in order)]

    recorded = wb.record(agent, ambient=["clockwork"])
    assert wb.replay(agent, recorded.trace).output == recorded.output


def test_a_recorded_choice_that_no_longer_fits() -> None:
    """With fewer things to choose from, the draw comes from the seed instead of failing."""

    def agent(count: int) -> list[Any]:
        return [clockwork.choice(range(count)), clockwork.random.sample(range(count), 2)]

    recorded = wb.record(agent, 10**6, ambient=["clockwork"])
    changed = wb.fork(agent, recorded.trace, 5, on_miss="live")
    assert changed.status == "ok"
    assert all(each < 5 for each in [changed.output[0], *changed.output[1]])
    assert changed.output == wb.fork(agent, recorded.trace, 5, on_miss="live").output


def test_a_seeded_agent_draws_what_it_would_without() -> None:
    """Recording changes nothing: after random.seed come the numbers that always come."""

    def agent() -> dict[str, Any]:
        clockwork.random.seed(7)
        return {name: clockwork.draws()[name] for name in ("numbers", "one", "some", "shuffled")}

    expected = agent()
    assert wb.record(agent, ambient=["clockwork"]).output == expected


def test_a_draw_that_cannot_be_is_refused_as_ever() -> None:
    """An error of a draw is no reading: the next one gets its own value."""

    def agent() -> list[Any]:
        out: list[Any] = []
        try:
            clockwork.choice([])
        except IndexError as error:
            out.append(str(error))
        try:
            clockwork.randint(5, 1)
        except ValueError:
            out.append("no")
        return [*out, clockwork.choice("abcdef"), clockwork.randint(1, 10**9)]

    recorded = wb.record(agent, ambient=["clockwork"])
    assert wb.replay(agent, recorded.trace).output == recorded.output


def test_what_fails_is_put_back(world: World) -> None:
    """After an agent that raised, and a session that was left by an exception."""

    def agent() -> None:
        assert clockwork.uuid4 is not real_uuid.uuid4
        clockwork.uuid4()
        raise KeyError("x")

    assert wb.record(agent, ambient=["clockwork"]).status == "failed"
    assert clockwork.uuid4 is real_uuid.uuid4
    with pytest.raises(KeyError), wb.recording(ambient=["clockwork"]):
        raise KeyError("x")
    assert clockwork.uuid4 is real_uuid.uuid4


def test_two_sessions_at_once() -> None:
    """The one that ends first takes nothing from the other, whichever began first; and one that is
    not ambient reads nothing."""

    async def main() -> list[wb.RunResult]:
        begun, ended = asyncio.Event(), asyncio.Event()

        async def short() -> Any:
            begun.set()
            return clockwork.uuid4()

        async def long() -> Any:
            first = clockwork.uuid4()
            await ended.wait()
            return [first, clockwork.uuid4()]

        outer = asyncio.create_task(wb.arecord(long, ambient=["clockwork"]))
        await asyncio.sleep(0)
        inner = await wb.arecord(short, ambient=["clockwork"])
        beside = await wb.arecord(short)
        ended.set()
        return [await outer, inner, beside]

    outer, inner, beside = asyncio.run(main())
    readings = [[e.value for e in r.trace.entries] for r in (outer, inner, beside)]
    assert readings == [outer.output, [inner.output], []]


def test_a_name_that_the_agent_changes_is_left() -> None:
    """Only what was put in is put back."""
    fake = lambda: "fixed"  # noqa: E731 - as a test's stand-in is

    def agent() -> Any:
        clockwork.uuid4 = fake
        return clockwork.uuid4()

    try:
        assert wb.record(agent, ambient=["clockwork"]).output == "fixed"
        assert clockwork.uuid4 is fake
    finally:
        clockwork.uuid4 = real_uuid.uuid4


def test_inside_a_served_tool_nothing_is_read() -> None:
    """A tool that does not run reads nothing; what the agent reads outside is not shifted."""

    @wb.tool(effect="read")
    def look() -> str:
        return str(clockwork.uuid4())

    def agent() -> list[Any]:
        return [look(), str(clockwork.uuid4()), look(), str(clockwork.uuid4())]

    recorded = wb.record(agent, ambient=["clockwork"])
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert replayed.diff().same


def test_an_edited_reading_is_served(world: World) -> None:
    """A reading can be edited like any other, and past the cut it is still the recorded one."""

    def agent() -> list[Any]:
        told = clockwork.time.time()
        return [told, ask(f"it is {told}")["content"]]

    recorded = wb.record(agent, ambient=["clockwork"])
    reading = recorded.trace.entries[0]
    forked = wb.fork(agent, recorded.trace, live_from=wb.turn(1))
    assert forked.output[0] == recorded.output[0]
    edits = recorded.trace.edit().value(wb.entry(reading.id), 1.5)
    edited = wb.fork(agent, recorded.trace, edits=edits)
    assert edited.output == [1.5, "re: it is 1.5"]
