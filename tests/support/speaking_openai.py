"""OpenAI's chat completions, responses and embeddings, as the loopback server gives them."""

import base64
import struct
from collections.abc import Iterator
from typing import Any

from speaking import Speaker, event, pieces

_USAGE = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
_VENDOR = {"note": "é\u2028 \ud83d", "cost": 1e-7, "big": 12345678901234567890123}
_DONE = b"data: [DONE]\n\n"


# -- chat completions -------------------------------------------------------------------------


def _completion(_path: str, asked: Any) -> dict[str, Any]:
    """A completion that answers the last message, with a tool call when tools are offered."""
    message: dict[str, Any] = {"role": "assistant", "content": _said(asked), "refusal": None}
    if asked.get("tools"):
        message |= {"content": None, "tool_calls": [_tool_call('{"number": 101}')]}
    token = {"token": "a", "logprob": 0, "bytes": [97], "top_logprobs": []}
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": "tool_calls" if asked.get("tools") else "stop",
        "logprobs": {"content": [token]},
    }
    head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1}
    return {
        **head,
        "model": "served-model-1",
        "choices": [choice],
        "usage": _USAGE,
        "x_vendor": _VENDOR,
    }


def _said(asked: Any) -> str:
    if "response_format" in asked:
        return '{"city": "Bergen"}'
    return f"You said: {asked['messages'][-1]['content']}"


def _tool_call(arguments: str) -> dict[str, Any]:
    function = {"name": "get_order", "arguments": arguments}
    return {"id": "call_1", "type": "function", "function": function}


def _chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
    return {**head, "model": "served-model-1", "choices": [choice], "x_vendor": 1}


def _chunks(_path: str, asked: Any) -> Iterator[bytes]:
    yield event(_chunk({"role": "assistant", "content": ""}))
    if asked.get("tools"):
        yield event(_chunk({"tool_calls": [{"index": 0, **_tool_call("")}]}))
        for part in ('{"number"', ": 10", "1}"):
            yield event(_chunk({"tool_calls": [{"index": 0, "function": {"arguments": part}}]}))
        yield event(_chunk({}, "tool_calls"))
    else:
        for piece in pieces(_said(asked)):
            yield event(_chunk({"content": piece}))
        yield event(_chunk({}, "stop"))
    if (asked.get("stream_options") or {}).get("include_usage"):
        yield event({**_chunk({}), "choices": [], "usage": _USAGE})
    yield _DONE


# -- responses --------------------------------------------------------------------------------


def _response(_path: str, asked: Any) -> dict[str, Any]:
    """Reasoning, then a text, or a tool call when tools are offered."""
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "They greet me."}],
        "encrypted_content": "c2VjcmV0+/==",
    }
    usage = {
        "input_tokens": 12,
        "output_tokens": 5,
        "total_tokens": 17,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens_details": {"reasoning_tokens": 2},
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "model": "served-model-1",
        "status": "completed",
        "error": None,
        "output": [reasoning, _item(asked)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": asked.get("tools") or [],
        "usage": usage,
        "x_vendor": _VENDOR,
    }


def _item(asked: Any) -> dict[str, Any]:
    if asked.get("tools"):
        call = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_order"}
        return {**call, "arguments": '{"number": 101}', "status": "completed"}
    given = asked.get("input")
    last = given if isinstance(given, str) else "your list"
    text = '{"city": "Bergen"}' if (asked.get("text") or {}).get("format") else f"You said: {last}"
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    head = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed"}
    return {**head, "content": [part]}


def _response_events(path: str, asked: Any) -> Iterator[bytes]:
    whole = _response(path, asked)
    for number, data in enumerate(_steps(whole)):
        yield event({**data, "sequence_number": number}, data["type"])


def _steps(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for place, item in enumerate(whole["output"]):
        yield from _item_steps(item, place)
    yield {"type": "response.completed", "response": whole}


def _item_steps(item: dict[str, Any], place: int) -> Iterator[dict[str, Any]]:
    at = {"item_id": item["id"], "output_index": place}
    empty: dict[str, dict[str, Any]] = {
        "message": {"content": []},
        "function_call": {"arguments": ""},
    }
    started = {**item, **empty.get(item["type"], {})}
    yield {"type": "response.output_item.added", "output_index": place, "item": started}
    if item["type"] == "function_call":
        for piece in ('{"number"', ": 10", "1}"):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        done = {"arguments": item["arguments"], "name": item["name"]}
        yield {"type": "response.function_call_arguments.done", **at, **done}
    elif item["type"] == "message":
        yield from _text_steps(item["content"][0], {**at, "content_index": 0})
    yield {"type": "response.output_item.done", "output_index": place, "item": item}


def _text_steps(part: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
    done = {"text": part["text"], "logprobs": []}
    yield {"type": "response.output_text.done", **at, **done}
    yield {"type": "response.content_part.done", **at, "part": part}


# -- embeddings -------------------------------------------------------------------------------


def _embeddings(_path: str, asked: Any) -> dict[str, Any]:
    given = asked["input"]
    texts = [given] if isinstance(given, str) else given
    data = [
        {"object": "embedding", "index": place, "embedding": _vector(text, asked)}
        for place, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 3, "total_tokens": 3}
    return {"object": "list", "model": "served-model-1", "data": data, "usage": usage}


def _vector(text: Any, asked: Any) -> Any:
    numbers = [float(len(text)), 0.5, -1e-7]
    if asked.get("encoding_format") != "base64":
        return numbers
    return base64.b64encode(struct.pack("<3f", *numbers)).decode()


# -- all of them ------------------------------------------------------------------------------


def _error(status: int) -> dict[str, Any]:
    kind = "requests" if status == 429 else "server_error"
    code = "rate_limit_exceeded" if status == 429 else None
    return {"error": {"message": f"No: {status}", "type": kind, "param": None, "code": code}}


def _event_error() -> bytes:
    return event(_error(503), "error")


def _no_events(path: str, _asked: Any) -> Iterator[bytes]:
    raise NotImplementedError(f"{path} has no stream")


def _speaker(ending: str, reply: Any, events: Any = _no_events) -> Speaker:
    return Speaker(
        knows=lambda path: path.endswith(ending),
        reply=reply,
        events=events,
        error=_error,
        event_error=_event_error,
        headers={"x-request-id": "req_1"},
    )


SPEAKERS = [
    _speaker("/chat/completions", _completion, _chunks),
    _speaker("/responses", _response, _response_events),
    _speaker("/embeddings", _embeddings),
]
