"""Tools as one JSON schema that a grammar can be made of and that a small model can finish."""

from __future__ import annotations

from typing import Any

from workbench.providers.local.api import bad_request

MAX_STRING = 200
"""Longest string, in characters, that a tool's argument or an answer in JSON may have."""

MAX_ANSWER = 600
"""Longest answer, in characters, when there are tools to call instead."""

MAX_ITEMS = 8
"""Most items that an array in a tool's arguments may have."""

_DEFINITIONS = ("$defs", "definitions")
_FREE = ("type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf", "properties")


def reply_schema(tools: list[dict[str, Any]], *, answer: dict[str, Any] | None) -> dict[str, Any]:
    """The schema of a reply: a call of one of ``tools`` or, unless None, an ``answer``."""
    definitions: dict[str, Any] = {}
    options = [
        _object(
            tool={"const": tool["name"]},
            arguments=_hoist(tool.get("parameters") or {}, f"{index}.", definitions),
        )
        for index, tool in enumerate(tools)
    ]
    if answer is not None:
        options.append(_object(answer=_hoist(answer, "answer.", definitions)))
    schema: dict[str, Any] = {"anyOf": options}
    if definitions:
        schema["$defs"] = definitions
    return schema


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _hoist(schema: dict[str, Any], prefix: str, into: dict[str, Any]) -> dict[str, Any]:
    """Move a schema's definitions to the root, under names that cannot clash, and bound it."""
    if not any(key in schema for key in _FREE):
        schema = {**schema, "type": "object", "properties": {}}
    for section in _DEFINITIONS:
        definitions = schema.get(section) or {}
        if not isinstance(definitions, dict):
            raise bad_request(f"'{section}' in a schema must be an object.")
        for name, definition in definitions.items():
            into[prefix + name] = _bounded(definition, prefix)
    rest = {key: value for key, value in schema.items() if key not in _DEFINITIONS}
    bounded: dict[str, Any] = _bounded(rest, prefix)
    return bounded


def _bounded(node: Any, prefix: str) -> Any:
    """A copy in which every string and array has an upper size and every reference is moved."""
    if not isinstance(node, dict):
        return node
    result: dict[str, Any] = {}
    for key, value in node.items():
        if key == "properties" and isinstance(value, dict):
            result[key] = {name: _bounded(child, prefix) for name, child in value.items()}
        elif key in {"anyOf", "oneOf", "allOf", "prefixItems"} and isinstance(value, list):
            result[key] = [_bounded(child, prefix) for child in value]
        elif key in {"items", "additionalProperties"}:
            result[key] = _bounded(value, prefix)
        elif key == "$ref" and isinstance(value, str):
            result[key] = _moved(value, prefix)
        else:
            result[key] = value
    _limit(result)
    return result


def _moved(reference: str, prefix: str) -> str:
    for section in _DEFINITIONS:
        start = f"#/{section}/"
        if reference.startswith(start):
            return f"#/$defs/{prefix}{reference[len(start) :]}"
    return reference


def _limit(node: dict[str, Any]) -> None:
    kind = node.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    fixed = any(key in node for key in ("enum", "const", "pattern", "format"))
    if "string" in kinds and not fixed:
        node["maxLength"] = _smaller(node.get("maxLength"), MAX_STRING)
    if "array" in kinds and "prefixItems" not in node:
        node["maxItems"] = _smaller(node.get("maxItems"), MAX_ITEMS)
    if "object" in kinds and "properties" in node:
        node.setdefault("additionalProperties", False)


def _smaller(given: Any, limit: int) -> int:
    return min(given, limit) if isinstance(given, int) else limit
