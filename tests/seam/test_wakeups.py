"""What wakes up whom replays as it did: time limits, chains of tasks, waits that are skipped."""

import asyncio
import time

import pytest
from scripted import aask

import workbench as wb


@wb.tool(effect="read")
async def wait_for(name: str, after_s: float) -> str:
    """Take a while."""
    await asyncio.sleep(after_s)
    return name


def test_a_time_limit_runs_out_before_what_ended_after_it() -> None:
    """What ended after a call was cancelled by its time limit is not handed over before that."""

    async def agent() -> list[str]:
        log: list[str] = []

        async def limited() -> None:
            try:
                await asyncio.wait_for(wait_for("slow", 5), 0.05)
            except TimeoutError:
                log.append("too late")

        async def other() -> None:
            log.append(await wait_for("other", 0.1))
            await aask(f"{log}")

        await asyncio.gather(limited(), other())
        return log

    recorded = wb.record(agent)
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", ["too late", "other"])
    assert not replayed.notices


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_what_follows_from_an_answer_comes_before_the_next_answer(depth: int) -> None:
    """An answer on its way through other tasks and a queue is there before one that came later."""

    async def deep(depth: int) -> str:
        if depth == 0:
            return await wait_for("first", 0.01)
        if depth % 2:
            return await asyncio.wait_for(deep(depth - 1), 9)
        return (await asyncio.gather(deep(depth - 1)))[0]

    async def agent() -> list[str]:
        log: list[str] = []
        queue: asyncio.Queue[str] = asyncio.Queue()

        async def producer() -> None:
            await queue.put(await deep(depth))

        async def consumer() -> None:
            log.append(await queue.get())

        async def other() -> None:
            log.append(await wait_for("second", 0.03))
            await aask(f"{log}")

        await asyncio.gather(producer(), consumer(), other())
        return log

    recorded = wb.record(agent)
    again = wb.replay(agent, recorded.trace)
    assert (again.status, again.output) == ("ok", ["first", "second"])
    assert wb.replay(agent, again.trace).output == ["first", "second"]


def test_a_wait_that_is_skipped_lets_others_go_on() -> None:
    """Polling beside other work replays in its order, though nobody waits between the polls."""

    async def agent(io: wb.AgentIO) -> list[str]:
        log: list[str] = []

        async def polls() -> None:
            for number in range(3):
                await io.sleep(0.05)
                log.append(await wait_for(f"poll {number}", 0.001))

        async def works() -> None:
            for number in range(4):
                log.append(await wait_for(f"work {number}", 0.02))
                await aask(f"{log}")
                await io.sleep(0.015)

        await asyncio.gather(polls(), works())
        return log

    recorded = wb.record(agent, wb.live_io())
    for _ in range(5):
        replayed = wb.replay(agent, recorded.trace, wb.live_io())
        assert (replayed.status, replayed.output) == ("ok", recorded.output)
        assert not replayed.notices


def test_very_many_calls_at_once_come_to_their_turns() -> None:
    """A thousand calls that wait for each other do not keep each other from their turns."""

    async def agent() -> int:
        delays = [(number * 7919 % 1000) / 2500 for number in range(1000)]
        done = await asyncio.gather(*[wait_for(f"{n}", s) for n, s in enumerate(delays)])
        return len(done)

    recorded = wb.record(agent)
    begun = time.monotonic()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", 1000)
    assert time.monotonic() - begun < 20
