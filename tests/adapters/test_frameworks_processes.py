"""A recording of a framework's agent replays in another process, without a server."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, call, results
from dspy_shop import shop as dspy_shop

CODE = [
    "Thought: try\n<code>\nimport os\n</code>",
    "Thought: look\n<code>\nprint(find_order(101))\n</code>",
    "<code>\nfinal_answer('149.99')\n</code>",
]


def coder(asked: dict[str, Any]) -> str:
    """Writes the next piece of code."""
    return str(CODE[sum(m["role"] == "assistant" for m in asked["messages"])])


def looks(asked: dict[str, Any]) -> Any:
    """Looks an order up, and says what it found."""
    return "".join(results(asked)) or call("find_order", number=101)


ANSWERS: dict[str, Any] = {"langgraph": looks, "smolagents": coder, "dspy": dspy_shop}


def run(repo_root: Path, seed: int, *arguments: str) -> str:
    """Run the agent with another seed of Python's hashes; gives what it printed."""
    script = repo_root / "tests" / "support" / "framework_run.py"
    env = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONWARNINGS": "ignore"}
    env["PYTHONPATH"] = os.pathsep.join([str(repo_root), env.get("PYTHONPATH", "")])
    command = [sys.executable, str(script), *arguments]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize("framework", ANSWERS)
def test_another_process_replays_without_the_server(
    framework: str, repo_root: Path, tmp_path: Path
) -> None:
    """Nothing random and nothing of this process is in any request: neither ids nor orders of sets
    nor lines of code."""
    trace = str(tmp_path / "run.jsonl")
    with ChatServer(ANSWERS[framework]) as server:
        recorded = run(repo_root, 1, framework, "record", server.url, trace)
        times = len(server.seen)
    assert recorded.startswith("ok "), recorded
    assert times >= 2
    replayed = run(repo_root, 77, framework, "replay", "http://127.0.0.1:9/v1", trace)
    assert replayed == recorded
