"""Deaths at any moment: what was told as written is there, and the file can be gone on with."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from journals import HEADER, ask, journal_at, request, response, use, user
from scripted import ask as ask_model

import workbench as wb
from workbench.trace.entries import CallLine, ChunkLine, EndLine, ResultLine
from workbench.trace.journal import Journal
from workbench.trace.trace import Trace, load

KILLS = 50

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")


def _endless(path: Path, told: int, seed: int, *, replace: bool) -> None:
    """Record until killed: calls that build on each other, tools with large results, streams.

    After each line that the journal has taken, its name goes into the pipe.
    """
    dice = random.Random(seed)  # noqa: S311 - a test's dice
    journal = Journal.create(path, HEADER, replace=replace)
    talk: list[dict[str, Any]] = []

    def tell(*words: Any) -> None:
        os.write(told, " ".join(map(str, words)).encode() + b"\n")

    while True:
        text = f"question {len(talk)} 😀 " + "x" * dice.randrange(20_000)
        talk = [*talk[-20:], user(text)]
        stream = dice.random() < 0.3
        name = journal.new_id()
        asked = request(*talk)
        journal.call(CallLine(id=name, kind="model", api="openai.chat", request=asked))
        tell("call", name, len(text))
        for number in range(3 if stream else 0):
            journal.append(ChunkLine(of=name, data={"n": number}))
            tell("chunk", name, number + 1)
        reply = {"status": 200} if stream else response(f"answer {name}")
        journal.append(ResultLine(of=name, response=reply))
        tell("result", name)
        tool = use(journal, "page", {"n": name}, "y" * dice.randrange(40_000))
        tell("result", tool)


@wb.tool(effect="read")
def page(number: int) -> dict[str, Any]:
    """Look a page up."""
    return {"number": number, "text": "y" * (number * 7919 % 30_000)}


def _whole_run(path: Path, told: int, seed: int, *, replace: bool) -> None:
    """Record a whole agent until killed; after each call that came back, its number is told."""

    def agent() -> None:
        number = seed
        while True:
            ask_model([{"role": "user", "content": f"question {number}"}])
            os.write(told, f"model {number}\n".encode())
            page(number)
            os.write(told, f"tool {number}\n".encode())
            number += 1

    wb.record(agent, to=path, replace=replace)


def _killed(
    path: Path, seed: int, work: Callable[..., None] = _endless, *, replace: bool = False
) -> list[list[str]]:
    """Record in a child, kill it at a random moment; gives what it was told as written."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            work(path, writing, seed, replace=replace)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        first = pipe.readline()
        time.sleep(random.Random(seed).uniform(0, 0.03))  # noqa: S311 - a test's dice
        os.kill(pid, signal.SIGKILL)
        lines = [first, *pipe]
    assert os.WIFSIGNALED(os.waitpid(pid, 0)[1])
    return [line.split() for line in lines if line.endswith("\n")]


def _check(trace: Trace, told: list[list[str]]) -> None:
    """All that was told as written is in the trace, whole."""
    assert trace.status == "cut short"
    for what, name, *more in told:
        entry = trace.entry(name)
        if what == "call":
            assert len(entry.body["messages"][-1]["content"]) == int(more[0])
        elif what == "chunk":
            assert [chunk.data["n"] for chunk in entry.chunks][: int(more[0])] == [
                *range(int(more[0]))
            ]
        elif entry.kind == "tool":
            assert set(entry.result) <= {"y"}
        else:
            assert entry.response["status"] == 200
            assert entry.chunks or entry.text == f"answer {name}"
    assert sum(entry.open for entry in trace.entries) <= 1
    assert trace.verify() == trace.notices
    assert len(trace.notices) <= 1


@forks
@pytest.mark.parametrize("seed", range(KILLS // 2))
def test_a_kill_at_any_moment_loses_nothing_that_was_written(tmp_path: Path, seed: int) -> None:
    """The file opens, every line that the journal had taken is there, and it can be continued."""
    path = tmp_path / "a.trace.jsonl"
    told = _killed(path, seed)
    assert told
    trace = load(path)
    _check(trace, told)
    before = [(entry.id, entry.open) for entry in trace.entries]
    late = Journal.join(path)
    name = ask(late, request(user("again")), response("yes"))
    late.close()
    after = load(path)
    assert [(entry.id, entry.open) for entry in after.entries] == [*before, (name, False)]
    assert after.entry(name).text == "yes"
    _check(after, told)


@forks
@pytest.mark.parametrize("seed", range(KILLS // 2))
def test_a_kill_at_any_moment_of_a_run_loses_no_call_that_came_back(
    tmp_path: Path, seed: int
) -> None:
    """What the agent was given is in the trace, and the next append works."""
    path = tmp_path / "a.trace.jsonl"
    told = _killed(path, seed, _whole_run)
    trace = load(path)
    assert trace.status == "cut short"
    assert trace.verify() == trace.notices
    assert len(trace.notices) <= 1
    models, tools = trace.models(), trace.tools("page")
    for place, number in enumerate(int(number) for what, number in told if what == "model"):
        assert models[place].text == f"re: question {number}"
    for place, number in enumerate(int(number) for what, number in told if what == "tool"):
        assert tools[place].result == {"number": number, "text": "y" * (number * 7919 % 30_000)}
    assert sum(entry.open for entry in trace.entries) <= 1
    late = Journal.join(path)
    name = ask(late, request(user("again")), response("yes"))
    late.close()
    assert load(path).entry(name).text == "yes"


@forks
@pytest.mark.parametrize("seed", range(5))
def test_a_kill_leaves_the_trace_that_was_to_be_replaced(tmp_path: Path, seed: int) -> None:
    """The old trace is still there, and the new one lies beside it, readable as far as it came."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    ask(journal, request(user("old")), response("kept"))
    journal.close(EndLine(status="ok"))
    told = _killed(path, seed, replace=True)
    assert load(path).turn(1).text == "kept"
    [partial] = [each for each in tmp_path.iterdir() if each != path]
    assert partial.name.startswith(".a.trace.jsonl.")
    _check(load(partial), told)
