"""Texts on their way to the page: cleaned, clipped, and findable again by a reference."""

from __future__ import annotations

import json
from typing import Any

import orjson

LIMIT = 200_000
"""Characters of one text that are sent at once; more comes on request."""

LABEL = 160
"""Characters of a label in a list."""

SAFE_INTEGER = 2**53
"""From here on JavaScript rounds whole numbers."""


class Clipper:
    """Makes the ``{text, ref, total}`` of the protocol, and keeps the whole of what it clipped.

    ``ref`` is a name that the same trace gives again: ``turn/4/said.text``.
    """

    def __init__(self, prefix: str, limit: int = LIMIT) -> None:
        self.prefix = prefix
        self.limit = limit
        self.long: dict[str, str] = {}

    def __call__(self, name: str, text: str) -> dict[str, Any]:
        """One text, at most ``limit`` characters of it. ``ref`` is null when it is whole."""
        if len(text) <= self.limit:
            return {"text": text, "ref": None, "total": len(text)}
        ref = f"{self.prefix}/{name}"
        self.long[ref] = text
        return {"text": text[: self.limit], "ref": ref, "total": len(text)}


def label(text: str, limit: int = LABEL) -> str:
    """One line of at most ``limit`` characters that any UTF-8 channel can carry."""
    line = " ".join(clean(text[: 4 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def clean(text: str) -> str:
    """The text without lone surrogates, which no UTF-8 channel carries."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def pretty(value: Any) -> str:
    """JSON with two spaces of indent; a text stands for itself."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, indent=2)


def fits_javascript(value: Any) -> bool:
    """Whether a page can read this JSON and give back the same value."""
    if isinstance(value, dict):
        return all(fits_javascript(each) for each in value.values())
    if isinstance(value, list):
        return all(fits_javascript(each) for each in value)
    return not isinstance(value, int) or abs(value) < SAFE_INTEGER


def to_bytes(data: Any) -> bytes:
    """UTF-8 JSON of what is sent to the page; lone surrogates and long integers survive."""
    try:
        return orjson.dumps(data)
    except TypeError:
        return json.dumps(data, allow_nan=False).encode()


def plain(value: Any) -> Any:
    """The value where a page can read it as JSON, else its text."""
    try:
        orjson.dumps(value)
    except TypeError:
        return clean(json.dumps(value, skipkeys=True))
    return value if fits_javascript(value) else clean(pretty(value))
