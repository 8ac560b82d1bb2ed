"""The page on adapters: its example records, replays, edits and fails as it says."""

import re
from collections.abc import Iterator
from pathlib import Path

import orbit
import pytest

import workbench as wb
from workbench.faults import Timeout
from workbench.plugins import Adapter

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "adapters.md"


@pytest.fixture
def adapter() -> Iterator[Adapter]:
    """The page's adapter, made by its own lines and installed."""
    [source] = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)
    assert len([line for line in source.splitlines() if line.strip()]) <= 30
    names: dict[str, object] = {}
    exec(compile(source, PAGE.name, "exec"), names)  # noqa: S102 - our own page
    found = names["adapter"]
    assert isinstance(found, Adapter)
    orbit.Client.asked.clear()
    found.install()
    yield found
    found.uninstall()


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
