"""Races replay as they ran: calls at once end in the order in which they ended when recorded."""

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import scripted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripted import World, aask, ask

import workbench as wb

ORDERS = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@wb.tool(effect="read")
async def wait_for(name: str, after_s: float) -> str:
    """Take a while."""
    await asyncio.sleep(after_s)
    return name


async def racers(delays: list[float]) -> list[str]:
    """Ask several tools at once, and go by which of them is first, second and third."""
    order: list[str] = []
    tasks = [asyncio.create_task(wait_for(f"t{n}", s)) for n, s in enumerate(delays)]
    for done in asyncio.as_completed(tasks):
        order.append(await done)
        await aask(f"so far {order}")
    return order


def test_results_come_in_the_recorded_order() -> None:
    """An agent that goes by what ends first goes the same way on replay."""
    recorded = wb.record(racers, [0.06, 0.02, 0.0])
    assert recorded.output == ["t2", "t1", "t0"]
    replayed = wb.replay(racers, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", ["t2", "t1", "t0"])
    assert not replayed.notices


@ORDERS
@given(st.permutations([0.0, 0.008, 0.016, 0.024]))
def test_any_race_replays_as_it_ran(delays: list[float]) -> None:
    """Whoever won when it was recorded wins again, whatever the order of starts."""
    scripted.world.answer = scripted.World().answer
    recorded = wb.record(racers, delays)
    replayed = wb.replay(racers, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert [e.hash for e in replayed.trace.entries] == [e.hash for e in recorded.trace.entries]


def test_threads_race_as_they_did() -> None:
    """The same for threads of a pool: the second call's answer is there first."""
    order: list[str] = []

    def one(name: str, after_s: float) -> None:
        ask(name, wait=after_s)
        order.append(name)

    def agent() -> list[str]:
        order.clear()
        with ThreadPoolExecutor(2) as pool:
            first = pool.submit(one, "slow", 0.1)
            time.sleep(0.02)
            second = pool.submit(one, "quick", 0.0)
            first.result()
            second.result()
        return list(order)

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(body["wait"])
        return {"content": "x"}

    scripted.world.answer = answer
    recorded = wb.record(agent)
    assert recorded.output == ["quick", "slow"]
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", ["quick", "slow"])


def test_nobody_waits_for_what_does_not_come() -> None:
    """A call whose rival is never made goes on, and that is said: no deadlock."""

    async def agent(both: bool) -> list[str]:
        names = {"early": 0.02, "late": 0.06} if both else {"late": 0.06}
        return await asyncio.gather(*(wait_for(name, s) for name, s in names.items()))

    recorded = wb.record(agent, True)
    replayed, took = timed(lambda: wb.replay(agent, recorded.trace, False))
    assert took < 1
    assert (replayed.status, replayed.output) == ("drifted", ["late"])
    assert [each.arguments["name"] for each in replayed.leftover] == ["early"]
    assert any("reordered" in notice for notice in replayed.notices)


def timed(do: Any) -> tuple[Any, float]:
    """What it gives, and the seconds that it took."""
    began = time.monotonic()
    return do(), time.monotonic() - began


def test_who_asks_one_after_the_other_waits_for_nothing(world: World) -> None:
    """A sequential agent that leaves every other call out is not held up, and nothing is said."""

    def agent(step: int) -> int:
        return len([ask(str(n))["content"] for n in range(0, 100, step)])

    recorded = wb.record(agent, 1)
    replayed, took = timed(lambda: wb.replay(agent, recorded.trace, 2))
    assert took < 2
    assert not any("reordered" in notice for notice in replayed.notices)
    assert len(replayed.leftover) == 50


def test_workers_that_share_a_queue_take_the_same_jobs() -> None:
    """Not only the ends, also the beginnings are as they were: each worker takes its own job."""

    async def agent() -> dict[str, list[int]]:
        jobs = list(range(6))
        took: dict[str, list[int]] = {"a": [], "b": []}

        async def worker(name: str, pace: float) -> None:
            while jobs:
                job = jobs.pop(0)
                took[name].append(job)
                await wait_for(f"{name} does {job}", pace)

        jobs_done = [
            asyncio.create_task(worker("a", 0.03)),
            asyncio.create_task(worker("b", 0.012)),
        ]
        await asyncio.gather(*jobs_done)
        return took

    recorded = wb.record(agent)
    assert set(map(len, recorded.output.values())) != {0}
    for _ in range(5):
        replayed = wb.replay(agent, recorded.trace)
        assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift
        assert not replayed.notices


def test_threads_that_share_a_queue_take_the_same_jobs(world: World) -> None:
    """The same with threads."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.03 if "a" in body["messages"][-1]["content"] else 0.012)
        return {"content": "done"}

    world.answer = answer

    def agent() -> dict[str, list[int]]:
        jobs, took, lock = list(range(6)), {"a": [], "b": []}, threading.Lock()  # type: ignore[var-annotated]

        def worker(name: str) -> None:
            while True:
                with lock:
                    if not jobs:
                        return
                    took[name].append(job := jobs.pop(0))
                ask(f"{name} does {job}")

        with ThreadPoolExecutor(2) as pool:
            list(pool.map(worker, "ab"))
        return took

    recorded = wb.record(agent)
    for _ in range(3):
        replayed = wb.replay(agent, recorded.trace)
        assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift


def test_an_agents_own_pause_before_a_call_is_waited_for() -> None:
    """What was long in coming when it was recorded is given the time on replay."""

    async def agent() -> list[str]:
        order: list[str] = []

        async def one(name: str, pause: float, after_s: float) -> None:
            await asyncio.sleep(pause)
            order.append(await wait_for(name, after_s))

        await asyncio.gather(one("long", 0.0, 0.3), one("short", 0.2, 0.0))
        return order

    recorded = wb.record(agent)
    assert recorded.output == ["short", "long"]
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", ["short", "long"])
    assert not replayed.notices


def test_parallel_tools_that_ask_a_model_are_not_reordered(world: World) -> None:
    """Unchanged, served whole or run again: no notice, and no wait."""

    @wb.tool(effect="read")
    async def research(topic: str) -> str:
        first = (await aask(f"about {topic}"))["content"]
        return str((await aask(f"more on {first}"))["content"])

    async def agent() -> list[str]:
        return list(await asyncio.gather(research("x"), research("y")))

    recorded = wb.record(agent)
    for tools in ("replay", "live", "verify"):
        replayed, took = timed(lambda tools=tools: wb.replay(agent, recorded.trace, tools=tools))
        assert (replayed.status, replayed.output, replayed.notices) == ("ok", recorded.output, [])
        assert took < 1


def test_a_tool_that_runs_is_not_waited_for_from_inside(world: World) -> None:
    """A served call inside a tool that runs goes on, though its rival never comes."""

    @wb.tool(effect="read")
    async def outer() -> str:
        return str((await aask("inside"))["content"])

    async def agent(both: bool) -> str:
        if not both:
            return await outer()
        rival = asyncio.create_task(wait_for("rival", 0.0))
        found = await outer()
        await rival
        return found

    recorded = wb.record(agent, True)
    replayed, took = timed(lambda: wb.replay(agent, recorded.trace, False, tools="live"))
    assert took < 3
    assert replayed.output == recorded.output


def test_a_sibling_that_fails_cancels_at_once() -> None:
    """A cancellation that comes together with the answer is not lost."""

    @wb.tool(effect="read")
    async def fails() -> None:
        await asyncio.sleep(0.01)
        raise LookupError("no")

    async def agent() -> str:
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(wait_for("a", 0.2))
                group.create_task(fails())
                group.create_task(wait_for("b", 0.3))
        except ExceptionGroup:
            return "failed"
        return "ok"

    recorded = wb.record(agent)
    for _ in range(5):
        replayed, took = timed(lambda: wb.replay(agent, recorded.trace))
        assert (replayed.status, replayed.output) == ("ok", "failed"), replayed.drift
        assert took < 2


def test_latencies_do_not_change_who_wins() -> None:
    """Answers that take a while still come in the recorded order, and nobody is reordered."""
    recorded = wb.record(racers, [0.06, 0.02, 0.0])
    for latency in (wb.Latency("normal", 40, seed=3), wb.Latency("constant", 60)):
        replayed = wb.replay(racers, recorded.trace, latency=latency)
        assert (replayed.status, replayed.output) == ("ok", recorded.output)
        assert not replayed.notices


def test_a_call_that_is_cancelled_while_it_waits_stops_nobody() -> None:
    """Its place in the order is given up, and the others go on."""

    async def agent(impatient: bool) -> str:
        slow = asyncio.create_task(wait_for("slow", 0.05))
        quick = asyncio.create_task(wait_for("quick", 0.0))
        if impatient:
            await asyncio.sleep(0)
            slow.cancel()
            quick.cancel()
            await asyncio.gather(slow, quick, return_exceptions=True)
            return str((await aask("after"))["content"])
        await asyncio.gather(slow, quick)
        return str((await aask("after"))["content"])

    recorded = wb.record(agent, False)
    replayed = wb.replay(agent, recorded.trace, True)
    assert replayed.output == "re: after"


def test_free_completion_holds_nothing(world: World) -> None:
    """completion='free' hands each answer over at once, in the order of asking."""
    recorded = wb.record(racers, [0.03, 0.0])
    assert recorded.output == ["t1", "t0"]
    world.ran.clear()
    replayed = wb.replay(racers, recorded.trace, completion="free", on_miss="placeholder")
    assert replayed.output == ["t0", "t1"]
    with pytest.raises(wb.UsageError, match="completion='no'"):
        wb.replay(racers, recorded.trace, completion="no")  # type: ignore[arg-type]


def test_a_stream_that_is_read_while_others_run_holds_nobody_up(world: World) -> None:
    """What counts is when an answer began to come: its reader may take his time."""
    world.answer = lambda body: {"content": f"one two three {body['messages'][-1]['content']}"}

    def agent() -> list[str]:
        out = []
        for number, _ in enumerate(ask("outer", stream=True)):
            out.append(ask(f"inner {number}")["content"])
        return out

    recorded = wb.record(agent)
    assert len(recorded.output) > 1
    began = time.monotonic()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert not replayed.notices
    assert time.monotonic() - began < 1


def test_the_new_trace_keeps_the_order_of_starts_and_of_ends() -> None:
    """A replay's trace can itself be replayed: it has the same starts and the same ends."""
    recorded = wb.record(racers, [0.05, 0.02, 0.0])
    replayed = wb.replay(racers, recorded.trace)

    def ends(trace: wb.Trace) -> list[Any]:
        done = sorted(trace.entries, key=lambda entry: entry.handed_over)
        return [(each.kind, each.name, each.hash) for each in done]

    assert ends(replayed.trace) == ends(recorded.trace)
    again = wb.replay(racers, replayed.trace)
    assert (again.status, again.output) == ("ok", recorded.output)


def test_threads_of_a_replay_never_hang(world: World) -> None:
    """Many threads, each with its own calls, in an order that no recording had."""
    world.answer = lambda body: {"content": body["messages"][-1]["content"]}

    def agent(workers: int) -> int:
        names = [f"n{n}" for n in range(24)]
        with ThreadPoolExecutor(workers) as pool:
            return len(list(pool.map(lambda name: ask(name)["content"], names)))

    recorded = wb.record(agent, 8)
    done: list[Any] = []
    thread = threading.Thread(
        target=lambda: done.append(wb.replay(agent, recorded.trace, 1)), daemon=True
    )
    thread.start()
    thread.join(20)
    assert done, "the replay hangs"
    assert (done[0].status, done[0].output) == ("ok", 24)
