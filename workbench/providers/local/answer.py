"""A chat request answered: whole or as chunks, as it came or with its tool calls made real."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from workbench.providers.local.api import Envelope, new_call_id
from workbench.providers.local.chat import ChatPlan
from workbench.providers.local.engine import MODEL_NAME
from workbench.providers.local.reply import Arguments, Name, Piece, ReplyReader

_USAGE = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details")


def whole(plan: ChatPlan, reply: dict[str, Any]) -> dict[str, Any]:
    """The body that answers a request which is not streamed."""
    if not plan.tools:
        return _public(reply)
    choice = reply["choices"][0]
    reader = ReplyReader(plan.stops)
    pieces = reader.feed(choice["message"].get("content") or "") + reader.end()
    name = next((piece.text for piece in pieces if isinstance(piece, Name)), None)
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    text = "".join(piece.text for piece in pieces if not isinstance(piece, Name))
    if name is None:
        message["content"] = text
    else:
        function = {"name": name, "arguments": text}
        message["tool_calls"] = [{"id": new_call_id(), "type": "function", "function": function}]
    finish = _finish(choice["finish_reason"], called=name is not None)
    return Envelope().completion(message, finish, _usage(reply))


def streamed(plan: ChatPlan, chunks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The chunks that answer a streamed request, each as soon as it is known."""
    if plan.tools:
        yield from _translated(plan, chunks)
        return
    for chunk in chunks:
        if chunk["choices"] or plan.include_usage:
            yield _public(chunk)


def _translated(plan: ChatPlan, chunks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    envelope, reader = Envelope(), ReplyReader(plan.stops)
    called, finish, usage = False, "stop", None
    yield envelope.chunk({"role": "assistant", "content": None})
    for chunk in chunks:
        if chunk.get("usage"):
            usage = _usage(chunk)
        for choice in chunk["choices"]:
            finish = choice.get("finish_reason") or finish
            for piece in reader.feed(choice["delta"].get("content") or ""):
                called = called or isinstance(piece, Name)
                yield envelope.chunk(_delta(piece))
    for piece in reader.end():
        yield envelope.chunk(_delta(piece))
    yield envelope.chunk({}, _finish(finish, called=called))
    if plan.include_usage and usage is not None:
        yield envelope.usage_chunk(usage)


def _delta(piece: Piece) -> dict[str, Any]:
    if isinstance(piece, Name):
        function = {"name": piece.text, "arguments": ""}
        call = {"index": 0, "id": new_call_id(), "type": "function", "function": function}
        return {"tool_calls": [call]}
    if isinstance(piece, Arguments):
        return {"tool_calls": [{"index": 0, "function": {"arguments": piece.text}}]}
    return {"content": piece.text}


def _finish(upstream: str, *, called: bool) -> str:
    return "tool_calls" if called and upstream != "length" else upstream


def _usage(reply: dict[str, Any]) -> dict[str, Any]:
    usage = reply.get("usage") or {}
    return {key: usage[key] for key in _USAGE if key in usage}


def _public(reply: dict[str, Any]) -> dict[str, Any]:
    """A reply of llama.cpp without the model's path and without its own timings."""
    rest = {key: value for key, value in reply.items() if key != "timings"}
    return {**rest, "model": MODEL_NAME}
