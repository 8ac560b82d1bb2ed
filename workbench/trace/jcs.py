"""RFC 8785 (JSON Canonicalization Scheme) bytes, at orjson's speed.

orjson with sorted keys already writes what RFC 8785 asks for, except for the text of some numbers
and for the order of keys with characters beyond U+D7FF. So :func:`dump_json`, the usual way, walks
a value once, spells those numbers out and lets orjson do the rest. :func:`dump_encoded`, the
general way, also puts the keys in order itself and knows the tagged objects. Both take time per
node, not per byte of text.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final, TypeAlias

import orjson

JSON: TypeAlias = Any
"""What orjson reads: None, bool, int, float, str, and lists and string-keyed dicts of these."""

TAG: Final = "$wb"
"""The reserved key: an object ``{"$wb": type name, "v": content}`` is a tagged value."""

MAX_DEPTH: Final = 200
"""Levels of nesting in encoded form; orjson writes 254, and a trace line adds a few of its own."""

MAX_DIGITS: Final = 4300
"""Decimal digits in one number: the length that Python itself agrees to read and write."""

INT_MIN: Final = -(2**63)
INT_MAX: Final = 2**64 - 1
"""The integers that orjson writes and reads exactly; others are tagged."""

_SAME_FLOATS: Final = (1e-4, 1e15)
"""Between these every writer of the shortest digits prints a fraction in the same way."""

_FIRST_UNORDERED: Final = "\ud800"
"""From here on the order of UTF-16 units and that of characters differ."""

_ES6_LONGEST: Final = 21
_ES6_SMALLEST: Final = -6
"""ECMAScript writes an exponent beyond these positions of the decimal point."""

INTEGER_TEXT: Final = re.compile(r"(?:0|-?[1-9][0-9]*)\Z")

_STRICT: Final = (
    orjson.OPT_PASSTHROUGH_SUBCLASS
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
)
_SORTED: Final = _STRICT | orjson.OPT_SORT_KEYS


def has_surrogate(text: str) -> bool:
    """Whether a text holds a lone surrogate, which UTF-8 cannot carry."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def dump_json(value: object) -> bytes | None:
    """Canonical bytes of a value that is JSON as it is; None when it is not, or may not be.

    None sends the caller the general way: encode the value, then :func:`dump_encoded`.
    """
    try:
        return orjson.dumps(_fit(value, 0), option=_SORTED)
    except (_NotPlainError, TypeError):  # orjson: an integer beyond 64 bits, a lone surrogate
        return None


def dump_identity(kind: str, api: str | None, request: object) -> bytes | None:
    """:func:`dump_json` for a request with what it is of: ``{kind, api, request}``."""
    try:
        fit = {"api": api, "kind": kind, "request": _fit(request, 1)}
        return orjson.dumps(fit, option=_SORTED)
    except (_NotPlainError, TypeError):  # orjson: an integer beyond 64 bits, a lone surrogate
        return None


class _NotPlainError(Exception):
    """The value needs the general way."""


def _fit(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is dict:
        return _fit_dict(value, depth)
    if kind is list:
        return _fit_list(value, depth)
    as_it_is = kind is str or kind is int or kind is bool or value is None
    return value if as_it_is else _fit_float(value, kind)


def _fit_dict(value: dict[Any, Any], depth: int) -> dict[Any, Any]:
    """The value itself, or a copy with other numbers, which orjson writes canonically."""
    if depth > MAX_DEPTH or TAG in value:
        raise _NotPlainError
    copy: dict[Any, Any] | None = None
    for key, item in value.items():
        if type(key) is not str or not (key.isascii() or max(key) < _FIRST_UNORDERED):
            raise _NotPlainError
        kind = type(item)
        if kind is str or kind is int or kind is bool or item is None:
            continue
        if kind is dict:
            new: Any = _fit_dict(item, depth + 1)
        elif kind is list:
            new = _fit_list(item, depth + 1)
        else:
            new = _fit_float(item, kind)
        if new is not item:
            copy = dict(value) if copy is None else copy
            copy[key] = new
    return value if copy is None else copy


def _fit_list(value: list[Any], depth: int) -> list[Any]:
    if depth > MAX_DEPTH:
        raise _NotPlainError
    copy: list[Any] | None = None
    for index, item in enumerate(value):
        kind = type(item)
        if kind is str or kind is int or kind is bool or item is None:
            continue
        if kind is dict:
            new: Any = _fit_dict(item, depth + 1)
        elif kind is list:
            new = _fit_list(item, depth + 1)
        else:
            new = _fit_float(item, kind)
        if new is not item:
            copy = list(value) if copy is None else copy
            copy[index] = new
    return value if copy is None else copy


def _fit_float(item: Any, kind: type) -> Any:
    if kind is not float or item - item != 0:  # the difference is NaN for NaN and infinities
        raise _NotPlainError
    size = abs(item)
    if item.is_integer() and size < _SAME_FLOATS[1]:
        return int(item)
    if _SAME_FLOATS[0] <= size < _SAME_FLOATS[1]:
        return item
    return orjson.Fragment(es6_number(item))


def dump_encoded(value: JSON) -> bytes:
    """Canonical bytes of an encoded value: JSON in which tagged objects stand for other types.

    A tagged integer is written as that integer; the items of a tagged set and the pairs of a
    tagged map are sorted by their canonical bytes, as the keys of an object are by their text.
    """
    return orjson.dumps(_ordered(value), option=_STRICT)


def dump_stored(value: JSON) -> bytes:
    """The bytes that a trace stores for an encoded value: key order and numbers as they are.

    Raises:
        TypeError: the value was not encoded.
    """
    return orjson.dumps(value, option=_STRICT)


def _ordered(value: JSON) -> JSON:
    """A copy that orjson, not sorting, writes canonically."""
    kind = type(value)
    if kind is dict:
        if TAG in value:
            return _ordered_tag(value)
        plain = "".join(value).isascii()
        keys = sorted(value) if plain else sorted(value, key=_utf16)
        return {key: _ordered(value[key]) for key in keys}
    if kind is list:
        return [_ordered(item) for item in value]
    if kind is float:
        return orjson.Fragment(es6_number(value))
    return value


def _ordered_tag(value: dict[str, JSON]) -> JSON:
    name, content = value[TAG], value.get("v")
    if name == "int" and type(content) is str and INTEGER_TEXT.match(content):
        return orjson.Fragment(content)
    if name in ("set", "frozenset") and type(content) is list:
        content = [orjson.Fragment(text) for text in sorted(map(dump_encoded, content))]
    elif name == "dict" and type(content) is list:
        pairs = sorted((dump_encoded(key), dump_encoded(item)) for key, item in content)
        content = [[orjson.Fragment(key), orjson.Fragment(item)] for key, item in pairs]
    else:
        content = _ordered(content)
    return {TAG: name, "v": content}


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")


def es6_number(value: float) -> str:
    """A finite float as ECMAScript's ``Number::toString`` spells it (RFC 8785, section 3.2.2.3)."""
    if value == 0:
        return "0"
    _, digit_tuple, exponent = Decimal(repr(value)).as_tuple()
    if not isinstance(exponent, int):  # NaN and infinities have a letter there
        raise ValueError(  # noqa: TRY004 - the type is right
            f"{value!r} has no canonical JSON form; encode it first"
        )
    digits = "".join(map(str, digit_tuple)).rstrip("0")
    point = len(digit_tuple) + exponent  # where the decimal point stands, counted in digits
    sign = "-" if value < 0 else ""
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= _ES6_LONGEST:
        return digits.ljust(point, "0")
    if 0 < point <= _ES6_LONGEST:
        return f"{digits[:point]}.{digits[point:]}"
    if _ES6_SMALLEST < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
