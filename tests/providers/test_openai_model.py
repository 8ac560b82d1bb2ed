"""The OpenAI provider of AgentIO, through the real SDK against a server on loopback."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
from openai_server import Server

import workbench as wb
from workbench.providers.openai_shapes import from_chunk, from_openai, to_openai

ASK = [{"role": "user", "content": "hé"}]
LOOK: dict[str, Any] = {
    "name": "get_order",
    "description": "Read an order.",
    "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}},
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A running loopback server; a test stops it before it replays."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Server() as running:
        yield running


def model(server: Server, **options: Any) -> wb.OpenAIModel:
    """The provider, without retries that would hide an error."""
    return wb.OpenAIModel(
        base_url=server.url,
        api_key="sk-test-1234",
        **{"max_retries": 0, "timeout_s": 0.5} | options,
    )


def outcome(io: wb.SyncAgentIO, name: str, stream: bool) -> Any:
    """What an agent sees of one call."""
    got: list[Any] = []
    try:
        if stream:
            got.extend(chunk.raw for chunk in io.stream_model(model=name, messages=ASK))
            return got
        return io.call_model(model=name, messages=ASK, temperature=0).raw
    except wb.ModelError as error:
        return [got, type(error).__name__, str(error), error.status, error.headers, error.body]


async def aoutcome(io: wb.AgentIO, name: str, stream: bool) -> Any:
    """The same in async code."""
    got: list[Any] = []
    try:
        if stream:
            async for chunk in io.stream_model(model=name, messages=ASK):
                got.append(chunk.raw)
            return got
        return (await io.call_model(model=name, messages=ASK, temperature=0)).raw
    except wb.ModelError as error:
        return [got, type(error).__name__, str(error), error.status, error.headers, error.body]


def awaited(server: Server, ask: Callable[[wb.AgentIO], Awaitable[Any]]) -> Any:
    """What comes of a call in a loop of its own, the connections closed with it."""

    async def main() -> Any:
        async with wb.live_io(model=model(server)) as io:
            return await ask(io)

    return asyncio.run(main())


def test_a_reply_loses_nothing(server: Server) -> None:
    """Text, usage, names, and what the neutral shape has no place for, in both twins."""
    io = wb.live_io(model=model(server))
    reply = io.sync.call_model(model="ok", messages=ASK, temperature=0.5, x_vendor={"a": 1})
    assert (reply.text, reply.finish_reason, reply.model) == (
        "You said: hé",
        "stop",
        "served-model-1",
    )
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (12, 5)
    assert reply.raw["extra"]["x_vendor"]["big"] == 12345678901234567890123
    assert reply.raw["extra"]["logprobs"]["content"][0]["token"] == "a"
    path, headers, asked = server.seen[-1]
    assert path == "/v1/chat/completions"
    assert headers["authorization"] == "Bearer sk-test-1234"
    assert asked == {"model": "ok", "messages": ASK, "temperature": 0.5, "x_vendor": {"a": 1}}
    assert awaited(server, lambda io: io.call_model(model="ok", messages=ASK)) == reply


def test_tool_calls_and_their_results_travel_both_ways(server: Server) -> None:
    """Tools are offered in the provider's form, a call comes back with its arguments parsed, also
    from a stream, and goes into the next request as the provider wants it."""

    @wb.tool(name="get_order", effect="read")
    def get_order(number: int) -> str:
        """Read an order."""
        return f"order {number}"

    io = wb.live_io(model=model(server), tools=[get_order]).sync
    plain = io.call_model(
        model="ok", messages=ASK, tools=[get_order], tool_choice={"name": "get_order"}
    )
    streamed = io.stream_model(model="ok", messages=ASK, tools=[LOOK]).read()
    for reply in (plain, streamed):
        (call,) = reply.tool_calls
        assert (call.id, call.name, call.arguments) == ("call_1", "get_order", {"number": 101})
        assert reply.finish_reason == "tool_calls"
    offered = server.seen[0][2]
    assert offered["tools"][0]["type"] == "function"
    assert offered["tools"][0]["function"]["name"] == "get_order"
    assert offered["tools"][0]["function"]["parameters"]["required"] == ["number"]
    assert offered["tool_choice"] == {"type": "function", "function": {"name": "get_order"}}
    (call,) = plain.tool_calls
    result = io.call_tool(call.name, call.arguments)
    io.call_model(model="ok", messages=[*ASK, plain.message, wb.tool_message(call, result)])
    sent = server.seen[-1][2]["messages"]
    assert sent[1]["tool_calls"] == [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "get_order", "arguments": '{"number": 101}'},
        }
    ]
    assert sent[2] == {"role": "tool", "tool_call_id": "call_1", "content": "order 101"}


PLAIN = ["ok", "429", "500", "html502", "badjson", "text", "reset", "cut", "stall"]
BROKEN = ["ok", "429", "mid-reset", "mid-cut", "mid-stall", "mid-error", "mid-bad"]
KIND = {
    "429": "RateLimitError",
    "500": "ServerFailedError",
    "html502": "ServerFailedError",
    "badjson": "BadReplyError",
    "text": "BadReplyError",
    "reset": "ConnectionLostError",
    "cut": "ConnectionLostError",
    "stall": "ModelTimeoutError",
    "mid-reset": "ConnectionLostError",
    "mid-cut": "ConnectionLostError",
    "mid-stall": "ModelTimeoutError",
    "mid-error": "ModelError",
    "mid-bad": "BadReplyError",
}


@pytest.mark.parametrize(
    ("name", "stream"), [*((name, False) for name in PLAIN), *((name, True) for name in BROKEN)]
)
def test_whatever_the_server_does_replays_the_same(server: Server, name: str, stream: bool) -> None:
    """Good answers, every kind of failure and each way of a stream to break, in both twins: the
    agent sees the very same from the recording, with no server, no key and no SDK call recorded
    beside the io's own."""
    with wb.recording() as run, wb.live_io(model=model(server)).sync as io:
        live = outcome(io, name, stream)
    with wb.recording() as arun:
        alive = awaited(server, lambda io: aoutcome(io, name, stream))
    server.stop()
    if name in KIND:
        assert (live[1], alive[1]) == (KIND[name], KIND[name])
        assert bool(live[0]) == name.startswith("mid-")
    else:
        assert live == alive
        said = "".join(c.get("text", "") for c in live) if stream else live["content"]
        assert said == "You said: hé"
    for trace, seen in ((run.trace, live), (arun.trace, alive)):
        (entry,) = trace.entries
        assert (entry.api, entry.model, entry.provider) == ("workbench", name, "local")
        with wb.replaying(trace):
            assert outcome(wb.live_io().sync, name, stream) == seen
        with wb.replaying(trace):
            assert asyncio.run(aoutcome(wb.live_io(), name, stream)) == seen


def test_a_429_says_when_to_come_again(server: Server) -> None:
    """The header is read in seconds, and the SDK's own exception stays behind ours."""
    with pytest.raises(wb.RateLimitError) as caught:
        wb.live_io(model=model(server)).sync.call_model(model="429", messages=ASK)
    assert caught.value.retry_after_s == 0.2
    assert type(caught.value.__cause__).__name__ == "RateLimitError"
    assert caught.value.body["code"] == "rate_limit_exceeded"


def test_an_sdk_call_inside_a_tool_is_a_call_of_its_own(server: Server) -> None:
    """What the provider sends is not recorded twice, but an agent's own client inside a tool is."""

    def second_opinion() -> str:
        import openai

        client = openai.OpenAI(base_url=server.url, api_key="k")
        asked: Any = {"model": "ok", "messages": ASK}
        return str(client.chat.completions.create(**asked).choices[0].message.content)

    with wb.recording() as run:
        io = wb.live_io(model=model(server), tools=[second_opinion]).sync
        io.call_model(model="ok", messages=ASK)
        assert io.call_tool("second_opinion") == "You said: hé"
    outer, tool, inner = run.trace.entries
    assert (outer.api, tool.name, inner.api) == ("workbench", "second_opinion", "openai.chat")
    assert inner.enclosing == tool.id
    assert len(server.seen) == 2


def test_a_run_in_a_loop_of_its_own_leaves_nothing_open(server: Server) -> None:
    """The blocking forms make a loop for each run: its connections are closed with it, and the
    same provider serves the next one."""

    async def agent(io: wb.AgentIO) -> str:
        first, second = await asyncio.gather(
            *(io.call_model(model="ok", messages=ASK) for _ in range(2))
        )
        assert first == second
        return first.text

    provider = model(server)
    io = wb.live_io(model=provider)
    outputs = [wb.record(agent, io=io).output for _ in range(2)]
    assert outputs == ["You said: hé"] * 2
    assert provider._async == {}


def test_embeddings(server: Server) -> None:
    """Vectors come as lists of numbers, in both twins."""
    io = wb.live_io(model=model(server))
    assert io.sync.embed(model="e", texts=["a"], dimensions=1).vectors == [[0.5]]
    assert awaited(server, lambda io: io.embed(model="e", texts=["a"])).vectors == [[0.5]]
    assert server.seen[0][2] == {
        "model": "e",
        "input": ["a"],
        "encoding_format": "float",
        "dimensions": 1,
    }


def test_no_key_is_a_model_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A live call without a key fails as any other; making the provider needs none."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    io = wb.live_io(model=wb.OpenAIModel())
    with pytest.raises(wb.ModelError, match="OPENAI_API_KEY"):
        io.sync.call_model(model="ok", messages=ASK)


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        (None, "openai"),
        ("https://eu.api.openai.com/v1", "openai"),
        ("https://mine.openai.azure.com/v1", "azure"),
        ("http://[::1]:80/v1", "local"),
        ("http://localhost/v1", "local"),
        ("https://openai.com.example/v1", "openai-compatible"),
    ],
)
def test_who_answers_is_told_by_the_address(url: str | None, provider: str) -> None:
    """A price is looked up by it: another server of the same protocol is not taken for OpenAI's."""
    assert wb.OpenAIModel(base_url=url).provider == provider
    assert wb.OpenAIModel(base_url=url, provider="mine").provider == "mine"


def test_shapes_are_translated_both_ways() -> None:
    """What has OpenAI's form already passes; broken arguments stay text; several choices, a refusal
    and reasoning are kept."""
    theirs = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    sent = to_openai(
        {
            "model": "m",
            "messages": [{"role": "assistant", "tool_calls": [theirs, {"id": "2", "name": "g"}]}],
            "stream": True,
        }
    )
    ours = {"id": "2", "type": "function", "function": {"name": "g", "arguments": "{}"}}
    assert sent["messages"][0]["tool_calls"] == [theirs, ours]
    assert sent["extra_body"] == {"stream_options": {"include_usage": True}}
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{bad"}}
    choices = [
        {
            "message": {"content": None, "refusal": "no", "tool_calls": [call]},
            "finish_reason": "stop",
        },
        {"message": {"content": "other"}},
    ]
    got = from_openai({"choices": choices, "usage": None})
    assert got["tool_calls"] == [{"id": "1", "name": "f", "arguments": "{bad"}]
    assert (got["refusal"], got["extra"]["choices"][0]["message"]["content"]) == ("no", "other")
    with pytest.raises(wb.BadReplyError, match="holds no completion"):
        from_openai({"choices": []})
    delta = {"reasoning_content": "hm", "content": "a", "tool_calls": [{"index": 0, "id": "1"}]}
    assert list(from_chunk({"choices": [{"delta": delta}], "id": "c"})) == [
        {"reasoning": "hm"},
        {"text": "a"},
        {"tool_call": {"index": 0, "id": "1"}},
    ]


@pytest.mark.model
def test_the_offline_model_answers_an_io(base_url: str) -> None:
    """A real model without network or key, plain and streamed, its tool call parsed; the server is
    let go of when the block ends."""
    assert base_url
    with wb.live_io(model=wb.LocalModel(idle_s=1)) as io:
        reply = io.sync.call_model(model="local", messages=ASK, temperature=0, max_tokens=8)
        asked: dict[str, Any] = {"messages": ASK, "temperature": 0, "max_tokens": 8}
        streamed = io.sync.stream_model(model="local", **asked).read()
        call = io.sync.call_model(
            model="local", messages=ASK, tools=[LOOK], tool_choice="required", temperature=0
        ).tool_calls[0]
    assert reply.text
    assert streamed.text == reply.text
    assert reply.usage is not None
    assert reply.usage.output_tokens is not None
    assert 0 < reply.usage.output_tokens <= 8
    assert call.name == "get_order"
    assert isinstance(call.arguments, dict)
