"""Checks a tool call against the tools that the model was offered.

Only what is sure to be wrong is reported, and only the part of JSON Schema that tool schemas use
at their top level: required, unknown and wrongly typed arguments, and values outside an ``enum``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError, UsageError
from workbench.trace.payloads import view

if TYPE_CHECKING:
    from workbench.trace.payloads import ToolCall, ToolSpec
    from workbench.trace.trace import Entry, Turn

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def offered_tools(entry: Entry) -> list[ToolSpec]:
    """The tools that a model entry's request offers; none where the request cannot be read."""
    try:
        return view(str(entry.api)).tools(entry.body)
    except (TraceError, UsageError):
        return []


def call_problems(name: str, arguments: Any, tools: Sequence[ToolSpec]) -> list[str]:
    """What is wrong with a call, a short sentence each.

    Without any tools there is nothing to check against, and nothing is reported.

    Args:
        name: the tool that is called.
        arguments: its arguments, parsed.
        tools: what the request offers.
    """
    if not tools:
        return []
    spec = next((each for each in tools if each.name == name), None)
    if spec is None:
        names = ", ".join(sorted(each.name for each in tools))
        return [f"the model was not offered a tool '{name}' (it was offered: {names})"]
    if not isinstance(arguments, Mapping):
        return [f"the arguments of {name} are no JSON object"]
    return _argument_problems(name, arguments, spec.parameters)


def _argument_problems(
    name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]
) -> list[str]:
    properties = schema.get("properties")
    properties = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    out = [
        f"{name} needs the argument '{each}'"
        for each in (required if isinstance(required, list) else [])
        if each not in arguments
    ]
    for key, value in arguments.items():
        if key not in properties:
            # Schemas allow more unless they say otherwise, yet a tool rarely takes what its
            # schema does not name.
            if properties and not isinstance(schema.get("additionalProperties"), Mapping):
                out.append(f"{name} knows no argument '{key}'")
            continue
        out += _value_problems(f"{name}'s argument '{key}'", value, properties[key])
    return out


def _value_problems(what: str, value: Any, schema: Any) -> list[str]:
    if not isinstance(schema, Mapping):
        return []
    kinds = schema.get("type")
    names = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    known = [each for each in names if each in _TYPES]
    if known and len(known) == len(names) and not any(_is(value, each) for each in known):
        return [f"{what} is {_kind(value)}, and should be {' or '.join(known)}"]
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        allowed = ", ".join(repr(each) for each in choices)
        return [f"{what} is {value!r}, and should be one of {allowed}"]
    return []


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _kind(value: Any) -> str:
    return next(name for name in ("boolean", *_TYPES) if _is(value, name))


def reply_problems(turn: Turn) -> list[tuple[str, str, str]]:
    """Calls in a turn's reply that could not be run: ``(kind, sentence, short form)`` each.

    The request is only opened when the reply calls a tool of which the turn has no entry.
    """
    try:
        calls: Sequence[ToolCall] = turn.model.tool_calls
    except (TraceError, UsageError):
        return []
    out = []
    ran = {each.name for each in turn.tools}
    for call in calls:
        if call.error is not None:
            text = f"arguments of {call.name} are not JSON: {call.error}"
            out.append(("bad_arguments", text, f"{call.name} arguments"))
        elif call.name not in ran:
            tools = offered_tools(turn.model)
            if tools and all(call.name != each.name for each in tools):
                text = f"unknown tool called: {call.name}"
                out.append(("unknown_tool", text, f"unknown {call.name}"))
    return out
