"""LangChain's messages in the neutral shape, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from workbench.adapters.frameworks.codec import Body
from workbench.errors import UnencodableError
from workbench.trace.values import encode

_ROLES: Final = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}
_USAGE: Final = (
    ("input_tokens", ("input_tokens",)),
    ("output_tokens", ("output_tokens",)),
    ("cache_read_tokens", ("input_token_details", "cache_read")),
    ("cache_write_tokens", ("input_token_details", "cache_creation")),
    ("reasoning_tokens", ("output_token_details", "reasoning")),
)
"""Each count of a trace, and where LangChain keeps it."""


def request_of(
    model: str | None, messages: Sequence[Any], stop: Any, options: dict[str, Any]
) -> Body:
    """What a model is asked, in the neutral shape."""
    said = {"model": model, "messages": [message_of(each) for each in messages]}
    return request_parts(said, stop, options)


def request_parts(said: Body, stop: Any, options: dict[str, Any]) -> Body:
    """A request with its tools and settings."""
    rest = {key: value for key, value in options.items() if key != "tools"}
    if options.get("tools"):
        said["tools"] = [tool_of(each) for each in options["tools"]]
    if stop:
        said["stop"] = list(stop)
    for key, value in rest.items():
        said.setdefault(key, readable(value))
    return said


def readable(value: Any) -> Any:
    """A setting as a trace keeps it; of an object that has no data, the type."""
    try:
        return encode(value, plain=True)
    except UnencodableError:
        return f"<{type(value).__qualname__}>"


def tool_of(offered: Any) -> Body:
    """A tool that is offered, in whichever shape its provider wants it."""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    try:
        function = convert_to_openai_tool(offered)["function"]
    except (ValueError, KeyError, TypeError):  # a provider's own, such as its web search
        return {"name": str(_named(offered)), "given": readable(offered)}
    return {
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": readable(function.get("parameters", {})),
    }


def _named(offered: Any) -> Any:
    if isinstance(offered, dict):
        return offered.get("name") or offered.get("type")
    return getattr(offered, "name", type(offered).__name__)


def offered_of(tool: Body) -> Any:
    """A neutral tool as most providers take it."""
    if "given" in tool:
        return tool["given"]
    return {"type": "function", "function": {key: tool[key] for key in tool}}


def message_of(message: Any) -> Body:
    """One message of a conversation."""
    said: Body = {"role": role_of(message), "content": readable(message.content)}
    calls = calls_of(message)
    if calls:
        said["tool_calls"] = calls
    for key in ("tool_call_id", "name"):
        if getattr(message, key, None):
            said[key] = getattr(message, key)
    return said | reasoning_of(message)


def role_of(message: Any) -> str:
    """The neutral role."""
    kind = str(message.type).removesuffix("MessageChunk").lower()
    return str(getattr(message, "role", None) or _ROLES.get(kind, kind))


def calls_of(message: Any) -> list[Body]:
    """The calls that a message makes; those whose arguments are no JSON have them as text."""
    made = [
        {"id": call.get("id"), "name": call["name"], "arguments": readable(call["args"])}
        for call in getattr(message, "tool_calls", None) or ()
    ]
    return made + [
        {"id": call.get("id"), "name": call.get("name") or "", "arguments": call.get("args") or ""}
        for call in getattr(message, "invalid_tool_calls", None) or ()
    ]


def reasoning_of(message: Any) -> Body:
    """What a message says of the model's reasoning, where it stands beside the content."""
    found = message.additional_kwargs.get("reasoning_content")
    return {"reasoning": found} if isinstance(found, str) and found else {}


def ended_of(message: Any, info: dict[str, Any] | None) -> Body:
    """How a reply ended, by which model, and what it cost."""
    known = {**message.response_metadata, **(info or {})}
    said: Body = {}
    for key, names in (
        ("finish_reason", ("finish_reason", "stop_reason", "done_reason", "stopReason")),
        ("model", ("model_name", "model")),
    ):
        found = next((known[name] for name in names if isinstance(known.get(name), str)), None)
        if found:
            said[key] = found
    usage = usage_of(getattr(message, "usage_metadata", None))
    return said | ({"usage": usage} if usage else {})


def usage_of(usage: Any) -> Body:
    """Token counts; only those that were told."""
    found: Body = {}
    for name, path in _USAGE:
        value = usage
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, int):
            found[name] = value
    return found


def usage_back(usage: Any) -> Any:
    """Token counts as LangChain keeps them."""
    if not isinstance(usage, dict) or "input_tokens" not in usage:
        return None
    output = usage.get("output_tokens") or 0
    made: Body = {
        "input_tokens": usage["input_tokens"],
        "output_tokens": output,
        "total_tokens": usage["input_tokens"] + output,
    }
    for name, path in _USAGE[2:]:
        if isinstance(usage.get(name), int):
            made.setdefault(path[0], {})[path[1]] = usage[name]
    return made


def message_back(said: Body) -> Any:
    """A neutral message as LangChain's."""
    from langchain_core.messages import (
        AIMessage,
        ChatMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
    )

    role, content = said.get("role"), said.get("content") or ""
    name = said.get("name")
    if role == "assistant":
        return AIMessage(content=content, name=name, **reply_parts(said))
    if role == "tool":
        return ToolMessage(content=content, name=name, tool_call_id=said.get("tool_call_id") or "")
    if role in ("user", "human"):
        return HumanMessage(content=content, name=name)
    if role == "system":
        return SystemMessage(content=content, name=name)
    return ChatMessage(content=content, role=str(role))


def reply_parts(said: Body) -> dict[str, Any]:
    """The calls and the reasoning of a reply, as an ``AIMessage`` is made of them."""
    made: dict[str, Any] = {"tool_calls": [], "invalid_tool_calls": []}
    for call in said.get("tool_calls") or ():
        known = {"name": call.get("name"), "args": call.get("arguments"), "id": call.get("id")}
        if isinstance(known["args"], dict):
            made["tool_calls"].append({**known, "type": "tool_call"})
        else:
            text = known["args"] if isinstance(known["args"], str) else json.dumps(known["args"])
            broken = {**known, "args": text, "error": None, "type": "invalid_tool_call"}
            made["invalid_tool_calls"].append(broken)
    if said.get("reasoning"):
        made["additional_kwargs"] = {"reasoning_content": said["reasoning"]}
    return made
