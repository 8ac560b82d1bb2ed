"""Real answers of OpenAI and Anthropic, as other projects recorded them, through the views."""

from pathlib import Path

import pytest
from cassettes import Exchange, exchanges, told

from workbench.trace.payloads import check_pairs, view
from workbench.trace.payloads.base import JSON

pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> list[Exchange]:
    """Every exchange that there is."""
    found = exchanges(shared_data)
    assert {each.api for each in found} == {
        "openai.chat", "openai.responses", "anthropic.messages",
    }  # fmt: skip
    return found


def body_of(exchange: Exchange) -> JSON:
    """The answer as a body, put together by the view where it is streamed."""
    api = view(exchange.api)
    return api.assemble(exchange.events) if exchange.streamed else exchange.body


def test_each_reply_is_what_the_wire_said(recorded: list[Exchange]) -> None:
    """Text, calls, finish reason and tokens, none of them read with our own code to compare."""
    for exchange in recorded:
        api, wire = view(exchange.api), told(exchange)
        body = body_of(exchange)
        reply, usage = api.reply(body), api.usage(body)
        assert reply.text == wire.text, exchange.name
        assert [(c.id, c.name, c.arguments) for c in reply.tool_calls] == wire.calls, exchange.name
        assert reply.finish_reason == wire.reason, exchange.name
        assert usage is not None
        assert {name: getattr(usage, name) for name in wire.counts} == wire.counts, exchange.name
    assert sum(len(told(each).calls) for each in recorded) >= 8
    assert sum(len(told(each).text) for each in recorded) > 1000


def test_each_reply_is_cut_and_put_together_again(recorded: list[Exchange]) -> None:
    """Field for field, with citations, searches and sealed reasoning."""
    for exchange in recorded:
        api, body = view(exchange.api), body_of(exchange)
        again = api.assemble(api.split(body, include_usage=True))
        if exchange.api == "openai.chat":  # a chunk's padding and kind are no part of a completion
            assert api.reply(again) == api.reply(body)
        else:
            assert again == body, exchange.name


def test_each_reply_says_other_words_when_it_is_told_to(recorded: list[Exchange]) -> None:
    """And nothing of it is changed by being told what it says already."""
    for exchange in recorded:
        api, body = view(exchange.api), body_of(exchange)
        said = api.reply(body)
        new = api.reply(api.with_reply(body, text="Other words.", tool_calls=[("look", {"n": 1})]))
        assert (new.text, new.signed) == ("Other words.", ()), exchange.name
        assert [(call.name, call.arguments) for call in new.tool_calls] == [("look", {"n": 1})]
        same = api.with_reply(
            body, text=said.text or None, tool_calls=said.tool_calls,
            finish_reason=said.finish_reason,
        )  # fmt: skip
        assert same == body, exchange.name


def test_each_request_is_a_whole_conversation(recorded: list[Exchange]) -> None:
    """Its calls and results pair up, and rewriting it with its own words changes nothing."""
    for exchange in recorded:
        api, asked = view(exchange.api), exchange.request
        said = api.messages(asked)
        assert check_pairs(said) == [], exchange.name
        assert any(message.role == "user" and message.text for message in said)
        assert api.model(asked) == asked["model"]
        assert [tool.name for tool in api.tools(asked) if not tool.name] == []
        assert len(api.tools(asked)) == len(asked.get("tools") or [])
        again = api.with_request(asked, model=asked["model"], set=api.parameters(asked))
        assert again is asked
    rich = [m for each in recorded for m in view(each.api).messages(each.request)]
    assert any(message.signed for message in rich)
    assert sum(message.role == "tool" for message in rich) >= 4
