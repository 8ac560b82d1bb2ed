"""Writing values as JSON: :func:`encode`, and the words in which it refuses.

The door to it is :mod:`workbench.trace.values`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from datetime import datetime, time
from typing import Any, Final, NoReturn

from workbench.errors import UnencodableError
from workbench.trace import jcs
from workbench.trace.jcs import JSON, MAX_DEPTH, TAG
from workbench.trace.plain import as_data
from workbench.trace.tags import WRITERS, write_float, write_int, write_text

Where = tuple[Any, str, object]
"""A place in a value: (the place of its container, the step from there, the container)."""

ROOT: Final[Where] = (None, "$", None)


def encode(value: object, *, plain: bool = False) -> JSON:
    """Turn a value into JSON that :func:`decode` turns back into an equal value of the same type.

    Args:
        value: what to keep. It is never changed. Parts that are JSON already are shared with the
            result, and a value that is JSON throughout is returned itself.
        plain: Keep as data what has no tag: a dataclass, pydantic model, mapping or object with
            ``to_dict()`` as a map, an Enum as its value, a named tuple as a tuple, a subclass of a
            built-in type as that type, numpy's values as Python's.

    Raises:
        UnencodableError: part of the value cannot be represented; ``.path`` says which.
    """
    if _all_json((value,), 0):
        return value
    return _Encoder(plain=plain).encode(value, ROOT, 0)


def _all_json(items: Iterable[Any], depth: int) -> bool:
    """Whether the members of a container, which lies `depth` levels deep, need no tag."""
    if depth > MAX_DEPTH:
        return False
    for item in items:
        kind = type(item)
        if kind is str:
            if not item.isascii() and jcs.has_surrogate(item):
                return False
        elif kind is dict:
            if TAG in item or not (_plain_keys(item) and _all_json(item.values(), depth + 1)):
                return False
        elif kind is list:
            if not _all_json(item, depth + 1):
                return False
        elif not _is_json_scalar(item, kind):
            return False
    return True


def _is_json_scalar(item: Any, kind: type) -> bool:
    if item is None or kind is bool:
        return True
    if kind is int:
        return bool(jcs.INT_MIN <= item <= jcs.INT_MAX)
    return kind is float and math.isfinite(item)


def _plain_keys(value: dict[Any, Any]) -> bool:
    for key in value:
        if type(key) is not str or (not key.isascii() and jcs.has_surrogate(key)):
            return False
    return True


class _Encoder:
    """Encodes one value. `depth` counts the encoded containers around a part of it."""

    def __init__(self, *, plain: bool) -> None:
        self._plain = plain

    def encode(self, value: Any, where: Where, depth: int) -> JSON:
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is str:
            return self._tag(value, where, depth) if jcs.has_surrogate(value) else value
        if kind is int:
            exact = jcs.INT_MIN <= value <= jcs.INT_MAX
            return value if exact else self._tag(value, where, depth)
        if kind is float:
            return value if math.isfinite(value) else self._tag(value, where, depth)
        if kind is list:
            return self._items(value, where, depth)
        if kind is dict:
            return self._dict(value, where, depth)
        if kind is tuple:
            return {TAG: "tuple", "v": self._items(value, where, depth + 1)}
        if kind is set or kind is frozenset:
            return self._set(value, where, depth)
        if kind in WRITERS:
            return self._tag(value, where, depth)
        return self._foreign(value, where, depth)

    def _tag(self, value: Any, where: Where, depth: int) -> JSON:
        _check_depth(where, depth)
        try:
            name, content = _WRITERS[type(value)](value)
        except ValueError as error:
            if self._plain and type(value) in _ZONED:
                return self._foreign(value, where, depth)
            _refuse(value, where, f": {error}")
        return {TAG: name, "v": self.encode(content, where, depth + 1)}

    def _items(self, value: Any, where: Where, depth: int, what: str = "") -> list[JSON]:
        _check_depth(where, depth)
        return [
            self.encode(item, (where, f"[{what}{index}]", value), depth + 1)
            for index, item in enumerate(value)
        ]

    def _dict(self, value: dict[Any, Any], where: Where, depth: int) -> JSON:
        _check_depth(where, depth)
        if TAG not in value and _plain_keys(value):
            return {
                key: self.encode(item, (where, step(key), value), depth + 1)
                for key, item in value.items()
            }
        depth += 3  # the tagged object, its list, the pair
        _check_depth(where, depth - 1)
        return {
            TAG: "dict",
            "v": [
                [
                    self.encode(key, (where, f"[key {number}]", value), depth),
                    self.encode(item, (where, step(key), value), depth),
                ]
                for number, (key, item) in enumerate(value.items())
            ],
        }

    def _set(self, value: set[Any] | frozenset[Any], where: Where, depth: int) -> JSON:
        items = self._items(value, where, depth + 1, "item ")
        # Unequal items may share canonical bytes (2.0**60 and an integer near it), so the stored
        # bytes decide between those.
        items.sort(key=lambda item: (jcs.dump_encoded(item), jcs.dump_stored(item)))
        return {TAG: type(value).__name__, "v": items}

    def _foreign(self, value: Any, where: Where, depth: int) -> JSON:
        if not self._plain:
            _refuse(
                value,
                where,
                " so that it comes back as the same type. Give a dict, list, text or number "
                "instead, name the type where the value is read, or say plain=True if its data "
                "will do",
            )
        _check_depth(where, depth)
        return self.encode(_data_of(value, where), (where, "", value), depth + 1)


_ZONED: Final = (datetime, time)
"""A time zone that has no name can be kept as its offset, when data will do."""
_WRITERS: Final = WRITERS | {int: write_int, float: write_float, str: write_text}


def _data_of(value: object, where: Where) -> object:
    try:
        return as_data(value)
    except Exception as error:  # whatever a foreign to_dict() or model_dump() raises is reported
        place = path(where)
        raise UnencodableError(
            f"{place}: a {_type_name(value)} could not be turned into data "
            f"({type(error).__name__}: {error}); give a dict, list, text or number instead",
            path=place,
        ) from error


def _refuse(value: object, where: Where, why: str) -> NoReturn:
    place = path(where)
    raise UnencodableError(f"{place}: this {_type_name(value)} cannot be kept{why}", path=place)


def _check_depth(where: Where, depth: int) -> None:
    if depth < MAX_DEPTH:
        return
    cycle = _cycle(where)
    if cycle:
        place, holder = path(cycle[0]), cycle[1]
        raise UnencodableError(
            f"{place}: this {_type_name(holder)} contains itself; a trace keeps trees of values "
            "only, so leave out the reference back",
            path=place,
        )
    place = path(where)
    raise UnencodableError(
        f"{place[:200]}...: nested more than {MAX_DEPTH} levels deep; flatten the value",
        path=place,
    )


def _cycle(where: Where) -> tuple[Where, object] | None:
    """The outermost place of a container that stands within itself, and the container."""
    inner: set[int] = set()
    found: tuple[Where, object] | None = None
    place: Any = where
    while place is not None:
        outer, _, container = place
        if container is not None:
            if id(container) in inner:
                found = (outer, container)
            inner.add(id(container))
        place = outer
    return found


def path(where: Where) -> str:
    """A place as text, such as ``$.items[3].when``."""
    steps = []
    place: Any = where
    while place is not None:
        place, one, _ = place
        steps.append(one)
    return "".join(reversed(steps))


def step(key: object) -> str:
    """The step from a map to what it holds under a key, as text."""
    if type(key) is str:
        return f".{key}" if key.isidentifier() else f"[{json.dumps(key)}]"
    if key is None or type(key) in (bool, int, float):
        return f"[{str(key)[:40]}]" if type(key) is not int or abs(key) < 1 << 64 else "[an int]"
    return f"[a {type(key).__name__}]"


def _type_name(value: object) -> str:
    kind = type(value)
    prefix = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return prefix + kind.__qualname__
