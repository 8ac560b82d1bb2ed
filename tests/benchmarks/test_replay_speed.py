"""Strict replays through AgentIO, beside AgentLoom 0.4.0's MockProvider and vcrpy, in one run.

The peers live in environments of their own, which ``make bench`` makes; where one cannot be
installed its column is left out. Each does the same work: different requests of a size, each found
by its content. What is timed are the calls, the opening of the recording apart.
"""

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

import workbench as wb

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = Path(os.environ.get("PEERS", ROOT / ".peers"))
WORK = ((100, 2000, 100_000), (10_000, 500, 30_000), (100_000, 100, 5_000))
"""Bytes of a request, how many calls, and how many a second are promised."""
FEW = 100
"""How many calls vcrpy gets: it compares each with all, so that thousands would take minutes."""


def _questions(calls: int, size: int) -> list[list[dict[str, Any]]]:
    text = "word " * (size // 5)
    return [[{"role": "user", "content": f"{number} {text}"}] for number in range(calls)]


class _Timed:
    """An agent in both twins that asks its questions, and notes how long it took."""

    def __init__(self, calls: int, size: int) -> None:
        self.questions = _questions(calls, size)
        self.seconds = 0.0

    def sync(self, io: wb.SyncAgentIO) -> None:
        began = time.perf_counter()
        for messages in self.questions:
            assert io.call_model(model="m-1", messages=messages).text == "fine"
        self.seconds = time.perf_counter() - began

    async def asynchronous(self, io: wb.AgentIO) -> None:
        began = time.perf_counter()
        for messages in self.questions:
            assert (await io.call_model(model="m-1", messages=messages)).text == "fine"
        self.seconds = time.perf_counter() - began


def _ours(path: Path, calls: int, size: int) -> tuple[float, float, float]:
    """Calls a second: async, sync, and async with opening and ending in the count."""
    agent = _Timed(calls, size)
    replies = [{"content": "fine", "usage": {"input_tokens": 20}}] * calls
    wb.record(agent.asynchronous, io=wb.scripted_io(replies), to=path)
    began = time.perf_counter()
    result = wb.replay(agent.asynchronous, path)
    whole = time.perf_counter() - began
    assert (result.status, len(result.calls)) == ("ok", calls), result.drift
    seconds = agent.seconds
    assert wb.replay(agent.sync, path).status == "ok"
    return calls / seconds, calls / agent.seconds, calls / whole


def _peer(name: str, path: Path, calls: int, size: int) -> float | None:
    python = PEERS / name / "bin" / "python"
    if not python.exists():
        return None
    script = ROOT / "tests" / "peers" / f"{name}_replay.py"
    command = [str(python), str(script), str(path), str(calls), str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return calls / float(done.stdout)


@pytest.mark.timeout(900)
def test_replaying_beside_peers(tmp_path: Path) -> None:
    """Calls a second for small, middling and large requests, and how many times that of others."""
    head = (
        "workbench",
        "blocking",
        "with opening",
        "promised",
        "AgentLoom 0.4.0",
        f"vcrpy, {FEW} calls",
    )
    print("\n" + f"{'request':>10}" + "".join(f"{name:>24}" for name in head))
    for size, calls, promised in WORK:
        asynchronous, sync, whole = _ours(tmp_path / f"{size}.trace.jsonl", calls, size)
        peers = [
            _peer("agentloom", tmp_path / f"{size}.json", calls, size),
            _peer("vcrpy", tmp_path / f"{size}.yaml", FEW, size),
        ]
        cells = [f"{n:,.0f}" for n in (asynchronous, sync, whole, promised)]
        cells += ["–" if n is None else f"{n:,.0f} ({asynchronous / n:.2f}×)" for n in peers]
        print(f"{size:>8} B" + "".join(f"{cell:>24}" for cell in cells))
