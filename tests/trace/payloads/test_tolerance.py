"""Reading what no provider should have sent: the debugger must open anything."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.trace.payloads import Reply, check_pairs, compare, view

OPENAI = view("openai.chat")

KEYS = st.sampled_from(
    ["choices", "message", "delta", "messages", "content", "tool_calls", "function", "arguments",
    "name", "id", "index", "role", "usage", "tools", "finish_reason", "tool_call", "text",
    "reasoning", "reasoning_details", "logprobs", "type", "custom", "function_call",
    "prompt_tokens_details", "refusal", "input", "output", "instructions", "summary", "call_id",
    "response", "item", "part", "output_index", "content_index", "item_id", "status",
    "incomplete_details", "system", "stop_reason", "stop_details", "content_block", "thinking",
    "signature", "data", "citations", "partial_json", "tool_use_id", "input_schema", "annotations"]
)  # fmt: skip
WORDS = st.sampled_from(
    ["message", "function_call", "custom_tool_call", "function_call_output", "reasoning",
    "web_search_call", "shell_call", "shell_call_output", "output_text", "refusal", "input_text",
    "namespace", "completed", "incomplete", "failed", "response.created", "response.completed",
    "response.output_item.added", "response.output_item.done", "response.output_text.delta",
    "response.output_text.done", "response.content_part.added", "response.refusal.delta",
    "response.function_call_arguments.delta", "response.output_text.annotation.added",
    "response.reasoning_summary_text.delta", "text", "tool_use", "tool_result", "thinking",
    "redacted_thinking", "server_tool_use", "message_start", "content_block_start",
    "content_block_delta", "message_delta", "text_delta", "input_json_delta", "citations_delta",
    "signature_delta", "thinking_delta", "user", "assistant", "system", "refusal"]
)  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize(
    "api", ["openai.chat", "openai.responses", "anthropic.messages", "workbench"]
)
@given(body=ANYTHING, chunks=st.lists(ANYTHING, max_size=4))
def test_no_reading_ever_raises(api: str, body: Any, chunks: list[Any]) -> None:
    """Whatever stands in a payload, each reading gives its type and editing gives the new text."""
    payloads = view(api)
    messages = payloads.messages(body)
    assert all(isinstance(problem, str) for problem in check_pairs(messages))
    assert all(change.kind == "same" for change in compare(messages, messages))
    assert isinstance(payloads.message(body).text, str)
    assert isinstance(payloads.reply(body).text, str)
    assert isinstance(payloads.parameters(body), dict)
    assert isinstance(payloads.tools(body), list)
    assert isinstance(payloads.streams(body), bool)
    assert isinstance(payloads.wants_usage(body), bool)
    assert payloads.model(body) is None or isinstance(payloads.model(body), str)
    usage = payloads.usage(body)
    assert usage is None or usage.raw is not None
    assert isinstance(payloads.reply(payloads.assemble(chunks)).text, str)
    assert isinstance(payloads.split(body, include_usage=True), list)
    assert payloads.reply(payloads.with_reply(body, text="new", tool_calls=[])).text == "new"


@pytest.mark.parametrize(
    "body",
    [None, "", "oops", [], {}, {"choices": None}, {"choices": ["x"]}, {"choices": [{}]},
     {"choices": [{"message": None}]}, {"choices": [{"message": "text"}]}],
)  # fmt: skip
def test_a_malformed_response_is_an_empty_reply(body: Any) -> None:
    """Missing or misshapen parts read as nothing said, with no finish reason."""
    assert OPENAI.reply(body) == Reply()


def test_what_can_be_read_is_read() -> None:
    """One broken part does not hide the good ones beside it."""
    message = {"content": "hello", "tool_calls": ["bad", {"function": {"name": "f"}}]}
    reply = OPENAI.reply({"choices": [None, {"message": message}]})
    assert reply.text == "hello"
    assert [(c.name, c.raw, c.error) for c in reply.tool_calls] == [
        ("", "", "the call has no arguments"),
        ("f", "", "the call has no arguments"),
    ]
    assert OPENAI.message("just text").text == "just text"
    deep = "[" * 100_000
    call = OPENAI.message({"tool_calls": [{"function": {"name": "f", "arguments": deep}}]})
    assert call.tool_calls[0].error == "not readable: nested too deeply"
