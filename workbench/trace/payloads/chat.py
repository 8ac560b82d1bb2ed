"""Writing into the messages of a chat: what the shapes with ``{"role", "content"}`` share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import EditError

from .base import JSON, MessageChange
from .reading import TEXT_PARTS, as_dict, as_list, kind_of, read_content, stable_text
from .signed import drop_signed, signed_parts

SYSTEM_ROLES = ("system", "developer")
"""The roles of a message that tells the model how to behave."""

# What points into the old text of a part.
_TIED_TO_PART = ("annotations", "logprobs")


def write_content(message: dict[str, Any], text: str) -> None:
    """Put a text in place of a message's text; parts that are not text stay, in their order."""
    content = message.get("content")
    if not isinstance(content, list):
        message["content"] = text
        return
    texts = [place for place, part in enumerate(content) if _is_text(part)]
    first = as_dict(content[texts[0]]) if texts else {"type": "text"}
    tied: dict[str, JSON] = {key: [] for key in _TIED_TO_PART if first.get(key)}
    new = {**(first or {"type": "text"}), **tied, "text": text}
    at = texts[0] if texts else len(content)
    before = content[:at]
    message["content"] = [*before, new, *(part for part in content[at:] if not _is_text(part))]


def with_request(
    body: JSON,
    *,
    system: str | None,
    messages: Sequence[MessageChange],
    model: str | None,
    set: Mapping[str, JSON] | None,  # noqa: A002 - as in PayloadView
    unset: Sequence[str],
) -> JSON:
    """A body that asks this instead. See :class:`~workbench.trace.payloads.PayloadView`."""
    old = as_dict(body)
    said = as_list(old.get("messages"))
    new = _changed(said, messages)
    if system is not None:
        new = _with_system(new, system)
    changes: dict[str, Any] = dict(set or {})
    if model is not None:
        changes["model"] = model
        if model != old.get("model"):
            new = [_unsigned(each) for each in new]
    if len(new) != len(said) or any(a is not b for a, b in zip(new, said, strict=True)):
        changes["messages"] = new
    return with_fields(body, changes, unset)


def with_fields(body: JSON, changes: Mapping[str, JSON], unset: Sequence[str]) -> JSON:
    """A body with other fields, and without some; itself where nothing differs."""
    old = as_dict(body)
    new = {k: v for k, v in changes.items() if k not in old or not same(old[k], v)}
    gone = [key for key in unset if key in old]
    if not new and not gone:
        return body
    return {key: value for key, value in {**old, **new}.items() if key not in gone}


def check_places(changes: Sequence[MessageChange], count: int) -> None:
    """Raise EditError for a change of a message that is not there."""
    for change in changes:
        if not 0 <= change.place <= count - (change.op != "insert"):
            raise EditError(
                f"there is no message {change.place + 1}: the request has {count} messages"
            )


def same(a: JSON, b: JSON) -> bool:
    """Whether two values are written alike."""
    return a is b or stable_text(a) == stable_text(b)


def _changed(said: list[Any], changes: Sequence[MessageChange]) -> list[Any]:
    """The messages after all changes, whose places are those before any of them."""
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
    out: list[Any] = []
    for place in range(len(said) + 1):
        out += inserted.get(place, ())
        out += instead.get(place, said[place : place + 1])
    return out


def _new(change: MessageChange) -> JSON:
    if change.message is not None:
        return change.message
    return {"role": change.role or "user", "content": change.text or ""}


def _replaced(raw: JSON, change: MessageChange) -> JSON:
    if change.message is not None:
        return raw if same(raw, change.message) else change.message
    message = dict(as_dict(raw)) if isinstance(raw, dict) else {"role": "user", "content": raw}
    before = read_content(message.get("content")).text
    if change.role is not None:
        message["role"] = change.role
    if change.text is not None and (change.text != before or message.get("content") is None):
        write_content(message, change.text)
        drop_signed(message)
    return raw if same(raw, message) else message


def _with_system(messages: list[Any], text: str) -> list[Any]:
    for place, raw in enumerate(messages):
        if as_dict(raw).get("role") in SYSTEM_ROLES:
            new = _replaced(raw, MessageChange("replace", place, text=text))
            return [*messages[:place], new, *messages[place + 1 :]]
    return [{"role": "system", "content": text}, *messages]


def _unsigned(raw: JSON) -> JSON:
    if not isinstance(raw, dict) or not signed_parts(raw):
        return raw
    message = dict(raw)
    drop_signed(message)
    return message


def _is_text(part: JSON) -> bool:
    return isinstance(part, str) or kind_of(part) in TEXT_PARTS
