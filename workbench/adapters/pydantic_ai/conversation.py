"""Conversations of pydantic-ai in the neutral shape, and back where a request was edited."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from workbench.adapters.frameworks.aligning import aligned
from workbench.adapters.frameworks.codec import Body
from workbench.adapters.pydantic_ai.library import instructions_of, with_instructions
from workbench.adapters.pydantic_ai.results import content_json
from workbench.errors import UsageError
from workbench.trace.payloads.reading import parse_arguments
from workbench.trace.values import encode


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is asked: the arguments of ``Model.request``, by name."""

    messages: list[Any]
    settings: Any
    parameters: Any
    more: tuple[Any, ...] = ()
    """What else ``request_stream`` is given."""

    @property
    def arguments(self) -> tuple[Any, ...]:
        """As the method takes them."""
        return self.messages, self.settings, self.parameters, *self.more


def request_body(model_name: str, asked: Asked) -> Body:
    """A request in the neutral shape."""
    body: Body = {"model": model_name, "messages": [said for said, _ in _said(asked)]}
    tools = [
        *getattr(asked.parameters, "function_tools", ()),
        *getattr(asked.parameters, "output_tools", ()),
    ]
    if tools:
        body["tools"] = [
            {
                "name": tool.name,
                "description": tool.description or "",
                "parameters": tool.parameters_json_schema,
            }
            for tool in tools
        ]
    wanted = getattr(asked.parameters, "output_object", None)
    if wanted is not None:
        body["response_schema"] = wanted.json_schema
    settings = {name: value for name, value in (asked.settings or {}).items() if value is not None}
    plain: Body = encode({**settings, **body}, plain=True)
    return plain


def edited(asked: Asked, body: Body, was: Body) -> Asked:
    """What is asked with another request; parts that no edit touched are the same objects.

    Raises:
        UsageError: the edit changes what a request of this library cannot carry.
    """
    _check(body, was)
    sources: list[tuple[Body, Any]] = _said(asked)
    system, messages = _system_first(asked, body["messages"])
    made = _rebuilt(messages, sources)
    settings = {name: body[name] for name in body if name not in _NO_SETTING}
    parameters = with_instructions(made, asked.parameters, system)
    kept = {k: v for k, v in (asked.settings or {}).items() if k in settings or v is None}
    new = {k: v for k, v in settings.items() if was.get(k) != v or k not in kept}
    return replace(asked, messages=made, settings={**kept, **new} or None, parameters=parameters)


_NO_SETTING = frozenset({"model", "messages", "tools", "response_schema", "stream"})


def _check(body: Body, was: Body) -> None:
    for name in ("model", "tools", "response_schema"):
        if body.get(name) != was.get(name):
            raise UsageError(
                f"an edit changes '{name}' of a request that pydantic-ai makes with a model "
                "object: of such a request its messages, its system prompt and its settings can "
                "be edited. Change the agent for the rest"
            )


def _system_first(asked: Asked, messages: list[Any]) -> tuple[str | None, list[Any]]:
    """The instructions, which stand first where there are any, and the other messages."""
    has = instructions_of(asked.messages, asked.parameters) is not None
    if has and messages and messages[0].get("role") == "system":
        return str(messages[0].get("content") or ""), messages[1:]
    return None, messages


def _said(asked: Asked) -> list[tuple[Body, Any]]:
    """Each neutral message with the part, or the response, that it stands for."""
    found: list[tuple[Body, Any]] = []
    instructions = instructions_of(asked.messages, asked.parameters)
    if instructions is not None:
        found.append(({"role": "system", "content": instructions}, None))
    for message in asked.messages:
        if isinstance(message, ModelResponse):
            found.append((assistant(message), message))
        else:
            found += ((_part(part), part) for part in message.parts)
    return found


def assistant(response: Any) -> Body:
    """A response as a message."""
    body = reply(response)
    return {"role": "assistant"} | {
        name: body[name] for name in ("content", "tool_calls", "reasoning") if name in body
    }


def reply(response: Any) -> Body:
    """What a response says."""
    parts = response.parts
    texts = [part.content for part in parts if isinstance(part, TextPart)]
    body: Body = {"content": "".join(texts) if texts else None}
    calls = [part for part in parts if isinstance(part, ToolCallPart)]
    if calls:
        body["tool_calls"] = [
            {"id": part.tool_call_id, "name": part.tool_name, "arguments": arguments(part.args)}
            for part in calls
        ]
    thoughts = [part.content for part in parts if isinstance(part, ThinkingPart) and part.content]
    if thoughts:
        body["reasoning"] = "".join(thoughts)
    return body


def arguments(given: Any) -> Any:
    """A call's arguments: as data where they are JSON, else their text."""
    if isinstance(given, str):
        value, error = parse_arguments(given)
        return given if error else value
    return {} if given is None else given


def _part(part: Any) -> Body:
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": _content(part.content)}
    if isinstance(part, ToolReturnPart):
        return {
            "role": "tool",
            "tool_call_id": part.tool_call_id,
            "name": part.tool_name,
            "content": part.model_response_str(),
        }
    text = part.model_response() if hasattr(part, "model_response") else _plain(part)
    name = getattr(part, "tool_name", None)
    if name is None:
        return {"role": "user", "content": text}
    return {"role": "tool", "tool_call_id": part.tool_call_id, "name": name, "content": text}


def _content(content: Any) -> Any:
    if isinstance(content, str):
        return content
    return [_item(item) for item in content]


def _item(item: Any) -> Body:
    if isinstance(item, str):
        return {"type": "text", "text": item}
    text = getattr(item, "content", None)
    if isinstance(text, str):
        return {"type": "text", "text": text}
    known = content_json(item)
    whole = encode(item, plain=True) if known is None else known
    return {"type": str(getattr(item, "kind", type(item).__name__)), "item": whole}


def _plain(part: Any) -> str:
    return json.dumps(encode(part, plain=True), ensure_ascii=False)


def _rebuilt(messages: list[Any], sources: list[tuple[Body, Any]]) -> list[Any]:
    made: list[Any] = []
    for source in aligned(messages, sources, _new):
        if isinstance(source, ModelResponse):
            made.append(source)
        elif made and isinstance(made[-1], ModelRequest):
            made[-1] = replace(made[-1], parts=[*made[-1].parts, source])
        else:
            made.append(ModelRequest(parts=[source]))
    return made


def _new(message: Body) -> Any:
    role, content = message.get("role"), message.get("content")
    if role == "assistant":
        return response_of(message)
    text = content if isinstance(content, str) else _texts(content)
    if role == "system":
        return SystemPromptPart(text)
    if role == "tool":
        call_id = str(message.get("tool_call_id") or "")
        return ToolReturnPart(str(message.get("name") or "tool"), text, call_id)
    return UserPromptPart(text)


def _texts(content: Any) -> str:
    """The text of a message; what else it holds cannot be made again from an edit.

    Raises:
        UsageError: there is something else.
    """
    texts = [item.get("text") for item in content or () if isinstance(item, dict)]
    if any(not isinstance(text, str) for text in texts):
        raise UsageError(
            "an edit changes a message with images or files: of such a message pydantic-ai's "
            "objects cannot be made again. Edit the messages beside it"
        )
    return "".join(str(text) for text in texts)


def response_of(body: Body) -> Any:
    """A response that says what a neutral reply, or an assistant's message, says."""
    parts: list[Any] = []
    if body.get("reasoning"):
        parts.append(ThinkingPart(str(body["reasoning"])))
    text = body.get("refusal") or body.get("content")
    if isinstance(text, list):
        text = _texts(text)
    calls = body.get("tool_calls") or []
    if text or not (calls or parts):
        parts.append(TextPart(str(text or "")))
    for call in calls:
        given = call.get("arguments")
        made = ToolCallPart(str(call.get("name") or ""), given)
        parts.append(replace(made, tool_call_id=call["id"]) if call.get("id") else made)
    return ModelResponse(parts=parts)
