"""`workbench show` on every kind of trace and entry: it reads well, and loses nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
import scripted
from shopcli import here

import workbench as wb
from workbench.faults import HttpError
from workbench.trace.edits import EDIT


@wb.tool(effect="write")
def pay(order: int, to: str = "ada") -> str:
    """Pay."""
    return f"paid {order} to {to}"


def _agent() -> str:
    wb.now()
    wb.write_event("began", {"n": 1})
    with wb.step("one"):
        said = str(scripted.ask([{"role": "system", "content": "S"},
                                 {"role": "user", "content": "hello"}])["content"])  # fmt: skip
        pay(order=7)
        wb.new_id()
        wb.write_event("paid", said)
    scripted.ask("bye", stream=False)
    return said


@pytest.fixture(autouse=True)
def _usual_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another test's model says is not said here."""
    monkeypatch.setattr(scripted.world, "answer", scripted.World().answer)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run with events, readings, a model and a tool."""
    found = tmp_path / "a.trace.jsonl"
    assert wb.record(_agent, to=found).status == "ok"
    return found


def test_events_and_readings_are_seen(path: Path) -> None:
    """They are counted and listed beside the turns, and stand in the turn that they belong to."""
    out = here("show", str(path)).out
    assert "2 turns · 1 tool call · 2 events · 2 readings · " in out
    assert out.endswith('  1-2  event began {"n": 1}\n  1-6  event paid "re: hello"\n')
    lines = here("show", str(path), "--turn", "1").out.splitlines()
    at = lines.index('tool pay(order=7, to="ada") → "paid 7 to ada"')
    assert lines[at + 1].startswith("read now → ")
    assert lines[at + 2] == 'event began {"n": 1}'
    assert lines[at + 3].startswith("read id → ")
    assert lines[at + 4 :] == ['event paid "re: hello"']
    assert "event" not in here("show", str(path), "--turn", "2").out
    found = here("show", str(path), "--json").json
    assert found["counts"] == {"model": 2, "tool": 1, "event": 2, "clock": 1, "value": 1}
    assert found["header"]["format"] == "workbench-trace"
    beside = here("show", str(path), "--turn", "1", "--json").json["turn"]["beside"]
    assert [each["kind"] for each in beside] == ["clock", "event", "value", "event"]


def _lost(path: Path) -> set[str]:
    """What the lines of a trace's entries hold and ``--raw`` does not give, by field."""
    shown = {
        one["id"]: one
        for one in map(json.loads, here("show", str(path), "--raw").out.split("\n")[:-1])
    }
    other = {"in": "enclosing", "model": "reply_model", "source": "source"}
    beside = {"line", "id", "of", "base", "at"}
    out = set()
    for line in map(json.loads, path.read_bytes().splitlines()):
        one = shown.get(line.get("id") or line.get("of"))
        if one is None or line["line"] in ("blob", "trace", "writer"):
            continue
        for name, value in line.items():
            if name in beside or value in (None, "", False):
                continue
            keys = {name, other.get(name, name)}
            if line["line"] == "chunk":
                keys = {"chunks" if name == "data" else "chunk_offsets_s"}
            if not keys & one.keys():
                out.add(f"{line['line']}.{name}")
    return out


def test_raw_loses_nothing(path: Path, tmp_path: Path) -> None:
    """Each field that a line has is in what --raw says of the entry: of recordings, forks, faults,
    streams, and recordings without prompts."""
    made = [path]
    trace = wb.load(path)
    edits = trace.edit().reply(wb.turn(1), text="Hm.")
    fork = tmp_path / "f.trace.jsonl"
    wb.fork(_agent, path, edits=edits, tools_after="allow", to=fork)
    faulty = tmp_path / "x.trace.jsonl"
    wb.replay(_agent, path, faults=[HttpError(503).at(wb.turn(2))], to=faulty)

    def streams() -> str:
        return "".join(map(str, scripted.ask("hello", stream=True)))

    stream = tmp_path / "s.trace.jsonl"
    wb.record(streams, to=stream)
    hashed = tmp_path / "h.trace.jsonl"
    wb.record(_agent, to=hashed, requests="hash")
    made += [fork, faulty, stream, hashed]
    assert {each.name: _lost(each) for each in made} == {each.name: set() for each in made}


def test_what_is_false_or_nothing_is_kept(tmp_path: Path) -> None:
    """A tool that failed by hand, a call that cost nothing: false and zero are no absence."""
    path = tmp_path / "d.json"
    looked = {"name": "look", "arguments": {"at": 1}, "result": "gone", "success": False}
    said = {"draft": [{"content": "x", "cost_usd": 0.0}], "_tools": {"draft": [looked]}}
    path.write_text(json.dumps(said))
    lines = [json.loads(line) for line in here("show", str(path), "--raw").out.splitlines()]
    assert [each.get("success") for each in lines if each["kind"] == "tool"] == [False]
    assert lines[0]["cost_usd"] == 0
    assert "said to have failed]" in here("show", str(path), "--turn", "1").out


def test_an_edited_request_shows_what_was_sent(path: Path, tmp_path: Path) -> None:
    """What the agent asked and what went out in its place are both there, the second as the
    difference."""
    edit: dict[str, Any] = {"type": "request", "at": {"kind": "turn", "value": 1},
                            "system": "Be brief.", "set": {"temperature": 0}}  # fmt: skip
    arguments = {"type": "tool_arguments", "at": {"kind": "entry", "value": "1-4"},
                 "arguments": {"order": 8, "to": "bob"}}  # fmt: skip
    edits = [EDIT.validate_python(edit), EDIT.validate_python(arguments)]
    fork = tmp_path / "f.trace.jsonl"
    result = wb.fork(_agent, path, edits=edits, tools_after="allow", to=fork)
    assert result.status == "ok", result.error
    out = here("show", str(fork), "--turn", "1").out
    assert "system: S\n" in out
    assert "an edit sent this instead:\n  temperature: 0\n  message 1, system: Be brief.\n" in out
    assert 'tool pay(order=8, to="bob"; asked for: order=7, to="ada") → "paid 8 to bob"' in out
    shown = here("show", str(fork)).out
    assert "  a fork of a, 2 edits\n    the request of turn 1\n" in shown
    assert "    the arguments of the tool at entry 1-4\n" in shown
    entry = here("show", str(fork), "--entry", "1-3", "--json").json["entry"]
    assert entry["sent"]["body"]["temperature"] == 0


def test_a_question_to_a_human(tmp_path: Path) -> None:
    """The question, its choices and the answer stand in one line."""
    path = tmp_path / "q.trace.jsonl"
    lines = [
        {"line": "trace", "format": "workbench-trace", "version": 1, "id": "tr-1", "name": "q"},
        {"line": "input", "id": "1-1", "prompt": "Pay?", "choices": ["yes", "no"], "value": "no"},
        {"line": "input", "id": "1-2", "prompt": "Sure?",
         "error": {"type": "EOFError", "message": "gone"}},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    out = here("show", str(path)).out
    assert "2 questions" in out
    assert '  1-1  asked a human "Pay?" of ["yes", "no"] → "no"\n' in out
    assert '  1-2  asked a human "Sure?" → failed: EOFError: gone\n' in out
    assert here("show", str(path), "--entry", "1-1", "--json").json["entry"]["choices"] == [
        "yes",
        "no",
    ]


def test_a_trace_without_prompts(tmp_path: Path) -> None:
    """It says that they were not recorded, at a glance, in a turn and in an entry."""
    path = tmp_path / "h.trace.jsonl"
    wb.record(_agent, to=path, requests="hash")
    out = here("show", str(path)).out
    assert "  prompts and arguments were not recorded, only their hashes\n\n" in out
    lines = here("show", str(path), "--turn", "1").out.splitlines()
    assert "the prompt was not recorded, only its hash" in lines
    assert 'tool pay(arguments not recorded) → "paid 7 to ada"' in lines
    entry = here("show", str(path), "--entry", "1-3", "--json").json["entry"]
    assert entry["hash_only"] is True
    assert "request" not in entry


def test_a_part_of_a_trace(path: Path, tmp_path: Path) -> None:
    """A trace that was cut down says of what, and how much is missing."""
    part = tmp_path / "p.trace.jsonl"
    wb.load(path).trim(last=wb.turn(1)).save(part)
    assert "  a part of a: " in here("show", str(part)).out
    assert "of its entries left out\n" in here("show", str(part)).out
