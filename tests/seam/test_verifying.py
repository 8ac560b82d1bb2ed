"""verify: several strict replays, compared with the recording and with each other."""

import itertools
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb


@wb.tool(effect="read")
def count(up_to: int) -> list[int]:
    """Count."""
    return list(range(up_to))


def agent(question: str) -> dict[str, Any]:
    """Ask, count, tell."""
    wb.write_event("begun", question)
    reply = ask(question)["content"]
    return {"reply": reply, "count": count(3), "at": wb.now(), "id": wb.new_id()}


def test_an_agent_that_does_the_same_every_time(world: World) -> None:
    """Nothing runs, nothing differs."""
    recorded = wb.record(agent, "hello")
    world.ran.clear()
    found = wb.verify(agent, recorded.trace)
    assert found.ok, found.differences
    assert [result.status for result in found.results] == ["ok"] * 3
    assert world.ran == []
    assert found.raise_for_difference() is found
    assert "3 replays, no difference" in repr(found)


def test_an_agent_that_now_and_then_does_something_else(world: World) -> None:
    """The replay that differs is named, with what differs."""
    turns = itertools.count()

    def moody(question: str) -> str:
        reply = str(ask(question)["content"])
        return f"{reply} ({'grudgingly' if next(turns) == 2 else 'gladly'})"

    recorded = wb.record(moody, "hello")
    found = wb.verify(moody, recorded.trace, runs=3)
    assert not found.ok
    assert any(text.startswith("replay 2, beside the recording") for text in found.differences)
    assert any("grudgingly" in text for text in found.differences)
    with pytest.raises(wb.DriftError, match="grudgingly"):
        found.raise_for_difference()


def test_an_event_that_differs_is_a_difference(world: World) -> None:
    """What an agent writes down counts as much as what it asks."""
    turns = itertools.count()

    def writer() -> None:
        ask("hello")
        wb.write_event("step", next(turns) // 2)

    recorded = wb.record(writer)
    found = wb.verify(writer, recorded.trace, runs=2)
    assert len(found.differences) == 1
    assert found.differences[0].startswith("replay 2: drift")
    assert "event" in found.differences[0]


def test_tools_that_run_are_compared(world: World) -> None:
    """With tools='live' each replay runs them: another result is another run."""
    results = itertools.count()

    @wb.tool(effect="read")
    def dice() -> int:
        return next(results)

    def gambler() -> int:
        ask("roll")
        return dice()

    recorded = wb.record(gambler)
    assert wb.verify(gambler, recorded.trace).ok
    found = wb.verify(gambler, recorded.trace, runs=2, tools="live")
    assert not found.ok
    assert any("beside replay 1" in text for text in found.differences)


def test_a_run_that_fails_must_be_allowed_to(world: World) -> None:
    """A stable failure is fine when that is said."""

    def broken() -> None:
        ask("hello")
        raise LookupError("always")

    recorded = wb.record(broken)
    assert not wb.verify(broken, recorded.trace, runs=1).ok
    assert wb.verify(broken, recorded.trace, runs=2, allow_failed=True).ok


def test_what_makes_no_sense_is_refused(world: World) -> None:
    """Lenient, edited, into one file, not at all."""
    recorded = wb.record(agent, "hello").trace
    for options, text in (
        ({"runs": 0}, "runs=0"),
        ({"on_miss": "placeholder"}, "strictly"),
        ({"to": "x.trace.jsonl"}, "leave to= out"),
        ({"edits": recorded.edit().reply(wb.turn(1), text="x")}, "edits="),
    ):
        with pytest.raises(wb.UsageError, match=text):
            wb.verify(agent, recorded, **options)


async def _several(trace: wb.Trace) -> wb.Verification:
    return await wb.averify(agent, trace, runs=2)


def test_awaiting(world: World) -> None:
    """The same inside a running loop."""
    import asyncio

    recorded = wb.record(agent, "hello")
    found = asyncio.run(_several(recorded.trace))
    assert found.ok
    assert [result.output for result in found.results] == [recorded.output] * 2
