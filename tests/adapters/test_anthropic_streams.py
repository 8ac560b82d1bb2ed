"""Streams of Anthropic's SDK: read to the end, left early, cancelled, served to a plain call."""

import asyncio
import contextlib
import dataclasses
import gc
from typing import Any

import loopback
import pytest
from loopback import Server
from sdk_cases import KEY
from sdk_seen import differences, see
from speaking_anthropic import SPEAKERS
from ways_anthropic import TOOL, async_client, client

import workbench
from workbench import DriftError


def asked(model: str = "ok", **more: Any) -> Any:
    """The arguments of a call."""
    messages = [{"role": "user", "content": "hello"}]
    return {"model": model, "max_tokens": 100, "messages": messages, **more}


def kinds(url: str, count: int | None = None) -> list[str]:
    """The types of a stream's events, of the first few or of all."""
    found: list[str] = []
    with client(url, KEY, 0) as made, made.messages.create(**asked(), stream=True) as stream:
        for event in stream:
            found.append(event.type)
            if len(found) == count:
                break
    return found


def blocks(message: Any) -> list[dict[str, Any]]:
    """What a message says; older releases add empty fields to one that was streamed."""
    found = [block.to_dict() for block in message.content]
    return [{name: part for name, part in each.items() if part is not None} for each in found]


def test_the_chunks_are_the_events_of_the_wire(speaker: Server) -> None:
    """Pings included, one by one, as they came: the trace adds nothing and merges nothing."""
    with workbench.recording() as recorded:
        live = kinds(speaker.url)
    (entry,) = recorded.trace.entries
    sent = [chunk.data["type"] for chunk in entry.chunks]
    assert sent[:3] == ["message_start", "ping", "content_block_start"]
    assert [kind for kind in sent if kind != "ping"] == live
    signed = [c.data["delta"] for c in entry.chunks if c.data["type"] == "content_block_delta"]
    assert {"type": "signature_delta", "signature": "c2lnbmF0dXJl+/=="} in signed
    assert (entry.ended, entry.reply_model, entry.text) == (
        "complete",
        "served-model-1",
        "You said: hello",
    )
    assert entry.response == {
        "status": 200,
        "headers": {"content-type": "text/event-stream", "request-id": "req_1"},
    }


def test_a_chunk_is_written_before_it_is_delivered(speaker: Server) -> None:
    """A process that dies while it reads has lost nothing that its agent has seen; and events
    arrive one by one, while the rest is still to be sent."""
    with (
        workbench.recording() as recorded,
        client(speaker.url, KEY, 0) as made,
        made.messages.create(**asked("slow"), stream=True) as stream,
    ):
        for count, event in enumerate(stream, 1):
            (entry,) = recorded.trace.entries
            assert len(entry.chunks) == (count if count == 1 else count + 1)  # with the ping
            assert entry.chunks[-1].data["type"] == event.type


def test_a_reader_that_breaks_off_is_recorded_as_such(speaker: Server) -> None:
    """What was read is kept, the entry says that the reader stopped; a replay gives the same, and
    reading on there says so."""
    with workbench.recording() as recorded:
        live = kinds(speaker.url, 4)
    speaker.stop()
    (entry,) = recorded.trace.entries
    assert (entry.ended, entry.error, len(entry.chunks)) == ("stopped", None, 5)
    with workbench.replaying(recorded.trace) as replayed:
        assert kinds(speaker.url, 4) == live
    assert replayed.result.trace.entries[0].ended == "stopped"
    seen: list[str] = []

    def read_on() -> None:
        with contextlib.suppress(DriftError):
            seen.extend(kinds(speaker.url))

    result = workbench.replay(read_on, recorded.trace)
    assert result.status == "drifted"
    assert "stopped here, after 5 chunks" in str(result.drift)


def test_a_reader_who_has_the_whole_message_has_missed_nothing(speaker: Server) -> None:
    """Whoever stops at the last event has all of it, so that a replay may read on."""
    count = len(kinds(speaker.url))
    with workbench.recording() as recorded:
        kinds(speaker.url, count)
    assert recorded.trace.entries[0].ended == "complete"
    with workbench.replaying(recorded.trace):
        assert len(kinds(speaker.url)) == count


@pytest.mark.parametrize("how", ["close", "context", "forgotten", "unread"])
def test_however_a_stream_is_left_its_entry_is_closed(speaker: Server, how: str) -> None:
    """Closed, left by its context, garbage collected or never read: no entry stays open."""
    with client(speaker.url, KEY, 0) as made, workbench.recording() as recorded:

        def leave() -> None:
            stream = made.messages.create(**asked(), stream=True)
            if how == "context":
                with stream:
                    next(iter(stream))
            elif how != "unread":
                next(iter(stream))
            if how == "close":
                stream.close()

        leave()
        gc.collect()
        made.messages.create(**asked())
        if how != "unread":
            assert recorded.trace.entries[0].ended == "stopped"
    entry = recorded.trace.entries[0]
    assert (entry.ended, entry.open) == ("stopped", False)
    assert len(entry.chunks) == (0 if how == "unread" else 1)


def test_the_helpers_message_is_replayed_after_it_was_left(speaker: Server) -> None:
    """Leaving the event API early, and asking for the rest of the message afterwards."""

    def agent(*, whole: bool) -> Any:
        with client(speaker.url, KEY, 0) as made, made.messages.stream(**asked()) as stream:
            for text in stream.text_stream:
                if not whole:
                    return text, see(stream.current_message_snapshot)
            return see(stream.get_final_message()), stream.get_final_text()

    for whole in (False, True):
        with workbench.recording() as recorded:
            live = agent(whole=whole)
        with workbench.replaying(recorded.trace):
            assert differences(list(live), list(agent(whole=whole))) == []


@pytest.mark.parametrize("tools", [False, True])
def test_a_stream_is_replayed_to_a_plain_call_and_the_reverse(speaker: Server, tools: bool) -> None:
    """The way an answer travels is no part of what was asked: the thinking with its signature,
    the text, the call and the usage are the same."""
    given = asked(tools=[TOOL]) if tools else asked()

    def plain() -> Any:
        with client(speaker.url, KEY, 0) as made:
            return made.messages.create(**given)

    def streamed() -> Any:
        with client(speaker.url, KEY, 0) as made, made.messages.stream(**given) as stream:
            return stream.get_final_message()

    with workbench.recording() as one:
        whole = plain()
    with workbench.recording() as two:
        added = streamed()
    speaker.stop()
    with workbench.replaying(two.trace):
        found = plain()
    with workbench.replaying(one.trace):
        again = streamed()
    for each in (added, found, again):
        assert each.content[0].signature == "c2lnbmF0dXJl+/=="
        assert blocks(each) == blocks(whole)
        assert each.stop_reason == whole.stop_reason
        assert each.usage.cache_read_input_tokens == 7
        assert (each.usage.input_tokens, each.usage.output_tokens) == (12, 5)
    assert found._request_id == "req_1"


def test_a_time_limit_that_cancelled_a_call_does_so_again(speaker: Server) -> None:
    """A call cut short by the agent's own time limit ends in the same exception, plain or not."""

    async def agent() -> list[Any]:
        seen: list[Any] = []
        async with async_client(speaker.url, KEY, 0) as made:
            patient = made.with_options(timeout=20).messages

            async def read() -> None:
                stream: Any = await patient.create(**asked("mid-stall"), stream=True)
                async for event in stream:
                    seen.append(event.type)

            for job in (patient.create(**asked("stall")), read()):
                try:
                    await asyncio.wait_for(job, 0.3)
                except TimeoutError as error:
                    seen.append(type(error).__name__)
        return seen

    recorded = workbench.record(agent)
    expected = ["TimeoutError", "message_start", "content_block_start", "TimeoutError"]
    assert recorded.output == expected
    assert [entry.ended for entry in recorded.trace.entries] == ["cancelled", "cancelled"]
    speaker.stop()
    replayed = workbench.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)


def test_streams_read_at_once_keep_their_own_events(speaker: Server) -> None:
    """Two streams under way together are told apart by what they ask, whatever their order."""

    async def both(*names: str) -> list[list[Any]]:
        async with async_client(speaker.url, KEY, 0) as made:

            async def one(name: str) -> list[Any]:
                given = asked(system=name)
                async with made.messages.stream(**given) as stream:
                    return [see(event) async for event in stream]

            return list(await asyncio.gather(*(one(name) for name in names)))

    recorded = workbench.record(both, "left", "right")
    speaker.stop()
    replayed = workbench.replay(both, recorded.trace, "right", "left")
    assert replayed.status == "ok"
    assert replayed.output == recorded.output[::-1]


def test_an_event_without_a_name_is_passed_by_as_the_sdk_does(
    speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names are the server's own: an event without one, or with one of another kind, comes back
    as it was, and means to the SDK what it meant."""
    usual = SPEAKERS[-1]

    def odd(path: str, body: Any) -> Any:
        for number, event in enumerate(usual.events(path, body)):
            if number == 2:
                yield b'data: {"type": "nameless", "n": 1}\n\n'
                yield b'event: news\ndata: {"type": "other", "n": 2}\n\n'
            yield event

    monkeypatch.setattr(loopback, "SPEAKERS", [dataclasses.replace(usual, events=odd)])

    def agent() -> Any:
        with client(speaker.url, KEY, 0) as made:
            raw = made.messages.with_raw_response.create(**asked(), stream=True)
            lines = list(raw.http_response.iter_lines())
            with made.messages.create(**asked(), stream=True) as stream:
                return lines, [see(event) for event in stream]

    with workbench.recording() as recorded:
        live = agent()
    assert 'data: {"type": "nameless", "n": 1}' in live[0]
    speaker.stop()
    with workbench.replaying(recorded.trace):
        again = agent()
    assert again == live
