"""Reading requests and responses of Google's generateContent."""

from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from workbench.trace.payloads import MessageChange, Reply, check_pairs, compare, view

GOOGLE = view("google.generate_content")


def _call(name: str, args: Any = None, **more: Any) -> dict[str, Any]:
    call = {"name": name, **({} if args is None else {"args": args}), **more}
    return {"functionCall": call}


def _answer(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


def _request() -> dict[str, Any]:
    return {
        "systemInstruction": {"parts": [{"text": "Be kind."}, {"text": "Be brief."}]},
        "contents": [
            {"role": "user", "parts": [
                {"text": "Look:"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}},
                {"text": "Refund it."}]},
            {"role": "model", "parts": [
                {"text": "I look ", "thought": True}, {"text": "Let me "}, {"text": "see."},
                {**_call("get_order", {"number": 101}), "thoughtSignature": "c2ln"},
                _call("now")]},
            {"role": "user", "parts": [
                _answer("now", {"result": "noon"}), _answer("get_order", {"total": 9.5}),
                {"text": "Go on."}]},
        ],
        "generationConfig": {"temperature": 0},
        "tools": [
            {"functionDeclarations": [
                {"name": "get_order", "description": "Look up.", "parameters": {"type": "OBJECT"}},
                {"name": "now", "parametersJsonSchema": {"type": "object"}}]},
            {"googleSearch": {}},
        ],
    }  # fmt: skip


def test_a_conversation_is_read_with_each_answer_by_itself() -> None:
    """Both answers of one content are messages, directly after the calls, in their places."""
    messages = GOOGLE.messages(_request())
    assert [(m.role, m.text, m.name, m.at) for m in messages] == [
        ("system", "Be kind.\nBe brief.", None, ("systemInstruction",)),
        ("user", "Look:\nRefund it.", None, ("contents", 0)),
        ("assistant", "Let me see.", None, ("contents", 1)),
        ("tool", "noon", "now", ("contents", 2, "parts", 0)),
        ("tool", '{"total":9.5}', "get_order", ("contents", 2, "parts", 1)),
        ("user", "Go on.", None, ("contents", 2, "parts", 2)),
    ]
    assert messages[1].images == 1
    said = messages[2]
    assert (said.reasoning, said.signed, said.images) == ("I look ", ("thoughtSignature",), 0)
    assert [(c.id, c.name, c.arguments, c.raw) for c in said.tool_calls] == [
        (None, "get_order", {"number": 101}, '{"number":101}'),
        (None, "now", {}, "{}"),
    ]
    assert check_pairs(messages) == []


def test_each_message_stands_where_it_says() -> None:
    """What `at` names in the body is the very object that the message was read from."""
    body = _request()
    for message in GOOGLE.messages(body):
        found: Any = body
        for step in message.at:
            found = found[step]
        assert found is message.raw


def test_snake_case_reads_the_same() -> None:
    """A request as the SDK's own types dump it is read like the one on the wire."""
    contents = [types.Content.model_validate(each) for each in _request()["contents"]]
    dumped = [each.model_dump(mode="json", exclude_none=True) for each in contents]
    assert "function_call" in dumped[1]["parts"][3]
    body = {"contents": dumped, "system_instruction": {"parts": [{"text": "Be kind."}]}}
    one, other = GOOGLE.messages(body), GOOGLE.messages(_request())
    assert one[0].text == "Be kind."
    assert [(m.role, m.text, m.tool_calls, m.signed, m.images) for m in one[1:]] == [
        (m.role, m.text, m.tool_calls, m.signed, m.images) for m in other[1:]
    ]


def test_answers_without_ids_pair_only_where_one_call_fits() -> None:
    """Two calls of one tool and answers without ids: nothing is guessed, both are named (T4)."""
    contents: list[dict[str, Any]] = [
        {"role": "model", "parts": [_call("find", {"q": "a"}), _call("find", {"q": "b"})]},
        {"role": "user", "parts": [_answer("find", {"r": 2}), _answer("find", {"r": 1})]},
    ]
    problems = check_pairs(GOOGLE.messages({"contents": contents}))
    assert any("without a tool call id, and 2 calls wait for one" in text for text in problems)
    for number, (call, answer) in enumerate(
        zip(contents[0]["parts"], reversed(contents[1]["parts"]), strict=True)
    ):
        call["functionCall"]["id"] = answer["functionResponse"]["id"] = f"c{number}"
    assert check_pairs(GOOGLE.messages({"contents": contents})) == []


def test_tools_and_parameters() -> None:
    """Declared functions with their schemas, Google's own tools by name, all else a parameter."""
    assert [(t.name, t.description, dict(t.parameters)) for t in GOOGLE.tools(_request())] == [
        ("get_order", "Look up.", {"type": "OBJECT"}),
        ("now", "", {"type": "object"}),
        ("googleSearch", "", {}),
    ]
    assert GOOGLE.parameters(_request()) == {"generationConfig": {"temperature": 0}}


def test_a_reply_with_everything() -> None:
    """Text, thoughts, calls, signatures and the reason to stop, of the candidate with index 0."""
    parts = [
        {"text": "Hm.", "thought": True},
        {"text": "Hello "},
        {"executableCode": {"language": "PYTHON", "code": "1"}},
        {"text": "you", "thoughtSignature": "cw=="},
        _call("f", {"a": [1]}, id="x"),
    ]
    body = {
        "candidates": [
            {"index": 1, "content": {"parts": [{"text": "other"}]}},
            {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"},
        ],
        "modelVersion": "gemini-x",
    }
    reply = GOOGLE.reply(body)
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Hello you", "Hm.", "STOP")
    assert (reply.refusal, reply.signed) == (None, ("thoughtSignature",))
    assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == [("x", "f", {"a": [1]})]
    assert GOOGLE.model(body) == "gemini-x"
    theirs = types.GenerateContentResponse.model_validate({"candidates": body["candidates"][1:]})
    assert theirs.candidates is not None
    assert theirs.candidates[0].content is not None
    assert reply.text == "".join(
        p.text or "" for p in theirs.candidates[0].content.parts or () if not p.thought
    )


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"promptFeedback": {"blockReason": "SAFETY"}}, "SAFETY"),
        ({"promptFeedback": {"blockReason": "OTHER", "blockReasonMessage": "No."}}, "No."),
        ({"candidates": [{"finishReason": "PROHIBITED_CONTENT"}]}, "PROHIBITED_CONTENT"),
        ({"candidates": [{"finishReason": "SAFETY", "finishMessage": "No."}]}, "No."),
        ({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL", "finishMessage": "f"}]}, None),
        ({"promptFeedback": {"safetyRatings": []}, "candidates": [{}]}, None),
    ],
)  # fmt: skip
def test_what_was_withheld_is_a_refusal(body: Any, refusal: str | None) -> None:
    """A blocked prompt or answer is told from an empty one, and a broken call from both."""
    assert GOOGLE.reply(body).refusal == refusal
    assert GOOGLE.reply(body).text == ""


def test_usage_counts_cached_input_and_thoughts() -> None:
    """Input has the cached tokens and those of tools, output has the thoughts."""
    usage = GOOGLE.usage(
        {"usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60,
         "toolUsePromptTokenCount": 7, "candidatesTokenCount": 20, "thoughtsTokenCount": 30,
         "totalTokenCount": 157}}
    )  # fmt: skip
    assert usage is not None
    assert (usage.input_tokens, usage.output_tokens) == (107, 50)
    assert (usage.cache_read_tokens, usage.reasoning_tokens) == (60, 30)
    assert usage.cache_write_tokens is None
    less = GOOGLE.usage({"usageMetadata": {"promptTokenCount": 3}})
    assert less is not None
    assert (less.input_tokens, less.output_tokens, less.reasoning_tokens) == (3, None, None)
    assert GOOGLE.usage({"candidates": []}) is None


@pytest.mark.parametrize(
    "body",
    [None, "", "oops", [], {}, {"candidates": None}, {"candidates": ["x"]}, {"candidates": [{}]},
     {"candidates": [{"content": None}]}, {"candidates": [{"content": "text"}]},
     {"candidates": [{"content": {"parts": "x"}}]}, {"candidates": [{"content": {"parts": [7]}}]}],
)  # fmt: skip
def test_a_malformed_response_is_an_empty_reply(body: Any) -> None:
    """Missing or misshapen parts read as nothing said, with no finish reason."""
    assert GOOGLE.reply(body) == Reply()


def test_what_can_be_read_is_read() -> None:
    """Contents that are a text, a part, or broken stand beside good ones."""
    contents = ["plain", {"text": "lone part"}, 7, {"role": "model", "parts": [None, "x", {}]}]
    assert [(m.role, m.text) for m in GOOGLE.messages({"contents": contents})] == [
        ("user", "plain"), ("user", "lone part"), ("user", ""), ("assistant", "x"),
    ]  # fmt: skip
    assert [m.text for m in GOOGLE.messages({"contents": "just text"})] == ["just text"]
    assert GOOGLE.message({"parts": [_answer("f", [1])]}).text == "[1]"
    assert GOOGLE.message(_answer("f", {"output": "done"})).role == "tool"


KEYS = st.sampled_from(
    ["candidates", "content", "parts", "contents", "systemInstruction", "text", "thought", "role",
    "functionCall", "functionResponse", "name", "args", "id", "response", "thoughtSignature",
    "partialArgs", "willContinue", "jsonPath", "usageMetadata", "promptFeedback", "blockReason",
    "finishReason", "tools", "functionDeclarations", "index", "citationMetadata", "error"]
)  # fmt: skip
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


@given(body=ANYTHING, chunks=st.lists(ANYTHING, max_size=4))
def test_no_reading_ever_raises(body: Any, chunks: list[Any]) -> None:
    """Whatever stands in a payload, each reading gives its type and editing gives the new text."""
    messages = GOOGLE.messages(body)
    assert all(isinstance(problem, str) for problem in check_pairs(messages))
    assert all(change.kind == "same" for change in compare(messages, messages))
    assert isinstance(GOOGLE.message(body).text, str)
    assert isinstance(GOOGLE.reply(body).text, str)
    assert isinstance(GOOGLE.parameters(body), dict)
    assert isinstance(GOOGLE.tools(body), list)
    assert GOOGLE.model(body) is None or isinstance(GOOGLE.model(body), str)
    usage = GOOGLE.usage(body)
    assert usage is None or usage.raw is not None
    assert isinstance(GOOGLE.reply(GOOGLE.assemble(chunks)).text, str)
    assert isinstance(GOOGLE.split(body), list)
    assert GOOGLE.reply(GOOGLE.with_reply(body, text="new", tool_calls=[])).text == "new"
    asked = GOOGLE.with_request(
        body,
        system="Be kind.",
        messages=[MessageChange("drop", n) for n in range(len(messages))],
        model="m",
    )
    assert [message.text for message in GOOGLE.messages(asked)] == ["Be kind."]
