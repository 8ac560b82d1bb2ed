"""Models behind OpenAI's chat completions, whoever serves them, for ``AgentIO``."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from importlib.util import find_spec
from typing import Any
from weakref import WeakKeyDictionary

from workbench.errors import MissingExtraError
from workbench.providers.local import local_model
from workbench.seam.agentio.errors import (
    BadReplyError,
    ConnectionLostError,
    ModelError,
    ModelTimeoutError,
)
from workbench.seam.agentio.model import Body, Model
from workbench.trace.payloads.openai_chat import OpenAIChatView

_VIEW = OpenAIChatView()
_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-request-id")
_COUNTS = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


class OpenAIModel(Model):
    """A provider that speaks OpenAI's chat completions.

    Parameters that a call passes go into the request's body as they are.

    Args:
        base_url: the server; by default OpenAI's, or what ``OPENAI_BASE_URL`` says.
        api_key: the key; by default what ``OPENAI_API_KEY`` says.
        timeout_s: seconds after which a request fails; by default the SDK's.
        max_retries: how often the SDK tries again by itself; by default twice.
        provider: who answers, as the trace says it.

    Raises:
        MissingExtraError: the ``openai`` package is not installed.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_s: float | None = None,
        max_retries: int | None = None,
        provider: str = "openai",
    ) -> None:
        if find_spec("openai") is None:
            raise MissingExtraError("openai", "openai")
        given = {
            "base_url": base_url,
            "api_key": api_key,
            "timeout": timeout_s,
            "max_retries": max_retries,
        }
        self._options = {name: value for name, value in given.items() if value is not None}
        self.provider = provider
        self._sync: Any = None
        # Connections belong to the loop that opened them, so each loop has a client of its own.
        self._async: WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = WeakKeyDictionary()

    async def complete(self, request: Body) -> Body:
        """Answer a request.

        Raises:
            ModelError: it was not answered.
        """
        async with _areported():
            completions = self._async_client().chat.completions
            raw = await completions.with_raw_response.create(**to_openai(request))
            return _read(raw.http_response)

    def complete_sync(self, request: Body) -> Body:
        """Answer a request.

        Raises:
            ModelError: it was not answered.
        """
        with _reported():
            completions = self._client().chat.completions
            raw = completions.with_raw_response.create(**to_openai(request))
            return _read(raw.http_response)

    async def stream(self, request: Body) -> AsyncIterator[Body]:
        """Answer a request in pieces.

        Raises:
            ModelError: it was not answered, or not to its end.
        """
        async with _areported():
            completions = self._async_client().chat.completions
            chunks = await completions.create(**to_openai(request))
            async with chunks:
                async for chunk in chunks:
                    for piece in from_chunk(chunk.to_dict(mode="json")):
                        yield piece

    def stream_sync(self, request: Body) -> Iterator[Body]:
        """Answer a request in pieces.

        Raises:
            ModelError: it was not answered, or not to its end.
        """
        with _reported():
            chunks = self._client().chat.completions.create(**to_openai(request))
            with chunks:
                for chunk in chunks:
                    yield from from_chunk(chunk.to_dict(mode="json"))

    async def embed(self, request: Body) -> Body:
        """Vectors for texts.

        Raises:
            ModelError: it was not answered.
        """
        async with _areported():
            client = self._async_client()
            return _embedded(await client.embeddings.create(**_embedding_request(request)))

    def embed_sync(self, request: Body) -> Body:
        """Vectors for texts.

        Raises:
            ModelError: it was not answered.
        """
        with _reported():
            client = self._client()
            return _embedded(client.embeddings.create(**_embedding_request(request)))

    async def aclose(self) -> None:
        """Close the connections that the running loop has open."""
        client = self._async.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def close(self) -> None:
        """Close the connections of sync code."""
        client, self._sync = self._sync, None
        if client is not None:
            client.close()

    # Clients are made when they are first needed: a replay needs none, and no key.

    def _client(self) -> Any:
        import openai

        if self._sync is None:
            self._sync = openai.OpenAI(**self._where())
        return self._sync

    def _async_client(self) -> Any:
        import openai

        loop = asyncio.get_running_loop()
        if loop not in self._async:
            self._async[loop] = openai.AsyncOpenAI(**self._where())
        return self._async[loop]

    def _where(self) -> dict[str, Any]:
        """The options of a client."""
        return self._options


class LocalModel(OpenAIModel):
    """The offline model that :func:`workbench.local_model` serves: no network, no key.

    Its server is started with the first call and let go of by ``close``, with which the ``with``
    block of an io ends.
    """

    def __init__(self, *, idle_s: float = 10.0, timeout_s: float = 120.0) -> None:
        super().__init__(api_key="none", timeout_s=timeout_s, max_retries=0, provider="local")
        self._idle_s = idle_s
        self._held = contextlib.ExitStack()

    def close(self) -> None:
        """Let the server go: it stops by itself when nobody else uses it."""
        super().close()
        self._options.pop("base_url", None)
        self._held.close()

    def _where(self) -> dict[str, Any]:
        if "base_url" not in self._options:
            serving = local_model(idle_s=self._idle_s)
            self._options["base_url"] = self._held.enter_context(serving)
        return self._options


# -- the neutral shape and OpenAI's -------------------------------------------------------------


def to_openai(request: Body) -> dict[str, Any]:
    """A neutral request as arguments of the SDK's ``create``."""
    known = {"model", "messages", "tools", "tool_choice", "stream"}
    body: dict[str, Any] = {
        "model": request.get("model"),
        "messages": [_message(each) for each in request.get("messages") or ()],
    }
    if request.get("tools"):
        body["tools"] = [{"type": "function", "function": each} for each in request["tools"]]
    choice = request.get("tool_choice")
    if isinstance(choice, Mapping) and "name" in choice:
        choice = {"type": "function", "function": {"name": choice["name"]}}
    if choice is not None:
        body["tool_choice"] = choice
    rest = {name: value for name, value in request.items() if name not in known}
    if request.get("stream"):
        body["stream"] = True
        rest.setdefault("stream_options", {"include_usage": True})
    if rest:
        body["extra_body"] = rest  # whatever it is, the SDK's own signature does not limit it
    return body


def _message(message: Any) -> Any:
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    if not calls:
        return message
    return {**message, "tool_calls": [_call(each) for each in calls]}


def _call(call: Any) -> Any:
    if not isinstance(call, Mapping) or "function" in call:
        return call
    arguments = call.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    function = {"name": call.get("name"), "arguments": text}
    return {"id": call.get("id"), "type": "function", "function": function}


def from_openai(body: Any) -> Body:
    """A completion as a neutral reply. What that shape has no place for is kept in ``extra``.

    Raises:
        BadReplyError: it is no completion.
    """
    if not isinstance(body, dict) or not body.get("choices"):
        raise BadReplyError("the answer holds no completion", body=body)
    reply, usage = _VIEW.reply(body), _VIEW.usage(body)
    made: Body = {"content": reply.text if reply.text or not reply.tool_calls else None}
    if reply.tool_calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.raw if call.error else call.arguments,
            }
            for call in reply.tool_calls
        ]
    optional = {
        "reasoning": reply.reasoning,
        "refusal": reply.refusal,
        "finish_reason": reply.finish_reason,
        "model": _VIEW.model(body),
        "id": body.get("id"),
        "usage": usage and {name: n for name in _COUNTS if (n := getattr(usage, name)) is not None},
        "extra": _extra(body),
    }
    return made | {name: value for name, value in optional.items() if value}


def _extra(body: dict[str, Any]) -> dict[str, Any]:
    known = {"id", "model", "choices", "object", "usage"}
    extra = {name: value for name, value in body.items() if name not in known and value is not None}
    choice = body["choices"][0]
    if isinstance(choice, dict) and choice.get("logprobs"):
        extra["logprobs"] = choice["logprobs"]
    if len(body["choices"]) > 1:
        extra["choices"] = body["choices"][1:]
    return extra


def from_chunk(chunk: Body) -> Iterator[Body]:
    """A piece of a streamed completion as neutral pieces: none, one or several."""
    choices = chunk.get("choices") or [{}]
    delta = choices[0].get("delta") or {}
    reasoning = delta.get("reasoning_content") or delta.get("reasoning")
    if isinstance(reasoning, str) and reasoning:
        yield {"reasoning": reasoning}
    if delta.get("content"):
        yield {"text": delta["content"]}
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        piece = {"index": call.get("index"), "id": call.get("id"), **function}
        yield {"tool_call": {name: value for name, value in piece.items() if value is not None}}
    ending: Body = {}
    if delta.get("refusal"):
        ending["refusal"] = delta["refusal"]
    if choices[0].get("finish_reason"):
        ending["finish_reason"] = choices[0]["finish_reason"]
    usage = _VIEW.usage(chunk)
    if usage is not None:
        ending["usage"] = {n: v for n in _COUNTS if (v := getattr(usage, n)) is not None}
    if ending:
        head = {name: chunk[name] for name in ("id", "model") if chunk.get(name)}
        yield {**ending, **head}


def _embedding_request(request: Body) -> dict[str, Any]:
    rest = {name: value for name, value in request.items() if name not in ("model", "input")}
    asked = {"model": request.get("model"), "input": request["input"], "encoding_format": "float"}
    return {**asked, "extra_body": rest} if rest else asked


def _embedded(answer: Any) -> Body:
    vectors = sorted(answer.data, key=lambda each: each.index or 0)
    body: Body = {"embeddings": [each.embedding for each in vectors], "model": answer.model}
    usage = getattr(answer, "usage", None)
    if usage is not None:
        body["usage"] = {"input_tokens": usage.prompt_tokens}
    return body


# -- what goes wrong ----------------------------------------------------------------------------


@contextlib.contextmanager
def _reported() -> Iterator[None]:
    """Raises the SDK's exceptions as the neutral ones."""
    import openai

    try:
        yield
    except openai.APIStatusError as error:
        raise _status_error(error) from error
    except openai.APITimeoutError as error:
        raise ModelTimeoutError(str(error)) from error
    except openai.APIConnectionError as error:
        why = str(error.__cause__ or "")
        raise ConnectionLostError(f"{error} ({why})" if why else str(error)) from error
    except openai.APIResponseValidationError as error:
        raise BadReplyError(str(error), status=error.status_code, body=error.body) from error
    except openai.APIError as error:
        raise ModelError(str(error), body=error.body) from error
    except json.JSONDecodeError as error:
        raise BadReplyError(f"the answer is not JSON ({error})", body=error.doc) from error
    except openai.OpenAIError as error:
        raise ModelError(str(error)) from error


@contextlib.asynccontextmanager
async def _areported() -> AsyncIterator[None]:
    with _reported():
        yield


def _status_error(error: Any) -> ModelError:
    response = error.response
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    return ModelError.of_status(str(error), error.status_code, headers, error.body)


def _read(response: Any) -> Body:
    try:
        body = json.loads(response.content)
    except ValueError as error:
        raise BadReplyError(f"the answer is not JSON ({error})", body=response.text) from error
    return from_openai(body)
