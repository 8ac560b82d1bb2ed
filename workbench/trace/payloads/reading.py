"""Tolerant reading of JSON that may not have the shape it should have."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from .base import JSON, ToolCall


def as_dict(value: JSON) -> dict[str, Any]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: JSON) -> list[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_text(value: JSON) -> str:
    """The value where it is a string, else an empty one."""
    return value if isinstance(value, str) else ""


def as_text_or_none(value: JSON) -> str | None:
    """The value where it is a string, else None."""
    return value if isinstance(value, str) else None


def kind_of(value: JSON) -> str:
    """The ``type`` that an object says it has; empty where it says none."""
    return as_text(as_dict(value).get("type"))


def as_count(value: JSON) -> int | None:
    """The value where it is a whole number, else None (not recorded)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def first_text(source: dict[str, Any], *keys: str) -> str:
    """The first of these fields that holds some text."""
    return next((text for key in keys if (text := as_text(source.get(key)))), "")


def compact(value: JSON) -> str:
    """JSON text without spaces. Raises TypeError or ValueError for what JSON can't hold."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def stable_text(value: JSON) -> str:
    """Text that is equal for equal values, whatever they are; for keys, never for storage."""
    try:
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return repr(value)


def parse_arguments(raw: str) -> tuple[Any | None, str | None]:
    """Argument text as `(value, None)`, or `(None, why it is not JSON)`."""
    if not raw.strip():
        return None, "the argument text is empty"
    try:
        return json.loads(raw, parse_constant=_refuse_constant), None
    except json.JSONDecodeError as exc:
        return None, f"not JSON: {exc.msg} at character {exc.pos + 1} of {len(raw)}"
    except RecursionError:
        return None, "not readable: nested too deeply"
    except ValueError as exc:
        return None, f"not JSON: {exc}"


def _refuse_constant(name: str) -> NoReturn:
    message = f"{name} is not a JSON number"
    raise ValueError(message)


def read_call(call_id: JSON, name: JSON, arguments: JSON) -> ToolCall:
    """A tool call whose arguments are text or, as some servers send them, an object."""
    known_id, known_name = as_text_or_none(call_id), as_text(name)
    if isinstance(arguments, str):
        value, error = parse_arguments(arguments)
        return ToolCall(known_id, known_name, value, arguments, error)
    if arguments is None:
        return ToolCall(known_id, known_name, None, "", "the call has no arguments")
    try:
        raw = compact(arguments)
    except (TypeError, ValueError, RecursionError) as exc:
        return ToolCall(known_id, known_name, None, repr(arguments), f"not JSON: {exc}")
    return ToolCall(known_id, known_name, arguments, raw, None)


@dataclass(frozen=True, slots=True)
class Content:
    """What a message's `content` holds, be it a string or a list of parts."""

    text: str
    reasoning: str
    others: int


TEXT_PARTS = frozenset({"text", "input_text", "output_text"})
"""The part types that hold text."""


def read_content(content: JSON) -> Content:
    """Text, reasoning and the number of other parts of a `content` field."""
    if not isinstance(content, list):
        return Content(as_text(content), "", 0)
    texts: list[str] = []
    reasoning: list[str] = []
    others = 0
    for part in content:
        kind = kind_of(part)
        if isinstance(part, str):
            texts.append(part)
        elif kind in TEXT_PARTS:
            texts.append(as_text(part.get("text")))
        elif kind == "thinking":
            reasoning.append(_thinking(part.get("thinking")))
        elif kind == "refusal":
            continue
        else:
            others += 1
    return Content("\n".join(texts), "\n".join(filter(None, reasoning)), others)


def _thinking(value: JSON) -> str:
    if isinstance(value, list):
        return "".join(as_text(as_dict(part).get("text")) for part in value)
    return as_text(value)
