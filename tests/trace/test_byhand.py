"""Recordings written by hand, opened as traces."""

import hashlib
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from workbench import Trace
from workbench.trace.byhand import agentloom_hash, matches

FAULTY = """\
_version: 2
draft:
  - fault: {type: http_error, status_code: 429, retry_after_s: 30}
  - fault: {type: http_error, status_code: 503, body: upstream overloaded}
  - content: Release 1.4 ships Thursday.
"""


def recorded(tmp_path: Path, content: Any, name: str = "run.json") -> Trace:
    """A recording in a file, opened; plain data are written as JSON."""
    path = tmp_path / name
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return wb.load(path)


def test_faults_and_an_answer_are_three_tries_of_one_turn(tmp_path: Path) -> None:
    """The fault recording of a page reads as what it means: two failures, then the text."""
    trace = recorded(tmp_path, FAULTY, "flaky-draft.yaml")
    first, second, third = trace.entries
    assert [each.step for each in trace.entries] == ["draft"] * 3
    assert [each.attempt for each in trace.entries] == [1, 2, 3]
    assert {each.source for each in trace.entries} == {"hand"}
    assert {each.hash for each in trace.entries} == {None}
    assert first.error is not None
    assert (first.error.status, first.error.headers) == (429, {"retry-after": "30"})
    assert second.error is not None
    assert (second.error.status, second.error.body) == (503, "upstream overloaded")
    assert third.text == "Release 1.4 ships Thursday."
    assert len(trace.turns) == 1
    assert trace.turn(1).attempts == [first, second, third]
    assert trace.name == "flaky-draft"
    assert trace.status == "by hand"
    assert not {"cut_short", "status"} & {each.kind for each in trace.findings}


def test_an_entry_keeps_what_it_says(tmp_path: Path) -> None:
    """Answer, provider, tokens, cost and time are read from where people look for them."""
    turn = {
        "content": "Revenue grew 12%.",
        "model": "gpt-4o-mini",
        "provider": "openai",
        "usage": {"prompt_tokens": 412, "completion_tokens": 18, "total_tokens": 430},
        "cost_usd": 0.0000726,
        "latency_ms": 812.4,
        "finish_reason": "stop",
        "meta": {"seed": 7},
    }
    trace = recorded(tmp_path, {"summarize": turn})
    (entry,) = trace.entries
    assert entry.repeat
    assert (entry.text, entry.provider, entry.reply_model) == (
        "Revenue grew 12%.",
        "openai",
        "gpt-4o-mini",
    )
    assert entry.usage == {"input_tokens": 412, "output_tokens": 18}
    assert entry.duration_s == 0.8124
    assert trace.cost == Decimal("0.0000726")
    assert entry.reply is not None
    assert entry.reply.finish_reason == "stop"
    assert entry.reply_body["meta"] == {"seed": 7}


def test_a_list_is_no_single_entry(tmp_path: Path) -> None:
    """One entry answers every call of its step; a list answers once for each of its turns."""
    trace = recorded(tmp_path, {"always": {"content": "yes"}, "once": [{"content": "yes"}]})
    assert [each.repeat for each in trace.entries] == [True, False]


@pytest.mark.parametrize(
    "step", ["outer/inner/leaf", "chat::summarize", "plan::search#2", "a b", "ümlaut"]
)
def test_a_step_is_what_its_key_says(tmp_path: Path, step: str) -> None:
    """Paths, summaries and calls of an agent used as a tool keep the keys that they have."""
    trace = recorded(tmp_path, {step: {"content": "x"}})
    assert [each.step for each in trace.entries] == [step]


def test_a_key_that_is_a_hash_is_no_step(tmp_path: Path) -> None:
    """A call made without a step is recorded under the hash of its request, and found by it."""
    asked = {"model": "m-1", "messages": [{"role": "user", "content": "hi"}]}
    key = agentloom_hash(asked)
    trace = recorded(tmp_path, {key: {"content": "hello"}})
    (entry,) = trace.entries
    assert entry.step == ""
    assert matches(entry, {"body": asked}) is True
    assert matches(entry, {"body": {**asked, "model": "m-2"}}) is False
    assert list(json.loads(trace.save(tmp_path / "again.json").read_text("utf-8"))) == [
        "_version",
        key,
    ]


def test_tool_results_stand_behind_the_turn_that_asked_for_them(tmp_path: Path) -> None:
    """A recorded tool result belongs to the turn whose tool call it answers, in order."""
    look = {"id": "c1", "name": "look", "arguments": {"at": 1}}
    again = {"id": "c2", "name": "look", "arguments": {"at": 2}}
    trace = recorded(
        tmp_path,
        {
            "ask": [{"tool_calls": [look, again]}, {"content": "done"}],
            "_tools": {
                "ask": [
                    {"name": "look", "arguments": {"at": 1}, "result": "a", "success": True},
                    {"name": "look", "arguments": {"at": 2}, "result": "no such place",
                     "success": False},
                    {"name": "other", "result": {"n": 1}},
                ]
            },
        },
    )  # fmt: skip
    kinds = [(each.kind, each.name or each.text) for each in trace.entries]
    assert kinds == [
        ("model", ""), ("tool", "look"), ("tool", "look"), ("model", "done"), ("tool", "other"),
    ]  # fmt: skip
    first, second, other = trace.tools()
    assert (first.arguments, first.result, first.success) == ({"at": 1}, "a", True)
    assert (second.result, second.success, second.error) == ("no such place", False, None)
    assert (other.arguments, other.result) == (None, {"n": 1})
    assert [each.asked_by for each in trace.tools()] == ["1-1", "1-1", None]
    assert trace.turn(1).tools == [first, second]


def test_the_event_log_becomes_events(tmp_path: Path) -> None:
    """Events are read by type and step, with all that they carry."""
    event = {"type": "tool_call", "step_id": "ask", "event_id": "e1", "parent_event_ids": ["e0"]}
    trace = recorded(tmp_path, {"_inter_agent_events": [event]})
    (entry,) = trace.events("tool_call")
    assert (entry.step, entry.source) == ("ask", "hand")
    assert entry.data == {"event_id": "e1", "parent_event_ids": ["e0"]}


def test_vectors_are_kept_for_an_embedding_call(tmp_path: Path) -> None:
    """An entry of an embedding step has the shape that such a call is answered with."""
    trace = recorded(tmp_path, {"embed": {"embeddings": [[0.5, 1], [0, -1]]}})
    (entry,) = trace.entries
    assert entry.api == "workbench.embeddings"
    assert entry.reply_body == {"embeddings": [[0.5, 1], [0, -1]]}


def test_a_cut_stream_holds_the_words_before_the_cut(tmp_path: Path) -> None:
    """``after_chunks`` counts words, and the rest of the text is not lost from the recording."""
    turn = {
        "content": "one  two three four",
        "fault": {"type": "stream_truncate", "after_chunks": 2},
    }
    trace = recorded(tmp_path, {"draft": [turn]})
    (entry,) = trace.entries
    assert [each.data for each in entry.chunks] == [{"text": "one  "}, {"text": "two "}]
    assert entry.ended == "cut"
    assert entry.error is not None
    assert entry.error.type == "connection_reset"
    assert json.loads(trace.save(tmp_path / "x.json").read_text("utf-8"))["draft"] == [turn]


def test_yaml_reads_words_as_words(tmp_path: Path) -> None:
    """What looks like text to a person is text: no, a time, a date, a version, a word in quotes."""
    trace = recorded(
        tmp_path,
        "a: {content: no}\nb: {content: 12:30}\nc: {content: 2025-01-01}\n"
        "d: {content: 1.4.0}\ne: {content: '7'}\nf: {content: !!str 7}\n"
        "'on': {content: x, cost_usd: 7e-05}\n",
        "x.yml",
    )
    assert [each.text for each in trace.entries] == [
        "no", "12:30", "2025-01-01", "1.4.0", "7", "7", "x",
    ]  # fmt: skip
    assert trace.entries[6].step == "on"
    assert trace.entries[6].cost_usd == 7e-05


def test_an_anchor_may_be_used_again(tmp_path: Path) -> None:
    """Who writes a fault once and refers to it gets it in each place."""
    trace = recorded(
        tmp_path,
        "draft:\n- fault: &f {type: timeout}\n- fault: *f\n- content: ok\n",
        "x.yaml",
    )
    assert [each.fault for each in trace.entries] == [
        {"type": "timeout"},
        {"type": "timeout"},
        None,
    ]


def test_the_same_recording_is_the_same_trace(tmp_path: Path) -> None:
    """Its id follows from what it holds: in JSON or YAML, however it is laid out."""
    one = recorded(tmp_path, FAULTY, "a.yaml")
    two = wb.load(one.save(tmp_path / "b.json"))
    three = recorded(tmp_path, FAULTY.replace("Thursday", "Friday"), "c.yaml")
    assert one.id == two.id
    assert one.id != three.id
    assert one.diff(two).same


def test_a_json_file_may_still_be_a_trace(tmp_path: Path) -> None:
    """A trace that somebody called ``.json`` opens as the trace that it is."""
    made = wb.record(lambda: 1).trace
    lines = made.save(tmp_path / "run.trace.jsonl")
    path = lines.rename(tmp_path / "run.json")
    assert wb.load(path).id == made.id


def test_the_header_alone_can_be_read(tmp_path: Path) -> None:
    """Whoever lists files reads their first lines, those of recordings too."""
    from workbench.trace.trace import read_header

    recorded(tmp_path, FAULTY, "x.yaml")
    header = read_header(tmp_path / "x.yaml")
    assert (header.name, header.hand) == ("x", {"version": 2})


@pytest.mark.parametrize(
    ("asked", "same"),
    [
        ({"stream": True, "stream_options": {"include_usage": True}}, True),
        ({"temperature": None}, True),
        ({"temperature": 0.5}, False),
        ({"model": "m-2"}, False),
        ({"messages": [{"role": "user", "content": "hi!"}]}, False),
        ({"tools": [{"name": "t", "description": "", "parameters": {}}]}, False),
        ({"response_schema": {"type": "object"}}, False),
        ({"seed": 1}, False),
    ],
)
def test_agentlooms_hash_counts_what_was_asked(asked: dict[str, Any], same: bool) -> None:
    """Any change of a request changes its hash; only the way in which it travels does not."""
    base = {"model": "m-1", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}
    assert (agentloom_hash({**base, **asked}) == agentloom_hash(base)) is same


def test_agentlooms_hash_is_its_own() -> None:
    """The hash of a known request, made by another program from the description of the scheme."""
    asked = {"model": "m-1", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 9}
    text = (
        '{"extra": {}, "max_tokens": 9, "messages": [{"content": "hi", "role": "user"}], '
        '"model": "m-1", "temperature": null}'
    )
    assert agentloom_hash(asked) == hashlib.sha256(text.encode()).hexdigest()


def test_a_tool_is_the_same_in_both_shapes() -> None:
    """A request through an SDK has the hash that the same neutral request has."""
    spec = {"name": "look", "description": "d", "parameters": {"type": "object"}}
    neutral = {
        "model": "m",
        "messages": [
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c1", "name": "look", "arguments": {"at": 1}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "a"},
        ],
        "tools": [spec],
    }  # fmt: skip
    function = {"name": "look", "arguments": '{"at": 1}'}
    chat = {
        "model": "m",
        "messages": [
            {"role": "assistant", "content": "", "tool_calls": [
                {"id": "c1", "type": "function", "function": function}]},
            {"role": "tool", "tool_call_id": "c1", "content": "a"},
        ],
        "tools": [{"type": "function", "function": spec}],
    }  # fmt: skip
    assert agentloom_hash(neutral) == agentloom_hash(chat, api="openai.chat")


@pytest.mark.parametrize("recorded_hash", [None, "6054bd…", "A" * 64])
def test_what_is_no_hash_is_not_compared(tmp_path: Path, recorded_hash: str | None) -> None:
    """An entry without a whole hash answers by its step and order alone."""
    trace = recorded(tmp_path, {"draft": {"content": "x", "request_hash": recorded_hash}})
    assert matches(trace.entries[0], {"body": {"messages": []}}, step="draft") is None


def test_a_key_of_agentloom_04_fits_the_messages_alone(tmp_path: Path) -> None:
    """Recordings of 0.4 stand under a hash of the messages; this one was made by AgentLoom 0.4."""
    key = "1b874f54a3fa1ea883fccc6057818cf9cefcc11d28e09e2f4c98d76a696e9672"
    (entry,) = recorded(tmp_path, {key: {"content": "hello"}}).entries
    messages = [
        {"role": "system", "content": "Be brief — é."},
        {"role": "user", "content": "hi"},
    ]
    assert matches(entry, {"body": {"model": "any", "messages": messages}}) is True
    assert matches(entry, {"body": {"model": "any", "messages": messages[1:]}}) is False
    assert matches(entry, {"body": {"messages": messages}}, api="other.api") is False


@pytest.mark.parametrize("messages", [None, "hi", 7, {"role": "user"}, [None, "x", {}]])
def test_odd_requests_have_a_hash_too(messages: Any) -> None:
    """What an agent asks is compared, however odd, and never raises."""
    assert agentloom_hash({"messages": messages}) != agentloom_hash({"messages": ["other"]})
