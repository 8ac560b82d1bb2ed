"""The types of pydantic-ai's own that tools return: ``ToolReturn``, and contents such as images."""

from __future__ import annotations

import typing
from functools import lru_cache
from typing import Any, Final

import orjson
import pydantic_ai.messages
from pydantic import ConfigDict, TypeAdapter
from pydantic_ai.messages import ToolReturn

from workbench.adapters.frameworks.results import Results as BaseResults
from workbench.adapters.pydantic_ai.library import worked_out
from workbench.errors import TraceFormatError

_CONTENT: Final[dict[str, type]] = {
    name: kind
    for name in (
        "AudioUrl",
        "BinaryContent",
        "BinaryImage",
        "CachePoint",
        "DocumentUrl",
        "ImageUrl",
        "TextContent",
        "UploadedFile",
        "VideoUrl",
    )
    if (kind := getattr(pydantic_ai.messages, name, None)) is not None
}
"""What this release has of the types of contents that a tool may return."""
_BYTES: Final = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
_RETURN: Final = ("return_value", "content", "metadata", "tools")


class Results(BaseResults):
    """The results of one tool of pydantic-ai's."""

    mark = "$pydantic_ai"

    def own(self, value: Any) -> str | None:
        """Whether a value is a ``ToolReturn``, or a content."""
        if isinstance(value, ToolReturn):
            return "ToolReturn"
        name = type(value).__name__
        return name if type(value) is _CONTENT.get(name) else None

    def dump_own(self, name: str, value: Any, annotation: Any) -> Any:
        """Its fields, or what the library writes for it."""
        if name != "ToolReturn":
            return content_json(value)
        fields = {each: getattr(value, each, None) for each in _RETURN}
        return {
            each: self.dump_as(part, _inner(annotation) if each == "return_value" else None)
            for each, part in fields.items()
            if part is not None or each == "return_value"
        }

    def load_own(self, name: str, kept: Any, annotation: Any) -> Any:
        """The value again."""
        if name == "ToolReturn" and isinstance(kept, dict):
            inner = _inner(annotation)
            parts = {
                each: self.load_as(part, inner if each == "return_value" else None)
                for each, part in kept.items()
            }
            return ToolReturn(**parts)
        kind = _CONTENT.get(name)
        if kind is None:
            raise TraceFormatError(
                f"a result is marked as pydantic-ai's {name!r:.60}, which this release has not"
            )
        return _adapter(kind).validate_json(orjson.dumps([kept]))[0]


def content_json(value: Any) -> Any:
    """What the library writes for contents such as images; None for anything else."""
    if type(value) is not _CONTENT.get(type(value).__name__):
        return None
    kind: Any = type(value)
    data: dict[str, Any] = orjson.loads(_adapter(kind).dump_json([value]))[0]
    for name in worked_out(value):
        data.pop(name, None)
    return data


@lru_cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    # In a list, since the settings of bytes cannot be given for a dataclass that has its own.
    return TypeAdapter(list[kind], config=_BYTES)


def _inner(annotation: Any) -> Any:
    """The ``X`` of ``ToolReturn[X]``."""
    if typing.get_origin(annotation) is ToolReturn:
        return typing.get_args(annotation)[0]
    return None
