"""Everything that agent code can see of a chat completion's result or exception, to compare."""

import json
from collections.abc import Callable
from typing import Any

import openai

TIMEOUT_S = 0.4

# A socket left open would be reported when it is collected, in some other test.
_CLOSE = {"Connection": "close"}
_made: list[openai.OpenAI] = []
TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "get_order",
            "parameters": {"type": "object", "properties": {"number": {"type": "integer"}}},
        },
    }
]


def options(model: str, kind: str, text: str = "hello") -> dict[str, Any]:
    """The arguments of a call: ``plain``, ``stream`` or ``tools`` (streamed, with tools)."""
    found: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": text}]}
    if kind != "plain":
        found["stream"] = True
    if kind == "tools":
        found["tools"] = TOOLS
    return found


def client(url: str, **changes: Any) -> openai.OpenAI:
    """A sync client that does not retry and does not wait long."""
    http = openai.DefaultHttpxClient(verify=False, timeout=TIMEOUT_S)
    _made.append(openai.OpenAI(base_url=url, **{**_given(http), **changes}))
    return _made[-1]


def close_all() -> None:
    """Close the sync clients that were made, and with them what streams left open."""
    while _made:
        _made.pop().close()


def _given(http: Any) -> dict[str, Any]:
    return {
        "api_key": "sk-secret-key",
        "max_retries": 0,
        "http_client": http,
        "default_headers": _CLOSE,
    }


def async_client(url: str, **changes: Any) -> openai.AsyncOpenAI:
    """The same, async."""
    http = openai.DefaultAsyncHttpxClient(verify=False, timeout=TIMEOUT_S)
    return openai.AsyncOpenAI(base_url=url, **{**_given(http), **changes})


def ask(url: str, model: str, kind: str) -> dict[str, Any]:
    """Make one call and see all of its outcome."""
    seen: list[Any] = []
    with client(url) as made:
        try:
            result = made.chat.completions.create(**options(model, kind))
            if kind == "plain":
                return {"result": see(result)}
            with result:
                seen.extend(see(chunk) for chunk in result)
        except Exception as error:
            return {"chunks": seen, "error": see_error(error)}
    return {"chunks": seen, "type": type(result).__name__}


async def aask(url: str, model: str, kind: str) -> dict[str, Any]:
    """The same, async."""
    seen: list[Any] = []
    async with async_client(url) as made:
        try:
            result: Any = await made.chat.completions.create(**options(model, kind))
            if kind == "plain":
                return {"result": see(result)}
            async with result:
                async for chunk in result:
                    seen.append(see(chunk))
        except Exception as error:
            return {"chunks": seen, "error": see_error(error)}
    return {"chunks": seen, "type": type(result).__name__}


def see(value: Any) -> Any:
    """A result's type, its data with a vendor's extras, and the id of the request."""
    if isinstance(value, str):
        return value
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    return {
        "kind": kind,
        "data": value.to_dict(mode="python", warnings=False),
        "repr": repr(value),
        "request_id": getattr(value, "_request_id", None),
    }


def see_error(error: BaseException) -> dict[str, Any]:
    """An exception with all that a handler may read of it."""
    names = ("status_code", "request_id", "code", "type", "param", "body", "message", "doc", "pos")
    found: dict[str, Any] = {
        "kind": f"{type(error).__module__}.{type(error).__qualname__}",
        "text": str(error),
        "args": error.args,
        "cause": None if error.__cause__ is None else see_cause(error.__cause__),
        **{name: getattr(error, name) for name in names if hasattr(error, name)},
    }
    request = _quiet(lambda: error.request)  # type: ignore[attr-defined]
    if request is not None:
        found["request"] = (str(request.url), request.method, json.loads(request.content))
        found["request_type"] = type(request).__module__
    response = getattr(error, "response", None)
    if response is not None:
        kept = {k: v for k, v in response.headers.items() if k in ("retry-after", "content-type")}
        found["response"] = (
            response.status_code,
            kept,
            see_text(response.text),
            response.reason_phrase,
        )
        found["response_type"] = type(response).__module__
    return found


def see_text(text: str) -> Any:
    """A body: what JSON it is (its spaces are not recorded), or its text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def see_cause(error: BaseException) -> tuple[str, str] | None:
    """The transport's own error. What that was made of, further down, is not recorded."""
    if type(error).__module__ in ("httpcore", "httpcore2"):
        return None
    return f"{type(error).__module__}.{type(error).__qualname__}", str(error)


def _quiet(read: Callable[[], Any]) -> Any:
    """An attribute that an exception may not have; httpx raises RuntimeError for it."""
    try:
        return read()
    except (AttributeError, RuntimeError):
        return None
