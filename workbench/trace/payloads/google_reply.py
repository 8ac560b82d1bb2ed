"""Writing "the model said this instead" into a response of Google's shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import EditError

from .base import JSON, ToolCall, ToolCallLike
from .calls import derived_id, same_calls, seed_of, settle_calls
from .google_parts import (
    call_of,
    calls_of,
    field,
    is_text,
    key_of,
    text_of,
    tool_call,
    unsigned,
    write_text,
)
from .reading import as_dict, as_list

# What describes the old words, and would contradict others.
_TIED_TO_TEXT = (
    "citationMetadata",
    "groundingMetadata",
    "urlContextMetadata",
    "avgLogprobs",
    "logprobsResult",
    "tokenCount",
)


def first_candidate(body: JSON) -> dict[str, Any]:
    """The candidate that counts: the one with index 0, or the first."""
    found = [each for each in as_list(as_dict(body).get("candidates")) if isinstance(each, dict)]
    return next((each for each in found if each.get("index") == 0), found[0] if found else {})


def with_reply(
    body: JSON,
    *,
    text: str | None,
    tool_calls: Sequence[ToolCallLike] | None,
    refusal: str | None,
    finish_reason: str | None,
) -> JSON:
    """A response in which the model said this. See :class:`PayloadView`."""
    if text is None and tool_calls is None and refusal is None and finish_reason is None:
        return body
    source = as_dict(body)
    old = first_candidate(source)
    said = dict(old)
    content = as_dict(said.get("content"))
    parts = list(as_list(content.get("parts")))
    before = "".join(text_of(part) for part in parts if is_text(part))
    new_text = text is not None and text != before
    if refusal is not None:
        parts = write_text(parts, text or "")
        tool_calls = tool_calls or []
    elif text is not None and (new_text or not any(map(is_text, parts))):
        parts = unsigned(write_text(parts, text))
    if tool_calls is not None:
        parts = _write_calls(parts, tool_calls, seed_of(body, field(source, "responseId")))
    if new_text or refusal is not None or tool_calls is not None or said.get("content") is None:
        said["content"] = {"role": "model", **content, "parts": _never_empty(parts)}
    reason = key_of(said, "finishReason")
    said[reason] = finish_reason or ("SAFETY" if refusal is not None else "STOP")
    for name in ("finishMessage", *(_TIED_TO_TEXT if new_text or refusal is not None else ())):
        said.pop(key_of(said, name), None)
    if refusal is not None:
        said["finishMessage"] = refusal
    return _with_candidate(source, old, said, seed_of(body, field(source, "responseId")))


def _with_candidate(
    source: dict[str, Any], old: dict[str, Any], said: dict[str, Any], seed: str
) -> dict[str, Any]:
    feedback = key_of(source, "promptFeedback")
    blocked = field(source.get(feedback), "blockReason") is not None
    gone = {"error", feedback} if blocked else {"error"}
    kept = {key: value for key, value in source.items() if key not in gone}
    if old:
        listed = as_list(source.get("candidates"))
        return {**kept, "candidates": [said if each is old else each for each in listed]}
    made = {} if field(source, "responseId") else {"responseId": derived_id("wb_", seed)}
    return {**kept, "candidates": [{**said, "index": 0}], **made}


def _never_empty(parts: list[Any]) -> list[Any]:
    said = any(is_text(part) or call_of(part) is not None for part in parts)
    return parts if said else [*parts, {"text": ""}]


def _write_calls(parts: list[Any], given: Sequence[ToolCallLike], seed: str) -> list[Any]:
    """The parts with these calls in the places of their calls; further ones come last."""
    was = calls_of(parts)
    calls = _settled(given, was, seed)
    left = list(calls)
    new: list[Any] = []
    for part in parts:
        if call_of(part) is None:
            new.append(part)
        elif left:
            new.append(_written(left.pop(0), part))
    new += [_written(call, {}) for call in left]
    return new if same_calls(calls, was) else unsigned(new)


def _settled(given: Sequence[ToolCallLike], was: Sequence[ToolCall], seed: str) -> list[ToolCall]:
    """The calls as they are written: with ids only where the reply has any, or where two calls
    of one tool could not be told apart."""
    settled = settle_calls(given, was, seed)
    for number, call in enumerate(settled, 1):
        if not isinstance(call.arguments, dict):
            raise EditError(
                f"the arguments of tool call {number} ({call.name}) are no JSON object, and "
                f"Google's calls hold nothing else: {call.error or call.raw}"
            )
    names = [call.name for call in settled]
    told = any(call.id for call in was) or len(set(names)) < len(names)
    out = []
    for place, (call, item) in enumerate(zip(settled, given, strict=True)):
        kept = place < len(was) and was[place].name == call.name and was[place].id == call.id
        known = told or _given_id(item) or kept
        out.append(call if known else ToolCall(None, call.name, call.arguments, call.raw))
    return out


def _given_id(item: ToolCallLike) -> bool:
    if isinstance(item, ToolCall):
        return bool(item.id)
    return isinstance(item, Mapping) and bool(item.get("id"))


def _written(call: ToolCall, old: JSON) -> dict[str, Any]:
    """The call on the wire; what else the old one had stays where the same tool is called."""
    before = call_of(old) or {}
    known = tool_call(before)
    same = as_dict(old) if known.name == call.name else {}
    if same and (known.raw, known.id) == (call.raw, call.id):
        return same
    inner = {k: v for k, v in before.items() if k != "id"} if same else {}
    named = {} if call.id is None else {"id": call.id}
    whole = {**named, **inner, "name": call.name, "args": call.arguments}
    return {**same, key_of(same, "functionCall"): whole}
