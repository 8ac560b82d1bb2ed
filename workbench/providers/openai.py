"""Models behind OpenAI's chat completions, whoever serves them, for ``AgentIO``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from workbench.errors import MissingExtraError
from workbench.providers.local import local_model
from workbench.providers.openai_shapes import (
    embedding_request,
    from_chunk,
    from_embeddings,
    from_openai,
    to_openai,
)
from workbench.seam.agentio.errors import (
    BadReplyError,
    ConnectionLostError,
    ModelError,
    ModelTimeoutError,
)
from workbench.seam.agentio.model import Body, Model

_KEPT_HEADERS = ("content-type", "retry-after", "retry-after-ms", "x-request-id")


class OpenAIModel(Model):
    """A provider that speaks OpenAI's chat completions.

    Parameters that a call passes go into the request's body as they are.

    Args:
        base_url: the server; by default OpenAI's, or what ``OPENAI_BASE_URL`` says.
        api_key: the key; by default what ``OPENAI_API_KEY`` says.
        timeout_s: seconds after which a request fails; by default the SDK's.
        max_retries: how often the SDK tries again by itself; by default twice.
        provider: who answers, as the trace says it and prices are found by; by default told by
            the address: ``openai``, ``azure``, ``local``, or ``openai-compatible``.

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
        provider: str | None = None,
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
        self.provider = provider or provider_at(base_url or os.environ.get("OPENAI_BASE_URL"))
        self._sync: Any = None
        # Connections belong to the loop that opened them, so each loop has a client of its own.
        self._async: dict[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[Any]]] = {}

    async def complete(self, request: Body) -> Body:
        """Answer a request.

        Raises:
            ModelError: it was not answered.
        """
        async with _areported():
            completions = (await self._async_client()).chat.completions
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
            completions = (await self._async_client()).chat.completions
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
            client = await self._async_client()
            return from_embeddings(await client.embeddings.create(**embedding_request(request)))

    def embed_sync(self, request: Body) -> Body:
        """Vectors for texts.

        Raises:
            ModelError: it was not answered.
        """
        with _reported():
            client = self._client()
            return from_embeddings(client.embeddings.create(**embedding_request(request)))

    async def aclose(self) -> None:
        """Close the connections that the running loop has open."""
        _, life = self._async.get(asyncio.get_running_loop(), (None, None))
        if life is not None:
            await life.aclose()

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

    async def _async_client(self) -> Any:
        loop = asyncio.get_running_loop()
        if loop not in self._async:
            life = self._life(loop)
            self._async[loop] = (await anext(life), life)
        return self._async[loop][0]

    async def _life(self, loop: asyncio.AbstractEventLoop) -> AsyncGenerator[Any]:
        """A client from its making to its end: a loop that ends closes its async generators."""
        import openai

        client = openai.AsyncOpenAI(**self._where())
        try:
            yield client
        finally:
            self._async.pop(loop, None)
            await client.close()

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


def provider_at(base_url: str | None) -> str:
    """Who answers at an address, without saying where: ``openai``, ``azure``, ``local``, or
    ``openai-compatible`` for any other server that speaks OpenAI's protocol."""
    host = (urlsplit(base_url).hostname or "") if base_url else "api.openai.com"
    if host == "openai.com" or host.endswith(".openai.com"):
        return "openai"
    if host.endswith(".azure.com"):
        return "azure"
    try:
        here = ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost" or host.endswith(".localhost")
    return "local" if here else "openai-compatible"


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
