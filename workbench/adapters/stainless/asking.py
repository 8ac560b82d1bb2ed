"""What an agent asks for, as the trace keeps it: a snapshot of the request without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel

from workbench.adapters.stainless import sdk
from workbench.adapters.stainless.description import path_of
from workbench.errors import UnencodableError
from workbench.seam.calls import Call
from workbench.trace.redaction import is_secret_in_query

_AS_THEY_ARE = frozenset({bool, float, int, str})


def call_of(asked: sdk.Asked) -> Call:
    """The call, with a request that nothing the agent does later can change.

    Raises:
        UnencodableError: the body holds what JSON cannot; the path says where.
    """
    options, absent = asked.options, sdk.sentinels(asked.about)
    endpoint = asked.endpoint
    body = _body(options, endpoint.words, absent)
    request: dict[str, Any] = {"path": path_of(options)}
    query = _query(options, absent)
    if query:
        request["query"] = query
    headers = _headers(asked)
    if headers:
        request["headers"] = headers
    request["body"] = body
    model = body.get("model") if isinstance(body, dict) else None
    return Call(
        kind="model",
        request=request,
        api=endpoint.api,
        model=model if isinstance(model, str) else None,
        stream=asked.stream,
    )


def _body(options: Any, words: str, absent: tuple[type, ...]) -> Any:
    body = options.json_data
    if isinstance(body, bytes):
        body = json.loads(body)
    if isinstance(body, Mapping) and isinstance(options.extra_json, Mapping):
        body = {**body, **options.extra_json}
    elif body is None:
        body = options.extra_json
    if body is None and getattr(options, "content", None) is not None:
        raise UnencodableError(
            f"the body of a call for {words} was given as raw content; give it as a dictionary, "
            "so that it can be recorded",
            path="$.request.body",
        )
    try:
        return snapshot(body, "$.request.body", absent)
    except RecursionError:
        raise UnencodableError(
            "the request's body contains itself, or is nested too deeply", path="$.request.body"
        ) from None


def snapshot(value: Any, path: str, absent: tuple[type, ...] = ()) -> Any:
    """A deep copy as plain JSON values, just as the SDK would send them.

    Args:
        value: what the agent passed.
        path: where it stands, for messages.
        absent: the classes whose instances mean that a field is not given.

    Raises:
        UnencodableError: JSON has no such value.
    """
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Mapping):
        return _map(value, path, absent)
    if isinstance(value, list | tuple):
        return [snapshot(item, f"{path}[{place}]", absent) for place, item in enumerate(value)]
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True, by_alias=True)
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise UnencodableError(
        f"{path} is a {type(value).__name__}, which JSON cannot hold: pass a string, number, "
        "list or dictionary",
        path=path,
    )


def _map(value: Mapping[Any, Any], path: str, absent: tuple[type, ...]) -> dict[str, Any]:
    out = {}
    for key, item in value.items():
        if type(key) is str and (item is None or type(item) in _AS_THEY_ARE):
            out[key] = item  # most are: no path is made for them
        elif not isinstance(item, absent):
            out[_key(key, path)] = snapshot(item, f"{path}.{key}", absent)
    return out


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool | int | float):
        return json.dumps(key)
    raise UnencodableError(
        f"{path} has a key of type {type(key).__name__}; JSON has only strings", path=path
    )


def _query(options: Any, absent: tuple[type, ...]) -> dict[str, Any]:
    params = options.params if isinstance(options.params, Mapping) else {}
    given = {**sdk.url_query(options), **params}
    kept = {k: v for k, v in given.items() if not is_secret_in_query(str(k))}
    found: dict[str, Any] = snapshot(kept, "$.request.query", absent)
    return found


def _headers(asked: sdk.Asked) -> dict[str, str]:
    return {
        str(name).lower(): value
        for name, value in sdk.own_headers(asked).items()
        if isinstance(value, str) and str(name).lower() in asked.about.asked_headers
    }
