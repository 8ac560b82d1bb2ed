"""Requests and replies in the neutral shape, and in that of OpenAI's chat completions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from workbench.seam.agentio.errors import BadReplyError
from workbench.seam.agentio.model import Body
from workbench.trace.payloads.base import TOKEN_COUNTS, Usage
from workbench.trace.payloads.openai_chat import OpenAIChatView

_VIEW = OpenAIChatView()


def to_openai(request: Body) -> dict[str, Any]:
    """A neutral request as arguments of the SDK's ``create``."""
    known = {"model", "messages", "tools", "tool_choice", "stream"}
    body: dict[str, Any] = {
        "model": request.get("model"),
        "messages": [_message(each) for each in request.get("messages") or ()],
    }
    if request.get("tools"):
        body["tools"] = [{"type": "function", "function": each} for each in request["tools"]]
    choice = request.get("tool_choice")
    if isinstance(choice, Mapping) and "name" in choice:
        choice = {"type": "function", "function": {"name": choice["name"]}}
    if choice is not None:
        body["tool_choice"] = choice
    rest = {name: value for name, value in request.items() if name not in known}
    if request.get("stream"):
        body["stream"] = True
        rest.setdefault("stream_options", {"include_usage": True})
    if rest:
        body["extra_body"] = rest  # whatever it is, the SDK's own signature does not limit it
    return body


def _message(message: Any) -> Any:
    calls = message.get("tool_calls") if isinstance(message, Mapping) else None
    if not calls:
        return message
    return {**message, "tool_calls": [_call(each) for each in calls]}


def _call(call: Any) -> Any:
    if not isinstance(call, Mapping) or "function" in call:
        return call
    arguments = call.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    function = {"name": call.get("name"), "arguments": text}
    return {"id": call.get("id"), "type": "function", "function": function}


def from_openai(body: Any) -> Body:
    """A completion as a neutral reply. What that shape has no place for is kept in ``extra``.

    Raises:
        BadReplyError: it is no completion.
    """
    if not isinstance(body, dict) or not body.get("choices"):
        raise BadReplyError("the answer holds no completion", body=body)
    reply, usage = _VIEW.reply(body), _VIEW.usage(body)
    made: Body = {"content": reply.text if reply.text or not reply.tool_calls else None}
    if reply.tool_calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "name": call.name,
                "arguments": call.raw if call.error else call.arguments,
            }
            for call in reply.tool_calls
        ]
    optional = {
        "reasoning": reply.reasoning,
        "refusal": reply.refusal,
        "finish_reason": reply.finish_reason,
        "model": _VIEW.model(body),
        "id": body.get("id"),
        "usage": usage and _counts(usage),
        "extra": _extra(body),
    }
    return made | {name: value for name, value in optional.items() if value}


def _extra(body: dict[str, Any]) -> dict[str, Any]:
    known = {"id", "model", "choices", "object", "usage"}
    extra = {name: value for name, value in body.items() if name not in known and value is not None}
    choice = body["choices"][0]
    if isinstance(choice, dict) and choice.get("logprobs"):
        extra["logprobs"] = choice["logprobs"]
    if len(body["choices"]) > 1:
        extra["choices"] = body["choices"][1:]
    return extra


def from_chunk(chunk: Body) -> Iterator[Body]:
    """A piece of a streamed completion as neutral pieces: none, one or several."""
    choices = chunk.get("choices") or [{}]
    delta = choices[0].get("delta") or {}
    reasoning = delta.get("reasoning_content") or delta.get("reasoning")
    if isinstance(reasoning, str) and reasoning:
        yield {"reasoning": reasoning}
    if delta.get("content"):
        yield {"text": delta["content"]}
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        piece = {"index": call.get("index"), "id": call.get("id"), **function}
        yield {"tool_call": {name: value for name, value in piece.items() if value is not None}}
    ending: Body = {}
    if delta.get("refusal"):
        ending["refusal"] = delta["refusal"]
    if choices[0].get("finish_reason"):
        ending["finish_reason"] = choices[0]["finish_reason"]
    usage = _VIEW.usage(chunk)
    if usage is not None:
        ending["usage"] = _counts(usage)
    if ending:
        head = {name: chunk[name] for name in ("id", "model") if chunk.get(name)}
        yield {**ending, **head}


def embedding_request(request: Body) -> dict[str, Any]:
    """A neutral request for embeddings as arguments of the SDK's ``create``."""
    rest = {name: value for name, value in request.items() if name not in ("model", "input")}
    asked = {"model": request.get("model"), "input": request["input"], "encoding_format": "float"}
    return {**asked, "extra_body": rest} if rest else asked


def from_embeddings(answer: Any) -> Body:
    """The SDK's embeddings in the neutral shape, in the order of the texts."""
    vectors = sorted(answer.data, key=lambda each: each.index or 0)
    body: Body = {"embeddings": [each.embedding for each in vectors], "model": answer.model}
    usage = getattr(answer, "usage", None)
    if usage is not None:
        body["usage"] = {"input_tokens": usage.prompt_tokens}
    return body


def _counts(usage: Usage) -> dict[str, int]:
    """The counts that the provider gave, by name."""
    return {name: n for name in TOKEN_COUNTS if (n := getattr(usage, name)) is not None}
