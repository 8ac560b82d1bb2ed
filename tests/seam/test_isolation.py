"""Runs beside each other, tasks from elsewhere, objects that are shared: nothing gets mixed up."""

import asyncio
import contextlib
import pickle
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb
from workbench.faults import Timeout

paid: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_paid() -> None:
    paid.clear()


@wb.tool(effect="write")
def pay(amount: int) -> str:
    """Pay."""
    paid.append(amount)
    return f"paid {amount}"


@wb.tool(effect="read")
def double(number: int) -> int:
    """Twice as much; a tool at module level, for pickling."""
    return 2 * number


@dataclass
class Account:
    """An object with a method that is a tool."""

    owner: str

    @wb.tool(effect="read")
    def balance(self) -> str:
        """What is in it."""
        return f"of {self.owner}"


def test_a_worker_task_from_before_the_session_is_in_it() -> None:
    """A task that an earlier run left behind does its work in the session that is open now: in a
    strict replay nothing is paid again."""

    async def main() -> None:
        queue: asyncio.Queue[Any] = asyncio.Queue()

        async def worker() -> None:
            while True:
                amount, done = await queue.get()
                done.set_result(pay(amount))

        async def agent(amount: int) -> str:
            done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
            queue.put_nowait((amount, done))
            return await done

        task = asyncio.ensure_future(worker())
        recorded = await wb.arecord(agent, 3)
        assert [call.name for call in recorded.calls] == ["pay"]
        paid.clear()
        replayed = await wb.areplay(agent, recorded.trace)
        assert (replayed.status, replayed.output, paid) == ("ok", "paid 3", [])
        task.cancel()

    asyncio.run(main())


def test_a_thread_that_outlived_a_replay_may_work_in_the_next_run() -> None:
    """It was refused between the runs; a new session takes it over."""
    work: list[threading.Event] = [threading.Event() for _ in range(2)]
    said: list[Any] = []

    def loop() -> None:
        for each in work:
            each.wait(10)
            try:
                said.append(pay(1))
            except BaseException as error:
                said.append(type(error).__name__)

    thread = threading.Thread(target=loop, daemon=True)
    recorded = wb.record(lambda: None)
    wb.replay(thread.start, recorded.trace)
    work[0].set()

    def later() -> None:
        work[1].set()
        thread.join(10)

    while not said:
        thread.join(0.01)
    assert said == ["RunCancelled"]
    again = wb.record(later)
    assert said[1] == "paid 1"
    assert [call.name for call in again.calls] == ["pay"]


def test_a_generator_is_no_agent() -> None:
    """It would run when its output is read, outside the session: refused, with the way to do it."""

    def agent() -> Iterator[str]:
        yield pay(1)

    with pytest.raises(wb.UsageError, match=r"agent is a generator.*lambda: list\("):
        wb.record(agent)
    assert wb.record(lambda: list(agent())).output == ["paid 1"]


def test_an_edited_result_is_served_to_its_own_call_only(world: World) -> None:
    """In a run that went another way, a tool's edit does not answer a call with other arguments."""

    def agent(first: int) -> list[int]:
        ask(f"look at {first}")
        return [double(first), double(1)]

    recorded = wb.record(agent, 1)
    edits = recorded.trace.edit().tool_result(wb.turn(1), 100, nth=1)
    fork = wb.fork(agent, recorded.trace, 7, edits=edits)
    assert fork.output == [14, 100]


def test_edits_and_inputs_are_not_shared_with_the_agent() -> None:
    """An agent that changes what it was given changes nothing for the next run."""

    @wb.tool(effect="read")
    def numbers() -> list[int]:
        return [1]

    def agent(given: list[int]) -> list[int]:
        ask("which?")
        got = numbers()
        got.append(99)
        given.append(5)
        return [*got, *given]

    recorded = wb.record(agent, [3])
    edits = recorded.trace.edit().tool_result(wb.turn(1), [7])
    outputs = [wb.replay(agent, recorded.trace, edits=edits).output for _ in range(2)]
    assert outputs == [[7, 99, 3, 5]] * 2
    assert recorded.trace.input == {"args": [[3]], "kwargs": {}}


def test_readings_inside_a_tool_are_not_handed_to_the_code_outside() -> None:
    """The served tool reads nothing, so its recorded ids are not another reader's."""

    def helper() -> str:
        return wb.new_id()

    @wb.tool(effect="read")
    def inside() -> str:
        return helper()

    def agent() -> list[str]:
        return [helper(), inside(), helper()]

    recorded = wb.record(agent)
    assert wb.replay(agent, recorded.trace).output == recorded.output


def test_a_live_write_never_sends_a_recorded_id() -> None:
    """An id that a tool makes for its write is new past the cut, and the recorded one before it."""
    keys: list[str] = []

    @wb.tool(effect="write")
    def write() -> str:
        keys.append(wb.new_id())
        return "written"

    recorded = wb.record(write)
    fork = wb.fork(write, recorded.trace, live_from=wb.entry("1-1"), tools_after="allow")
    assert fork.status == "ok"
    again = wb.replay(write, recorded.trace, tools="verify", setup=lambda: None)
    assert again.status == "ok"
    assert keys[1] != keys[0] == keys[2]


def test_methods_of_two_objects_are_two_calls() -> None:
    """The same method of two objects is not the same request, whichever is asked first."""

    def agent(order: list[str]) -> dict[str, str]:
        return {owner: Account(owner).balance() for owner in order}

    recorded = wb.record(agent, ["ada", "bob"])
    swapped = wb.replay(agent, recorded.trace, ["bob", "ada"])
    assert swapped.output == {"bob": "of bob", "ada": "of ada"}
    assert Account.balance.schema["properties"] == {}


def test_a_fault_does_not_hide_a_drift() -> None:
    """A call whose arguments changed is drift, also when a fault was aimed at it."""
    recorded = wb.record(lambda: double(1))

    def changed() -> Any:
        try:
            return double(2)
        except TimeoutError:
            return "handled"

    result = wb.replay(changed, recorded.trace, faults=[Timeout().at(tool="double")])
    assert result.status == "drifted"
    assert "arguments.number" in str(result.drift)


def test_an_edit_that_is_never_reached_fails_a_strict_replay() -> None:
    """As a fault that never fires does."""

    def agent(*questions: str) -> None:
        for question in questions:
            ask(question)

    recorded = wb.record(agent, "one", "two")
    edits = recorded.trace.edit().reply(wb.turn(2), text="changed")
    result = wb.replay(agent, recorded.trace, "one", edits=edits)
    assert result.status == "drifted"
    assert "the edit of turn 2 was never reached" in str(result.drift)


def test_a_denied_write_in_a_task_group_ends_the_run_as_blocked() -> None:
    """What a task group makes of the stop is still the stop."""

    @wb.tool(effect="write")
    async def write(number: int) -> int:
        paid.append(number)
        return number

    async def agent() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(2):
                group.create_task(write(number))

    recorded = wb.record(agent)
    paid.clear()
    fork = wb.fork(agent, recorded.trace, live_from=wb.entry("1-1"))
    assert (fork.status, paid) == ("blocked", [])


def test_a_tool_that_was_cancelled_is_cancelled_again() -> None:
    """A recorded time-out around an async tool replays as a time-out, not as a crash."""

    @wb.tool(effect="read")
    async def slow() -> str:
        await asyncio.sleep(20)
        return "late"

    async def agent() -> str:
        try:
            return await asyncio.wait_for(slow(), 0.05)
        except TimeoutError:
            return "timed out"

    recorded = wb.record(agent)
    assert recorded.output == "timed out"
    assert wb.replay(agent, recorded.trace).output == "timed out"


def test_an_awaited_run_is_cancelled_at_once() -> None:
    """Also while its agent waits for something long."""
    controller = wb.Controller()

    async def agent() -> None:
        asyncio.get_running_loop().call_later(0.05, controller.cancel)
        await asyncio.sleep(30)

    async def main() -> wb.RunResult:
        return await asyncio.wait_for(wb.arecord(agent, controller=controller), 10)

    assert asyncio.run(main()).status == "cancelled"


def test_a_recording_may_be_left_in_another_task() -> None:
    """Set-up and tear-down of a fixture run in tasks of their own: the session still ends."""

    @contextlib.asynccontextmanager
    async def fixture() -> AsyncIterator[Any]:
        with wb.recording() as run:
            ask("hello")
            yield run

    async def main() -> Any:
        opened = fixture()
        run = await asyncio.ensure_future(opened.__aenter__())
        await asyncio.ensure_future(opened.__aexit__(None, None, None))
        return run

    run = asyncio.run(main())
    assert run.result.status == "ok"
    assert wb.record(lambda: ask("next")["content"]).output == "re: next"


def test_two_scripts_at_once_are_refused(tmp_path: Path) -> None:
    """Argv and output belong to the process: a second script waits for nobody, and says so."""
    inside = tmp_path / "inside.py"
    inside.write_text("print('inside')\n")
    outside = tmp_path / "outside.py"
    outside.write_text(
        "import workbench as wb\n"
        f"result = wb.record({str(inside)!r})\n"
        "print(result.status, result.error)\n"
    )
    result = wb.record(str(outside))
    assert "another script runs in this process" in result.output
    assert wb.record(str(inside)).output == "inside\n"


def test_a_tool_can_be_pickled_by_name() -> None:
    """A pool of processes takes a tool as it takes a function."""
    for tool in (double, Account("ada").balance):
        back = pickle.loads(pickle.dumps(tool))  # noqa: S301 - made a moment ago
        assert back.name == tool.name
    assert pickle.loads(pickle.dumps(double)) is double  # noqa: S301


def test_a_tool_that_cancels_itself_is_not_waited_for() -> None:
    """Nobody cancels it from outside: the cancellation comes again, and soon."""

    @wb.tool(effect="read")
    async def gives_up() -> None:
        task = asyncio.ensure_future(asyncio.sleep(10))
        task.cancel()
        await task

    async def agent() -> str:
        try:
            await gives_up()
        except asyncio.CancelledError:
            return "cancelled"
        return "done"

    recorded = wb.record(agent)
    began = time.monotonic()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", "cancelled")
    assert time.monotonic() - began < 6


def test_a_recording_inside_a_replay_is_refused(world: World) -> None:
    """An agent that records itself goes live nowhere in a replay, and says so."""

    def agent() -> str:
        return str(wb.record(lambda: ask("one")["content"]).output)

    with wb.recording() as recorded:
        assert agent() == "re: one"
    before = len(world.ran)
    again = wb.replay(agent, recorded.trace)
    assert "a recording was begun inside a replay" in str(again.error)
    assert len(world.ran) == before
