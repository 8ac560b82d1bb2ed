"""Writing "the model was asked this instead" into a request, and what becomes of signatures."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import EditError
from workbench.trace.payloads import MessageChange, view

APIS = ["openai.chat", "workbench"]
SIGNED = {"type": "thinking", "thinking": "", "signature": "c2ln", "x": None}


def _call(name: str = "refund") -> dict[str, Any]:
    return {"id": "c1", "type": "function", "function": {"name": name, "arguments": '{ "a": 1 }'}}


def _body() -> dict[str, Any]:
    return {
        "model": "m-1",
        "temperature": 0.2,
        "metadata": {},
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "Look"}, {"type": "image_url"}]},
            {"role": "assistant", "content": [SIGNED, {"type": "text", "text": "I look."}],
             "tool_calls": [_call()], "vendor": {"k": [1]}},
            {"role": "tool", "tool_call_id": "c1", "content": "done"},
        ],
        "tools": [{"type": "function", "function": {"name": "refund"}}],
    }  # fmt: skip


@pytest.mark.parametrize("api", APIS)
def test_only_what_is_named_changes(api: str) -> None:
    """A message replaced, the others the very same objects, the old request untouched."""
    body, before = _body(), _body()
    new = view(api).with_request(body, messages=[MessageChange("replace", 3, text="nothing found")])
    assert new["messages"][3] == {"role": "tool", "tool_call_id": "c1", "content": "nothing found"}
    assert all(a is b for a, b in zip(new["messages"][:3], body["messages"][:3], strict=True))
    assert new["tools"] is body["tools"]
    assert body == before


def test_places_are_those_before_any_change() -> None:
    """What one change puts in or takes out moves nothing for the next one."""
    changes = [
        MessageChange("drop", 0),
        MessageChange("insert", 1, role="user", text="first"),
        MessageChange("insert", 4, text="last"),
        MessageChange("replace", 3, message={"role": "tool", "tool_call_id": "c1", "content": "x"}),
    ]
    body = _body()
    new = view("openai.chat").with_request(body, messages=changes)["messages"]
    assert [each["role"] for each in new] == ["user", "user", "assistant", "tool", "user"]
    assert (new[0]["content"], new[3]["content"], new[4]["content"]) == ("first", "x", "last")
    assert new[1] is body["messages"][1]


def test_a_text_is_replaced_where_it_stands_between_other_parts() -> None:
    """The image of a message stays, in its order, and so do the text part's own fields."""
    image = {"type": "image_url", "image_url": {"url": "data:,"}}
    marked = {"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}
    raw = {"role": "user", "content": [image, marked, {"type": "text", "text": "b"}, image]}
    change = MessageChange("replace", 0, text="c")
    new = view("openai.chat").with_request({"messages": [raw]}, messages=[change])
    assert new["messages"][0]["content"] == [image, {**marked, "text": "c"}, image]


def test_none_empty_and_absent_stay_three_things() -> None:
    """A parameter set to null is sent as null, an empty object as that, and unset ones not."""
    with_request = view("openai.chat").with_request
    new = with_request(_body(), set={"metadata": None, "stop": {}}, unset=["temperature", "seed"])
    assert (new["metadata"], new["stop"]) == (None, {})
    assert "temperature" not in new
    body = _body()
    assert with_request(body, set={"metadata": {}}, unset=["seed"]) is body


@pytest.mark.parametrize("api", APIS)
def test_the_system_prompt_is_replaced_or_put_first(api: str) -> None:
    """Whatever its role is called; a conversation without one gets one."""
    payloads = view(api)
    new = payloads.with_request(_body(), system="Be brief.")
    assert new["messages"][0] == {"role": "system", "content": "Be brief."}
    assert len(new["messages"]) == 4
    user = {"role": "user", "content": "hi"}
    new = payloads.with_request({"messages": [user]}, system="Be brief.")
    assert new["messages"] == [{"role": "system", "content": "Be brief."}, user]
    told = {"messages": [{"role": "developer", "content": "Be kind."}, user]}
    new = view("openai.chat").with_request(told, system="Be brief.")
    assert new["messages"][0] == {"role": "developer", "content": "Be brief."}


def test_signed_reasoning_goes_with_its_words_and_with_its_model() -> None:
    """Kept byte for byte elsewhere; with other words or another model a provider refuses it."""
    payloads, body = view("openai.chat"), _body()
    assert payloads.messages(body)[2].signed == ("thinking",)
    other = payloads.with_request(body, messages=[MessageChange("replace", 3, text="x")])
    assert other["messages"][2]["content"][0] is SIGNED
    words = payloads.with_request(body, messages=[MessageChange("replace", 2, text="Other.")])
    assert words["messages"][2] == {
        **body["messages"][2],
        "content": [{"type": "text", "text": "Other."}],
    }
    model = payloads.with_request(body, model="m-2")
    assert model["messages"][2]["content"] == [{"type": "text", "text": "I look."}]
    assert model["messages"][1] is body["messages"][1]
    assert payloads.with_request(body, model="m-1") is body


def test_a_place_that_is_not_there_is_refused() -> None:
    """Not taken for the last one, and not ignored."""
    with pytest.raises(EditError, match="no message 5: the request has 4 messages"):
        view("openai.chat").with_request(_body(), messages=[MessageChange("drop", 4)])


TEXT = st.text(max_size=8)
PART = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}),
    st.fixed_dictionaries({"type": st.just("image_url"), "image_url": TEXT}),
    st.fixed_dictionaries({"type": st.just("thinking"), "signature": TEXT, "thinking": TEXT}),
    TEXT,
)
MESSAGE = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool"]),
        "content": st.none() | TEXT | st.lists(PART, max_size=3),
    },
    optional={"vendor": st.dictionaries(TEXT, st.integers(), max_size=2)},
)
BODY: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGE, max_size=5), "model": TEXT},
    optional={"temperature": st.none() | st.floats(0, 2), "x": st.just({})},
)


@given(BODY, st.sampled_from(APIS), st.data())
def test_saying_what_is_there_changes_nothing(body: Any, api: str, data: st.DataObject) -> None:
    """A request rewritten with its own words, model and parameters is the very same object."""
    payloads = view(api)
    said = payloads.messages(body)
    changes = [
        MessageChange("replace", place, text=each.text, role=each.raw["role"])
        for place, each in enumerate(said)
        if each.raw["content"] is not None and data.draw(st.booleans())
    ]
    given_set = {key: value for key, value in body.items() if key not in ("messages", "model")}
    same = payloads.with_request(
        body, messages=changes, model=body["model"], set=given_set, unset=["nowhere"]
    )
    assert same is body


@given(BODY, st.sampled_from(APIS), TEXT, st.data())
def test_a_new_text_is_read_back_and_nothing_else_moves(
    body: Any, api: str, text: str, data: st.DataObject
) -> None:
    """The others are the same objects, what is not text stays, and the old body is as it was."""
    payloads = view(api)
    if not body["messages"]:
        return
    place = data.draw(st.integers(0, len(body["messages"]) - 1))
    before = copy.deepcopy(body)
    new = payloads.with_request(body, messages=[MessageChange("replace", place, text=text)])
    assert body == before
    after = payloads.messages(new)
    assert after[place].text == text
    assert after[place].role == payloads.messages(body)[place].role
    for other, raw in enumerate(body["messages"]):
        if other != place:
            assert new["messages"][other] is raw
    rest = {k: v for k, v in body["messages"][place].items() if k != "content"}
    assert {k: v for k, v in new["messages"][place].items() if k != "content"} == rest


EXTRA: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(["x_vendor", "provider_specific_fields", "service_tier", "empty"]),
    st.none() | st.just({}) | st.lists(st.integers(), max_size=2) | TEXT,
)


@given(EXTRA, EXTRA, TEXT, st.booleans())
def test_fields_that_nobody_knows_survive_an_edit(
    outside: Any, inside: Any, text: str, calls: bool
) -> None:
    """Byte for byte, empty ones too: a provider may want them back."""
    message = {"role": "assistant", "content": "old", **inside}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **outside}
    body = {"id": "r", "choices": [choice], "usage": {"prompt_tokens": 1}, **outside}
    given_calls = [("refund", {"a": 1})] if calls else None
    new = view("openai.chat").with_reply(body, text=text, tool_calls=given_calls)
    said = new["choices"][0]
    for key, value in outside.items():
        assert json.dumps(new[key]) == json.dumps(said[key]) == json.dumps(value)
    for key, value in inside.items():
        assert json.dumps(said["message"][key]) == json.dumps(value)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reasoning_details", [{"type": "reasoning.encrypted", "data": "x"}]),
        ("thinking_blocks", [{"type": "thinking", "thinking": "hm", "signature": ""}]),
        ("reasoning_opaque", "abc"),
    ],
)
def test_a_reply_loses_the_signature_of_words_that_it_no_longer_has(field: str, value: Any) -> None:
    """And keeps it when the same words are said again, or only the finish reason changes."""
    payloads = view("openai.chat")
    message = {"role": "assistant", "content": "old", field: value, "reasoning_content": "I think"}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    assert payloads.reply(body).signed == (field,)
    same: dict[str, Any]
    other: dict[str, Any]
    for same in ({"text": "old"}, {"tool_calls": []}, {"finish_reason": "length"}):
        new = payloads.with_reply(body, **same)
        assert new["choices"][0]["message"] == message
    for other in ({"text": "new"}, {"tool_calls": [("refund", {})]}):
        new = payloads.with_reply(body, **other)["choices"][0]["message"]
        assert field not in new
        assert new["reasoning_content"] == "I think"


@pytest.mark.parametrize("api", APIS)
def test_a_refusal_stands_alone_and_a_reason_can_be_given(api: str) -> None:
    """Text and calls that are not given go with a refusal; a reason is taken as it is."""
    payloads = view(api)
    said = payloads.with_reply(payloads.assemble([]), text="Yes.", tool_calls=[("refund", {})])
    reply = payloads.reply(payloads.with_reply(said, refusal="I may not."))
    assert (reply.refusal, reply.text, reply.tool_calls) == ("I may not.", "", ())
    cut = payloads.reply(payloads.with_reply(said, finish_reason="length"))
    assert (cut.text, cut.finish_reason, len(cut.tool_calls)) == ("Yes.", "length", 1)
