"""Frameworks that look for a key by themselves: a replay needs none, and nothing else changes."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_openai import ChatOpenAI
from loopback import Server
from pydantic_ai import Agent

from workbench.adapters.http.keys import DUMMY_KEY

KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")
NAMES = ("openai-chat:ok", "openai-responses:ok", "anthropic:ok", "google:ok")
SCRIPT = f"""
from langchain_openai import ChatOpenAI
from pydantic_ai import Agent

for name in {NAMES}:
    print(name, Agent(name).run_sync("Where is order 41?").output)
print("langchain", ChatOpenAI(model="ok").invoke("Where is order 41?").text)
mine = ChatOpenAI(model="ok", api_key="k-mine")
print(mine.invoke("Where is order 41?").text, mine.openai_api_key.get_secret_value())
"""


def workbench(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, in an environment without any provider's key or address."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-m", "workbench", *arguments],
        cwd=cwd,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_replay_needs_no_key(tmp_path: Path) -> None:
    """Models given by name, of three SDKs, and LangChain's: the recorded answers, and no server.
    A model that was given its own key keeps it."""
    (tmp_path / "agent.py").write_text(SCRIPT)
    with Server() as server:
        urls = {"OPENAI_BASE_URL": f"{server.url}/v1", "ANTHROPIC_BASE_URL": server.url}
        urls |= {"GOOGLE_GEMINI_BASE_URL": server.url} | dict.fromkeys(KEYS, "k-1234567890")
        first = workbench("record", "--to", "a.trace.jsonl", "agent.py", cwd=tmp_path, **urls)
    assert first.returncode == 0, first.stderr
    assert [line.split()[0] for line in first.stdout.splitlines()[:5]] == [*NAMES, "langchain"]
    assert "k-mine" in first.stdout
    again = workbench("replay", "a.trace.jsonl", "--recorded-agent", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[:6] == first.stdout.splitlines()[:6]
    assert "6 calls from the trace, 0 live" in again.stdout + again.stderr


def ask(name: str) -> Callable[[], Any]:
    """An agent of pydantic-ai whose model is given by its name."""
    return lambda: Agent(name).run_sync("Where is order 41?")


@pytest.mark.parametrize(
    "agent",
    [*map(ask, NAMES), lambda: ChatOpenAI(model_name="ok").invoke("Where is order 41?")],
    ids=[*NAMES, "langchain"],
)
def test_without_a_replay_it_is_refused_as_ever(
    agent: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a call may go live, the library's own words say which key it wants."""
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(Exception, match=r"(?i)api.?key") as bare:
        agent()
    assert DUMMY_KEY not in str(bare.value)
