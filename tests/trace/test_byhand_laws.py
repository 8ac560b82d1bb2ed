"""What holds for every recording written by hand, and for every file that is none."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from recordings import ANY_JSON, RECORDINGS

from workbench import Trace
from workbench.errors import WorkbenchError
from workbench.trace.byhand import read_recording, recording_of
from workbench.trace.byhand.opening import parse
from workbench.trace.byhand.saving import as_json, as_yaml

_YAML = st.text(st.sampled_from("ab:-?&*!|>{}[],'\"\n #<~10.%@`\\uU\t"), max_size=60)


def _loaded(data: bytes, name: str = "x.json") -> Trace:
    return Trace.from_bytes(read_recording(Path(name), data))


@settings(max_examples=80, deadline=None)
@given(RECORDINGS)
def test_a_recording_comes_back_as_it_was_written(recording: dict[str, Any]) -> None:
    """Whoever loads and saves a recording finds the same data in it, in JSON and in YAML."""
    for name, text in (("x.json", as_json(recording)), ("x.yaml", as_yaml(recording))):
        again, lost = recording_of(_loaded(text.encode(), name))
        assert lost == []
        assert again == recording


@settings(max_examples=80, deadline=None)
@given(RECORDINGS)
def test_all_of_a_recording_can_be_read(recording: dict[str, Any]) -> None:
    """A recording is a trace like any other: its lines are valid, and nothing in it raises."""
    trace = _loaded(as_json(recording).encode())
    assert trace.verify() == ()
    turns = [each for key, step in recording.items() if key[:1] != "_" for each in _turns(step)]
    assert len(trace.models()) == len(turns)
    for entry, turn in zip(trace.models(), turns, strict=True):
        assert entry.source == "hand"
        assert (entry.fault or None) == turn.get("fault")
        assert entry.api == "workbench.embeddings" or entry.text == turn.get("content", "")
    assert all(row["number"] for row in trace.rows())
    assert trace.diff(trace).same


def _turns(step: Any) -> list[Any]:
    return step if isinstance(step, list) else [step]


@settings(max_examples=200, deadline=None)
@given(ANY_JSON)
def test_any_json_loads_or_is_refused(value: Any) -> None:
    """No file makes another library's exception out of a wrong recording."""
    try:
        trace = _loaded(json.dumps(value).encode())
    except WorkbenchError as error:
        assert str(error).startswith("x.json")
        return
    again, lost = recording_of(trace)
    assert lost == []
    assert recording_of(_loaded(json.dumps(again).encode()))[0] == again


@settings(max_examples=200, deadline=None)
@given(_YAML)
def test_any_yaml_loads_or_is_refused(text: str) -> None:
    """The same for text that is nearly YAML, whatever PyYAML makes of it."""
    try:
        _loaded(text.encode(), "x.yaml")
    except WorkbenchError as error:
        assert str(error).startswith("x.yaml")


@settings(max_examples=80, deadline=None)
@given(ANY_JSON)
def test_yaml_holds_any_json(value: Any) -> None:
    """What is written as YAML is read as the same value, odd line breaks and words included."""
    text = as_yaml({"_": value})
    assert parse(Path("x.yaml"), text.encode()).data == {"_": value}


def test_recordings_of_agentloom_come_back(tmp_path: Path, shared_data: Path) -> None:
    """AgentLoom's own recordings open here, and are the same data when they are saved."""
    found = sorted((shared_data / "agentloom" / "recordings").glob("*.json"))
    assert len(found) == 5
    for path in found:
        trace = _loaded(path.read_bytes(), path.name)
        for ending in ("json", "yaml"):
            saved = trace.save(tmp_path / f"{path.stem}.{ending}")
            data = parse(saved, saved.read_bytes()).data
            assert data == {"_version": 2, **json.loads(path.read_text("utf-8"))}
            assert recording_of(_loaded(saved.read_bytes(), saved.name))[0] == data
