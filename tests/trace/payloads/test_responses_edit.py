"""Writing into OpenAI's Responses: what the model said, and what it was asked."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response
from responses_bodies import BODY, SEALED, TEXT, answered, called, response, said

from workbench.errors import EditError
from workbench.trace.payloads import MessageChange, view

VIEW = view("openai.responses")


def _call(name: str = "lookup", call_id: str = "call_a", item_id: str = "fc_1") -> dict[str, Any]:
    return called(name, '{ "order": 101 }', call_id, item_id)


# -- replies


def test_text_in_place_of_calls() -> None:
    """The calls go, the words stand in a message of their own, all the rest stays as it was."""
    body = response(_call(), status="incomplete", incomplete_details={"reason": "x"})
    before = copy.deepcopy(body)
    new = VIEW.with_reply(body, text="Which order?", tool_calls=[])
    assert body == before
    (item,) = new["output"]
    assert item == {
        "id": item["id"],
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "annotations": [], "text": "Which order?"}],
    }
    assert item["id"].startswith("msg_wb_")
    assert (new["status"], new["incomplete_details"]) == ("completed", None)
    same = {"output", "status", "incomplete_details"}
    assert {k: v for k, v in new.items() if k not in same} == {
        k: v for k, v in before.items() if k not in same
    }
    parsed = Response.model_validate(new)
    assert parsed.output_text == "Which order?"


def test_other_arguments_keep_the_id_under_which_the_result_is_given_back() -> None:
    """The other call and the words are the very same objects."""
    words, second = said("I look."), _call("refund", "call_b", "fc_2")
    body = response(words, _call(), second)
    calls: list[Any] = [
        ("lookup", {"order": 102}),
        {"name": "refund", "arguments": '{ "order": 101 }'},
    ]
    new = VIEW.with_reply(body, tool_calls=calls)["output"]
    assert new[0] is words
    assert new[1] == {**_call(), "arguments": '{"order":102}'}
    assert new[2] is second


def test_a_new_call_gets_an_id_that_the_same_edit_gives_again() -> None:
    """Derived from the reply, so that two forks with one edit are one."""
    made = [VIEW.with_reply(response(said("Hi")), tool_calls=[("refund", {})]) for _ in range(2)]
    assert made[0] == made[1]
    call = made[0]["output"][1]
    assert (call["name"], call["arguments"], call["status"]) == ("refund", "{}", "completed")
    assert call["call_id"].startswith("call_wb_")
    assert call["id"].startswith("fc_wb_")


def test_sealed_reasoning_goes_with_what_it_led_to() -> None:
    """With other words or calls the provider would refuse it, and the items that it made."""
    body = response(SEALED, said("Old"), _call())
    assert VIEW.with_reply(body, text="Old")["output"][0] is SEALED
    assert VIEW.with_reply(body, finish_reason="cancelled")["output"] == body["output"]
    new = VIEW.with_reply(body, text="New")["output"]
    assert [item["type"] for item in new] == ["message", "function_call"]
    assert [item["id"][:7] for item in new] == ["msg_wb_", "fc_wb_d"[:6] + new[1]["id"][6]]
    assert new[1] == {**_call(), "id": new[1]["id"]}
    plain = {"type": "reasoning", "summary": [], "content": []}
    kept = VIEW.with_reply(response(plain, said("Old")), text="New")["output"]
    assert kept[0] is plain


def test_words_replace_all_words_and_lose_what_points_into_them() -> None:
    """Citations and log probabilities of the old text would contradict the new one."""
    first = said("a")
    first["content"][0] |= {"annotations": [{"type": "url_citation"}], "logprobs": [{"token": "a"}]}
    image = {"type": "x_image", "url": "data:,"}
    first["content"] += [image, {"type": "refusal", "refusal": "no"}]
    new = VIEW.with_reply(response(first, said("b", "msg_2")), text="c")["output"]
    part = {"type": "output_text", "text": "c", "annotations": [], "logprobs": []}
    assert new == [{**first, "content": [part, image]}]


def test_a_refusal_stands_alone_and_a_reason_can_be_given() -> None:
    """Text and calls that are not given go; what cut the reply is said where it is read."""
    refused = VIEW.with_reply(response(said("Yes."), _call()), refusal="I may not.")
    reply = VIEW.reply(refused)
    assert (reply.refusal, reply.text, reply.tool_calls) == ("I may not.", "", ())
    assert VIEW.reply(VIEW.with_reply(refused, text="Well.")).refusal is None
    cut = VIEW.with_reply(response(said("Yes.")), finish_reason="max_output_tokens")
    assert (cut["status"], cut["incomplete_details"]) == (
        "incomplete", {"reason": "max_output_tokens"},
    )  # fmt: skip
    assert VIEW.reply(cut).finish_reason == "max_output_tokens"


def test_a_failed_reply_can_say_something() -> None:
    """Its error goes; an empty body becomes a whole reply that the SDK reads."""
    failed = response(status="failed", error={"code": "server_error", "message": "x"})
    new = VIEW.with_reply(failed, text="Hi")
    assert (new["error"], VIEW.reply(new).text) == (None, "Hi")
    made = VIEW.with_reply(VIEW.assemble([]), text="Hi", tool_calls=[("refund", {"a": 1})])
    parsed = Response.model_construct(**made)
    assert parsed.id.startswith("resp_wb_")
    assert [item["type"] for item in made["output"]] == ["message", "function_call"]


@given(BODY, TEXT, st.lists(st.tuples(st.text(min_size=1, max_size=4), TEXT), max_size=3))
def test_what_is_written_is_read_back(body: Any, text: str, calls: list[tuple[str, str]]) -> None:
    """Whatever stood there: the new words and calls, no refusal, and nothing mutated."""
    before = copy.deepcopy(body)
    reply = VIEW.reply(VIEW.with_reply(body, text=text, tool_calls=calls))
    assert body == before
    assert (reply.text, reply.refusal, reply.finish_reason) == (text, None, "completed")
    assert [(call.name, call.raw) for call in reply.tool_calls] == calls
    assert VIEW.with_reply(body) is body


@given(BODY)
def test_saying_the_same_again_keeps_every_item(body: Any) -> None:
    """An edit that changes nothing leaves signatures, ids and unknown fields where they are."""
    reply = VIEW.reply(body)
    if reply.refusal is None and (reply.text or reply.tool_calls):
        new = VIEW.with_reply(body, text=reply.text, tool_calls=reply.tool_calls)
        kept = [item for item in body["output"] if item in new["output"]]
        assert [item for item in new["output"] if item not in kept] == []
        assert VIEW.reply(new).signed == reply.signed


# -- requests


def _body() -> dict[str, Any]:
    return {
        "model": "gpt-5",
        "instructions": "Be kind.",
        "metadata": {},
        "input": [
            {"role": "user", "content": [
                {"type": "input_text", "text": "Look"}, {"type": "input_image"}]},
            SEALED,
            _call(),
            answered("call_a", "done"),
            said("Done."),
        ],
    }  # fmt: skip


def _with(*changes: MessageChange, **more: Any) -> Any:
    return VIEW.with_request(_body(), messages=changes, **more)


def test_only_what_is_named_changes() -> None:
    """A result replaced: its item is new, the others are the very same, sealed reasoning too."""
    body, before = _body(), _body()
    change = MessageChange("replace", 4, text="nothing found")
    new = VIEW.with_request(body, messages=[change])
    assert new["input"][3] == answered("call_a", "nothing found")
    kept = [(a, b) for n, (a, b) in enumerate(zip(new["input"], body["input"], strict=True))
            if n != 3]  # fmt: skip
    assert all(a is b for a, b in kept)
    assert (new["instructions"], body) == (before["instructions"], before)


def test_places_count_from_the_instructions() -> None:
    """The first message is the instructions, and nothing can be put before them."""
    new = _with(
        MessageChange("insert", 0, text="first"),
        MessageChange("replace", 0, text="Be brief."),
        MessageChange("drop", 5),
        MessageChange("insert", 6, role="developer", text="last"),
    )
    assert new["instructions"] == "Be brief."
    assert new["input"][0] == {"role": "user", "content": "first"}
    assert [item.get("type", item.get("role")) for item in new["input"]] == [
        "user", "user", "reasoning", "function_call", "function_call_output", "developer",
    ]  # fmt: skip
    assert "instructions" not in _with(MessageChange("drop", 0))
    with pytest.raises(EditError, match="no message 7: the request has 6 messages"):
        _with(MessageChange("drop", 6))
    with pytest.raises(EditError, match="system prompt"):
        _with(MessageChange("replace", 0, role="user"))


def test_the_system_prompt_is_the_instructions() -> None:
    """Put in where there are none, and the same body where they say that already."""
    assert VIEW.with_request({"input": "Hi"}, system="Be brief.") == {
        "input": "Hi", "instructions": "Be brief.",
    }  # fmt: skip
    body = _body()
    assert VIEW.with_request(body, system="Be kind.") is body


def test_an_input_that_is_a_text_stays_one_while_it_can() -> None:
    """Beside another message it becomes a message itself."""
    asked = {"input": "Hi"}
    changed = VIEW.with_request(asked, messages=[MessageChange("replace", 0, text="Ho")])
    assert changed == {"input": "Ho"}
    grown = VIEW.with_request(asked, messages=[MessageChange("insert", 1, text="more")])
    assert grown["input"] == [
        {"role": "user", "content": "Hi"}, {"role": "user", "content": "more"},
    ]  # fmt: skip
    same = VIEW.with_request(asked, messages=[MessageChange("replace", 0, text="Hi")])
    assert same is asked


def test_sealed_reasoning_goes_with_its_turn_and_with_its_model() -> None:
    """With it go the ids by which the provider would look for it; the calls' own ids stay."""
    dropped = _with(MessageChange("replace", 3, message=_call("refund")))
    assert [i.get("type") for i in dropped["input"][1:3]] == [
        "function_call", "function_call_output",
    ]  # fmt: skip
    model = _with(model="gpt-6")
    assert model["input"][1] == {k: v for k, v in _call().items() if k != "id"}
    assert model["input"][0] == _body()["input"][0]
    assert model["input"][3] == said("Done.")
    body = _body()
    assert VIEW.with_request(body, model="gpt-5") is body


def test_what_has_no_words_is_refused_words() -> None:
    """A call or an opaque item is replaced as a whole or dropped, never given a text."""
    with pytest.raises(EditError, match=r"message 3 is an item function_call.*message="):
        VIEW.with_request({"input": ["Hi", SEALED, _call()]}, messages=[
            MessageChange("replace", 2, text="x")])  # fmt: skip
    with pytest.raises(EditError, match="a tool's result, whose role"):
        _with(MessageChange("replace", 4, role="user"))


def test_a_result_with_an_image_keeps_it() -> None:
    """Only the text parts of an output are replaced."""
    image = {"type": "input_image", "image_url": "data:,"}
    result = answered("call_a", [image, {"type": "input_text", "text": "old"}])
    change = MessageChange("replace", 1, text="new")
    new = VIEW.with_request({"input": [_call(), result]}, messages=[change])
    assert new["input"][1]["output"] == [image, {"type": "input_text", "text": "new"}]


ITEM: st.SearchStrategy[Any] = st.one_of(
    st.builds(lambda role, text: {"role": role, "content": text},
              st.sampled_from(["user", "developer", "assistant"]), TEXT),
    st.builds(lambda text: {"role": "user", "content": [
        {"type": "input_text", "text": text}, {"type": "input_image"}]}, TEXT),
    st.builds(said, TEXT),
    st.builds(lambda out: answered("call_a", out), TEXT),
    st.just(SEALED),
    st.just(_call()),
)  # fmt: skip
REQUEST: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"input": TEXT | st.lists(ITEM, max_size=5), "model": TEXT},
    optional={"instructions": TEXT, "temperature": st.none(), "x": st.just({})},
)


@given(REQUEST, st.data())
def test_saying_what_is_there_changes_nothing(body: Any, data: st.DataObject) -> None:
    """A request rewritten with its own words, model and parameters is the very same object."""
    changes = [
        MessageChange("replace", place, text=each.text)
        if each.raw.get("type") not in ("reasoning", "function_call")
        else MessageChange("replace", place, message=each.raw)
        for place, each in enumerate(VIEW.messages(body))
        if isinstance(each.raw, dict) and data.draw(st.booleans())
    ]
    rest = {k: v for k, v in body.items() if k not in ("input", "model", "instructions")}
    same = VIEW.with_request(
        body, system=body.get("instructions"), messages=changes, model=body["model"], set=rest,
        unset=["nowhere"],
    )  # fmt: skip
    assert same is body


@given(REQUEST, TEXT, st.data())
def test_a_new_text_is_read_back(body: Any, text: str, data: st.DataObject) -> None:
    """In its place, with the role it had; what the old request held is as it was."""
    before = copy.deepcopy(body)
    found = VIEW.messages(body)
    wordy = [n for n, m in enumerate(found) if not (m.tool_calls or m.signed)]
    if not wordy:
        return
    place = data.draw(st.sampled_from(wordy))
    new = VIEW.with_request(body, messages=[MessageChange("replace", place, text=text)])
    assert json.dumps(body) == json.dumps(before)
    shift = sum(1 for m in found[:place] if m.signed) if new is not body else 0
    after = VIEW.messages(new)
    assert any(m.text == text and m.role == found[place].role
               for m in after[place - shift : place + 1])  # fmt: skip
