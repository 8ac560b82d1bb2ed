"""What recording adds to a call through the openai SDK, beside other recorders, in one run.

The others live in environments of their own, which ``make bench`` makes; where one cannot be
installed its row is left out. All of them ask the same server on the loopback.
"""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = Path(os.environ.get("PEERS", ROOT / ".peers"))
SCRIPTS = ROOT / "tests" / "peers"
BLOCKS, CALLS = 9, 300
RECORDERS = {
    "workbench": Path(sys.executable),
    "agent-rewind": PEERS / "agent-rewind" / "bin" / "python",
    "reeltime": PEERS / "reeltime" / "bin" / "python",
}


@pytest.fixture
def url() -> Iterator[str]:
    """A model server in a process of its own."""
    command = [sys.executable, str(SCRIPTS / "model_server.py")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        assert server.stdin is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


def _measure(recorder: str, url: str, folder: Path, words: int) -> tuple[float, float] | None:
    """Microseconds that a bare call takes, and that recording adds; medians of blocks in turn."""
    python = RECORDERS[recorder]
    if not python.exists():
        return None
    folder.mkdir()
    command = [str(python), str(SCRIPTS / "sdk_overhead.py"), recorder, url, str(folder)]
    command += [str(BLOCKS), str(CALLS), str(words)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["held"] == CALLS, f"{recorder} recorded {found['held']} of {CALLS} calls"
    bare, recorded = (statistics.median(found[key]) / CALLS for key in ("bare", "recorded"))
    return bare * 1e6, (recorded - bare) * 1e6


@pytest.mark.timeout(900)
def test_what_recording_adds_to_a_call(url: str, tmp_path: Path) -> None:
    """Every recorder holds every call; what each adds is printed as a ratio to the best other."""
    print(f"\n{'a call through the openai SDK':32}{'bare':>10}{'recorded':>12}{'ratio':>8}")
    for words in (20, 2000):
        rows = {
            name: _measure(name, url, tmp_path / f"{name}-{words}", words) for name in RECORDERS
        }
        others = [row[1] for name, row in rows.items() if row and name != "workbench"]
        best = min(others, default=None)
        for name, row in rows.items():
            if row is None:
                print(f"{words:>6} words, {name:<18}{'–':>10}{'–':>12}")
                continue
            ratio = "" if best is None else f"{row[1] / best:.2f}"
            print(f"{words:>6} words, {name:<18}{row[0]:>7.0f} µs{row[1]:>+9.0f} µs{ratio:>8}")
