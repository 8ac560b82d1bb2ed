"""Reading Anthropic's messages: requests, replies, tools and usage."""

from typing import Any

from anthropic_bodies import FOUND, HIDDEN, SEARCH, THOUGHT, message, result, use, words

from workbench.trace.payloads import Reply, ToolCall, Usage, check_pairs, compare, view

VIEW = view("anthropic.messages")
IMAGE = {"type": "image", "source": {"type": "base64", "data": "AA=="}}


def _request() -> dict[str, Any]:
    cached = {"cache_control": {"type": "ephemeral"}}
    return {
        "model": "claude-sonnet-4-0",
        "max_tokens": 100,
        "system": [words("Be kind."), words("Be brief.", **cached)],
        "messages": [
            {"role": "user", "content": [words("Look at"), IMAGE, words("this.")]},
            {"role": "assistant", "content": [
                THOUGHT, HIDDEN, words("I "), words("look."), use("lookup", {"order": 101}),
                use("lookup", {"order": 102}, "toolu_b"),
            ]},
            {"role": "user", "content": [
                result("toolu_b", [words("two"), IMAGE], is_error=True),
                result("toolu_a", "one"),
                words("Go on.", **cached),
            ]},
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Thanks."},
        ],
        "tools": [
            {"name": "lookup", "description": "Find", "input_schema": {"type": "object"}},
            {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.example"]},
        ],
        "stream": True,
    }  # fmt: skip


def test_each_result_of_a_message_is_a_message() -> None:
    """The system prompt first, then the conversation; results stand alone, with their places."""
    found = VIEW.messages(_request())
    assert [(m.role, m.text, m.at) for m in found] == [
        ("system", "Be kind.\nBe brief.", ("system",)),
        ("user", "Look at\nthis.", ("messages", 0)),
        ("assistant", "I look.", ("messages", 1)),
        ("tool", "two", ("messages", 2, "content", 0)),
        ("tool", "one", ("messages", 2, "content", 1)),
        ("user", "Go on.", ("messages", 2, "content", 2)),
        ("assistant", "Done.", ("messages", 3)),
        ("user", "Thanks.", ("messages", 4)),
    ]
    assert [m.images for m in found] == [0, 1, 0, 1, 0, 0, 0, 0]
    assert [m.tool_call_id for m in found[3:5]] == ["toolu_b", "toolu_a"]
    assert (found[2].reasoning, found[2].signed) == (
        "I look it up.", ("thinking", "redacted_thinking"),
    )  # fmt: skip
    assert found[2].tool_calls[0] == ToolCall("toolu_a", "lookup", {"order": 101}, '{"order":101}')
    assert VIEW.messages({"messages": []}) == []


def test_one_item_is_read_alone() -> None:
    """A block is read as well as a message; of several results it is the last one."""
    said = _request()["messages"]
    assert VIEW.message(said[0]).text == "Look at\nthis."
    assert VIEW.message(said[2]["content"][1]).role == "tool"
    assert (VIEW.message(said[2]).role, VIEW.message(said[2]).text) == ("user", "Go on.")
    assert VIEW.message(use("f", {})).tool_calls[0].name == "f"


def test_results_of_one_message_answer_the_calls_before_it() -> None:
    """In any order; one that is missing is named by its call."""
    found = VIEW.messages(_request())
    assert check_pairs(found) == []
    (problem,) = check_pairs([*found[:4], *found[5:]])
    assert problem.startswith(
        "message 3: the call 'toolu_a' (lookup) has no result before message 5 (user)."
    )


def test_messages_are_compared_block_by_block() -> None:
    """One result of several that says something else is the only change."""
    other = _request()
    other["messages"][2]["content"][1] = result("toolu_a", "uno")
    changes = compare(VIEW.messages(_request()), VIEW.messages(other))
    assert [c.kind for c in changes] == ["same"] * 4 + ["changed"] + ["same"] * 3
    assert (changes[4].before, changes[4].fields) == (4, ("text",))
    blocks = [{"role": "user", "content": [result("a", "x"), image]} for image in (
        IMAGE, {**IMAGE, "source": {"data": "BB=="}})]  # fmt: skip
    kinds = [c.kind for c in compare(*(VIEW.messages({"messages": [b]}) for b in blocks))]
    assert kinds == ["same", "changed"]


def test_the_rest_of_a_request() -> None:
    """Tools by name, the provider's own ones too; the system prompt is no parameter."""
    asked = _request()
    tools = VIEW.tools(asked)
    assert [(t.name, t.description, t.parameters) for t in tools] == [
        ("lookup", "Find", {"type": "object"}), ("web_search", "", {}),
    ]  # fmt: skip
    assert tools[1].raw is asked["tools"][1]
    assert VIEW.parameters(asked) == {
        "model": "claude-sonnet-4-0", "max_tokens": 100, "stream": True,
    }  # fmt: skip
    assert (VIEW.streams(asked), VIEW.streams({}), VIEW.wants_usage(asked)) == (True, False, True)
    assert VIEW.model(asked) == "claude-sonnet-4-0"


def test_the_content_is_a_reply() -> None:
    """Text that citations cut into blocks is one text; the provider's own calls are no calls."""
    body = message(
        THOUGHT, SEARCH, FOUND, words("It "), words("rains", citations=[{}]), words("."),
        use("note", {"text": "wet"}), stop_reason="tool_use",
    )  # fmt: skip
    assert VIEW.reply(body) == Reply(
        text="It rains.",
        tool_calls=(ToolCall("toolu_a", "note", {"text": "wet"}, '{"text":"wet"}'),),
        reasoning="I look it up.",
        finish_reason="tool_use",
        signed=("thinking",),
    )
    assert VIEW.reply(message(words("x"), stop_reason=None)).finish_reason is None


def test_a_refusal_says_why() -> None:
    """In the provider's words where it gives them, else in the model's."""
    why = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    refused = message(words("I"), stop_reason="refusal", stop_details=why)
    assert (VIEW.reply(refused).refusal, VIEW.reply(refused).text) == ("Not this.", "I")
    assert VIEW.reply({**refused, "stop_details": None}).refusal == "I"


def test_cached_tokens_are_input_too() -> None:
    """Anthropic counts them beside; a count that is absent was not recorded."""
    raw = message()["usage"]
    assert VIEW.usage({"usage": raw}) == Usage(329, 7, 300, 20, None, raw=raw)
    few = {"input_tokens": 9, "output_tokens": 0}
    assert VIEW.usage({"usage": few}) == Usage(9, 0, None, None, None, raw=few)
    assert VIEW.usage({"usage": {}}) == Usage(raw={})
    assert VIEW.usage({}) is None
    thought = {"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 3}}
    usage = VIEW.usage({"usage": thought})
    assert usage is not None
    assert (usage.reasoning_tokens, usage.input_tokens) == (3, None)


def test_an_input_that_is_no_json_is_said_to_be_none() -> None:
    """What a model wrote instead of an object stays as it was written."""
    (call,) = VIEW.reply(message(use("f", '{"order": '))).tool_calls
    assert (call.arguments, call.raw) == (None, '{"order": ')
    assert call.error is not None
