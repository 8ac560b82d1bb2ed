"""Writing an edit into a request or a reply of OpenAI's Responses.

Reasoning that the provider keeps or has sealed belongs to the words and calls after it, by their
ids. Where these change, it goes, and what is left of the turn gets other ids: the provider refuses
an item that it knows without the reasoning it made it with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import EditError

from .base import JSON, MessageChange, ToolCall, ToolCallLike
from .calls import derived_id, same_calls, settle_calls
from .chat import check_places, same
from .reading import as_dict, as_list, as_text, kind_of, read_content
from .responses_items import (
    ROLES,
    by_model,
    is_call,
    is_message,
    is_result,
    is_signed,
    is_text,
    open_calls,
    read_tool_call,
    refusal_text,
    spoken_text,
)

# -- replies


def write_output(
    output: list[Any],
    *,
    text: str | None,
    tool_calls: Sequence[ToolCallLike] | None,
    refusal: str | None,
    seed: str,
) -> list[Any]:
    """The items of a reply that says this instead; None keeps what is there.

    Items that do not change are the same objects.
    """
    new = list(output)
    if text is not None or refusal is not None:
        new = _with_words(new, text, refusal, seed)
    if tool_calls is not None:
        new = _with_calls(new, tool_calls, seed)
    if text == "" and refusal is None and len(new) > 1 and open_calls(new):
        new = [item for item in new if not (is_message(item) and _is_silent(item))]
    asked = text is not None or tool_calls is not None
    if asked and not any(is_message(item) or is_call(item) for item in new):
        new.append(_said("", None, seed))
    changed = _text_of(new) != _text_of(output) or _refusal_of(new) != _refusal_of(output)
    return _without_reasoning(new, seed) if changed or not _same_calls(new, output) else new


def _text_of(output: Sequence[Any]) -> str:
    return "".join(spoken_text(item) for item in output if is_message(item))


def _refusal_of(output: Sequence[Any]) -> list[str]:
    found = (refusal_text(item) for item in output if is_message(item))
    return [text for text in found if text is not None]


def _is_silent(item: dict[str, Any]) -> bool:
    return not spoken_text(item) and refusal_text(item) is None and not _others(item)


def _others(item: dict[str, Any]) -> bool:
    return read_content(item.get("content")).others > 0


def _calls_of(output: Sequence[Any]) -> list[ToolCall]:
    return [read_tool_call(output[place]) for place in open_calls(output)]


def _same_calls(new: Sequence[Any], old: Sequence[Any]) -> bool:
    return same_calls(_calls_of(new), _calls_of(old))


def _with_words(output: list[Any], text: str | None, refusal: str | None, seed: str) -> list[Any]:
    """The first message says all of it, and the others go."""
    spoken = [place for place, item in enumerate(output) if is_message(item)]
    same_refusal = _refusal_of(output) == ([] if refusal is None else [refusal])
    if spoken and same_refusal and text == _text_of(output):
        return output
    if not spoken:
        calls = [place for place, item in enumerate(output) if is_call(item)]
        at = calls[0] if calls else len(output)
        return [*output[:at], _said(text, refusal, seed), *output[at:]]
    first = output[spoken[0]]
    written = {**first, "content": _parts(as_list(first.get("content")), text, refusal)}
    gone = set(spoken[1:])
    return [
        written if place == spoken[0] else item
        for place, item in enumerate(output)
        if place not in gone
    ]


def _said(text: str | None, refusal: str | None, seed: str) -> dict[str, Any]:
    return {
        "id": derived_id("msg_wb_", seed),
        "type": "message",
        "status": "completed",
        "role": "assistant",
        "content": _parts([], text, refusal),
    }


def _parts(old: list[Any], text: str | None, refusal: str | None) -> list[Any]:
    """The parts of a message of the model: a text, a refusal, and those that are neither."""
    first = next((part for part in old if is_text(part) and isinstance(part, dict)), {})
    parts: list[Any] = []
    if text is not None and (text or refusal is None):
        blank = {"type": "output_text", "annotations": []}
        tied: dict[str, JSON] = {key: [] for key in ("annotations", "logprobs") if first.get(key)}
        parts.append({**(first or blank), **tied, "text": text})
    if refusal is not None:
        parts.append({"type": "refusal", "refusal": refusal})
    rest = [part for part in old if not is_text(part) and kind_of(part) != "refusal"]
    return [*parts, *rest]


def _with_calls(output: list[Any], given: Sequence[ToolCallLike], seed: str) -> list[Any]:
    """The new calls in the places of the old ones, further ones at the end."""
    places = open_calls(output)
    calls = settle_calls(given, [read_tool_call(output[place]) for place in places], seed)
    written = iter(
        [
            _call(call, output[places[n]] if n < len(places) else {}, f"{seed}/{n}")
            for n, call in enumerate(calls)
        ]
    )
    new: list[Any] = []
    for place, item in enumerate(output):
        if place not in places:
            new.append(item)
        elif (call := next(written, None)) is not None:
            new.append(call)
    return [*new, *written]


def _call(call: ToolCall, old: dict[str, Any], seed: str) -> dict[str, Any]:
    """The call on the wire; the item itself where it makes that call already."""
    was = read_tool_call(old) if old else None
    if was is not None and (was.id, was.name, was.raw) == (call.id, call.name, call.raw):
        return old
    kind = kind_of(old) if was is not None and was.name == call.name else None
    if kind in ("function_call", "custom_tool_call"):
        key = "arguments" if kind == "function_call" else "input"
        return {**old, "call_id": call.id, key: call.raw}
    return {
        "id": derived_id("fc_wb_", seed),
        "type": "function_call",
        "status": "completed",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.raw,
    }


def _without_reasoning(output: list[Any], seed: str) -> list[Any]:
    """The items without reasoning that holds for others; the rest is made unknown for it."""
    if not any(map(is_signed, output)):
        return output
    kept = [item for item in output if not is_signed(item)]
    return [_renamed(item, f"{seed}/{place}") for place, item in enumerate(kept)]


def _renamed(item: Any, seed: str) -> Any:
    source = as_dict(item)
    if not as_text(source.get("id")) or not by_model(item):
        return item
    return {**source, "id": derived_id(f"{source['id'].split('_')[0]}_wb_", seed)}


# -- requests


def change_items(said: list[Any], changes: Sequence[MessageChange]) -> list[Any]:
    """The items after all changes, whose places are those before any of them.

    Where the model's own items change, signed reasoning of the same turn goes.
    """
    check_places(changes, len(said))
    inserted: dict[int, list[Any]] = {}
    instead: dict[int, list[Any]] = {}
    for change in changes:
        if change.op == "insert":
            inserted.setdefault(change.place, []).append(_new(change))
        elif change.op == "drop":
            instead[change.place] = []
        else:
            instead[change.place] = [_replaced(said[change.place], change)]
    touched = {
        place
        for place, new in instead.items()
        if by_model(said[place]) and not (new and new[0] is said[place])
    }
    turns = [run for run in _runs(said) if touched.intersection(run)] if touched else []
    stale = {place: [said[n] for n in run] for run in turns for place in run}
    out: list[Any] = []
    for place in range(len(said) + 1):
        out += inserted.get(place, ())
        kept = said[place : place + 1]
        if place in stale:
            kept = _unsigned(kept, within=stale[place])
        out += instead.get(place, kept)
    return out


def unsigned(said: list[Any]) -> list[Any]:
    """The items for another model: without signed reasoning, and with nothing tied to it."""
    out: list[Any] = []
    for run in _runs(said):
        items = [said[place] for place in run]
        out += _unsigned(items, within=items)
    return out


def _runs(said: Sequence[Any]) -> list[range]:
    """The turns of the model, and each other item for itself."""
    runs: list[range] = []
    model = [by_model(item) for item in said]
    for place in range(len(said)):
        if runs and model[place] and model[place - 1]:
            runs[-1] = range(runs[-1].start, place + 1)
        else:
            runs.append(range(place, place + 1))
    return runs


def _unsigned(items: list[Any], within: list[Any]) -> list[Any]:
    if not any(map(is_signed, within)):
        return items
    return [_nameless(item) for item in items if not is_signed(item)]


def _nameless(item: Any) -> Any:
    source = as_dict(item)
    if "id" not in source or not (is_message(item) or is_call(item)):
        return item
    return {key: value for key, value in source.items() if key != "id"}


def _new(change: MessageChange) -> JSON:
    if change.message is not None:
        return change.message
    return {"role": change.role or "user", "content": change.text or ""}


def _replaced(raw: JSON, change: MessageChange) -> JSON:
    if change.message is not None:
        return raw if same(raw, change.message) else change.message
    if isinstance(raw, str):
        if change.role in (None, "user"):
            return raw if change.text is None else change.text
        return {"role": change.role, "content": raw if change.text is None else change.text}
    item = dict(as_dict(raw))
    if is_result(raw):
        _refuse_role(change, "tool", "a tool's result")
        return raw if change.text is None else _with_text(raw, item, "output", change.text)
    if not is_message(raw) and item:
        kind = kind_of(item) or "without a type"
        raise EditError(
            f"message {change.place + 1} is an item {kind}, which has no role and no text of its "
            "own: give a whole item with message=, or drop it"
        )
    if change.role is not None and change.role != ROLES.get(as_text(item.get("role"))):
        item["role"] = change.role
    new = raw if change.text is None else _with_text(raw, item, "content", change.text)
    return raw if same(raw, item) else item if new is not raw or "role" in item else raw


def _refuse_role(change: MessageChange, role: str, what: str) -> None:
    if change.role not in (None, role):
        raise EditError(
            f"message {change.place + 1} is {what}, whose role can't be changed: put a new "
            "message beside it instead"
        )


def _with_text(raw: JSON, item: dict[str, Any], key: str, text: str) -> JSON:
    """The item with another text; parts that are no text stay, in their order."""
    content = item.get(key)
    if not isinstance(content, list):
        if content != text:
            item[key] = text
        return raw if content == text else item
    own = item.get("role") == "assistant"
    before = spoken_text(item) if own and key == "content" else read_content(content).text
    if text == before and content:
        return raw
    kind = "output_text" if own else "input_text"
    texts = [place for place, part in enumerate(content) if is_text(part)]
    at = texts[0] if texts else len(content)
    first = as_dict(content[at]) if texts else {}
    tied: dict[str, JSON] = {name: [] for name in ("annotations", "logprobs") if first.get(name)}
    new = {**(first or {"type": kind}), **tied, "text": text}
    item[key] = [*content[:at], new, *(part for part in content[at:] if not is_text(part))]
    return item
