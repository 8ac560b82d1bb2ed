"""An answer in one provider's shape, said again in another's.

So an agent that uses an SDK replays what a person wrote in the neutral shape, and the other way
round: text, tool calls, finish reason, usage and model come over, through the payload views.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbench.errors import DriftError
from workbench.trace.byhand.replies import WRITERS, Said, begun_stream
from workbench.trace.payloads import JSON, view
from workbench.trace.payloads.calls import derived_id
from workbench.trace.payloads.deltas import pieces
from workbench.trace.payloads.embeddings import (
    google_body,
    google_inputs,
    google_size,
    google_vectors,
)

NEUTRAL, NEUTRAL_VECTORS = "workbench", "workbench.embeddings"
CHAT, VECTORS = "openai.chat", "openai.embeddings"
GOOGLE_VECTORS = "google.embed_content"

_MOST_DIMENSIONS = 100_000
OF_VECTORS = (NEUTRAL_VECTORS, VECTORS, GOOGLE_VECTORS)
"""The shapes of embeddings."""
_OPENAI_FINISH = {
    "stop": "stop", "end_turn": "stop", "stop_sequence": "stop", "STOP": "stop",
    "length": "length", "max_tokens": "length", "MAX_TOKENS": "length",
    "max_output_tokens": "length", "model_context_window_exceeded": "length",
    "tool_calls": "tool_calls", "tool_use": "tool_calls", "function_call": "function_call",
    "content_filter": "content_filter", "refusal": "content_filter", "SAFETY": "content_filter",
}  # fmt: skip


def as_api(body: JSON, from_api: str, to_api: str, request_body: JSON = None) -> JSON:
    """A response body of one api as the body that another one would have given.

    Args:
        body: a response body; it is not changed.
        from_api: its shape.
        to_api: the shape that is wanted.
        request_body: what the call asked, for the model and the number of inputs.

    Raises:
        DriftError: it holds no answer to such a call: vectors for a conversation, the other way
            round, or another number of vectors than there were inputs.
        UnknownApiError: one of the shapes has no payload view.
    """
    if to_api in OF_VECTORS or from_api in OF_VECTORS:
        return _vectors(body, from_api, to_api, request_body)
    if from_api == to_api:
        return body
    shape = view(from_api)
    said = Said(shape.reply(body), shape.usage(body), shape.model(body), body)
    if said.model is None and isinstance(request_body, dict):
        said.model = view(to_api).model(request_body)
    write = _WRITERS.get(to_api)
    return _write_through_view(said, to_api) if write is None else write(said)


def chunks_as_api(
    chunks: Sequence[JSON], from_api: str, to_api: str, request_body: JSON = None
) -> list[JSON]:
    """The beginning of a stream that broke off, in another api's chunks: only its text.

    Neutral pieces stay as they are cut, so that three words are three chunks of text. Raises as
    :func:`as_api`.
    """
    if from_api == to_api:
        return list(chunks)
    body = view(from_api).assemble(chunks)
    if from_api == NEUTRAL and to_api == CHAT:
        head = _chunk_head(as_api(body, from_api, to_api, request_body))
        texts = [each["text"] for each in chunks if isinstance(each, dict) and "text" in each]
        deltas = [{"role": "assistant", "content": ""}, *({"content": text} for text in texts)]
        return [
            {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
            for delta in deltas
        ]
    made = as_api(body, from_api, to_api, request_body)
    if to_api in WRITERS:
        said = view(to_api).reply(made).text
        cut = [each["text"] for each in chunks if isinstance(each, dict) and "text" in each]
        return begun_stream(to_api, made, cut if from_api == NEUTRAL else pieces(said))
    return view(to_api).split(made)[:-1]


def _chunk_head(body: dict[str, Any]) -> dict[str, Any]:
    kept = {key: body[key] for key in ("id", "created", "model")}
    return {**kept, "object": "chat.completion.chunk"}


def _write_neutral(said: Said) -> dict[str, Any]:
    reply = said.reply
    calls = [
        {"id": c.id, "name": c.name, "arguments": c.raw if c.error else c.arguments}
        for c in said.calls
    ]
    text: str | None = reply.text
    if not text and (calls or reply.refusal is not None):
        text = None
    body: dict[str, Any] = {"content": text}
    optional = {
        "tool_calls": calls or None,
        "reasoning": reply.reasoning or None,
        "refusal": reply.refusal,
        "finish_reason": reply.finish_reason,
        "model": said.model,
        "usage": said.counts or None,
    }
    return body | {key: value for key, value in optional.items() if value is not None}


def _write_chat(said: Said) -> dict[str, Any]:
    reply, calls = said.reply, said.calls
    text: str | None = reply.text
    if not text and (calls or reply.refusal is not None):
        text = None
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": reply.refusal}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if calls:
        message["tool_calls"] = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.raw}}
            for c in calls
        ]
    finish = _OPENAI_FINISH.get(reply.finish_reason or "")
    if finish is None:
        finish = "tool_calls" if calls else "stop"
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return {
        "id": derived_id("chatcmpl_wb_", said.seed),
        "object": "chat.completion",
        "created": 0,
        "model": said.model,
        "choices": [choice],
        "usage": _openai_usage(said.counts),
    }


def _write_through_view(said: Said, api: str) -> JSON:
    shape = view(api)
    return shape.with_reply(shape.assemble([]), text=said.reply.text, tool_calls=said.calls)


_WRITERS: dict[str, Callable[[Said], JSON]] = {
    NEUTRAL: _write_neutral,
    CHAT: _write_chat,
    **WRITERS,
}


def _openai_usage(counts: dict[str, int]) -> dict[str, Any] | None:
    if not counts:
        return None
    asked, said = counts.get("input_tokens", 0), counts.get("output_tokens", 0)
    found: dict[str, Any] = {
        "prompt_tokens": asked,
        "completion_tokens": said,
        "total_tokens": asked + said,
    }
    if "cache_read_tokens" in counts:
        found["prompt_tokens_details"] = {"cached_tokens": counts["cache_read_tokens"]}
    if "reasoning_tokens" in counts:
        found["completion_tokens_details"] = {"reasoning_tokens": counts["reasoning_tokens"]}
    return found


def _vectors(body: JSON, from_api: str, to_api: str, request_body: JSON) -> JSON:
    source: dict[str, Any] = body if isinstance(body, dict) else {}
    if to_api not in OF_VECTORS:
        raise DriftError(
            "the call asks for a reply, and the recorded entry holds embeddings only: give the "
            "step an entry with content"
        )
    vectors = source.get("embeddings")
    if from_api == VECTORS:
        data = [each for each in source.get("data") or () if isinstance(each, dict)]
        vectors = [each.get("embedding") for each in data]
    elif from_api == GOOGLE_VECTORS:
        vectors = google_vectors(source)
    if not isinstance(vectors, list):
        raise DriftError(
            "the call asks for embeddings, and the recorded entry has none: give it the field "
            "embeddings, a list with a vector for each input"
        )
    _check_inputs(vectors, request_body)
    if from_api == to_api:
        return body
    if to_api == GOOGLE_VECTORS:
        return google_body(vectors, request_body)
    model = source.get("model") or (request_body or {}).get("model")
    usage: dict[str, Any] = source.get("usage") or {}
    if to_api == NEUTRAL_VECTORS:
        counts = {"input_tokens": usage["prompt_tokens"]} if "prompt_tokens" in usage else {}
        return {"embeddings": vectors, "model": model, **({"usage": counts} if counts else {})}
    asked = usage.get("input_tokens") or 0
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": index, "embedding": vector}
            for index, vector in enumerate(vectors)
        ],
        "model": model,
        "usage": {"prompt_tokens": asked, "total_tokens": asked},
    }


def placeholder_vectors(api: str, request_body: JSON) -> JSON:
    """A body with a vector of zeros for each input, as long as was asked for."""
    asked: dict[str, Any] = request_body if isinstance(request_body, dict) else {}
    size = asked.get("dimensions") or google_size(asked)
    vector = [0.0] * (size if isinstance(size, int) and 0 < size <= _MOST_DIMENSIONS else 1)
    body = {"embeddings": [vector] * (_inputs(asked) or 0), "model": asked.get("model")}
    return as_api(body, NEUTRAL_VECTORS, api, asked)


def _check_inputs(vectors: list[Any], request_body: JSON) -> None:
    inputs = _inputs(request_body)
    if inputs is not None and inputs != len(vectors):
        raise DriftError(
            f"the call embeds {inputs} input{'' if inputs == 1 else 's'}, and the recorded entry "
            f"holds {len(vectors)} vector{'' if len(vectors) == 1 else 's'}"
        )


def _inputs(request_body: JSON) -> int | None:
    asked = request_body.get("input") if isinstance(request_body, dict) else None
    if isinstance(asked, str):
        return 1
    if not isinstance(asked, list):
        return google_inputs(request_body)
    # A list of numbers is one input that is tokens already.
    return 1 if asked and not isinstance(asked[0], str | list) else len(asked)
