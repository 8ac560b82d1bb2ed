"""A conversation in OpenAI's shape, written as the plain text turns that SmolLM2 understands."""

from __future__ import annotations

import json
from typing import Any

from workbench.providers.local.api import bad_request

_ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "user",
    "function": "user",
}

_TOOLS_INTRO = (
    "You can use tools. Reply with one JSON object and nothing else.\n"
    'To use a tool: {"tool": "name", "arguments": {...}}'
)
_ANSWER_INTRO = 'When you have all that you need: {"answer": "your reply to the user"}'


def plain_messages(messages: Any) -> list[dict[str, str]]:
    """Each message as a role that the model knows and a text.

    Raises:
        ApiError: not a list of messages, an unknown role, or content that is not text.
    """
    if not isinstance(messages, list) or not messages:
        raise bad_request("'messages' must be a list with at least one message.", "messages")
    names: dict[str, str] = {}
    result: list[dict[str, str]] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if not isinstance(message, dict) or message.get("role") not in _ROLES:
            raise bad_request(
                f"{where} must be an object whose role is one of {', '.join(_ROLES)}.", where
            )
        result.append({"role": _ROLES[message["role"]], "content": _text(message, where, names)})
    return result


def with_tools(
    messages: list[dict[str, str]], tools: list[dict[str, Any]], *, may_answer: bool
) -> list[dict[str, str]]:
    """The messages with the tools described at the end of the first system message."""
    lines = [_TOOLS_INTRO, *([_ANSWER_INTRO] if may_answer else []), "Tools:"]
    lines += [_describe(tool) for tool in tools]
    text = "\n".join(lines)
    if messages[0]["role"] != "system":
        return [{"role": "system", "content": text}, *messages]
    first = {"role": "system", "content": f"{messages[0]['content']}\n\n{text}"}
    return [first, *messages[1:]]


def _describe(tool: dict[str, Any]) -> str:
    parameters = tool.get("parameters") or {}
    properties = parameters.get("properties") or {}
    arguments = ", ".join(f"{name}: {_kind(schema)}" for name, schema in properties.items())
    description = f": {tool['description']}" if tool.get("description") else ""
    return f"- {tool['name']}({arguments}){description}"


def _kind(schema: Any) -> str:
    if not isinstance(schema, dict):
        return "any"
    if isinstance(schema.get("enum"), list):
        return " or ".join(json.dumps(value) for value in schema["enum"])
    kind = schema.get("type", "any")
    text = " or ".join(map(str, kind)) if isinstance(kind, list) else str(kind)
    return f"{text} ({schema['description']})" if schema.get("description") else text


def _text(message: dict[str, Any], where: str, names: dict[str, str]) -> str:
    """The message's text; ``names`` gathers which tool each call id belongs to."""
    text = _content(message.get("content"), where)
    role = message["role"]
    if role == "assistant":
        calls = [_call(call, where, names) for call in message.get("tool_calls") or []]
        return "\n".join([text, *calls] if text else calls)
    if role in {"tool", "function"}:
        name = message.get("name") or names.get(str(message.get("tool_call_id")), "the tool")
        return f"Result of {name}: {text}"
    return text


def _content(content: Any, where: str) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        raise bad_request(f"{where}.content must be text or a list of text parts.", where)
    pieces = []
    for part in content:
        text = None
        if isinstance(part, dict):
            text = {"text": part.get("text"), "refusal": part.get("refusal")}.get(
                str(part.get("type"))
            )
        if not isinstance(text, str):
            raise bad_request(
                f"{where}.content has a part that is not text; this model reads text only.", where
            )
        pieces.append(text)
    return "".join(pieces)


def _call(call: Any, where: str, names: dict[str, str]) -> str:
    """A call of the history, written as the model itself is asked to write one."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise bad_request(f"{where}.tool_calls must be function calls, each with a name.", where)
    name = function["name"]
    names[str(call.get("id"))] = name
    arguments = function.get("arguments") or "{}"
    if not isinstance(arguments, str):
        raise bad_request(f"{where}: the arguments of {name} must be JSON in a string.", where)
    return f'{{"tool": {json.dumps(name)}, "arguments": {arguments}}}'
