"""Streams through each SDK: in the order that was sent, as they come, honest about their end."""

import asyncio
import itertools
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from askers import ASKERS, CHAT, GENERATE, MESSAGES, RESPONSES, Asker
from loopback import Server
from sdk_seen import see
from spoken import APIS, Said, body, chat_chunk, events, put_speaker, say

import workbench as wb

MIXED: Said = (
    ("think", "First they greet me."),
    ("text", "Let me look. "),
    ("think", "Then I look."),
    ("text", "One moment."),
    ("call", "call_1", "get_order", '{"number": 101}'),
)


@pytest.fixture(params=ASKERS, ids=str)
def asker(request: pytest.FixtureRequest) -> Asker:
    """Each API."""
    found: Asker = request.param
    return found


def streamed(asker: Asker, url: str, text: str = "hello", model: str = "ok") -> list[str]:
    """What each piece of a stream says."""
    return [asker.text(piece) for piece in asker.read(url, text, model)]


def two_parts(*, last: bytes | None = None) -> Iterator[bytes]:
    """A call of which the first chunk has two fragments with one index, and a second call."""
    first = {"index": 0, "id": "call_a", "type": "function"}
    head = {**first, "function": {"name": "look", "arguments": ""}}
    begins = [head, {"index": 0, "function": {"arguments": '{"'}}]
    yield chat_chunk({"role": "assistant", "tool_calls": begins})
    yield chat_chunk({"tool_calls": [{"index": 0, "function": {"arguments": 'p":1}'}}]})
    second = {"index": 1, "id": "call_b", "type": "function"}
    both = [
        {**second, "function": {"name": "look", "arguments": '{"p"'}},
        {"index": 1, "function": {"arguments": ":2}"}},
    ]
    yield chat_chunk({"tool_calls": both})
    if last is not None:
        yield last
    yield b"data: [DONE]\n\n"


def test_fragments_of_one_index_in_one_chunk_lose_nothing(
    speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The trace, a replayed stream and a plain call that is answered from it have both calls
    whole, whatever the place of a fragment in its list."""
    put_speaker(
        monkeypatch,
        "openai.chat",
        events=lambda _path, _body: two_parts(last=chat_chunk({}, "tool_calls")),
    )
    with wb.recording() as recorded:
        live = [piece.to_dict() for piece in CHAT.read(speaker.url)]
    speaker.stop()
    (entry,) = recorded.trace.entries
    found = [(call.id, call.name, call.arguments) for call in entry.tool_calls]
    assert found == [("call_a", "look", {"p": 1}), ("call_b", "look", {"p": 2})]
    with wb.replaying(recorded.trace):
        assert [piece.to_dict() for piece in CHAT.read(speaker.url)] == live
    with wb.replaying(recorded.trace), CHAT.open(speaker.url) as made:
        plain = CHAT.send(made, "ok", CHAT.user("hello"))
    assert CHAT.calls(plain) == found


@pytest.mark.parametrize("asker", [RESPONSES, MESSAGES, GENERATE, CHAT], ids=str)
def test_thought_text_and_call_keep_their_order(
    asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was streamed as thought, text, thought, text and call answers a plain call with those
    parts in that order, as the provider's own plain answer has them."""
    said = MIXED if asker is not CHAT else [part for part in MIXED if part[0] != "think"]
    say(monkeypatch, asker.api, said)

    def plain() -> Any:
        with asker.open(speaker.url) as made:
            return asker.reply(asker.send(made, "ok", asker.user("hello")))

    with wb.recording() as whole:
        expected = plain()
    with wb.recording() as recorded:
        texts = streamed(asker, speaker.url)
    speaker.stop()
    assert "".join(texts) == "Let me look. One moment."
    with wb.replaying(recorded.trace):
        assert plain() == expected
    with wb.replaying(whole.trace):
        assert "".join(streamed(asker, speaker.url)) == "Let me look. One moment."
    for trace in (whole.trace, recorded.trace):
        (entry,) = trace.entries
        assert entry.text == "Let me look. One moment."
        ((call_id, name, given),) = [(c.id, c.name, c.arguments) for c in entry.tool_calls]
        assert (call_id, name, given) == ("call_1", "get_order", {"number": 101})
    kinds = [part[0] for part in said]
    assert kinds_of(asker, recorded.trace.entries[0]) == kinds


def kinds_of(asker: Asker, entry: wb.Entry) -> list[str]:
    """The parts of an assembled reply in their order, as the kinds of ``spoken``."""
    made = entry.reply_body
    if asker is RESPONSES:
        names = {"reasoning": "think", "message": "text", "function_call": "call"}
        return [names[item["type"]] for item in made["output"]]
    if asker is MESSAGES:
        names = {"thinking": "think", "text": "text", "tool_use": "call"}
        return [names[block["type"]] for block in made["content"]]
    if asker is GENERATE:
        parts = made["candidates"][0]["content"]["parts"]
        found = [
            "call" if "functionCall" in p else "think" if p.get("thought") else "text"
            for p in parts
        ]
        return [kind for kind, _ in itertools.groupby(found)]
    message = made["choices"][0]["message"]
    return ["text", "text", *("call" for _ in message["tool_calls"])]


class Gate:
    """Events that are sent one by one, each when the reader has had the one before."""

    def __init__(self, api: str) -> None:
        self.api = api
        self.had = threading.Semaphore(0)
        self.late: list[int] = []

    def events(self, _path: str, _body: Any) -> Iterator[bytes]:
        """The events of an answer."""
        for number, each in enumerate(events(self.api, [("text", "one two three four five six")])):
            if number > self.ahead and not self.had.acquire(timeout=2):
                self.late.append(number)
            yield each

    ahead = 2
    """How many events the reader's first piece may need: some of them are not handed on."""


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_pieces_come_while_the_rest_is_still_to_be_sent(
    asker: Asker, mode: str, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recorded stream is handed on as it comes: its server sends each event only when the
    reader has had an earlier one; a replay gives the same pieces, one by one."""
    gate = Gate(asker.api)
    put_speaker(monkeypatch, asker.api, events=gate.events)

    async def aread() -> list[Any]:
        async with asker.aopen(speaker.url) as made:
            client = asker.patient(made)
            found = []
            async for piece in await asker.send(client, "ok", asker.user("hello"), stream=True):
                found.append(see(piece))
                gate.had.release()
            return found

    def read() -> list[Any]:
        found = []
        with asker.open(speaker.url) as made:
            stream = asker.send(asker.patient(made), "ok", asker.user("hello"), stream=True)
            for piece in stream:
                found.append(see(piece))
                gate.had.release()
        return found

    def agent() -> list[Any]:
        return asyncio.run(aread()) if mode == "async" else read()

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert gate.late == []
    (entry,) = recorded.trace.entries
    offsets = [chunk.offset_s or 0.0 for chunk in entry.chunks]
    assert offsets == sorted(offsets)
    assert len(entry.chunks) >= len(recorded.output) >= 5
    speaker.stop()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    (again,) = replayed.trace.entries
    assert [c.data for c in again.chunks] == [c.data for c in entry.chunks]


def test_an_end_without_its_sign_is_no_whole_answer(asker: Asker, speaker: Server) -> None:
    """A stream that just ends: the trace has no finish reason, also not in a plain answer that is
    made of it, and its findings say that the end is missing; a whole one says nothing."""
    with wb.recording() as recorded:
        cut = streamed(asker, speaker.url, model="mid-clean")
        streamed(asker, speaker.url, model="ok")
    speaker.stop()
    broken, whole = recorded.trace.entries
    assert len(broken.chunks) == 3
    assert broken.reply is None or broken.reply.finish_reason in (None, "in_progress")
    assert whole.reply is not None
    assert whole.reply.finish_reason in ("stop", "completed", "end_turn", "STOP")
    about = [each.entry for each in recorded.trace.findings if each.kind == "stream_unfinished"]
    assert about == [broken.id]
    with wb.replaying(recorded.trace) as again:
        assert streamed(asker, speaker.url, model="mid-clean") == cut
        streamed(asker, speaker.url, model="ok")
    found = [each.kind for each in again.result.trace.findings]
    assert found == [each.kind for each in recorded.trace.findings]


@pytest.mark.parametrize("end", ["clean", "reset"])
@pytest.mark.parametrize("asker", [CHAT, RESPONSES, MESSAGES], ids=str)
def test_half_a_call_is_not_called_too_long(
    asker: Asker, end: str, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut inside a tool's arguments: no finish reason is made up, least of all that of a limit,
    and the arguments stay the half that came, with the reason why they are no JSON."""
    whole = list(events(asker.api, [("call", "call_1", "look", '{"word": "x"}')]))
    half = next(n for n, each in enumerate(whole) if b'{\\"word' in each) + 1
    put_speaker(monkeypatch, asker.api, events=lambda _path, _body: iter(whole[:half]))
    model = "ok"
    if end == "reset":
        monkeypatch.setattr("loopback.BREAKS_AFTER", half)
        put_speaker(monkeypatch, asker.api, events=lambda _path, _body: iter(whole))
        model = "mid-reset"

    def agent() -> str:
        try:
            return str(len(streamed(asker, speaker.url, model=model)))
        except Exception as error:
            return type(error).__name__

    recorded = wb.record(agent)
    (entry,) = recorded.trace.entries
    assert (entry.ended == "complete") == (end == "clean")
    assert entry.reply is not None
    assert entry.reply.finish_reason in (None, "in_progress")
    (call,) = entry.tool_calls
    assert (call.name, call.raw[:1], call.arguments) == ("look", "{", None)
    assert call.error is not None
    assert "length" not in str(entry.reply)
    speaker.stop()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_an_endless_stream_is_recorded_as_it_comes(
    asker: Asker, mode: str, speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that never stops sending does not hold the recorder: each piece is in the trace
    when the reader has it, and closing ends the entry; a replay stops at the same place."""
    start, *more = events(asker.api, [("text", "again and again")])
    middle = [each for each in more if b"again" in each][:1] or [start]

    def forever(_path: str, _body: Any) -> Iterator[bytes]:
        yield start
        yield from more[: more.index(middle[0])] if middle[0] in more else ()
        while not speaker.over.wait(0.001):
            yield middle[0]

    put_speaker(monkeypatch, asker.api, events=forever)
    seen: list[int] = []

    async def aread(note: Any) -> list[str]:
        found: list[str] = []
        async with asker.aopen(speaker.url) as made:
            stream = await asker.send(made, "ok", asker.user("hello"), stream=True)
            async for piece in stream:
                found.append(asker.text(piece))
                note()
                if len(found) == 7:
                    break
            await (stream.aclose() if hasattr(stream, "aclose") else stream.close())
        return found

    def read(note: Any) -> list[str]:
        found: list[str] = []
        with asker.open(speaker.url) as made:
            stream = asker.send(made, "ok", asker.user("hello"), stream=True)
            for piece in stream:
                found.append(asker.text(piece))
                note()
                if len(found) == 7:
                    break
            stream.close()
        return found

    def agent(note: Any) -> list[str]:
        return asyncio.run(aread(note)) if mode == "async" else read(note)

    with wb.recording() as recorded:
        live = agent(lambda: seen.append(len(recorded.trace.entries[0].chunks)))
    (entry,) = recorded.trace.entries
    assert (entry.ended, entry.open) == ("stopped", False)
    assert seen == list(range(seen[0], seen[0] + 7))
    assert len(entry.chunks) == seen[-1]
    speaker.stop()
    with wb.replaying(recorded.trace) as again:
        assert agent(lambda: None) == live
    assert again.result.trace.entries[0].ended == "stopped"


def test_a_body_and_its_events_say_the_same() -> None:
    """The tests above prove little if the server streamed something else than it answers."""
    for api in APIS:
        text = b"".join(events(api, [("text", "one two three")])).decode()
        assert "one tw" in text
        assert json.dumps(body(api, [("text", "one two three")])).count("one two three") == 1
