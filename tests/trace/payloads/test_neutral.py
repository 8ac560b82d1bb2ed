"""The neutral shape: reading, streaming, editing."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from workbench.trace.payloads import ToolCall, Usage, view

NEUTRAL = view("workbench")

BODY: dict[str, Any] = {
    "content": "Looking it up.",
    "reasoning": "I need the order.",
    "tool_calls": [
        {"id": "a", "name": "get_order", "arguments": {"id": 101}},
        {"id": "b", "name": "get_order", "arguments": {"id": 102}},
    ],
    "finish_reason": "tool_calls",
    "model": "m",
    "usage": {"input_tokens": 10, "output_tokens": 3, "cache_read_tokens": 0},
}


def test_request_is_read() -> None:
    """Conversation, tools and parameters of a neutral request are found."""
    request = {
        "model": "m",
        "temperature": 0,
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "assistant", "content": None, "tool_calls": BODY["tool_calls"]},
            {"role": "tool", "content": "{}", "tool_call_id": "a"},
        ],
        "tools": [{"name": "get_order", "description": "d", "parameters": {"type": "object"}}],
    }
    system, assistant, tool = NEUTRAL.messages(request)
    assert (system.role, system.text) == ("system", "Be kind.")
    assert [c.arguments for c in assistant.tool_calls] == [{"id": 101}, {"id": 102}]
    assert (tool.tool_call_id, tool.at) == ("a", ("messages", 2))
    assert NEUTRAL.tools(request)[0].parameters == {"type": "object"}
    assert NEUTRAL.parameters(request) == {"model": "m", "temperature": 0}
    assert not NEUTRAL.streams(request)


def test_reply_and_usage_are_read() -> None:
    """Text, reasoning, both calls of one tool and the counts are read; absent is not 0."""
    reply = NEUTRAL.reply(BODY)
    assert (reply.text, reply.reasoning) == ("Looking it up.", "I need the order.")
    assert reply.tool_calls[1] == ToolCall("b", "get_order", {"id": 102}, '{"id":102}')
    assert NEUTRAL.usage(BODY) == Usage(10, 3, 0, None, None, BODY["usage"])
    assert NEUTRAL.usage({"content": "x"}) is None


def test_chunks_have_the_documented_shape() -> None:
    """Reasoning, text, calls with argument text in pieces, and the rest in the last chunk."""
    chunks = NEUTRAL.split(BODY)
    assert chunks[0] == {"reasoning": "I need the order."}
    assert chunks[1] == {"text": "Looking it up."}
    assert chunks[2] == {"tool_call": {"id": "a", "name": "get_order", "index": 0, "arguments": ""}}
    assert chunks[3] == {"tool_call": {"index": 0, "arguments": '{"id":101}'}}
    assert chunks[-1] == {"finish_reason": "tool_calls", "model": "m", "usage": BODY["usage"]}


def test_a_cut_stream_keeps_the_broken_argument_text() -> None:
    """Arguments that were cut stay text, and no finish reason is invented."""
    body = NEUTRAL.assemble(
        [*NEUTRAL.split(BODY)[:3], {"tool_call": {"index": 0, "arguments": "{"}}]
    )
    assert "finish_reason" not in body
    call = NEUTRAL.reply(body).tool_calls[0]
    assert (call.raw, call.arguments) == ("{", None)
    assert NEUTRAL.assemble([]) == {"content": None}


def test_edit_keeps_the_rest() -> None:
    """An edit of the calls keeps text, reasoning, model and usage, and changes nothing in place."""
    before = copy.deepcopy(BODY)
    edited = NEUTRAL.with_reply(BODY, tool_calls=[("get_order", {"id": 7}), ("refund", {})])
    first, second = edited["tool_calls"]
    assert first == {"id": "a", "name": "get_order", "arguments": {"id": 7}}
    assert second["id"].startswith("call_wb_")
    assert {**edited, "tool_calls": 0} == {**BODY, "tool_calls": 0}
    stopped = NEUTRAL.with_reply(BODY, tool_calls=[])
    assert "tool_calls" not in stopped
    assert stopped["finish_reason"] == "stop"
    assert before == BODY


def test_broken_argument_text_can_be_written_on_purpose() -> None:
    """A string is the argument text itself, so a reply with bad JSON can be tried out."""
    call = NEUTRAL.reply(NEUTRAL.with_reply(BODY, tool_calls=[("f", '{"a":')])).tool_calls[0]
    assert (call.raw, call.arguments) == ('{"a":', None)


CALL = st.fixed_dictionaries(
    {
        "id": st.text(min_size=1, max_size=4),
        "name": st.text(min_size=1, max_size=4),
        "arguments": st.none() | st.dictionaries(st.text(max_size=3), st.integers() | st.text()),
    },
)
RESPONSE = st.fixed_dictionaries(
    {"content": st.none() | st.text(max_size=60)},
    optional={
        "reasoning": st.none() | st.text(max_size=30),
        "tool_calls": st.none() | st.lists(CALL, max_size=3),
        "finish_reason": st.none() | st.just("stop"),
        "usage": st.none() | st.just({"input_tokens": 1}),
        "embeddings": st.just([[0.5, 1.0]]),
    },
)


@given(RESPONSE)
def test_assemble_undoes_split(body: dict[str, Any]) -> None:
    """A neutral reply cut into chunks and put together is the reply."""
    before = copy.deepcopy(body)
    assert NEUTRAL.assemble(NEUTRAL.split(body)) == before == body
