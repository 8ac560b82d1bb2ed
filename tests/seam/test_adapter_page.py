"""The page on adapters: its example records, replays, edits and fails as it says."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orbit
import pytest

import workbench as wb
from workbench import plugins
from workbench.faults import StreamTruncate, Timeout
from workbench.plugins import Adapter

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "adapters.md"


@pytest.fixture
def adapter() -> Iterator[Adapter]:
    """The page's adapter, made by its own lines and installed."""
    source, _ = _blocks()
    assert len([line for line in source.splitlines() if line.strip()]) <= 30
    found = _run(source)["adapter"]
    assert isinstance(found, Adapter)
    yield from _installed(found)


@pytest.fixture
def streaming() -> Iterator[Adapter]:
    """An adapter with the page's hook for streams, installed."""
    hook = _run(_blocks()[1])["hook_stream"]
    yield from _installed(Adapter("orbit", "orbit", hook))


def _blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def _run(source: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(source, PAGE.name, "exec"), names)  # noqa: S102 - our own page
    return names


def _installed(adapter: Adapter) -> Iterator[Adapter]:
    orbit.Client.asked.clear()
    adapter.install()
    yield adapter
    adapter.uninstall()


def _agent(question: str = "where is it?") -> str:
    client = orbit.Client("m-1")
    first = client.ask(question)
    try:
        client.ask("")
    except orbit.OrbitError as error:
        return f"{first.text}; then {error}"
    return f"{first.text}; {client.ask(first.text).text}"


def test_it_records_and_replays(adapter: Adapter) -> None:
    """Answers and exceptions come back as the library's own, and nothing reaches it."""
    run = wb.record(_agent)
    assert run.output == "m-1 heard: where is it?; then nothing was asked"
    assert [turn.text for turn in run.trace.turns] == ["m-1 heard: where is it?", ""]
    orbit.Client.asked.clear()
    again = wb.replay(_agent, run.trace)
    assert (again.status, again.output, orbit.Client.asked) == ("ok", run.output, [])
    drifted = wb.replay(_agent, run.trace, "who is it?")
    assert drifted.status == "drifted"
    assert "who is it?" in str(drifted.drift)


def test_it_edits_forks_and_fails(adapter: Adapter) -> None:
    """An edited reply is the library's own type; a live fork sends an edited request; a fault
    reaches the agent."""
    run = wb.record(_agent)
    edited = wb.fork(_agent, run.trace, edits=run.trace.edit().reply(wb.turn(1), text="in Rome"))
    assert edited.output == "in Rome; then nothing was asked"
    orbit.Client.asked.clear()
    asked = run.trace.edit().request(wb.turn(1), replace={1: "who?"}, scope="once")
    assert str(wb.fork(_agent, run.trace, edits=asked).output).startswith("m-1 heard: who?")
    assert orbit.Client.asked == ["who?"]
    failed = wb.replay(_agent, run.trace, faults=[Timeout().at(wb.turn(1))])
    assert isinstance(failed.error, TimeoutError)


def test_without_a_session_and_taken_out_it_is_as_if_it_were_not_there(adapter: Adapter) -> None:
    """The library works as ever, and its class is what it was."""
    assert orbit.Client("m-2").ask("hello").text == "m-2 heard: hello"
    hooked = vars(orbit.Client)["ask"]
    adapter.uninstall()
    assert vars(orbit.Client)["ask"] is not hooked
    assert list(wb.record(_agent).trace.turns) == []


def _reader(most: int = 9) -> str:
    read = orbit.Client("m-1").stream("where is it?")
    return "".join(piece for piece, _ in zip(read, range(most), strict=False))


def test_streams_are_recorded_edited_and_broken_off(streaming: Adapter) -> None:
    """Each piece is a chunk; a replay gives the same ones, an edit and a fault reach the agent,
    and a reader that stopped early is answered as far as it read."""
    run = wb.record(_reader)
    assert run.output == "m-1 heard: where is it?"
    [turn] = run.trace.turns
    assert (turn.text, len(turn.model.chunks or ())) == ("m-1 heard: where is it?", 5)
    orbit.Client.asked.clear()
    assert wb.replay(_reader, run.trace).output == run.output
    edited = wb.fork(_reader, run.trace, edits=run.trace.edit().reply(wb.turn(1), text="in Rome"))
    assert edited.output == "in Rome"
    cut = wb.replay(_reader, run.trace, faults=[StreamTruncate(after_chunks=2).at(wb.turn(1))])
    assert isinstance(cut.error, ConnectionResetError)
    clean = StreamTruncate(after_chunks=2, end="clean").at(wb.turn(1))
    assert wb.replay(_reader, run.trace, faults=[clean]).output == "m-1 heard:"
    short = wb.record(_reader, 2)
    assert (short.output, short.trace.turns[0].model.ended) == ("m-1 heard:", "stopped")
    orbit.Client.asked.clear()
    assert (wb.replay(_reader, short.trace, 2).output, orbit.Client.asked) == ("m-1 heard:", [])
    assert wb.replay(_reader, short.trace, 9).status == "drifted"


def test_the_page_names_all_that_plugins_has(streaming: Adapter) -> None:
    """Whoever writes an adapter finds each part on the page."""
    page = PAGE.read_text("utf-8")
    assert [name for name in plugins.__all__ if f"`{name}" not in page] == []
