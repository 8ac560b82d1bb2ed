"""The ways of asking OpenAI's SDK, for the matrix of ``sdk_cases``."""

from importlib.util import find_spec
from typing import Any

import openai
from sdk_cases import TIMEOUT_S, Ask, Note, Way

_PARAMETERS = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
    "additionalProperties": False,
}
_TOOL = {"name": "get_order", "parameters": _PARAMETERS, "strict": True}


def _options(url: str, key: str | None, retries: int | None) -> dict[str, Any]:
    given = {"api_key": key, "max_retries": retries}
    found = {name: value for name, value in given.items() if value is not None}
    return {**found, "base_url": f"{url}/v1", "default_headers": {"Connection": "close"}}


def client(url: str, key: str | None, retries: int | None) -> openai.OpenAI:
    """A sync client."""
    http = openai.DefaultHttpxClient(verify=False, timeout=TIMEOUT_S)
    return openai.OpenAI(http_client=http, **_options(url, key, retries))


def async_client(url: str, key: str | None, retries: int | None) -> openai.AsyncOpenAI:
    """An async client."""
    http = openai.DefaultAsyncHttpxClient(verify=False, timeout=TIMEOUT_S)
    return openai.AsyncOpenAI(http_client=http, **_options(url, key, retries))


# -- chat completions -------------------------------------------------------------------------


def _chat(ask: Ask, **more: Any) -> Any:
    messages = [{"role": "user", "content": "hello"}]
    tools = {"tools": [{"type": "function", "function": _TOOL}]} if ask.tools else {}
    return {"model": ask.script, "messages": messages, **tools, **more}


def _home(made: Any) -> Any:
    # Its home was `client.beta` in the oldest releases.
    plain = made.chat.completions
    return plain if hasattr(plain, "stream") else made.beta.chat.completions


def _create(made: Any, ask: Ask, note: Note) -> None:
    note(made.chat.completions.create(**_chat(ask)))


def _stream(made: Any, ask: Ask, note: Note) -> None:
    more = {"stream_options": {"include_usage": True}}
    with made.chat.completions.create(**_chat(ask, stream=True, **more)) as stream:
        for chunk in stream:
            note(chunk)


def _helper(made: Any, ask: Ask, note: Note) -> None:
    with _home(made).stream(**_chat(ask)) as stream:
        for event in stream:
            note(event)
        note(stream.get_final_completion())


def _raw(made: Any, ask: Ask, note: Note) -> None:
    found = made.chat.completions.with_raw_response.create(**_chat(ask))
    note(found.http_response)
    note(found.parse())


def _raw_stream(made: Any, ask: Ask, note: Note) -> None:
    found = made.chat.completions.with_raw_response.create(**_chat(ask, stream=True))
    note(found.headers["content-type"])
    for chunk in found.parse():
        note(chunk)


async def _acreate(made: Any, ask: Ask, note: Note) -> None:
    note(await made.chat.completions.create(**_chat(ask)))


async def _astream(made: Any, ask: Ask, note: Note) -> None:
    async with await made.chat.completions.create(**_chat(ask, stream=True)) as stream:
        async for chunk in stream:
            note(chunk)


async def _ahelper(made: Any, ask: Ask, note: Note) -> None:
    async with _home(made).stream(**_chat(ask)) as stream:
        async for event in stream:
            note(event)
        note(await stream.get_final_completion())


def _sync(api: str, name: str, ask: Any, **more: Any) -> Way:
    return Way(api, name, client, ask, **more)


def _async(api: str, name: str, ask: Any, **more: Any) -> Way:
    return Way(api, name, async_client, ask, is_async=True, **more)


CHAT = [
    _sync("openai.chat", "create", _create),
    _sync("openai.chat", "stream", _stream, streams=True),
    _sync("openai.chat", "helper", _helper, streams=True),
    _sync("openai.chat", "raw", _raw),
    _sync("openai.chat", "raw-stream", _raw_stream, streams=True),
    _async("openai.chat", "async", _acreate),
    _async("openai.chat", "async-stream", _astream, streams=True),
    _async("openai.chat", "async-helper", _ahelper, streams=True),
]


# -- responses --------------------------------------------------------------------------------


def _asked(ask: Ask, **more: Any) -> Any:
    tools = {"tools": [{"type": "function", **_TOOL}]} if ask.tools else {}
    return {"model": ask.script, "input": "hello", **tools, **more}


def _respond(made: Any, ask: Ask, note: Note) -> None:
    found = made.responses.create(**_asked(ask))
    note(found)
    note(getattr(found, "output_text", None))


def _respond_stream(made: Any, ask: Ask, note: Note) -> None:
    with made.responses.create(**_asked(ask, stream=True)) as stream:
        for event in stream:
            note(event)


def _respond_helper(made: Any, ask: Ask, note: Note) -> None:
    with made.responses.stream(**_asked(ask)) as stream:
        for event in stream:
            note(event)
        note(stream.get_final_response())


async def _arespond(made: Any, ask: Ask, note: Note) -> None:
    note(await made.responses.create(**_asked(ask)))


async def _arespond_stream(made: Any, ask: Ask, note: Note) -> None:
    async with await made.responses.create(**_asked(ask, stream=True)) as stream:
        async for event in stream:
            note(event)


async def _arespond_helper(made: Any, ask: Ask, note: Note) -> None:
    async with made.responses.stream(**_asked(ask)) as stream:
        async for event in stream:
            note(event)
        note(await stream.get_final_response())


RESPONSES = [
    _sync("openai.responses", "create", _respond),
    _sync("openai.responses", "stream", _respond_stream, streams=True),
    _sync("openai.responses", "helper", _respond_helper, streams=True),
    _async("openai.responses", "async", _arespond),
    _async("openai.responses", "async-stream", _arespond_stream, streams=True),
    _async("openai.responses", "async-helper", _arespond_helper, streams=True),
]


# -- embeddings -------------------------------------------------------------------------------


def _embed(made: Any, ask: Ask, note: Note) -> None:
    note(made.embeddings.create(model=ask.script, input=["hello", "é"]))


def _embed_floats(made: Any, ask: Ask, note: Note) -> None:
    given: Any = {"model": ask.script, "input": "hello", "encoding_format": "float"}
    note(made.embeddings.create(**given))


async def _aembed(made: Any, ask: Ask, note: Note) -> None:
    note(await made.embeddings.create(model=ask.script, input=["hello", "é"]))


EMBEDDINGS = [
    _sync("openai.embeddings", "create", _embed, tools=False),
    _sync("openai.embeddings", "floats", _embed_floats, tools=False),
    _async("openai.embeddings", "async", _aembed, tools=False),
]

_HAS_RESPONSES = find_spec("openai.types.responses") is not None
WAYS = [*CHAT, *(RESPONSES if _HAS_RESPONSES else ()), *EMBEDDINGS]
