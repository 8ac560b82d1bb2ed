"""Requests of the agents SDK in the neutral shape, and back where they were edited."""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, fields, replace
from typing import Any

from agents.models.interface import Model

from workbench.adapters.frameworks.aligning import aligned
from workbench.adapters.frameworks.codec import Body
from workbench.errors import UsageError
from workbench.trace.payloads.reading import parse_arguments
from workbench.trace.values import encode

_NAMES = [name for name in inspect.signature(Model.get_response).parameters if name != "self"]
_SAID = ("message", "function_call", "reasoning")
"""Items that a model says."""
_NO_SETTING = frozenset({"model", "messages", "tools", "response_schema", "stream"})
_APART = ("previous_response_id", "conversation_id", "prompt")


@dataclass(frozen=True, slots=True)
class Asked:
    """The arguments of a model's method as they were given; a model may name them otherwise."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def get(self, name: str) -> Any:
        """One of them, by its name in the SDK."""
        place = _NAMES.index(name)
        return self.args[place] if place < len(self.args) else self.kwargs.get(name)

    def but(self, **new: Any) -> Asked:
        """The same with others."""
        args, kwargs = list(self.args), dict(self.kwargs)
        for name, value in new.items():
            place = _NAMES.index(name)
            if place < len(args):
                args[place] = value
            else:
                kwargs[name] = value
        return Asked(tuple(args), kwargs)


def request_body(model_name: str, asked: Asked) -> Body:
    """A request in the neutral shape."""
    body: Body = {"model": model_name, "messages": [said for said, _ in _said(asked)]}
    tools = [_tool(tool) for tool in asked.get("tools") or ()]
    tools += [
        {
            "name": handoff.tool_name,
            "description": handoff.tool_description,
            "parameters": handoff.input_json_schema,
        }
        for handoff in asked.get("handoffs") or ()
    ]
    if tools:
        body["tools"] = tools
    wanted = asked.get("output_schema")
    if wanted is not None and not wanted.is_plain_text():
        body["response_schema"] = wanted.json_schema()
    apart = {name: asked.get(name) for name in _APART if asked.get(name) is not None}
    plain: Body = encode({**_settings(asked), **apart, **body}, plain=True)
    return plain


def _settings(asked: Asked) -> Body:
    settings = asked.get("model_settings")
    if settings is None:
        return {}
    return {name: value for name, value in settings.to_json_dict().items() if value is not None}


def _tool(tool: Any) -> Body:
    return {
        "name": tool.name,
        "description": getattr(tool, "description", None) or type(tool).__name__,
        "parameters": getattr(tool, "params_json_schema", None) or {},
    }


def _said(asked: Asked) -> list[tuple[Body, Any]]:
    """Each neutral message with the items that it stands for."""
    found: list[tuple[Body, Any]] = []
    system = asked.get("system_instructions")
    if system is not None:
        found.append(({"role": "system", "content": system}, None))
    given = asked.get("input")
    if isinstance(given, str):
        return [*found, ({"role": "user", "content": given}, [given])]
    group: list[Any] = []
    for item in given:
        data = item_data(item)
        if _is_said(data):
            group.append(item)
            continue
        found += _turn(group)
        found.append((_message(data), [item]))
        group = []
    return [*found, *_turn(group)]


def item_data(item: Any) -> Body:
    """An item as JSON."""
    data: Body = item if isinstance(item, dict) else item.model_dump(exclude_unset=True)
    return data


def _is_said(data: Body) -> bool:
    kind = data.get("type") or "message"
    return kind in _SAID[1:] or (kind == "message" and data.get("role") == "assistant")


def _turn(group: list[Any]) -> list[tuple[Body, Any]]:
    """What a model said at once, which may be several items."""
    if not group:
        return []
    return [({"role": "assistant", **reply(item_data(item) for item in group)}, list(group))]


def reply(items: Any) -> Body:
    """What a model's items say."""
    texts: list[str] = []
    calls: list[Body] = []
    thoughts: list[str] = []
    refusals: list[str] = []
    for data in items:
        kind = data.get("type") or "message"
        if kind == "message":
            content = data.get("content")
            for part in [content] if isinstance(content, str) else content or ():
                said = part if isinstance(part, str) else part.get("text")
                (texts if said is not None else refusals).append(said or _refusal(part))
        elif kind == "function_call":
            calls.append(_call(data))
        elif kind == "reasoning":
            thoughts += [part.get("text") or "" for part in data.get("summary") or ()]
    body: Body = {"content": "".join(texts) if texts else None}
    if calls:
        body["tool_calls"] = calls
    if any(thoughts):
        body["reasoning"] = "".join(thoughts)
    if any(refusals):
        body["refusal"] = "".join(refusals)
    return body


def _refusal(part: Any) -> str:
    return str(part.get("refusal") or "") if isinstance(part, dict) else ""


def _call(data: Body) -> Body:
    text = data.get("arguments") or "{}"
    value, error = parse_arguments(text)
    given = text if error else value
    return {"id": data.get("call_id"), "name": data.get("name"), "arguments": given}


def _message(data: Body) -> Body:
    """Any other item."""
    kind = str(data.get("type") or "message")
    if kind == "message":
        role = {"developer": "system"}.get(str(data.get("role")), data.get("role"))
        return {"role": role, "content": _content(data.get("content"))}
    if kind.endswith("_output"):
        output = data.get("output")
        content = output if isinstance(output, str) else json.dumps(encode(output, plain=True))
        return {"role": "tool", "tool_call_id": data.get("call_id"), "content": content}
    return {"role": "assistant", "content": [{"type": kind, "item": encode(data, plain=True)}]}


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [
        {"type": "text", "text": part["text"]}
        if isinstance(part, dict) and isinstance(part.get("text"), str)
        else {"type": "other", "item": encode(part, plain=True)}
        for part in content
    ]


def edited(asked: Asked, body: Body, was: Body) -> Asked:
    """What is asked with another request; items that no edit touched are the same objects.

    Raises:
        UsageError: the edit changes what a request of this SDK cannot carry.
    """
    for name in ("model", "tools", "response_schema", *_APART):
        if body.get(name) != was.get(name):
            raise UsageError(
                f"an edit changes '{name}' of a request that the agents SDK makes with a model "
                "object: of such a request its messages, its system prompt and its settings can "
                "be edited. Change the agent for the rest"
            )
    messages = body["messages"]
    new: Body = {}
    if asked.get("system_instructions") is not None:
        first = messages[0] if messages and messages[0].get("role") == "system" else {}
        new["system_instructions"] = first.get("content")
        messages = messages[1:] if first else messages
    items = [item for group in aligned(messages, _said(asked), _items) for item in group]
    texts = [item for item in items if isinstance(item, str)]
    if len(items) == 1 and texts:
        new["input"] = texts[0]
    else:
        new["input"] = [
            {"role": "user", "content": item} if isinstance(item, str) else item for item in items
        ]
    return asked.but(**new, **_changed_settings(asked, body, was))


def _changed_settings(asked: Asked, body: Body, was: Body) -> Body:
    names = (body.keys() | was.keys()) - _NO_SETTING - set(_APART)
    changed = {name: body.get(name) for name in names if body.get(name) != was.get(name)}
    if not changed:
        return {}
    settings = asked.get("model_settings")
    known = {field.name for field in fields(settings)}
    unknown = sorted(changed.keys() - known)
    if unknown:
        raise UsageError(f"the agents SDK has no setting '{unknown[0]}', which an edit gives")
    return {"model_settings": replace(settings, **changed)}


def _items(message: Body) -> list[Any]:
    """The items for a message that an edit made."""
    role, content = message.get("role"), message.get("content")
    if role == "tool":
        call_id = str(message.get("tool_call_id") or "")
        return [{"type": "function_call_output", "call_id": call_id, "output": str(content or "")}]
    items: list[Any] = []
    if content or role != "assistant":
        items.append({"role": role, "content": _texts(content)})
    for call in message.get("tool_calls") or ():
        given = call.get("arguments")
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        call_id = str(call.get("id") or "")
        item = {"type": "function_call", "call_id": call_id, "name": call.get("name")}
        items.append({**item, "arguments": text})
    return items


def _texts(content: Any) -> str:
    if not isinstance(content, list):
        return str(content or "")
    if any(not isinstance(part.get("text"), str) for part in content):
        raise UsageError(
            "an edit changes a message with images or files: such a message cannot be made again. "
            "Edit the messages beside it"
        )
    return "".join(part["text"] for part in content)
