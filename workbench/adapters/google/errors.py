"""The SDK's exceptions as the trace keeps them, and back as the SDK would raise them."""

from __future__ import annotations

import asyncio
import errno
import json
from typing import Any

from workbench.adapters.google import sdk
from workbench.adapters.google.asking import snapshot
from workbench.adapters.http.wire import body_bytes, body_headers
from workbench.errors import DriftError
from workbench.seam.exceptions import describe, rebuild
from workbench.trace.entries import ErrorInfo

_MODULE = "google.genai.errors"
_OWN = frozenset({"APIError", "ClientError", "ServerError"})
_UNREAD = "Failed to parse response as JSON. Raw response: "
"""How the SDK begins to say that a text inside a stream is no JSON."""
_INJECTED = {
    "timeout": "ReadTimeout",
    "connection_reset": "ReadError",
    "connection_refused": "ConnectError",
}
"""The HTTP library's own error for a failure that has no class of its own."""
_HIDDEN = frozenset({"set-cookie", "set-cookie2", "www-authenticate", "proxy-authenticate"})
_FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})
"""What is about the bytes on the wire, and not about the body that is kept."""

# What the provider says, by status: its name for it, and a message.
_USUAL: dict[int, tuple[str, str]] = {
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    403: ("PERMISSION_DENIED", "The caller does not have permission."),
    404: ("NOT_FOUND", "The model is not found."),
    408: ("DEADLINE_EXCEEDED", "The request took too long."),
    429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    499: ("CANCELLED", "The operation was cancelled."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
    529: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}
_USUAL_CLIENT = ("INVALID_ARGUMENT", "The request was refused.")
_USUAL_SERVER = ("INTERNAL", "The server failed.")


def kept_headers(headers: dict[str, str]) -> dict[str, str]:
    """A response's headers, without those that hold secrets."""
    return {name: value for name, value in headers.items() if name.lower() not in _HIDDEN}


def to_info(error: BaseException) -> ErrorInfo:
    """An exception of a call, with all that it takes to raise it again."""
    if type(error).__name__ in _OWN and type(error).__module__ == _MODULE:
        return _of_answer(error)
    info = describe(error)
    if info.type == "UnknownApiResponseError" and info.message.startswith(_UNREAD):
        return info.model_copy(update={"body": info.message.removeprefix(_UNREAD), "args": None})
    if hasattr(error, "_conn_key"):
        kept = {"host": error.host, "port": error.port, "ssl": bool(error.ssl)}  # type: ignore[attr-defined]
        os_error = list(getattr(error, "os_error", error).args)
        return info.model_copy(update={"args": None, "attributes": {**kept, "os_error": os_error}})
    cause = error.__cause__
    if cause is not None and not _is_http_error(error):
        told = describe(cause).model_dump(mode="json", exclude_none=True)
        return info.model_copy(update={"from": told})
    return info


def _of_answer(error: Any) -> ErrorInfo:
    fields: dict[str, Any] = {"type": type(error).__name__, "module": _MODULE}
    fields["message"] = str(error)
    found = sdk.status_and_body(error.response)
    if found is None:  # an error inside a stream, which had begun well
        return ErrorInfo(**fields, body=error.details)
    status, headers, content = found
    try:
        body = json.loads(content)
    except ValueError:
        body = content.decode("utf-8", "replace")
    return ErrorInfo(**fields, status=status, headers=kept_headers(headers), body=body)


def _is_http_error(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("httpx", "httpx2")


def is_inside(error: BaseException) -> bool:
    """Whether an exception is about what came inside a stream that had begun well."""
    if type(error).__name__ == "UnknownApiResponseError":
        return True
    return sdk.is_own_response(getattr(error, "response", None))


class Raising:
    """Makes the exceptions of one call.

    Args:
        asked: the call.
        is_async: whether it is one of async code, which may use another HTTP library.
    """

    def __init__(self, asked: sdk.Asked, *, is_async: bool) -> None:
        self._asked = asked
        self._is_async = is_async

    def exception(self, info: ErrorInfo, *, inside: bool = False) -> BaseException:
        """The exception that the agent's code gets for a recorded or injected error.

        Args:
            info: the error.
            inside: whether it comes inside a stream.
        """
        if info.type == "stopped" and info.module == "workbench":
            return DriftError(info.message)
        if info.type == "CancelledError":
            return asyncio.CancelledError(*(info.args or ()))
        if info.status is not None and (info.status >= 400 or info.type in _OWN):
            return _as_event(info) if inside else self._of_answer(info)
        if info.type in _OWN and info.body is not None:
            return _inside(info)
        if info.type in ("UnknownApiResponseError", "JSONDecodeError") and info.body is not None:
            return _caught(sdk.read_text, str(info.body))
        return self._lost(info, inside=inside) or _rebuilt(info)

    def _of_answer(self, info: ErrorInfo) -> BaseException:
        http = sdk.library(self._asked.client, is_async=self._is_async)
        request = self._request(_senders(http))
        body = usual_body(int(info.status or 0)) if info.body is None else info.body
        headers = {
            name: value
            for name, value in body_headers(info.headers, body).items()
            if name.lower() not in _FRAMING
        }
        content = body_bytes(body, headers)
        response = sdk.make_response(http, request, int(info.status or 0), headers, content)
        return _caught(sdk.raise_for, response, is_async=self._is_async)

    def _request(self, http: Any) -> Any:
        return sdk.http_request(self._asked, snapshot(self._asked.body), http)

    def _lost(self, info: ErrorInfo, *, inside: bool) -> BaseException | None:
        """A failure of the connection; None where it is something else."""
        http = sdk.library(self._asked.client, is_async=self._is_async)
        if http.__name__ == "aiohttp":
            return _of_aiohttp(http, info, inside=inside)
        kind = getattr(http, _INJECTED.get(info.type, info.type), None)
        if not (isinstance(kind, type) and issubclass(kind, http.RequestError)):
            return None
        error: BaseException = kind(info.message, request=self._request(http))
        return error


def _senders(http: Any) -> Any:
    """A library with requests to build; that of aiohttp needs a connection for its own."""
    if http.__name__ != "aiohttp":
        return http
    import httpx

    return httpx


def _of_aiohttp(http: Any, info: ErrorInfo, *, inside: bool) -> BaseException | None:
    if info.type == "timeout":
        return TimeoutError(info.message)
    lost: BaseException
    if info.type == "connection_reset" and inside:
        lost = http.ClientPayloadError(info.message)
        return lost
    if info.type == "connection_reset":
        lost = http.ClientOSError(errno.ECONNRESET, info.message)
        return lost
    if info.type == "connection_refused":
        return _unconnected(http.ClientConnectorError, "", 443, [errno.ECONNREFUSED, info.message])
    kept = info.attributes or {}
    kind = getattr(http, info.type, None)
    if "os_error" in kept and isinstance(kind, type) and hasattr(kind, "os_error"):
        return _unconnected(kind, kept["host"], kept["port"], kept["os_error"])
    return None


def _unconnected(kind: Any, host: str, port: int, told: list[Any]) -> BaseException:
    from aiohttp.client_reqrep import ConnectionKey

    told_of: dict[str, Any] = dict.fromkeys(ConnectionKey._fields)
    told_of |= {"host": host, "port": port, "is_ssl": True, "ssl": True}
    key = ConnectionKey(**told_of)
    error: BaseException = kind(key, OSError(*told))
    return error


def _as_event(info: ErrorInfo) -> BaseException:
    """An injected failure that the provider tells inside a stream."""
    status = int(info.status or 0)
    body = usual_body(status) if info.body is None else info.body
    kind = "ServerError" if status >= 500 else "ClientError"
    return _inside(info.model_copy(update={"type": kind, "body": body}))


def _inside(info: ErrorInfo) -> BaseException:
    """An error that came inside a stream: its class follows from its code, as in the SDK."""
    from google.genai import errors

    told = info.body.get("error") if isinstance(info.body, dict) else None
    code = told.get("code") if isinstance(told, dict) else None
    kind = getattr(errors, info.type)
    error: BaseException = kind(code, info.body, sdk.own_response({}))
    return error


def _rebuilt(info: ErrorInfo) -> BaseException:
    error = rebuild(info)
    told = (info.model_extra or {}).get("from")
    if isinstance(told, dict):
        error.__cause__ = rebuild(ErrorInfo.model_validate(told))
    return error


def _caught(call: Any, *args: Any, **kwargs: Any) -> BaseException:
    try:
        call(*args, **kwargs)
    except Exception as error:  # noqa: BLE001 - whatever the SDK makes of it is what is wanted
        return error
    raise AssertionError("the SDK raised nothing for an error")


def usual_body(status: int) -> Any:
    """What the provider says with a status, when nothing else is known."""
    name, message = _USUAL.get(status, _USUAL_SERVER if status >= 500 else _USUAL_CLIENT)
    return {"error": {"code": status, "message": message, "status": name}}
