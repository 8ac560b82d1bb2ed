"""Writing into Anthropic's messages: what the model said, and what it was asked."""

import copy
import json
from typing import Any

import pytest
from anthropic.types import Message
from anthropic_bodies import (
    BODY,
    FOUND,
    HIDDEN,
    INPUT,
    SEARCH,
    TEXT,
    THOUGHT,
    message,
    result,
    use,
    words,
)
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import EditError
from workbench.trace.payloads import MessageChange, view

VIEW = view("anthropic.messages")
IMAGE = {"type": "image", "source": {"type": "base64", "data": "AA=="}}

# -- replies


def test_text_in_place_of_calls() -> None:
    """The calls go and the reason with them, all the rest stays as it was."""
    body = message(use("lookup", {"order": 101}), stop_reason="tool_use")
    before = copy.deepcopy(body)
    new = VIEW.with_reply(body, text="Which order?", tool_calls=[])
    assert body == before
    assert new == {**before, "content": [words("Which order?")], "stop_reason": "end_turn"}
    assert Message.model_validate(new).content[0].type == "text"


def test_other_arguments_keep_the_id_under_which_the_result_is_given_back() -> None:
    """Words, searches and the other call are the very same objects; ids are derived."""
    second = use("refund", {"order": 101}, "toolu_b", cache_control={"type": "ephemeral"})
    body = message(words("I look."), SEARCH, FOUND, use("lookup", {"order": 101}), second)
    calls: list[Any] = [("lookup", {"order": 102}), ("refund", {"order": 101}), ("note", {})]
    made = VIEW.with_reply(body, tool_calls=calls)
    new = made["content"]
    assert all(new[n] is body["content"][n] for n in (0, 1, 2, 4))
    assert new[3] == use("lookup", {"order": 102})
    assert (new[5]["name"], new[5]["input"], new[5]["id"][:8]) == ("note", {}, "call_wb_")
    assert made["stop_reason"] == "tool_use"
    assert VIEW.with_reply(body, tool_calls=calls) == made


def test_signed_thinking_goes_with_what_it_led_to() -> None:
    """And stays byte for byte where the same is said again, or only the reason is another."""
    body = message(THOUGHT, HIDDEN, words("Old"), use("f", {}))
    same: dict[str, Any]
    for same in ({"text": "Old"}, {"tool_calls": [("f", {})]}, {"finish_reason": "max_tokens"}):
        kept = VIEW.with_reply(body, **same)["content"]
        assert all(a is b for a, b in zip(kept, body["content"], strict=True))
    other: dict[str, Any]
    for other in ({"text": "New"}, {"tool_calls": [("g", {})]}):
        new = VIEW.with_reply(body, **other)
        assert [block["type"] for block in new["content"]] == ["text", "tool_use"]
        assert VIEW.reply(new).signed == ()


def test_words_replace_all_words_and_lose_their_citations() -> None:
    """An empty text leaves no block, which a provider would refuse."""
    body = message(words("a", citations=[{}]), SEARCH, FOUND, words("b"), use("f", {}))
    new = VIEW.with_reply(body, text="c")["content"]
    assert new == [words("c", citations=None), SEARCH, FOUND, use("f", {})]
    assert VIEW.with_reply(body, text="")["content"] == [SEARCH, FOUND, use("f", {})]


def test_a_refusal_stands_alone_and_a_reason_can_be_given() -> None:
    """Text and calls that are not given go; other words after it are no refusal."""
    said = message(words("Yes."), use("f", {}), stop_reason="tool_use", stop_sequence=None)
    refused = VIEW.with_reply(said, refusal="I may not.")
    reply = VIEW.reply(refused)
    assert (reply.refusal, reply.text, reply.tool_calls) == ("I may not.", "", ())
    assert reply.finish_reason == "refusal"
    again = VIEW.with_reply(refused, text="Well.")
    assert (VIEW.reply(again).refusal, again["stop_details"]) == (None, None)
    cut = VIEW.with_reply(said, finish_reason="max_tokens")
    assert (VIEW.reply(cut).finish_reason, cut["content"]) == ("max_tokens", said["content"])


def test_nothing_becomes_a_whole_reply() -> None:
    """Out of an empty body, or an error, one that the SDK reads, the same each time."""
    error = {"type": "error", "error": {"type": "overloaded_error"}}
    for empty in (VIEW.assemble([]), error, {}):
        new = VIEW.with_reply({**empty, "model": "m"}, text="Hi", tool_calls=[("f", {"a": 1})])
        parsed = Message.model_validate(new)
        assert (parsed.id[:7], parsed.stop_reason, parsed.usage.input_tokens) == (
            "msg_wb_", "tool_use", 0,
        )  # fmt: skip
        assert "error" not in new


@given(BODY, TEXT, st.lists(st.tuples(st.text(min_size=1, max_size=4), INPUT), max_size=3))
def test_what_is_written_is_read_back(body: Any, text: str, calls: list[tuple[str, Any]]) -> None:
    """Whatever stood there: the new words and calls, and nothing mutated."""
    before = copy.deepcopy(body)
    reply = VIEW.reply(VIEW.with_reply(body, text=text, tool_calls=calls))
    assert body == before
    assert (reply.text, reply.refusal) == (text, None)
    assert reply.finish_reason == ("tool_use" if calls else "end_turn")
    assert [(call.name, call.arguments) for call in reply.tool_calls] == calls
    assert VIEW.with_reply(body) is body


@given(BODY)
def test_saying_the_same_again_keeps_every_block(body: Any) -> None:
    """An edit that changes nothing leaves signatures, ids and unknown fields where they are."""
    reply = VIEW.reply(body)
    new = VIEW.with_reply(
        body, text=reply.text, tool_calls=reply.tool_calls, finish_reason=reply.finish_reason
    )
    assert all(a is b for a, b in zip(new["content"], body["content"], strict=True))


# -- requests


def _body() -> dict[str, Any]:
    return {
        "model": "claude-1",
        "max_tokens": 10,
        "system": "Be kind.",
        "metadata": {},
        "messages": [
            {"role": "user", "content": [words("Look"), IMAGE]},
            {"role": "assistant", "content": [
                THOUGHT, words("I look."), use("f", {}), use("g", {}, "toolu_b")]},
            {"role": "user", "content": [
                result("toolu_a", "one"), result("toolu_b", [words("two"), IMAGE]), words("Go")]},
            {"role": "assistant", "content": "Done."},
        ],
    }  # fmt: skip


def _with(*changes: MessageChange, **more: Any) -> list[Any]:
    new: list[Any] = VIEW.with_request(_body(), messages=changes, **more)["messages"]
    return new


def test_one_result_of_several_is_replaced() -> None:
    """The other blocks and messages are the very same, the signed thinking before them too."""
    body, before = _body(), _body()
    change = MessageChange("replace", 4, text="nothing found")
    new = VIEW.with_request(body, messages=[change])
    blocks = new["messages"][2]["content"]
    assert blocks[1] == result("toolu_b", [words("nothing found"), IMAGE])
    assert blocks[0] is body["messages"][2]["content"][0]
    assert blocks[2] is body["messages"][2]["content"][2]
    assert all(new["messages"][n] is body["messages"][n] for n in (0, 1, 3))
    assert body == before
    texts = [m.text for m in VIEW.messages(new)]
    assert texts == ["Be kind.", "Look", "I look.", "one", "nothing found", "Go", "Done."]


def test_blocks_are_dropped_replaced_and_parted() -> None:
    """What is put between two blocks stands between two messages; an empty message goes."""
    new = _with(MessageChange("drop", 3), MessageChange("replace", 4, message=result("b", "x")))
    assert new[2] == {"role": "user", "content": [result("b", "x"), words("Go")]}
    gone = _with(*(MessageChange("drop", n) for n in (3, 4, 5)))
    assert [m["role"] for m in gone] == ["user", "assistant", "assistant"]
    parted = _with(MessageChange("insert", 5, role="assistant", text="between"))
    assert parted[2:5] == [
        {"role": "user", "content": _body()["messages"][2]["content"][:2]},
        {"role": "assistant", "content": "between"},
        {"role": "user", "content": [words("Go")]},
    ]
    whole = {"role": "user", "content": [words("a"), words("b")]}
    spliced = _with(MessageChange("replace", 5, message=whole))
    assert spliced[2]["content"][2:] == whole["content"]


def test_new_messages_stand_between_whole_ones() -> None:
    """Before the first block of a message, at the end, and given as a block alone."""
    new = _with(
        MessageChange("insert", 3, text="before the results"),
        MessageChange("insert", 7, message=result("c", "x")),
        MessageChange("insert", 0, text="first"),
    )
    assert new[0] == {"role": "user", "content": "first"}
    assert new[3] == {"role": "user", "content": "before the results"}
    assert new[4] == _body()["messages"][2]
    assert new[6] == {"role": "user", "content": [result("c", "x")]}


def test_the_system_prompt_is_replaced_dropped_or_put_in() -> None:
    """As a text or as blocks, whose marks for the cache stay."""
    with_request = VIEW.with_request
    assert with_request(_body(), system="Be brief.")["system"] == "Be brief."
    assert with_request({"messages": []}, system="x") == {"messages": [], "system": "x"}
    marked = words("a", cache_control={"type": "ephemeral"})
    blocks = {"system": [marked, words("b")], "messages": []}
    assert with_request(blocks, system="c")["system"] == [{**marked, "text": "c"}]
    assert with_request(blocks, system="a\nb") is blocks
    change = MessageChange("replace", 0, text="Other.")
    assert with_request(_body(), messages=[change])["system"] == "Other."
    assert "system" not in with_request(_body(), messages=[MessageChange("drop", 0)])
    with pytest.raises(EditError, match="message 1 is the system prompt"):
        _with(MessageChange("replace", 0, role="user"))


def test_signed_thinking_goes_with_its_words_and_with_its_model() -> None:
    """In the message whose words are others; with another model in all."""
    changed = _with(MessageChange("replace", 2, text="New."))
    assert changed[1]["content"] == [words("New."), use("f", {}), use("g", {}, "toolu_b")]
    other = _with(model="claude-2")
    assert other[1]["content"] == _body()["messages"][1]["content"][1:]
    body = _body()
    assert VIEW.with_request(body, model="claude-1") is body


def test_what_cannot_be_is_refused() -> None:
    """Places that are not there, words for an image, another role for a part of a message."""
    with pytest.raises(EditError, match="no message 8: the request has 7 messages"):
        _with(MessageChange("drop", 7))
    with pytest.raises(EditError, match=r"message 4 is a part .* role 'assistant'"):
        _with(MessageChange("replace", 3, role="assistant"))
    body = {"messages": [{"role": "user", "content": [result("a", "x"), IMAGE]}]}
    with pytest.raises(EditError, match="message 2 is a block image"):
        VIEW.with_request(body, messages=[MessageChange("replace", 1, text="x")])


_USER = st.one_of(
    st.builds(words, TEXT), st.just(IMAGE), st.builds(lambda t: result("toolu_a", t), TEXT),
    st.builds(lambda t: result("toolu_b", [words(t), IMAGE]), TEXT),
)  # fmt: skip
_SAID = st.one_of(st.builds(words, TEXT), st.just(THOUGHT), st.just(use("f", {"a": 1})))
_WIRE: st.SearchStrategy[Any] = st.one_of(
    st.builds(lambda blocks: {"role": "user", "content": blocks}, st.lists(_USER, max_size=4)),
    st.builds(lambda blocks: {"role": "assistant", "content": blocks}, st.lists(_SAID, max_size=3)),
    st.builds(lambda role, text: {"role": role, "content": text},
              st.sampled_from(["user", "assistant"]), TEXT),
)  # fmt: skip
REQUEST: st.SearchStrategy[Any] = st.fixed_dictionaries(
    {"messages": st.lists(_WIRE, max_size=4), "model": TEXT},
    optional={"system": TEXT | st.lists(st.builds(words, TEXT), min_size=1, max_size=2),
              "temperature": st.none(), "x": st.just({})},
)  # fmt: skip


@given(REQUEST, st.data())
def test_saying_what_is_there_changes_nothing(body: Any, data: st.DataObject) -> None:
    """A request rewritten with its own words, model and parameters is the very same object."""
    found = VIEW.messages(body)
    changes = [
        MessageChange("replace", place, text=each.text)
        for place, each in enumerate(found)
        if each.raw != IMAGE and data.draw(st.booleans())
    ]
    system = found[0].text if found and found[0].at == ("system",) else None
    rest = {k: v for k, v in body.items() if k not in ("messages", "model", "system")}
    same = VIEW.with_request(
        body, system=system, messages=changes, model=body["model"], set=rest, unset=["nowhere"]
    )
    assert same is body


@given(REQUEST, TEXT, st.data())
def test_a_new_text_is_read_back_and_nothing_else_moves(
    body: Any, text: str, data: st.DataObject
) -> None:
    """In its place, with the role it had; every other message reads as before."""
    before = copy.deepcopy(body)
    found = VIEW.messages(body)
    wordy = [n for n, m in enumerate(found) if m.raw != IMAGE]
    if not wordy:
        return
    place = data.draw(st.sampled_from(wordy))
    new = VIEW.with_request(body, messages=[MessageChange("replace", place, text=text)])
    assert json.dumps(body) == json.dumps(before)
    after = VIEW.messages(new)
    assert [(m.text, m.role) for m in after] == [
        (text if n == place else m.text, m.role) for n, m in enumerate(found)
    ]
    assert all(a.raw is b.raw for n, (a, b) in enumerate(zip(after, found, strict=True))
               if n != place)  # fmt: skip


@given(REQUEST, st.data())
def test_what_is_dropped_is_gone_and_nothing_else(body: Any, data: st.DataObject) -> None:
    """Messages and blocks alike."""
    found = VIEW.messages(body)
    gone = data.draw(st.sets(st.sampled_from(range(len(found))))) if found else set()
    new = VIEW.with_request(body, messages=[MessageChange("drop", n) for n in gone])
    kept = [m.raw for n, m in enumerate(found) if n not in gone]
    # A message of which only blocks without results are left is one message again.
    left = [block for m in VIEW.messages(new) for block in _parts(m.raw)]
    assert left == [block for raw in kept for block in _parts(raw)]


def _parts(raw: Any) -> list[Any]:
    content = raw.get("content") if isinstance(raw, dict) and "role" in raw else None
    return content if isinstance(content, list) and content else [raw]
