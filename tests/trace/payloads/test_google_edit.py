"""Writing into responses and requests of Google's generateContent."""

import copy
from dataclasses import replace
from typing import Any

import pytest
from google.genai import types
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import EditError
from workbench.trace.payloads import MessageChange, check_pairs, view

GOOGLE = view("google.generate_content")


def _call(name: str, args: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": args, **more}}


def _answer(name: str, response: Any, **more: Any) -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": response, **more}}


def _body() -> dict[str, Any]:
    parts = [
        {"text": "Hm.", "thought": True},
        {"text": "I look."},
        {**_call("lookup", {"order": 101}), "thoughtSignature": "c2/+nA=="},
        _call("refund", {"order": 101}),
    ]
    said = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0,
            "avgLogprobs": -0.5, "safetyRatings": []}  # fmt: skip
    return {
        "candidates": [said, {"index": 1, "content": {"parts": [{"text": "other"}]}}],
        "usageMetadata": {"promptTokenCount": 9},
        "responseId": "r1",
    }


def _said(body: Any) -> list[Any]:
    found: list[Any] = body["candidates"][0]["content"]["parts"]
    return found


# -- replies


def test_text_in_place_of_calls() -> None:
    """The calls go, the thought stays, what signed or measured the old words goes too."""
    body = _body()
    edited = GOOGLE.with_reply(body, text="Which order?", tool_calls=[])
    assert _said(edited) == [{"text": "Hm.", "thought": True}, {"text": "Which order?"}]
    assert "avgLogprobs" not in edited["candidates"][0]
    assert edited["candidates"][1] is body["candidates"][1]
    assert {**edited, "candidates": 0} == {**body, "candidates": 0}
    assert body == _body()


def test_unchanged_calls_stay_byte_for_byte() -> None:
    """Calls read from the reply are written back as they were, signature and all."""
    body = _body()
    edited = GOOGLE.with_reply(body, tool_calls=GOOGLE.reply(body).tool_calls)
    assert edited == body
    assert all(a is b for a, b in zip(_said(edited), _said(body), strict=True))


def test_a_changed_call_drops_the_signature_and_keeps_the_rest() -> None:
    """A signature of other words would be refused; another tool's fields are not carried over."""
    body = _body()
    _said(body)[3]["partMetadata"] = {"x": 1}
    lookup, refund = GOOGLE.reply(body).tool_calls
    edited = GOOGLE.with_reply(body, tool_calls=[replace(lookup, arguments={"order": 7}), refund])
    assert _said(edited)[2:] == [_call("lookup", {"order": 7}), _said(body)[3]]
    assert GOOGLE.reply(edited).signed == ()
    other = GOOGLE.with_reply(body, tool_calls=[("lookup", {}), ("email", {"to": "ä"})])
    assert _said(other)[3] == _call("email", {"to": "ä"})


def test_ids_are_given_where_the_reply_has_any_or_a_tool_is_called_twice() -> None:
    """Without need no id is made up; where one is needed, the same edit gives the same one."""
    names = [("find", {"q": 1}), ("find", {"q": 2})]
    twice = [GOOGLE.reply(GOOGLE.with_reply(_body(), tool_calls=names)).tool_calls for _ in "ab"]
    assert twice[0] == twice[1]
    assert len({call.id for call in twice[0]}) == 2
    assert all(call.id and call.id.startswith("call_wb_") for call in twice[0])
    single = GOOGLE.with_reply(_body(), tool_calls=[("find", {"q": 1})])
    assert GOOGLE.reply(single).tool_calls[0].id is None
    body = _body()
    _said(body)[2]["functionCall"]["id"] = "fc-1"
    first, second = GOOGLE.reply(
        GOOGLE.with_reply(body, tool_calls=[("lookup", {}), ("email", {})])
    ).tool_calls
    assert first.id == "fc-1"
    assert second.id is not None
    given = GOOGLE.with_reply(_body(), tool_calls=[{"name": "f", "arguments": {}, "id": "mine"}])
    assert _said(given)[2] == _call("f", {}, id="mine")


@pytest.mark.parametrize("arguments", ["{", "[1]", [1], "text"])
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    """Here a call holds an object, and cannot hold the text that others allow."""
    with pytest.raises(EditError, match=r"tool call 1 \(f\) are no JSON object, and Google's"):
        GOOGLE.with_reply(_body(), tool_calls=[("f", arguments)])


def test_a_refusal_stands_alone_and_the_sdk_reads_it() -> None:
    """Text and calls go, the finish reason says why, and another text takes it back."""
    edited = GOOGLE.with_reply(_body(), refusal="I will not.")
    reply = GOOGLE.reply(edited)
    assert (reply.refusal, reply.text, reply.tool_calls) == ("I will not.", "", ())
    theirs = types.GenerateContentResponse.model_validate(edited)
    assert theirs.candidates is not None
    assert theirs.candidates[0].finish_reason is types.FinishReason.SAFETY
    assert theirs.candidates[0].finish_message == "I will not."
    back = GOOGLE.reply(GOOGLE.with_reply(edited, text="I will."))
    assert (back.refusal, back.text, back.finish_reason) == (None, "I will.", "STOP")
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "modelVersion": "m"}
    said = GOOGLE.with_reply(blocked, text="Fine.")
    assert (GOOGLE.reply(said).text, GOOGLE.reply(said).refusal) == ("Fine.", None)


def test_a_failed_call_can_be_given_a_reply() -> None:
    """An error body becomes a response that the SDK reads, without the error."""
    edited = GOOGLE.with_reply({"error": {"code": 503, "message": "overloaded"}}, text="All good")
    response = types.GenerateContentResponse.model_validate(edited)
    assert response.text == "All good"
    assert response.candidates is not None
    assert response.candidates[0].finish_reason is types.FinishReason.STOP
    assert "error" not in edited
    assert GOOGLE.reply(GOOGLE.with_reply(None, text="x")).text == "x"


ARGUMENTS = st.dictionaries(
    st.text(max_size=4), st.none() | st.integers(-9, 9) | st.text(max_size=5), max_size=3
)
CALLS = st.lists(st.tuples(st.sampled_from(["lookup", "refund", "email"]), ARGUMENTS), max_size=4)


@given(st.text(max_size=30), CALLS, st.booleans())
def test_what_was_written_is_read_back(text: str, calls: list[Any], whole: bool) -> None:
    """Whatever is said instead reads back exactly, by us and by the SDK, the original untouched."""
    body: dict[str, Any] = _body() if whole else {"candidates": []}
    before = copy.deepcopy(body)
    edited = GOOGLE.with_reply(body, text=text, tool_calls=calls)
    reply = GOOGLE.reply(edited)
    assert (reply.text, [(c.name, c.arguments) for c in reply.tool_calls]) == (text, calls)
    assert reply.finish_reason == "STOP"
    assert body == before
    assert GOOGLE.with_reply(edited, tool_calls=reply.tool_calls) == edited
    assert GOOGLE.assemble(GOOGLE.split(edited)) == edited
    theirs = types.GenerateContentResponse.model_validate(edited)
    assert [(c.name, c.args) for c in theirs.function_calls or ()] == calls
    assert (theirs.text or "") == text


# -- requests


def _request() -> dict[str, Any]:
    return {
        "systemInstruction": {"parts": [{"text": "Be kind."}], "role": "user"},
        "contents": [
            {"role": "user", "parts": [{"inlineData": {"data": "AA=="}}, {"text": "Refund."}]},
            {"role": "model", "parts": [
                {"text": "I look."}, {**_call("a", {}), "thoughtSignature": "eA=="}, _call("b", {}),
                _call("c", {})]},
            {"role": "user", "parts": [
                _answer("a", {"result": "1"}), _answer("b", {"n": 2}), _answer("c", {"r": [3]}),
                {"text": "Go on."}]},
        ],
        "generationConfig": {"temperature": 0.2},
    }  # fmt: skip


def _changed(*changes: MessageChange) -> list[Any]:
    body = _request()
    new: list[Any] = GOOGLE.with_request(body, messages=changes)["contents"]
    assert body == _request()
    return new


def test_one_answer_of_several_is_changed_in_its_place() -> None:
    """Texts stay texts, objects objects; the other parts and contents are the very same."""
    body = _request()
    changes = [
        MessageChange("replace", 3, text="one"),
        MessageChange("replace", 4, text='{"n": 3}'),
        MessageChange("replace", 5, text="not JSON"),
    ]
    new = GOOGLE.with_request(body, messages=changes)
    assert new["contents"][2]["parts"] == [
        _answer("a", {"result": "one"}), _answer("b", {"n": 3}),
        _answer("c", {"result": "not JSON"}), {"text": "Go on."},
    ]  # fmt: skip
    assert new["contents"][:2] == body["contents"][:2]
    assert new["contents"][1] is body["contents"][1]
    assert new["generationConfig"] is body["generationConfig"]
    assert check_pairs(GOOGLE.messages(new)) == []


def test_dropping_and_inserting_keeps_answers_together() -> None:
    """Answers to one turn stay in one content, as the API demands, also when one is put in."""
    new = _changed(
        MessageChange("drop", 4),
        MessageChange("insert", 5, message={"role": "user", "parts": [_answer("b", {"n": 9})]}),
        MessageChange("insert", 7, text="last"),
        MessageChange("insert", 1, role="model", text="first"),
    )
    assert new == [
        {"role": "model", "parts": [{"text": "first"}]},
        *_request()["contents"][:2],
        {"role": "user", "parts": [
            _answer("a", {"result": "1"}), _answer("b", {"n": 9}), _answer("c", {"r": [3]}),
            {"text": "Go on."}]},
        {"role": "user", "parts": [{"text": "last"}]},
    ]  # fmt: skip


def test_a_message_put_between_two_answers_parts_them() -> None:
    """It is sent where it was put, and the pairs say that no provider takes that."""
    new = _changed(MessageChange("insert", 4, text="wait"))
    assert [len(content["parts"]) for content in new] == [2, 4, 1, 1, 3]
    assert check_pairs(GOOGLE.messages({"contents": new}))


def test_a_text_is_replaced_where_it_stands_between_other_parts() -> None:
    """An image stays before it; the reply's signature goes with the words that it was for."""
    new = _changed(
        MessageChange("replace", 1, text="Refund it, please."),
        MessageChange("replace", 2, text="I act."),
    )
    assert new[0]["parts"] == [{"inlineData": {"data": "AA=="}}, {"text": "Refund it, please."}]
    assert new[1]["parts"][:2] == [{"text": "I act."}, _call("a", {})]


def test_whole_messages_and_roles() -> None:
    """A whole content takes a message's place; with another role it becomes one of its own."""
    same = _changed(MessageChange("replace", 6, message={"role": "user", "parts": [{"text": "x"}]}))
    assert same[2]["parts"][3] == {"text": "x"}
    other = _changed(MessageChange("replace", 6, role="model", text="y"))
    assert other[2]["parts"] == _request()["contents"][2]["parts"][:3]
    assert other[3] == {"role": "model", "parts": [{"text": "y"}]}


def test_the_system_instruction() -> None:
    """It is replaced, made or dropped; it stands apart and takes no role."""
    assert GOOGLE.with_request(_request(), system="Be brief.")["systemInstruction"] == {
        "role": "user",
        "parts": [{"text": "Be brief."}],
    }
    bare = {"contents": [{"parts": [{"text": "x"}]}]}
    made = GOOGLE.with_request(bare, system="Be.")
    assert [m.text for m in GOOGLE.messages(made)] == ["Be.", "x"]
    change = MessageChange("replace", 0, text="Do.")
    assert GOOGLE.messages(GOOGLE.with_request(_request(), messages=[change]))[0].text == "Do."
    dropped = GOOGLE.with_request(_request(), messages=[MessageChange("drop", 0)])
    assert "systemInstruction" not in dropped
    snake = {"system_instruction": {"parts": [{"text": "a"}]}, "contents": []}
    assert "systemInstruction" not in GOOGLE.with_request(snake, system="b")
    with pytest.raises(EditError, match="cannot get the role 'user': it stands apart"):
        GOOGLE.with_request(_request(), messages=[MessageChange("replace", 0, role="user")])


def test_another_model_takes_no_signatures() -> None:
    """The model is named in the body, and what another one signed is left out."""
    new = GOOGLE.with_request(_request(), model="gemini-y")
    assert new["model"] == GOOGLE.model(new) == "gemini-y"
    assert GOOGLE.messages(new)[2].signed == ()
    assert new["contents"][0] == _request()["contents"][0]


def test_nothing_changed_is_the_very_same_body() -> None:
    """An edit that says what is there already changes nothing, not even a signature."""
    body = _request()
    texts = [m.text for m in GOOGLE.messages(body)]
    changes = [MessageChange("replace", n, text=text) for n, text in enumerate(texts)]
    assert GOOGLE.with_request(body, messages=changes) is body
    assert GOOGLE.with_request(body, system="Be kind.") is body
    assert GOOGLE.with_request(body, set={"generationConfig": {"temperature": 0.2}}) is body
    assert GOOGLE.with_request(body, unset=["labels"]) is body
    with pytest.raises(EditError, match="no message 9: the request has 7 messages"):
        GOOGLE.with_request(body, messages=[MessageChange("drop", 8)])


@given(st.lists(st.sampled_from(["drop", "replace", "keep"]), min_size=7, max_size=7))
def test_every_message_is_reached_by_its_place(ops: list[str]) -> None:
    """Whatever is dropped and replaced at once, the messages that are left say what they should."""
    changes = []
    expected = []
    for place, (op, message) in enumerate(zip(ops, GOOGLE.messages(_request()), strict=True)):
        if op == "drop":
            changes.append(MessageChange("drop", place))
            continue
        if op == "replace":
            changes.append(MessageChange("replace", place, text=f"new {place}"))
        expected.append((message.role, message.text if op == "keep" else f"new {place}"))
    new = GOOGLE.with_request(_request(), messages=changes)
    assert [(m.role, m.text) for m in GOOGLE.messages(new)] == expected
