"""Secrets that are split over the chunks of a stream.

A chunk is delivered to the agent at once, and written at once too, unless a secret may have begun
at the end of one of its texts: then its line, and those of the chunks after it, wait until the
text shows what it is. A secret found so is written as one placeholder in the chunk where it
begins; the chunks keep their number and their shape. What waits when a process is killed is lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from workbench.trace.redaction.names import (
    each_word,
    is_id,
    is_opaque,
    is_secret_in_query,
    is_secret_name,
)
from workbench.trace.redaction.redactor import Redactor
from workbench.trace.redaction.shapes import BEGIN, MARKS, STRICT
from workbench.trace.redaction.texts import PASSES, Match

Slot = tuple[str | int, ...]
"""Which text of the stream: the way to it in a chunk, where the items of a list go by their
``index``; of a chunk that is an event, after its type and the numbers that say what it is about."""

MAX_HELD: Final = 20_000
"""Characters that may wait; more are written as they are known then."""
_CONTEXT: Final = 256
"""Characters before what waits, to see names that stand before a value."""


def _begun(mark: str) -> str:
    """All of a mark and what may follow it, or most of it."""
    parts = [re.escape(mark) + r"[\w./+=:-]*"]
    return "|".join([*parts, *(re.escape(mark[:n]) for n in range(len(mark) - 1, 2, -1))])


_ANY_MARK: Final = (*MARKS, "[redacted:")
_FIRST: Final = "|".join(sorted({re.escape(mark[:n]) for mark in _ANY_MARK for n in (1, 2)}))
_BEGUN: Final = re.compile(
    BEGIN + rf"(?:{'|'.join(map(_begun, _ANY_MARK))})\Z" + rf"|{STRICT}(?:{_FIRST})\Z"
    r"|-----BEGIN [A-Z0-9 ]*PRIVATE KEY.*\Z|-{1,5}(?:B(?:E(?:G(?:I(?:N.{0,40})?)?)?)?)?\Z"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}[\s,:;|\"'\\]{1,8}[A-Za-z0-9/+]*\Z"
    r"|(?i:bearer|basic)\s+[\w.~+/=-]*\Z"
    r"|[a-z][a-z0-9+.-]{1,20}:\\?/\\?/[^\s/?#@\"'<>]{0,256}\Z",
    re.DOTALL,
)
"""The beginning of a secret at the end of a text."""
_QUOTED: Final = re.compile(
    r"(?P<esc>\\{0,31})(?P<q>[\"'])(?P<name>[\w.$-]{2,64})(?P=esc)(?P=q)\s*:\s*"
)
_NAMED: Final = (
    (re.compile(r"\b(?P<name>[A-Za-z][\w.-]{1,63})\s?=\s?"), re.compile(r"[^\s&;#<>]{0,4096}\Z")),
    (re.compile(r"--(?P<name>[A-Za-z][\w-]{1,63})(?:=|\s+)"), re.compile(r"[^\s]{0,4096}\Z")),
    (re.compile(r"(?<![\w-])(?P<name>[A-Za-z][\w-]{2,63}): ?"), re.compile(r"[^\r\n]{0,200}\Z")),
)
"""Names before a value, and a value that has not come to its end."""


@dataclass(slots=True)
class _Piece:
    """A text of one chunk that waits."""

    chunk: int
    path: Slot
    text: str


@dataclass(slots=True)
class _Slot:
    """One text of a stream."""

    context: str = ""
    pieces: list[_Piece] = field(default_factory=list)

    @property
    def waiting(self) -> str:
        """What waits, as one text."""
        return "".join(piece.text for piece in self.pieces)


class Stream:
    """The chunks of one call that wait to be written."""

    def __init__(self, redactor: Redactor) -> None:
        self._texts = redactor.texts
        self._held: list[Any] = []
        self._slots: dict[Slot, _Slot] = {}

    def add(self, chunk: Any, data: Any) -> list[tuple[Any, Any]]:
        """Take a chunk; gives those that may be written now, in order.

        Args:
            chunk: whatever belongs to it, given back with it.
            data: what the SDK parsed. It is not changed.

        Returns:
            Pairs of what belongs to a chunk, and its data without the secrets that it was part of.
        """
        self._held.append([chunk, data])
        for slot, path, text in _texts(data, slot=_event(data)):
            state = self._slots.setdefault(slot, _Slot())
            state.pieces.append(_Piece(len(self._held) - 1, path, text))
        waiting = sum(len(s.waiting) for s in self._slots.values())
        if waiting <= MAX_HELD and any(self._open(slot) for slot in self._slots.values()):
            return []
        return self.flush()

    def flush(self) -> list[tuple[Any, Any]]:
        """All that waits, as it is known now."""
        for slot in self._slots.values():
            self._settle(slot)
        held, self._held = self._held, []
        return [(chunk, data) for chunk, data in held]

    def _open(self, slot: _Slot) -> bool:
        """Whether a secret may have begun at the end of a text."""
        if not slot.pieces:
            return False
        text = slot.context + slot.waiting
        if _BEGUN.search(text[-MAX_HELD:]) is not None:
            return True
        if _named_at_end(text) or self._texts.begins_at_end(text):
            return True
        found = self._texts.find(text)
        return bool(found) and found[-1].end == len(text)

    def _settle(self, slot: _Slot) -> None:
        """Write placeholders into the pieces of a text, and forget them."""
        if not slot.pieces:
            return
        news = [piece.text for piece in slot.pieces]
        for _ in range(PASSES):
            now = slot.context + "".join(news)
            found = [each for each in self._texts.find(now) if each.end > len(slot.context)]
            if not found:
                break
            news = list(self._split(news, len(slot.context), now, found))
        for piece, new in zip(slot.pieces, news, strict=True):
            if new != piece.text:
                held = self._held[piece.chunk]
                held[1] = _with(held[1], piece.path, new)
        # As it is written: behind a placeholder a secret may begin, where none could before.
        slot.context = (slot.context + "".join(news))[-_CONTEXT:]
        slot.pieces.clear()

    def _split(self, pieces: list[str], begin: int, text: str, found: list[Match]) -> Iterator[str]:
        """The text of each piece: a secret's placeholder stands where it begins."""
        at = begin
        for piece in pieces:
            end, here, new = at + len(piece), at, ""
            for match in found:
                if match.end <= here or match.start >= end:
                    continue
                new += text[here : max(here, match.start)]
                if max(match.start, begin) >= at:
                    new += self._texts.stand_in(match.rule, text[match.start : match.end])
                here = min(match.end, end)
            yield new + text[here:end]
            at = end


def _named_at_end(text: str) -> bool:
    """Whether a value that a name says is a secret goes on at the end of a text."""
    text = text[-4096:]
    for found in _QUOTED.finditer(text):
        if is_secret_name(found["name"]) and _is_open(text[found.end() :], found):
            return True
    return any(
        is_secret_in_query(found["name"]) and rest.match(text, found.end()) is not None
        for name, rest in _NAMED
        for found in name.finditer(text)
    )


def _is_open(rest: str, name: re.Match[str]) -> bool:
    """Whether what follows a name in quotes is a value in such quotes that is not closed."""
    quote = name["esc"] + name["q"]
    if len(rest) < len(quote):
        return quote.startswith(rest)
    closed = rf"(?<!\\){re.escape(quote)}"
    return rest.startswith(quote) and re.search(closed, rest[len(quote) :]) is None


def _event(data: Any) -> Slot:
    """What an event of a stream is about: its deltas go on with those of the same type there."""
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        return ()
    numbers = (data.get(key) for key in _ABOUT)
    return (data["type"], *(each if isinstance(each, int) else -1 for each in numbers))


_ABOUT: Final = ("index", "output_index", "content_index", "summary_index")


def _texts(data: Any, path: Slot = (), slot: Slot = ()) -> Iterator[tuple[Slot, Slot, str]]:
    """The texts of a chunk that go on in the next: their slot, their path, themselves."""
    if isinstance(data, str):
        yield slot, path, data
    elif isinstance(data, dict):
        for key, item in data.items():
            if isinstance(item, str) and (key in _WORDS or is_id(key) or is_opaque(key)):
                continue
            yield from _texts(item, (*path, key), (*slot, key))
    elif isinstance(data, list):
        for place, item in enumerate(data):
            index = item.get("index", place) if isinstance(item, dict) else place
            yield from _texts(item, (*path, place), (*slot, index if isinstance(index, int) else 0))


_WORDS: Final = each_word(
    "object model role type name finish_reason stop_reason status event service_tier"
)
"""Keys of a chunk whose texts are whole."""


def _with(data: Any, path: Slot, text: str) -> Any:
    """A copy of a chunk with another text at a place."""
    if not path:
        return text
    copy = dict(data) if isinstance(data, dict) else list(data)
    step: Any = path[0]
    copy[step] = _with(copy[step], path[1:], text)
    return copy
