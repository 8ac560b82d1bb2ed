"""Writing "the model was asked this instead" into a request of Google's shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.errors import EditError

from .base import JSON, MessageChange
from .google_parts import (
    Unit,
    answer_of,
    is_signed,
    is_text,
    key_of,
    only_word,
    parts_of,
    read_units,
    text_of,
    unsigned,
    write_text,
)
from .reading import as_dict, as_list, as_text, parse_arguments, stable_text

_SYSTEM = "systemInstruction"


def with_request(
    body: JSON,
    *,
    system: str | None,
    messages: Sequence[MessageChange],
    model: str | None,
    set: Mapping[str, JSON] | None,  # noqa: A002 - as in PayloadView
    unset: Sequence[str],
) -> JSON:
    """A request that asks this instead. See :class:`PayloadView`."""
    old = as_dict(body)
    new = _changed(old, messages)
    if system is not None:
        name = key_of(new, _SYSTEM)
        new = {**new, name: _with_text(new.get(name), system, role="user")}
    if model is not None and model != old.get("model"):
        new = {**_unsigned_contents(new), "model": model}
    new = {**new, **(set or {})}
    new = {k: (old[k] if k in old and _same(old[k], v) else v) for k, v in new.items()}
    new = {key: value for key, value in new.items() if key not in unset}
    changed = new.keys() != old.keys() or any(new[key] is not old[key] for key in new)
    return new if changed else body


def _unsigned_contents(body: dict[str, Any]) -> dict[str, Any]:
    contents = body.get("contents")
    if not isinstance(contents, list):
        return body
    return {**body, "contents": [_unsigned(content) for content in contents]}


def _unsigned(content: JSON) -> JSON:
    parts = parts_of(content)
    if not any(map(is_signed, parts)):
        return content
    return {**content, "parts": unsigned(parts)}


def _changed(body: dict[str, Any], changes: Sequence[MessageChange]) -> dict[str, Any]:
    """The body after all changes, whose places are those before any of them."""
    if not changes:
        return body
    units = list(read_units(body))
    inserted: dict[int, list[MessageChange]] = {}
    instead: dict[int, MessageChange] = {}
    for change in changes:
        if not 0 <= change.place <= len(units) - (change.op != "insert"):
            raise EditError(
                f"there is no message {change.place + 1}: the request has {len(units)} messages"
            )
        if change.op == "insert":
            inserted.setdefault(change.place, []).append(change)
        else:
            instead[change.place] = change
    new = dict(body)
    pieces: list[_Piece] = []
    for place in range(len(units) + 1):
        pieces += [_inserted(change, pieces) for change in inserted.get(place, ())]
        if place == len(units):
            break
        unit, change_here = units[place], instead.get(place)
        if unit.content is None:
            _change_system(new, change_here)
        else:
            pieces += _unit_pieces(body, unit, change_here)
    if any(unit.content is not None for unit in units) or pieces:
        new["contents"] = _joined(body, pieces)
    return new


class _Piece:
    """Some parts of a content of the new request."""

    def __init__(
        self, content: int | None, role: str, parts: Sequence[tuple[int, Any]], raw: JSON = None
    ) -> None:
        self.content = content
        """Of which of the old contents they are; None for a content of their own."""
        self.role = role
        self.parts = parts
        """Each with its place among the old parts."""
        self.raw = raw
        """The whole content, where it is new."""


def _contents(body: dict[str, Any]) -> list[Any]:
    contents = body.get("contents")
    return contents if isinstance(contents, list) else [contents]


def _unit_pieces(body: dict[str, Any], unit: Unit, change: MessageChange | None) -> list[_Piece]:
    content = _contents(body)[unit.content or 0]
    old = parts_of(content)
    role = as_text(as_dict(content).get("role"))
    parts = [(place, old[place]) for place in unit.places]
    if change is None:
        return [_Piece(unit.content, role, parts)]
    if change.op == "drop":
        return []
    if change.message is not None:
        wanted = as_text(as_dict(change.message).get("role")) or role
        if wanted != role or "parts" not in as_dict(change.message):
            return [_Piece(None, wanted, (), change.message)]
        new = as_list(change.message["parts"])
    else:
        wanted = change.role or role
        new = [part for _, part in parts]
        if change.text is not None and change.text != unit.message.text:
            new = unsigned(_said_in(new, change.text))
    if wanted != role:
        return [_Piece(None, wanted, (), {"role": wanted, "parts": new})]
    if len(new) == len(parts):
        places = list(unit.places)
    else:
        places = [unit.places[0] if unit.places else 0] * len(new)
    return [_Piece(unit.content, role, list(zip(places, new, strict=True)))]


def _inserted(change: MessageChange, before: list[_Piece]) -> _Piece:
    """A new message; the answer of a call joins the answers that stand before it."""
    if change.message is None:
        role = change.role or "user"
        return _Piece(None, role, (), {"role": role, "parts": [{"text": change.text or ""}]})
    parts = parts_of(change.message)
    last = before[-1] if before else None
    answers = bool(parts) and all(answer_of(part) is not None for part in parts)
    if answers and last is not None and last.content is not None and last.parts:
        place, part = last.parts[-1]
        if answer_of(part) is not None:
            return _Piece(last.content, last.role, [(place, each) for each in parts])
    return _Piece(None, "", (), change.message)


def _joined(body: dict[str, Any], pieces: Sequence[_Piece]) -> list[Any]:
    """The contents: pieces of one old content that stand beside each other are one again."""
    groups: list[list[_Piece]] = []
    for piece in pieces:
        last = groups[-1][-1] if groups else None
        if last is not None and piece.content is not None and piece.content == last.content:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    old = _contents(body)
    return [_content(old, group) for group in groups]


def _content(old: list[Any], group: list[_Piece]) -> JSON:
    number = group[0].content
    if number is None:
        return group[0].raw
    was = old[number]
    # By place, and in order where one place holds several.
    parts = [
        part for _, part in sorted((each for p in group for each in p.parts), key=lambda e: e[0])
    ]
    before = parts_of(was)
    if len(parts) == len(before) and all(map(_same, parts, before)):
        return was
    if isinstance(was, dict):
        beside = {k: v for k, v in was.items() if k in ("role", "parts") or "parts" in was}
        return {**beside, "parts": parts}
    return {"role": "user", "parts": parts}


def _change_system(new: dict[str, Any], change: MessageChange | None) -> None:
    if change is None:
        return
    name = key_of(new, _SYSTEM)
    if change.op == "drop":
        new.pop(name, None)
    elif change.message is not None:
        new[name] = change.message
    elif change.role not in (None, "system"):
        raise EditError(
            f"the system instruction cannot get the role {change.role!r}: it stands apart from "
            "the contents. Drop it, and insert a message of that role"
        )
    elif change.text is not None:
        new[name] = _with_text(new.get(name), change.text, role="user")


def _with_text(content: JSON, text: str, *, role: str) -> JSON:
    parts = parts_of(content)
    if content is not None and "\n".join(text_of(p) for p in parts if is_text(p)) == text:
        return content
    beside = {k: v for k, v in as_dict(content).items() if k == "role"}
    return {**({"role": role} if content is None else beside), "parts": _said_in(parts, text)}


def _said_in(parts: list[Any], text: str) -> list[Any]:
    """The parts of a message that says another text: a function's response, or words."""
    if len(parts) == 1 and (answer := answer_of(parts[0])) is not None:
        part = as_dict(parts[0])
        changed = {**answer, "response": _response(answer.get("response"), text)}
        return [{**part, key_of(part, "functionResponse"): changed}]
    return write_text(parts, text) or [{"text": text}]


def _response(old: JSON, text: str) -> dict[str, Any]:
    """A function's response that says this: an object where the text is one, else words."""
    word = only_word(old)
    value = None if word is not None else parse_arguments(text)[0]
    return value if isinstance(value, dict) else {word or "result": text}


def _same(a: JSON, b: JSON) -> bool:
    return a is b or stable_text(a) == stable_text(b)
