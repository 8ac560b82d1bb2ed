"""What is OpenAI's own of its SDK."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from workbench.adapters.stainless.description import Endpoint, Sdk, is_loopback

if TYPE_CHECKING:
    from workbench.adapters.http.wire import Event
    from workbench.trace.entries import ErrorInfo

# What the provider says, by status: message, type, code.
_USUAL: dict[int, tuple[str, str, str | None]] = {
    400: ("Invalid request.", "invalid_request_error", None),
    401: ("Incorrect API key provided.", "invalid_request_error", "invalid_api_key"),
    403: ("You do not have access to this resource.", "invalid_request_error", None),
    404: ("The model does not exist.", "invalid_request_error", "model_not_found"),
    408: ("Request timed out.", "server_error", None),
    409: ("The request conflicts with another one.", "invalid_request_error", None),
    413: ("The request is too large.", "invalid_request_error", None),
    422: ("The request could not be processed.", "invalid_request_error", None),
    429: ("Rate limit reached for requests.", "requests", "rate_limit_exceeded"),
    503: ("The engine is currently overloaded, please try again later.", "server_error", None),
}
_USUAL_SERVER = ("The server had an error while processing your request.", "server_error", None)


def provider(client: Any) -> str:
    """Who answers, without saying where: ``openai``, ``azure``, ``local``, or any other
    server that speaks OpenAI's protocol."""
    host = str(client.base_url.host).lower().strip("[]")
    if is_azure(client) or host.endswith(".azure.com"):
        return "azure"
    if host == "openai.com" or host.endswith(".openai.com"):
        return "openai"
    return "local" if is_loopback(host) else "openai-compatible"


def is_azure(client: Any) -> bool:
    """Whether it is a client for Azure."""
    kind: Any = type(client)
    return _is_azure(kind)


@cache
def _is_azure(kind: type) -> bool:
    from openai import AsyncAzureOpenAI, AzureOpenAI

    return issubclass(kind, AzureOpenAI | AsyncAzureOpenAI)


def _key_name(client: Any) -> str:
    return "AZURE_OPENAI_API_KEY" if is_azure(client) else "OPENAI_API_KEY"


def _fetches_key(client: Any) -> bool:
    return not getattr(client, "api_key", None) or is_azure(client)


def _key_headers(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def _usual_body(status: int) -> Any:
    message, kind, code = _USUAL.get(status, _USUAL_SERVER)
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def _event_error(_event: Event, data: Any) -> tuple[str, str] | None:
    """The SDK raises after any event that has an ``error``; the words are those that it uses.

    What a response reports of itself (``response.failed``, an ``error`` with its code beside its
    type) has none, and is an event as any other.
    """
    error = data.get("error") if isinstance(data, dict) else None
    if not error:
        return None
    message = error.get("message") if isinstance(error, dict) else None
    if not message or not isinstance(message, str):
        message = "An error occurred during streaming"
    return "APIError", message


def _raised_event(_client: Any, info: ErrorInfo, response: Any) -> BaseException:
    import openai

    body = info.body.get("error") if isinstance(info.body, dict) else info.body
    return openai.APIError(info.message, response.request, body=body)


OPENAI = Sdk(
    module="openai",
    title="OpenAI's API",
    endpoints=(
        Endpoint("openai.chat", "/chat/completions", "chat completions", done=True),
        Endpoint(
            "openai.responses",
            "/responses",
            "new responses",
            named=True,
            last=frozenset({"response.completed", "response.failed", "response.incomplete"}),
            unless="background",
        ),
        Endpoint("openai.embeddings", "/embeddings", "embeddings"),
    ),
    clients={
        "openai": ("OpenAI", "AsyncOpenAI"),
        "openai.lib.azure": ("AzureOpenAI", "AsyncAzureOpenAI"),
    },
    client_error="OpenAIError",
    sockets=tuple(
        f"openai.resources.{name}"
        for name in (
            "beta.realtime.realtime",
            "beta.responses.responses",
            "live.forks",
            "live.live",
            "live.sideband",
            "realtime.realtime",
            "realtime.translations.translations",
            "responses.responses",
        )
    ),
    key_name=_key_name,
    fetches_key=_fetches_key,
    key_headers=_key_headers,
    provider=provider,
    usual_body=_usual_body,
    event_error=_event_error,
    raised_event=_raised_event,
    kept_headers=frozenset(
        {
            "apim-request-id",
            "content-type",
            "openai-model",
            "openai-processing-ms",
            "openai-version",
            "retry-after",
            "retry-after-ms",
            "x-request-id",
            "x-should-retry",
        }
    ),
    kept_prefixes=("x-ratelimit-",),
    asked_headers=frozenset(
        {"accept-language", "anthropic-beta", "content-language", "openai-beta", "openai-version"}
    ),
)
"""The SDK of OpenAI, and of the many servers that speak its protocol."""
