"""Anthropic's messages, and the count of their tokens, as the loopback server gives them."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from speaking import Speaker, event, pieces

from workbench.adapters.http.frames import write_frame

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def message(_path: str, asked: Any) -> dict[str, Any]:
    """Thinking, a text, and a tool call where tools are offered."""
    blocks: list[dict[str, Any]] = [
        {"type": "thinking", "thinking": "They greet me; é.", "signature": "c2lnbmF0dXJl+/=="},
        {"type": "text", "text": said(asked)},
    ]
    if asked.get("tools"):
        name = asked["tools"][0].get("name", "get_order")
        call = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {"number": 101}}
        blocks.append(call)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "served-model-1",
        "content": blocks,
        "stop_reason": "tool_use" if asked.get("tools") else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 12,
            "output_tokens": 5,
            "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": 3,
            "service_tier": "standard",
        },
        "x_vendor": {"note": "é\u2028 \ud83d", "cost": 1e-7, "big": 12345678901234567890123},
    }


def said(asked: Any) -> str:
    """The text that answers a request: valid JSON where a schema was asked for."""
    if asked.get("output_config", {}).get("format") or asked.get("output_format"):
        return '{"city": "Bergen"}'
    last = asked["messages"][-1]["content"]
    return f"You said: {last}" if isinstance(last, str) else "The tool has answered."


def _events(path: str, asked: Any) -> Iterator[bytes]:
    whole = message(path, asked)
    usage = {**whole["usage"], "output_tokens": 1}
    begun = {**whole, "content": [], "stop_reason": None, "usage": usage}
    yield _event({"type": "message_start", "message": begun})
    yield _event({"type": "ping"})
    for index, block in enumerate(whole["content"]):
        yield _event(
            {"type": "content_block_start", "index": index, "content_block": _empty(block)}
        )
        for delta in _deltas(block):
            yield _event({"type": "content_block_delta", "index": index, "delta": delta})
        yield _event({"type": "content_block_stop", "index": index})
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": end, "usage": {"output_tokens": 5}})
    yield _event({"type": "message_stop"})


def _event(data: dict[str, Any]) -> bytes:
    return event(data, data["type"])


def _empty(block: dict[str, Any]) -> dict[str, Any]:
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}


def _deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "thinking":
        for piece in pieces(block["thinking"], 10):
            yield {"type": "thinking_delta", "thinking": piece}
        yield {"type": "signature_delta", "signature": block["signature"]}
    elif block["type"] == "text":
        for piece in pieces(block["text"]):
            yield {"type": "text_delta", "text": piece}
    else:
        for piece in ("", '{"number"', ": 10", "1}"):
            yield {"type": "input_json_delta", "partial_json": piece}


def _error(status: int) -> dict[str, Any]:
    told = {"type": _TYPES.get(status, "api_error"), "message": f"No: {status}"}
    return {"type": "error", "error": told, "request_id": "req_1"}


def _frames(path: str, asked: Any) -> Iterator[bytes]:
    """The same events as AWS sends them."""
    for each in _events(path, asked):
        yield write_frame(each.decode().partition("data: ")[2].strip())


def _of_bedrock(path: str, _asked: Any) -> str:
    return unquote(path.rpartition("/")[0].rpartition("/")[2])


def _of_vertex(path: str, _asked: Any) -> str:
    return path.rpartition("/")[2].partition(":")[0]


SPEAKERS = [
    Speaker(
        knows=lambda path: path.endswith("/v1/messages/count_tokens"),
        reply=lambda _path, _asked: {"input_tokens": 12},
        events=_events,
        error=_error,
        event_error=lambda: _event(_error(529)),
        event_bad=b'event: content_block_delta\ndata: {"type": \n\n',
        headers={"request-id": "req_1"},
    ),
    Speaker(
        knows=lambda path: path.endswith((":rawPredict", ":streamRawPredict")),
        reply=message,
        events=_events,
        error=_error,
        event_error=lambda: _event(_error(529)),
        model=_of_vertex,
        headers={"request-id": "req_1"},
    ),
    Speaker(
        knows=lambda path: path.endswith(("/invoke", "/invoke-with-response-stream")),
        reply=message,
        events=_frames,
        error=_error,
        event_error=lambda: write_frame(_error(529), "error"),
        event_bad=write_frame('{"type": '),
        model=_of_bedrock,
        streams=lambda path, _asked: path.endswith("stream"),
        comment=b"",
        stream_type="application/vnd.amazon.eventstream",
        headers={"request-id": "req_1"},
    ),
    Speaker(
        knows=lambda path: path.endswith("/v1/messages"),
        reply=message,
        events=_events,
        error=_error,
        event_error=lambda: _event(_error(529)),
        event_bad=b'event: content_block_delta\ndata: {"type": \n\n',
        headers={"request-id": "req_1"},
    ),
]
