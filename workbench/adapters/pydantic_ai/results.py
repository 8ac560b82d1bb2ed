"""What tools return, as a trace keeps it and as it comes back: with its type.

Plain data and what a trace has tags for stay as they are. The library's own types (``ToolReturn``,
``BinaryContent``, …) are marked by name, and come back as such. A value of any other type is kept
as data, and made again by the return annotation of the tool's function; without one the data
comes back, and the run says so.
"""

from __future__ import annotations

import typing
from typing import Any, Final

import orjson
import pydantic_ai.messages
from pydantic import TypeAdapter
from pydantic_ai import ToolReturn

from workbench.errors import TraceFormatError, UnencodableError
from workbench.seam.current import current_seam
from workbench.trace.values import decode, decode_as, encode

MARK: Final = "$pydantic_ai"
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
_RETURN: Final = ("return_value", "content", "metadata", "tools")


class Results:
    """The results of one tool.

    Args:
        annotation: what its function says that it returns; None where nobody knows.
        where: the tool's function, for people.
    """

    def __init__(self, annotation: Any = None, where: str = "the tool") -> None:
        self._annotation = annotation
        self._where = where

    @classmethod
    def of(cls, function: Any) -> Results:
        """Those of a function, or of whatever else is called."""
        if function is None:
            return cls()
        name = getattr(function, "__qualname__", type(function).__qualname__)
        try:
            hints = typing.get_type_hints(getattr(function, "__wrapped__", function))
        except (NameError, TypeError):
            return cls(None, name)
        annotation = hints.get("return")
        known = annotation not in (None, Any, type(None), object)
        return cls(annotation if known else None, name)

    def dump(self, value: Any) -> Any:
        """A result as JSON.

        Raises:
            UnencodableError: a trace cannot hold it.
        """
        return self._dump(value, self._annotation)

    def load(self, kept: Any) -> Any:
        """The result again."""
        return self._load(kept, self._annotation)

    def _dump(self, value: Any, annotation: Any) -> Any:
        if isinstance(value, ToolReturn):
            fields = {each: getattr(value, each, None) for each in _RETURN}
            kept = {
                each: self._dump(part, _of_return(annotation) if each == "return_value" else None)
                for each, part in fields.items()
                if part is not None or each == "return_value"
            }
            return {MARK: "ToolReturn", "v": kept}
        content = content_json(value)
        if content is not None:
            return {MARK: type(value).__name__, "v": content}
        if type(value) is list and _holds_ours(value):
            return [self._dump(item, None) for item in value]
        if type(value) is dict and _holds_ours(value):
            return {key: self._dump(item, None) for key, item in value.items()}
        return self._leaf(value, annotation)

    def _leaf(self, value: Any, annotation: Any) -> Any:
        try:
            kept = encode(value)
        except UnencodableError:
            kept = encode(value, plain=True)
            if annotation is None:
                self._tell(value)
        return {MARK: "plain", "v": kept} if _has_mark(kept) else kept

    def _tell(self, value: Any) -> None:
        seam = current_seam()
        if seam is not None:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            seam.session.ledger.note(
                f"{self._where} returned a {kind}, which was kept as plain data: annotate what it "
                "returns, and a replay gives that type again"
            )

    def _load(self, kept: Any, annotation: Any) -> Any:
        if isinstance(kept, dict) and MARK in kept:
            return self._marked(kept[MARK], kept.get("v"), annotation)
        if isinstance(kept, list) and _has_mark(kept):
            return [self._load(item, None) for item in kept]
        if isinstance(kept, dict) and _has_mark(kept):
            return {key: self._load(item, None) for key, item in kept.items()}
        return self._plain(kept, annotation)

    def _plain(self, kept: Any, annotation: Any) -> Any:
        if annotation is None:
            return decode(kept)
        try:
            return decode_as(kept, annotation)
        except TraceFormatError:
            return decode(kept)  # the function returned something else than it says

    def _marked(self, name: Any, kept: Any, annotation: Any) -> Any:
        if name == "plain":
            return self._plain(kept, annotation)
        if name == "ToolReturn" and isinstance(kept, dict):
            inner = _of_return(annotation)
            parts = {
                each: self._load(part, inner if each == "return_value" else None)
                for each, part in kept.items()
            }
            return ToolReturn(**parts)
        kind = _CONTENT.get(name)
        if kind is None:
            raise TraceFormatError(
                f"a result is marked as pydantic-ai's {name!r:.60}, which this release has not"
            )
        return TypeAdapter(kind).validate_json(orjson.dumps(kept))


def content_json(value: Any) -> Any:
    """What the library writes for contents such as images; None for anything else."""
    if type(value) is not _CONTENT.get(type(value).__name__):
        return None
    return orjson.loads(TypeAdapter(type(value)).dump_json(value))


def _of_return(annotation: Any) -> Any:
    """The ``X`` of ``ToolReturn[X]``."""
    if typing.get_origin(annotation) is ToolReturn:
        return typing.get_args(annotation)[0]
    return None


def _holds_ours(value: Any) -> bool:
    """Whether a container, with text keys, holds something of the library's own."""
    if type(value) is dict:
        return all(type(key) is str for key in value) and any(map(_holds_ours, value.values()))
    if type(value) is list:
        return any(map(_holds_ours, value))
    return isinstance(value, ToolReturn) or type(value) is _CONTENT.get(type(value).__name__)


def _has_mark(kept: Any) -> bool:
    if isinstance(kept, dict):
        return MARK in kept or any(map(_has_mark, kept.values()))
    return isinstance(kept, list) and any(map(_has_mark, kept))
