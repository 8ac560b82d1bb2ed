"""Tools that are generators: their values cross the seam one by one, recorded and replayed."""

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb

RAN: list[str] = []
"""What really ran."""


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    """Each test begins with nothing run."""
    RAN.clear()


@dataclass
class Line:
    """A line of a file."""

    number: int
    text: str


@wb.tool(effect="read")
def lines(count: int, fails: bool = False) -> Generator[Line, None, int]:
    """Some lines, and how many there were."""
    for number in range(1, count + 1):
        RAN.append(f"line {number}")
        yield Line(number, f"text {number}")
    if fails:
        raise OSError("the disk is gone")
    return count


@wb.tool(effect="read")
async def ticks(count: int, fails: bool = False) -> AsyncGenerator[int, None]:
    """Numbers, each after a turn of the loop."""
    for number in range(count):
        await asyncio.sleep(0)
        RAN.append(f"tick {number}")
        yield number
    if fails:
        raise OSError("the clock is gone")


def whole(count: int = 3, fails: bool = False) -> list[Any]:
    """Read all lines, and what came at the end."""
    read: list[Any] = []
    reader = lines(count, fails)
    while True:
        try:
            read.append(next(reader))
        except StopIteration as stop:
            return [*read, stop.value]
        except OSError as error:
            return [*read, str(error)]


async def awhole(count: int = 3, fails: bool = False) -> list[Any]:
    """Read all ticks, and what came at the end."""
    read: list[Any] = []
    try:
        async for number in ticks(count, fails):
            read.append(number)
    except OSError as error:
        read.append(str(error))
    return read


def ran_before() -> int:
    """How much ran until now; forgotten afterwards."""
    count = len(RAN)
    RAN.clear()
    return count


@pytest.mark.parametrize("agent", [whole, awhole])
def test_values_are_chunks_of_one_call(agent: Callable[..., Any]) -> None:
    """Each value is a chunk, with its type; a replay yields the same and runs nothing."""
    recorded = wb.record(agent)
    (call,) = recorded.trace.tools()
    assert (call.stream, call.ended, len(call.chunks)) == (True, "complete", 3)
    assert ran_before() == 3
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output, RAN) == ("ok", recorded.output, [])
    assert replayed.diff().same
    again = wb.replay(agent, replayed.trace)
    assert (again.status, again.output) == ("ok", recorded.output)


def test_types_and_the_returned_value_come_back() -> None:
    """A dataclass is one again by the annotation, and StopIteration holds what was returned."""
    recorded = wb.record(whole)
    (call,) = recorded.trace.tools("lines")
    assert call.returned == 3
    assert [each["text"] for each in call.result] == ["text 1", "text 2", "text 3"]
    replayed = wb.replay(whole, recorded.trace)
    assert replayed.output == [Line(1, "text 1"), Line(2, "text 2"), Line(3, "text 3"), 3]


@pytest.mark.parametrize("agent", [whole, awhole])
def test_an_exception_after_values_is_raised_after_them(agent: Callable[..., Any]) -> None:
    """What came before a failure is there on replay, then the failure, of its own type."""
    recorded = wb.record(agent, 2, True)
    assert len(recorded.output) == 3
    assert recorded.output[-1].endswith("is gone")
    (call,) = recorded.trace.tools()
    assert (call.ended, call.error and call.error.type) == ("cut", "OSError")
    ran_before()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.output, RAN) == (recorded.output, [])


def test_values_come_one_by_one() -> None:
    """The agent gets a value before the next one is made, as without a session."""

    def agent() -> list[int]:
        return [len(RAN) for _ in lines(3)]

    assert wb.record(agent).output == [1, 2, 3]
    RAN.clear()
    assert agent() == [1, 2, 3]


def test_nothing_begins_before_the_first_value_is_asked_for() -> None:
    """A generator that nobody reads was never called; wrong arguments are refused at once."""

    def agent() -> int:
        lines(3)
        with pytest.raises(TypeError, match="count"):
            lines()  # type: ignore[call-arg]
        return 1

    recorded = wb.record(agent)
    assert len(recorded.trace.tools()) == 0
    assert recorded.status == "ok"


def first_two() -> list[int]:
    """Stop early."""
    read = []
    for line in lines(9):
        read.append(line.number)
        if len(read) == 2:
            break
    return read


async def afirst_two() -> list[int]:
    """Stop early, and let go at once."""
    read = []
    async with aclosing(ticks(9)) as reader:
        async for number in reader:
            read.append(number)
            if len(read) == 2:
                break
    return read


@pytest.mark.parametrize(
    ("early", "late"), [(first_two, lambda: whole(9)), (afirst_two, lambda: awhole(9))]
)
def test_a_reader_that_stops_early(early: Callable[..., Any], late: Callable[..., Any]) -> None:
    """It is recorded as stopped, replays so, and reading further on replay says what is missing."""
    recorded = wb.record(early)
    (call,) = recorded.trace.tools()
    assert (call.ended, len(call.chunks), ran_before()) == ("stopped", 2, 2)
    assert wb.replay(early, recorded.trace).output == recorded.output
    further = wb.replay(late, recorded.trace)
    assert further.status == "drifted"
    assert "the recorded reader stopped here, after 2 chunks" in str(further.drift)
    assert RAN == []


def test_the_kind_of_generator_stays() -> None:
    """Code that looks at what it got sees a generator, recorded and replayed."""

    async def agent() -> list[bool]:
        one, other = lines(1), ticks(1)
        found = [inspect.isgenerator(one), inspect.isasyncgen(other)]
        list(one)
        return [*found, [number async for number in other] == [0]]

    recorded = wb.record(agent)
    assert recorded.output == [True, True, True]
    assert wb.replay(agent, recorded.trace).output == [True, True, True]
    assert inspect.isgeneratorfunction(lines)
    assert inspect.isasyncgenfunction(ticks)
    assert not inspect.iscoroutinefunction(ticks)


def test_sending_into_a_generator_is_refused() -> None:
    """A session could not keep what is sent or thrown in; outside it works as ever."""

    @wb.tool
    def echo() -> Iterator[Any]:
        got = yield "ready"
        yield got

    def sends() -> None:
        reader: Any = echo()
        next(reader)
        reader.send("x")

    def throws() -> None:
        reader: Any = echo()
        next(reader)
        reader.throw(KeyError("x"))

    for agent, word in ((sends, "send"), (throws, "throw")):
        result = wb.record(agent)
        assert result.status == "failed"
        assert f"{word}() into the tool echo" in str(result.error)
        assert result.trace.tools()[0].ended == "stopped"
    outside: Any = echo()
    assert (next(outside), outside.send("x")) == ("ready", "x")


async def asends() -> None:
    """Send into an async generator."""
    reader: Any = ticks(2)
    await anext(reader)
    await reader.asend(5)


def test_sending_into_an_async_generator_is_refused() -> None:
    """The same in async code."""
    result = wb.record(asends)
    assert "asend() into the tool ticks" in str(result.error)


@wb.tool(effect="read")
def research(topics: list[str]) -> Iterator[str]:
    """Ask the model for each topic, inside a step."""
    with wb.step("research"):
        for topic in topics:
            yield str(ask(f"about {topic}")["content"])


def test_what_the_body_asks_is_inside_and_what_the_reader_asks_is_not(world: World) -> None:
    """Model calls of the body belong to the tool's call and step; those between two values do
    not, and a replay runs only them."""

    def agent() -> list[str]:
        return [ask(f"more on {each}")["content"] for each in research(["a", "b"])]

    recorded = wb.record(agent)
    (call,) = recorded.trace.tools("research")
    inside = [(m.enclosing == call.id, m.step) for m in recorded.trace.models()]
    assert inside == [(True, "research"), (False, ""), (True, "research"), (False, "")]
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(replayed.trace.models()) == 4
    assert replayed.diff().same


def test_a_write_knows_its_key_for_each_value() -> None:
    """A generator that writes has its key in all of its body, not only until the first value."""
    keys: list[str | None] = []

    @wb.tool(effect="write", idempotency_key=lambda order: f"ship:{order}")
    def ship(order: int) -> Iterator[str]:
        for part in ("box", "label"):
            keys.append(wb.idempotency_key())
            yield part

    def agent() -> list[str]:
        return list(ship(7))

    recorded = wb.record(agent)
    assert keys == [recorded.trace.tools()[0].key] * 2
    assert keys[0] is not None
    forked = wb.fork(agent, recorded.trace, live_from=wb.entry(recorded.trace.tools()[0].id))
    assert forked.status == "blocked"
    simulated = wb.fork(
        agent,
        recorded.trace,
        live_from=wb.entry(recorded.trace.tools()[0].id),
        tools_after="simulate",
        simulate={"ship": lambda order: (f"{part} of {order}" for part in ("bag", "tag"))},
    )
    assert simulated.output == ["bag of 7", "tag of 7"]


def test_tools_run_again_are_compared() -> None:
    """Verifying runs the generator and compares what it yields, value by value."""
    limit = [3]

    @wb.tool(effect="read")
    def counted() -> Iterator[int]:
        yield from range(limit[0])

    def agent() -> list[int]:
        return list(counted())

    recorded = wb.record(agent)
    same = wb.replay(agent, recorded.trace, tools="verify", setup=lambda: None)
    assert same.status == "ok"
    limit[0] = 4
    other = wb.replay(agent, recorded.trace, tools="verify", setup=lambda: None)
    assert other.status == "drifted"
    assert "[0,1,2,3]" in str(other.drift)


def test_a_tool_that_became_a_generator() -> None:
    """A list that was recorded is yielded item by item, and a recorded stream is given as a list;
    what is no list is named."""
    for before, after in (("plain", "stream"), ("stream", "plain")):

        @wb.tool(name="find", effect="read")
        def plain() -> list[int]:
            return [1, 2]

        @wb.tool(name="find", effect="read")
        def stream() -> Iterator[int]:
            yield from (1, 2)

        kinds: dict[str, Any] = {"plain": plain, "stream": stream}
        recorded = wb.record(lambda: list(kinds[before]()))  # noqa: B023 - used at once
        replayed = wb.replay(lambda: list(kinds[after]()), recorded.trace)  # noqa: B023
        assert (replayed.status, replayed.output) == ("ok", [1, 2])

    @wb.tool(name="find", effect="read")
    def single() -> int:
        return 1

    recorded = wb.record(single)
    replayed = wb.replay(lambda: list(kinds["stream"]()), recorded.trace)
    assert "it was no generator when it was recorded" in str(replayed.drift)


def test_a_reader_that_is_cancelled_is_cancelled_again() -> None:
    """A time limit inside an async generator ends its call, and does so on replay."""

    @wb.tool(effect="read")
    async def slow() -> AsyncIterator[int]:
        yield 1
        await asyncio.sleep(30)

    async def agent() -> list[Any]:
        read: list[Any] = []
        try:
            async with asyncio.timeout(0.05):
                async for number in slow():
                    read.append(number)
        except TimeoutError:
            read.append("late")
        return read

    recorded = wb.record(agent)
    assert recorded.output == [1, "late"]
    assert recorded.trace.tools()[0].ended == "cancelled"
    assert wb.replay(agent, recorded.trace).output == [1, "late"]
