"""Tool calls as a model gets them wrong, made from a good one and from the tools on offer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.trace.faults import Mutation
from workbench.trace.payloads import ToolCall, ToolSpec

_SAMPLES: dict[str, Any] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}
_WRONG: tuple[Any, ...] = (["not", "this"], {"not": "this"}, "not this", 0)
_UNKNOWN = "unexpected"


class UnfitError(Exception):
    """The fault can do nothing to this answer; the text says why. It never reaches a user."""


def made_call(tools: Sequence[ToolSpec]) -> ToolCall:
    """A valid call of the first tool that takes arguments, or of the first one.

    Raises:
        UnfitError: no tools are offered.
    """
    if not tools:
        raise UnfitError("the reply calls no tool, and the request offers none")
    tool = next((each for each in tools if _properties(each)), tools[0])
    names = _required(tool) or list(_properties(tool))[:1]
    arguments = {name: _sample(_properties(tool).get(name, {})) for name in names}
    return ToolCall(None, tool.name, arguments, json.dumps(arguments))


def break_call(how: Mutation, call: ToolCall, tools: Sequence[ToolSpec]) -> dict[str, Any]:
    """The call, broken: ``{"id", "name", "arguments"}``, the arguments as text.

    Args:
        how: what is wrong with it.
        call: a call that the model made; it is not changed.
        tools: what the request offers, which tells what would be right.

    Raises:
        UnfitError: it cannot be broken that way.
    """
    named = {"id": call.id, "name": call.name, "arguments": call.raw}
    if how == "unknown_tool":
        return {**named, "name": _free(call.name, [tool.name for tool in tools])}
    if how == "bad_json":
        return {**named, "arguments": _unclosed(call.raw)}
    tool = next((each for each in tools if each.name == call.name), None)
    spec = tool or ToolSpec(call.name, "", {})
    if not isinstance(call.arguments, dict):
        raise UnfitError(f"the arguments of {call.name} are no JSON object already")
    changed = _CHANGES[how](call.arguments, spec)
    return {**named, "arguments": json.dumps(changed, ensure_ascii=False)}


def _unclosed(raw: str) -> str:
    """The text without its end, so that it is not JSON."""
    for length in range(len(raw.rstrip()) - 1, 0, -1):
        try:
            json.loads(raw[:length])
        except ValueError:
            return raw[:length]
    return "{"


def _without(arguments: dict[str, Any], tool: ToolSpec) -> dict[str, Any]:
    needed = [name for name in _required(tool) if name in arguments] or list(arguments)
    if not needed:
        raise UnfitError(f"{tool.name} is called without any argument to leave out")
    return {name: value for name, value in arguments.items() if name != needed[0]}


def _with_another(arguments: dict[str, Any], tool: ToolSpec) -> dict[str, Any]:
    return {**arguments, _free(_UNKNOWN, [*arguments, *_properties(tool), _UNKNOWN]): True}


def _of_wrong_type(arguments: dict[str, Any], tool: ToolSpec) -> dict[str, Any]:
    properties = _properties(tool)
    typed = [name for name in arguments if _types(properties.get(name))]
    for name in [*typed, *(each for each in arguments if each not in typed)]:
        right = _types(properties.get(name)) or _type_of(arguments[name])
        wrong = [value for value in _WRONG if not _type_of(value) & right]
        if wrong:
            return {**arguments, name: wrong[0]}
    raise UnfitError(f"no argument of this call of {tool.name} has a type that could be wrong")


_CHANGES: dict[str, Callable[[dict[str, Any], ToolSpec], dict[str, Any]]] = {
    "missing_argument": _without,
    "extra_argument": _with_another,
    "wrong_type": _of_wrong_type,
}


def _free(name: str, taken: Sequence[str]) -> str:
    """A name like this one that is not taken."""
    number = 2
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"


def _properties(tool: ToolSpec) -> Mapping[str, Any]:
    found = tool.parameters.get("properties")
    return found if isinstance(found, Mapping) else {}


def _required(tool: ToolSpec) -> list[str]:
    found = tool.parameters.get("required")
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _types(schema: Any) -> set[str]:
    """The JSON types that a schema allows; empty when it does not say."""
    if not isinstance(schema, Mapping):
        return set()
    kind = schema.get("type")
    if isinstance(kind, str):
        return {kind}
    if isinstance(kind, list):
        return {each for each in kind if isinstance(each, str)}
    if isinstance(schema.get("enum"), list):
        return {kind for value in schema["enum"] for kind in _type_of(value)}
    parts = [_types(each) for each in schema.get("anyOf") or schema.get("oneOf") or ()]
    return {kind for part in parts for kind in part} if all(parts) else set()


def _type_of(value: Any) -> set[str]:
    """The JSON types that a value has; a whole number is a number too."""
    if isinstance(value, bool):
        return {"boolean"}
    if isinstance(value, int):
        return {"integer", "number"}
    kinds = {str: "string", float: "number", list: "array", dict: "object", type(None): "null"}
    return {kinds.get(type(value), "object")}


def _sample(schema: Any) -> Any:
    """A value that a property's schema allows, as far as it is simple."""
    if not isinstance(schema, Mapping):
        return _SAMPLES["string"]
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    choices = schema.get("enum") or schema.get("examples")
    if isinstance(choices, list) and choices:
        return choices[0]
    kinds = sorted(_types(schema) - {"null"})
    return _SAMPLES.get(kinds[0] if kinds else "string")
