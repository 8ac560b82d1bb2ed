"""How a model's messages look in a trace, where no SDK's call is inside."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from workbench.adapters.frameworks.aligning import aligned
from workbench.adapters.frameworks.codec import Body, Codec
from workbench.adapters.smolagents.values import dump, load, shown
from workbench.errors import UnencodableError
from workbench.trace.values import encode

_ROLES: Final = {"tool-call": "assistant", "tool-response": "tool"}
_ROLES_BACK: Final = {"tool": "tool-response"}


@dataclass(frozen=True)
class Asked:
    """One call of a model."""

    messages: list[Any]
    options: dict[str, Any]


def request_of(model: Any, asked: Asked) -> Body:
    """What a model is asked, in the neutral shape."""
    options = dict(asked.options)
    tools = options.pop("tools_to_call_from", None)
    stop = options.pop("stop_sequences", None)
    said: Body = {
        "model": str(getattr(model, "model_id", None) or type(model).__name__),
        "messages": [_message(each) for each in asked.messages],
    }
    if tools:
        said["tools"] = [_tool(each) for each in tools]
    if stop:
        said["stop"] = list(stop)
    for key, value in {**getattr(model, "kwargs", {}), **options}.items():
        said.setdefault(key, _readable(value))
    return said


def _readable(value: Any) -> Any:
    try:
        return encode(shown(value), plain=True)
    except UnencodableError:
        return f"<{type(value).__qualname__}>"


def _tool(tool: Any) -> Body:
    from smolagents.models import get_tool_json_schema

    function = get_tool_json_schema(tool)["function"]
    return {key: _readable(function.get(key)) for key in ("name", "description", "parameters")}


def _message(message: Any) -> Body:
    data = message if isinstance(message, dict) else vars(message)
    role = str(getattr(data["role"], "value", data["role"]))
    said: Body = {"role": _ROLES.get(role, role), "content": _readable(data.get("content"))}
    if data.get("tool_calls"):
        said["tool_calls"] = [_call(each) for each in data["tool_calls"]]
    return said


def _call(call: Any) -> Body:
    function = call["function"] if isinstance(call, dict) else vars(call.function)
    call_id = call.get("id") if isinstance(call, dict) else call.id
    arguments = function["arguments"]
    if isinstance(arguments, str):
        with contextlib.suppress(ValueError):  # else it stays the text that it is
            arguments = json.loads(arguments)
    return {"id": call_id, "name": function["name"], "arguments": _readable(arguments)}


class ModelCodec(Codec):
    """smolagents' chat messages, and the pieces of their streams."""

    def dump(self, result: Any) -> Any:
        """A ``ChatMessage`` as JSON; its raw form only where a trace can hold that."""
        kept = {
            "role": str(getattr(result.role, "value", result.role)),
            "content": dump(result.content, "a model's message"),
            "tool_calls": _readable([asdict(each) for each in result.tool_calls or ()]),
            "no_calls": result.tool_calls is None,
            "usage": _counts(result.token_usage),
        }
        try:
            return kept if result.raw is None else {**kept, "raw": encode(result.raw)}
        except UnencodableError:
            return kept

    def load(self, native: Any) -> Any:
        """The message again."""
        from smolagents.models import ChatMessage, MessageRole

        calls = None if native["no_calls"] else [_call_back(each) for each in native["tool_calls"]]
        return ChatMessage(
            role=MessageRole(native["role"]),
            content=load(native["content"]),
            tool_calls=calls,
            raw=load(native.get("raw")),
            token_usage=_usage_back(native["usage"]),
        )

    def body(self, result: Any) -> Body:
        """What a message says."""
        said: Body = {"content": _readable(result.content)}
        if result.tool_calls:
            said["tool_calls"] = [_call(each) for each in result.tool_calls]
        usage = _counts(result.token_usage)
        return said | ({"usage": usage} if usage else {})

    def make(self, body: Body) -> Any:
        """A message that says this."""
        from smolagents.models import ChatMessage, MessageRole

        calls = [
            _call_back({"id": call.get("id"), "type": "function", "function": _function(call)})
            for call in body.get("tool_calls") or ()
        ]
        return ChatMessage(
            role=MessageRole.ASSISTANT,
            content=body.get("content"),
            tool_calls=calls or None,
            token_usage=_usage_back(body.get("usage")),
        )

    def apply(self, given: Asked, body: Body, was: Body) -> Asked:
        """The call with another request; messages that nobody changed stay the objects they are."""
        old = list(zip(was["messages"], given.messages, strict=True))
        messages = aligned(body["messages"], old, _message_back)
        options = dict(given.options)
        for key in (body.keys() | was.keys()) - {"messages", "model"}:
            if body.get(key) == was.get(key):
                continue
            if key == "tools":
                names = {each["name"] for each in body.get("tools") or ()}
                offered = given.options.get("tools_to_call_from") or ()
                options["tools_to_call_from"] = [t for t in offered if t.name in names]
            else:
                options["stop_sequences" if key == "stop" else key] = load(body.get(key))
        return replace(given, messages=messages, options=options)

    # -- streams --------------------------------------------------------------------------

    def dump_chunk(self, chunk: Any) -> Any:
        """A ``ChatMessageStreamDelta`` as JSON."""
        return {
            "content": chunk.content,
            "tool_calls": _readable([asdict(each) for each in chunk.tool_calls or ()]),
            "usage": _counts(chunk.token_usage),
        }

    def load_chunk(self, native: Any) -> Any:
        """The piece again."""
        return _delta(native["content"], native["tool_calls"], native["usage"])

    def chunk_body(self, chunk: Any) -> Body:
        """What a piece says; of several calls in one piece, the first."""
        said: Body = {"text": chunk.content} if chunk.content else {}
        for call in (chunk.tool_calls or ())[:1]:
            function = call.function
            named = {"index": call.index, "id": call.id, "name": function and function.name}
            said["tool_call"] = {key: value for key, value in named.items() if value is not None}
            said["tool_call"]["arguments"] = (function and function.arguments) or ""
        usage = _counts(chunk.token_usage)
        return said | ({"usage": usage} if usage else {})

    def maker(self) -> Callable[[Body], Iterable[Any]]:
        """Neutral chunks as smolagents' pieces."""
        return _made_chunks


def _made_chunks(said: Body) -> Iterator[Any]:
    call = said.get("tool_call")
    calls = []
    if isinstance(call, dict):
        function = {"name": call.get("name") or "", "arguments": call.get("arguments") or ""}
        calls = [{**call, "type": "function", "function": function}]
    yield _delta(said.get("text") or said.get("content"), calls, said.get("usage"))


def _delta(content: Any, calls: list[Any], usage: Any) -> Any:
    from smolagents.models import (
        ChatMessageStreamDelta,
        ChatMessageToolCallFunction,
        ChatMessageToolCallStreamDelta,
    )

    made = [
        ChatMessageToolCallStreamDelta(
            index=call.get("index"),
            id=call.get("id"),
            type=call.get("type"),
            function=call.get("function") and ChatMessageToolCallFunction(**call["function"]),
        )
        for call in calls
    ]
    return ChatMessageStreamDelta(
        content=content, tool_calls=made or None, token_usage=_usage_back(usage)
    )


def _function(call: Body) -> Body:
    return {"name": call.get("name"), "arguments": call.get("arguments")}


def _call_back(call: Body) -> Any:
    from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

    function = ChatMessageToolCallFunction(**load(call["function"]))
    return ChatMessageToolCall(function=function, id=call["id"], type=call["type"])


def _message_back(said: Body) -> Any:
    from smolagents.models import ChatMessage, MessageRole

    role = str(said.get("role"))
    calls = [
        _call_back({"id": call.get("id"), "type": "function", "function": _function(call)})
        for call in said.get("tool_calls") or ()
    ]
    return ChatMessage(
        role=MessageRole(_ROLES_BACK.get(role, role)),
        content=load(said.get("content")),
        tool_calls=calls or None,
    )


def _counts(usage: Any) -> Any:
    if usage is None:
        return None
    return {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}


def _usage_back(counts: Any) -> Any:
    from smolagents.monitoring import TokenUsage

    if not isinstance(counts, dict) or "input_tokens" not in counts:
        return None
    return TokenUsage(counts["input_tokens"], counts.get("output_tokens") or 0)
