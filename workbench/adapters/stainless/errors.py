"""The SDK's exceptions as the trace keeps them, and back as the SDK would raise them."""

from __future__ import annotations

import asyncio
from typing import Any

from workbench.adapters.http.wire import body_bytes, body_headers, kept_headers, read_body
from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.description import Sdk
from workbench.seam.exceptions import describe, rebuild
from workbench.trace.entries import ErrorInfo

_TIMEOUTS = frozenset({"timeout", "APITimeoutError"})
_LOST = frozenset({"connection_reset", "connection_refused", "APIConnectionError"})
_CAUSES = {
    "timeout": "ReadTimeout",
    "APITimeoutError": "ReadTimeout",
    "connection_refused": "ConnectError",
}
"""The transport's own error, where none was recorded; for any other it is a ``ReadError``."""


class StreamEventError(Exception):
    """An event inside a stream that ends it: the provider's error, or one that is not JSON."""

    def __init__(self, kind: str, module: str, message: str, data: Any, name: str | None) -> None:
        super().__init__(message)
        self.kind, self.module, self.data, self.name = kind, module, data, name


class EventFault(Exception):  # noqa: N818 - it never leaves the stream that it is raised in
    """An injected failure that the provider tells by an event inside a stream."""

    def __init__(self, body: Any) -> None:
        super().__init__("an error as an event")
        self.body = body


def to_info(about: Sdk, error: BaseException, response: Any = None) -> ErrorInfo:
    """An exception of a call, with all that it takes to raise it again.

    Args:
        about: the SDK.
        error: what was raised.
        response: the response that had come by then, if any: its body is what the SDK, or the
            agent's own schema, did not accept.
    """
    library = sdk.library(about)
    if isinstance(error, StreamEventError):
        return _of_event(error)
    if isinstance(error, library.APIStatusError):
        told: Any = error
        return ErrorInfo(**_named(about, error), **_answer(about, told.response))
    if isinstance(error, library.APIConnectionError):
        return _of_connection(about, error)
    info = describe(error)
    if response is not None and not isinstance(error, asyncio.CancelledError):
        return ErrorInfo(**_named(about, error), args=info.args, **_answer(about, response))
    return info


def kept_head(about: Sdk, response: Any) -> dict[str, Any]:
    """A response's status, and its headers that matter."""
    headers = kept_headers(response, about.kept_headers, about.kept_prefixes)
    return {"status": response.status_code, "headers": headers}


def _named(about: Sdk, error: BaseException) -> dict[str, Any]:
    module = type(error).__module__
    name = about.module if module.startswith(f"{about.module}.") else module
    return {"type": type(error).__name__, "module": name, "message": str(error)}


def _answer(about: Sdk, response: Any) -> dict[str, Any]:
    head = kept_head(about, response)
    try:
        return {**head, "body": read_body(response)}
    except RuntimeError:  # closed before its body was read, by whoever made the error
        return head


def _of_connection(about: Sdk, error: BaseException) -> ErrorInfo:
    cause = error.__cause__
    fields = _named(about, error)
    if cause is not None:
        fields["cause"] = type(cause).__name__
        fields["attributes"] = {"cause_message": str(cause)}
    return ErrorInfo(**fields)


def _of_event(error: StreamEventError) -> ErrorInfo:
    fields: dict[str, Any] = {
        "type": error.kind,
        "module": error.module,
        "message": str(error),
        "body": error.data,
    }
    if error.name:
        fields["event"] = error.name
    return ErrorInfo(**fields)


def to_exception(asked: sdk.Asked, info: ErrorInfo) -> BaseException:
    """The exception that the agent's code gets for a recorded or injected error."""
    if info.type == "CancelledError":
        return asyncio.CancelledError(*(info.args or ()))
    if info.status is not None and info.status >= 400:
        return sdk.status_error(asked.client, error_response(asked, info))
    if info.type in _TIMEOUTS or info.type in _LOST:
        return _connection(asked, info)
    request = sdk.build_request(asked)
    if _is_transport(info.type, request):
        return transport_error(info, request)
    if info.module == asked.about.module and info.status is None and info.body is not None:
        response = sdk.make_response(request, 200, {}, content=b"")
        return asked.about.raised_event(asked.client, info, response)
    return rebuild(info)


def _connection(asked: sdk.Asked, info: ErrorInfo) -> BaseException:
    library, request = sdk.library(asked.about), sdk.build_request(asked)
    error: BaseException
    if info.type in _TIMEOUTS:
        error = library.APITimeoutError(request=request)
    elif info.type == "APIConnectionError" and info.message:
        error = library.APIConnectionError(message=info.message, request=request)
    else:
        error = library.APIConnectionError(request=request)
    error.__cause__ = transport_error(info, request)
    return error


def transport_error(info: ErrorInfo, request: Any) -> BaseException:
    """The HTTP library's own error, below the SDK's."""
    name = info.type
    if not _is_transport(name, request):
        name = info.cause or ""
    if not _is_transport(name, request):
        name = _CAUSES.get(info.type, "ReadError")
    told = (info.attributes or {}).get("cause_message")
    kind = getattr(sdk.transport(request), name)
    error: BaseException = kind(info.message if told is None else told, request=request)
    return error


def fails_below(info: ErrorInfo, request: Any) -> bool:
    """Whether it is a failure of the connection, which an SDK may meet by trying again."""
    return info.type in _TIMEOUTS or info.type in _LOST or _is_transport(info.type, request)


def _is_transport(name: str, request: Any) -> bool:
    library = sdk.transport(request)
    found = getattr(library, name, None)
    return isinstance(found, type) and issubclass(found, library.RequestError)


def as_seen(about: Sdk, error: BaseException, request: Any) -> BaseException:
    """What the agent gets for an error of the HTTP library inside a stream, in this release."""
    transport, library = sdk.transport(request), sdk.library(about)
    if not isinstance(error, transport.RequestError) or not sdk.maps_stream_errors(about):
        return error
    seen: BaseException
    if isinstance(error, transport.TimeoutException):
        seen = library.APITimeoutError(request=request)
    else:
        seen = library.APIConnectionError(request=request)
    seen.__cause__ = error
    return seen


def error_response(asked: sdk.Asked, info: ErrorInfo) -> Any:
    """The response that an error tells of. One without a body gets the provider's usual one."""
    status = int(info.status or 0)
    body = info.body
    if body is None:
        body = asked.about.usual_body(status)
    headers = body_headers(info.headers, body)
    request = sdk.build_request(asked)
    return sdk.make_response(request, status, headers, content=body_bytes(body, headers))


def made_response(asked: sdk.Asked, made: Any) -> Any:
    """The response that would have given what a client's middleware made by itself; None where
    that is no object of the SDK's."""
    if not hasattr(made, "to_dict"):
        return None
    names = ("request-id", "x-request-id")
    id_ = getattr(made, "_request_id", None)
    headers = {name: id_ for name in names if id_ and name in asked.about.kept_headers}
    body = made.to_dict(mode="json", warnings=False)
    content = body_bytes(body, headers)
    request = sdk.build_request(asked)
    return sdk.make_response(request, 200, body_headers(headers, body), content=content)
