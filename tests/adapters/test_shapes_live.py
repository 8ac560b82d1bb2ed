"""Agents on OpenAI's Responses and Anthropic's messages: by hand, edited, forked, and explained."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from handmade import put
from loopback import Server

import workbench as wb
from workbench.trace.payloads import view

SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}}}
OTHER = {"type": "object", "properties": {"number": {"type": "string"}}}
HAND = """\
_version: 2
ask:
  - tool_calls:
      - {id: c1, name: get_order, arguments: {number: 101}}
      - {id: c2, name: get_order, arguments: {number: 102}}
    usage: {prompt_tokens: 30, completion_tokens: 7}
  - content: Both are on their way, and will be here on Monday at the latest.
"""


def responses(url: str, *, schema: Any = SCHEMA, offered: tuple[str, ...] = ("get_order",)) -> Any:
    """Two turns on the Responses: calls, their results, and a streamed answer."""
    given: Any = [{"type": "function", "name": n, "parameters": schema} for n in offered]
    asked: list[Any] = [{"role": "user", "content": "Where are they?"}]
    with wb.step("ask"), openai.OpenAI(api_key="k", base_url=f"{url}/v1", max_retries=0) as sdk:
        first = sdk.responses.create(model="ok", instructions="Be kind.", input=asked, tools=given)
        calls = [item for item in first.output if item.type == "function_call"]
        asked += [item.model_dump() for item in first.output]
        asked += [
            {"type": "function_call_output", "call_id": each.call_id, "output": f"at sea {n}"}
            for n, each in enumerate(calls)
        ]
        with sdk.responses.stream(model="ok", instructions="Be kind.", input=asked) as stream:
            text = "".join(e.delta for e in stream if e.type == "response.output_text.delta")
            final = stream.get_final_response()
    assert final.output_text == text
    return [[(each.call_id, json.loads(each.arguments)) for each in calls], text]


def messages(url: str, *, schema: Any = SCHEMA, offered: tuple[str, ...] = ("get_order",)) -> Any:
    """The same on Anthropic's messages: the results of both calls in one message."""
    given: Any = [{"name": n, "input_schema": schema} for n in offered]
    asked: list[Any] = [{"role": "user", "content": "Where are they?"}]
    about: Any = {"model": "ok", "max_tokens": 99, "system": "Be kind."}
    with wb.step("ask"), anthropic.Anthropic(api_key="k", base_url=url, max_retries=0) as sdk:
        first = sdk.messages.create(**about, messages=asked, tools=given)
        calls = [block for block in first.content if block.type == "tool_use"]
        asked.append({"role": "assistant", "content": [b.model_dump() for b in first.content]})
        results = [
            {"type": "tool_result", "tool_use_id": each.id, "content": f"at sea {n}"}
            for n, each in enumerate(calls)
        ]
        asked.append({"role": "user", "content": results})
        with sdk.messages.stream(**about, messages=asked) as stream:
            text = "".join(stream.text_stream)
            final = stream.get_final_message()
    assert "".join(b.text for b in final.content if b.type == "text") == text
    return [[(each.id, each.input) for each in calls], text]


AGENTS = {"openai.responses": responses, "anthropic.messages": messages}
Agent = Callable[..., Any]


@pytest.fixture(params=AGENTS)
def api(request: pytest.FixtureRequest) -> str:
    """Each of the two."""
    return str(request.param)


def test_a_trace_written_by_hand_answers_the_sdk(
    api: str, tmp_path: Path, connections: list[object]
) -> None:
    """Calls and a stream in the SDK's own types, out of words that name no provider."""
    run = wb.replay(AGENTS[api], put(tmp_path, HAND, "hand.yaml"), "http://127.0.0.1:9")
    assert (run.status, run.drift) == ("ok", None)
    assert run.output == [
        [("c1", {"number": 101}), ("c2", {"number": 102})],
        "Both are on their way, and will be here on Monday at the latest.",
    ]
    assert connections == []
    assert (run.trace.turn(1).usage or {})["input_tokens"] == 30


def test_a_placeholder_is_a_whole_reply(api: str, tmp_path: Path) -> None:
    """What a lenient replay makes up is read by the SDK, plain and streamed."""
    recording = put(tmp_path, "_version: 2\nelse: [{content: unused}]\n", "hand.yaml")
    run = wb.replay(AGENTS[api], recording, "http://127.0.0.1:9", on_miss="placeholder")
    assert run.output == [[], "Mock response"]


def test_a_changed_tool_list_is_named(api: str, speaker: Server) -> None:
    """A strict replay says which tool came, and what of one is another."""
    recorded = wb.record(AGENTS[api], speaker.url)
    assert recorded.status == "ok"
    more = wb.replay(AGENTS[api], recorded.trace, speaker.url, offered=("get_order", "refund"))
    assert more.status == "drifted"
    assert "refund added" in str(more.drift)
    other = wb.replay(AGENTS[api], recorded.trace, speaker.url, schema=OTHER)
    assert "argument 'number' integer → string" in str(other.drift)


def test_an_edited_request_is_what_the_provider_gets(api: str, speaker: Server) -> None:
    """The system prompt and one result are other ones; the rest is sent as the agent asked it,
    with the reasoning byte for byte."""
    recorded = wb.record(AGENTS[api], speaker.url)
    trace = recorded.trace
    said = trace.turn(2).messages
    number = next(n for n, each in enumerate(said, 1) if each.role == "tool")
    edits = trace.edit().request(wb.turn(2), replace={number: "sunk"}, system="Be brief.")
    before = len(speaker.seen)
    forked = wb.fork(AGENTS[api], trace, speaker.url, edits=edits)
    assert forked.status == "ok"
    (sent,) = [each.body for each in speaker.seen[before:]]
    got = view(api).messages(sent)
    assert [m.text for m in got if m.role == "tool"] == ["sunk"]
    assert (got[0].role, got[0].text) == ("system", "Be brief.")
    kept = [m.raw for n, m in enumerate(said, 1) if n not in (1, number)]
    assert [m.raw for n, m in enumerate(got, 1) if n not in (1, number)] == kept
    assert any(m.signed or m.reasoning for m in got) == any(m.signed for m in said)


def test_an_edited_reply_is_what_the_agent_gets(api: str, speaker: Server) -> None:
    """Other arguments under the recorded id, and the agent goes on with them to the provider."""
    trace = wb.record(AGENTS[api], speaker.url).trace
    (call,) = trace.turn(1).model.tool_calls
    edits = trace.edit().reply(wb.turn(1), tool_calls=[(call.name, {"number": 7})])
    before = len(speaker.seen)
    forked = wb.fork(AGENTS[api], trace, speaker.url, edits=edits, on_miss="live")
    assert forked.status == "ok"
    assert forked.output[0] == [(call.id, {"number": 7})]
    (sent,) = [each.body for each in speaker.seen[before:]]
    asked = [c for m in view(api).messages(sent) for c in m.tool_calls]
    assert [(c.id, c.arguments) for c in asked] == [(call.id, {"number": 7})]
    assert not any(m.signed for m in view(api).messages(sent))


@pytest.mark.parametrize(("one", "other"), [(messages, responses), (responses, messages)])
def test_a_run_on_one_api_is_kept_for_an_agent_on_the_other(
    one: Agent, other: Agent, speaker: Server, tmp_path: Path
) -> None:
    """As a recording that people read it names no provider: both agents get it in their types."""
    trace = wb.record(one, speaker.url).trace
    path = trace.save(tmp_path / "run.yaml", lossy=True)  # it holds no reasoning
    speaker.stop()
    for agent in (one, other):
        run = wb.replay(agent, path, speaker.url)
        assert (run.status, run.drift) == ("ok", None)
        (asked,) = trace.turn(1).model.tool_calls
        assert run.output == [[(asked.id, asked.arguments)], trace.turn(2).text]
