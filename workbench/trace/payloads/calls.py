"""Tool calls as a person gives them, made ready to be written into a reply."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from workbench.errors import EditError

from .base import JSON, ToolCall, ToolCallLike
from .reading import compact, parse_arguments, read_call, stable_text


def settle_calls(
    given: Sequence[ToolCallLike], old: Sequence[ToolCall], seed: str
) -> list[ToolCall]:
    """The given calls, each with argument text and an id.

    An id that is given stays. Without one, a call takes the id of the old call in the same
    place if that called the same tool, else an id derived from `seed` and the place: the same
    edit gives the same ids. Raises EditError for a call that can't be written.
    """
    calls = [_read(item, number) for number, item in enumerate(given, 1)]
    taken = _given_ids(calls)
    settled = []
    for place, call in enumerate(calls):
        call_id = call.id
        if call_id is None:
            kept = _kept_id(call, old, place)
            call_id = kept if kept and kept not in taken else _derived_id(seed, place, taken)
            taken.add(call_id)
        settled.append(ToolCall(call_id, call.name, call.arguments, call.raw, call.error))
    return settled


def same_calls(new: Sequence[ToolCall], old: Sequence[ToolCall]) -> bool:
    """Whether both ask for the same tools with the same argument texts, in the same order."""
    return [(call.name, call.raw) for call in new] == [(call.name, call.raw) for call in old]


def seed_of(body: JSON, response_id: JSON) -> str:
    """What derived ids are made from: the response's id, or its content when it has none."""
    if isinstance(response_id, str) and response_id:
        return response_id
    return _digest(stable_text(body))


def derived_id(prefix: str, seed: str) -> str:
    """A stable id, such as `call_wb_1a2b3c4d`."""
    return f"{prefix}{_digest(seed)[:8]}"


def _read(item: object, number: int) -> ToolCall:
    if isinstance(item, ToolCall):
        call = _reconciled(item, number)
    elif isinstance(item, Mapping):
        if unknown := sorted(str(key) for key in item if key not in {"id", "name", "arguments"}):
            raise EditError(
                f"tool call {number} has the unknown field {unknown[0]!r}: "
                'give {"name": ..., "arguments": ..., "id": ...}, the id if you like.'
            )
        call = _build(item.get("id"), item.get("name"), item.get("arguments", {}), number)
    elif isinstance(item, tuple | list) and len(item) == 2:
        call = _build(None, item[0], item[1], number)
    else:
        raise EditError(
            f"tool call {number} is {item!r}: give a ToolCall, a pair (name, arguments), "
            'or {"name": ..., "arguments": ..., "id": ...}.'
        )
    if not call.name:
        raise EditError(f"tool call {number} has no name: say which tool is called.")
    return call


def _reconciled(call: ToolCall, number: int) -> ToolCall:
    """The argument text as it is, unless `arguments` was replaced and says something else."""
    value, error = parse_arguments(call.raw)
    if stable_text(value) == stable_text(call.arguments):
        return ToolCall(call.id or None, call.name, value, call.raw, error)
    return _build(call.id, call.name, call.arguments, number)


def _build(call_id: JSON, name: JSON, arguments: JSON, number: int) -> ToolCall:
    text = arguments if isinstance(arguments, str) else _argument_text(name, arguments, number)
    return read_call(call_id or None, name, text)


def _argument_text(name: JSON, arguments: JSON, number: int) -> str:
    try:
        return compact(arguments)
    except (TypeError, ValueError, RecursionError) as exc:
        raise EditError(
            f"the arguments of tool call {number} ({name}) can't be written as JSON: {exc}. "
            "Give plain JSON values, or the argument text as a string."
        ) from exc


def _given_ids(calls: Sequence[ToolCall]) -> set[str]:
    seen: dict[str, int] = {}
    for number, call in enumerate(calls, 1):
        if call.id is None:
            continue
        if call.id in seen:
            raise EditError(
                f"tool calls {seen[call.id]} and {number} both have the id {call.id!r}: "
                "give each its own, or leave the id out."
            )
        seen[call.id] = number
    return set(seen)


def _kept_id(call: ToolCall, old: Sequence[ToolCall], place: int) -> str | None:
    same = place < len(old) and old[place].name == call.name
    return old[place].id if same else None


def _derived_id(seed: str, place: int, taken: set[str]) -> str:
    attempt, salt = derived_id("call_wb_", f"{seed}/{place}"), 0
    while attempt in taken:
        salt += 1
        attempt = derived_id("call_wb_", f"{seed}/{place}/{salt}")
    return attempt


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
