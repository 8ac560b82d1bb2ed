"""Streams of OpenAI's Responses: assembling events, cutting a reply into events."""

import copy
import json
from typing import Any

import openai
import pytest
from answering import Answers
from hypothesis import given, settings
from responses_bodies import BODY, SEALED, called, response, said

from workbench.trace.payloads import view

VIEW = view("openai.responses")
Event = dict[str, Any]


def _event(name: str, index: int | None = None, item_id: str | None = None, **more: Any) -> Event:
    where: Event = {} if index is None else {"output_index": index}
    where |= {} if item_id is None else {"item_id": item_id}
    return {"type": f"response.{name}", **where, **more}


def _added(index: int | None, item: Event) -> Event:
    return _event("output_item.added", index, item=item)


def _begun(**more: Any) -> Event:
    return _event("created", response=response(status="in_progress", usage=None, **more))


def _call(item_id: str, call_id: str) -> Event:
    return {**called("search", "", call_id, item_id), "status": "in_progress"}


def test_deltas_go_to_the_item_that_they_name() -> None:
    """Two calls whose fragments arrive mixed, the second one first, are two whole calls."""
    body = VIEW.assemble([
        _begun(),
        _added(1, _call("fc_b", "b")),
        _added(0, _call("fc_a", "a")),
        _event("function_call_arguments.delta", 1, "fc_b", delta="[2"),
        _event("function_call_arguments.delta", 0, "fc_a", delta="[1"),
        _event("function_call_arguments.delta", 1, "fc_b", delta="]"),
        _event("function_call_arguments.delta", 0, "fc_a", delta="]"),
    ])  # fmt: skip
    assert [(c.id, c.arguments) for c in VIEW.reply(body).tool_calls] == [("a", [1]), ("b", [2])]


@pytest.mark.parametrize("way", ["no index", "one index for all", "a new id for each event"])
def test_servers_that_bend_the_format_are_understood(way: str) -> None:
    """Items stay apart, and whole, by whichever of id and index can be believed."""
    events = [
        _added(0, _call("fc_a", "a")),
        _added(1, _call("fc_b", "b")),
        _event("function_call_arguments.delta", 0, "fc_a", delta="[1]"),
        _event("function_call_arguments.delta", 1, "fc_b", delta="[2]"),
    ]
    for number, event in enumerate(events):
        if way == "no index":
            del event["output_index"]
        elif way == "one index for all":
            event["output_index"] = 0
        elif "item_id" in event:
            event["item_id"] = f"other_{number}"
    calls = VIEW.reply(VIEW.assemble(events)).tool_calls
    assert [(call.id, call.raw) for call in calls] == [("a", "[1]"), ("b", "[2]")]


def test_a_cut_stream_keeps_its_missing_end() -> None:
    """What came stays, arguments are not mended, and the status is the one that was told."""
    events = [
        _begun(),
        _added(0, {**SEALED, "summary": [], "encrypted_content": ""}),
        _event("reasoning_summary_part.added", 0, "rs_1", summary_index=0,
               part={"type": "summary_text", "text": ""}),
        _event("reasoning_summary_text.delta", 0, "rs_1", summary_index=0, delta="I look"),
        _added(1, {**said(""), "content": []}),
        _event("content_part.added", 1, "msg_1", content_index=0,
               part={"type": "output_text", "text": "", "annotations": []}),
        _event("output_text.delta", 1, "msg_1", content_index=0, delta="Hel", logprobs=[]),
        _event("output_text.delta", 1, "msg_1", content_index=0, delta="lo", logprobs=[]),
        _event("output_text.annotation.added", 1, "msg_1", content_index=0,
               annotation={"type": "url_citation"}),
        _added(2, _call("fc_a", "a")),
        _event("function_call_arguments.delta", 2, "fc_a", delta="{"),
        {"type": "error", "code": "server_error", "message": "overloaded"},
    ]  # fmt: skip
    body = VIEW.assemble(events)
    reply = VIEW.reply(body)
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("Hello", "I look", "in_progress")
    assert (reply.tool_calls[0].raw, reply.tool_calls[0].arguments) == ("{", None)
    assert body["output"][1]["content"] == [
        {"type": "output_text", "text": "Hello", "annotations": [{"type": "url_citation"}]}
    ]
    assert VIEW.usage(body) is None
    assert VIEW.reply(VIEW.assemble(events[1:])).finish_reason is None
    assert VIEW.assemble([]) == {}


def test_the_last_event_says_what_the_reply_is() -> None:
    """Deltas count for nothing beside it, but where it leaves the output out."""
    whole = response(said("All of it"), status="incomplete",
                     incomplete_details={"reason": "max_output_tokens"})  # fmt: skip
    events = [_begun(), _added(0, said("part")), _event("incomplete", response=whole)]
    assert VIEW.assemble(events) == whole
    events[-1] = _event("completed", response=response())
    assert VIEW.assemble(events) == response(said("part"))


def test_done_events_correct_the_deltas() -> None:
    """A finished item, part or text stands in place of what was put together."""
    text = {"content_index": 0}
    events = [
        _begun(),
        _added(0, {**said(""), "content": []}),
        _event("output_text.delta", 0, "msg_1", delta="Helo", **text),
        _event("output_text.done", 0, "msg_1", text="Hello", **text),
    ]
    assert VIEW.reply(VIEW.assemble(events)).text == "Hello"
    part = {"type": "output_text", "text": "Hello!", "annotations": [{"n": 1}]}
    events.append(_event("content_part.done", 0, "msg_1", part=part, **text))
    assert VIEW.assemble(events)["output"][0]["content"] == [part]
    events.append(_event("output_item.done", 0, item=said("Hello there")))
    assert VIEW.assemble(events)["output"] == [said("Hello there")]


@given(BODY)
def test_assemble_undoes_split(body: Event) -> None:
    """A reply cut into events and put together is the reply, field for field, nothing mutated."""
    before = copy.deepcopy(body)
    events = VIEW.split(body)
    assert VIEW.assemble(events) == body == before
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    terminal = {"completed", "incomplete", "failed"}
    last = events[-1]["type"].removeprefix("response.")
    assert (last in terminal) == (body["status"] in terminal)


@given(BODY)
def test_the_deltas_alone_give_the_words_and_calls(body: Event) -> None:
    """Without the events that carry whole items, as a stream has that was cut before them."""
    whole = {"completed", "incomplete", "failed", "output_item.done", "content_part.done"}
    whole |= {"output_text.done", "refusal.done", "reasoning_text.done"}
    whole |= {"reasoning_summary_text.done", "reasoning_summary_part.done"}
    names = {f"response.{name}" for name in whole}
    cut = VIEW.assemble([event for event in VIEW.split(body) if event["type"] not in names])
    ours, theirs = VIEW.reply(cut), VIEW.reply(body)
    assert (ours.text, ours.reasoning, ours.refusal) == (
        theirs.text, theirs.reasoning, theirs.refusal,
    )  # fmt: skip
    assert [(c.id, c.name, c.raw) for c in ours.tool_calls] == [
        (c.id, c.name, c.raw) for c in theirs.tool_calls
    ]


_ANSWERS = Answers(openai)


@pytest.fixture(scope="module")
def client() -> openai.OpenAI:
    """The real SDK over a transport that answers with what :data:`_ANSWERS` were given."""
    return openai.OpenAI(
        api_key="none", base_url="http://api.example/v1", max_retries=0, http_client=_ANSWERS.http
    )


def _stream(client: openai.OpenAI, events: list[Event]) -> Any:
    _ANSWERS.say(events)
    return client.responses.stream(model="m", input="x")


def test_the_sdk_streams_our_events_as_a_real_reply(client: openai.OpenAI) -> None:
    """Its helper gives text piece by piece, the calls, and the final response."""
    note = {"type": "url_citation", "url": "u", "title": "t", "start_index": 0, "end_index": 3}
    text = said("Hello there, how are you doing today, my friend?")
    text["content"][0]["annotations"] = [note]
    plain = {"type": "reasoning", "id": "rs_2", "summary": [],
             "content": [{"type": "reasoning_text", "text": "Thinking aloud."}]}  # fmt: skip
    custom = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sql",
              "input": "select 1"}  # fmt: skip
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed",
              "action": {"type": "search", "query": "x"}}  # fmt: skip
    body = response(SEALED, plain, search, text, called("lookup", '{"order": 101}', "a"), custom)
    with _stream(client, VIEW.split(body)) as stream:
        events = list(stream)
        final = stream.get_final_response()
    deltas = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(deltas) == final.output_text == VIEW.reply(body).text
    assert len(deltas) > 1
    kinds = {event.type for event in events}
    assert {"response.in_progress", "response.web_search_call.searching",
            "response.output_text.annotation.added", "response.reasoning_text.done",
            "response.custom_tool_call_input.done"} <= kinds  # fmt: skip
    told = json.loads(final.model_dump_json(exclude_unset=True))
    told["output"][4].pop("parsed_arguments", None)
    told["output"][3]["content"][0].pop("parsed", None)
    assert told == body


@settings(max_examples=40)
@given(body=BODY)
def test_the_sdk_accumulates_what_we_cut(client: openai.OpenAI, body: Event) -> None:
    """Its helper takes the events in our order, and has the same words and calls at the end."""
    with _stream(client, VIEW.split(body)) as stream:
        events = list(stream)
    reply = VIEW.reply(body)
    words = [event.delta for event in events if event.type == "response.output_text.delta"]
    assert "".join(words) == reply.text
    done = [event for event in events if event.type == "response.function_call_arguments.done"]
    assert [(e.item_id, e.arguments) for e in done] == [
        (item["id"], item["arguments"])
        for item in body["output"]
        if item["type"] == "function_call"
    ]
    finals = [event.response for event in events if event.type == "response.completed"]
    assert [final.output_text for final in finals] == [reply.text] * len(finals)
    assert bool(finals) == (body["status"] == "completed")
