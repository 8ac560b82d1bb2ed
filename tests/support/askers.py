"""One way to ask each of four APIs through its own SDK, and agents that run tools on them."""

import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
import ways_anthropic
import ways_google
import ways_openai
from google import genai
from google.genai import types
from sdk_cases import KEY

Tools = Mapping[str, Callable[..., Any]]
PATIENT_S = 20
"""How long a client waits that is to be patient."""
_SCHEMA = {"type": "object", "properties": {}, "additionalProperties": True}


@dataclass(frozen=True)
class Asker:
    """How one API is asked."""

    api: str
    client: Callable[[str, str | None, int | None], Any]
    async_client: Callable[[str, str | None, int | None], Any]
    send: Callable[..., Any]
    """Sends ``(client, model, messages, tools, stream)``; awaitable with an async client."""
    text: Callable[[Any], str]
    """What a whole answer, or one piece of a stream, says."""
    calls: Callable[[Any], list[tuple[str | None, str, Any]]]
    """Id, name and arguments of each call that a whole answer makes."""
    reply: Callable[[Any], list[Any]]
    """A whole answer as what stands for it in the next request."""
    results: Callable[[list[tuple[str | None, str, str]]], list[Any]]
    """Results, as ``(id, name, text)``, as they stand in the next request."""

    def __str__(self) -> str:
        return self.api

    @contextmanager
    def open(self, url: str, retries: int = 0, key: str | None = KEY) -> Iterator[Any]:
        """A client."""
        made = self.client(url, key, retries)
        try:
            yield made
        finally:
            made.close()

    @asynccontextmanager
    async def aopen(self, url: str, retries: int = 0) -> AsyncIterator[Any]:
        """An async client."""
        made = self.async_client(url, KEY, retries)
        try:
            yield made
        finally:
            await made.close()

    def ask(self, url: str, text: str, model: str = "ok") -> str:
        """Ask once with a client of its own; gives what was said."""
        with self.open(url) as made:
            return self.text(self.send(made, model, self.user(text)))

    async def aask(self, made: Any, text: str, model: str = "ok") -> str:
        """The same with an async client."""
        return self.text(await self.send(made, model, self.user(text)))

    def read(self, url: str, text: str = "hello", model: str = "ok") -> Iterator[Any]:
        """Read a stream, piece by piece."""
        with self.open(url) as made:
            yield from self.send(made, model, self.user(text), stream=True)

    @contextmanager
    def behind(self, proxy: str) -> Iterator[Any]:
        """A client of the provider itself, as its address says, whose proxy answers in its place:
        what it asks costs what the provider charges."""
        made = _behind(self.api, proxy)
        try:
            yield made
        finally:
            made.close()

    def patient(self, made: Any) -> Any:
        """A client that waits longer than the others, for many calls at once."""
        if hasattr(made, "with_options"):
            return made.with_options(timeout=PATIENT_S)
        made.patient = True
        return made

    def user(self, text: str) -> list[Any]:
        """A conversation of one question."""
        if self.api == "google.generate_content":
            return [{"role": "user", "parts": [{"text": text}]}]
        return [{"role": "user", "content": text}]

    def agent(self, url: str, tools: Tools, text: str = "hello", model: str = "ok") -> str:
        """Run tools until the model calls none any more."""
        said = self.user(text)
        with self.open(url) as made:
            while True:
                answer = self.send(made, model, said, tools)
                calls = self.calls(answer)
                if not calls:
                    return self.text(answer)
                done = [(i, name, _run(tools[name], given)) for i, name, given in calls]
                said += [*self.reply(answer), *self.results(done)]


def _behind(api: str, proxy: str) -> Any:
    if api == "google.generate_content":
        options = types.HttpOptions(
            base_url="http://generativelanguage.googleapis.com",
            headers={"Connection": "close"},
            client_args={"verify": False, "proxy": proxy},
        )
        return ways_google.Client(genai.Client(api_key=KEY, http_options=options))
    close = {"Connection": "close"}
    if api == "anthropic.messages":
        there = anthropic.DefaultHttpxClient(verify=False, proxy=proxy)
        return anthropic.Anthropic(
            api_key=KEY,
            base_url="http://api.anthropic.com",
            http_client=there,
            default_headers=close,
        )
    http = openai.DefaultHttpxClient(verify=False, proxy=proxy)
    address = "http://api.openai.com/v1"
    return openai.OpenAI(api_key=KEY, base_url=address, http_client=http, default_headers=close)


def _run(tool: Callable[..., Any], given: Any) -> str:
    try:
        return str(tool(**given))
    except RuntimeError as error:
        return f"failed: {error}"


# -- chat completions -------------------------------------------------------------------------


def _chat(
    made: Any, model: str, said: Any, tools: Tools | None = None, stream: bool = False
) -> Any:
    listed = [
        {"type": "function", "function": {"name": n, "parameters": _SCHEMA}} for n in tools or ()
    ]
    more = {"tools": listed} if listed else {}
    return made.chat.completions.create(model=model, messages=said, stream=stream, **more)


def _chat_text(found: Any) -> str:
    if not found.choices:
        return ""
    choice = found.choices[0]
    return (choice.message if hasattr(choice, "message") else choice.delta).content or ""


def _chat_calls(found: Any) -> Any:
    made = found.choices[0].message.tool_calls or []
    return [(each.id, each.function.name, json.loads(each.function.arguments)) for each in made]


CHAT = Asker(
    "openai.chat",
    ways_openai.client,
    ways_openai.async_client,
    _chat,
    _chat_text,
    _chat_calls,
    lambda found: [found.choices[0].message.model_dump(exclude_unset=True)],
    lambda done: [{"role": "tool", "tool_call_id": i, "content": text} for i, _, text in done],
)


# -- responses --------------------------------------------------------------------------------


def _respond(
    made: Any, model: str, said: Any, tools: Tools | None = None, stream: bool = False
) -> Any:
    listed = [
        {"type": "function", "name": n, "parameters": _SCHEMA, "strict": False} for n in tools or ()
    ]
    more = {"tools": listed} if listed else {}
    given = said[0]["content"] if len(said) == 1 else said
    return made.responses.create(model=model, input=given, stream=stream, **more)


def _respond_text(found: Any) -> str:
    if hasattr(found, "output"):
        return str(found.output_text)
    return str(found.delta) if found.type == "response.output_text.delta" else ""


def _respond_calls(found: Any) -> Any:
    made = [item for item in found.output if item.type == "function_call"]
    return [(each.call_id, each.name, json.loads(each.arguments)) for each in made]


RESPONSES = Asker(
    "openai.responses",
    ways_openai.client,
    ways_openai.async_client,
    _respond,
    _respond_text,
    _respond_calls,
    lambda found: [item.model_dump(exclude_unset=True) for item in found.output],
    lambda done: [
        {"type": "function_call_output", "call_id": i, "output": text} for i, _, text in done
    ],
)


# -- messages ---------------------------------------------------------------------------------


def _message(
    made: Any, model: str, said: Any, tools: Tools | None = None, stream: bool = False
) -> Any:
    listed = [{"name": n, "input_schema": _SCHEMA} for n in tools or ()]
    more = {"tools": listed} if listed else {}
    return made.messages.create(model=model, max_tokens=99, messages=said, stream=stream, **more)


def _message_text(found: Any) -> str:
    if hasattr(found, "content"):
        return "".join(block.text for block in found.content if block.type == "text")
    return str(getattr(getattr(found, "delta", None), "text", ""))


def _message_calls(found: Any) -> Any:
    return [(b.id, b.name, b.input) for b in found.content if b.type == "tool_use"]


def _message_results(done: Any) -> list[Any]:
    blocks = [
        {"type": "tool_result", "tool_use_id": i, "content": text}
        | ({"is_error": True} if text.startswith("failed") else {})
        for i, _, text in done
    ]
    return [{"role": "user", "content": blocks}]


MESSAGES = Asker(
    "anthropic.messages",
    ways_anthropic.client,
    ways_anthropic.async_client,
    _message,
    _message_text,
    _message_calls,
    lambda found: [
        {
            "role": "assistant",
            "content": [block.model_dump(exclude_unset=True) for block in found.content],
        }
    ],
    _message_results,
)


# -- generateContent --------------------------------------------------------------------------


def _generate(
    made: Any, model: str, said: Any, tools: Tools | None = None, stream: bool = False
) -> Any:
    home = made.aio.models if isinstance(made, ways_google.AsyncClient) else made.models
    listed = [
        types.FunctionDeclaration(name=n, parameters_json_schema=_SCHEMA) for n in tools or ()
    ]
    config: dict[str, Any] = {"tools": [types.Tool(function_declarations=listed)]} if listed else {}
    if hasattr(made, "patient"):
        config["http_options"] = types.HttpOptions(timeout=PATIENT_S * 1000)
    send = home.generate_content_stream if stream else home.generate_content
    return send(model=model, contents=said, config=types.GenerateContentConfig(**config))


def _generate_text(found: Any) -> str:
    parts = found.candidates[0].content.parts if found.candidates else []
    return "".join(part.text for part in parts if part.text and not part.thought)


def _generate_calls(found: Any) -> Any:
    parts = [p.function_call for p in found.candidates[0].content.parts if p.function_call]
    return [(each.id, each.name, dict(each.args)) for each in parts]


def _generate_results(done: Any) -> list[Any]:
    parts = []
    for call_id, name, text in done:
        answer: dict[str, Any] = {"name": name, "response": {"result": text}}
        parts.append({"function_response": answer | ({"id": call_id} if call_id else {})})
    return [{"role": "user", "parts": parts}]


GENERATE = Asker(
    "google.generate_content",
    ways_google.client,
    ways_google.async_client,
    _generate,
    _generate_text,
    _generate_calls,
    lambda found: [found.candidates[0].content],
    _generate_results,
)

ASKERS = [CHAT, RESPONSES, MESSAGES, GENERATE]
"""One of each API."""
