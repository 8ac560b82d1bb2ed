"""What recording and opening cost. Prints; asserts content, never a time."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workbench.trace.entries import CallLine, EndLine, ResultLine, TraceLine
from workbench.trace.journal import Journal
from workbench.trace.trace import load


def _messages(count: int, size: int = 60) -> list[dict[str, Any]]:
    return [
        {"role": "user" if n % 2 else "assistant", "content": f"{n} " + "word " * (size // 5)}
        for n in range(count)
    ]


def _request(messages: list[dict[str, Any]]) -> dict[str, Any]:
    body = {"model": "gpt-4o-mini", "messages": messages, "temperature": 0}
    return {"path": "/chat/completions", "body": body}


def _response(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 20, "completion_tokens": 8}
    body = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}
    return {"status": 200, "body": body}


def _one_call(journal: Journal, messages: list[dict[str, Any]], text: str) -> None:
    name = journal.new_id()
    journal.call(
        CallLine(
            id=name,
            kind="model",
            at="2025-11-03T09:15:30.120000Z",
            api="openai.chat",
            model="gpt-4o-mini",
            hash="0" * 64,
            where="agent.py:41",
            request=_request(messages),
        )
    )
    journal.append(
        ResultLine(
            of=name,
            at="2025-11-03T09:15:31.120000Z",
            source="live",
            duration_s=1.0,
            provider="openai",
            model="gpt-4o-mini",
            usage={"input_tokens": 20, "output_tokens": 8},
            response=_response(text),
        )
    )


def _seconds(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _record_calls(path: Path, count: int) -> float:
    with Journal.create(path, TraceLine(id="bench")) as journal:
        asked = _messages(2)

        def work() -> None:
            for n in range(count):
                _one_call(journal, [*asked, {"role": "user", "content": f"question {n}"}], "fine")
            journal.close(EndLine(status="ok"))

        return _seconds(work)


def test_a_call_costs_the_same_however_long_the_recording(tmp_path: Path) -> None:
    """Recording must not get slower as the file grows: 5,000 calls beside 1,000."""
    _record_calls(tmp_path / "warm.trace.jsonl", 200)
    short = _record_calls(tmp_path / "short.trace.jsonl", 1000)
    long = _record_calls(tmp_path / "long.trace.jsonl", 5000)
    print(f"\na small call (call and result): {long / 5000 * 1e6:.0f} µs")
    print(f"5,000 calls / 1,000 calls: {long / short:.2f} (promised: at most 6)")
    trace = load(tmp_path / "long.trace.jsonl")
    assert len(trace.models()) == 5000
    assert trace.entries[4999].body["messages"][-1]["content"] == "question 4999"


def _conversation(path: Path, turns: int) -> int:
    with Journal.create(path, TraceLine(id="bench")) as journal:
        messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
        for n in range(turns):
            messages.append({"role": "user", "content": f"question {n} " + "word " * 20})
            _one_call(journal, messages, f"answer {n}")
            messages.append({"role": "assistant", "content": f"answer {n}"})
        journal.close(EndLine(status="ok"))
    return path.stat().st_size


def test_a_long_conversation_grows_linearly(tmp_path: Path) -> None:
    """A conversation is not stored again at each of its turns: 1,000 turns beside 500."""
    half = _conversation(tmp_path / "half.trace.jsonl", 500)
    whole = _conversation(tmp_path / "whole.trace.jsonl", 1000)
    print(f"\n500 turns: {half:,} bytes; 1,000 turns: {whole:,} bytes")
    print(f"1,000 turns / 500 turns: {whole / half:.2f} (promised: at most 2.2)")
    assert whole / half <= 2.2
    trace = load(tmp_path / "whole.trace.jsonl")
    assert len(trace.turn(1000).messages) == 2000
    began = time.perf_counter()
    for entry in trace.entries:
        assert entry.own_messages[1]
    print(f"stepping through what is new in 1,000 turns: {time.perf_counter() - began:.3f} s")
    began = time.perf_counter()
    for entry in trace.entries:
        entry.request  # noqa: B018 - it is read
    print(f"rebuilding all 1,000 requests: {time.perf_counter() - began:.3f} s")


def test_the_timeline_of_ten_thousand_turns_is_quick(tmp_path: Path) -> None:
    """The notebook's first paint needs the spans of all turns without reading their bodies."""
    path = tmp_path / "big.trace.jsonl"
    with Journal.create(path, TraceLine(id="bench", created_at="2025-11-03T09:15:30Z")) as journal:
        for n in range(10_000):
            text = f"{n} " + "some words of the answer " * (200 + n % 1800)
            _one_call(journal, [{"role": "user", "content": f"question {n}"}], text)
            name = journal.new_id()
            journal.append(
                CallLine(
                    id=name, kind="tool", name="look", request={"name": "look", "arguments": {}}
                )
            )
            journal.append(ResultLine(of=name, duration_s=0.1, response="found"))
        journal.close(EndLine(status="ok"))
    began = time.perf_counter()
    trace = load(path)
    opened = time.perf_counter() - began
    spans = trace.timeline()
    drawn = time.perf_counter() - began - opened
    rows = trace.rows(5000, 5050)
    listed = time.perf_counter() - began - opened - drawn
    print(f"\n10,000 turns, {path.stat().st_size / 1e6:.0f} MB: opened in {opened:.3f} s")
    print(f"timeline: {drawn:.3f} s (aim: 0.3 s); 50 rows of the list: {listed * 1000:.0f} ms")
    assert len(spans) == 20_000
    assert [row["number"] for row in rows] == list(range(5001, 5051))
