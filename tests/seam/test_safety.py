"""What must never happen to the world, and what must never be lost of it."""

import asyncio
import errno
import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb
from workbench.errors import RecordedError
from workbench.faults import HttpError, Timeout
from workbench.seam.exceptions import describe, rebuild
from workbench.trace.entries import ErrorInfo

paid: list[Any] = []


@pytest.fixture(autouse=True)
def _nothing_paid() -> None:
    paid.clear()


@wb.tool(effect="write")
def pay(amount: int) -> str:
    """Pay."""
    paid.append(amount)
    return f"paid {amount}"


def test_what_is_left_of_a_replay_never_goes_live() -> None:
    """A thread that the agent began and did not wait for is refused once the replay has ended."""
    refused: list[BaseException] = []
    go = threading.Event()

    def late() -> None:
        go.wait(10)
        try:
            pay(5)
        except BaseException as error:
            refused.append(error)

    def agent() -> str:
        thread = threading.Thread(target=late, name="straggler")
        thread.start()
        threads.append(thread)
        return "done"

    threads: list[threading.Thread] = []
    recorded = wb.record(lambda: "done")
    result = wb.replay(agent, recorded.trace)
    go.set()
    threads[0].join()
    assert paid == []
    assert "came after its replay had ended, and was not made" in str(refused[0])
    assert any("straggler" in notice for notice in result.notices)


def test_a_cancelled_replay_leaves_nothing_live() -> None:
    """Cancelling the task that awaits a replay stops its agent's thread at the next call."""
    begun, go, refused = threading.Event(), threading.Event(), threading.Event()

    def agent() -> None:
        begun.set()
        go.wait(10)
        try:
            pay(7)
        except BaseException:
            refused.set()
            raise

    async def main(trace: wb.Trace) -> None:
        task = asyncio.ensure_future(wb.areplay(agent, trace))
        await asyncio.to_thread(begun.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go.set()
        await asyncio.to_thread(refused.wait, 10)

    recorded = wb.record(lambda: pay(7))
    paid.clear()
    asyncio.run(main(recorded.trace))
    assert refused.is_set()
    assert paid == []


@pytest.mark.parametrize("tools", ["live", "verify"])
def test_a_replay_writes_nothing_unasked(tools: Any) -> None:
    """Running tools again is denied where they write, unless a world was made for them."""
    recorded = wb.record(lambda: pay(3))
    paid.clear()
    assert wb.replay(lambda: pay(3), recorded.trace, tools=tools).status == "blocked"
    with pytest.raises(wb.RunBlocked), wb.replaying(recorded.trace, tools=tools):
        pay(3)
    assert paid == []
    fresh = wb.replay(lambda: pay(3), recorded.trace, tools=tools, setup=lambda: None)
    assert (fresh.status, paid) == ("ok", [3])
    allowed = wb.replay(lambda: pay(3), recorded.trace, tools=tools, tools_after="allow")
    assert (allowed.status, paid) == ("ok", [3, 3])
    with pytest.raises(wb.UsageError, match=r"workbench\.fork"):
        wb.replay(lambda: pay(3), recorded.trace, on_miss="live")  # type: ignore[arg-type]


def raising(error: BaseException) -> Any:
    """An agent that gives its model the text of what a tool raises, as most do."""

    @wb.tool(effect="read")
    def read() -> None:
        raise error

    def agent() -> Any:
        try:
            read()
        except Exception as caught:
            return ask(str(caught))["content"], type(caught).__name__

    return agent


@pytest.mark.parametrize(
    "error",
    [
        FileNotFoundError(errno.ENOENT, "No such file or directory", "/nope"),
        OSError(errno.EXDEV, "Invalid cross-device link", "/a", None, "/b"),
        ConnectionResetError("peer"),
        KeyError("order"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid start byte"),
        StopIteration(3),
        ValueError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_tools_exception_reads_the_same_on_replay(error: BaseException, world: World) -> None:
    """Its text is what the model is told: an exception that comes back otherwise is drift."""
    agent = raising(error)
    recorded = wb.record(agent)
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift
    back = rebuild(describe(error))
    assert (type(back), str(back)) == (type(error), str(error))
    assert getattr(back, "filename", None) == getattr(error, "filename", None)
    assert len(world.ran) == 1


def test_an_exception_that_cannot_be_made_again_names_its_type() -> None:
    """A type of another program comes back as what stands for it."""
    error = rebuild(ErrorInfo(type="OutOfStock", module="shop_of_another_program", message="none"))
    assert isinstance(error, RecordedError)
    assert "shop_of_another_program.OutOfStock" in str(error)
    imported = rebuild(ErrorInfo(type="Workbench", module="workbench", message="x"))
    assert isinstance(imported, RecordedError)


def test_an_edit_survives_a_fault_on_the_same_call() -> None:
    """The fault hits the first try; the retry gets the edited result, not the recorded one."""

    @wb.tool(effect="read")
    def look() -> str:
        return "recorded"

    def agent() -> str:
        ask("which?")
        for _ in range(3):
            try:
                return look()
            except TimeoutError:
                continue
        return "gave up"

    recorded = wb.record(agent)
    edits = recorded.trace.edit().tool_result(wb.turn(1), "edited")
    result = wb.replay(agent, recorded.trace, edits=edits, faults=[Timeout().at(tool="look")])
    assert (result.status, result.output) == ("ok", "edited")
    assert [c.how for c in result.calls] == ["replayed", "fault", "edited"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_call_that_one_fault_hits_counts_for_the_others(turned: bool) -> None:
    """nth=1 and nth=2 are the first and second call, in whichever order they are given."""

    @wb.tool(effect="read")
    def look(number: int) -> int:
        return number

    def agent() -> list[Any]:
        out: list[Any] = []
        for number in range(3):
            try:
                out.append(look(number))
            except Exception as error:
                out.append(type(error).__name__)
        return out

    recorded = wb.record(agent)
    faults: list[Any] = [Timeout().at(tool="look", nth=1), HttpError(500).at(tool="look", nth=2)]
    result = wb.replay(agent, recorded.trace, faults=faults[::-1] if turned else faults)
    assert result.output[0] == "TimeoutError"
    assert result.output[1] != 1
    assert result.output[2] == 2


def test_a_write_whose_result_cannot_be_kept_is_still_in_the_trace(tmp_path: Path) -> None:
    """It happened: the entry says so, with the reason why its result is missing."""

    @wb.tool(effect="write")
    def write() -> Any:
        paid.append(1)
        return object()

    recorded = wb.record(write, to=tmp_path / "odd.trace.jsonl")
    assert recorded.status == "failed"
    assert isinstance(recorded.error, wb.UnencodableError)
    (entry,) = recorded.trace.tools("write")
    assert not entry.open
    assert entry.error is not None
    assert entry.error.type == "UnencodableError"
    assert len(recorded.calls) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_goes_on_recording(tmp_path: Path) -> None:
    """Whatever lock another thread holds at that moment, the child does not wait for it."""
    stop = threading.Event()

    def busy() -> None:
        while not stop.is_set():
            ask("busy")

    with wb.recording(tmp_path / "forked.trace.jsonl") as run:
        threads = [threading.Thread(target=busy, daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        codes = []
        for _ in range(4):
            child = os.fork()
            if child == 0:
                ask("from the child")
                os._exit(0)
            until = time.monotonic() + 20
            while (done := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < until:
                time.sleep(0.01)
            if done == (0, 0):
                os.kill(child, 9)
                os.waitpid(child, 0)
            codes.append(done[1] if done != (0, 0) else "hung")
        stop.set()
        for thread in threads:
            thread.join()
    assert codes == [0, 0, 0, 0]
    asked = [entry.body["messages"][0]["content"] for entry in run.trace.models()]
    assert asked.count("from the child") == 4


def test_options_and_the_agents_own_arguments_are_not_mixed_up() -> None:
    """An agent with a parameter called like one of our options is not silently robbed of it."""

    def agent(name: str = "nobody") -> str:
        return name

    with pytest.raises(wb.UsageError, match=r"functools\.partial"):
        wb.record(agent, name="Ada")
    assert wb.record(agent, "Ada").output == "Ada"


def test_a_watchers_mistake_is_not_the_agents() -> None:
    """A controller that raises is a notice; a question that it failed at is denied."""

    class Broken(wb.Controller):
        def on_progress(self, progress: wb.Progress) -> None:
            raise RuntimeError("no page")

        def on_question(self, question: wb.Question) -> None:
            raise RuntimeError("no page")

    recorded = wb.record(lambda: pay(1), controller=Broken())
    assert recorded.status == "ok"
    assert "the controller failed when it was told of a call" in recorded.notices[0]
    paid.clear()
    fork = wb.fork(
        lambda: pay(1),
        recorded.trace,
        live_from=lambda entry: entry.kind == "tool",
        tools_after="ask",
        controller=Broken(),
    )
    assert (fork.status, paid) == ("blocked", [])
    cancelled = wb.Controller()
    cancelled.cancel()
    with pytest.raises(wb.UsageError, match="make a new one for each run"):
        wb.record(lambda: 1, controller=cancelled)


def test_a_setup_that_fails_is_not_the_agents_failure() -> None:
    """What setup raises is raised; an async setup, which would never run, is refused."""

    def broken() -> None:
        raise RuntimeError("no database")

    async def never() -> None:
        raise AssertionError

    recorded = wb.record(lambda: pay(1))
    with pytest.raises(RuntimeError, match="no database"):
        wb.replay(lambda: pay(1), recorded.trace, setup=broken)
    with pytest.raises(wb.UsageError, match="setup= is async"):
        wb.replay(lambda: pay(1), recorded.trace, setup=never)


def test_a_condition_for_the_cut_is_kept_as_the_entry_that_met_it(tmp_path: Path) -> None:
    """The fork's file says where it went live, not where a function lay in memory."""
    recorded = wb.record(lambda: [pay(1), pay(2)])
    path = tmp_path / "fork.trace.jsonl"
    fork = wb.fork(
        lambda: [pay(1), pay(2)],
        recorded.trace,
        live_from=lambda entry: entry.arguments == {"amount": 2},
        tools_after="allow",
        to=path,
    )
    assert fork.plan is not None
    assert str(fork.plan.cut) == "entry:1-2"
    assert json.loads(path.read_text().splitlines()[0])["parent"]["cut"] == "entry:1-2"


def test_a_replayed_stream_keeps_its_times(world: World) -> None:
    """What a recorded stream took is what it took, also in the trace of its replay."""

    def slow(_: Any) -> Any:
        time.sleep(0.08)
        return {"content": "word " * 60}

    world.answer = slow

    def agent() -> int:
        return len(list(ask("count", stream=True)))

    recorded = wb.record(agent)
    was = recorded.trace.models()[0]
    now = wb.replay(agent, recorded.trace).trace.models()[0]
    assert (now.duration_s, now.first_s) == (was.duration_s, was.first_s)
    assert [c.offset_s for c in now.chunks] == [c.offset_s for c in was.chunks]


def test_asking_without_anybody_there_says_so() -> None:
    """tools_after="ask" in a script without a terminal is a denial that names what is missing."""
    recorded = wb.record(lambda: pay(1))
    paid.clear()
    fork = wb.fork(lambda: pay(1), recorded.trace, live_from=wb.entry("1-1"), tools_after="ask")
    assert (fork.status, paid) == ("blocked", [])
    assert "nobody was there to ask: run it in a terminal or a notebook" in str(fork.error)


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("said", "status"), [("y", "ok"), ("n", "blocked")])
def test_a_script_in_a_terminal_is_asked_there(tmp_path: Path, said: str, status: str) -> None:
    """In a terminal the person who started the script decides on each live write."""
    import pty
    import subprocess
    import sys

    script = tmp_path / "script.py"
    script.write_text(
        "import workbench as wb\n"
        "@wb.tool(effect='write')\n"
        "def pay(amount: int) -> str:\n    return 'paid'\n"
        "trace = wb.record(lambda: pay(1)).trace\n"
        "fork = wb.fork(lambda: pay(1), trace, live_from=wb.entry('1-1'), tools_after='ask')\n"
        "print('status', fork.status)\n"
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, str(script)], stdin=theirs, stdout=subprocess.PIPE, text=True
    ) as process:
        os.write(ours, f"{said}\n".encode())
        out, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert "pay writes and is about to run for real: pay(amount=1)" in out
    assert f"status {status}" in out
