"""Reading contents and parts of Google's shape, in camelCase as on the wire or in snake_case.

A content is ``{"role", "parts"}``. One content can answer several calls, and each answer is a
message of its own here, so a content is read as one or more messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from .base import JSON, Message, ToolCall
from .reading import as_dict, as_list, as_text, as_text_or_none, compact, read_call

SIGNATURE = "thoughtSignature"
"""The field of a part that signs the reasoning before it."""

_ROLES = {"model": "assistant", "function": "tool", "": "user"}
_WORDS = ("result", "output", "error")
"""The one field that a function's response has when it is no object of its own."""
_WAYS = frozenset({"thought", "partMetadata", "videoMetadata", "mediaResolution"})


@cache
def _snake(name: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def key_of(source: dict[str, Any], name: str) -> str:
    """The name under which an object has a field: in camelCase unless only the other is there."""
    other = _snake(name)
    return other if name not in source and other in source else name


def field(source: JSON, name: str) -> JSON:
    """A field of an object, by its name in camelCase; None where it has none."""
    whole = as_dict(source)
    return whole.get(key_of(whole, name))


def parts_of(content: JSON) -> list[Any]:
    """The parts of a content; of a lone part or a text, that one."""
    if isinstance(content, str):
        return [{"text": content}]
    if isinstance(content, list):
        return content
    source = as_dict(content)
    if "parts" in source:
        return as_list(source["parts"])
    return [source] if source and set(source) - {"role"} else []


def call_of(part: JSON) -> dict[str, Any] | None:
    """The function call that a part is."""
    found = field(part, "functionCall")
    return found if isinstance(found, dict) else None


def answer_of(part: JSON) -> dict[str, Any] | None:
    """The function's response that a part is."""
    found = field(part, "functionResponse")
    return found if isinstance(found, dict) else None


def is_thought(part: JSON) -> bool:
    """Whether a part is readable reasoning."""
    return as_dict(part).get("thought") is True


def is_text(part: JSON) -> bool:
    """Whether a part is visible text."""
    return isinstance(part, str) or ("text" in as_dict(part) and not is_thought(part))


def is_other(part: JSON) -> bool:
    """Whether a part is something else than text, reasoning, a call or its answer."""
    source = as_dict(part)
    if not source or "text" in source or call_of(part) is not None or answer_of(part) is not None:
        return False
    return bool({*source} - _WAYS - {SIGNATURE, _snake(SIGNATURE)})


def text_of(part: JSON) -> str:
    """The text of a part."""
    return part if isinstance(part, str) else as_text(as_dict(part).get("text"))


def is_signed(part: JSON) -> bool:
    """Whether a part carries a signature."""
    return field(part, SIGNATURE) is not None


def signed_of(parts: list[Any]) -> tuple[str, ...]:
    """What of some parts is signed."""
    return (SIGNATURE,) if any(map(is_signed, parts)) else ()


def unsigned(parts: list[Any]) -> list[Any]:
    """The parts without signatures; one that holds nothing else goes."""
    kept: list[Any] = []
    for part in parts:
        if not is_signed(part):
            kept.append(part)
            continue
        bare = {k: v for k, v in part.items() if k not in (SIGNATURE, _snake(SIGNATURE))}
        if any(value for name, value in bare.items() if name != "thought"):
            kept.append(bare)
    return kept


def write_text(parts: list[Any], text: str) -> list[Any]:
    """Parts with a text in place of their texts; without any, before the first call."""
    places = [place for place, part in enumerate(parts) if is_text(part)]
    calls = [place for place, part in enumerate(parts) if call_of(part) is not None]
    first = as_dict(parts[places[0]]) if places else {}
    at = (places or calls or [len(parts)])[0]
    new = [{**first, "text": text}] if text else []
    return [*parts[:at], *new, *(part for part in parts[at:] if not is_text(part))]


def tool_call(source: dict[str, Any]) -> ToolCall:
    """A function call. One without arguments is on the wire without any."""
    arguments = source.get("args")
    return read_call(source.get("id"), source.get("name"), {} if arguments is None else arguments)


def calls_of(parts: list[Any]) -> tuple[ToolCall, ...]:
    """The function calls among some parts."""
    return tuple(tool_call(call) for part in parts if (call := call_of(part)) is not None)


def answer_text(source: dict[str, Any]) -> str:
    """What a function's response says: its words, or the object as JSON text."""
    response = source.get("response")
    word = only_word(response)
    if word is not None:
        return as_text(as_dict(response)[word])
    if response is None:
        return ""
    try:
        return compact(response)
    except (TypeError, ValueError, RecursionError):
        return repr(response)


def only_word(response: JSON) -> str | None:
    """The name of the only field of a response that is a text and nothing else."""
    if not isinstance(response, dict) or len(response) != 1:
        return None
    name, value = next(iter(response.items()))
    return name if name in _WORDS and isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Unit:
    """What one message is in a request."""

    message: Message
    content: int | None
    """Which of the contents it is in, from 0; None for the system instruction."""
    places: tuple[int, ...]
    """Which of the content's parts it is, from 0."""


def read_units(body: JSON) -> Iterator[Unit]:
    """The conversation of a request: the system instruction, then what the contents say.

    Of a content that answers calls each answer is a message, and the rest follows as one.
    """
    source = as_dict(body)
    name = key_of(source, "systemInstruction")
    system = source.get(name)
    if system is not None:
        yield Unit(_said(system, parts_of(system), "system", (name,)), None, ())
    contents = source.get("contents")
    listed = contents if isinstance(contents, list) else [] if contents is None else [contents]
    for number, content in enumerate(listed):
        yield from _units(content, number)


def read_content(content: JSON) -> Message:
    """One content, or one part of it, as a message."""
    answers = [place for place, part in enumerate(parts_of(content)) if answer_of(part)]
    if len(answers) == 1 and len(parts_of(content)) == 1:
        return _answer(content, parts_of(content)[0], ())
    return _said(content, parts_of(content), _role(content), ())


def _units(content: JSON, number: int) -> Iterator[Unit]:
    at = ("contents", number)
    parts = parts_of(content)
    answers = [place for place, part in enumerate(parts) if answer_of(part) is not None]
    rest = [place for place in range(len(parts)) if place not in answers]
    if not answers:
        yield Unit(_said(content, parts, _role(content), at), number, tuple(rest))
        return
    for place in answers:
        alone = len(parts) == 1
        raw = content if alone else parts[place]
        where = at if alone else (*at, "parts", place)
        yield Unit(_answer(raw, parts[place], where), number, (place,))
    if rest:
        said = [parts[place] for place in rest]
        raw = said[0] if len(said) == 1 else content
        where = (*at, "parts", rest[0]) if len(said) == 1 else at
        role = _role(content)
        yield Unit(_said(raw, said, "user" if role == "tool" else role, where), number, tuple(rest))


def _role(content: JSON) -> str:
    if isinstance(content, str):
        return "user"
    role = as_text(as_dict(content).get("role"))
    return _ROLES.get(role, role)


def _answer(raw: JSON, part: JSON, at: tuple[str | int, ...]) -> Message:
    source = answer_of(part) or {}
    return Message(
        role="tool",
        text=answer_text(source),
        tool_call_id=as_text_or_none(source.get("id")),
        name=as_text_or_none(source.get("name")),
        images=len(as_list(source.get("parts"))),
        signed=signed_of([part]),
        raw=raw,
        at=at,
    )


def _said(raw: JSON, parts: list[Any], role: str, at: tuple[str | int, ...]) -> Message:
    # What a model says comes in pieces of one text; what it is told are texts of their own.
    joint = "" if role == "assistant" else "\n"
    return Message(
        role=role,
        text=joint.join(text_of(part) for part in parts if is_text(part)),
        tool_calls=calls_of(parts),
        reasoning="".join(text_of(part) for part in parts if is_thought(part)),
        images=sum(map(is_other, parts)),
        signed=signed_of(parts),
        raw=raw,
        at=at,
    )
