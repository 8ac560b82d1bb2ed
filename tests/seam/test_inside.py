"""What happened inside a tool stays in the trace when the tool is served whole."""

import asyncio
from pathlib import Path
from typing import Any

from scripted import World, aask, ask

import workbench as wb


@wb.tool(effect="read")
def research(topic: str) -> dict[str, Any]:
    """Ask a model twice, read the clock, and write an event."""
    first = ask(f"about {topic}")["content"]
    wb.write_event("found", first)
    inner = look(topic)
    return {"at": wb.now(), "text": ask(f"more on {first}")["content"], "inner": inner}


@wb.tool(effect="read")
def look(topic: str) -> str:
    """A tool inside the tool."""
    return f"{topic} {wb.random():.3f}"


def agent() -> list[Any]:
    """Ask, research twice, ask."""
    out: list[Any] = [ask("begin")["content"]]
    out += [research("x"), research("y")]
    return [*out, ask("end")["content"]]


def shape(trace: wb.Trace) -> list[tuple[Any, ...]]:
    """What each entry is, where it is, and what came of it."""
    order = {entry.id: number for number, entry in enumerate(trace.entries)}
    return [
        (
            entry.kind,
            entry.name or entry.type,
            order.get(str(entry.enclosing)),
            order.get(str(entry.asked_by)),
            entry.hash,
            entry.turn.number if entry.turn else None,
            entry.data if entry.kind == "event" else entry.value or entry.response,
        )
        for entry in trace.entries
    ]


def test_a_replay_keeps_what_was_inside(world: World) -> None:
    """The same entries in the same places, the same turns, and no difference."""
    recorded = wb.record(agent)
    replayed = wb.replay(agent, recorded.trace)
    assert replayed.status == "ok"
    assert shape(replayed.trace) == shape(recorded.trace)
    assert replayed.diff().same
    assert wb.verify(agent, recorded.trace, runs=2).ok


def test_the_tools_of_a_replayed_trace_can_run(world: World) -> None:
    """A replay's or fork's own trace has all that its tools need to run again."""
    recorded = wb.record(agent)
    fork = wb.fork(agent, recorded.trace, live_from=wb.turn(6))
    assert [call.how for call in fork.calls] == ["replayed"] * 3 + ["live"]
    again = wb.replay(agent, fork.trace, tools="live")
    assert (again.status, again.output) == ("ok", fork.output)


def test_readings_of_a_served_tool_are_not_handed_to_a_later_one(world: World) -> None:
    """Past the cut the second call of the tool goes on with its own readings."""
    recorded = wb.record(agent)
    second = recorded.trace.tools("research")[1]
    fork = wb.fork(agent, recorded.trace, live_from=wb.entry(second.id))
    assert fork.status == "ok"
    assert fork.output[2]["at"] == recorded.output[2]["at"]
    assert fork.output[2]["inner"] == recorded.output[2]["inner"]


@wb.tool(effect="read")
async def wait(name: str, after_s: float) -> str:
    """Take a while."""
    await asyncio.sleep(after_s)
    return name


@wb.tool(effect="read")
async def survey(topic: str) -> list[str]:
    """Look in three places at once, and go by which is first."""
    found: list[str] = []

    async def one(place: int) -> None:
        found.append(await wait(f"{topic}{place}", 0.006 * (3 - place)))
        await aask(f"{found}")

    await asyncio.gather(*[one(place) for place in range(3)])
    wb.write_event("surveyed", topic)
    return found


async def surveyors() -> list[Any]:
    """Survey three topics at once, and ask about each."""

    async def one(topic: str) -> Any:
        found = await survey(topic)
        return (await aask(f"{topic}: {found}"))["content"]

    return list(await asyncio.gather(*map(one, "abc")))


def test_what_was_inside_several_calls_at_once_keeps_its_order(world: World) -> None:
    """Replays of replays have the same lines in the same order, and their tools can run."""
    recorded = wb.record(surveyors)
    assert wb.verify(surveyors, recorded.trace, runs=2).ok
    trace = recorded.trace
    for _ in range(3):
        trace = wb.replay(surveyors, trace).trace
        assert shape(trace) == shape(recorded.trace)
    again = wb.replay(surveyors, trace, tools="live")
    assert (again.status, again.output) == ("ok", recorded.output)
    assert not again.notices


def episodes(*topics: str) -> list[Any]:
    """Research some topics."""
    return [research(topic) for topic in topics]


def test_what_is_kept_of_earlier_runs_keeps_what_was_inside(world: World, tmp_path: Path) -> None:
    """A tool that a later run does not call stays in the file with all that was inside it."""
    path = tmp_path / "episodes.trace.jsonl"
    first = wb.record(episodes, "x", "y", to=path, mode="new_episodes")
    wb.record(episodes, "y", to=path, mode="new_episodes")
    kept = wb.load(path)
    assert len(kept.entries) == len(first.trace.entries)
    assert all(entry.enclosing for entry in kept.tools("look"))
    again = wb.record(episodes, "x", "y", to=path, mode="new_episodes")
    assert {call.how for call in again.calls} == {"replayed"}
    assert wb.replay(episodes, path, "x", "y", tools="live").output == first.output
