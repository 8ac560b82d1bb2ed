"""Agents with an io on the command line."""

from pathlib import Path

import pytest
from shopcli import here

_AGENT = """\
import workbench as wb


async def agent(io: wb.AgentIO, question: str) -> str:
    reply = await io.call_model(model="m", messages=[{"role": "user", "content": question}])
    return reply.text


async def live(question: str) -> str:
    return await agent(wb.live_io(model=lambda request: "hello"), question)
"""


def test_a_replay_gives_the_agent_its_io(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded by whatever way, a function that takes an io is replayed by its name alone; one that
    would have to reach the world is told what it needs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "io_agent.py").write_text(_AGENT, "utf-8")
    recorded = here("record", "io_agent:live", "--to", "a.trace.jsonl", "--", "hi")
    assert (recorded.code, recorded.err) == (0, "")
    ran = here("replay", "a.trace.jsonl", "io_agent:agent")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "hello"
    refused = here("record", "io_agent:agent", "--", "hi")
    assert refused.code == 2
    assert "agent takes an io and none was passed" in refused.err
