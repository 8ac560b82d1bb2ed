"""What a tagged value's content looks like, one reader and one writer for each type.

A writer turns a value into the tag's name and a content; the content may itself hold values that
are tagged in turn (a path with undecodable bytes, an infinite part of a complex number). A reader
gets the content back, decoded, and makes the value. Both raise ValueError with a sentence on what
is wrong; the caller adds where. Only the names in :data:`READERS` can ever be made: it is the
allow-list of reading.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal, InvalidOperation
from pathlib import PosixPath, PurePath, PurePosixPath, PureWindowsPath, WindowsPath
from typing import Any, Final, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from workbench.trace.jcs import INTEGER_TEXT, MAX_DIGITS

MAX_DECIMAL_EXPONENT: Final = 6144
"""Largest power of ten in a Decimal, as in IEEE decimal128; one line must not cost gigabytes."""

_TOO_LONG: Final = 10**MAX_DIGITS
_SURROGATE: Final = re.compile("([\ud800-\udfff])")
_SURROGATES: Final = range(0xD800, 0xE000)
_FLOATS: Final = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}

Tagged = tuple[str, Any]
T = TypeVar("T")


def write_int(value: int) -> Tagged:
    """An integer beyond 64 bits, as its decimal digits."""
    if abs(value) >= _TOO_LONG:  # str() would not say what the limit of a trace is
        raise ValueError(_too_long("an integer"))
    return "int", str(value)


def write_float(value: float) -> Tagged:
    """NaN or an infinity, by name."""
    return "float", repr(value)


def write_text(value: str) -> Tagged:
    """A text with lone surrogates: a list of proper texts and of the surrogates' numbers."""
    pieces = _SURROGATE.split(value)
    return "str", [ord(p) if i % 2 else p for i, p in enumerate(pieces) if p]


def _write_complex(value: complex) -> Tagged:
    return "complex", [value.real, value.imag]


def _write_bytes(value: bytes | bytearray) -> Tagged:
    return type(value).__name__, base64.b64encode(value).decode("ascii")


def _write_decimal(value: Decimal) -> Tagged:
    _check_decimal(value)
    return "Decimal", str(value)


def _write_str(value: UUID | PurePath) -> Tagged:
    return type(value).__name__, str(value)


def _write_date(value: date) -> Tagged:
    return "date", value.isoformat()


def _write_timedelta(value: timedelta) -> Tagged:
    return "timedelta", [value.days, value.seconds, value.microseconds]


def _write_moment(value: datetime | time) -> Tagged:
    name = type(value).__name__
    zone = value.tzinfo
    if not value.fold and (zone is None or _is_unnamed_offset(zone)):
        return name, value.isoformat()
    content: dict[str, Any] = {"iso": value.replace(tzinfo=None, fold=0).isoformat()}
    if value.fold:
        content["fold"] = value.fold
    if type(zone) is ZoneInfo:
        if zone.key is None:
            raise ValueError("its time zone was read from a file and has no name")
        content["zone"] = zone.key
    elif type(zone) is timezone:
        content["offset"] = zone.utcoffset(None)
        content["name"] = zone.tzname(None)
    elif zone is not None:
        raise ValueError(
            f"its time zone is a {type(zone).__module__}.{type(zone).__qualname__}; "
            "use zoneinfo.ZoneInfo or datetime.timezone"
        )
    return name, content


def _is_unnamed_offset(zone: tzinfo) -> bool:
    if type(zone) is not timezone:
        return False
    return zone.tzname(None) == timezone(zone.utcoffset(None)).tzname(None)


WRITERS: Final[dict[type, Callable[[Any], Tagged]]] = {
    bytes: _write_bytes,
    bytearray: _write_bytes,
    complex: _write_complex,
    Decimal: _write_decimal,
    UUID: _write_str,
    PosixPath: _write_str,
    WindowsPath: _write_str,
    PurePosixPath: _write_str,
    PureWindowsPath: _write_str,
    date: _write_date,
    time: _write_moment,
    datetime: _write_moment,
    timedelta: _write_timedelta,
}
"""The types, besides containers, whose every value is tagged. A subclass is another type."""


def _expect(content: object, kind: type[T]) -> T:
    if type(content) is not kind:
        raise ValueError(f'its "v" must be a {kind.__name__}, not a {type(content).__name__}')
    return content


def _read_parts(content: object, kind: type[T], names: str) -> list[T]:
    parts = _expect(content, list)
    if len(parts) != len(names.split(",")) or any(type(part) is not kind for part in parts):
        raise ValueError(f'its "v" must be [{names}], each a {kind.__name__}')
    return parts


def _read_int(content: object) -> int:
    text = _expect(content, str)
    if not INTEGER_TEXT.match(text):
        raise ValueError(f"{text[:40]!r} is not an integer's decimal digits")
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise ValueError(_too_long("an integer"))
    return int(text)


def _read_float(content: object) -> float:
    text = _expect(content, str)
    if text not in _FLOATS:
        raise ValueError(f"{text[:40]!r} is none of {', '.join(_FLOATS)}")
    return _FLOATS[text]


def _read_text(content: object) -> str:
    pieces = []
    for piece in _expect(content, list):
        if type(piece) is int and piece in _SURROGATES:
            pieces.append(chr(piece))
        elif type(piece) is str:
            pieces.append(piece)
        else:
            raise ValueError("a piece of text must be a text or a number from 55296 to 57343")
    return "".join(pieces)


def _read_complex(content: object) -> complex:
    real, imaginary = _read_parts(content, float, "real, imaginary")
    return complex(real, imaginary)


def _read_bytes(content: object) -> bytes:
    return base64.b64decode(_expect(content, str).encode("ascii"), validate=True)


def _read_decimal(content: object) -> Decimal:
    text = _expect(content, str)
    if len(text) > MAX_DIGITS + 40:
        raise ValueError(_too_long("a Decimal"))
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"{text[:40]!r} is not a decimal number, or far too large") from None
    _check_decimal(value)
    return value


def _read_timedelta(content: object) -> timedelta:
    return timedelta(*_read_parts(content, int, "days, seconds, microseconds"))


def _read_moment(kind: type[Any]) -> Callable[[object], Any]:
    def read(content: object) -> Any:
        if type(content) is not dict:
            return kind.fromisoformat(_expect(content, str))
        unknown = content.keys() - {"iso", "fold", "zone", "offset", "name"}
        if unknown:
            raise ValueError(f"it has unknown parts: {', '.join(sorted(map(repr, unknown)))}")
        naive = kind.fromisoformat(_expect(content.get("iso"), str))
        if naive.tzinfo is not None:
            raise ValueError('"iso" must be without an offset')
        return naive.replace(tzinfo=_read_zone(content), fold=_expect(content.get("fold", 0), int))

    return read


def _read_zone(content: dict[str, Any]) -> tzinfo | None:
    if "zone" in content:
        key = _expect(content["zone"], str)
        try:
            return ZoneInfo(key)
        except (ZoneInfoNotFoundError, OSError):
            raise ValueError(
                f"this system does not know the time zone {key[:60]!r}; pip install tzdata"
            ) from None
    if "offset" not in content:
        return None
    offset = _expect(content["offset"], timedelta)
    name = content.get("name")
    return timezone(offset) if name is None else timezone(offset, _expect(name, str))


def _read_path(kind: type[PurePath]) -> Callable[[object], PurePath]:
    def read(content: object) -> PurePath:
        text = _expect(content, str)
        try:
            return kind(text)
        except NotImplementedError:
            raise ValueError(f"a {kind.__name__} cannot be made on this operating system") from None

    return read


def _read_set(content: object, kind: type[Any]) -> Any:
    items = _expect(content, list)
    made = kind(items)
    if len(made) != len(items):
        raise ValueError("two of its items are equal")
    return made


def _read_dict(content: object) -> dict[Any, Any]:
    pairs = _expect(content, list)
    if any(type(pair) is not list or len(pair) != 2 for pair in pairs):
        raise ValueError('its "v" must be a list of [key, value] pairs')
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("two of its keys are equal")
    return made


READERS: Final[dict[str, Callable[[Any], Any]]] = {
    "int": _read_int,
    "float": _read_float,
    "str": _read_text,
    "complex": _read_complex,
    "bytes": _read_bytes,
    "bytearray": lambda content: bytearray(_read_bytes(content)),
    "Decimal": _read_decimal,
    "UUID": lambda content: UUID(_expect(content, str)),
    "date": lambda content: date.fromisoformat(_expect(content, str)),
    "time": _read_moment(time),
    "datetime": _read_moment(datetime),
    "timedelta": _read_timedelta,
    "tuple": lambda content: tuple(_expect(content, list)),
    "set": lambda content: _read_set(content, set),
    "frozenset": lambda content: _read_set(content, frozenset),
    "dict": _read_dict,
} | {
    kind.__name__: _read_path(kind)
    for kind in (PosixPath, WindowsPath, PurePosixPath, PureWindowsPath)
}
"""Every tag that a trace may hold, by name."""


def _check_decimal(value: Decimal) -> None:
    if len(value.as_tuple().digits) > MAX_DIGITS:
        raise ValueError(_too_long("a Decimal"))
    if value.is_finite() and abs(value.adjusted()) > MAX_DECIMAL_EXPONENT:
        raise ValueError(f"a Decimal's power of ten may be {MAX_DECIMAL_EXPONENT} at most")


def _too_long(what: str) -> str:
    return f"{what} may have {MAX_DIGITS} digits at most; keep a longer one as text or bytes"
