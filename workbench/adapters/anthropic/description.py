"""What is Anthropic's own of its SDK."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from workbench.adapters.http.framing import FRAMES, TEXT, Framing
from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.description import Endpoint, Sdk, is_loopback

if TYPE_CHECKING:
    from workbench.adapters.http.wire import Event
    from workbench.trace.entries import ErrorInfo

# What the provider says, by status: type, message.
_USUAL: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "The request is not valid."),
    401: ("authentication_error", "The API key is not valid."),
    402: ("billing_error", "The account cannot pay for this request."),
    403: ("permission_error", "The API key may not use this resource."),
    404: ("not_found_error", "The model does not exist."),
    408: ("timeout_error", "The request took too long."),
    409: ("invalid_request_error", "The request conflicts with another one."),
    413: ("request_too_large", "The request is too large."),
    422: ("invalid_request_error", "The request could not be processed."),
    429: ("rate_limit_error", "The rate limit is reached; try again later."),
    504: ("timeout_error", "The request took too long."),
    529: ("overloaded_error", "Overloaded"),
}
_USUAL_CLIENT = ("invalid_request_error", "The request was refused.")
_USUAL_SERVER = ("api_error", "Internal server error")

_KEPT = frozenset(
    {
        "anthropic-workspace-id",
        "content-type",
        "request-id",
        "retry-after",
        "retry-after-ms",
        "x-should-retry",
    }
)
_LAST = frozenset({"message_stop"})

_CLIENTS = ("Anthropic", "AsyncAnthropic")

_CLOUDS = (
    ("Bedrock", "aws"),
    ("AWS", "aws"),
    ("Vertex", "google"),
    ("GoogleCloud", "google"),
    ("Foundry", "azure"),
)
"""The clouds that have a class of client of their own, by what is in its name; called as where
their prices are looked up."""


def provider(client: Any) -> str:
    """Who answers, without saying where: ``anthropic``, ``local``, a cloud that has a client of
    its own, such as ``aws``, or any other server that speaks Anthropic's protocol."""
    host = str(client.base_url.host).lower().strip("[]")
    if is_loopback(host):
        return "local"
    for base in type(client).__mro__:
        for part, name in _CLOUDS:
            if _is_sdks(base) and part in base.__name__:
                return name
    own = host == "anthropic.com" or host.endswith(".anthropic.com")
    return "anthropic" if own else "anthropic-compatible"


def _framing(client: Any) -> Framing:
    return FRAMES if _is_one(client, "BaseBedrockClient") else TEXT


def _rewrites(client: Any) -> bool:
    return _is_one(client, "BaseBedrockClient", "BaseVertexClient")


def _is_one(client: Any, *names: str) -> bool:
    return any(base.__name__ in names and _is_sdks(base) for base in type(client).__mro__)


def _is_sdks(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "anthropic"


def _key_name(client: Any) -> str:
    is_azure = _is_one(client, "BaseFoundryClient")
    return "ANTHROPIC_FOUNDRY_API_KEY" if is_azure else "ANTHROPIC_API_KEY"


def _fetches_key(client: Any) -> bool:
    return not (getattr(client, "api_key", None) or getattr(client, "auth_token", None))


def _lacks_key(client: Any) -> bool:
    # A subclass, such as a cloud's own, may have other ways to prove who it is.
    own = type(client).__name__ in _CLIENTS and _is_sdks(type(client))
    return own and _fetches_key(client) and getattr(client, "credentials", None) is None


def _key_headers(_key: str) -> dict[str, Any]:
    # A client without a key builds a request only where the header is left out on purpose.
    return {"Authorization": sdk.left_out("anthropic")}


def _usual_body(status: int) -> Any:
    kind, message = _USUAL.get(status, _USUAL_SERVER if status >= 500 else _USUAL_CLIENT)
    return {"type": "error", "error": {"type": kind, "message": message}}


def _event_error(event: Event, data: Any) -> tuple[str, str] | None:
    """The SDK raises after any event that is named ``error``, with its data as the words."""
    if event.name != "error":
        return None
    return "APIStatusError", str(data) or "Error code: 200"


def _raised_event(client: Any, info: ErrorInfo, response: Any) -> BaseException:
    return sdk.event_error(client, info.message, info.body, response)


def _lost(body: Any) -> tuple[str, Any] | None:
    thread = body.get("thread") if isinstance(body, dict) else None
    named = thread.get("previous_message_id") if isinstance(thread, dict) else None
    if not isinstance(named, str):
        return None
    told = {"type": "not_found_error", "message": f"There is no thread that goes on from {named}."}
    told_why: dict[str, Any] = {**told, "details": {"error_code": "thread_not_found"}}
    return named, {"type": "error", "error": told_why}


def describe() -> Sdk:
    """The SDK of Anthropic, as far as this release of it goes."""
    clients = {"anthropic": _CLIENTS}
    if find_spec("anthropic.lib.foundry") is not None:
        clients["anthropic.lib.foundry"] = ("AnthropicFoundry", "AsyncAnthropicFoundry")
    return Sdk(
        module="anthropic",
        title="Anthropic's API",
        endpoints=(
            Endpoint("anthropic.messages", "/v1/messages", "messages", named=True, last=_LAST),
            Endpoint("anthropic.count_tokens", "/v1/messages/count_tokens", "counts of tokens"),
        ),
        clients=clients,
        client_error="AnthropicError",
        key_name=_key_name,
        fetches_key=_fetches_key,
        key_headers=_key_headers,
        provider=provider,
        lacks_key=_lacks_key,
        rewrites=_rewrites,
        lost=_lost,
        framing=_framing,
        usual_body=_usual_body,
        event_error=_event_error,
        raised_event=_raised_event,
        kept_headers=_KEPT,
        kept_prefixes=("anthropic-ratelimit-",),
        asked_headers=frozenset({"anthropic-beta", "anthropic-version"}),
    )
