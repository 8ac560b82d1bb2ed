"""Threads, pools, tasks and loops: whose calls they make, and what is said of a doubt."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool
from queue import Queue
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb

Jobs = Queue[tuple[Callable[[], Any], Queue[Any]] | None]
Old = Callable[[Callable[[], Any]], Any]


def _work(jobs: Jobs) -> None:
    for job, done in iter(jobs.get, None):
        try:
            done.put(job())
        except Exception as error:
            done.put(error)


@pytest.fixture
def old_thread() -> Iterator[Old]:
    """Gives work to a thread from before any session of the test, by a queue; and its outcome."""
    jobs: Jobs = Queue()
    thread = threading.Thread(target=_work, args=(jobs,), name="old")
    thread.start()

    def do(job: Callable[[], Any]) -> Any:
        done: Queue[Any] = Queue()
        jobs.put((job, done))
        return done.get()

    yield do
    jobs.put(None)
    thread.join()


@pytest.fixture
def old_pool() -> Iterator[ThreadPoolExecutor]:
    """A pool whose worker was begun before any session of the test."""
    with ThreadPoolExecutor(1, "old") as pool:
        pool.submit(int).result()
        yield pool


@wb.tool(effect="read")
def look(item: str) -> str:
    """Asks a model inside, in a thread of its own."""
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.append(ask(f"about {item}")["content"]))
    thread.start()
    thread.join()
    return said[0]


def both(agent: Callable[..., Any], *args: Any) -> tuple[wb.RunResult, wb.RunResult]:
    """Record, and replay to the same output."""
    recorded = wb.record(agent, *args)
    assert recorded.status == "ok", recorded.error
    replayed = wb.replay(agent, recorded.trace, *args)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift
    return recorded, replayed


def test_a_pool_made_inside_needs_no_word(world: World) -> None:
    """Its workers were begun in the run, and so were their calls."""

    def agent() -> list[str]:
        with ThreadPoolExecutor(2) as pool:
            return [r["content"] for r in pool.map(ask, ["a", "b"])]

    for result in both(agent):
        assert result.notices == []
        assert len(result.calls) == 2


def test_what_is_handed_to_a_pool_is_part_of_where_it_was_handed_over(
    world: World, old_pool: ThreadPoolExecutor
) -> None:
    """By ``submit``, ``map`` and a loop's executor, also where the pool is older: it is of the
    run, the step and the tool, so that a replay that answers the tool misses nothing."""

    @wb.tool(effect="read")
    def search(*words: str) -> list[str]:
        with wb.step("both"), ThreadPoolExecutor(2) as pool:
            return [
                r["content"] for r in (*pool.map(ask, words), old_pool.submit(ask, "c").result())
            ]

    async def agent() -> list[str]:
        loop = asyncio.get_running_loop()
        last = await loop.run_in_executor(old_pool, ask, "d")
        return [*await asyncio.to_thread(search, "a", "b"), last["content"]]

    recorded, replayed = both(agent)
    assert recorded.notices == replayed.notices == []
    (tool,) = (entry for entry in recorded.trace.entries if entry.kind == "tool")
    places = {e.messages[-1].text: (e.enclosing, e.step) for e in recorded.trace.models()}
    inside = (tool.id, "both")
    assert places == {"a": inside, "b": inside, "c": inside, "d": (None, "")}
    assert len(world.ran) == 4
    assert not hasattr(ThreadPoolExecutor.submit, "__wrapped__")


def test_the_other_kind_of_pool_does_so_too(world: World) -> None:
    """The thread pools of multiprocessing: each way to hand work over, made before or inside."""
    with ThreadPool(1) as old:

        @wb.tool(effect="read")
        def search() -> list[str]:
            with ThreadPool(2) as pool:
                found = [*pool.map(ask, ["a"]), *pool.imap(ask, ["b"]), old.apply(ask, ("c",))]
                found += [*pool.starmap(ask, [("d",)]), *pool.imap_unordered(ask, ["e"])]
                found += [
                    *pool.map_async(ask, ["f"]).get(),
                    pool.apply_async(func=ask, args="g").get(),
                ]
            return [each["content"] for each in found]

        recorded, replayed = both(search)
    assert recorded.notices == replayed.notices == []
    (tool,) = (entry for entry in recorded.trace.entries if entry.kind == "tool")
    assert [entry.enclosing for entry in recorded.trace.models()] == [tool.id] * 7
    assert len(world.ran) == 7
    assert not {"map", "apply_async", "imap"} & vars(ThreadPool).keys()


def test_a_thread_from_before_is_taken_in_and_named(world: World, old_thread: Old) -> None:
    """Whose work it does cannot be told: it is in the trace, the replay answers it, and both say
    so, once for the place."""

    def agent() -> list[str]:
        return [old_thread(lambda word=word: ask(word))["content"] for word in ("a", "b")]  # type: ignore[misc]

    recorded, replayed = both(agent)
    for result in (recorded, replayed):
        assert len(result.calls) == 2
        (note,) = result.notices
        assert "was made in the thread old, which was not begun by this run" in note
        assert result.trace.gaps == (note,)
    assert len(world.ran) == 2
    assert recorded.trace.end is not None
    assert recorded.trace.end.notes == recorded.notices


def test_bound_work_is_the_run_s_own(world: World, old_pool: ThreadPoolExecutor) -> None:
    """What is bound is in its session, step and tool, also in an old pool, and nothing is noted."""

    def agent() -> list[Any]:
        with wb.step("plan"):
            bound = wb.bind(ask)
        answers = [old_pool.submit(bound, word) for word in ("a", "b")]
        return [each.result()["content"] for each in answers]

    recorded, replayed = both(agent)
    assert recorded.notices == replayed.notices == []
    assert [entry.step for entry in recorded.trace.models()] == ["plan", "plan"]


def test_an_async_function_can_be_bound(world: World) -> None:
    """Each of its steps runs in the context, in whatever task it is awaited."""

    async def inner(word: str) -> Any:
        await asyncio.sleep(0)
        return ask(word)["content"]

    async def main() -> wb.RunResult:
        todo: asyncio.Queue[Any] = asyncio.Queue()

        async def worker() -> None:
            while True:
                work, done = await todo.get()
                done.set_result(await work("x"))

        task = asyncio.ensure_future(worker())

        async def agent() -> Any:
            done = asyncio.get_running_loop().create_future()
            with wb.step("late"):
                todo.put_nowait((wb.bind(inner), done))
            return await done

        result = await wb.arecord(agent)
        task.cancel()
        return result

    result = asyncio.run(main())
    assert result.output == "re: x"
    assert result.notices == []
    assert [entry.step for entry in result.trace.models()] == ["late"]


def test_a_bare_thread_is_where_it_was_begun(world: World) -> None:
    """It has the step and the tool of the code that began it, and so has a thread that it begins;
    a served tool takes the calls of its threads with it."""

    def agent() -> list[Any]:
        said: list[Any] = []

        def outer() -> None:
            inner = threading.Thread(target=lambda: said.append(ask("in")["content"]))
            inner.start()
            inner.join()
            with wb.step("sub"):
                said.append(ask("sub")["content"])

        with wb.step("plan"):
            thread = threading.Thread(target=outer)
            thread.start()
            thread.join()
        return [*said, look("x")]

    recorded, replayed = both(agent)
    assert recorded.notices == replayed.notices == []
    entries = recorded.trace.models()
    assert [entry.step for entry in entries] == ["plan", "plan/sub", ""]
    assert entries[2].enclosing == recorded.trace.tools("look")[0].id
    assert replayed.diff().same


def test_threads_of_two_sessions_are_told_apart(world: World) -> None:
    """Each bare thread belongs to the session that it was begun in, however many are open."""

    def agent(word: str) -> Any:
        said: list[Any] = []
        thread = threading.Thread(target=lambda: said.append(ask(word)["content"]))
        thread.start()
        thread.join()
        return said

    async def main() -> list[wb.RunResult]:
        return await asyncio.gather(*(wb.arecord(agent, word) for word in ("one", "two")))

    one, two = asyncio.run(main())
    assert (one.output, two.output) == (["re: one"], ["re: two"])
    assert [len(result.calls) for result in (one, two)] == [1, 1]


def test_a_worker_from_before_is_nobody_s_with_two_sessions_open(
    world: World, old_thread: Old
) -> None:
    """A worker does the work of many: a call that could be either's is refused, not guessed. What
    a pool is handed is of the session where it was."""
    with ThreadPool(1) as pool, wb.recording() as outer, wb.recording() as inner:
        refused = old_thread(lambda: ask("whose?"))
        assert isinstance(refused, wb.UsageError)
        assert "2 sessions are open" in str(refused)
        assert "workbench.bind" in str(refused)
        assert old_thread(wb.bind(lambda: ask("mine")))["content"] == "re: mine"
        assert pool.apply(ask, ("pooled",))["content"] == "re: pooled"
    assert len(outer.trace.entries) == 0
    assert [each.messages[-1].text for each in inner.trace.entries] == ["mine", "pooled"]


def test_tasks_before_and_inside(world: World) -> None:
    """A task begun inside is the run's; one begun before, as a server's other request, is taken in
    and named, and in a replay it never goes live."""

    async def main() -> tuple[wb.RunResult, wb.RunResult]:
        go, asked = asyncio.Event(), asyncio.Event()

        async def other() -> None:
            for _ in range(2):
                await go.wait()
                go.clear()
                ask("from elsewhere")
                asked.set()

        task = asyncio.create_task(other(), name="request-7")
        await asyncio.sleep(0)

        async def agent() -> list[str]:
            inside = asyncio.create_task(asyncio.to_thread(ask, "mine"))
            said = (await inside)["content"]
            go.set()
            await asked.wait()
            asked.clear()
            return [said]

        recorded = await wb.arecord(agent)
        replayed = await wb.areplay(agent, recorded.trace)
        await task
        return recorded, replayed

    recorded, replayed = asyncio.run(main())
    for result in (recorded, replayed):
        assert len(result.calls) == 2
        (note,) = result.notices
        assert "was made in the task request-7" in note
    assert replayed.status == "ok"
    assert len(world.ran) == 2


def test_executors_of_a_loop(world: World) -> None:
    """A loop's own executor is begun in the run; asyncio.to_thread brings the context along."""

    async def agent() -> list[Any]:
        loop = asyncio.get_running_loop()
        with wb.step("part"):
            one = await asyncio.to_thread(ask, "one")
        two = await loop.run_in_executor(None, ask, "two")
        with ThreadPoolExecutor(1) as pool:
            three = await loop.run_in_executor(pool, ask, "three")
        return [each["content"] for each in (one, two, three)]

    recorded, replayed = both(agent)
    assert recorded.notices == replayed.notices == []
    assert [entry.step for entry in recorded.trace.models()] == ["part", "", ""]


def test_a_loop_in_a_thread(world: World) -> None:
    """A nested loop belongs to the thread that runs it, its tasks included; work that is handed
    to a loop from before comes with its context."""

    async def ask_both() -> list[str]:
        async def one(word: str) -> str:
            await asyncio.sleep(0)
            return str(ask(word)["content"])

        return list(await asyncio.gather(one("a"), one("b")))

    loop = asyncio.new_event_loop()
    background = threading.Thread(target=loop.run_forever)
    background.start()

    def agent() -> list[Any]:
        said: list[Any] = []
        thread = threading.Thread(target=lambda: said.append(asyncio.run(ask_both())))
        thread.start()
        thread.join()
        return [*said, asyncio.run_coroutine_threadsafe(ask_both(), loop).result()]

    try:
        recorded, replayed = both(agent)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        background.join()
        loop.close()
    assert recorded.output == [["re: a", "re: b"]] * 2
    assert recorded.notices == replayed.notices == []


def test_the_main_thread_beside_a_run_is_named(world: World) -> None:
    """What the main thread asks while a run is in another goes live, and the run says so."""
    begun, go = threading.Event(), threading.Event()
    results: list[wb.RunResult] = []

    def agent() -> str:
        begun.set()
        go.wait(10)
        return str(ask("mine")["content"])

    thread = threading.Thread(target=lambda: results.append(wb.record(agent)))
    thread.start()
    begun.wait(10)
    ask("beside")
    go.set()
    thread.join()
    (result,) = results
    assert len(result.calls) == 1
    (note,) = result.notices
    assert "was made in the main thread, beside this run" in note
    assert note.endswith("is not in its trace")


def test_ids_of_an_ended_run_do_not_come_along(world: World) -> None:
    """A thread that outlived a run and works in the next is in no tool of the old one."""
    work: list[threading.Event] = [threading.Event() for _ in range(2)]
    done: list[threading.Event] = [threading.Event() for _ in range(2)]

    def loop() -> None:
        for go, end in zip(work, done, strict=True):
            go.wait(10)
            ask("once more")
            end.set()

    @wb.tool(effect="read")
    def starts() -> int:
        threading.Thread(target=loop, daemon=True).start()
        work[0].set()
        done[0].wait(10)
        return 1

    first = wb.record(starts)

    def later() -> None:
        work[1].set()
        done[1].wait(10)

    second = wb.record(later)
    assert first.trace.models()[0].enclosing == first.trace.tools()[0].id
    assert second.trace.models()[0].enclosing is None
    assert "which was not begun by this run" in second.notices[0]
