"""RFC 8785 (JSON Canonicalization Scheme) bytes of encoded JSON, at orjson's speed.

orjson already writes what RFC 8785 asks for, except for the text of some numbers and the order of
keys beyond the Basic Multilingual Plane. So one cheap walk (:func:`scan`) decides: a value without
such a number or key is dumped as it is; any other is first copied with its keys in order and its
numbers spelt out, and the copy is dumped. Both ways cost time per node, not per byte.
"""

from __future__ import annotations

import re
from decimal import Decimal
from operator import itemgetter
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

SAME: Final = 0
"""`scan`: JSON for which orjson with sorted keys writes the canonical bytes."""
PLAIN: Final = 1
"""`scan`: JSON, with a number or a key that orjson would write or sort otherwise."""
SPECIAL: Final = 2
"""`scan`: not JSON as it is (or it uses the reserved key, or is nested too deep)."""

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


def scan(value: object) -> int:
    """Tell how a value must be written: `SAME`, `PLAIN` or `SPECIAL`. Never changes it."""
    return _scan_items((value,), 0)


def _scan_items(items: Any, depth: int) -> int:
    """Scan the members of one container, which lies `depth` levels deep."""
    if depth > MAX_DEPTH:
        return SPECIAL
    worst = SAME
    for item in items:
        kind = type(item)
        if kind is str:
            if not item.isascii() and has_surrogate(item):
                return SPECIAL
            continue
        if item is None or kind is bool:
            continue
        if kind is dict:
            found = _scan_dict(item, depth + 1)
        elif kind is list:
            found = _scan_items(item, depth + 1)
        elif kind is int:
            found = SAME if INT_MIN <= item <= INT_MAX else SPECIAL
        elif kind is float:
            found = _scan_float(item)
        else:
            return SPECIAL
        if found:
            if found == SPECIAL:
                return SPECIAL
            worst = PLAIN
    return worst


def _scan_dict(value: dict[Any, Any], depth: int) -> int:
    if TAG in value:
        return SPECIAL
    worst = SAME
    for key in value:
        if type(key) is not str:
            return SPECIAL
        if not key.isascii():
            if has_surrogate(key):
                return SPECIAL
            worst = PLAIN
    return max(worst, _scan_items(value.values(), depth))


def _scan_float(value: float) -> int:
    # Within these bounds every JSON writer that prints the shortest digits prints the same ones.
    if 1e-4 <= abs(value) < 1e15:
        return PLAIN if value.is_integer() else SAME
    return PLAIN if value - value == 0 else SPECIAL  # the difference is NaN for NaN and infinities


def dump_same(value: JSON) -> bytes:
    """Canonical bytes of a value for which :func:`scan` says `SAME`."""
    return orjson.dumps(value, option=_SORTED)


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
        pairs = sorted(((dump_encoded(pair[0]), pair[1]) for pair in content), key=itemgetter(0))
        content = [[orjson.Fragment(key), _ordered(item)] for key, item in pairs]
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
    if not isinstance(exponent, int):
        raise ValueError(f"{value!r} has no canonical JSON form; encode it first")
    digits = "".join(map(str, digit_tuple)).rstrip("0")
    point = len(digit_tuple) + exponent  # where the decimal point stands, counted in digits
    sign = "-" if value < 0 else ""
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= 21:
        return digits.ljust(point, "0")
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{fraction}e{point - 1:+d}"
