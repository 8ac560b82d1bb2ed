"""Traces that hold hashes in place of prompts: no prompt in the file, and all else works."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import scripted
from journals import HEADER, ask, request, response, use, user
from runmaker import Ran, RunMaker
from scripted import ask as ask_model
from typer.testing import CliRunner

import workbench as wb
from workbench.analysis import calls, turns
from workbench.cli.app import app
from workbench.errors import UnavailableError
from workbench.trace.canonical import request_hash
from workbench.trace.entries import CallLine, InputLine, ResultLine, TraceLine
from workbench.trace.journal import Journal
from workbench.trace.trace import Trace, load
from workbench.ui.clips import Clipper
from workbench.ui.static_view import to_html
from workbench.ui.turn_view import turn_view

PROMPT = "the customer's own words"
ARGUMENT = "an argument that nobody may keep"


def _run(path: Path | None = None, **header: Any) -> Trace:
    maker = RunMaker("private", path=path, **header).say("user", PROMPT)
    maker.turn("", Ran("get_order", {"note": ARGUMENT}, {"state": "broken"}))
    return maker.turn("It is broken.").end(output="It is broken.")


def _call_lines(data: bytes) -> list[bytes]:
    return [line for line in data.splitlines() if line.startswith(b'{"line":"call"')]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a run recorded with ``requests="hash"``."""
    path = tmp_path / "private.trace.jsonl"
    _run(path, requests="hash")
    return path


def test_no_prompt_and_no_argument_is_in_the_file(path: Path) -> None:
    """What was asked is not there in any form; what came back is, and hashes are those of a full
    recording."""
    data = path.read_bytes()
    assert PROMPT.encode() not in data
    assert not any(ARGUMENT.encode() in line for line in _call_lines(data))
    assert data.count(ARGUMENT.encode()) == 1  # in the model's own reply, which asks for it
    trace, full = load(path), _run()
    assert trace.header.requests == "hash"
    assert [each.hash for each in trace.entries] == [each.hash for each in full.entries]
    assert trace.tools()[0].result == {"state": "broken"}
    assert trace.turn(2).text == "It is broken."
    assert trace.verify() == ()
    assert trace.gaps == ("prompts and arguments were not recorded, only their hashes",)


@pytest.mark.parametrize("name", ["request", "body", "messages", "own_messages", "arguments"])
def test_reading_what_was_not_recorded_says_so(path: Path, name: str) -> None:
    """A prompt that is not there is an error that names the option, and no empty prompt."""
    entry = load(path).entries[1 if name == "arguments" else 0]
    text = f'{path}: the request of {entry.id} was not recorded, only its hash (requests="hash")'
    with pytest.raises(UnavailableError, match=re.escape(text)):
        getattr(entry, name)


def test_what_edits_sent_and_humans_were_asked_is_left_out_too() -> None:
    """Each field that says what was asked becomes a hash; answers stay."""
    header = TraceLine(id="h", requests="hash")
    journal = Journal.in_memory(header, strict=True)
    asked = request(user(PROMPT))
    journal.call(
        CallLine(
            id="1-1", kind="model", api="openai.chat", sent=asked, base=("1-0", 2), request=asked
        )
    )
    journal.append(ResultLine(of="1-1", response={"status": 200}))
    journal.append(InputLine(id="1-2", prompt=PROMPT, choices=["a", "b"], value="yes"))
    trace = journal.trace()
    assert PROMPT not in trace._read_all().decode()
    model, human = trace.entries
    assert model.hash == request_hash("model", "openai.chat", asked)
    assert (model.sent, model.response) == (None, {"status": 200})
    assert human.hash == request_hash("input", None, {"prompt": PROMPT, "choices": ["a", "b"]})
    assert (human.prompt, human.value) == (None, "yes")
    with pytest.raises(UnavailableError, match="the request of 1-2 was not recorded"):
        human.request  # noqa: B018 - it is read


def test_who_joins_the_trace_keeps_to_it(path: Path) -> None:
    """A second process that writes the same trace leaves prompts out as well."""
    journal = Journal.join(path)
    ask(journal, request(user(PROMPT)), response("late"))
    use(journal, "f", {"x": ARGUMENT}, 1)
    journal.close()
    assert PROMPT.encode() not in path.read_bytes()
    assert not any(ARGUMENT.encode() in line for line in _call_lines(path.read_bytes()))
    assert load(path).verify() == ()


def test_differences_are_told_by_hashes(path: Path) -> None:
    """Equal requests are equal, and other ones are reported, though their words are unknown."""
    trace = load(path)
    assert trace.diff(_run()).same
    other = RunMaker("other").say("user", "another question").turn("It is broken.").end()
    text = str(trace.diff(other))
    assert "request: another one (its words were not recorded)" in text
    assert "damaged" not in text


def test_lists_and_findings_and_frames_do_without_prompts(path: Path) -> None:
    """Nothing that looks at a whole trace stumbles over a prompt that is not there."""
    trace = load(path)
    assert [row["label"] for row in trace.rows()] == ["get_order", "It is broken."]
    assert trace.rows()[0]["summary"] == "→ broken"
    assert list(trace.findings) == []
    assert list(turns(trace)["turn"]) == [1, 2]
    assert list(calls(trace)["tool"].dropna()) == ["get_order"]
    assert "prompts and arguments were not recorded" in str(trace._repr_mimebundle_())


def test_the_page_shows_what_came_back(path: Path) -> None:
    """The notebook's views show reply, calls and results, and say once what is missing."""
    trace = load(path)
    view = turn_view(trace, trace.turn(1), Clipper("x"), again=set())
    assert view["said"]["calls"][0]["name"] == "get_order"
    assert "broken" in view["said"]["calls"][0]["result"]["text"]
    assert len(view["findings"]) == 1
    assert "the request of 1-1 was not recorded, only its hash" in view["findings"][0]
    html = to_html(trace)
    assert "the prompt was not recorded, only its hash" in html
    assert "get_order" in html


def test_the_command_line_shows_it(path: Path) -> None:
    """`workbench show` says that there is no prompt, and ends well."""
    runner = CliRunner()
    shown = runner.invoke(app, ["show", str(path)])
    assert shown.exit_code == 0
    assert "prompts and arguments were not recorded, only their hashes" in shown.output
    turn = runner.invoke(app, ["show", str(path), "--turn", "1"])
    assert "the prompt was not recorded, only its hash" in turn.output
    assert "get_order(arguments not recorded)" in turn.output
    data = json.loads(runner.invoke(app, ["show", str(path), "--turn", "1", "--json"]).output)
    assert "request" not in data["turn"]["entries"][0]


def test_an_edit_of_a_reply_can_be_previewed(path: Path) -> None:
    """Edits of what came back need no prompt."""
    trace = load(path)
    edits = trace.edit().reply(wb.turn(2), text="It is whole.")
    assert "It is whole." in str(edits.preview())


def test_a_replay_finds_calls_by_their_hashes() -> None:
    """The agent asks as before and is served; it asks something else, and that is drift."""

    def agent(question: str) -> str:
        return str(ask_model([{"role": "user", "content": question}])["content"])

    full = wb.record(agent, PROMPT).trace
    header = TraceLine(id="h", requests="hash", hash=full.header.hash)
    journal = Journal.in_memory(header, strict=True)
    entry = full.entries[0]
    head: dict[str, Any] = {"id": "1-1", "kind": "model", "api": entry.api, "hash": entry.hash}
    journal.call(CallLine(**head, request=entry.request))
    journal.append(ResultLine(of="1-1", response=entry.response))
    trace = journal.trace()
    scripted.world.ran.clear()
    again = wb.replay(agent, trace, PROMPT)
    assert (again.status, again.output) == ("ok", f"re: {PROMPT}")
    assert again.trace.header.requests == "hash"
    assert PROMPT not in again.trace._read_all().decode().replace(f"re: {PROMPT}", "")
    forked = wb.fork(agent, trace, PROMPT, live_from=wb.turn(1))
    assert forked.trace.gaps == trace.gaps
    scripted.world.ran.clear()
    other = wb.replay(agent, trace, "something else")
    assert other.status == "drifted"
    assert "recorded  only its hash, not its words" in str(other.drift)
    assert "something else" in str(other.drift)
    assert scripted.world.ran == []


def test_a_part_of_it_is_one_too(path: Path) -> None:
    """Cutting it down loses nothing more, and brings no prompt back."""
    part = load(path).trim(wb.turn(1), wb.turn(1))
    assert part.header.requests == "hash"
    assert part.gaps == (
        "1 entry was left out of private (kept: turn:1 to turn:1)",
        "prompts and arguments were not recorded, only their hashes",
    )
    assert [entry.hash for entry in part.entries] == [e.hash for e in load(path).entries[:2]]
    assert part.verify() == ()


def test_a_full_recording_is_as_it_was(tmp_path: Path) -> None:
    """Without the option nothing changes, down to the header's bytes."""
    path = tmp_path / "a.trace.jsonl"
    Journal.create(path, HEADER).close()
    assert b"requests" not in path.read_bytes()
    assert load(path).header.requests == "full"
