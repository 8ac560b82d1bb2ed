"""Reading Anthropic's messages: blocks of text, calls, results, thinking, and server tools.

One message of the user may answer several calls, with a block for each. It is read as one message
for each of its blocks, so that every result stands for itself. What the provider's own tools did
(searches, code) is opaque here, and kept as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from .base import JSON, Message, ToolCall, ToolSpec
from .reading import as_dict, as_list, as_text, as_text_or_none, kind_of, read_call, read_content
from .signed import signed_parts

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
_SCHEMA: Final = "input_schema"


def is_result(block: JSON) -> bool:
    """Whether a block is the result of a call."""
    return kind_of(block) == "tool_result"


def is_call(block: JSON) -> bool:
    """Whether a block is a call that the client is to make."""
    return kind_of(block) == "tool_use"


def is_text(block: JSON) -> bool:
    """Whether a block is text."""
    return isinstance(block, str) or kind_of(block) == "text"


def is_block(raw: JSON) -> bool:
    """Whether it is a block of a message rather than a message."""
    return "role" not in as_dict(raw) and "type" in as_dict(raw)


def read_messages(listed: Sequence[JSON], at: str = "messages") -> list[Message]:
    """The messages of a request, each with its place; those of one turn continue each other."""
    found: list[Message] = []
    for place, raw in enumerate(listed):
        for message in read_units(raw, (at, place)):
            goes_on = bool(found) and message.role == found[-1].role == "assistant"
            found.append(replace(message, continues=True) if goes_on else message)
    return found


def read_units(raw: JSON, at: tuple[str | int, ...] = ()) -> list[Message]:
    """What one message on the wire is: one message, or one for each block where it has results."""
    source = as_dict(raw)
    blocks = as_list(source.get("content"))
    if not any(map(is_result, blocks)):
        return [read_block(raw, "user", at)] if is_block(raw) else [_whole(raw, at)]
    role = as_text(source.get("role")) or "unknown"
    return [read_block(block, role, (*at, "content", n)) for n, block in enumerate(blocks)]


def read_block(block: JSON, role: str, at: tuple[str | int, ...]) -> Message:
    """A block that stands for itself."""
    source = as_dict(block)
    if is_result(block):
        content = read_content(source.get("content"))
        return Message(
            role="tool",
            text=content.text,
            tool_call_id=as_text_or_none(source.get("tool_use_id")),
            images=content.others,
            raw=block,
            at=at,
        )
    whole = _whole({"role": "assistant" if is_call(block) else role, "content": [block]}, at)
    return replace(whole, raw=block)


def _whole(raw: JSON, at: tuple[str | int, ...]) -> Message:
    if isinstance(raw, str):
        return Message(role="unknown", text=raw, raw=raw, at=at)
    source = as_dict(raw)
    role = as_text(source.get("role")) or "unknown"
    blocks = source.get("content")
    text = spoken_text(blocks) if role == "assistant" else read_content(blocks).text
    return Message(
        role=role,
        text=text,
        tool_calls=read_calls(as_list(blocks)),
        reasoning=thinking_text(as_list(blocks)),
        images=sum(map(_is_other, as_list(blocks))),
        signed=signed_parts(source),
        raw=raw,
        at=at,
    )


def read_system(source: dict[str, Any]) -> list[Message]:
    """The system prompt of a request, as its first message; none where there is none."""
    told = source.get("system")
    if not isinstance(told, str | list):
        return []
    return [Message(role="system", text=read_content(told).text, raw=told, at=("system",))]


def spoken_text(content: JSON) -> str:
    """The words of the model, end to end: where it cites, one sentence is several blocks."""
    if not isinstance(content, list):
        return as_text(content)
    return "".join(
        block if isinstance(block, str) else as_text(block.get("text"))
        for block in content
        if is_text(block)
    )


def thinking_text(blocks: Sequence[JSON]) -> str:
    """The readable thinking."""
    found = (as_dict(block) for block in blocks)
    texts = (as_text(block.get("thinking")) for block in found if block.get("type") == "thinking")
    return "\n".join(filter(None, texts))


def read_calls(blocks: Sequence[JSON]) -> tuple[ToolCall, ...]:
    """The calls among blocks that the client is to make, in their order."""
    return tuple(read_use(block) for block in blocks if is_call(block))


def read_use(block: dict[str, Any]) -> ToolCall:
    """One call. An input that is a text is what a model wrote and no JSON."""
    return read_call(block.get("id"), block.get("name"), block.get("input"))


def _is_other(block: JSON) -> bool:
    kind = kind_of(block)
    return not (is_text(block) or is_call(block) or kind in _THINKING)


def read_tools(listed: Sequence[JSON]) -> list[ToolSpec]:
    """The tools of a request; the provider's own ones by their name."""
    return [
        ToolSpec(
            name=as_text(source.get("name")) or as_text(source.get("type")),
            description=as_text(source.get("description")),
            parameters=as_dict(source.get(_SCHEMA)),
            raw=raw,
        )
        for raw in listed
        for source in [as_dict(raw)]
    ]
