"""Record modes, as pytest-recording names them: none, once, new_episodes, all."""

from pathlib import Path
from typing import Any

import pytest
from scripted import World, ask

import workbench as wb


def agent(*questions: str) -> list[str]:
    """Ask each question."""
    wb.write_event("asked", list(questions))
    return [ask(question)["content"] for question in questions]


def numbered(world: World) -> None:
    """Every live answer is a new one."""

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return {"content": f"{body['messages'][-1]['content']} #{len(world.ran)}"}

    world.answer = answer


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the trace is to be."""
    return tmp_path / "runs" / "agent.trace.jsonl"


def test_once_records_the_first_time_and_replays_from_then_on(world: World, path: Path) -> None:
    """The file stays byte for byte as it was."""
    numbered(world)
    first = wb.record(agent, "a", "b", to=path, mode="once")
    assert first.output == ["a #1", "b #2"]
    data = path.read_bytes()
    again = wb.record(agent, "a", "b", to=path, mode="once")
    assert (again.status, again.output) == ("ok", first.output)
    assert again.live_calls == 0
    assert path.read_bytes() == data
    changed = wb.record(agent, "a", "c", to=path, mode="once")
    assert changed.status == "drifted"
    assert path.read_bytes() == data


def test_none_never_records(world: World, path: Path) -> None:
    """Without a trace it is an error, and nothing is made."""
    with pytest.raises(wb.TraceNotFoundError, match='mode="none"'):
        wb.record(agent, "a", to=path, mode="none")
    assert not path.exists()
    assert world.ran == []
    wb.record(agent, "a", to=path)
    world.ran.clear()
    assert wb.record(agent, "a", to=path, mode="none").output == ["re: a"]
    assert world.ran == []


def test_all_records_anew(world: World, path: Path) -> None:
    """What was there is replaced once the new one is complete."""
    numbered(world)
    wb.record(agent, "a", to=path, mode="all")
    second = wb.record(agent, "a", to=path, mode="all")
    assert second.output == ["a #2"]
    assert wb.load(path).turn(1).text == "a #2"


def test_new_episodes_serves_what_is_there_and_records_what_is_new(
    world: World, path: Path
) -> None:
    """Old answers stay, new ones are added, and what was not asked for this time is kept."""
    numbered(world)
    wb.record(agent, "a", "b", to=path)
    second = wb.record(agent, "b", "c", to=path, mode="new_episodes")
    assert second.output == ["b #2", "c #3"]
    assert [body["messages"][-1]["content"] for body in world.ran] == ["a", "b", "c"]
    assert any("are kept" in notice for notice in second.notices)
    kept = wb.load(path)
    assert sorted(entry.text for entry in kept.models()) == ["a #1", "b #2", "c #3"]
    third = wb.record(agent, "a", "c", to=path, mode="new_episodes")
    assert third.output == ["a #1", "c #3"]
    assert third.live_calls == 0
    assert len(wb.load(path).models()) == 3


def test_a_mode_needs_a_file_and_must_be_one(path: Path) -> None:
    """The choices are named."""
    with pytest.raises(wb.UsageError, match="'none', 'once', 'new_episodes', 'all'"):
        wb.record(agent, to=path, mode="sometimes")  # type: ignore[arg-type]
    with pytest.raises(wb.UsageError, match="say to="):
        wb.record(agent, mode="once")


def test_a_file_that_is_no_trace_is_never_overwritten(path: Path) -> None:
    """Whatever the mode."""
    path.parent.mkdir()
    path.write_text("my notes")
    for mode in ("none", "once", "new_episodes", "all"):
        with pytest.raises(wb.TraceError):
            wb.record(agent, "a", to=path, mode=mode)
    assert path.read_text() == "my notes"


def test_what_another_process_wrote_meanwhile_is_not_replaced(world: World, path: Path) -> None:
    """Two runs that extend one trace at once: both are kept, and the second says where."""
    wb.record(agent, "a", to=path)

    def meanwhile(question: str) -> list[str]:
        out = agent(question)
        if question == "b":
            wb.record(agent, "c", to=path, mode="new_episodes")
        return out

    second = wb.record(meanwhile, "b", to=path, mode="new_episodes")
    other = path.with_name("agent-2.trace.jsonl")
    assert second.trace.path == other
    assert any(str(other) in notice for notice in second.notices)
    assert sorted(entry.text for entry in wb.load(path).models()) == ["re: a", "re: c"]
    assert sorted(entry.text for entry in wb.load(other).models()) == ["re: a", "re: b"]
