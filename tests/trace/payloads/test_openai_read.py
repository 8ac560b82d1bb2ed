"""Reading OpenAI chat payloads: conversation, tools, reply, usage."""

import json
from pathlib import Path
from typing import Any

import pytest

from workbench.errors import UnknownApiError
from workbench.trace.payloads import ToolCall, Usage, check_pairs, has_view, known_apis, view

OPENAI = view("openai.chat")

REQUEST: dict[str, Any] = {
    "model": "gpt-4o",
    "temperature": 0.2,
    "seed": 7,
    "stream": True,
    "stream_options": {"include_usage": True},
    "messages": [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is on it?"},
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
            ],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_1",
                    "type": "function",
                    "function": {"name": "search", "arguments": '{"q":"x"}'},
                },
                {
                    "id": "call_2",
                    "type": "function",
                    "function": {"name": "search", "arguments": '{"q":'},
                },
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "nothing"},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "Look it up",
                "parameters": {"type": "object"},
            },
        },
        {"type": "web_search"},
    ],
}


def test_conversation_is_read_with_places() -> None:
    """Every message keeps its role, text, parts, calls, raw form and place in the body."""
    system, user, assistant, tool = OPENAI.messages(REQUEST)
    assert (system.role, system.text, system.at) == ("system", "Be brief.", ("messages", 0))
    assert (user.text, user.images) == ("What is on it?", 1)
    assert [call.id for call in assistant.tool_calls] == ["call_1", "call_2"]
    assert (tool.role, tool.tool_call_id, tool.text) == ("tool", "call_1", "nothing")
    assert assistant.raw is REQUEST["messages"][2]


def test_two_calls_of_one_tool_stay_two() -> None:
    """Calls are a list, so a second call of the same tool is not lost."""
    first, second = OPENAI.messages(REQUEST)[2].tool_calls
    assert first == ToolCall("call_1", "search", {"q": "x"}, '{"q":"x"}', None)
    assert (second.name, second.arguments, second.raw) == ("search", None, '{"q":')
    assert second.error == "not JSON: Expecting value at character 6 of 5"


def test_request_settings_are_read() -> None:
    """Tools, model, parameters and the way of travelling are each found in their place."""
    search, web = OPENAI.tools(REQUEST)
    assert (search.name, search.description) == ("search", "Look it up")
    assert search.parameters == {"type": "object"}
    assert web.name == "web_search"
    assert OPENAI.model(REQUEST) == "gpt-4o"
    assert OPENAI.streams(REQUEST)
    assert OPENAI.wants_usage(REQUEST)
    assert OPENAI.parameters(REQUEST) == {
        "model": "gpt-4o",
        "temperature": 0.2,
        "seed": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_reply_reads_text_calls_reasoning_and_refusal() -> None:
    """Text before a call does not hide the call, and reasoning and refusal are kept apart."""
    message = {
        "role": "assistant",
        "content": "Looking.",
        "reasoning_content": "I need data.",
        "refusal": "no",
        "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": {"already": "parsed"}}}],
    }
    reply = OPENAI.reply({"choices": [{"index": 0, "message": message, "finish_reason": "length"}]})
    assert (reply.text, reply.reasoning, reply.refusal) == ("Looking.", "I need data.", "no")
    assert reply.finish_reason == "length"
    assert reply.tool_calls == (ToolCall("c", "f", {"already": "parsed"}, '{"already":"parsed"}'),)


def test_custom_and_legacy_calls_are_read() -> None:
    """A custom tool's free text is no broken JSON, and an old `function_call` is a call too."""
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    message = {"tool_calls": [custom], "function_call": {"name": "old", "arguments": "{}"}}
    calls = OPENAI.message({"role": "assistant", **message}).tool_calls
    assert calls[0] == ToolCall("c", "sql", "select 1", "select 1", None)
    assert calls[1] == ToolCall(None, "old", {}, "{}", None)


def test_usage_keeps_unknown_apart_from_zero() -> None:
    """A count that was not recorded is None, never 0, and the raw usage stays."""
    raw = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 80},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    assert OPENAI.usage({"usage": raw}) == Usage(100, 9, 80, None, 0, raw)
    assert OPENAI.usage({"usage": None}) is None
    assert OPENAI.usage({"usage": {}}) == Usage(raw={})
    groq = {"x_groq": {"usage": {"prompt_tokens": 3, "completion_tokens": True}}}
    assert OPENAI.usage(groq) == Usage(input_tokens=3, raw=groq["x_groq"]["usage"])


def test_first_choice_is_the_one_with_index_0() -> None:
    """Of several choices the view reads choice 0, wherever it stands in the list."""
    choices = [{"index": n, "message": {"content": f"answer {n}"}} for n in (1, 0)]
    assert OPENAI.reply({"choices": choices}).text == "answer 0"


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_arguments_that_only_python_reads_are_refused(number: str) -> None:
    """Python's parser takes NaN; a provider and a trace don't, so it is reported."""
    call = OPENAI.message(
        {"tool_calls": [{"function": {"name": "f", "arguments": f'{{"a": {number}}}'}}]}
    ).tool_calls[0]
    assert call.arguments is None
    assert call.error == f"not JSON: {number} is not a JSON number"


def test_unknown_api_is_named_with_the_known_ones() -> None:
    """An API without a view gives an error that lists those there are, and the nearest."""
    assert {"openai.chat", "openai.responses", "workbench"} <= set(known_apis())
    assert not has_view("openai.chats")
    with pytest.raises(UnknownApiError) as caught:
        view("openai.chats")
    assert str(caught.value) == (
        "there is no payload view for the API 'openai.chats'. Did you mean 'openai.chat'? "
        f"Known: {', '.join(known_apis())}. "
        "Its payloads can be kept, replayed and shown as JSON, not read or edited."
    )


def test_real_conversations_pair_up(shared_data: Path) -> None:
    """Two hundred real runs of an airline agent read whole, each call with its result."""
    runs = json.loads((shared_data / "traces/tau_bench/gpt-4o-airline.json").read_text("utf-8"))
    calls = 0
    for run in runs:
        messages = OPENAI.messages({"messages": run["traj"]})
        calls += sum(len(message.tool_calls) for message in messages)
        assert check_pairs(messages, complete=False) == []
        assert all(m.text or m.tool_calls or m.role == "tool" for m in messages)
    raw_calls = sum(len(m.get("tool_calls") or []) for run in runs for m in run["traj"])
    assert calls == raw_calls > 1000
