"""What changed between two lists of tools: those that a server has, or a model is offered.

What an adapter asks of a server besides calls of its tools stands in a trace as a tool call whose
name begins with :data:`PREFIX`; what the server has is the answer to :data:`LIST`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.trace.payloads import ToolSpec
    from workbench.trace.trace import Entry

PREFIX = "mcp:"
"""What the name of a request begins with that keeps up a session with an MCP server."""
LIST = "mcp:tools/list"
"""The request for the list of a server's tools."""
PROBE = "mcp:server/discover"
"""The question that a session may begin with, which an older server does not know."""
BEGIN = ("mcp:initialize", PROBE)
"""The requests that a session with a server begins with."""
OPENING = frozenset({LIST, *BEGIN})
"""What a client asks once for each session with a server: who keeps one open asks it no more."""
HEARD = "notifications"
"""Where a recorded answer keeps what the server said meanwhile, beside its own fields."""

_LENGTH = 60
_SCHEMA = ("parameters", "inputSchema", "input_schema")
_SHORT = {"inputSchema": "arguments", "outputSchema": "result"}


def keeps_session(name: str | None) -> bool:
    """Whether a tool call of that name is none that a model asks for, but keeps up a session."""
    return bool(name) and str(name).startswith(PREFIX)


def called(entries: Iterable[Entry]) -> int:
    """How many of these are calls of tools, and not what keeps up a session."""
    return sum(not keeps_session(entry.name) for entry in entries)


def specs(tools: Iterable[ToolSpec]) -> list[dict[str, Any]]:
    """The tools that a model is offered, as :func:`tool_changes` compares them.

    What else a tool has on the wire, such as the domains that a provider's own search may visit,
    is compared field by field.
    """
    return [
        {
            **_other_fields(each.raw),
            "name": each.name,
            "description": each.description,
            "parameters": dict(each.parameters),
        }
        for each in tools
    ]


def _other_fields(raw: Any) -> dict[str, Any]:
    known = ("name", "description", "type", *_SCHEMA)
    return {k: v for k, v in raw.items() if k not in known} if isinstance(raw, dict) else {}


def tools_in(response: Any) -> list[dict[str, Any]] | None:
    """The tools in an answer to :data:`LIST`; None where it is no such answer."""
    found = response.get("tools") if isinstance(response, dict) else None
    if not isinstance(found, list):
        return None
    return [each for each in found if isinstance(each, dict)]


def tool_changes(
    before: Iterable[Mapping[str, Any]], after: Iterable[Mapping[str, Any]]
) -> list[str]:
    """What changed, a short text for each: ``refund added``, ``get_order: argument 'id' removed``.

    Args:
        before: the tools as they were, each with its ``name``, ``description`` and the JSON Schema
            of its arguments (``inputSchema`` or ``parameters``).
        after: the tools as they are.
    """
    old = {str(each.get("name")): each for each in before}
    new = {str(each.get("name")): each for each in after}
    found = [f"{name} added" for name in new if name not in old]
    found += [f"{name} removed" for name in old if name not in new]
    for name, tool in old.items():
        if name in new:
            found += [f"{name}: {each}" for each in _tool(tool, new[name])]
    if not found and list(old) != list(new):
        found.append("the same tools in another order")
    return found


def list_changed(server: Any, changes: Iterable[str]) -> str:
    """The sentence that says so of a server, whose name may not be known."""
    of = f" of server '{server}'" if isinstance(server, str) and server else ""
    return f"the tool list{of} changed: {'; '.join(changes)}"


def without_heard(response: Any) -> Any:
    """An answer without what the server said meanwhile, which is no part of the result."""
    if isinstance(response, dict) and isinstance(response.get(HEARD), list):
        return {key: value for key, value in response.items() if key != HEARD}
    return response


def _tool(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    schemas = [_schema(each) for each in (old, new)]
    yield from _arguments(*schemas)
    if _text(old.get("description")) != _text(new.get("description")):
        yield f"description {_quoted(old.get('description'))} → {_quoted(new.get('description'))}"
    hints = [each.get("annotations") or {} for each in (old, new)]
    for key in dict.fromkeys([*hints[0], *hints[1]]):
        if hints[0].get(key) != hints[1].get(key):
            yield f"{key} {_brief(hints[0].get(key))} → {_brief(hints[1].get(key))}"
    for key in dict.fromkeys([*old, *new]):
        known = key in ("name", "description", "annotations", "_meta", *_SCHEMA)
        if not known and old.get(key) != new.get(key):
            yield f"{_SHORT.get(key, key)} changed"


def _schema(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    for key in _SCHEMA:
        found = tool.get(key)
        if isinstance(found, Mapping):
            return found
    return {}


def _arguments(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    was, now = _properties(old), _properties(new)
    needed = [set(each.get("required") or ()) for each in (old, new)]
    told = False
    for name in dict.fromkeys([*was, *now]):
        text = ""
        if name not in was:
            text = f"added ({_kind(now[name])}{', required' if name in needed[1] else ''})"
        elif name not in now:
            text = "removed"
        elif _kind(was[name]) != _kind(now[name]):
            text = f"{_kind(was[name])} → {_kind(now[name])}"
        elif was[name] != now[name]:
            text = "described differently"
        if not text and (name in needed[0]) != (name in needed[1]):
            text = "required now" if name in needed[1] else "no longer required"
        if text:
            told = True
            yield f"argument '{name}' {text}"
    if not told and _plain(old) != _plain(new):
        yield "arguments described differently"


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    found = schema.get("properties")
    return dict(found) if isinstance(found, Mapping) else {}


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "title"}


def _kind(schema: Any) -> str:
    """A JSON Schema's type in a word or two: ``integer``, ``string or null``, ``one of a, b``."""
    if not isinstance(schema, Mapping):
        return "anything"
    if isinstance(schema.get("enum"), list):
        return f"one of {', '.join(_brief(each) for each in schema['enum'])}"
    several = schema.get("anyOf") or schema.get("oneOf")
    if isinstance(several, list):
        return " or ".join(_kind(each) for each in several)
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(str(each) for each in kind)
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        return f"list of {_kind(schema['items'])}"
    if isinstance(schema.get("$ref"), str):
        return str(schema["$ref"]).rpartition("/")[2]
    return str(kind) if kind else "anything"


def _text(value: Any) -> str:
    return " ".join(str(value or "").split())


def _quoted(value: Any) -> str:
    text = _text(value)
    return f"“{text if len(text) <= _LENGTH else text[: _LENGTH - 1] + '…'}”" if text else "(none)"


def _brief(value: Any) -> str:
    if value is None:
        return "(none)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LENGTH else text[: _LENGTH - 1] + "…"
