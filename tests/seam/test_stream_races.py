"""Several streams at once: which ends first, and what comes while they are read, is as it was."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

import workbench as wb


class Slow(wb.Model):
    """A model whose streams take as long as they are told to, piece by piece."""

    async def complete(self, request: dict[str, Any]) -> dict[str, Any]:
        return {"content": "noted"}

    async def stream(self, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        name, pace = str(request["messages"][-1]["content"]).split()
        for number in range(4):
            await asyncio.sleep(float(pace))
            yield {"text": f"{name}{number} "}


def said(text: str) -> list[dict[str, Any]]:
    """One message of the user's."""
    return [{"role": "user", "content": text}]


async def readers(io: wb.AgentIO, paces: list[float]) -> list[str]:
    """Read streams at once, and tell the model in which order they ended."""
    order: list[str] = []

    async def one(name: str, pace: float) -> None:
        async for _ in io.stream_model(model="m", messages=said(f"{name} {pace}")):
            pass
        order.append(name)
        await io.call_model(model="m", messages=said(f"ended: {order}"))

    await asyncio.gather(*(one(f"s{n}", pace) for n, pace in enumerate(paces)))
    return order


@pytest.mark.parametrize("paces", [[0.03, 0.01, 0.02], [0.01, 0.03, 0.02], [0.02, 0.02, 0.005]])
def test_streams_end_in_the_recorded_order(paces: list[float]) -> None:
    """An agent that goes by which stream ends first goes the same way on replay."""
    recorded = wb.record(readers, paces, io=wb.live_io(model=Slow()))
    assert recorded.status == "ok", recorded.error
    assert sorted(recorded.output) == ["s0", "s1", "s2"]
    began = time.monotonic()
    for trace in (recorded.trace, wb.replay(readers, recorded.trace).trace):
        replayed = wb.replay(readers, trace)
        assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift
        assert not replayed.notices
    assert time.monotonic() - began < 3


def test_a_stream_that_ran_out_of_time_ends_before_what_ended_after_it() -> None:
    """The time limit of one reader runs out while another call is still to end."""

    async def agent(io: wb.AgentIO) -> list[str]:
        log: list[str] = []

        async def impatient() -> None:
            try:
                async with asyncio.timeout(0.1):
                    async for _ in io.stream_model(model="m", messages=said("slow 0.06")):
                        pass
            except TimeoutError:
                log.append("gave up")

        async def patient() -> None:
            async for _ in io.stream_model(model="m", messages=said("other 0.05")):
                pass
            log.append("read")
            await io.call_model(model="m", messages=said(str(log)))

        await asyncio.gather(impatient(), patient())
        return log

    recorded = wb.record(agent, io=wb.live_io(model=Slow()))
    assert recorded.output == ["gave up", "read"]
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift


def test_streams_of_threads_end_in_the_recorded_order() -> None:
    """The same with the blocking twin, read by threads."""

    def agent(io: wb.SyncAgentIO) -> list[str]:
        order: list[str] = []

        def one(name: str, pace: float) -> None:
            for _ in io.stream_model(model="m", messages=said(f"{name} {pace}")):
                pass
            order.append(name)
            io.call_model(model="m", messages=said(f"ended: {order}"))

        threads = [
            threading.Thread(target=one, args=("slow", 0.03)),
            threading.Thread(target=one, args=("quick", 0.01)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return order

    recorded = wb.record(agent, io=wb.live_io(model=Slow()).sync)
    assert sorted(recorded.output) == ["quick", "slow"], recorded.error
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift


def test_a_stream_whose_rival_does_not_come_ends_all_the_same() -> None:
    """Nobody waits for ever for the end of a stream that is not read this time."""
    recorded = wb.record(readers, [0.03, 0.01], io=wb.live_io(model=Slow()))

    async def alone(io: wb.AgentIO, paces: list[float]) -> int:
        return len([each async for each in io.stream_model(model="m", messages=said("s0 0.03"))])

    began = time.monotonic()
    replayed = wb.replay(alone, recorded.trace)
    assert replayed.output == 4
    assert replayed.status == "drifted"
    assert time.monotonic() - began < 2
