"""Python values to JSON and back, losing nothing: what a trace stores besides plain JSON.

JSON stays as it is. A value of another type becomes a tagged object ``{"$wb": type, "v": content}``
and comes back as the same type: bytes, bytearray, NaN and infinities, integers beyond 64 bits,
date, time, datetime, timedelta, Decimal, UUID, paths, tuple, set, frozenset, complex, maps with
other than text keys, and texts with lone surrogates. A map that uses the reserved key itself is
escaped. What cannot come back as the same type is refused, with its place in the value; and
reading makes nothing but these types.
"""

from __future__ import annotations

import json as stdlib_json
from typing import Any, Final, NoReturn

import orjson

from workbench.errors import TraceFormatError, UnencodableError, UnknownTagError
from workbench.trace import jcs
from workbench.trace.encoding import ROOT, Where, encode, path, step
from workbench.trace.jcs import JSON, MAX_DEPTH, TAG
from workbench.trace.tags import READERS

__all__ = ["JSON", "MAX_DEPTH", "TAG", "decode", "decode_as", "dumps", "encode", "loads"]


_DIGITS_AS_ZEROS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_LONG_NUMBER: Final = b"0" * 20
"""Too many digits for 64 bits: orjson would read such an integer as a float."""


def dumps(json: JSON) -> bytes:
    """UTF-8 bytes, on one line, of what :func:`encode` returned.

    Raises:
        UnencodableError: the value did not come from :func:`encode`.
    """
    try:
        return jcs.dump_stored(json)
    except TypeError as error:
        raise UnencodableError(f"not encoded JSON ({error}); pass it to encode() first") from error


def loads(data: bytes) -> JSON:
    """The encoded JSON in a UTF-8 line; also of one that a person or another program wrote.

    Unlike orjson alone, this reads integers of any length exactly, and escaped lone surrogates.

    Raises:
        TraceFormatError: the bytes are not JSON.
    """
    if _LONG_NUMBER not in data.translate(_DIGITS_AS_ZEROS):
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            if b"\\u" not in data:
                raise TraceFormatError(f"not JSON: {error}") from error
    try:
        return stdlib_json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise TraceFormatError(f"not JSON: {error}") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON; write it as a tagged float")


def decode(json: JSON) -> Any:
    """Turn encoded JSON back into the value; JSON without tags is returned itself, not copied.

    Raises:
        UnknownTagError: a tag names a type that this version does not know.
        TraceFormatError: a tagged object is malformed, or the JSON is nested too deep. The JSON
            itself stays as it was, so a raw view of it is always possible.
    """
    if not _has_tag((json,), 0):
        return json
    return _decode(json, ROOT)


def _has_tag(items: Any, depth: int) -> bool:
    if depth > MAX_DEPTH:
        raise TraceFormatError(f"a value is nested more than {MAX_DEPTH} levels deep")
    found = False
    for item in items:
        kind = type(item)
        if kind is dict:
            found |= _has_tag(item.values(), depth + 1) or TAG in item
        elif kind is list:
            found |= _has_tag(item, depth + 1)
    return found


def _decode(json: JSON, where: Where) -> Any:
    if type(json) is list:
        return [_decode(item, (where, f"[{i}]", None)) for i, item in enumerate(json)]
    if type(json) is not dict:
        return json
    if TAG not in json:
        return {key: _decode(item, (where, step(key), None)) for key, item in json.items()}
    name = json[TAG]
    if json.keys() != {TAG, "v"} or type(name) is not str:
        raise TraceFormatError(
            f'an object with the key "{TAG}" is a tagged value and must be '
            f'{{"{TAG}": type name, "v": content}}; this one has the keys '
            f"{', '.join(map(repr, json))[:200]}",
            path=path(where),
        )
    read = READERS.get(name)
    if read is None:
        raise UnknownTagError(
            f"no type is known for the tag {name[:60]!r}; a newer workbench may know it. "
            f"Known are: {', '.join(READERS)}",
            path=path(where),
        )
    content = _decode(json["v"], (where, ".v", None))
    try:
        return read(content)
    except (ValueError, TypeError, OverflowError) as error:
        raise TraceFormatError(f"a malformed {name}: {error}", path=path(where)) from error


def decode_as(json: JSON, annotation: Any) -> Any:
    """Turn encoded JSON back into a value of an annotated type.

    For what ``encode(..., plain=True)`` kept as data: Enum, dataclass, named tuple, pydantic model,
    and annotations made of these (``list[Order] | None``).

    Raises:
        TraceFormatError: as :func:`decode`; or the recorded value is not what the annotation says,
            or would be changed by it.
    """
    from workbench.trace.typed import rebuild  # pydantic takes a while to import

    return rebuild(json, decode(json), annotation)
