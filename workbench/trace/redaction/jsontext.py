"""JSON inside a text: looked into, and changed in its place, so that the rest stays as it was."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from workbench.trace.jcs import INTEGER_TEXT, MAX_DEPTH

_SPACE: Final = re.compile(r"[ \t\r\n]*")


class _TwiceError(ValueError):
    """An object has a key twice: the first value would not be seen."""


class _Number(str):
    """A number as it was written, so that it stays so."""

    __slots__ = ()


def _as_is(digits: str) -> _Number:
    return _Number(digits)


_DECODER: Final = json.JSONDecoder(parse_int=_as_is, parse_float=_as_is)


def looks_like_json(text: str) -> bool:
    """Whether a text may be a JSON object or array."""
    if len(text) < 3:
        return False
    first, last = text[0], text[-1]
    if first.isspace() or last.isspace():
        text = text.strip()
        first, last = text[:1], text[-1:]
    return (first == "{" and last == "}") or (first == "[" and last == "]")


def parse(text: str) -> Any:
    """The object or array in a text; None when it is none, or when a key in it comes twice."""
    if not looks_like_json(text):
        return None
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_int=_as_is, parse_float=_as_is)
    except (ValueError, RecursionError):
        return None
    return found if _depth_fits((found,), 0) else None


def rewrite(text: str, old: Any, new: Any) -> str:
    """The text of `old` with those parts changed in which `new` differs; the rest is untouched.

    Args:
        text: JSON, as :func:`parse` read it.
        old: what it gave.
        new: the same, but for texts, keys, and subtrees that became a text.
    """
    out: list[str] = []
    at = _value(text, _skip(text, 0, out), old, new, out)
    out.append(text[at:])
    return "".join(out)


def number_of(value: Any) -> Any:
    """The number that a value which :func:`parse` gave stands for; any other value as it is."""
    if not isinstance(value, _Number):
        return value
    try:
        return int(value) if INTEGER_TEXT.match(value) else float(value)
    except ValueError:  # more digits than Python agrees to read
        return str(value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _TwiceError
    return found


def _depth_fits(items: Any, depth: int) -> bool:
    if depth > MAX_DEPTH:
        return False
    return all(
        _depth_fits(item.values() if isinstance(item, dict) else item, depth + 1)
        for item in items
        if isinstance(item, dict | list)
    )


def _skip(text: str, at: int, out: list[str]) -> int:
    found = _SPACE.match(text, at)
    end = found.end() if found is not None else at
    out.append(text[at:end])
    return end


def _value(text: str, at: int, old: Any, new: Any, out: list[str]) -> int:
    """Write the value that begins at a place; gives where it ends."""
    if isinstance(old, dict) and isinstance(new, dict) and new is not old:
        return _object(text, at, list(zip(old.items(), new.items(), strict=True)), out)
    if isinstance(old, list) and isinstance(new, list) and new is not old:
        return _array(text, at, list(zip(old, new, strict=True)), out)
    end = _end(text, at)
    out.append(text[at:end] if new is old else _dumped(new, text[at:end]))
    return end


def _object(
    text: str, at: int, pairs: list[tuple[tuple[str, Any], tuple[str, Any]]], out: list[str]
) -> int:
    at = _mark(text, at, out)
    for number, ((key, old), (new_key, new)) in enumerate(pairs):
        if number:
            at = _mark(text, at, out)
        at = _skip(text, at, out)
        end = _end(text, at)
        out.append(text[at:end] if new_key is key else _dumped(new_key, text[at:end]))
        at = _mark(text, _skip(text, end, out), out)
        at = _skip(text, _value(text, _skip(text, at, out), old, new, out), out)
    return _mark(text, _skip(text, at, out), out)


def _array(text: str, at: int, pairs: list[tuple[Any, Any]], out: list[str]) -> int:
    at = _mark(text, at, out)
    for number, (old, new) in enumerate(pairs):
        if number:
            at = _mark(text, at, out)
        at = _skip(text, _value(text, _skip(text, at, out), old, new, out), out)
    return _mark(text, _skip(text, at, out), out)


def _mark(text: str, at: int, out: list[str]) -> int:
    """A bracket, comma or colon."""
    out.append(text[at])
    return at + 1


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _dumped(value: Any, before: str) -> str:
    """A changed text, escaped as it was before."""
    return json.dumps(value, ensure_ascii=before.isascii())
