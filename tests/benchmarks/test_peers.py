"""The same recording by this project and by AgentLoom 0.4.0, in one run, side by side.

AgentLoom lives in an environment of its own, which ``make bench`` makes; where it cannot be
installed its column is left out.
"""

import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
import scripted
from scripted import ask

import workbench as wb

ROOT = Path(__file__).resolve().parent.parent.parent
PEER = Path(os.environ.get("PEERS", ROOT / ".peers")) / "agentloom" / "bin" / "python"
SCRIPT = ROOT / "tests" / "peers" / "agentloom_record.py"


def _agent(calls: int, conversation: bool) -> None:
    messages: list[dict[str, Any]] = []
    for number in range(calls):
        asked = {"role": "user", "content": f"question {number} " + "word " * 20}
        messages = [*messages, asked] if conversation else [asked]
        reply = ask(messages)
        if conversation:
            messages = [*messages, {"role": "assistant", "content": reply["content"]}]


def _ours(path: Path, calls: int, conversation: bool) -> tuple[float, int]:
    scripted.world.answer = lambda _: {
        "content": "fine",
        "model": "m-1",
        "usage": {"input_tokens": 20, "output_tokens": 8},
    }
    scripted.world.ran.clear()
    began = time.perf_counter()
    result = wb.record(_agent, calls, conversation, to=path)
    seconds = time.perf_counter() - began
    assert len(result.trace.turns) == calls
    assert result.trace.turn(calls).text == "fine"
    return seconds, path.stat().st_size


def _theirs(path: Path, calls: int, conversation: bool) -> tuple[float, int] | None:
    if not PEER.exists():
        return None
    command = [str(PEER), str(SCRIPT), str(path), str(calls), "1" if conversation else "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout), path.stat().st_size


@pytest.mark.timeout(900)
def test_recording_beside_agentloom(tmp_path: Path) -> None:
    """Constant cost per call and linear size, beside a recorder that rewrites its whole file."""
    rows: dict[tuple[str, int], tuple[tuple[float, int], tuple[float, int] | None]] = {}
    for kind, conversation, sizes in (
        ("independent calls", False, (1000, 5000)),
        ("one conversation", True, (500, 1000)),
    ):
        for calls in sizes:
            ours = _ours(tmp_path / f"ours-{kind}-{calls}.trace.jsonl", calls, conversation)
            peer_calls = calls <= 1000 or bool(os.environ.get("WORKBENCH_LONG_BENCH"))
            path = tmp_path / f"theirs-{kind}-{calls}.json"
            rows[kind, calls] = (ours, _theirs(path, calls, conversation) if peer_calls else None)
    print(f"\n{'':32}{'workbench':>22}{'AgentLoom 0.4.0':>22}{'ratio':>8}")
    for (kind, calls), (ours, theirs) in rows.items():
        print(f"{calls:>6} {kind:<25}{_cell(ours):>22}{_cell(theirs):>22}{_ratio(ours, theirs):>8}")
    _growth("time, 5,000 calls / 1,000", rows, "independent calls", 0, "at most 6")
    _growth("size, 1,000 turns / 500", rows, "one conversation", 1, "at most 2.2")


def _cell(measured: tuple[float, int] | None) -> str:
    return "–" if measured is None else f"{measured[0]:.2f} s, {measured[1] / 1e6:.2f} MB"


def _ratio(ours: tuple[float, int], theirs: tuple[float, int] | None) -> str:
    return "–" if theirs is None else f"{theirs[0] / ours[0]:.0f}×"


def _growth(what: str, rows: dict[Any, Any], kind: str, field: int, promise: str) -> None:
    of_kind = sorted((key[1], value) for key, value in rows.items() if key[0] == kind)
    (_, small), (_, large) = of_kind
    ours = large[0][field] / small[0][field]
    theirs = f"{large[1][field] / small[1][field]:.2f}" if small[1] and large[1] else "–"
    print(f"{what}: {ours:.2f} (promised: {promise}); AgentLoom {theirs}")
