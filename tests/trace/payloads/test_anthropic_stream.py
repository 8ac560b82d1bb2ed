"""Streams of Anthropic's messages: assembling events, cutting a reply into events."""

import copy
import json
from typing import Any

import anthropic
import pytest
from answering import Answers
from anthropic_bodies import BODY, FOUND, HIDDEN, SEARCH, THOUGHT, message, use, words
from hypothesis import given, settings

from workbench.trace.payloads import view

VIEW = view("anthropic.messages")
Event = dict[str, Any]


def _start(**more: Any) -> Event:
    usage = {"input_tokens": 9, "cache_read_input_tokens": 3, "output_tokens": 1}
    return {"type": "message_start",
            "message": message(stop_reason=None, usage=usage, **more)}  # fmt: skip


def _block(index: int, block: Event) -> Event:
    return {"type": "content_block_start", "index": index, "content_block": block}


def _delta(index: int, kind: str, **fields: Any) -> Event:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def _json(index: int, text: str) -> Event:
    return _delta(index, "input_json_delta", partial_json=text)


def test_deltas_go_to_the_block_of_their_index() -> None:
    """Two calls whose pieces arrive mixed, the second one first, are two whole calls in order."""
    body = VIEW.assemble([
        _start(), _block(1, use("f", {}, "b")), _block(0, use("f", {}, "a")),
        _json(1, '{"n":'), _json(0, '{"n": 1'), _json(1, " 2}"), _json(0, "}"),
    ])  # fmt: skip
    calls = VIEW.reply(body).tool_calls
    assert [(c.id, c.arguments) for c in calls] == [("a", {"n": 1}), ("b", {"n": 2})]


def test_all_kinds_of_blocks_grow() -> None:
    """Thinking with its signature, cited text, calls without arguments, whole blocks."""
    body = VIEW.assemble([
        _start(),
        {"type": "ping"},
        _block(0, {"type": "thinking", "thinking": "", "signature": ""}),
        _delta(0, "thinking_delta", thinking="I "), _delta(0, "thinking_delta", thinking="look."),
        _delta(0, "signature_delta", signature="c2ln"),
        {"type": "content_block_stop", "index": 0},
        _block(1, HIDDEN),
        _block(2, words("", citations=[])),
        _delta(2, "citations_delta", citation={"n": 1}), _delta(2, "text_delta", text="It "),
        _delta(2, "text_delta", text="rains."), _delta(2, "new_delta", x=1),
        _block(3, {**SEARCH, "input": {}}), _json(3, ""), _json(3, '{"query":"x"}'),
        _block(4, FOUND),
        _block(5, use("now", {})), _json(5, ""),
        {"type": "message_delta", "delta": {"stop_reason": "tool_use", "stop_sequence": None},
         "usage": {"output_tokens": 40, "server_tool_use": {"web_search_requests": 1}},
         "context_management": {"applied_edits": []}},
        {"type": "message_stop"},
    ])  # fmt: skip
    assert body["content"] == [
        {"type": "thinking", "thinking": "I look.", "signature": "c2ln"},
        HIDDEN,
        words("It rains.", citations=[{"n": 1}]),
        SEARCH,
        FOUND,
        use("now", {}),
    ]
    assert (body["stop_reason"], body["context_management"]) == ("tool_use", {"applied_edits": []})
    assert body["usage"] == {
        "input_tokens": 9, "cache_read_input_tokens": 3, "output_tokens": 40,
        "server_tool_use": {"web_search_requests": 1},
    }  # fmt: skip


def test_a_cut_stream_keeps_its_missing_end() -> None:
    """Bad tool JSON is not mended, no reason is made up, an error event changes nothing."""
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    events = [_start(), _block(0, use("f", {})), _json(0, '{"order": '), error]
    reply = VIEW.reply(VIEW.assemble(events))
    assert reply.finish_reason is None
    assert (reply.tool_calls[0].raw, reply.tool_calls[0].arguments) == ('{"order": ', None)
    assert VIEW.assemble([]) == {"type": "message", "role": "assistant", "content": []}
    assert VIEW.reply(VIEW.assemble(events[2:])).text == ""


@given(BODY)
def test_assemble_undoes_split(body: Event) -> None:
    """A reply cut into events and put together is the reply, field for field, nothing mutated."""
    before = copy.deepcopy(body)
    events = VIEW.split(body)
    assert VIEW.assemble(events) == body == before
    assert (events[-1]["type"] == "message_stop") == (body["stop_reason"] is not None)
    assert events[0]["message"]["content"] == []


def test_text_that_is_no_json_is_cut_and_read_as_it_is() -> None:
    """A model's broken arguments reach the agent broken, streamed or not."""
    body = message(use("f", '{"order": 1, '))
    assert VIEW.assemble(VIEW.split(body)) == body


_ANSWERS = Answers(anthropic)


@pytest.fixture(scope="module")
def client() -> anthropic.Anthropic:
    """The real SDK over a transport that answers with what :data:`_ANSWERS` were given."""
    return anthropic.Anthropic(
        api_key="none", base_url="http://api.example", max_retries=0, http_client=_ANSWERS.http
    )


def _stream(client: anthropic.Anthropic, events: list[Event]) -> Any:
    _ANSWERS.say(events)
    said: Any = [{"role": "user", "content": "x"}]
    return client.messages.stream(model="m", max_tokens=9, messages=said)


def test_the_sdk_streams_our_events_as_a_real_reply(client: anthropic.Anthropic) -> None:
    """Its helper gives text piece by piece, thinking, inputs, and the final message."""
    cited = {"type": "char_location", "cited_text": "a", "document_index": 0,
             "document_title": None, "start_char_index": 0, "end_char_index": 1}  # fmt: skip
    body = message(
        THOUGHT, HIDDEN, SEARCH,
        words("Hello there, how are you doing today, my friend?", citations=[cited]),
        use("lookup", {"order": 101, "note": "as soon as it can be done, please"}),
        stop_reason="tool_use",
    )  # fmt: skip
    with _stream(client, VIEW.split(body)) as stream:
        events = list(stream)
        final = stream.get_final_message()
    texts = [event.text for event in events if event.type == "text"]
    assert "".join(texts) == VIEW.reply(body).text
    assert len(texts) > 1
    assert sum(event.type == "input_json" for event in events) > 3
    told = json.loads(final.model_dump_json(exclude_unset=True))
    for block in told["content"]:
        block.pop("parsed_output", None)
    told.pop("stop_details", None)
    assert told == body


@settings(max_examples=40)
@given(body=BODY)
def test_the_sdk_accumulates_what_we_cut(client: anthropic.Anthropic, body: Event) -> None:
    """Its snapshot has the same words, calls, thinking and counts at the end."""
    with _stream(client, VIEW.split(body)) as stream:
        for _ in stream:
            pass
        final = stream.current_message_snapshot
    reply, usage = VIEW.reply(body), VIEW.usage(body)
    assert "".join(block.text for block in final.content if block.type == "text") == reply.text
    assert [(b.id, b.input) for b in final.content if b.type == "tool_use"] == [
        (call.id, call.arguments) for call in reply.tool_calls
    ]
    signed = [b.signature for b in final.content if b.type == "thinking"]
    assert [s or "" for s in signed] == [
        b.get("signature", "") for b in body["content"] if b["type"] == "thinking"
    ]
    assert usage is not None
    assert final.stop_reason == reply.finish_reason
    assert (final.usage.output_tokens, final.usage.cache_read_input_tokens) == (
        usage.output_tokens, usage.cache_read_tokens,
    )  # fmt: skip
