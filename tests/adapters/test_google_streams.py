"""Streams through Google's SDK: noted while they are read, and played back the same way."""

import asyncio
import contextlib
import gc
import threading
from typing import Any

import pytest
from google.genai import types
from loopback import Server
from sdk_cases import KEY
from sdk_seen import differences, see
from ways_google import async_client, client

import workbench

ASKED: dict[str, Any] = {"model": "m", "contents": "hello"}
TOOL = types.Tool(function_declarations=[types.FunctionDeclaration(name="get_order")])


def asked(script: str = "ok", **config: Any) -> dict[str, Any]:
    """The arguments of a call, which tell the server by a header what to do."""
    options = types.HttpOptions(headers={"x-script": script})
    return {**ASKED, "config": types.GenerateContentConfig(http_options=options, **config)}


def test_the_chunks_are_the_events_of_the_wire(speaker: Server) -> None:
    """Each piece is kept as it came, a vendor's fields included; together they are the answer."""
    made = client(speaker.url, KEY, 0)
    with workbench.recording() as recorded:
        pieces = list(made.models.generate_content_stream(**asked("slow")))
        whole = made.models.generate_content(**asked())
    made.close()
    streamed, plain = recorded.trace.entries
    assert streamed.request == plain.request
    assert streamed.hash == plain.hash
    kept = [chunk.data["candidates"][0]["content"]["parts"] for chunk in streamed.chunks]
    assert [[(p["text"], p.get("thought")) for p in each] for each in kept] == [
        [(part.text, part.thought) for part in parts(piece)] for piece in pieces
    ]
    assert streamed.chunks[0].data["xVendor"]["big"] == 12345678901234567890123
    assert (streamed.ended, streamed.text) == ("complete", whole.text)
    assert streamed.reply == plain.reply
    assert (streamed.usage or {})["output_tokens"] == 8  # what its last piece said
    offsets = [chunk.offset_s or 0.0 for chunk in streamed.chunks]
    assert offsets[-1] - offsets[0] > 0.01
    assert sorted(offsets) == offsets


def parts(response: Any) -> list[Any]:
    """The parts of a response."""
    return list(response.candidates[0].content.parts)


@pytest.mark.parametrize("tools", [None, [TOOL]], ids=["text", "tools"])
def test_a_stream_is_replayed_to_a_plain_call_and_the_reverse(speaker: Server, tools: Any) -> None:
    """The way an answer travels is no part of what was asked: thought, text, calls and their
    signatures and the usage are the same."""
    made = client(speaker.url, KEY, 0)

    def plain() -> Any:
        return dumped([made.models.generate_content(**asked(tools=tools))])

    def streamed() -> Any:
        return dumped(made.models.generate_content_stream(**asked(tools=tools)))

    def dumped(pieces: Any) -> Any:
        found = list(pieces)
        texts = ["".join(p.text or "" for f in found for p in parts(f) if bool(p.thought) == t)
                 for t in (True, False)]  # fmt: skip
        calls = [
            p.model_dump(exclude_none=True) for f in found for p in parts(f) if p.function_call
        ]
        return texts, calls, found[-1].usage_metadata, found[-1].candidates[0].finish_reason

    with workbench.recording() as one:
        whole = plain()
    with workbench.recording() as two:
        added = streamed()
    speaker.stop()
    with workbench.replaying(two.trace):
        assert plain() == added
    with workbench.replaying(one.trace):
        assert streamed() == whole
    made.close()
    assert whole[:2] == added[:2]
    if tools:
        assert [call.get("thought_signature") for call in whole[1]] == [b"so\xfe\x9c", None]


@pytest.mark.parametrize("how", ["break", "close", "forgotten", "error"])
def test_however_a_stream_is_left_its_entry_is_closed(speaker: Server, how: str) -> None:
    """A reader that stops early leaves an entry that says so, and a replay serves as much."""
    made = client(speaker.url, KEY, 0)

    def agent() -> str:
        stream = made.models.generate_content_stream(**asked())
        first = next(stream)
        if how == "close":
            stream.close()  # type: ignore[attr-defined]
        elif how == "error":
            with contextlib.suppress(ZeroDivisionError):
                for _ in stream:
                    1 / 0  # noqa: B018 - a bug of the agent's
        del stream
        gc.collect()
        return str(parts(first)[0].text)

    recorded = workbench.record(agent)
    made.close()
    (entry,) = recorded.trace.entries
    assert entry.ended == "stopped"
    assert len(entry.chunks) == (2 if how == "error" else 1)
    speaker.stop()
    replayed = workbench.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert recorded.trace.diff(replayed.trace).same


def test_reading_past_where_the_recorded_reader_stopped_says_so(speaker: Server) -> None:
    """What was never received is not made up."""
    made = client(speaker.url, KEY, 0)
    with workbench.recording() as recorded:
        next(made.models.generate_content_stream(**asked()))
    refused = pytest.raises(workbench.DriftError, match="the recorded reader stopped here, after 1")
    with refused, workbench.replaying(recorded.trace):
        list(made.models.generate_content_stream(**asked()))
    made.close()


def test_a_stream_that_outlives_its_session_still_reads(speaker: Server) -> None:
    """What an agent has in hand stays good when the recording is over."""
    made = client(speaker.url, KEY, 0)
    with workbench.recording() as recorded:
        stream = made.models.generate_content_stream(**asked())
        first = next(stream)
    assert len([first, *stream]) > 3
    made.close()
    assert recorded.trace.entries[0].ended == "stopped"


def test_a_time_limit_that_cancelled_a_call_does_so_again(speaker: Server) -> None:
    """Recorded as cancelled, before the answer or inside a stream, and cancelled in a replay by
    the same limit."""

    async def waiting() -> str:
        made = async_client(speaker.url, KEY, 0)
        try:
            await asyncio.wait_for(made.aio.models.generate_content(**asked("stall")), 0.1)
        except TimeoutError:
            return "too late"
        finally:
            await made.close()
        return "in time"

    async def reading() -> int:
        made = async_client(speaker.url, KEY, 0)
        seen = 0
        try:
            async with asyncio.timeout(0.2):
                async for _ in await made.aio.models.generate_content_stream(**asked("mid-stall")):
                    seen += 1
        except TimeoutError:
            return seen
        finally:
            await made.close()
        return -seen

    for agent, expected in ((waiting, "too late"), (reading, 3)):
        recorded = workbench.record(lambda agent=agent: asyncio.run(agent()))
        assert recorded.output == expected
        (entry,) = recorded.trace.entries
        assert entry.error is not None
        assert entry.error.type == "CancelledError"
        replayed = workbench.replay(lambda agent=agent: asyncio.run(agent()), recorded.trace)
        assert (replayed.status, replayed.output) == ("ok", expected)


async def turns(url: str) -> list[Any]:
    """Two streams that are read in turns."""
    made = async_client(url, KEY, 0)
    streams = [
        await made.aio.models.generate_content_stream(model="m", contents=text)
        for text in ("hello there", "good-bye")
    ]
    seen: list[Any] = []
    for _ in range(3):
        seen += [see(await anext(stream)) for stream in streams]
    for stream in streams:
        seen += [see(piece) async for piece in stream]
    await made.close()
    return seen


def threads(url: str) -> list[Any]:
    """Two streams that are read in threads."""
    made = client(url, KEY, 0)
    seen: dict[str, list[Any]] = {"one": [], "two": []}

    def read(text: str) -> None:
        for piece in made.models.generate_content_stream(model="m", contents=text):
            seen[text].append(see(piece))

    started = [threading.Thread(target=read, args=(text,)) for text in seen]
    for each in started:
        each.start()
    for each in started:
        each.join()
    made.close()
    return list(seen.values())


@pytest.mark.parametrize("agent", [lambda url: asyncio.run(turns(url)), threads])
def test_streams_read_at_once_keep_their_own_pieces(speaker: Server, agent: Any) -> None:
    """Each reader gets its own pieces again, in the same order."""
    with workbench.recording() as recorded:
        live = agent(speaker.url)
    speaker.stop()
    with workbench.replaying(recorded.trace) as replayed:
        assert differences(live, agent(speaker.url)) == []
    assert replayed.result.status == "ok"
