"""Clocks and chance around real SDKs: what an agent reads is on the tape, a client's is not."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any

import pytest
from askers import ASKERS, CHAT, Asker
from loopback import Server

import workbench as wb

clockagent: Any = import_module("clockagent")  # whose names change while a session is open
AMBIENT = ["clockagent"]
HOUR_S = 3600.0


@pytest.fixture(params=ASKERS, ids=str)
def asker(request: pytest.FixtureRequest) -> Asker:
    """Each API."""
    found: Asker = request.param
    return found


def run(
    agent: Callable[..., Awaitable[Any]], asker: Asker, url: str, *args: Any
) -> Callable[[], Any]:
    """An agent, with one async client of an API."""

    async def whole() -> Any:
        async with asker.aopen(url) as made:
            return await agent(lambda text: asker.aask(made, text), *args)

    return whole


def test_waits_and_time_limits_go_on_in_a_replay(asker: Asker, speaker: Server) -> None:
    """With its clocks on the tape an agent still sleeps, gives up by its time limits and keeps
    within them: the event loop's and the SDK's time is the real one. What it measured returns."""
    agent = run(clockagent.hurried, asker, speaker.url)
    recorded = wb.record(agent, ambient=AMBIENT)
    assert recorded.status == "ok", recorded.error
    assert recorded.output["limit"] == "reached"
    assert 0.15 <= recorded.output["took"] < 30
    assert recorded.output["second"].startswith("You said: After 0.")
    speaker.stop()
    begun = time.monotonic()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert 0.14 <= time.monotonic() - begun < 20


def test_a_pool_of_connections_sees_the_real_time(speaker: Server) -> None:
    """An agent with its clocks on the tape keeps its client's connection: pools, time limits and
    heartbeats of libraries never read the tape, neither in a recording nor where a fork is live."""
    import openai

    def agent() -> Any:
        async def whole() -> Any:
            async with openai.AsyncOpenAI(api_key="k", base_url=f"{speaker.url}/v1") as made:
                return await clockagent.paced(lambda text: CHAT.aask(made, text))

        return asyncio.run(whole())

    recorded = wb.record(agent, ambient=AMBIENT)
    assert recorded.status == "ok", recorded.error
    assert (len(speaker.seen), speaker.connections) == (4, 1)
    forked = wb.fork(agent, recorded.trace, live_from=wb.turn(2))
    assert (forked.status, forked.live_calls) == ("ok", 3)
    assert (len(speaker.seen), speaker.connections) == (7, 2)
    assert forked.output == recorded.output


def test_one_more_draw_shifts_no_id(asker: Asker, speaker: Server) -> None:
    """A number more, drawn before two ids: the ids are the recorded ones, their questions are
    answered from the trace, and the replay names the draw that was not recorded."""
    recorded = wb.record(run(clockagent.drawing, asker, speaker.url), ambient=AMBIENT)
    assert recorded.status == "ok", recorded.error
    assert len(set(recorded.output)) == 3
    speaker.stop()
    same = wb.replay(run(clockagent.drawing, asker, speaker.url), recorded.trace)
    assert (same.status, same.output) == ("ok", recorded.output)
    more = wb.replay(run(clockagent.drawing, asker, speaker.url, 1), recorded.trace)
    assert more.status == "drifted"
    assert "reading 2 of random.random in clockagent:drawing" in str(more.drift)
    loose = wb.fork(run(clockagent.drawing, asker, speaker.url, 1), recorded.trace, on_miss="live")
    assert loose.output == recorded.output
    assert loose.live_calls == 0


@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_a_clock_that_is_set_back_makes_no_duration_negative(
    asker: Asker, kind: str, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wall clock goes back by an hour in the middle of a call: its duration, its chunks' times
    and the run's are measured all the same."""
    real, late = time.time, speaker.next_word

    def word(script: str) -> str:  # the server is asked: the call is under way
        monkeypatch.setattr(time, "time", lambda: real() - HOUR_S)
        return late(script)

    monkeypatch.setattr(speaker, "next_word", word)

    def agent() -> int:
        if kind == "plain":
            return len(asker.ask(speaker.url, "hello", "late"))
        return len(list(asker.read(speaker.url, model="slow")))

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    monkeypatch.undo()
    (entry,) = recorded.trace.entries
    assert entry.duration_s is not None
    assert 0 < entry.duration_s < 60
    assert recorded.trace.end is not None
    assert entry.duration_s <= (recorded.trace.end.duration_s or 0) < 60
    times = [chunk.offset_s or 0.0 for chunk in entry.chunks]
    assert times == sorted(times)
    assert all(0 <= each <= entry.duration_s for each in times)


def test_a_date_in_a_prompt_is_on_the_tape_or_named(asker: Asker, speaker: Server) -> None:
    """What the agent read of the clock for its prompt comes back; an agent that is not ambient
    misses, and is told that only a time differs, with the rule that lets it pass."""
    agent = run(clockagent.paced, asker, speaker.url)
    recorded = wb.record(agent, ambient=AMBIENT)
    speaker.stop()
    assert wb.replay(agent, recorded.trace).output == recorded.output
    plain = wb.replay(agent, recorded.trace, ambient=False)
    assert plain.status == "drifted"
    assert "only a time, an id or a path differs" in str(plain.drift)
    assert f"--ignore {asker.api}:/body/" in str(plain.drift)


def test_files_in_another_order_are_recorded_or_named(asker: Asker, speaker: Server) -> None:
    """A folder that is listed in another order: through a tool the recorded order comes back;
    where the agent lists it by itself, the miss says that only the order differs."""
    names = ["b.txt", "a.txt", "c.txt"]

    def listed() -> list[str]:
        return list(names)

    tool = wb.tool(effect="read", name="listed")(listed)

    def agent(found: Callable[[], list[str]]) -> str:
        return asker.ask(speaker.url, f"Files: {', '.join(found())}")

    by_tool, by_itself = wb.record(agent, tool), wb.record(agent, listed)
    speaker.stop()
    assert by_tool.output == by_itself.output == "You said: Files: b.txt, a.txt, c.txt"
    names.sort()
    replayed = wb.replay(agent, by_tool.trace, tool)
    assert (replayed.status, replayed.output) == ("ok", by_tool.output)
    missed = wb.replay(agent, by_itself.trace, listed)
    assert missed.status == "drifted"
    assert "only the order differs" in str(missed.drift)
