"""Every way in which the SDK lets a message be asked for."""

import asyncio
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import anthropic
import pytest
from loopback import Server
from pydantic import BaseModel
from sdk_cases import KEY, no_network
from sdk_seen import differences, see, see_text
from ways_anthropic import TOOL, async_client, client

import workbench

ASKED: Any = {
    "model": "ok",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hello"}],
}
Way = Callable[[str, str | None], Any]


class City(BaseModel):
    """What a schema asks for."""

    city: str


def with_options(url: str, key: str | None) -> Any:
    """Copies of a client."""
    with client(url, key, 0) as made:
        copied = made.with_options(timeout=3).copy(max_retries=1)
        return see(copied.messages.create(**ASKED))


def auth_token(url: str, key: str | None) -> Any:
    """A token in place of a key."""
    with anthropic.Anthropic(base_url=url, auth_token=key) as made:
        return see(made.messages.create(**ASKED))


def parsed(url: str, key: str | None) -> Any:
    """A reply read into a class."""
    with client(url, key, 0) as made:
        home: Any = made.messages if hasattr(made.messages, "parse") else made.beta.messages
        found = home.parse(output_format=City, **ASKED)
    assert found.parsed_output == City(city="Bergen")
    return see(found)


def parsed_stream(url: str, key: str | None) -> Any:
    """The same of a stream."""
    with client(url, key, 0) as made:
        home: Any = made.messages if hasattr(made.messages, "parse") else made.beta.messages
        with home.stream(output_format=City, **ASKED) as stream:
            events = [see(event) for event in stream]
            final = stream.get_final_message()
    assert final.parsed_output == City(city="Bergen")
    return events, see(final)


def raw_lines(url: str, key: str | None) -> Any:
    """A stream read by hand."""
    with client(url, key, 0) as made:
        found = made.messages.with_raw_response.create(**ASKED, stream=True)
        return list(found.http_response.iter_lines())


def raw_bad(url: str, key: str | None) -> Any:
    """A body that is no JSON, parsed by the caller."""
    with client(url, key, 0) as made:
        found = made.messages.with_raw_response.create(**{**ASKED, "model": "badjson"})
        with pytest.raises(ValueError, match="Expecting value"):
            found.parse()
        return found.http_response.text


def streaming(url: str, key: str | None) -> Any:
    """A response whose body the caller reads."""
    with (
        client(url, key, 0) as made,
        made.messages.with_streaming_response.create(**ASKED) as found,
    ):
        return _raw(found), see(found.parse()), see_text(found.text())


def streaming_lines(url: str, key: str | None) -> Any:
    """The same of a stream."""
    with (
        client(url, key, 0) as made,
        made.messages.with_streaming_response.create(**ASKED, stream=True) as found,
    ):
        return [line for line in found.iter_lines() if line]


def posted(url: str, key: str | None) -> Any:
    """The low-level call."""
    with client(url, key, 0) as made:
        return made.post("/v1/messages", body=ASKED, cast_to=object)


def async_raw(url: str, key: str | None) -> Any:
    """HTTP responses, async."""

    async def go() -> Any:
        async with async_client(url, key, 0) as made:
            raw: Any = made.messages.with_raw_response
            one = await raw.create(**ASKED)
            two = await raw.create(**{**ASKED, "stream": True, "max_tokens": 99})
            first = see(await _awaited(one.parse()))
            events: Any = await _awaited(two.parse())
            return _raw(one), first, [see(event) async for event in events]

    return asyncio.run(go())


def async_streaming(url: str, key: str | None) -> Any:
    """Bodies that the caller reads, async."""

    async def go() -> Any:
        async with async_client(url, key, 0) as made:
            opened = made.messages.with_streaming_response
            async with opened.create(**ASKED) as one:
                first = see(await _awaited(one.parse()))
            given: Any = {**ASKED, "stream": True, "max_tokens": 99}
            async with opened.create(**given) as two:
                return first, [line async for line in two.iter_lines() if line]

    return asyncio.run(go())


def conversation(url: str, key: str | None) -> Any:
    """A tool's result, and the thinking with its signature, sent back."""
    with client(url, key, 0) as made:
        first = made.messages.create(**ASKED, tools=[TOOL])
        result = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sent"}
        answered: Any = [
            *ASKED["messages"],
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result]},
        ]
        second = made.messages.create(**{**ASKED, "messages": answered})
        return see(first), see(second)


def vertex(url: str, key: str | None) -> Any:
    """Google's cloud, with its own paths."""
    with anthropic.AnthropicVertex(
        base_url=url, region="here", project_id="p", access_token=key or "replayed"
    ) as made:
        return see(made.messages.create(**ASKED))


def foundry(url: str, key: str | None) -> Any:
    """Microsoft's cloud."""
    made: Any = vars(anthropic)["AnthropicFoundry"]
    with made(base_url=url, api_key=key) as opened:
        return see(opened.messages.create(**ASKED))


async def _awaited(value: Any) -> Any:
    return await value if hasattr(value, "__await__") else value


def _raw(found: Any) -> Any:
    return found.status_code, found.headers["content-type"], found.headers["request-id"]


WAYS = [
    with_options,
    auth_token,
    raw_lines,
    raw_bad,
    streaming,
    streaming_lines,
    posted,
    async_raw,
    async_streaming,
    conversation,
]
if hasattr(anthropic.resources.beta.messages.Messages, "parse"):
    WAYS += [parsed, parsed_stream]
if find_spec("google") and find_spec("google.auth"):
    WAYS.append(vertex)
if hasattr(anthropic, "AnthropicFoundry"):
    WAYS.append(foundry)


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_asking_is_recorded_and_replayed(speaker: Server, way: Way) -> None:
    """However an agent asks, a replay without network and key gives it the same."""
    bare = way(speaker.url, KEY)
    with workbench.recording() as recorded:
        live = way(speaker.url, KEY)
    assert differences(bare, live) == []
    speaker.stop()
    with no_network() as tried, workbench.replaying(recorded.trace) as replayed:
        again = way(speaker.url, None)
    assert differences(live, again) == []
    assert (tried, replayed.result.status) == ([], "ok")
    for entry in recorded.trace.entries:
        assert entry.api == "anthropic.messages"
        assert entry.provider == "local"
        assert entry.request["path"] == "/v1/messages"
        assert KEY not in str(entry.request)


def test_the_sdk_of_a_replay_is_the_real_one() -> None:
    """The tests above prove nothing if a stand-in of the SDK were loaded."""
    assert sys.modules["anthropic"].__file__ == anthropic.__file__
    assert tuple(int(part) for part in anthropic.__version__.split(".")[:2]) >= (0, 49)


def test_each_kind_of_server_has_a_name() -> None:
    """A trace says who answered, and never under which address."""
    from workbench.adapters.anthropic.description import provider

    def named(url: str | None) -> str:
        return provider(anthropic.Anthropic(base_url=url, api_key="x"))

    assert named(None) == "anthropic"
    assert named("https://eu.anthropic.com") == "anthropic"
    assert named("https://notanthropic.com") == "anthropic-compatible"
    assert named("http://localhost:8000") == "local"
    bedrock = anthropic.AnthropicBedrock(aws_region="us-east-1", aws_access_key="a")
    assert provider(bedrock) == "aws"
    assert provider(anthropic.AnthropicVertex(region="here", project_id="p")) == "google"
    if hasattr(anthropic, "AnthropicFoundry"):
        assert provider(anthropic.AnthropicFoundry(resource="r", api_key="k")) == "azure"
