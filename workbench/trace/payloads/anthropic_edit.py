"""Writing an edit into a request or a reply of Anthropic's messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import EditError

from .anthropic_blocks import (
    is_block,
    is_call,
    is_result,
    is_text,
    read_calls,
    read_use,
    spoken_text,
)
from .base import JSON, Message, MessageChange, ToolCall, ToolCallLike
from .calls import same_calls, settle_calls
from .chat import check_places, same
from .reading import as_dict, as_list, as_text, kind_of, read_content
from .signed import drop_signed, signed_parts

# -- replies


def write_blocks(
    content: JSON,
    *,
    text: str | None,
    tool_calls: Sequence[ToolCallLike] | None,
    seed: str,
) -> list[Any]:
    """The blocks of a reply that says this instead; None keeps what is there.

    Blocks that do not change are the same objects. Signed thinking goes where words or calls do.
    """
    old = [{"type": "text", "text": content}] if isinstance(content, str) else as_list(content)
    new = list(old)
    if text is not None and text != spoken_text(old):
        new = _with_words(new, text)
    if tool_calls is not None:
        new = _with_calls(new, tool_calls, seed)
    if spoken_text(new) == spoken_text(old) and same_calls(read_calls(new), read_calls(old)):
        return new
    message: dict[str, Any] = {"content": new}
    drop_signed(message)
    return as_list(message["content"])


def _with_words(blocks: list[Any], text: str) -> list[Any]:
    """The first block of text says all of it; an empty text has none, as providers refuse it."""
    texts = [place for place, block in enumerate(blocks) if is_text(block)]
    calls = [place for place, block in enumerate(blocks) if is_call(block)]
    at = texts[0] if texts else calls[0] if calls else len(blocks)
    first = as_dict(blocks[at]) if texts else {}
    words = [_worded(first or {"type": "text"}, text)] if text else []
    rest = [block for block in blocks[at:] if not is_text(block)]
    return [*blocks[:at], *words, *rest]


def _worded(block: dict[str, Any], text: str) -> dict[str, Any]:
    """A block of text with other words; what cites the old ones goes."""
    cited = {"citations": None} if block.get("citations") else {}
    return {**block, **cited, "text": text}


def _with_calls(blocks: list[Any], given: Sequence[ToolCallLike], seed: str) -> list[Any]:
    """The new calls in the places of the old ones, further ones at the end."""
    old = [block for block in blocks if is_call(block)]
    calls = settle_calls(given, [read_use(block) for block in old], seed)
    written = iter(
        [_use(call, old[n] if n < len(old) else {}) for n, call in enumerate(calls)],
    )
    new: list[Any] = []
    for block in blocks:
        if not is_call(block):
            new.append(block)
        elif (call := next(written, None)) is not None:
            new.append(call)
    return [*new, *written]


def _use(call: ToolCall, old: dict[str, Any]) -> dict[str, Any]:
    """The call on the wire; the block itself where it makes that call already."""
    was = read_use(old) if old else None
    if was is not None and (was.id, was.name, was.raw) == (call.id, call.name, call.raw):
        return old
    kept = old if was is not None and was.name == call.name else {"type": "tool_use"}
    said = call.raw if call.error else call.arguments
    return {**kept, "id": call.id, "name": call.name, "input": said}


# -- requests


def change_messages(
    said: Sequence[Any], units: Sequence[Message], changes: Sequence[MessageChange], told: int
) -> list[Any]:
    """The messages on the wire after all changes, whose places are those before any of them.

    Args:
        said: the messages on the wire.
        units: what they are read as, each with its place.
        changes: changes of these; their places count from 0, the system prompt not included.
        told: how many messages come before, for what is said of one.
    """
    check_places(changes, len(units))
    inserted: dict[int, list[Any]] = {}
    instead: dict[int, MessageChange] = {}
    for change in changes:
        if change.op == "insert":
            inserted.setdefault(change.place, []).append(_new(change))
        else:
            instead[change.place] = change
    out: list[Any] = []
    for place, unit in enumerate(units):
        raw = said[int(unit.at[1])]
        if len(unit.at) == 2:
            out += inserted.get(place, ())
            out += _replaced(raw, instead.get(place))
        elif unit.at[-1] == 0:
            out += _in_blocks(raw, place, inserted, instead, told)
    return [*out, *inserted.get(len(units), ())]


def _in_blocks(
    raw: dict[str, Any],
    first: int,
    inserted: dict[int, list[Any]],
    instead: dict[int, MessageChange],
    told: int,
) -> list[Any]:
    """A message whose blocks stand for themselves; what is put between two of them parts it."""
    parts: list[list[Any]] = [[]]
    out: list[Any] = []
    for place, block in enumerate(raw["content"], first):
        if place in inserted:
            out += [parts[-1], *inserted[place]]
            parts.append([])
        change = instead.get(place)
        if change is None:
            parts[-1].append(block)
        elif change.op == "replace":
            parts[-1] += _new_blocks(block, raw, change, told)
    whole: list[Any] = []
    for each in [*out, parts[-1]]:
        if not isinstance(each, list):
            whole.append(each)
        elif each:
            kept = len(each) == len(raw["content"]) and all(
                a is b for a, b in zip(each, raw["content"], strict=True)
            )
            whole.append(raw if kept else {**raw, "content": each})
    return whole


def _new_blocks(block: JSON, raw: dict[str, Any], change: MessageChange, told: int) -> list[Any]:
    """The blocks in place of one."""
    number = change.place + told + 1
    given = change.message
    role = change.role if given is None else given.get("role")
    if role not in (None, raw.get("role"), "tool" if is_result(block) else None):
        raise EditError(
            f"message {number} is a part of a message of the {raw.get('role')}, which can't get "
            f"the role {role!r}: drop it, and put in a new message"
        )
    if given is not None:
        blocks = [given] if is_block(given) else _blocks_of(given)
        return [block] if len(blocks) == 1 and same(block, blocks[0]) else blocks
    if change.text is None:
        return [block]
    if is_result(block):
        return [_with_result(block, change.text)]
    if not is_text(block):
        kind = kind_of(block) or "without a type"
        raise EditError(
            f"message {number} is a block {kind}, which has no text: give a whole block with "
            "message=, or drop it"
        )
    source = as_dict(block) or {"type": "text", "text": block}
    return [block if source.get("text") == change.text else _worded(source, change.text)]


def _blocks_of(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    return content if isinstance(content, list) else [{"type": "text", "text": as_text(content)}]


def _with_result(block: dict[str, Any], text: str) -> dict[str, Any]:
    content = block.get("content")
    if content is not None and read_content(content).text == text:
        return block
    return {**block, "content": with_text(content, text)}


def with_text(content: JSON, text: str) -> JSON:
    """A content with another text; blocks that are no text stay, in their order."""
    if not isinstance(content, list):
        return text
    texts = [place for place, block in enumerate(content) if is_text(block)]
    at = texts[0] if texts else len(content)
    first = as_dict(content[at]) if texts else {}
    words = [_worded(first or {"type": "text"}, text)]
    return [*content[:at], *words, *(block for block in content[at:] if not is_text(block))]


def _new(change: MessageChange) -> JSON:
    given = change.message
    if given is not None:
        return {"role": _role_of(given), "content": [given]} if is_block(given) else given
    return {"role": change.role or "user", "content": change.text or ""}


def _role_of(block: JSON) -> str:
    return "assistant" if is_call(block) else "user"


def _replaced(raw: JSON, change: MessageChange | None) -> list[Any]:
    """A whole message after a change; the same object where nothing is another."""
    if change is None:
        return [raw]
    if change.op == "drop":
        return []
    if change.message is not None:
        new = _new(change)
        return [raw if same(raw, new) else new]
    message = dict(as_dict(raw)) if isinstance(raw, dict) else {"role": "user", "content": raw}
    if change.role is not None:
        message["role"] = change.role
    content = message.get("content")
    spoken = as_dict(raw).get("role") == "assistant"
    before = spoken_text(content) if spoken else read_content(content).text
    if change.text is not None and (change.text != before or content is None):
        message["content"] = with_text(content, change.text)
        drop_signed(message)
    return [raw if same(raw, message) else message]


def unsigned(raw: JSON) -> JSON:
    """A message for another model: without signed thinking."""
    if not isinstance(raw, dict) or not signed_parts(raw):
        return raw
    message = dict(raw)
    drop_signed(message)
    return message
