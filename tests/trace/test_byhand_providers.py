"""Replies written by hand, as agents on OpenAI's Responses and Anthropic's messages get them."""

import json
from typing import Any

import anthropic
import openai
import pytest
from answering import Answers
from anthropic.types import Message
from openai.types.responses import Response

from workbench.trace.byhand.shapes import as_api, chunks_as_api
from workbench.trace.payloads import view

APIS = ("openai.responses", "anthropic.messages")
ASKED = {"model": "the-model"}
USAGE = {"input_tokens": 30, "output_tokens": 7, "cache_read_tokens": 20, "cache_write_tokens": 4}


def _neutral(**fields: Any) -> dict[str, Any]:
    return {"content": "Looking.", "tool_calls": [{"id": "c1", "name": "look", "arguments": {}}],
            "finish_reason": "tool_calls", "usage": USAGE, **fields}  # fmt: skip


def test_an_agent_on_responses_gets_the_sdks_own_type() -> None:
    """Text, call, counts and model, nothing that the SDK would miss."""
    body = as_api(_neutral(), "workbench", "openai.responses", ASKED)
    parsed = Response.model_validate(body)
    assert (parsed.output_text, parsed.status, parsed.model) == (
        "Looking.", "completed", "the-model",
    )  # fmt: skip
    assert [item.type for item in parsed.output] == ["message", "function_call"]
    assert parsed.usage is not None
    assert (parsed.usage.input_tokens, parsed.usage.total_tokens) == (30, 37)
    assert parsed.usage.input_tokens_details.cached_tokens == 20


def test_an_agent_on_messages_gets_the_sdks_own_type() -> None:
    """Cached tokens are counted beside, as there; without counts there are none to bill."""
    body = as_api(_neutral(), "workbench", "anthropic.messages", ASKED)
    parsed = Message.model_validate(body)
    assert [block.type for block in parsed.content] == ["text", "tool_use"]
    assert (parsed.stop_reason, parsed.model, parsed.usage.input_tokens) == (
        "tool_use", "the-model", 6,
    )  # fmt: skip
    assert (parsed.usage.cache_read_input_tokens, parsed.usage.output_tokens) == (20, 7)
    bare = as_api({"content": "Hi"}, "workbench", "anthropic.messages", ASKED)
    assert bare["usage"] == {"input_tokens": 0, "output_tokens": 0}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("end", ["stop", "length", "content_filter", None])
def test_the_finish_reason_is_said_in_the_words_of_each(api: str, end: str | None) -> None:
    """And back again in ours where they have a word for it."""
    body = as_api(_neutral(tool_calls=[], finish_reason=end), "workbench", api, ASKED)
    words = {
        "openai.responses": {"length": "max_output_tokens", "content_filter": "content_filter"},
        "anthropic.messages": {"length": "max_tokens", "content_filter": "refusal"},
    }
    usual = "completed" if api == "openai.responses" else "end_turn"
    assert view(api).reply(body).finish_reason == words[api].get(str(end), usual)
    chat = as_api(body, api, "openai.chat", ASKED)
    back = {"length": "length", "content_filter": "content_filter"}.get(str(end), "stop")
    assert chat["choices"][0]["finish_reason"] == back


@pytest.mark.parametrize("api", APIS)
def test_what_comes_over_goes_back(api: str) -> None:
    """Text, calls, usage and refusal, from each shape into the neutral one and back."""
    body = as_api(_neutral(), "workbench", api, ASKED)
    again = as_api(body, api, "workbench")
    assert (again["content"], again["tool_calls"]) == ("Looking.", _neutral()["tool_calls"])
    counts = {k: v for k, v in again["usage"].items() if v}
    assert counts == USAGE
    refused = as_api({"content": None, "refusal": "No."}, "workbench", api, ASKED)
    assert (view(api).reply(refused).refusal, view(api).reply(refused).text) == ("No.", "")
    other = APIS[1 - APIS.index(api)]
    assert (
        view(other).reply(as_api(body, api, other)).tool_calls == view(api).reply(body).tool_calls
    )


@pytest.mark.parametrize("api", APIS)
def test_a_stream_that_broke_off_gives_its_pieces_and_no_end(api: str) -> None:
    """Three words are three pieces of text; nothing says that the reply was whole."""
    chunks = [{"text": "one "}, {"text": "two "}, {"text": "three"}]
    events = chunks_as_api(chunks, "workbench", api, ASKED)
    kinds = [event["type"] for event in events]
    assert kinds[-3:] == [kinds[-1]] * 3
    assert not any("stop" in kind or "completed" in kind or "done" in kind for kind in kinds)
    reply = view(api).reply(view(api).assemble(events))
    assert reply.text == "one two three"
    assert reply.finish_reason in (None, "in_progress")
    nothing = chunks_as_api([{"model": "m"}], "workbench", api, ASKED)
    assert 1 <= len(nothing) <= 2
    assert view(api).reply(view(api).assemble(nothing)).text == ""


def test_the_sdks_read_the_pieces() -> None:
    """Their own streams give the words that came before the break."""
    chunks = [{"text": "one "}, {"text": "two"}]
    answers = Answers(anthropic)
    claude = anthropic.Anthropic(api_key="none", base_url="http://a.example",
                                 http_client=answers.http)  # fmt: skip
    answers.say(chunks_as_api(chunks, "workbench", "anthropic.messages", ASKED))
    asked: Any = [{"role": "user", "content": "x"}]
    with claude.messages.stream(model="m", max_tokens=9, messages=asked) as stream:
        assert list(stream.text_stream) == ["one ", "two"]
    answers = Answers(openai)
    gpt = openai.OpenAI(api_key="none", base_url="http://o.example/v1", http_client=answers.http)
    answers.say(chunks_as_api(chunks, "workbench", "openai.responses", ASKED))
    with gpt.responses.stream(model="m", input="x") as events:
        said = [e.delta for e in events if e.type == "response.output_text.delta"]
    assert said == ["one ", "two"]


def test_a_stream_of_one_provider_broke_off_for_another() -> None:
    """The words that came are cut as a provider cuts them."""
    whole = as_api({"content": "word " * 30}, "workbench", "openai.chat", ASKED)
    chunks = view("openai.chat").split(whole)[:-1]
    events = chunks_as_api(chunks, "openai.chat", "anthropic.messages", ASKED)
    body = view("anthropic.messages").assemble(json.loads(json.dumps(events)))
    assert view("anthropic.messages").reply(body).text == "word " * 30
    assert body["stop_reason"] is None
