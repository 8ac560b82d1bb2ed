"""All that agent code can see of a value or an exception of an SDK, field by field, to compare."""

import dataclasses
import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

KEPT_HEADERS = frozenset(
    {"content-type", "request-id", "retry-after", "retry-after-ms", "x-request-id"}
)
"""The headers of a response that a replay must have."""

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Where a thing happens to be in memory."""
_PLAIN = (str, bytes, int, float, bool, type(None))


def see(value: Any) -> Any:
    """A value as plain data, with the type of each part, and what a vendor added."""
    if isinstance(value, BaseModel):
        return _model(value)
    if isinstance(value, BaseException):
        return see_error(value)
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Mapping):
        return {"kind": kind(value), "items": {str(k): see(v) for k, v in value.items()}}
    if isinstance(value, list | tuple):
        return [kind(value), *(see(item) for item in value)]
    if dataclasses.is_dataclass(value):
        fields = {each.name: getattr(value, each.name) for each in dataclasses.fields(value)}
        return {"kind": kind(value), "fields": see(fields)}
    if _is_http(value, "Request"):
        return _request(value)
    if _is_http(value, "Response"):
        return _response(value)
    return {"kind": kind(value), "repr": _ADDRESS.sub("", repr(value))}


def kind(value: Any) -> str:
    """The full name of a value's type."""
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _model(value: BaseModel) -> dict[str, Any]:
    # What the SDK keeps beside the fields, such as the id of the request, is not in a dump.
    apart = {"request_id": getattr(value, "_request_id", None)}
    fields = {name: see(getattr(value, name)) for name in type(value).model_fields}
    dump = value.model_dump(warnings=False)
    if type(value).__name__ == "HttpResponse":
        fields["headers"] = _headers(getattr(value, "headers", None))
    for name in ("headers", "sdk_http_response"):  # which are seen as fields, less what varies
        dump.pop(name, None)
    return {
        "kind": kind(value),
        "fields": fields,
        "set": sorted(value.model_fields_set),
        "extra": see(value.model_extra),
        "dump": dump,
        **apart,
    }


def _headers(headers: Any) -> dict[str, str]:
    return {k.lower(): v for k, v in dict(headers or {}).items() if k.lower() in KEPT_HEADERS}


def see_error(error: BaseException) -> dict[str, Any]:
    """An exception with all that a handler may read of it.

    Further down than the first cause only the types' names are looked at: the HTTP library's own
    insides are not recorded.
    """
    names = [name for name in vars(error) if name not in ("_request", "__notes__")]
    if type(error).__module__.startswith("aiohttp."):  # its own insides, of one connection
        names = [name for name in names if not name.startswith("_")]
    read = ("request", "response", "doc", "pos")
    found = {name: _attribute(error, name) for name in sorted({*names, *read})}
    cause = error.__cause__
    return {
        "kind": kind(error),
        "text": str(error),
        "args": see(error.args),
        "attributes": found,
        "cause": None if cause is None or _inside(cause) else (kind(cause), str(cause)),
    }


def _attribute(error: BaseException, name: str) -> Any:
    try:
        return see(getattr(error, name, None))
    except RuntimeError as absent:  # httpx has the attribute, and refuses to give it
        return str(absent)


def _inside(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in ("httpcore", "httpcore2", "anyio")


def _is_http(value: Any, name: str) -> bool:
    library = type(value).__module__.partition(".")[0]
    if library == "aiohttp" and type(value).__name__ == f"Client{name}":
        return True
    return library in ("httpx", "httpx2") and type(value).__name__ == name


def _request(request: Any) -> dict[str, Any]:
    return {
        "kind": kind(request),
        "method": request.method,
        "url": str(request.url),
        "content": see_text(request.content.decode()),
    }


def _response(response: Any) -> dict[str, Any]:
    if kind(response).startswith("aiohttp."):
        return {
            "kind": kind(response),
            "status": (response.status, response.reason),
            "headers": _headers(response.headers),
            "text": see_text((response._body or b"").decode("utf-8", "replace")),
        }
    try:
        text = see_text(response.text)
    except Exception as unread:  # a stream, which nobody read to its end
        text = type(unread).__name__
    return {
        "kind": kind(response),
        "status": (response.status_code, response.reason_phrase),
        "headers": _headers(response.headers),
        "text": text,
    }


def see_text(text: str) -> Any:
    """A body: what JSON it is (its spaces are not recorded), or its text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def differences(one: Any, two: Any, at: str = "") -> list[str]:
    """Where two things that were seen differ, by path."""
    if isinstance(one, dict) and isinstance(two, dict):
        found = []
        for key in sorted({*one, *two}, key=str):
            if key in one and key in two:
                found += differences(one[key], two[key], f"{at}.{key}")
            else:
                found.append(f"{at}.{key} is in the {'first' if key in one else 'second'} only")
        return found
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        parts = enumerate(zip(one, two, strict=True))
        return [each for n, (a, b) in parts for each in differences(a, b, f"{at}[{n}]")]
    return [] if one == two and type(one) is type(two) else [f"{at}: {one!r} != {two!r}"]
