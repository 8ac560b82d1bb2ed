"""Writing "the model said this instead" into an OpenAI chat reply."""

import copy
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion

from workbench.errors import EditError
from workbench.trace.payloads import ToolCall, view

OPENAI = view("openai.chat")


def _body() -> dict[str, Any]:
    calls = [
        {
            "id": f"call_{name}",
            "type": "function",
            "function": {"name": name, "arguments": '{ "order": 101 }'},
            "extra_content": {"signature": name},
        }
        for name in ("lookup", "refund")
    ]
    message = {"role": "assistant", "content": None, "refusal": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "tool_calls"}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 5,
        "model": "gpt-4o",
        "choices": [choice, {"index": 1, "message": {"content": "other"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 9},
        "x_vendor_extra": [1],
    }


def test_text_in_place_of_calls() -> None:
    """Without calls the key is gone, the finish reason is stop, and the rest stays as it was."""
    body = _body()
    edited = OPENAI.with_reply(body, text="Which order?", tool_calls=[])
    said = edited["choices"][0]
    assert said["message"] == {"role": "assistant", "content": "Which order?", "refusal": None}
    assert said["finish_reason"] == "stop"
    assert edited["choices"][1] is body["choices"][1]
    assert {**edited, "choices": 0} == {**body, "choices": 0}
    assert body == _body()


def test_removing_calls_alone_leaves_content_that_a_provider_accepts() -> None:
    """A message without calls must have content, if only an empty one."""
    message = OPENAI.with_reply(_body(), tool_calls=[])["choices"][0]["message"]
    assert message == {"role": "assistant", "content": "", "refusal": None}


def test_ids_and_vendor_fields_stay_where_the_same_tool_is_called() -> None:
    """A changed argument keeps the call's id and extras; another tool gets an id of its own."""
    edited = OPENAI.with_reply(
        _body(), tool_calls=[("lookup", {"order": 102}), ("email", {"to": "ä"})]
    )
    first, second = edited["choices"][0]["message"]["tool_calls"]
    assert first == {
        "id": "call_lookup",
        "type": "function",
        "function": {"name": "lookup", "arguments": '{"order":102}'},
        "extra_content": {"signature": "lookup"},
    }
    assert second["function"] == {"name": "email", "arguments": '{"to":"ä"}'}
    assert second["id"].startswith("call_wb_")
    assert len(second["id"]) == len("call_wb_") + 8
    assert "extra_content" not in second


def test_derived_ids_are_stable_and_differ_between_responses() -> None:
    """The same edit gives the same ids; the same edit of another response gives others."""
    again = [OPENAI.with_reply(_body(), tool_calls=[("a", {}), ("b", {})]) for _ in range(2)]
    assert again[0] == again[1]
    other = OPENAI.with_reply({**_body(), "id": "chatcmpl-2"}, tool_calls=[("a", {}), ("b", {})])
    ids = [call.id for body in (again[0], other) for call in OPENAI.reply(body).tool_calls]
    assert len(set(ids)) == 4


def test_a_kept_id_never_doubles_a_given_one() -> None:
    """When a given id is the one that another call would keep, that call gets a new one."""
    given_calls: list[Any] = [("lookup", {}), {"id": "call_lookup", "name": "x", "arguments": {}}]
    edited = OPENAI.with_reply(_body(), tool_calls=given_calls)
    first, second = OPENAI.reply(edited).tool_calls
    assert second.id == "call_lookup"
    assert first.id is not None
    assert first.id.startswith("call_wb_")


def test_a_call_read_from_the_reply_is_written_back_byte_for_byte() -> None:
    """Unchanged calls keep their spacing; a replaced `arguments` wins over the old text."""
    lookup, refund = OPENAI.reply(_body()).tool_calls
    edited = OPENAI.with_reply(
        _body(), tool_calls=[lookup, replace(refund, arguments={"order": True})]
    )
    assert [call.raw for call in OPENAI.reply(edited).tool_calls] == [
        '{ "order": 101 }',
        '{"order":true}',
    ]


def test_editing_text_drops_what_described_the_old_text() -> None:
    """A refusal, log probabilities, citations and audio of other words would contradict the new."""
    body = _body()
    message = body["choices"][0]["message"]
    message |= {"refusal": "I won't", "annotations": [{"type": "url"}], "audio": {"id": "a"}}
    body["choices"][0]["logprobs"] = {"content": []}
    edited = OPENAI.with_reply(body, text="I will")["choices"][0]
    assert edited["logprobs"] is None
    assert (edited["message"]["refusal"], edited["message"]["annotations"]) == (None, [])
    assert edited["message"]["audio"] is None
    assert edited["finish_reason"] == "tool_calls"


def test_content_parts_that_are_not_text_stay() -> None:
    """Where content is a list, the text parts are replaced and the reasoning part is kept."""
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    parts = [thinking, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    body = {"choices": [{"message": {"role": "assistant", "content": parts}}]}
    edited = OPENAI.with_reply(body, text="c")
    assert edited["choices"][0]["message"]["content"] == [thinking, {"type": "text", "text": "c"}]
    assert OPENAI.reply(edited).reasoning == "hm"


def test_a_failed_call_can_be_given_a_reply() -> None:
    """An error body becomes a completion that the SDK reads, without the error."""
    edited = OPENAI.with_reply({"error": {"message": "overloaded"}}, text="All good")
    completion = ChatCompletion.construct(**edited)
    assert completion.choices[0].message.content == "All good"
    assert completion.choices[0].finish_reason == "stop"
    assert completion.id.startswith("chatcmpl_wb_")
    assert "error" not in edited
    assert OPENAI.reply(OPENAI.with_reply(None, text="x")).text == "x"


def test_legacy_and_custom_calls_keep_their_shape() -> None:
    """An agent that reads `function_call`, or a custom tool's input, finds the edit there."""
    old = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    body = {"choices": [{"message": old, "finish_reason": "function_call"}]}
    choice = OPENAI.with_reply(body, tool_calls=[("f", {"a": 1})])["choices"][0]
    assert choice["message"]["function_call"] == {"name": "f", "arguments": '{"a":1}'}
    assert choice["finish_reason"] == "function_call"
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    body = {"choices": [{"message": {"tool_calls": [custom]}}]}
    edited = OPENAI.with_reply(body, tool_calls=[("sql", "select 2")])
    assert edited["choices"][0]["message"]["tool_calls"] == [
        {**custom, "custom": {"name": "sql", "input": "select 2"}}
    ]


@pytest.mark.parametrize(
    ("calls", "text"),
    [
        ([("", {})], "tool call 1 has no name: say which tool is called."),
        (
            [ToolCall("a", "f", {}, "{}"), {"id": "a", "name": "g"}],
            "tool calls 1 and 2 both have the id 'a': give each its own, or leave the id out.",
        ),
        (
            [("f", {}), ("refund", {"when": {1}})],
            (
                "the arguments of tool call 2 (refund) can't be written as JSON: "
                "Object of type set is not JSON serializable. "
                "Give plain JSON values, or the argument text as a string."
            ),
        ),
        (
            [{"name": "f", "function": {}}],
            (
                "tool call 1 has the unknown field 'function': "
                'give {"name": ..., "arguments": ..., "id": ...}, the id if you like.'
            ),
        ),
        (
            ["refund"],
            (
                "tool call 1 is 'refund': give a ToolCall, a pair (name, arguments), "
                'or {"name": ..., "arguments": ..., "id": ...}.'
            ),
        ),
    ],
)
def test_a_call_that_cannot_be_written_is_refused(calls: Any, text: str) -> None:
    """The error names the call by its number, says what is wrong and what to give instead."""
    with pytest.raises(EditError) as caught:
        OPENAI.with_reply(_body(), tool_calls=calls)
    assert str(caught.value) == text


NUMBERS = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON_VALUE = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)
ARGUMENTS = st.dictionaries(st.text(max_size=4), JSON_VALUE, max_size=3)
CALLS = st.lists(st.tuples(st.sampled_from(["lookup", "refund", "email"]), ARGUMENTS), max_size=4)


@given(st.text(max_size=30), CALLS, st.sampled_from(["openai.chat", "workbench"]))
def test_what_was_written_is_read_back(text: str, calls: list[Any], api: str) -> None:
    """Whatever is said instead reads back exactly, each call with an id, the original untouched."""
    payloads = view(api)
    body = _body() if api == "openai.chat" else {"content": "x", "tool_calls": [], "id": "r"}
    before = copy.deepcopy(body)
    edited = payloads.with_reply(body, text=text, tool_calls=calls)
    reply = payloads.reply(edited)
    assert (reply.text, [(c.name, c.arguments) for c in reply.tool_calls]) == (text, calls)
    assert reply.finish_reason == ("tool_calls" if calls else "stop")
    ids = [call.id for call in reply.tool_calls]
    assert all(ids)
    assert len(set(ids)) == len(calls)
    assert body == before
    assert payloads.with_reply(edited, tool_calls=reply.tool_calls) == edited
    assert payloads.assemble(payloads.split(edited, include_usage=True)) == edited
