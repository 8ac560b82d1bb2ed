"""What smolagents' tools take and give, as a trace keeps it: values, and pictures."""

from __future__ import annotations

import io
import sys
from typing import Any, Final

from workbench.errors import UnencodableError
from workbench.trace.values import decode, encode

PICTURE: Final = "smolagents_picture"
"""The key of a picture, beside its mode; its value is a PNG file's bytes."""


def dump(value: Any, what: str) -> Any:
    """A value as JSON.

    Args:
        value: what a tool gave.
        what: how an error names it.

    Raises:
        UnencodableError: a trace cannot hold it.
    """
    try:
        return encode(_outward(value))
    except UnencodableError as error:
        raise UnencodableError(f"{what} cannot be kept in a trace: {error}", path=error.path) from (
            error
        )


def load(json: Any) -> Any:
    """The value again."""
    return _inward(decode(json))


def shown(value: Any) -> Any:
    """Arguments with every picture as its bytes, which tell it apart."""
    return _outward(value)


def _outward(value: Any) -> Any:
    kind = type(value)
    if kind in (list, tuple):
        return kind(map(_outward, value))
    if kind is dict:
        return {key: _outward(each) for key, each in value.items()}
    if _is_picture(value):
        held = io.BytesIO()
        value.save(held, "png")
        return {PICTURE: held.getvalue(), "mode": value.mode}
    return str(value) if _is_text(value) else value


def _inward(value: Any) -> Any:
    kind = type(value)
    if kind in (list, tuple):
        return kind(map(_inward, value))
    if kind is not dict:
        return value
    if value.keys() == {PICTURE, "mode"}:
        from PIL import Image

        picture = Image.open(io.BytesIO(value[PICTURE]))
        picture.load()
        return picture if picture.mode == value["mode"] else picture.convert(value["mode"])
    return {key: _inward(each) for key, each in value.items()}


def _is_picture(value: Any) -> bool:
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)


def _is_text(value: Any) -> bool:
    """Whether it is smolagents' own kind of text, which is a text in every respect."""
    return isinstance(value, str) and type(value).__name__ == "AgentText"
