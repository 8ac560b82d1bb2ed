"""The ways of asking Anthropic's SDK, for the matrix of ``sdk_cases``."""

from importlib.util import find_spec
from typing import Any

import anthropic
from sdk_cases import TIMEOUT_S, Ask, Note, Way

TOOL: Any = {
    "name": "get_order",
    "description": "Looks up an order.",
    "input_schema": {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
    },
}


def _options(url: str, key: str | None, retries: int | None) -> dict[str, Any]:
    given = {"api_key": key, "max_retries": retries}
    found = {name: value for name, value in given.items() if value is not None}
    return {**found, "base_url": url, "default_headers": {"Connection": "close"}}


def client(url: str, key: str | None, retries: int | None) -> anthropic.Anthropic:
    """A sync client."""
    http = anthropic.DefaultHttpxClient(verify=False, timeout=TIMEOUT_S)
    return anthropic.Anthropic(http_client=http, **_options(url, key, retries))


def async_client(url: str, key: str | None, retries: int | None) -> anthropic.AsyncAnthropic:
    """An async client."""
    http = anthropic.DefaultAsyncHttpxClient(verify=False, timeout=TIMEOUT_S)
    return anthropic.AsyncAnthropic(http_client=http, **_options(url, key, retries))


def _asked(ask: Ask, **more: Any) -> Any:
    """A question with a system prompt in parts, cached, and with thinking switched on."""
    cached = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    return {
        "model": ask.script,
        "max_tokens": 2000,
        "system": [cached],
        "messages": [{"role": "user", "content": "hello"}],
        "thinking": {"type": "enabled", "budget_tokens": 1024},
        **({"tools": [TOOL]} if ask.tools else {}),
        **more,
    }


def _create(made: Any, ask: Ask, note: Note) -> None:
    note(made.messages.create(**_asked(ask)))


def _stream(made: Any, ask: Ask, note: Note) -> None:
    with made.messages.create(**_asked(ask, stream=True)) as stream:
        for event in stream:
            note(event)


def _helper(made: Any, ask: Ask, note: Note) -> None:
    with made.messages.stream(**_asked(ask)) as stream:
        for event in stream:
            note(event)
        note(stream.get_final_message())
        note(stream.request_id)


def _texts(made: Any, ask: Ask, note: Note) -> None:
    with made.messages.stream(**_asked(ask)) as stream:
        for text in stream.text_stream:
            note(text)
        note(stream.get_final_text() if not ask.tools else None)


def _raw(made: Any, ask: Ask, note: Note) -> None:
    found = made.messages.with_raw_response.create(**_asked(ask))
    note(found.http_response)
    note(found.parse())


def _raw_stream(made: Any, ask: Ask, note: Note) -> None:
    found = made.messages.with_raw_response.create(**_asked(ask, stream=True))
    note(found.headers["content-type"])
    for event in found.parse():
        note(event)


def _beta(made: Any, ask: Ask, note: Note) -> None:
    note(made.beta.messages.create(**_asked(ask, betas=["one-2025-01-01", "two-2025-01-01"])))


def _beta_helper(made: Any, ask: Ask, note: Note) -> None:
    with made.beta.messages.stream(**_asked(ask, betas=["one-2025-01-01"])) as stream:
        for event in stream:
            note(event)
        note(stream.get_final_message())


async def _acreate(made: Any, ask: Ask, note: Note) -> None:
    note(await made.messages.create(**_asked(ask)))


async def _astream(made: Any, ask: Ask, note: Note) -> None:
    async with await made.messages.create(**_asked(ask, stream=True)) as stream:
        async for event in stream:
            note(event)


async def _ahelper(made: Any, ask: Ask, note: Note) -> None:
    async with made.messages.stream(**_asked(ask)) as stream:
        async for event in stream:
            note(event)
        note(await stream.get_final_message())


async def _abeta_stream(made: Any, ask: Ask, note: Note) -> None:
    given = _asked(ask, betas=["one-2025-01-01"], stream=True)
    async with await made.beta.messages.create(**given) as stream:
        async for event in stream:
            note(event)


def _count(made: Any, ask: Ask, note: Note) -> None:
    given = _asked(ask)
    del given["max_tokens"]
    note(made.messages.count_tokens(**given))


async def _abeta_count(made: Any, ask: Ask, note: Note) -> None:
    given = _asked(ask, betas=["token-counting-2024-11-01"])
    del given["max_tokens"]
    note(await made.beta.messages.count_tokens(**given))


def _bedrock(url: str, key: str | None, retries: int | None) -> anthropic.AnthropicBedrock:
    """A client for AWS, whose streams are binary; the key is what it signs with."""
    http = anthropic.DefaultHttpxClient(verify=False, timeout=TIMEOUT_S)
    return anthropic.AnthropicBedrock(http_client=http, **_of_aws(url, key, retries))


def _async_bedrock(
    url: str, key: str | None, retries: int | None
) -> anthropic.AsyncAnthropicBedrock:
    http = anthropic.DefaultAsyncHttpxClient(verify=False, timeout=TIMEOUT_S)
    return anthropic.AsyncAnthropicBedrock(http_client=http, **_of_aws(url, key, retries))


def _of_aws(url: str, key: str | None, retries: int | None) -> dict[str, Any]:
    found = _options(url, None, retries)
    signed = {} if key is None else {"aws_access_key": "AKID", "aws_secret_key": key}
    return {**found, **signed, "aws_region": "us-east-1"}


def _sync(name: str, ask: Any, api: str = "anthropic.messages", **more: Any) -> Way:
    return Way(api, name, client, ask, **more)


def _async(name: str, ask: Any, api: str = "anthropic.messages", **more: Any) -> Way:
    return Way(api, name, async_client, ask, is_async=True, **more)


WAYS = [
    _sync("create", _create),
    _sync("stream", _stream, streams=True),
    _sync("helper", _helper, streams=True),
    _sync("texts", _texts, streams=True),
    _sync("raw", _raw),
    _sync("raw-stream", _raw_stream, streams=True),
    _sync("beta", _beta),
    _sync("beta-helper", _beta_helper, streams=True),
    _async("async", _acreate),
    _async("async-stream", _astream, streams=True),
    _async("async-helper", _ahelper, streams=True),
    _async("async-beta-stream", _abeta_stream, streams=True),
    _sync("count", _count, "anthropic.count_tokens"),
    _async("async-beta-count", _abeta_count, "anthropic.count_tokens"),
]

if find_spec("botocore") is not None:  # which reads the frames of AWS's streams
    AWS = "anthropic.messages"
    WAYS += [
        Way(AWS, "bedrock", _bedrock, _create),
        Way(AWS, "bedrock-stream", _bedrock, _stream, streams=True),
        Way(AWS, "bedrock-helper", _bedrock, _helper, streams=True),
        Way(AWS, "bedrock-async", _async_bedrock, _astream, is_async=True, streams=True),
    ]
