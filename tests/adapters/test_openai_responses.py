"""Responses, in whatever way the SDK lets them be asked for: recorded, and replayed offline."""

import asyncio
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import openai
import pytest
from canned import Canned, event
from loopback import Server
from openai_responses import amade, given, made, said
from openai_results import see, see_text
from pydantic import BaseModel

import workbench
from workbench import turn

pytestmark = pytest.mark.skipif(
    find_spec("openai.types.responses") is None, reason="this release has no responses"
)


class City(BaseModel):
    """What a schema asks for."""

    city: str


def plain(url: str) -> Any:
    """A copy of a client."""
    return see(made(url).with_options(timeout=3).responses.create(**given()))


def stream(url: str) -> Any:
    """Event by event."""
    return [see(each) for each in made(url).responses.create(**given("stream"))]


def parsed(url: str) -> Any:
    """A reply read into a class."""
    found: Any = made(url).responses.parse(**given(), text_format=City)
    assert found.output_parsed == City(city="Bergen")
    return found.to_dict(warnings=False), found.id, found._request_id


def helper(url: str) -> Any:
    """The event API over a stream, with a class."""
    with made(url).responses.stream(**given(), text_format=City) as events:
        kinds = [each.type for each in events]
        found: Any = events.get_final_response()
        assert found.output_parsed == City(city="Bergen")
        return kinds, found.to_dict(warnings=False)


def raw(url: str) -> Any:
    """The HTTP response, with its parser."""
    found = made(url).responses.with_raw_response.create(**given())
    return _raw(found), see(found.parse())


def raw_stream(url: str) -> Any:
    """The same of a stream."""
    found: Any = made(url).responses.with_raw_response.create(**given("tools"))
    return _raw(found), [see(each) for each in found.parse()]


def streaming(url: str) -> Any:
    """A response whose body the caller reads."""
    with made(url).responses.with_streaming_response.create(**given()) as found:
        return _raw(found), see_text("".join(found.iter_text())), see(found.parse())


def streaming_lines(url: str) -> Any:
    """A stream as its very lines: names and data of the events."""
    with made(url).responses.with_streaming_response.create(**given("tools")) as found:
        return list(found.iter_lines())


def posted(url: str) -> Any:
    """The low-level call."""
    return made(url).post("/responses", body=given(), cast_to=object)


def azure(url: str) -> Any:
    """Azure's client, with its own path."""
    endpoint = openai.AzureOpenAI(azure_endpoint=url, api_version="2025-04-01", api_key="k")
    with endpoint as client:
        return see(client.responses.create(**given()))


def async_raw(url: str) -> Any:
    """HTTP responses, async."""

    async def go() -> Any:
        responses = amade(url).responses
        one = await responses.with_raw_response.create(**given())
        two: Any = await responses.with_raw_response.create(**given("stream", "again"))
        return _raw(one), see(one.parse()), [see(each) async for each in two.parse()]

    return asyncio.run(go())


def async_streaming(url: str) -> Any:
    """Bodies that the caller reads, async."""

    async def go() -> Any:
        responses = amade(url).responses.with_streaming_response
        async with responses.create(**given()) as one:
            first = see(await one.parse())
        async with responses.create(**given("stream", "again")) as two:
            return first, [line async for line in two.iter_lines()]

    return asyncio.run(go())


def async_helper(url: str) -> Any:
    """The event API, async."""

    async def go() -> Any:
        async with amade(url).responses.stream(**given()) as events:
            kinds = [each.type async for each in events]
            return kinds, (await events.get_final_response()).to_dict(warnings=False)

    return asyncio.run(go())


def _raw(found: Any) -> Any:
    return found.status_code, found.headers["content-type"], found.headers["x-request-id"]


WAYS = [
    plain, stream, parsed, helper, raw, raw_stream, streaming, streaming_lines, posted, azure,
    async_raw, async_streaming, async_helper,
]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_asking_is_recorded_and_replayed(
    speaker: Server, connections: list[object], way: Callable[[str], Any]
) -> None:
    """However an agent asks, a replay without a network gives it the same, and it is a turn."""
    with workbench.recording() as recorded:
        live = way(speaker.url)
    speaker.stop()
    connections.clear()
    with workbench.replaying(recorded.trace):
        assert way(speaker.url) == live
    assert connections == []
    assert recorded.trace.turns
    for entry in recorded.trace.entries:
        assert (entry.api, entry.kind) == ("openai.responses", "model")
        assert (entry.request["path"], entry.response["status"]) == ("/responses", 200)
        assert (entry.model, entry.reply_model) == ("ok", "served-model-1")


def test_a_recorded_stream_answers_a_plain_call_and_the_other_way_round(speaker: Server) -> None:
    """What was said is the same however it travels."""

    def whole() -> str:
        return said(made(speaker.url).responses.create(**given()))

    def pieces() -> str:
        events: Any = made(speaker.url).responses.create(**given("stream"))
        return "".join(each.delta for each in events if each.type == "response.output_text.delta")

    for first, second in ((whole, pieces), (pieces, whole)):
        recorded = workbench.record(first)
        replayed = workbench.replay(second, recorded.trace)
        assert (replayed.status, replayed.output) == ("ok", "You said: hello")


@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_an_edited_reply_reaches_the_sdk(speaker: Server, kind: str) -> None:
    """A person's words come out of the SDK's own types, streamed or not."""

    def agent() -> str:
        responses = made(speaker.url).responses
        if kind == "plain":
            return said(responses.create(**given()))
        with responses.stream(**given()) as events:
            return said(events.get_final_response())

    recorded = workbench.record(agent)
    speaker.stop()
    edits = recorded.trace.edit().reply(turn(1), text="I was told otherwise.")
    forked = workbench.fork(agent, recorded.trace, edits=edits, on_miss="fail")
    assert (forked.status, forked.output) == ("ok", "I was told otherwise.")


# -- streams ---------------------------------------------------------------------------------------


def _steps(text: str) -> Iterator[dict[str, Any]]:
    """A short stream's events."""
    message = {"type": "message", "id": "m", "role": "assistant", "status": "completed"}
    part = {"type": "output_text", "text": text, "annotations": []}
    head = {"id": "resp_9", "object": "response", "created_at": 1, "model": "served-model-1"}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    begun = {**head, **rest, "status": "in_progress", "output": []}
    yield {"type": "response.created", "response": begun}
    at = {"item_id": "m", "output_index": 0, "content_index": 0}
    for letter in text:
        yield {"type": "response.output_text.delta", **at, "delta": letter, "logprobs": []}
    output = [{**message, "content": [part]}]
    ended = {**begun, "status": "completed", "output": output}
    yield {"type": "response.completed", "response": ended}


DONE = b"data: [DONE]\n\n"
NAMED = [event(each, each["type"]) for each in _steps("hi")]
UNNAMED = [event(each) for each in _steps("hi")]
FAILED = {**next(_steps(""))["response"], "status": "failed", "error": {"code": "server_error"}}
CUT = {**FAILED, "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
OWN = {"type": "error", "code": "server_error", "message": "Sorry", "param": None}
STREAMS = {
    "named": NAMED,
    "unnamed": UNNAMED,
    "done": [*NAMED, DONE],
    "unnamed and done": [*UNNAMED, DONE],
    "some unnamed": [*NAMED[:1], *UNNAMED[1:3], *NAMED[3:]],
    "failed": [*NAMED[:2], event({"type": "response.failed", "response": FAILED})],
    "incomplete": [*NAMED[:2], event({"type": "response.incomplete", "response": CUT})],
    "an error of its own": [*NAMED[:2], event(OWN, "error")],
}  # fmt: skip


def lines(url: str) -> list[str]:
    """A stream as its very lines."""
    made_for: Any = openai.OpenAI(base_url=url, api_key="k", max_retries=0)
    with made_for as client:
        asked = client.responses.with_streaming_response
        with asked.create(**given("stream")) as found:
            return list(found.iter_lines())


@pytest.mark.parametrize("name", STREAMS)
def test_a_stream_is_replayed_to_the_letter(name: str) -> None:
    """Names, order and end of the events are as that server writes them; what a response reports
    of itself is an event like any other, and no exception."""

    def events() -> list[Any]:
        with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
            return [see(each) for each in client.responses.create(**given("stream"))]

    with Canned(STREAMS[name]) as server:
        with workbench.recording() as recorded:
            live = events(), lines(server.url)
        with workbench.recording() as alone:
            lines(server.url)
        server.stop()
        with workbench.replaying(recorded.trace) as replayed:
            assert (events(), lines(server.url)) == live
        with workbench.replaying(replayed.result.trace):
            assert (events(), lines(server.url)) == live
    assert [entry.ended for entry in recorded.trace.entries] == ["complete", "complete"]
    assert alone.trace.entries[0].response == recorded.trace.entries[0].response
    assert replayed.result.trace.entries[0].response == recorded.trace.entries[0].response
    assert "\n".join(live[1]) + "\n" == b"".join(STREAMS[name]).decode().rstrip() + "\n\n"


def test_names_of_chat_events_are_kept_too() -> None:
    """A server that names the chunks of a chat completion, and never says that it is done."""
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}
    whole = [event({**chunk, "choices": [choice]}, "chunk")]

    def agent() -> list[str]:
        with openai.OpenAI(base_url=server.url, api_key="k", max_retries=0) as client:
            asked: Any = client.chat.completions.with_streaming_response
            with asked.create(model="m", messages=[], stream=True) as found:
                return list(found.iter_lines())

    with Canned(whole) as server:
        recorded = workbench.record(agent)
        server.stop()
        replayed = workbench.replay(agent, recorded.trace)
    assert recorded.output[0] == "event: chunk"
    assert (replayed.status, replayed.output) == ("ok", recorded.output)


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_reader_who_has_the_whole_answer_has_missed_nothing(speaker: Server, mode: str) -> None:
    """Whoever stops at the last event has the whole answer, so a replay may read on; whoever
    stops before it does not."""

    def agent(until: str) -> list[str]:
        kinds: list[str] = []

        async def go() -> None:
            async with await amade(speaker.url).responses.create(**given("stream")) as events:
                async for each in events:
                    kinds.append(each.type)
                    if each.type == until:
                        break

        if mode == "async":
            asyncio.run(go())
            return kinds
        with made(speaker.url).responses.create(**given("stream")) as found:
            for each in found:
                kinds.append(each.type)
                if each.type == until:
                    break
        return kinds

    whole = workbench.record(agent, "response.completed")
    part = workbench.record(agent, "response.output_text.delta")
    assert (whole.trace.entries[0].ended, part.trace.entries[0].ended) == ("complete", "stopped")
    speaker.stop()
    assert workbench.replay(agent, whole.trace, "").output == whole.output
    assert workbench.replay(agent, part.trace, "response.output_text.delta").output == part.output
    more = workbench.replay(agent, part.trace, "")
    assert more.status == "drifted"
    assert "stopped here, after" in str(more.drift)


def test_a_time_limit_that_cancelled_a_stream_does_so_again(speaker: Server) -> None:
    """A call cut short by the agent's own time limit ends in the same exception."""

    async def agent() -> list[str]:
        seen: list[str] = []

        async def read() -> None:
            client = amade(speaker.url, timeout=20)
            async for each in await client.responses.create(**given("stream", model="mid-stall")):
                seen.append(each.type)

        try:
            await asyncio.wait_for(read(), 0.3)
        except TimeoutError as error:
            seen.append(type(error).__name__)
        return seen

    recorded = workbench.record(agent)
    assert recorded.output[1:] == ["response.in_progress", *recorded.output[2:3], "TimeoutError"]
    assert recorded.trace.entries[0].ended == "cancelled"
    speaker.stop()
    replayed = workbench.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
