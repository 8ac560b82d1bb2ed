"""Everything of the SDKs' that is not part of their public face, in one place.

All of it is there, with the same meaning, from the oldest supported releases to the newest; the
adapters' tests run on both.
"""

# ruff: noqa: SLF001 - private names of the SDKs are used here, and only here

from __future__ import annotations

import copy
import inspect
import os
import sys
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from workbench.adapters.http.keys import DUMMY_KEY
from workbench.adapters.stainless.description import Endpoint, Sdk
from workbench.errors import UsageError

REQUEST = ("SyncAPIClient.request", "AsyncAPIClient.request")
"""The two doors, in an SDK's base module: every call of every resource goes through one of them,
above the SDK's retries and before the API key is put in."""
PROCESS = ("SyncAPIClient._process_response", "AsyncAPIClient._process_response")
"""Where a response is turned into what the caller gets."""
FINISH = (
    "SyncAPIClient._finalize_middleware_result",
    "AsyncAPIClient._finalize_middleware_result",
)
"""Where what a client's own middleware gave is turned into what the caller gets."""
_RAW = "X-Stainless-Raw-Response"


@dataclass(slots=True)
class Asked:
    """The arguments of one call of ``request``."""

    about: Sdk
    client: Any
    cast_to: Any
    options: Any
    stream: bool
    stream_cls: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    found: Endpoint | None
    """What is called; None when it is not recorded."""

    @classmethod
    def of(cls, about: Sdk, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Asked:
        """Read the arguments, given by position or by name."""
        cast_to = args[0] if args else kwargs["cast_to"]
        options = args[1] if len(args) > 1 else kwargs["options"]
        stream = bool(kwargs.get("stream"))
        stream_cls, found = kwargs.get("stream_cls"), about.endpoint(options)
        return cls(about, client, cast_to, options, stream, stream_cls, args, kwargs, found)

    @property
    def endpoint(self) -> Endpoint:
        """What is called, of a call that is recorded."""
        assert self.found is not None  # noqa: S101 - else the call was passed on
        return self.found

    def settled(self) -> Asked:
        """The same, with its body read: what can be read only once, such as a file or an iterator,
        is read here, where a release leaves that until it sends the request."""
        base = import_module(self.about.base)
        prepare = getattr(base, "prepare_request_data", None)
        if prepare is None:
            return self
        options = self.options.model_copy()
        base._merge_extra_json(options)
        options.json_data = prepare(options.json_data, location="body")
        args, kwargs = self.with_options(options)
        return Asked.of(self.about, self.client, args, kwargs)

    def with_body(self, body: Any, query: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same arguments with another body, and with changed query parameters."""
        changes: dict[str, Any] = {"json_data": body, "extra_json": None}
        if query is not None:
            own = url_query(self.options)
            new = {name: value for name, value in query.items() if own.get(name) != value}
            changes["params"] = {**(self.options.params or {}), **new}
        return self.with_options(self.options.model_copy(update=changes))

    def with_options(self, options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same arguments with other options."""
        if len(self.args) > 1:
            return (self.args[0], options, *self.args[2:]), self.kwargs
        return self.args, {**self.kwargs, "options": options}


def knows_middleware(about: Sdk) -> bool:
    """Whether clients of this release can have middleware."""
    return hasattr(import_module(about.base).BaseClient, "middleware")


def has_middleware(client: Any) -> bool:
    """Whether a client has some."""
    return bool(getattr(client, "middleware", ()))


def library(about: Sdk) -> Any:
    """The SDK's own module, which holds its exceptions."""
    return import_module(about.module)


def url_query(options: Any) -> dict[str, str]:
    """The query parameters that stand in the path itself."""
    url = str(options.url)
    return dict(parse_qsl(urlsplit(url).query)) if "?" in url else {}


def sentinels(about: Sdk) -> tuple[type, ...]:
    """The classes whose instances mean "not given"."""
    types = import_module(f"{about.module}._types")
    return types.NotGiven, types.Omit


def left_out(module: str) -> Any:
    """What a header has as its value that is left out on purpose, of the SDK of that name."""
    return import_module(f"{module}._types").Omit()


def own_headers(asked: Asked) -> dict[str, Any]:
    """The headers that the caller gave, to the client or to the call."""
    given = asked.options.headers
    return {**asked.client._custom_headers, **(given if hasattr(given, "items") else {})}


def build_request(asked: Asked) -> Any:
    """The HTTP request that the call would have sent. Nothing is sent, no token is fetched."""
    options = asked.options.model_copy()
    client = asked.client
    client._maybe_override_cast_to(asked.cast_to, options)
    if asked.about.fetches_key(client):
        options = _with_dummy_key(asked.about, options)
    if asked.about.rewrites(client):
        options = _rewritten(client, options)
    return client._build_request(options)


def _rewritten(client: Any, options: Any) -> Any:
    """The options as a cloud wants them: its own path, and parts of the body elsewhere."""
    try:
        found = client._prepare_options(options)
        return _at_once(found) if inspect.iscoroutine(found) else found
    except Exception:  # noqa: BLE001 - it would have been raised before anything was sent
        return options


def _at_once(waiting: Any) -> Any:
    """What a coroutine gives that waits for nothing."""
    try:
        waiting.send(None)
    except StopIteration as done:
        return done.value
    finally:
        waiting.close()
    raise RuntimeError("the SDK waits for something while it prepares a request")


def _with_dummy_key(about: Sdk, options: Any) -> Any:
    """The key comes from a function that may ask a server, and matters to nobody here."""
    given = options.headers if hasattr(options.headers, "items") else {}
    options.headers = {**about.key_headers(DUMMY_KEY), **given}
    return options


def process(asked: Asked, response: Any) -> Any:
    """What the SDK makes of a response: its own types, as after a real call (or an awaitable)."""
    options = asked.options.model_copy()
    cast_to = asked.client._maybe_override_cast_to(asked.cast_to, options)
    return asked.client._process_response(
        cast_to=cast_to,
        options=options,
        response=response,
        stream=asked.stream,
        stream_cls=asked.stream_cls,
    )


def http_client(client: Any) -> Any:
    """The HTTP client that a client sends its requests with."""
    return client._client


def stand_in(client: Any, wire: Any, backoff: Any, *, offline: bool) -> Any:
    """A copy of a client that sends its requests over ``wire``.

    Args:
        client: the agent's own client, which is not changed.
        wire: what the copy has instead of its HTTP client.
        backoff: given the seconds that the SDK wants to wait before it tries again, says how
            long it really waits.
        offline: whether nothing may reach the network: then no token is fetched for the request,
            and no gateway's own rules are applied to it.
    """
    double = copy.copy(client)
    double._client = wire
    if hasattr(client, "_build_middleware_chain"):  # it holds the client that it was built for
        double._middleware_chain = double._build_middleware_chain()
    double._calculate_retry_timeout = lambda *args, **kwargs: backoff(
        client._calculate_retry_timeout(*args, **kwargs)
    )
    if offline:
        is_async = inspect.iscoroutinefunction(client._prepare_options)
        double._prepare_options = _given_back_later if is_async else _given_back
        double._prepare_request = _given_back_later if is_async else _given_back
        double._send_request = wire.send
    return double


def request_over(wrapped: Any, double: Any, asked: Asked, *, offline: bool) -> Any:
    """The SDK's own request, retries included, made by a copy of the client (or an awaitable)."""
    args, kwargs = asked.args, asked.kwargs
    if offline and asked.about.fetches_key(asked.client):
        options = _with_dummy_key(asked.about, asked.options.model_copy())
        args, kwargs = asked.with_options(options)
    return wrapped.__func__(double, *args, **kwargs)


def _given_back(value: Any) -> Any:
    return value


async def _given_back_later(value: Any) -> Any:
    return value


def status_error(client: Any, response: Any) -> BaseException:
    """The SDK's own exception for an HTTP error."""
    error: BaseException = client._make_status_error_from_response(response)
    return error


def transport(value: Any) -> Any:
    """The HTTP library that a request or response is of: the SDK's own, or an older one that the
    caller brought with an HTTP client."""
    return sys.modules[type(value).__module__.partition(".")[0]]


def make_response(request: Any, status: int, headers: dict[str, str], **body: Any) -> Any:
    """An HTTP response as if it had come from the wire; ``body`` is ``content`` or ``stream``."""
    response = transport(request).Response(
        status,
        headers=headers,
        request=request,
        extensions={"http_version": b"HTTP/1.1"},
        **body,
    )
    response.elapsed = timedelta(0)
    return response


def reads_body_late(asked: Asked) -> bool:
    """Whether the caller gets a response whose body it reads itself, and which is no stream."""
    headers = asked.options.headers
    given = headers if hasattr(headers, "items") else {}
    return not asked.stream and given.get(_RAW) == "stream"


def event_error(client: Any, message: str, body: Any, response: Any) -> BaseException:
    """The SDK's own exception for a response that has a good status, and yet fails."""
    error: BaseException = client._make_status_error(message, body=body, response=response)
    return error


def maps_stream_errors(about: Sdk) -> bool:
    """Whether this release gives a lost connection inside a stream its own type."""
    return hasattr(import_module(f"{about.module}._streaming"), "APIConnectionError")


def settle_key(about: Sdk, client: Any) -> None:
    """Before a live call: a client that was made without a key takes the one that is set by now.

    Raises:
        UsageError: there still is none.
    """
    if getattr(client, "api_key", None) != DUMMY_KEY:
        return
    name = about.key_name(client)
    key = os.environ.get(name)
    if not key:
        raise UsageError(
            "this call would go live, but its client was made without an API key while a "
            f"recording was replayed. Set {name}, or give the client an api_key; nothing was sent"
        )
    client.api_key = key
