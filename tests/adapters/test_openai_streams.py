import asyncio
import contextlib
import gc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from openai_results import async_client, client, options, see
from openai_server import Server

import workbench
from workbench import DriftError
from workbench.faults import StreamTruncate


def texts(stream: Any, count: int | None = None) -> list[str]:
    """The text of a stream's chunks, of the first few or of all."""
    found = []
    for chunk in stream:
        found.append(chunk.choices[0].delta.content)
        if len(found) == count:
            break
    return found


def two_of(url: str) -> list[str]:
    """Read two chunks, and no more."""
    return texts(client(url).chat.completions.create(**options("ok", "stream")), 2)


def test_a_reader_that_breaks_off_is_recorded_as_such(server: Server) -> None:
    """Two chunks were read: they are kept, the entry says that the reader stopped, and a replay
    gives the same two."""
    with workbench.recording() as recorded:
        live = two_of(server.url)
        after = client(server.url).chat.completions.create(**options("ok", "plain", "next"))
    server.stop()
    first, second = recorded.trace.entries
    assert [c.data["choices"][0]["delta"].get("content") for c in first.chunks] == live
    assert first.ended == "stopped"
    assert first.error is None
    assert (first.provider, first.reply_model) == ("local", "served-model-1")
    assert first.response == {
        "status": 200,
        "headers": {"content-type": "text/event-stream", "x-request-id": "req_1"},
    }
    assert second.text == "You said: next"

    with workbench.replaying(recorded.trace) as replayed:
        assert two_of(server.url) == live
        again = client(server.url).chat.completions.create(**options("ok", "plain", "next"))
        assert see(again) == see(after)
    assert replayed.result.trace.entries[0].ended == "stopped"
    assert replayed.result.status == "ok"


def test_reading_past_where_the_recorded_reader_stopped_says_so(server: Server) -> None:
    """What was never received cannot be replayed: a clear error instead of a short answer, and
    the replay drifted, also when the agent swallows it.
    """
    with workbench.recording() as recorded:
        two_of(server.url)
    seen: list[str] = []

    def read_on() -> None:
        stream = client(server.url).chat.completions.create(**options("ok", "stream"))
        with contextlib.suppress(DriftError):
            seen.extend(chunk.choices[0].delta.content for chunk in stream)

    replayed = workbench.replay(read_on, recorded.trace)
    assert seen == ["", "You sa"]
    assert replayed.status == "drifted"
    assert "stopped here, after 2 chunks" in str(replayed.drift)


@pytest.mark.parametrize("how", ["close", "context", "forgotten", "unread"])
def test_however_a_stream_is_left_its_entry_is_closed(server: Server, how: str) -> None:
    """Closed, left by its context, garbage collected or never read: no entry stays open."""

    def leave() -> None:
        stream = client(server.url).chat.completions.create(**options("ok", "stream"))
        if how == "context":
            with stream:
                next(iter(stream))
        elif how != "unread":
            next(iter(stream))
        if how == "close":
            stream.close()

    with workbench.recording() as recorded:
        leave()
        gc.collect()
        if how != "unread":
            client(server.url).chat.completions.create(**options("ok", "plain"))
            assert recorded.trace.entries[0].ended == "stopped"
    entry = recorded.trace.entries[0]
    assert (entry.ended, entry.open) == ("stopped", False)
    assert len(entry.chunks) == (0 if how == "unread" else 1)


def test_a_stream_that_outlives_its_session_still_reads(server: Server) -> None:
    """The session's end takes nothing from the agent's own stream."""
    with workbench.recording() as recorded:
        stream = client(server.url).chat.completions.create(**options("ok", "stream"))
        first = next(iter(stream))
    assert "".join([first.choices[0].delta.content or "", *filter(None, texts(stream))]) == (
        "You said: hello"
    )
    assert recorded.trace.entries[0].ended == "stopped"


def test_a_chunk_is_written_before_it_is_delivered(server: Server) -> None:
    """A process that dies while it reads has lost nothing that its agent has seen."""
    with workbench.recording() as recorded:
        stream = client(server.url).chat.completions.create(**options("ok", "stream"))
        for count, _ in enumerate(stream, 1):
            (entry,) = recorded.trace.entries
            assert len(entry.chunks) == count


def test_a_stream_is_replayed_to_a_plain_call_and_the_reverse(server: Server) -> None:
    """The way an answer travels is no part of what was asked."""
    with workbench.recording() as streamed:
        chunks = list(
            client(server.url).chat.completions.create(
                **options("ok", "stream"), stream_options={"include_usage": True}
            )
        )
    with workbench.recording() as plain:
        whole = client(server.url).chat.completions.create(**options("ok", "plain"))
    server.stop()

    with workbench.replaying(streamed.trace):
        found = client(server.url).chat.completions.create(**options("ok", "plain"))
        assert type(found).__name__ == "ChatCompletion"
        assert found.choices[0].message.content == "You said: hello"
        assert found.usage is not None
        assert found.usage.prompt_tokens == chunks[-1].usage.prompt_tokens
        assert found._request_id == "req_1"
    with workbench.replaying(plain.trace):
        stream = client(server.url).chat.completions.create(**options("ok", "stream"))
        assert "".join(filter(None, texts(stream))) == whole.choices[0].message.content


def test_a_time_limit_that_cancelled_a_call_does_so_again(server: Server) -> None:
    """A call cut short by the agent's own time limit ends in the same exception, plain or not."""

    async def agent() -> list[Any]:
        made = async_client(server.url, timeout=20).chat.completions
        seen: list[Any] = []

        async def read() -> None:
            async for chunk in await made.create(**options("slow", "stream")):
                seen.append(chunk.choices[0].delta.content)

        for job in (made.create(**options("stall", "plain")), read()):
            try:
                await asyncio.wait_for(job, 0.25)
            except TimeoutError as error:
                seen.append(type(error).__name__)
        return seen

    recorded = workbench.record(agent)
    assert recorded.output == ["TimeoutError", "", "TimeoutError"]
    plain, streamed = recorded.trace.entries
    assert plain.ended == streamed.ended == "cancelled"
    assert plain.error is not None
    assert plain.error.type == "CancelledError"
    server.stop()
    replayed = workbench.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("end", ["reset", "stall", "clean"])
def test_an_injected_cut_is_what_the_sdk_makes_of_a_real_one(
    server: Server, mode: str, end: Any
) -> None:
    """After two chunks: what the client raises for a lost connection, for silence; or nothing."""

    def agent() -> tuple[list[str], BaseException | None]:
        seen: list[str] = []

        async def go() -> None:
            made = async_client(server.url).chat.completions
            async for chunk in await made.create(**options("ok", "stream")):
                seen.append(chunk.choices[0].delta.content or "")

        try:
            if mode == "async":
                asyncio.run(go())
            else:
                stream = client(server.url).chat.completions.create(**options("ok", "stream"))
                for chunk in stream:
                    seen.append(chunk.choices[0].delta.content or "")
        except Exception as error:
            return seen, error
        return seen, None

    with workbench.recording() as recorded:
        agent()
    server.stop()
    fault = StreamTruncate(2, end=end)
    with workbench.forking(recorded.trace, faults=[fault], on_miss="fail") as forked:
        seen, error = agent()
    assert seen == ["", "You sa"]
    # Only later releases make their own exceptions of those of the HTTP library.
    kind = {"reset": "ReadError", "stall": "ReadTimeout", "clean": "NoneType"}[end]
    if hasattr(openai._streaming, "APIConnectionError"):
        kind = {"reset": "APIConnectionError", "stall": "APITimeoutError", "clean": "NoneType"}[end]
    assert type(error).__name__ == kind
    entry = forked.trace.entries[0]
    assert len(entry.chunks) == 2
    assert entry.ended == ("complete" if end == "clean" else "cut")
    if end != "clean":
        assert entry.source == "fault"
        assert entry.error is not None
        assert entry.error.type == kind


def test_calls_made_at_once_get_their_own_answers(server: Server) -> None:
    """Two calls under way together are told apart by what they ask, whatever their order."""

    async def both(first: str, second: str) -> list[Any]:
        made = async_client(server.url, timeout=20).chat.completions
        found = await asyncio.gather(
            made.create(**options("ok", "plain", first)),
            made.create(**options("ok", "plain", second)),
        )
        return [each.choices[0].message.content for each in found]

    recorded = workbench.record(both, "left", "right")
    server.stop()
    replayed = workbench.replay(both, recorded.trace, "right", "left")
    assert replayed.output == ["You said: right", "You said: left"]
    assert replayed.status == "ok"


def test_calls_from_a_pool_of_threads_get_their_own_answers(server: Server) -> None:
    """Threads without a context belong to the one open session."""

    def one(text: str) -> str | None:
        found = client(server.url).chat.completions.create(**options("ok", "plain", text))
        return str(found.choices[0].message.content)

    def agent() -> list[str | None]:
        with ThreadPoolExecutor(3) as pool:
            return list(pool.map(one, "abcde"))

    recorded = workbench.record(agent)
    assert recorded.output == [f"You said: {letter}" for letter in "abcde"]
    assert len(recorded.trace.entries) == 5
    server.stop()
    assert workbench.replay(agent, recorded.trace).output == recorded.output
