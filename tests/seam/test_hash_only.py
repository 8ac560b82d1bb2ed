"""requests='hash': a recording that holds no prompt and no argument, and replays all the same."""

from pathlib import Path
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb


@wb.tool(effect="read")
def look_up(name: str) -> dict[str, Any]:
    """Look somebody up."""
    return {"known": len(name)}


def agent(name: str) -> str:
    """Ask about somebody, and look that one up."""
    reply = ask(f"who is {name}?")["content"]
    return f"{len(reply)} {look_up(name)['known']}"


def test_a_hash_only_trace_replays_and_drifts(world: World, tmp_path: Path) -> None:
    """Nothing that was asked is in the file; what was answered is; a change is noticed."""
    world.answer = lambda body: {"content": "somebody"}
    path = tmp_path / "a.trace.jsonl"
    recorded = wb.record(agent, "Ada Lovelace", to=path, requests="hash")
    assert recorded.status == "ok"
    data = path.read_text()
    for said in ("Ada Lovelace", "who is", '"messages"', '"arguments"'):
        assert said not in data
    world.ran.clear()
    replayed = wb.replay(agent, path, "Ada Lovelace")
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert world.ran == []
    drifted = wb.replay(agent, path, "Alan Turing")
    assert drifted.status == "drifted"
    assert "hash" in str(drifted.drift)
    assert "--ignore" not in str(drifted.drift)  # there is no part of it to leave out


def test_what_was_asked_is_unavailable_and_says_why(tmp_path: Path) -> None:
    """Whoever looks is told that it was not recorded, not that it is empty."""
    path = tmp_path / "a.trace.jsonl"
    wb.record(agent, "Ada", to=path, requests="hash")
    entry = wb.load(path).turn(1).model
    with pytest.raises(wb.UnavailableError, match="hash"):
        _ = entry.request
    with pytest.raises(wb.UsageError, match="'full', 'hash'"):
        wb.record(agent, "Ada", requests="none")  # type: ignore[arg-type]
