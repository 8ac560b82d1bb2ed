"""Conversations that Anthropic keeps: a fork that goes live sends them whole."""

import asyncio
from typing import Any

import anthropic
import pytest
from loopback import Server
from sdk_cases import KEY
from ways_anthropic import async_client, client

import workbench
from workbench import turn
from workbench.faults import HttpError

ASKED: Any = {"model": "m", "max_tokens": 100}


def said(text: str) -> Any:
    """One message."""
    return {"role": "user", "content": text}


def by_hand(url: str) -> list[str]:
    """Three turns that name the reply before them, as any release of the SDK can."""
    with client(url, KEY, 0) as made:
        history: list[Any] = [said("one")]
        found = made.messages.create(**ASKED, messages=history)
        texts = [found.content[-1].text]
        for text in ("two", "three"):
            history += [{"role": "assistant", "content": found.content}, said(text)]
            thread = {"type": "continue", "previous_message_id": found.id}
            more: Any = {"extra_body": {"thread": thread}}
            try:
                found = made.messages.create(**ASKED, messages=[said(text)], **more)
            except anthropic.NotFoundError as error:
                body: Any = error.body
                texts.append(body["error"]["details"]["error_code"])
                found = made.messages.create(**ASKED, messages=history)
            texts.append(found.content[-1].text)
        return texts


def by_thread(url: str) -> list[str]:
    """The same by the SDK's own threads, one turn of them streamed."""
    with client(url, KEY, 0) as made:
        home: Any = made.beta.messages
        thread = home.thread(**ASKED)
        texts = [thread.send(said("one")).content[-1].text]
        with thread.stream(said("two")) as stream:
            texts.append(stream.get_final_text())
        texts.append(thread.send(said("three")).content[-1].text)
        return texts


def by_thread_later(url: str) -> list[str]:
    """The same, async."""

    async def go() -> list[str]:
        async with async_client(url, KEY, 0) as made:
            home: Any = made.beta.messages
            thread = home.thread(**ASKED)
            return [
                (await thread.send(said(text))).content[-1].text for text in ("one", "two", "three")
            ]

    return asyncio.run(go())


HAS_THREADS = hasattr(anthropic.resources.beta.messages.Messages, "thread")
WAYS = [by_hand, *([by_thread, by_thread_later] if HAS_THREADS else [])]


@pytest.mark.parametrize("agent", WAYS)
def test_a_live_call_never_goes_on_from_a_replayed_reply(speaker: Server, agent: Any) -> None:
    """The provider does not have what was replayed, or not as this run has it: the SDK hears that
    the thread is lost, before anything is sent, and sends the whole conversation."""
    recorded = workbench.record(agent, speaker.url)
    assert len(speaker.seen) == 3
    replayed = workbench.replay(agent, recorded.trace, speaker.url)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)

    forked = workbench.fork(agent, recorded.trace, speaker.url, live_from=turn(3))
    sent = speaker.seen[3:]
    assert (forked.status, [len(seen.body["messages"]) for seen in sent]) == ("ok", [5])
    assert sent[0].body.get("thread") in (None, {"type": "create"})
    assert "You said: three" in forked.output
    assert any("went on from msg_1" in notice for notice in forked.notices)
    assert [call.how for call in forked.calls] == ["replayed", "replayed", "live", "live"]
    again = workbench.replay(agent, forked.trace, speaker.url)
    assert (again.status, again.output) == ("ok", forked.output)


def test_a_thread_of_the_run_itself_goes_on(speaker: Server) -> None:
    """Live from its first turn on, each turn sends only what is new."""
    recorded = workbench.record(by_hand, speaker.url)
    forked = workbench.fork(by_hand, recorded.trace, speaker.url, live_from=turn(1))
    assert (forked.output, forked.notices) == (recorded.output, [])
    assert [len(seen.body["messages"]) for seen in speaker.seen[3:]] == [1, 1, 1]


def test_a_fault_below_the_retries_does_not_let_it_through(speaker: Server) -> None:
    """With tries that fail on purpose, too, a lost thread is lost."""
    recorded = workbench.record(by_hand, speaker.url)
    fault = HttpError(529).at(turn(3), layer="below")
    forked = workbench.fork(
        by_hand, recorded.trace, speaker.url, live_from=turn(3), faults=[fault], on_miss="live"
    )
    assert "thread_not_found" in forked.output
    assert [len(seen.body["messages"]) for seen in speaker.seen[3:]] == [5]
