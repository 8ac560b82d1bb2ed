"""Putting a streamed reply together, and cutting a whole one into pieces."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from .base import JSON

_LONGEST_PIECE = 24
_MOST_PIECES = 400


@dataclass(slots=True)
class Growing:
    """One JSON object that arrives in deltas.

    Fields named in `joined` are put end to end (text as text, lists as lists), objects named in
    `nested` grow field by field, a field in `continued` may come repeated or in parts, and of
    every other field the last value that says something wins: null or empty text never replaces
    a value. What it is given is not changed.
    """

    joined: frozenset[str] = frozenset()
    nested: frozenset[str] = frozenset()
    continued: frozenset[str] = frozenset()
    _fields: dict[str, Any] = field(default_factory=dict)
    _pieces: dict[str, list[Any]] = field(default_factory=dict)
    _children: dict[str, Growing] = field(default_factory=dict)

    def add(self, key: str, value: JSON) -> None:
        """Take one field of a delta."""
        if key in self.nested and isinstance(value, dict):
            child = self._children.get(key)
            if child is None:
                child = Growing(self.joined, self.nested, self.continued)
                self._children[key] = child
                self._fields[key] = None
            child.update(value)
        elif key in self.joined and isinstance(value, str | list):
            self._pieces.setdefault(key, []).append(value)
            self._fields[key] = None
        elif key in self.continued and isinstance(value, str):
            old = self._fields.get(key) or ""
            self._fields[key] = old if value == old else old + value
        elif key not in self._fields or value not in (None, ""):
            self._fields[key] = value

    def update(self, delta: dict[str, Any]) -> None:
        """Take all fields of a delta."""
        for key, value in delta.items():
            self.add(key, value)

    def get(self, key: str) -> JSON:
        """The last value of a field that is neither joined nor nested."""
        return self._fields.get(key)

    def done(self) -> dict[str, Any]:
        """The object as it stands."""
        return {key: self._value(key, value) for key, value in self._fields.items()}

    def _value(self, key: str, value: JSON) -> JSON:
        if key in self._children:
            return self._children[key].done()
        if key in self._pieces:
            return _join(self._pieces[key])
        return value


def _join(pieces: list[Any]) -> JSON:
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    parts: list[Any] = []
    for piece in pieces:
        if isinstance(piece, list):
            parts.extend(piece)
        elif piece:
            parts.append({"type": "text", "text": piece})
    return parts


@dataclass(slots=True)
class _Slot:
    index: int | None
    item: Growing


@dataclass(slots=True)
class Slots:
    """The tool calls of one streamed message, each growing in its own place.

    A fragment belongs to the call with its `index`, from the first chunk on and never by its
    position in the chunk. Servers that give no index, or the same index to every call, are told
    apart by the ids.
    """

    template: Growing
    _slots: list[_Slot] = field(default_factory=list)
    _at_index: dict[int, _Slot] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self._slots)

    def find(self, index: JSON, call_id: JSON, *, starts: bool) -> Growing:
        """The call that a fragment continues, or a new one.

        `starts` says that the fragment names a tool, as the first fragment of a call does.
        """
        place = index if isinstance(index, int) and not isinstance(index, bool) else None
        slot = self._by_id(call_id, starts=starts) if place is None else self._at_index.get(place)
        known = slot.item.get("id") if slot else None
        another = bool(starts and call_id and known and call_id != known)
        if slot is None or another:
            fresh = Growing(self.template.joined, self.template.nested, self.template.continued)
            slot = _Slot(place, fresh)
            self._slots.append(slot)
            if place is not None:
                self._at_index[place] = slot
        return slot.item

    def done(self) -> list[dict[str, Any]]:
        """The calls in the order of their indexes, or of their arrival where any has none."""
        slots = self._slots
        if all(slot.index is not None for slot in slots):
            slots = sorted(slots, key=lambda slot: slot.index or 0)
        return [slot.item.done() for slot in slots]

    def _by_id(self, call_id: JSON, *, starts: bool) -> _Slot | None:
        if call_id:
            return next((s for s in reversed(self._slots) if s.item.get("id") == call_id), None)
        return self._slots[-1] if self._slots and not starts else None


def pieces(text: str) -> list[str]:
    """Text cut at words into short pieces, a few hundred at most; joined they are the text."""
    longest = max(_LONGEST_PIECE, -(-len(text) // _MOST_PIECES))
    cut: list[str] = []
    current = ""
    for word in re.findall(rf"\S{{1,{longest}}}\s{{0,{longest}}}|\s{{1,{longest}}}", text):
        if current and len(current) + len(word) > longest:
            cut.append(current)
            current = ""
        current += word
    return [*cut, current] if current else cut
