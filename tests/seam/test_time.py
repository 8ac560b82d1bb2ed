"""Time on the seam: latency models, waits that nobody waits, and what a fork lets go of."""

import asyncio
import threading
import time
from datetime import timedelta
from typing import Any

import pytest
from scripted import World, aask, ask

import workbench as wb


def timed(do: Any) -> tuple[Any, float]:
    """What it gives, and the seconds that it took."""
    began = time.monotonic()
    return do(), time.monotonic() - began


def agent() -> str:
    """Ask twice, with a long wait between."""
    first = ask("one")["content"]
    wb.sleep(30)
    return str(first) + str(ask("two")["content"])


def slow(world: World) -> None:
    """The model takes a moment."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.06)
        return {"content": body["messages"][-1]["content"]}

    world.answer = answer


def quick() -> str:
    """Ask twice."""
    return str(ask("one")["content"]) + str(ask("two")["content"])


def test_a_replay_takes_no_time_unless_it_is_told_to(world: World) -> None:
    """Constant and recorded latencies are waited for, and nothing else is."""
    slow(world)
    recorded = wb.record(quick)
    assert timed(lambda: wb.replay(quick, recorded.trace))[1] < 0.1
    result, took = timed(
        lambda: wb.replay(quick, recorded.trace, latency=wb.Latency("constant", 80))
    )
    assert (result.status, took >= 0.16) == ("ok", True)
    assert timed(lambda: wb.replay(quick, recorded.trace, latency="recorded"))[1] >= 0.11


def test_async_waits_do_not_stop_the_loop() -> None:
    """Four answers at once take as long as one."""

    async def four() -> list[Any]:
        return await asyncio.gather(*(aask(each) for each in "abcd"))

    recorded = wb.record(four)
    latency = wb.Latency("constant", 200)
    result, took = timed(lambda: wb.replay(four, recorded.trace, latency=latency))
    assert result.status == "ok"
    assert 0.2 <= took < 0.6


def test_normal_latency_is_seeded() -> None:
    """The same seed gives the same waits, at least a millisecond each."""
    one = [wb.Latency("normal", 40, seed=7).seconds(None) for _ in range(2)]
    model = wb.Latency("normal", 40, seed=7)
    assert one[0] == one[1] == model.seconds(None)
    drawn = [model.seconds(None) for _ in range(200)]
    assert min(drawn) >= 0.001
    assert 0.035 < sum(drawn) / 200 < 0.045


def test_each_run_draws_from_the_seed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """One latency object given to two replays makes both wait the same."""
    drawn: list[float] = []
    seconds = wb.Latency.seconds

    def noted(self: wb.Latency, entry: wb.Entry | None) -> float:
        drawn.append(seconds(self, entry))
        return drawn[-1]

    monkeypatch.setattr(wb.Latency, "seconds", noted)
    recorded = wb.record(quick)
    latency = wb.Latency("normal", 2, seed=7)
    for _ in range(2):
        assert wb.replay(quick, recorded.trace, latency=latency).status == "ok"
    first, second, *again = drawn
    assert first != second
    assert again == [first, second]


def test_no_such_latency() -> None:
    """The models are named."""
    with pytest.raises(wb.UsageError, match="'none', 'constant', 'normal', 'recorded'"):
        wb.Latency("slow")  # type: ignore[arg-type]
    for ms in (-1, float("nan"), float("inf")):
        with pytest.raises(wb.UsageError, match=f"a latency of {ms!r} ms: give a number of"):
            wb.Latency("constant", ms)


def _sleeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits of this thread, which take no time here; other libraries' threads go on."""
    slept: list[float] = []
    real, here = time.sleep, threading.get_ident()

    def sleep(seconds: float) -> None:
        if threading.get_ident() == here:
            slept.append(seconds)
        else:
            real(seconds)

    monkeypatch.setattr("workbench.seam.pins.time.sleep", sleep)
    return slept


def test_nobody_waits_on_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a minute of backoff takes no time, and realtime=True takes it all."""
    slept = _sleeps(monkeypatch)
    recorded = wb.record(agent)
    assert slept == [30]
    assert wb.replay(agent, recorded.trace).status == "ok"
    assert slept == [30]
    assert wb.replay(agent, recorded.trace, realtime=True).status == "ok"
    assert slept == [30, 30]


def test_a_fork_that_is_live_really_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the cut waits are skipped; past it whoever is waited for is real."""
    slept = _sleeps(monkeypatch)

    def patient() -> None:
        wb.sleep(1)
        ask("one")
        wb.sleep(2)
        ask("two")
        wb.sleep(3)

    recorded = wb.record(patient)
    slept.clear()
    assert wb.fork(patient, recorded.trace, live_from=wb.turn(2)).status == "ok"
    assert slept == [3]


def test_the_clock_beyond_the_recording_counts_the_waits() -> None:
    """An agent that polls until a deadline comes to it, though nobody really waits."""

    def poll(times: int) -> int:
        until, polls = wb.now() + timedelta(seconds=60 * times), 0
        while wb.now() < until:
            polls += 1
            wb.sleep(45)
        return polls

    recorded = wb.record(poll, 0)
    fork, took = timed(lambda: wb.fork(poll, recorded.trace, 3, on_miss="live"))
    assert (fork.status, fork.output) == ("ok", 4)
    assert took < 5


def test_release_lets_go_of_one_thing_once_the_run_is_live() -> None:
    """Past the cut ids go on as recorded, and the clock is read anew when it is let go of."""

    def reader() -> list[Any]:
        out: list[Any] = [wb.new_id(), wb.now(), wb.random()]
        ask("go on")
        return [*out, wb.new_id(), wb.now(), wb.random()]

    recorded = wb.record(reader)
    kept = wb.fork(reader, recorded.trace, live_from=wb.turn(1))
    assert kept.output == recorded.output
    fork = wb.fork(reader, recorded.trace, live_from=wb.turn(1), release={"clock"})
    same = [a == b for a, b in zip(fork.output, recorded.output, strict=True)]
    assert same == [True, True, True, True, False, True]
    assert fork.output[4] > recorded.output[4]
    assert fork.trace.header.parent is not None
    assert fork.trace.header.parent.options["release"] == ["clock"]
    other = wb.fork(reader, recorded.trace, live_from=wb.turn(1), release=("id", "random"))
    same = [a == b for a, b in zip(other.output, recorded.output, strict=True)]
    assert same == [True, True, True, False, True, False]
    with pytest.raises(wb.UsageError, match="'clock', 'id', 'random'"):
        wb.fork(reader, recorded.trace, release={"uuid"})  # type: ignore[arg-type]
