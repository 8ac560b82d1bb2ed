"""Everything of the SDK's that is not part of its public face, in one place.

All of it is there, with the same meaning, from the oldest supported release to the newest; the
adapter's tests run on both.
"""

# ruff: noqa: SLF001 - private names of the SDK are used here, and only here

from __future__ import annotations

import copy
import functools
import inspect
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from workbench.adapters.http.keys import DUMMY_KEY
from workbench.errors import UsageError

DUMMY_PROJECT = "workbench-replay-needs-no-project"
"""What :data:`DUMMY_KEY` is for a key, for a client of Vertex AI that was told no project."""

BASE = "google.genai._api_client"
"""The module with the class that every client sends its calls with."""
DECLARING = "google.genai._transformers"
"""The module that makes declarations of functions."""
CALLING = "google.genai._extra_utils"
"""The module that calls functions as the model asks."""
INVOKE = ("invoke_function_from_dict_args", "invoke_function_from_dict_args_async")
"""The two functions in it that do so."""
SYNC = ("request", "request_streamed")
"""Two of the four doors: every call of a model goes through one of them, above the SDK's retries
and before it is known where the key comes from."""
ASYNC = ("async_request", "async_request_streamed")
BESIDE = {
    "upload_file": "an upload (client.files)",
    "download_file": "a download (client.files)",
    "async_upload_file": "an upload (client.aio.files)",
    "async_download_file": "a download (client.aio.files)",
}
"""Further doors, for files, and what they are called in messages."""
_APART = "a call of client.interactions or its like"
APART = {
    "google.genai.live": {"AsyncLive.connect": "a live session (client.aio.live)"},
    "google.genai._gaos.basesdk": {
        "BaseSDK.do_request": _APART,
        "AsyncBaseSDK.do_request_async": _APART,
    },
    "google.genai._interactions._base_client": {
        "SyncAPIClient.request": _APART,
        "AsyncAPIClient.request": _APART,
    },
}
"""What talks to the API by itself, past all doors, in the releases that have it, by module."""

_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")
_KEY_HEADER = "x-goog-api-key"


@dataclass(slots=True)
class Asked:
    """The arguments of one call of a door."""

    client: Any
    method: str
    path: str
    body: Any
    options: Any
    stream: bool

    @classmethod
    def of(
        cls, client: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, stream: bool
    ) -> Asked:
        """Read the arguments, given by position or by name."""
        names = ("http_method", "path", "request_dict", "http_options")
        given = dict(zip(names, args, strict=False)) | kwargs
        method, path, body = given["http_method"], given["path"], given["request_dict"]
        return cls(client, str(method), str(path), body, given.get("http_options"), stream)

    def arguments(self, path: str, body: Any) -> tuple[Any, ...]:
        """The arguments of a call with another path or body, to which nothing is added."""
        return self.method, path, body, _without_extra(self.options)

    def as_given(self) -> tuple[Any, ...]:
        """The arguments as they were."""
        return self.method, self.path, self.body, self.options


def _without_extra(options: Any) -> Any:
    """Options without fields for the body: what is sent has them already."""
    from google.genai import types

    if isinstance(options, dict):
        return {**options, "extra_body": {}}
    if options is None:
        return types.HttpOptions(extra_body={})
    return options.model_copy(update={"extra_body": {}})


def build_request(asked: Asked, body: Any) -> Any:
    """What the call would have sent, with the fields that are added to its body; ``body`` is
    changed. Nothing is sent, no token is fetched."""
    return asked.client._build_request(asked.method, asked.path, body, asked.options)


def is_vertex(client: Any) -> bool:
    """Whether it is a client for Vertex AI."""
    return bool(client.vertexai)


def host(client: Any) -> str:
    """The host that a client talks to."""
    return urlsplit(str(client._http_options.base_url)).hostname or ""


# -- the HTTP library -------------------------------------------------------------------------


def library(client: Any, *, is_async: bool) -> Any:
    """The HTTP library that a client sends its calls with: ``httpx``, ``httpx2`` or ``aiohttp``."""
    if is_async and client._use_aiohttp():
        return sys.modules["aiohttp"]
    sender = client._async_httpx_client if is_async else client._httpx_client
    for base in type(sender).__mro__:
        name = base.__module__.partition(".")[0]
        if name in ("httpx", "httpx2"):
            return sys.modules[name]
    raise UsageError(f"{type(sender).__name__} is of no HTTP library that this adapter knows")


def http_request(asked: Asked, body: Any, http: Any) -> Any:
    """The request of an HTTP library, without the key."""
    built = build_request(asked, body)
    headers = {k: v for k, v in built.headers.items() if k.lower() != _KEY_HEADER}
    return http.Request(built.method, built.url, headers=headers, json=built.data or None)


def make_response(
    http: Any, request: Any, status: int, headers: dict[str, str], body: bytes
) -> Any:
    """A response as if it had come from the wire, of ``httpx`` or of ``aiohttp``."""
    if http.__name__ != "aiohttp":
        return http.Response(status, headers=headers, content=body, request=request)
    return _aiohttp_response(http, request, status, headers, body)


def _aiohttp_response(
    http: Any, request: Any, status: int, headers: dict[str, str], body: bytes
) -> Any:
    from http import HTTPStatus

    from multidict import CIMultiDict, CIMultiDictProxy
    from yarl import URL

    url = URL(str(request.url))
    # It is never read from a connection, so that what belongs to one is left out.
    made = http.ClientResponse.__new__(http.ClientResponse)
    reasons = (each.phrase for each in HTTPStatus if each.value == status)
    made.__dict__.update(
        method=request.method,
        status=status,
        reason=next(reasons, ""),
        cookies={},
        _real_url=url,
        _url=url.with_fragment(None),
        _body=body,
        _cache={},
        _headers=CIMultiDictProxy(CIMultiDict(headers)),
        _request_info=http.RequestInfo(url, request.method, CIMultiDictProxy(CIMultiDict()), url),
        _raw_headers=tuple((k.encode(), v.encode()) for k, v in headers.items()),
        _history=(),
        _closed=True,
        _released=True,
        _connection=None,
        _resolve_charset=lambda *_: "utf-8",
        _source_traceback=None,
        _traces=[],
    )
    return made


def status_and_body(response: Any) -> tuple[int, dict[str, str], bytes] | None:
    """Status, headers and body of the response of an error; None for what is no such response."""
    kind = type(response).__module__.partition(".")[0]
    if kind in ("httpx", "httpx2"):
        content = response.content if hasattr(response, "_content") else b""
        return response.status_code, dict(response.headers), content
    if kind == "aiohttp":
        return response.status, dict(response.headers), getattr(response, "_body", None) or b""
    if kind == "requests":
        return response.status_code, dict(response.headers), response.content
    return None


def raise_for(response: Any, *, is_async: bool) -> None:
    """Have the SDK raise its own exception for the response of an error."""
    from google.genai import errors

    if not is_async:
        errors.APIError.raise_for_response(response)
        return
    waiting = errors.APIError.raise_for_async_response(response)
    try:
        waiting.send(None)
    except StopIteration:
        return
    finally:
        waiting.close()
    raise AssertionError("the body of a response that is there was waited for")


# -- streams ----------------------------------------------------------------------------------


def is_own_response(value: Any) -> bool:
    """Whether it is what the SDK keeps of a stream, and raises errors inside it with."""
    from google.genai import _api_client

    return isinstance(value, _api_client.HttpResponse)


def own_response(headers: dict[str, str]) -> Any:
    """Such a thing of a stream that is at its end."""
    from google.genai import _api_client

    return _api_client.HttpResponse(headers, response_stream=[])


def read_text(text: str) -> Any:
    """Have the SDK read a text inside a stream; it raises where that is no JSON."""
    from google.genai import _api_client

    # The oldest releases have no exception of their own for it.
    return getattr(_api_client.HttpResponse, "_load_json_from_response", json.loads)(text)


def answer(headers: dict[str, str], text: str) -> Any:
    """What a door gives for an answer, or for one piece of it."""
    from google.genai import types

    return types.HttpResponse(headers=headers, body=text)


def as_tried(headers: dict[str, str], pieces: Callable[[], Any], apieces: Callable[[], Any]) -> Any:
    """What a single try gives for a stream, which the SDK then reads by itself.

    Args:
        headers: of the response.
        pieces: a generator of the texts in the stream; it may raise.
        apieces: the same for async code.
    """
    from google.genai import _api_client

    class Played(_api_client.HttpResponse):  # type: ignore[misc, name-defined, unused-ignore]
        def segments(self) -> Any:
            return map(read_text, pieces())

        async def async_segments(self) -> Any:
            async for piece in apieces():
                yield read_text(piece)

    return Played(headers, response_stream=None)


def whole(headers: dict[str, str], text: str) -> Any:
    """What a single try gives for a plain answer."""
    from google.genai import _api_client

    return _api_client.HttpResponse(headers, response_stream=[text])


# -- retries ----------------------------------------------------------------------------------


def stand_in(client: Any, once: Any, sleep: Any, options: Any, *, is_async: bool) -> Any:
    """A copy of a client that makes its single tries with ``once``, and waits with ``sleep``.

    Args:
        client: the agent's own client, which is not changed.
        once: what is called for each try, with the request and whether it is streamed.
        sleep: given the seconds that the SDK wants to wait before it tries again.
        options: the options of the call, which may bring rules of their own for tries.
        is_async: whether ``once`` and ``sleep`` are coroutine functions.
    """
    import tenacity

    double = copy.copy(client)
    own_class: Any = type(client)
    double.__class__ = _lasting(own_class)
    own = options.get("retry_options") if isinstance(options, dict) else None
    own = getattr(options, "retry_options", None) if own is None else own
    retry = client._async_retry if is_async else client._retry
    if own and _heeds_options(client):
        from google.genai import _api_client, types

        rules = types.HttpRetryOptions.model_validate(own)
        kind = tenacity.AsyncRetrying if is_async else tenacity.Retrying
        retry = kind(**_api_client.retry_args(rules))
    retry = retry.copy(sleep=sleep)

    def request(http_request: Any, http_options: Any = None, stream: bool = False) -> Any:  # noqa: ARG001, FBT001, FBT002 - the SDK's own
        return retry(once, http_request, stream)

    setattr(double, "_async_request" if is_async else "_request", request)
    return double


@functools.cache
def _lasting(kind: type) -> type:
    """A class of clients that close nothing when they are forgotten: what a copy has is not its
    own."""
    return type(kind.__name__, (kind,), {"__del__": lambda _self: None})


def _heeds_options(client: Any) -> bool:
    """Whether this release takes rules for tries with a call, and not from its client only."""
    return "http_options" in inspect.signature(client._request).parameters


def try_once(client: Any, http_request: Any, stream: bool, *, is_async: bool) -> Any:  # noqa: FBT001
    """A single try of the SDK's over the network (or an awaitable)."""
    once = client._async_request_once if is_async else client._request_once
    return once(http_request, stream)


# -- keys -------------------------------------------------------------------------------------


def _for_vertex(kwargs: dict[str, Any]) -> bool:
    given = kwargs.get("vertexai")
    if given is not None:
        return bool(given)
    names = ("GOOGLE_GENAI_USE_ENTERPRISE", "GOOGLE_GENAI_USE_VERTEXAI")
    return any(os.environ.get(name, "").lower() in ("1", "true") for name in names)


def looks_for_project(kwargs: dict[str, Any]) -> bool:
    """Whether a client for Vertex AI is told no project: then it asks this machine's files, and
    the network."""
    known = any(kwargs.get(name) for name in ("project", "api_key"))
    known = known or any(map(os.environ.get, ("GOOGLE_CLOUD_PROJECT", *_KEYS)))
    return _for_vertex(kwargs) and not known


def offline_client(kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a client that will not go live, with what it would refuse to do without."""
    if _for_vertex(kwargs):
        return {**kwargs, "project": DUMMY_PROJECT, "location": kwargs.get("location") or "global"}
    return {**kwargs, "api_key": DUMMY_KEY}


def has_dummy(client: Any) -> bool:
    """Whether a client was made without a key, or without a project."""
    return bool(client.api_key == DUMMY_KEY or client.project == DUMMY_PROJECT)


def settle_key(client: Any) -> None:
    """Before a live call: a client that was made without a key takes the one that is set by now.

    Raises:
        UsageError: there still is none.
    """
    if not has_dummy(client):
        return
    key = next(filter(None, map(os.environ.get, _KEYS)), None)
    if client.project == DUMMY_PROJECT:
        raise UsageError(
            "this call would go live, but its client of Vertex AI was made without a project "
            "while a recording was replayed. Give the client a project and a location, or set "
            "GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION; nothing was sent"
        )
    if not key:
        raise UsageError(
            "this call would go live, but its client was made without an API key while a "
            f"recording was replayed. Set {' or '.join(reversed(_KEYS))}, or give the client an "
            "api_key; nothing was sent"
        )
    client.api_key = key
    client._http_options.headers[_KEY_HEADER] = key
