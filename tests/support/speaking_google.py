"""Google's generateContent, embeddings and counts of tokens, as the loopback server gives them."""

import re
from collections.abc import Iterator
from typing import Any

from speaking import Speaker, event, pieces

_VERB = re.compile(r"/models/(?P<model>[^/:]+):(?P<verb>[A-Za-z]+)$")
_VENDOR = {"note": "é\u2028", "cost": 1e-7, "big": 12345678901234567890123}


def _usage(said: int) -> dict[str, Any]:
    counts = {"promptTokenCount": 12, "cachedContentTokenCount": 4, "thoughtsTokenCount": 2}
    total = 14 + said
    return {**counts, "candidatesTokenCount": said, "totalTokenCount": total}


def _parts(asked: Any) -> list[dict[str, Any]]:
    """A thought, then a text, or two calls of one tool when tools are offered."""
    thought = {"text": "They greet me.", "thought": True}
    if asked.get("tools") and not _answered(asked):
        call = {"name": "get_order", "args": {"number": 101}}
        signed = {"functionCall": {**call, "id": "fc-1"}, "thoughtSignature": "c2/+nA=="}
        return [thought, signed, {"functionCall": {**call, "args": {"number": 7}}}]
    if (asked.get("generationConfig") or {}).get("responseMimeType") == "application/json":
        return [thought, {"text": '{"city": "Bergen"}'}]
    last = asked["contents"][-1]["parts"][-1]
    return [thought, {"text": f"You said: {last.get('text', 'nothing')}"}]


def _answered(asked: Any) -> bool:
    return any("functionResponse" in part for part in asked["contents"][-1]["parts"])


def _body(parts: list[dict[str, Any]], said: int, **candidate: Any) -> dict[str, Any]:
    found = {"content": {"parts": parts, "role": "model"}, **candidate, "index": 0}
    head = {"modelVersion": "served-model-1", "responseId": "r-1", "xVendor": _VENDOR}
    return {"candidates": [found], "usageMetadata": _usage(said), **head}


def _reply(path: str, asked: Any) -> dict[str, Any]:
    verb = _verb(path)
    if verb == "countTokens":
        return {"totalTokens": 31, "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 31}]}
    if verb == "batchEmbedContents":
        texts = [each["content"]["parts"][0]["text"] for each in asked["requests"]]
        return {"embeddings": [{"values": [float(len(text)), 0.5, -1e-7]} for text in texts]}
    return _body(_parts(asked), 5, finishReason="STOP", avgLogprobs=-0.25)


def _events(_path: str, asked: Any) -> Iterator[bytes]:
    parts = _parts(asked)
    cut = [p for part in parts for p in _pieces(part)]
    for number, part in enumerate(cut, 1):
        ends = {"finishReason": "STOP"} if number == len(cut) else {}
        yield event(_body([part], number, **ends))


def _pieces(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "text" not in part:
        yield part
        return
    for piece in pieces(part["text"]):
        yield {**part, "text": piece}


def _error(status: int) -> dict[str, Any]:
    names = {400: "INVALID_ARGUMENT", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}
    told = {"code": status, "message": f"No: {status}", "status": names.get(status, "INTERNAL")}
    return {"error": told}


def _verb(path: str) -> str:
    found = _VERB.search(path)
    return found["verb"] if found else ""


def _model(path: str, _body: Any) -> str:
    found = _VERB.search(path)
    return found["model"] if found else ""


SPEAKERS = [
    Speaker(
        knows=lambda path: _VERB.search(path) is not None,
        reply=_reply,
        events=_events,
        error=_error,
        event_error=lambda: event(_error(503)),
        comment=b"",
        model=_model,
        streams=lambda path, _body: _verb(path) == "streamGenerateContent",
        headers={"x-request-id": "req_1"},
    )
]
