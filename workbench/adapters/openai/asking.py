"""What an agent asks for, as the trace keeps it: a snapshot of the request without secrets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel

from workbench.adapters.openai import sdk
from workbench.errors import UnencodableError
from workbench.seam.calls import Call
from workbench.trace.redaction import is_secret_in_query

API = "openai.chat"
PATH = "/chat/completions"

_SEMANTIC_HEADERS = frozenset(
    {"accept-language", "anthropic-beta", "content-language", "openai-beta", "openai-version"}
)
"""The only request headers that are kept: they can change the answer, and hold no secret."""


def endpoint(options: Any) -> str:
    """The path that is called, without host and query: ``/embeddings``."""
    return urlsplit(str(options.url)).path


def is_chat(options: Any) -> bool:
    """Whether it is a chat completion."""
    return str(options.method).lower() == "post" and endpoint(options).endswith(PATH)


def call_of(asked: sdk.Asked) -> Call:
    """The call, with a request that nothing the agent does later can change.

    Raises:
        UnencodableError: the body holds what JSON cannot; the path says where.
    """
    options = asked.options
    body = _body(options)
    request: dict[str, Any] = {"path": endpoint(options)}
    query = _query(options.params)
    if query:
        request["query"] = query
    headers = _headers(options.headers)
    if headers:
        request["headers"] = headers
    request["body"] = body
    model = body.get("model") if isinstance(body, dict) else None
    return Call(
        kind="model",
        request=request,
        api=API,
        model=model if isinstance(model, str) else None,
        stream=asked.stream,
    )


def _body(options: Any) -> Any:
    body = options.json_data
    if isinstance(body, bytes):
        body = json.loads(body)
    if isinstance(body, Mapping) and isinstance(options.extra_json, Mapping):
        body = {**body, **options.extra_json}
    elif body is None:
        body = options.extra_json
    if body is None and getattr(options, "content", None) is not None:
        raise UnencodableError(
            "the body of a chat completion was given as raw content; give it as a dictionary, "
            "so that it can be recorded",
            path="$.request.body",
        )
    try:
        return snapshot(body, "$.request.body")
    except RecursionError:
        raise UnencodableError(
            "the request's body contains itself, or is nested too deeply", path="$.request.body"
        ) from None


def snapshot(value: Any, path: str) -> Any:
    """A deep copy as plain JSON values, just as the SDK would send them.

    Args:
        value: what the agent passed.
        path: where it stands, for messages.

    Raises:
        UnencodableError: JSON has no such value.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    if isinstance(value, Mapping):
        absent = sdk.sentinels()
        return {
            _key(key, path): snapshot(item, f"{path}.{key}")
            for key, item in value.items()
            if not isinstance(item, absent)
        }
    if isinstance(value, list | tuple):
        return [snapshot(item, f"{path}[{place}]") for place, item in enumerate(value)]
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True, by_alias=True)
    if isinstance(value, datetime | date):
        return value.isoformat()
    raise UnencodableError(
        f"{path} is a {type(value).__name__}, which JSON cannot hold: pass a string, number, "
        "list or dictionary",
        path=path,
    )


def _key(key: Any, path: str) -> str:
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool | int | float):
        return json.dumps(key)
    raise UnencodableError(
        f"{path} has a key of type {type(key).__name__}; JSON has only strings", path=path
    )


def _query(params: Any) -> dict[str, Any]:
    if not isinstance(params, Mapping):
        return {}
    kept = {k: v for k, v in params.items() if not is_secret_in_query(str(k))}
    found: dict[str, Any] = snapshot(kept, "$.request.query")
    return found


def _headers(headers: Any) -> dict[str, str]:
    if not isinstance(headers, Mapping):
        return {}
    return {
        str(name).lower(): value
        for name, value in headers.items()
        if isinstance(value, str) and str(name).lower() in _SEMANTIC_HEADERS
    }
