"""Calls at once, through each SDK: none is lost, mixed up, put elsewhere, or left open."""

import asyncio
import contextlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from askers import ASKERS, CHAT, MESSAGES, Asker
from loopback import Server

import workbench as wb


@pytest.fixture(params=ASKERS, ids=str)
def asker(request: pytest.FixtureRequest) -> Asker:
    """Each API."""
    found: Asker = request.param
    return found


def test_what_a_later_question_says_of_a_race_is_replayed(asker: Asker, speaker: Server) -> None:
    """Two tasks of two calls, of which the one that began second ends first: with no server they
    end in that order again, so that what the agent asks next is the recorded question."""

    async def agent() -> tuple[list[str], str]:
        order: list[str] = []
        async with asker.aopen(speaker.url) as made:

            async def task(name: str, model: str) -> None:
                for number in (1, 2):
                    order.append(await asker.aask(made, f"{name}{number}", model))

            await asyncio.gather(task("slow", "late"), task("fast", "ok"))
            return order, await asker.aask(made, f"They came so: {order}")

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    order, last = recorded.output
    assert order[0] == "You said: fast1"
    assert sorted(order) == [f"You said: {n}" for n in ("fast1", "fast2", "slow1", "slow2")]
    assert last == f"You said: They came so: {order}"
    speaker.stop()
    for _ in range(3):
        replayed = wb.replay(agent, recorded.trace)
        assert (replayed.status, replayed.output) == ("ok", recorded.output)
        assert replayed.leftover == []


def test_two_sdks_at_once_end_in_their_order(speaker: Server) -> None:
    """The order of a race holds between calls of different SDKs too."""

    async def agent() -> str:
        order: list[str] = []
        async with CHAT.aopen(speaker.url) as one, MESSAGES.aopen(speaker.url) as two:

            async def task(asker: Asker, made: Any, name: str, model: str) -> None:
                order.append(await asker.aask(made, name, model))

            await asyncio.gather(task(CHAT, one, "chat", "late"), task(MESSAGES, two, "mess", "ok"))
            return await CHAT.aask(one, str(order))

    recorded = wb.record(agent)
    assert recorded.output == "You said: ['You said: mess', 'You said: chat']"
    speaker.stop()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)


def test_prompts_of_a_pool_get_their_own_answers(asker: Asker, speaker: Server) -> None:
    """Five threads ask at once, and in a replay in another order: each has its own answer, also
    where the replay takes the recorded calls by their order."""

    def agent(letters: str) -> dict[str, str]:
        with ThreadPoolExecutor(5) as pool:
            answers = pool.map(lambda letter: asker.ask(speaker.url, letter), letters)
            return dict(zip(letters, answers, strict=True))

    recorded = wb.record(agent, "abcde")
    assert recorded.output == {letter: f"You said: {letter}" for letter in "abcde"}
    speaker.stop()
    replayed = wb.replay(agent, recorded.trace, "edcba")
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    by_order = wb.replay(agent, recorded.trace, "edcba", match="position")
    if by_order.status == "ok":
        assert by_order.output == recorded.output
    else:  # it took one call's turn for another's, and said so
        assert by_order.status == "drifted"
        assert by_order.drift is not None


def test_fifty_threads_lose_no_call(asker: Asker, speaker: Server, tmp_path: Path) -> None:
    """Each of a hundred calls is in the file, once, with its own answer."""
    path = tmp_path / "many.trace.jsonl"
    words = [f"word-{number}" for number in range(100)]
    with (
        wb.recording(path),
        asker.open(speaker.url) as made,
        ThreadPoolExecutor(50) as pool,
    ):
        patient = asker.patient(made)
        ask = lambda word: asker.text(asker.send(patient, "ok", asker.user(word)))  # noqa: E731
        answers = list(pool.map(ask, words))
    assert answers == [f"You said: {word}" for word in words]
    trace = wb.load(path)
    assert trace.notices == ()
    assert len(speaker.seen) == len(trace.entries) == 100
    kept = Counter((entry.messages[-1].text, entry.text) for entry in trace.entries)
    assert kept == Counter((word, f"You said: {word}") for word in words)


def test_what_runs_in_a_thread_of_a_tool_belongs_to_the_tool(asker: Asker, speaker: Server) -> None:
    """A sync tool of an async agent runs in a worker thread, and asks a model there: the entry
    names the tool's as its enclosing one, whichever way the thread was started."""

    @wb.tool(effect="read")
    def look(word: str) -> str:
        return asker.ask(speaker.url, word)

    @wb.tool(effect="read")
    def look_by_pool(word: str) -> str:
        with ThreadPoolExecutor(1) as pool:  # which takes no context along
            return pool.submit(asker.ask, speaker.url, word).result()

    async def agent() -> list[str]:
        async with asker.aopen(speaker.url) as made:
            first = await asker.aask(made, "outside")
            inside = await asyncio.gather(
                asyncio.to_thread(look, "one"), asyncio.to_thread(look, "two")
            )
            pooled = await asyncio.to_thread(look_by_pool, "three")
            return [first, *inside, pooled]

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    tools = {
        entry.arguments["word"]: entry for entry in recorded.trace.entries if entry.kind == "tool"
    }
    models = {entry.messages[-1].text: entry for entry in recorded.trace.models()}
    assert models["outside"].enclosing is None
    for word in ("one", "two", "three"):
        assert models[word].enclosing == tools[word].id
    asked = len(speaker.seen)
    speaker.stop()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(speaker.seen) == asked


def test_a_call_that_was_given_up_is_given_up_again(asker: Asker, speaker: Server) -> None:
    """A wait of 10 ms ends calls and streams: each entry is closed as cancelled, none as a
    success; the agent gets its TimeoutError, live and replayed, and goes on."""

    async def agent() -> list[str]:
        seen: list[str] = []
        async with asker.aopen(speaker.url) as made:

            async def read() -> None:
                found = await asker.send(made, "late", asker.user("stream"), stream=True)
                async for _ in found:
                    seen.append("a piece")

            for job in (asker.aask(made, "plain", "late"), read()):
                with contextlib.suppress(TimeoutError):
                    seen.append(str(await asyncio.wait_for(job, 0.01)))
                    continue
                seen.append("gave up")
            seen.append(await asker.aask(made, "after"))
        return seen

    recorded = wb.record(agent)
    assert recorded.output == ["gave up", "gave up", "You said: after"]
    plain, streamed, after = recorded.trace.entries
    assert (plain.ended, streamed.ended, after.ended) == ("cancelled", "cancelled", None)
    assert not any(entry.open for entry in recorded.trace.entries)
    assert plain.error is not None
    assert plain.error.type == "CancelledError"
    speaker.stop()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    again = replayed.trace.entries
    assert [entry.ended for entry in again] == ["cancelled", "cancelled", None]
