"""The local model through the real SDK: what an agent gets from it."""

import asyncio
import json
import threading
from typing import Any

import httpx
import openai
import pytest
from openai.types.chat import ChatCompletionChunk

pytestmark = pytest.mark.model

ORDER = {"type": "object", "properties": {"order_id": {"type": "integer"}}}
ORDER["required"] = ["order_id"]
TOOLS: Any = [
    {"type": "function", "function": {"name": name, "description": text, "parameters": ORDER}}
    for name, text in (("get_order", "Read an order."), ("cancel", "Cancel an order."))
]
ASK: Any = [
    {"role": "system", "content": "You are a shop's agent."},
    {"role": "user", "content": "Read order 101."},
]
HELLO: Any = [{"role": "user", "content": "Say hello."}]
USAGE: Any = {"include_usage": True}


@pytest.fixture(scope="module")
def client(base_url: str) -> openai.OpenAI:
    """The SDK as an agent uses it, without retries that would hide an error."""
    return openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)


def test_chat_is_repeatable_and_counts_its_tokens(client: openai.OpenAI) -> None:
    """At temperature 0, and with a seed, the reply is the same again after other requests."""
    for extra in ({"temperature": 0}, {"temperature": 0.9, "seed": 7}):
        replies = []
        for _ in range(2):
            reply = client.chat.completions.create(
                model="any", messages=HELLO, max_tokens=12, **extra
            )
            client.chat.completions.create(model="any", messages=ASK, max_tokens=3)
            replies.append(reply.choices[0].message.content)
            assert reply.model == "smollm2-135m"
            assert reply.usage is not None
            assert 0 < reply.usage.completion_tokens <= 12
        assert replies[0]
        assert replies[0] == replies[1]


def test_a_streamed_chat_says_what_the_plain_one_says(client: openai.OpenAI) -> None:
    """Chunks arrive in several pieces and add up to the plain reply, with the same usage."""
    plain = client.chat.completions.create(model="m", messages=HELLO, temperature=0, max_tokens=12)
    chunks = list(
        client.chat.completions.create(
            model="m",
            messages=HELLO,
            temperature=0,
            max_tokens=12,
            stream=True,
            stream_options=USAGE,
        )
    )
    texts = [choice.delta.content for chunk in chunks for choice in chunk.choices]
    assert len([text for text in texts if text]) > 3
    assert "".join(text or "" for text in texts) == plain.choices[0].message.content
    assert chunks[-1].usage is not None
    assert plain.usage is not None
    assert chunks[-1].usage.completion_tokens == plain.usage.completion_tokens
    assert {chunk.model for chunk in chunks} == {"smollm2-135m"}


def test_a_tool_call_is_real(client: openai.OpenAI) -> None:
    """A request with tools gets a tool call of OpenAI's shape, and its result is understood."""
    reply = client.chat.completions.create(model="m", messages=ASK, tools=TOOLS, temperature=0)
    choice = reply.choices[0]
    assert choice.finish_reason == "tool_calls"
    assert choice.message.tool_calls is not None
    call = choice.message.tool_calls[0]
    assert call.type == "function"
    assert call.function.name == "get_order"
    assert json.loads(call.function.arguments) == {"order_id": 101}
    history = [
        *ASK,
        choice.message,
        {"role": "tool", "tool_call_id": call.id, "content": '{"total": 149.99}'},
    ]
    after = client.chat.completions.create(
        model="m", messages=history, tools=TOOLS, tool_choice="none", temperature=0, max_tokens=30
    )
    assert after.choices[0].message.tool_calls is None
    assert after.choices[0].message.content


def streamed_call(chunks: list[ChatCompletionChunk]) -> tuple[str, str, int, str | None]:
    """Name, arguments, number of argument pieces and finish reason of a streamed call."""
    deltas = [c.delta.tool_calls[0] for k in chunks for c in k.choices if c.delta.tool_calls]
    functions = [delta.function for delta in deltas if delta.function is not None]
    assert {delta.index for delta in deltas} == {0}
    assert len({delta.id for delta in deltas if delta.id}) == 1
    assert deltas[0].id is not None
    pieces = [function.arguments for function in functions if function.arguments]
    name = "".join(function.name or "" for function in functions)
    finish = [c.finish_reason for k in chunks for c in k.choices][-1]
    return name, "".join(pieces), len(pieces), finish


def test_a_streamed_tool_call_comes_in_pieces(client: openai.OpenAI) -> None:
    """A stream opens with the role, then id and name, then arguments in fragments, then usage."""
    options: dict[str, Any] = {"messages": ASK, "tools": TOOLS, "temperature": 0}
    chunks = list(
        client.chat.completions.create(model="m", stream=True, stream_options=USAGE, **options)
    )
    assert chunks[0].choices[0].delta.role == "assistant"
    name, arguments, pieces, finish = streamed_call(chunks)
    assert (name, json.loads(arguments), finish) == ("get_order", {"order_id": 101}, "tool_calls")
    assert pieces > 2
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.total_tokens > 50


def test_tool_choice_and_max_tokens_are_honoured(client: openai.OpenAI) -> None:
    """A named tool is the one called; a cut call says `length` and keeps what there was."""
    choice: Any = {"type": "function", "function": {"name": "cancel"}}
    options: dict[str, Any] = {"messages": ASK, "tools": TOOLS, "tool_choice": choice}
    whole = client.chat.completions.create(model="m", temperature=0, **options)
    assert whole.choices[0].message.tool_calls is not None
    assert whole.choices[0].message.tool_calls[0].function.name == "cancel"
    cut = client.chat.completions.create(model="m", temperature=0, max_tokens=3, **options)
    assert cut.choices[0].finish_reason == "length"
    assert cut.usage is not None
    assert cut.usage.completion_tokens == 3


def test_async_calls_with_tools_are_answered_together(base_url: str) -> None:
    """Gathered calls each get their own reply, with ids that never repeat."""

    async def ask() -> list[Any]:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as client:
            calls = [
                client.chat.completions.create(
                    model="m", messages=ASK, tools=TOOLS, tool_choice="required", temperature=0
                )
                for _ in range(2)
            ]
            return await asyncio.gather(*calls)

    calls = [reply.choices[0].message.tool_calls[0] for reply in asyncio.run(ask())]
    assert {call.function.name for call in calls} == {"get_order"}
    assert len({call.id for call in calls}) == 2


@pytest.mark.parametrize("stream", [False, True])
def test_a_full_context_is_named(client: openai.OpenAI, *, stream: bool) -> None:
    """Too long a conversation is a 400 with OpenAI's code, before any stream begins."""
    messages: Any = [{"role": "user", "content": "word " * 5000}]
    with pytest.raises(openai.BadRequestError, match="maximum context length is 4096") as caught:
        client.chat.completions.create(model="m", messages=messages, stream=stream)
    assert (caught.value.code, caught.value.param) == ("context_length_exceeded", "messages")


def test_errors_have_the_shape_that_the_sdk_reads(client: openai.OpenAI, base_url: str) -> None:
    """Each wrong request becomes the SDK's own exception, and the server goes on."""
    with pytest.raises(openai.BadRequestError, match="'messages' must be a list"):
        client.chat.completions.create(model="m", messages=[])
    with pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("gpt-9")
    assert caught.value.code == "model_not_found"
    broken = httpx.post(f"{base_url}/chat/completions", content=b"{")
    assert broken.status_code == 400
    assert broken.json()["error"]["type"] == "invalid_request_error"
    assert httpx.get(f"{base_url}/nothing").status_code == 404
    assert httpx.delete(f"{base_url}/models").status_code == 405
    foreign = httpx.get(f"{base_url}/models", headers={"Host": "example.org"})
    assert foreign.status_code == 403
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/absent"}}}
    tools: Any = [{"type": "function", "function": {"name": "t", "parameters": schema}}]
    with pytest.raises(openai.BadRequestError, match="absent"):
        client.chat.completions.create(model="m", messages=HELLO, tools=tools)
    assert [model.id for model in client.models.list()] == ["smollm2-135m"]


def test_a_client_that_leaves_frees_the_model(client: openai.OpenAI) -> None:
    """An abandoned stream does not keep the next request waiting for its remaining tokens."""
    messages: Any = [{"role": "user", "content": "Count from 1 to 1000, one number per line."}]
    stream = client.chat.completions.create(
        model="m", messages=messages, stream=True, max_tokens=3000, temperature=0
    )
    next(iter(stream))
    stream.close()
    done = threading.Event()

    def ask() -> None:
        client.chat.completions.create(model="m", messages=HELLO, max_tokens=2)
        done.set()

    threading.Thread(target=ask, daemon=True).start()
    assert done.wait(10)
