"""Objects to data, one level at a time: what ``encode(..., plain=True)`` allows."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from enum import Enum
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo

T = TypeVar("T")
_URL_MODULES: Final = ("pydantic.networks", "pydantic_core._pydantic_core")


def as_data(value: Any) -> object:
    """The data of an object, as a value nearer to JSON; its parts are left as they are.

    Raises:
        TypeError: there is no telling what its data would be. Errors of the object's own methods
            pass through.
    """
    if isinstance(value, Enum):
        return value.value
    kind = type(value)
    if dataclasses.is_dataclass(kind):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(kind)}
    if callable(getattr(kind, "model_dump", None)):
        # Without serialize_as_any a field declared as a base class would lose a subclass's fields.
        return value.model_dump(mode="python", serialize_as_any=True, warnings=False)
    if kind.__module__.partition(".")[0] == "numpy" and callable(getattr(kind, "tolist", None)):
        return value.tolist()
    for base, convert in _BASES.items():
        if isinstance(value, base):
            return convert(value)
    if callable(getattr(kind, "to_dict", None)):
        return value.to_dict()
    if kind.__name__.endswith("Url") and kind.__module__ in _URL_MODULES:
        return str(value)
    raise TypeError("it has no data that is known how to read")


def _moment(value: datetime) -> datetime:
    made = datetime(
        value.year,
        value.month,
        value.day,
        value.hour,
        value.minute,
        value.second,
        value.microsecond,
        _zone(value),
        fold=value.fold,
    )
    return _unchanged(value, made)


def _time(value: time) -> time:
    made = time(value.hour, value.minute, value.second, value.microsecond, _zone(value))
    return _unchanged(value, made.replace(fold=value.fold))


def _zone(value: datetime | time) -> tzinfo | None:
    zone = value.tzinfo
    if zone is None or type(zone) is timezone or (type(zone) is ZoneInfo and zone.key is not None):
        return zone
    offset = value.utcoffset()
    if offset is None:
        raise TypeError("its time zone has no fixed offset")
    return timezone(offset)


def _unchanged(value: object, made: T) -> T:
    if made != value:
        raise TypeError(f"as a {type(made).__name__} it would lose precision")
    return made


_BASES: Final[dict[type, Callable[[Any], object]]] = {
    # The unbound methods, because a subclass may override what the conversion would call.
    str: str.__str__,
    int: int.__index__,
    float: float.__float__,
    bytes: lambda value: bytes(memoryview(value)),
    bytearray: lambda value: bytearray(memoryview(value)),
    memoryview: lambda value: value.tobytes(),
    tuple: tuple,
    list: list,
    deque: list,
    Mapping: lambda value: {key: value[key] for key in value},
    frozenset: frozenset,
    AbstractSet: set,
    datetime: _moment,
    date: lambda value: date(value.year, value.month, value.day),
    time: _time,
    timedelta: lambda value: _unchanged(
        value, timedelta(value.days, value.seconds, value.microseconds)
    ),
}
