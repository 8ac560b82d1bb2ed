"""What opening huge traces costs. Prints; asserts content, never a time."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from workbench.trace.entries import CallLine, EndLine, ResultLine, TraceLine
from workbench.trace.journal import Journal

GIGABYTE = 10**9

_OPEN = """
import json, resource, sys, time
from workbench.trace.trace import load
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
before = peak()
took, began = {}, time.perf_counter()
def lap(name):
    global began
    now = time.perf_counter()
    took[name] = now - began
    began = time.perf_counter()
trace = load(sys.argv[1])
lap("opened")
last = trace.turns[-1]
said, label = last.text, last.label
asked = last.model.body["messages"][-1]["content"][:40]
lap("last turn")
ends = trace.status, len(trace.turns), len(trace.entries)
lap("status, counts")
first = trace.turn(1).text
middle = trace.entry(sys.argv[2]).id
lap("first turn, an entry by id")
rows = trace.rows(len(trace.turns) // 2, len(trace.turns) // 2 + 50)
lap("50 rows of the list")
shown = peak()
if sys.argv[3] == "all":
    spans = len(trace.timeline())
    lap("timeline of all")
print(json.dumps({
    "said": said, "asked": asked, "first": first, "middle": middle, "rows": len(rows),
    "ends": ends, "took": took, "cpu": time.process_time(), "before": before, "peak": shown,
    "peak in the end": peak(),
}))
"""


def _open(path: Path, entry: str, *, everything: bool = False) -> dict[str, Any]:
    """Open a file in a fresh process, and show parts of it; prints what that took."""
    command = [sys.executable, "-c", _OPEN, str(path), entry, "all" if everything else "parts"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    took = found["took"]
    size = path.stat().st_size / 1e6
    print(f"\n{found['ends'][2]:,} entries, {size:,.0f} MB, {found['ends'][1]:,} turns")
    shown = took["opened"] + took["last turn"]
    print(f"opened, last turn shown: {shown:.2f} s (promised: under 5)")
    print("; ".join(f"{name}: {seconds:.3f} s" for name, seconds in took.items()))
    print(
        f"memory at its peak: {found['peak']:.0f} MB, {found['before']:.0f} MB of it before "
        f"(promised: under 500); in the end {found['peak in the end']:.0f} MB"
    )
    return found


def _call(name: str, text: str, answer: str) -> tuple[CallLine, ResultLine]:
    messages = [{"role": "user", "content": text}]
    body = {"model": "gpt-4o-mini", "messages": messages, "temperature": 0}
    call = CallLine(
        id=name,
        kind="model",
        at="2025-11-03T09:15:30.120000Z",
        api="openai.chat",
        model="gpt-4o-mini",
        hash="0" * 64,
        where="agent.py:41",
        request={"path": "/chat/completions", "body": body},
    )
    message = {"role": "assistant", "content": answer, "refusal": None}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    usage = {"prompt_tokens": 20, "completion_tokens": 8}
    reply = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}
    result = ResultLine(
        of=name,
        at="2025-11-03T09:15:31.120000Z",
        source="live",
        duration_s=1.0,
        provider="openai",
        model="gpt-4o-mini",
        usage={"input_tokens": 20, "output_tokens": 8},
        response={"status": 200, "body": reply},
    )
    return call, result


def _tool(name: str, asked_by: str) -> tuple[CallLine, ResultLine]:
    request = {"name": "look", "arguments": {"n": 1}}
    call = CallLine(
        id=name,
        kind="tool",
        at="2025-11-03T09:15:31.220000Z",
        step="look",
        asked_by=asked_by,
        name="look",
        effect="read",
        hash="0" * 64,
        request=request,
    )
    return call, ResultLine(of=name, duration_s=0.1, response="found")


def _write_many(path: Path, calls: int, *, tools: bool = False) -> None:
    """A trace as a journal writes it, made quickly from a few lines."""
    small = path.with_name("small.trace.jsonl")
    with Journal.create(small, TraceLine(id="bench"), replace=True) as journal:
        for line in (*_call("1-1", "question 0", "answer 0"), *_tool("1-2", "1-1")):
            journal.append(line)
        journal.close(EndLine(status="ok"))
    header, call, result, *tool, end = small.read_text().splitlines(keepends=True)
    call = call.replace("1-1", "1-%d").replace("question 0", "question %d")
    result = result.replace("1-1", "1-%d").replace("answer 0", "answer %d")
    ran = "".join(tool).replace('"1-2"', '"1-%d"').replace('"1-1"', '"1-%d"')
    with path.open("w") as file:
        file.write(header)
        for n in range(calls):
            if tools:
                model, used = 2 * n + 1, 2 * n + 2
                text = call % (model, n) + result % (model, n) + ran % (used, model, used)
            else:
                text = call % (n + 1, n) + result % (n + 1, n)
            file.write(text)
        file.write(end)


def test_a_million_calls_open_in_seconds(tmp_path: Path) -> None:
    """Opening reads no bodies, so a huge trace opens fast and in little memory."""
    path = tmp_path / "million.trace.jsonl"
    _write_many(path, 1_000_000)
    found = _open(path, "1-500000", everything=True)
    assert found["ends"] == ["ok", 1_000_000, 1_000_000]
    assert (found["said"], found["asked"]) == ("answer 999999", "question 999999")
    assert (found["first"], found["middle"]) == ("answer 0", "1-500000")


def test_a_million_entries_of_models_and_tools_open_in_seconds(tmp_path: Path) -> None:
    """Steps and who asked for a tool are found as quickly as plain calls."""
    path = tmp_path / "tools.trace.jsonl"
    _write_many(path, 500_000, tools=True)
    found = _open(path, "1-500001")
    assert found["ends"] == ["ok", 500_000, 1_000_000]
    assert (found["said"], found["asked"]) == ("answer 499999", "question 499999")


@pytest.mark.timeout(600)
def test_a_gigabyte_opens_in_seconds(tmp_path: Path) -> None:
    """Large bodies cost reading, not memory."""
    path = tmp_path / "gigabyte.trace.jsonl"
    with Journal.create(path, TraceLine(id="bench")) as journal:
        number, block = 0, "word " * 1_500
        while number % 100 or path.stat().st_size < GIGABYTE:
            number += 1
            # Shorter than what is stored once, and no two alike: all of it is in the file.
            text, answer = f"question {number} {block}", f"answer {number} {block}"
            for line in _call(f"1-{number}", text, answer):
                journal.append(line)
        journal.close(EndLine(status="ok"))
    found = _open(path, f"1-{number // 2}", everything=True)
    assert found["ends"] == ["ok", number, number]
    assert found["asked"].startswith(f"question {number} ")
