"""JSON as people write it: a key given twice is found, and every part has a line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NoReturn

from workbench.errors import TraceFormatError
from workbench.trace.byhand.places import Document, KeyPath, containers

_SPACE = " \t\r\n"


class _Twice(dict[str, Any]):
    """An object in which a key came twice."""

    key: str


def parse_json(text: str, file: Path | None) -> Document:
    """Read JSON strictly: no key twice, no NaN.

    Raises:
        TraceFormatError: it is no JSON, or a key is given twice; with the line.
    """
    try:
        data = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        hint = ". If it is YAML, let its name end in .yaml" if _may_be_yaml(text) else ""
        raise TraceFormatError(
            f"not JSON: {error.msg} (column {error.colno}){hint}", file=file, line=error.lineno
        ) from error
    except RecursionError as error:
        raise TraceFormatError("the JSON is nested too deep to be read", file=file) from error
    except ValueError as error:  # a number with thousands of digits, or one that is no JSON
        raise TraceFormatError(f"not JSON: {error}", file=file) from error
    document = Document(data, file, lambda where: line_in_json(text, where))
    _refuse_twice(document)
    return document


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    twice = _Twice(found)
    twice.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return twice


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse_twice(document: Document) -> None:
    for value, where in containers(document.data):
        if isinstance(value, _Twice):
            document.refuse(
                (*where, value.key),
                f"the key {value.key!r} is given twice, and only one of them would count; "
                "for several turns of a step write a list",
            )


def _may_be_yaml(text: str) -> bool:
    first = text.lstrip().split("\n", 1)[0]
    return not first.startswith(("{", "[", '"')) and ":" in first


def line_in_json(text: str, where: KeyPath) -> int | None:
    """The line on which the value at a key path stands in valid JSON; None when it is not there.

    Of a key that is given twice it is the last one.
    """
    decoder, at = json.JSONDecoder(), _after_space(text, 0)
    for part in where:
        found = _into(text, at, part, decoder)
        if found is None:
            break
        at = found
    return text.count("\n", 0, at) + 1


def _into(text: str, at: int, part: str | int, decoder: json.JSONDecoder) -> int | None:
    """Where the member or item begins of the object or list that begins there."""
    if text[at : at + 1] not in ("{", "["):
        return None
    in_object, found, number = text[at] == "{", None, 0
    at = _after_space(text, at + 1)
    while at < len(text) and text[at] not in "}]":
        name: str | int = number
        if in_object:
            name, at = decoder.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        if name == part:
            found = at
            if not in_object:
                return found
        at = _after_space(text, decoder.raw_decode(text, at)[1])
        at, number = _after_space(text, at + 1) if text[at : at + 1] == "," else at, number + 1
    return found


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
