"""Every way in which the SDK lets a chat completion be asked for."""

import asyncio
import importlib
import sys
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai_results import TOOLS, async_client, client, options, see, see_text
from openai_server import Server
from pydantic import BaseModel

import workbench


class City(BaseModel):
    """What a schema asks for."""

    city: str


def with_options(url: str) -> Any:
    """A copy of a client."""
    return see(
        client(url).with_options(timeout=3).chat.completions.create(**options("ok", "plain"))
    )


def parsed(url: str) -> Any:
    """A reply read into a class."""
    given = options("ok", "plain")
    made: Any = client(url)
    # Its home was `client.beta` in the oldest releases.
    found = _home(made).parse(response_format=City, **given)
    assert found.choices[0].message.parsed == City(city="Bergen")
    return see(found)


def helper(url: str) -> Any:
    """The event API over a stream."""
    made: Any = client(url)
    given = {**options("ok", "plain"), "tools": _strict(TOOLS)}
    with _home(made).stream(**given) as stream:
        events = [event.type for event in stream]
        return events, stream.get_final_completion().to_dict(warnings=False)


def raw(url: str) -> Any:
    """The HTTP response, with its parser."""
    found = client(url).chat.completions.with_raw_response.create(**options("ok", "plain"))
    return _raw(found), see(found.parse())


def raw_stream(url: str) -> Any:
    """The same of a stream."""
    found = client(url).chat.completions.with_raw_response.create(**options("ok", "stream"))
    return _raw(found), [see(chunk) for chunk in found.parse()]


def raw_lines(url: str) -> Any:
    """A stream read by hand."""
    found = client(url).chat.completions.with_raw_response.create(**options("ok", "stream"))
    return list(found.http_response.iter_lines())


def raw_bad(url: str) -> Any:
    """A body that is no JSON, parsed by the caller."""
    found = client(url).chat.completions.with_raw_response.create(**options("badjson", "plain"))
    with pytest.raises(ValueError, match="Expecting value"):
        found.parse()
    return found.text


def streaming(url: str) -> Any:
    """A response whose body the caller reads."""
    made = client(url).chat.completions.with_streaming_response
    with made.create(**options("ok", "plain")) as found:
        return _raw(found), see_text("".join(found.iter_text())), see(found.parse())


def streaming_lines(url: str) -> Any:
    """The same of a stream."""
    made = client(url).chat.completions.with_streaming_response
    with made.create(**options("ok", "stream")) as found:
        return [line for line in found.iter_lines() if line]


def posted(url: str) -> Any:
    """The low-level call."""
    body = {"model": "ok", "messages": [{"role": "user", "content": "by hand"}]}
    return client(url).post("/chat/completions", body=body, cast_to=object)


def azure(url: str) -> Any:
    """Azure's client, with its own paths."""
    made = openai.AzureOpenAI(
        azure_endpoint=url.removesuffix("/v1"), api_version="2024-10-21", api_key="sk-secret-key"
    )
    return see(made.chat.completions.create(**options("ok", "plain")))


def azure_deployment(url: str) -> Any:
    """The same with a deployment in its address."""
    made = openai.AzureOpenAI(
        azure_endpoint=url.removesuffix("/v1"),
        azure_deployment="mine",
        api_version="2024-10-21",
        api_key="sk-secret-key",
    )
    return [see(chunk) for chunk in made.chat.completions.create(**options("ok", "stream"))]


def key_function(url: str) -> Any:
    """A key that is fetched for each call."""
    made = client(url)
    given: Any = options("ok", "plain")
    if _version() >= (2,):
        keys: Any = lambda: "sk-secret-key"  # noqa: E731 - it stands for a vault
        made = client(url, api_key=keys)
    return see(made.chat.completions.create(**given))


def legacy_transport(url: str) -> Any:
    """A client of the older HTTP library, where the SDK still takes one."""
    httpx: Any = importlib.import_module("httpx")
    with client(url, http_client=httpx.Client()) as made:
        found: Any = see(made.chat.completions.create(**options("ok", "plain")))
        with pytest.raises(openai.RateLimitError) as caught:
            made.chat.completions.create(**options("429", "plain"))
        assert isinstance(caught.value.response, httpx.Response)
        chunks = [see(c) for c in made.chat.completions.create(**options("ok", "stream"))]
        return found, chunks


def of_module(url: str) -> Any:
    """The calls of the module itself."""
    openai.api_key, openai.base_url = "sk-secret-key", url
    try:
        return see(openai.chat.completions.create(**options("ok", "plain")))
    finally:
        openai.api_key, openai.base_url = None, None
        openai._reset_client()


def async_raw(url: str) -> Any:
    """HTTP responses, async."""

    async def go() -> Any:
        made = async_client(url).chat.completions
        one = await made.with_raw_response.create(**options("ok", "plain"))
        two = await made.with_raw_response.create(**options("ok", "stream", "again"))
        return _raw(one), see(one.parse()), [see(chunk) async for chunk in two.parse()]

    return asyncio.run(go())


def async_streaming(url: str) -> Any:
    """Bodies that the caller reads, async."""

    async def go() -> Any:
        made = async_client(url).chat.completions.with_streaming_response
        async with made.create(**options("ok", "plain")) as one:
            first = see(await one.parse())
        async with made.create(**options("ok", "stream", "again")) as two:
            return first, [line async for line in two.iter_lines() if line]

    return asyncio.run(go())


def async_helper(url: str) -> Any:
    """The event API, async, with a schema."""

    async def go() -> Any:
        home = _home(async_client(url))
        async with home.stream(**options("ok", "plain"), response_format=City) as stream:
            events = [event.type async for event in stream]
            return events, (await stream.get_final_completion()).to_dict(warnings=False)

    return asyncio.run(go())


def _home(made: Any) -> Any:
    return made.chat.completions if _version() >= (2,) else made.beta.chat.completions


def _version() -> tuple[int, ...]:
    return tuple(int(part) for part in openai.__version__.split(".")[:2])


def _strict(tools: Any) -> Any:
    closed = {"additionalProperties": False, "required": ["number"]}
    parameters = {**tools[0]["function"]["parameters"], **closed}
    function = {**tools[0]["function"], "strict": True, "parameters": parameters}
    return [{**tools[0], "function": function}]


def _raw(found: Any) -> Any:
    return found.status_code, found.headers["content-type"], found.headers["x-request-id"]


WAYS = [
    with_options,
    parsed,
    helper,
    raw,
    raw_stream,
    raw_lines,
    raw_bad,
    streaming,
    streaming_lines,
    posted,
    azure,
    azure_deployment,
    key_function,
    legacy_transport,
    of_module,
    async_raw,
    async_streaming,
    async_helper,
]


@pytest.mark.parametrize("way", WAYS)
def test_each_way_of_asking_is_recorded_and_replayed(
    server: Server, connections: list[object], way: Callable[[str], Any]
) -> None:
    """However an agent asks, a replay without a network gives it the same."""
    if way is legacy_transport:
        pytest.importorskip("httpx")
    with workbench.recording() as recorded:
        live = way(server.url)
    server.stop()
    connections.clear()
    with workbench.replaying(recorded.trace):
        assert way(server.url) == live
    assert connections == []
    for entry in recorded.trace.entries:
        assert entry.api == "openai.chat"
        assert entry.request["path"] == "/chat/completions"
        assert "sk-secret-key" not in str(entry.request)


def test_the_sdk_of_a_replay_is_the_real_one() -> None:
    """The tests above prove nothing if a stand-in of the SDK were loaded."""
    assert sys.modules["openai"].__file__ == openai.__file__
    assert _version() >= (1, 60)


def test_each_kind_of_server_has_a_name() -> None:
    """A trace says who answered, and never under which address."""
    from workbench.adapters.openai.description import provider

    def named(url: str) -> str:
        return provider(openai.OpenAI(base_url=url, api_key="x"))

    assert named("https://api.openai.com/v1") == "openai"
    assert named("https://eu.api.openai.com/v1") == "openai"
    assert named("https://me.openai.azure.com/openai/v1") == "azure"
    assert named("http://localhost:8000/v1") == "local"
    assert named("http://127.0.0.1:8000/v1") == "local"
    assert named("http://[::1]:8000/v1") == "local"
    assert named("https://api.notopenai.com/v1") == "openai-compatible"
    azure_client = openai.AzureOpenAI(
        azure_endpoint="https://gateway.example", api_version="1", api_key="x"
    )
    assert provider(azure_client) == "azure"
