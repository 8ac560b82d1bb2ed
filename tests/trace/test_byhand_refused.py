"""A malformed recording is refused when it loads: where, why, and what would be right."""

import json
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench.errors import (
    TraceExistsError,
    TraceFormatError,
    TraceNotFoundError,
    TraceVersionError,
    UnencodableError,
)
from workbench.trace.byhand.yamltext import MAX_DEPTH


def refusal(tmp_path: Path, content: str | bytes, name: str) -> str:
    """What is said about a file, without the folder."""
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(TraceFormatError) as caught:
        wb.load(path)
    assert caught.value.file == path
    return str(caught.value).replace(f"{tmp_path}/", "")


def _fault(**fields: Any) -> dict[str, Any]:
    return {"draft": [{"content": "x"}, {"fault": fields}]}


FAULTS = "http_error, timeout, connection_reset, connection_refused, stream_truncate, "
FAULTS += "malformed_response, refusal, malformed_tool_call, cut_off, crash"

CASES: list[tuple[Any, str]] = [
    ([1], "x.json:1: a recording is an object with an entry per step, and this is a list"),
    ("text", "x.json:1: a recording is an object with an entry per step, and this is text"),
    (
        {"draft": "hello"},
        "at draft: a step holds an entry (an object) or a list of turns, not text",
    ),
    (
        {"draft": []},
        "at draft: the list is empty; a step needs a turn, or leave the step out",
    ),
    ({"draft": [{}, 7]}, "at draft[1]: a turn is an object, not a number"),
    ({"a b": [None]}, 'at ["a b"][0]: a turn is an object, not nothing (null)'),
    (
        {"draft": {"contents": "x"}},
        "at draft.contents: there is no field 'contents'; did you mean 'content'?",
    ),
    (
        {"draft": {"content": 7}},
        "at draft.content: content is text, not a number; put it in quotes",
    ),
    ({"draft": {"content": ["a"]}}, "at draft.content: content is text, not a list"),
    ({"draft": {"cost_usd": -1}}, "at draft.cost_usd: cost_usd is a number from 0 up, not -1"),
    (
        {"draft": {"latency_ms": True}},
        "at draft.latency_ms: latency_ms is a number from 0 up, not true",
    ),
    (
        {"draft": {"usage": {"prompt_tokens": -1}}},
        "at draft.usage.prompt_tokens: tokens are a whole number from 0 up, not -1",
    ),
    (
        {"draft": {"usage": {"total_tokens": 1.5}}},
        "at draft.usage.total_tokens: tokens are a whole number from 0 up, not 1.5",
    ),
    (
        {"draft": {"usage": 12}},
        'at draft.usage: usage is an object such as {"prompt_tokens": 12}, not a number',
    ),
    ({"draft": {"meta": []}}, "at draft.meta: meta is an object, not a list"),
    (
        {"draft": {"tool_calls": {"name": "look"}}},
        "at draft.tool_calls: tool_calls is a list of calls, not an object",
    ),
    (
        {"draft": {"tool_calls": [{"arguments": {}}]}},
        "at draft.tool_calls[0].name: the tool's name is text, and it has none",
    ),
    (
        {"draft": {"tool_calls": [{"name": "look", "arguments": [1]}]}},
        (
            "at draft.tool_calls[0].arguments: arguments are an object, or text for JSON that is "
            "broken, not a list"
        ),
    ),
    (
        {"draft": {"tool_calls": [{"name": "a", "id": "c"}, {"name": "b", "id": "c"}]}},
        "at draft.tool_calls[1].id: two calls of one turn have the id 'c'",
    ),
    (
        {"draft": {"tool_calls": [{"name": "a", "argument": {}}]}},
        "at draft.tool_calls[0].argument: there is no field 'argument'; did you mean 'arguments'?",
    ),
    (
        {"embed": {"embeddings": [[1, 2], [3]]}},
        "at embed.embeddings[1]: it has 1 numbers, and the first one has 2",
    ),
    ({"embed": {"embeddings": [["a"]]}}, "at embed.embeddings[0]: a vector is a list of numbers"),
    (
        {"draft": {"fault": "timeout"}},
        'at draft.fault: a fault is an object such as {"type": "timeout"}, not text',
    ),
    (
        _fault(type="htp_error"),
        (
            "at draft[1].fault.type: there is no fault \"htp_error\". Did you mean 'http_error'? "
            f"Known are: {FAULTS}"
        ),
    ),
    (
        _fault(type="tool_error"),
        "at draft[1].fault.type: a tool_error fault belongs to a result under _tools",
    ),
    (
        _fault(type="http_error", status_code=200),
        (
            "at draft[1].fault.status_code: the status of an error is a whole number from 400 to "
            "599, not 200"
        ),
    ),
    (_fault(type="http_error"), "at draft[1].fault.status_code: a http_error fault needs status_"),
    (
        _fault(type="stream_truncate"),
        "at draft[1].fault.after_chunks: a stream_truncate fault needs after_chunks",
    ),
    (
        _fault(type="timeout", after_s=1),
        "at draft[1].fault.after_s: a timeout fault has no field 'after_s'; it has layer, after_ms",
    ),
    (
        _fault(type="timeout", times=2),
        "at draft[1].fault.times: a recorded fault hits the call of its own turn, once; leave it",
    ),
    (
        _fault(type="http_error", status_code=429, retry_after_s=-1),
        "at draft[1].fault.retry_after_s: input should be greater than or equal to 0, not -1",
    ),
    (
        {"draft": {"content": "x", "fault": {"type": "timeout"}}},
        (
            "at draft.fault: a timeout fault comes instead of an answer, and this turn has both; "
            "put the answer into the next turn of a list"
        ),
    ),
    ({"_tools": []}, "at _tools: _tools is an object by step, not a list"),
    ({"_tools": {"ask": {}}}, "at _tools.ask: a list of tool results, not an object"),
    ({"_tools": {"ask": [{}]}}, "at _tools.ask[0].name: the tool's name is text, and it has none"),
    (
        {"_tools": {"ask": [{"name": "a", "success": "yes"}]}},
        'at _tools.ask[0].success: true or false, not "yes"',
    ),
    (
        {"_tools": {"ask": [{"name": "a", "fault": {"type": "cut_off"}}]}},
        "at _tools.ask[0].fault.type: a cut_off fault belongs to a model's turn",
    ),
    ({"_inter_agent_events": {}}, "at _inter_agent_events: a list of events in order, not an obj"),
    (
        {"_inter_agent_events": [{"step_id": "a"}]},
        "at _inter_agent_events[0].type: an event's type is text, such as task_sent",
    ),
]


@pytest.mark.parametrize(("content", "text"), CASES, ids=lambda value: str(value)[:60])
def test_what_is_malformed_is_named_with_its_place(tmp_path: Path, content: Any, text: str) -> None:
    """A slip costs a look at one place of one file, and never a wrong replay."""
    said = refusal(tmp_path, json.dumps(content, indent=1), "x.json")
    assert text in said
    assert said.startswith("x.json:")


def test_the_line_of_a_slip_is_said(tmp_path: Path) -> None:
    """JSON and YAML alike: the file and line that an editor jumps to."""
    content = '{\n"a": {"content": "x"},\n"draft": [\n {},\n {"fault":\n   {"type": "nope"}}\n]}'
    assert refusal(tmp_path, content, "x.json").startswith("x.json:6 at draft[1].fault.type: ")
    content = "a: {content: x}\ndraft:\n  - content: y\n  - fault:\n      type: nope\n"
    assert refusal(tmp_path, content, "x.yaml").startswith("x.yaml:5 at draft[1].fault.type: ")


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (1, "x.json:1 at _version: version 1 is not read, since its hashes meant something else"),
        (3, "x.json:1 at _version: version 3 is newer than 2, which this workbench reads. Update"),
        ("2", 'x.json:1 at _version: the version is a whole number, 2, not "2"'),
        (None, "x.json:1 at _version: the version is a whole number, 2, not null"),
        (True, "x.json:1 at _version: the version is a whole number, 2, not true"),
    ],
)
def test_another_version_is_refused(tmp_path: Path, version: Any, text: str) -> None:
    """An older or newer file is never taken for one of version 2; one without a version is."""
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"_version": version, "draft": {"content": "x"}}))
    with pytest.raises(TraceVersionError) as caught:
        wb.load(path)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("content", "name", "text"),
    [
        (b"", "x.json", "x.json: the file is empty; a recording holds an entry per step"),
        (b" \n", "x.yaml", "x.yaml: the file is empty; a recording holds an entry per step"),
        (b"# nothing\n", "x.yaml", "a recording is an object with an entry per step, and this is"),
        (b"just words\n", "x.yaml", "x.yaml:1: a recording is an object with an entry per step"),
        (b"- a\n- b\n", "x.yml", "x.yml:1: a recording is an object with an entry per step"),
        (b'{"a": }', "x.json", "x.json:1: not JSON: Expecting value (column 7)"),
        (b'{\n"a": {"x": 1}\n"b"', "x.json", "x.json:3: not JSON: Expecting ',' delimiter"),
        (b"draft:\n  content: x\n", "x.json", "If it is YAML, let its name end in .yaml"),
        (b'{"a": {"cost_usd": NaN}}', "x.json", "x.json: not JSON: NaN is not a JSON number"),
        (b"a: {cost_usd: .nan}", "x.yaml", "x.yaml:1: .nan is not a JSON number; put it in quotes"),
        (b"a: {cost_usd: 1e999}", "x.yaml", "x.yaml:1: 1e999 is larger than any number that JSON"),
        (b"a: [1\n", "x.yaml", "x.yaml:2: not YAML: expected ',' or ']'"),
        (b"a: {content: x}\n---\nb: 1\n", "x.yaml", "x.yaml:2: the file holds a second document"),
        (b"\xff\xfea\0", "x.yaml", "x.yaml: the file is UTF-16 text; save it as UTF-8"),
        (b'{"a":\n"\xe9"}', "x.json", "x.json:2: the byte 0xe9 is no UTF-8; save the file as UTF-"),
        (b"\x89PNG\0", "x.json", "x.json: this is a binary file, not a recording"),
        (b'{"cells": [], "nbformat": 4}', "x.json", "x.json: this is a Jupyter notebook, not a tr"),
        (b"name: x\nsteps: [{id: a}]\n", "x.yaml", "x.yaml: this is a workflow, not a recording"),
        (b'{\n"a": {},\n"a": {}}', "x.json", "x.json:3 at a: the key 'a' is given twice"),
        (b"a: {}\nb: {}\na: {}\n", "x.yaml", "x.yaml:3: the key 'a' is given twice"),
        (b"a: !!python/object:os.system {}", "x.yaml", "python/object:os.system' is not read"),
        (b"a: !!binary aGk=", "x.yaml", "x.yaml:1: the tag 'tag:yaml.org,2002:binary' is not read"),
        (b"a: *nobody", "x.yaml", "x.yaml:1: nothing before it is called &nobody"),
        (b"a: &a [*a]", "x.yaml", "x.yaml:1: nothing before it is called &a, or it holds itself"),
        (b"a: &a {content: x}\nb: {<<: *a}", "x.yaml", "x.yaml:2: the merge key << is not read"),
        (b"? [a]\n: 1\n", "x.yaml", "x.yaml:1: a list or an object can't be a key; write text"),
        (b"[" * 100_000, "x.json", "x.json: the JSON is nested too deep to be read"),
        (b"a: " + b"[" * (MAX_DEPTH + 1), "x.yaml", "more than 100 lists and objects one in ano"),
        (b'{"a": {"meta": ' + b'{"a":' * 150 + b"1" + b"}" * 152, "x.json", "nested more than 100"),
        (b'{"a": ' + b"9" * 5000 + b"}", "x.json", "x.json: not JSON: Exceeds the limit"),
        (b'a: "\\U99999999"', "x.yaml", "x.yaml: not YAML: "),
    ],
)  # fmt: skip
def test_what_is_no_recording_at_all(tmp_path: Path, content: bytes, name: str, text: str) -> None:
    """Wrong, broken and hostile files: an error of ours that names the file, and nothing else."""
    assert text in refusal(tmp_path, content, name)


def test_a_small_file_cannot_become_a_large_value(tmp_path: Path) -> None:
    """Anchors that refer to anchors are counted for what they stand for, before it is made."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    said = refusal(tmp_path, "\n".join(lines), "bomb.yaml")
    assert "the file stands for more than 200,000 values; write them out" in said
    long = f"a: &a {'x' * 100_000}\nb: [{', '.join(['*a'] * 2000)}]\n"
    assert "stands for more than 200,000 values" in refusal(tmp_path, long, "long.yaml")


def test_a_file_may_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording is held in memory, so its size is bounded; a trace's is not."""
    monkeypatch.setattr("workbench.trace.byhand.opening.MAX_JSON_BYTES", 20)
    said = refusal(tmp_path, json.dumps({"draft": {"content": "x" * 20}}), "x.json")
    assert "and a recording of this kind may have 20; a trace (NAME.trace.jsonl) may be" in said


def test_a_missing_file_names_a_near_one(tmp_path: Path) -> None:
    """A slip in a name is found by the name that is there."""
    (tmp_path / "draft.yaml").write_text("a: {}")
    with pytest.raises(TraceNotFoundError, match=r"Did you mean .*draft\.yaml\?"):
        wb.load(tmp_path / "drafts.yaml")


def test_what_the_short_form_cannot_hold_is_refused(tmp_path: Path) -> None:
    """Nothing is dropped in silence: what would be lost is listed, and nothing is written."""

    def agent() -> str:
        wb.now()
        return "done"

    trace = wb.record(agent).trace
    path = tmp_path / "x.json"
    with pytest.raises(UnencodableError) as caught:
        trace.save(path)
    assert "the short form cannot hold all of this trace:" in str(caught.value)
    assert "entry 1-1: a recorded clock has no place in a recording" in str(caught.value)
    assert "pass lossy=True" in str(caught.value)
    assert not path.exists()
    assert json.loads(trace.save(path, lossy=True).read_text("utf-8")) == {"_version": 2}
    with pytest.raises(TraceExistsError):
        trace.save(path, lossy=True)
    trace.save(path, lossy=True, replace=True)


def test_a_file_that_is_no_recording_is_never_written_over(tmp_path: Path) -> None:
    """Somebody's other JSON is not lost because a trace was to be saved under its name."""
    path = tmp_path / "package.json"
    path.write_text('{"name": "mine"}')
    with pytest.raises(TraceExistsError, match="is no trace that can be read"):
        wb.record(lambda: 1).trace.save(path, replace=True)
    assert path.read_text() == '{"name": "mine"}'
