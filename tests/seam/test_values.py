"""Clock, ids, random numbers and events: recorded, pinned past a cut, continued beyond."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb


def agent(extra: int = 0) -> list[Any]:
    """Reads a bit of everything."""
    out: list[Any] = [wb.now(), wb.new_id(), wb.random()]
    ask("hello")
    out += [wb.random() for _ in range(1 + extra)]
    wb.write_event("done", {"when": out[0]})
    return out


def test_a_replay_reads_the_recorded_values() -> None:
    """Time, id and random numbers of a replay are those of the recording, types included."""
    before = datetime.now(UTC)
    recorded = wb.record(agent)
    assert before <= recorded.output[0] <= datetime.now(UTC)
    again = wb.replay(agent, recorded.trace)
    assert again.output == recorded.output
    assert again.status == "ok"
    (event,) = again.trace.events("done")
    assert event.data == {"when": recorded.output[0]}


def test_values_stay_pinned_past_the_cut_and_continue_from_the_seed(world: World) -> None:
    """Only one thing changes at a time: a live model, the same ids; further draws are derived
    from the trace's seed, so two forks agree."""
    recorded = wb.record(agent)
    forks = [wb.fork(agent, recorded.trace, 2, live_from=wb.turn(1)) for _ in range(2)]
    for fork in forks:
        assert fork.output[:4] == recorded.output
        assert fork.calls[0].how == "live"
    assert forks[0].output[4:] == forks[1].output[4:]
    assert forks[0].output[4] != forks[0].output[5]
    assert all(0 <= value < 1 for value in forks[0].output[2:])


def test_one_more_reading_than_recorded_is_named() -> None:
    """A strict replay that draws once more says which reading, where, and shifts no other."""
    recorded = wb.record(agent)
    more = wb.replay(agent, recorded.trace, 1)
    assert more.status == "drifted"
    assert "reading 3 of random in test_values:agent" in str(more.drift).replace("tests.seam.", "")


def test_sites_do_not_shift_each_other() -> None:
    """A new draw in one function leaves the recorded values of another as they were."""

    def first(times: int) -> list[float]:
        return [wb.random() for _ in range(times)]

    def second() -> float:
        return wb.random()

    def both(times: int) -> tuple[list[float], float]:
        return first(times), second()

    recorded = wb.record(both, 1)
    ask_more = wb.fork(both, recorded.trace, 2, on_miss="live")
    assert ask_more.output[1] == recorded.output[1]


def test_sleep_waits_only_when_live() -> None:
    """A replay does not wait where the recording did."""

    def sleepy() -> str:
        wb.sleep(0.3)
        return "rested"

    begun = time.monotonic()
    recorded = wb.record(sleepy)
    waited = time.monotonic() - begun
    begun = time.monotonic()
    assert wb.replay(sleepy, recorded.trace).output == "rested"
    assert waited >= 0.3
    assert time.monotonic() - begun < waited
    with pytest.raises(wb.UsageError, match="not negative"):
        wb.sleep(-1)


def test_outside_a_session_everything_is_just_live() -> None:
    """The functions work without any recording."""
    assert isinstance(wb.now(), datetime)
    assert len(wb.new_id()) == 32
    assert 0 <= wb.random() < 1
    wb.write_event("ignored")
    assert wb.idempotency_key() is None
