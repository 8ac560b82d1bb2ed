"""The ways of asking Google's SDK, for the matrix of ``sdk_cases``."""

from typing import Any

from google import genai
from google.genai import errors, types
from pydantic import BaseModel
from sdk_cases import TIMEOUT_S, Ask, Note, Way


class City(BaseModel):
    """What a structured answer is read as."""

    city: str


_TOOL = types.Tool(
    function_declarations=[
        types.FunctionDeclaration(
            name="get_order",
            parameters=types.Schema(
                type=types.Type.OBJECT,
                properties={"number": types.Schema(type=types.Type.INTEGER)},
            ),
        )
    ]
)
_RETRIED = [429, 500, 503, 529]


def _made(url: str, key: str | None, retries: int | None, **more: Any) -> genai.Client:
    attempts = 3 if retries is None else retries + 1
    options = types.HttpOptions(
        base_url=url,
        timeout=int(TIMEOUT_S * 1000),
        headers={"Connection": "close"},
        retry_options=types.HttpRetryOptions(
            attempts=attempts,
            initial_delay=0.002,
            max_delay=0.005,
            jitter=0.001,
            http_status_codes=_RETRIED,
        ),
        # Reading the system's certificates would take most of the time.
        client_args={"verify": False},
        async_client_args={"verify": False, "ssl": False, **more},
    )
    given: Any = {} if key is None else {"api_key": key}
    return genai.Client(http_options=options, **given)


class Client:
    """A client that is closed as the harness closes it; the oldest releases cannot close theirs."""

    def __init__(self, whole: genai.Client) -> None:
        self.models, self.chats, self.aio = whole.models, whole.chats, whole.aio
        self.whole = whole

    def close(self) -> None:
        """Close its sync half."""
        if hasattr(self.whole, "close"):
            self.whole.close()
        else:
            self.whole._api_client._httpx_client.close()


class AsyncClient(Client):
    """A client of which only the async half is used."""

    async def close(self) -> None:  # type: ignore[override]
        """Close both halves."""
        super().close()
        if hasattr(self.aio, "aclose"):
            await self.aio.aclose()
        elif (http := self.whole._api_client._async_httpx_client) is not None:
            await http.aclose()


def client(url: str, key: str | None, retries: int | None) -> Client:
    """A sync client."""
    return Client(_made(url, key, retries))


def async_client(url: str, key: str | None, retries: int | None) -> AsyncClient:
    """An async client, which uses aiohttp where that is installed."""
    return AsyncClient(_made(url, key, retries))


def httpx_client(url: str, key: str | None, retries: int | None) -> AsyncClient:
    """An async client with a transport of its own, which is one of httpx."""
    import httpx

    return AsyncClient(_made(url, key, retries, transport=httpx.AsyncHTTPTransport(verify=False)))


def _config(ask: Ask, **more: Any) -> types.GenerateContentConfig:
    tools: Any = {"tools": [_TOOL]} if ask.tools else {}
    return types.GenerateContentConfig(system_instruction="Be brief.", **tools, **more)


def _asked(ask: Ask, **more: Any) -> dict[str, Any]:
    return {"model": ask.script, "contents": "hello", "config": _config(ask, **more)}


def _generate(made: Any, ask: Ask, note: Note) -> None:
    note(made.models.generate_content(**_asked(ask)))


def _stream(made: Any, ask: Ask, note: Note) -> None:
    for chunk in made.models.generate_content_stream(**_asked(ask)):
        note(chunk)


def _chat(made: Any, ask: Ask, note: Note) -> None:
    chat = made.chats.create(model=ask.script, config=_config(ask))
    note(chat.send_message("hello"))
    note(chat.get_history())


def _chat_stream(made: Any, ask: Ask, note: Note) -> None:
    chat = made.chats.create(model=ask.script, config=_config(ask))
    for chunk in chat.send_message_stream("hello"):
        note(chunk)
    note(chat.get_history())


def _parsed(made: Any, ask: Ask, note: Note) -> None:
    given = {"response_mime_type": "application/json", "response_schema": City}
    found = made.models.generate_content(**_asked(ask, **given))
    note(found)
    note(found.parsed)


async def _agenerate(made: Any, ask: Ask, note: Note) -> None:
    note(await made.aio.models.generate_content(**_asked(ask)))


async def _astream(made: Any, ask: Ask, note: Note) -> None:
    async for chunk in await made.aio.models.generate_content_stream(**_asked(ask)):
        note(chunk)


def _embed(made: Any, ask: Ask, note: Note) -> None:
    note(made.models.embed_content(model=ask.script, contents=["a", "bcd"]))


async def _aembed(made: Any, ask: Ask, note: Note) -> None:
    note(await made.aio.models.embed_content(model=ask.script, contents=["a"]))


def _count(made: Any, ask: Ask, note: Note) -> None:
    note(made.models.count_tokens(model=ask.script, contents="hello"))


GENERATE, EMBED = "google.generate_content", "google.embed_content"


def _read(name: str, made: Any, ask: Any, **more: Any) -> Way:
    """A way that reads a stream; the oldest releases take an error inside for a piece of it."""
    raises = hasattr(errors.APIError, "raise_error")
    return Way(GENERATE, name, made, ask, streams=True, raises_events=raises, **more)


WAYS = [
    Way(GENERATE, "generate", client, _generate),
    _read("stream", client, _stream),
    Way(GENERATE, "chat", client, _chat),
    _read("chat-stream", client, _chat_stream),
    Way(GENERATE, "parsed", client, _parsed, tools=False),
    Way(GENERATE, "async", async_client, _agenerate, is_async=True),
    _read("async-stream", async_client, _astream, is_async=True),
    Way(GENERATE, "async-httpx", httpx_client, _agenerate, is_async=True),
    _read("async-httpx-stream", httpx_client, _astream, is_async=True),
    Way(EMBED, "embed", client, _embed, tools=False),
    Way(EMBED, "async-embed", async_client, _aembed, is_async=True, tools=False),
    Way("google.count_tokens", "count", client, _count, tools=False),
]
