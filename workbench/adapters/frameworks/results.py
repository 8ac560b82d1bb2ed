"""What tools return, as a trace keeps it and as it comes back: with its type.

Plain data and what a trace has tags for stay as they are. A framework's own types are marked by
name, and come back as such. A value of any other type is kept as data, and made again by the return
annotation of the tool's function; without one the data comes back, and the run says so.
"""

from __future__ import annotations

import typing
from typing import Any

from workbench.errors import TraceFormatError, UnencodableError
from workbench.seam.current import current_seam
from workbench.trace.values import decode, decode_as, encode

PLAIN = "plain"
"""Marks data that looks marked."""


class Results:
    """The results of one tool. An adapter says with a subclass which types are its framework's.

    Args:
        annotation: what the tool's function says that it returns; None where nobody knows.
        where: the function, for people.
    """

    mark = "$framework"
    """The key that marks a value of the framework's own."""

    def __init__(self, annotation: Any = None, where: str = "the tool") -> None:
        self._annotation = annotation
        self._where = where

    @classmethod
    def of(cls, function: Any) -> typing.Self:
        """Those of a function, or of whatever else is called; of None nothing is known."""
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

    def own(self, value: Any) -> str | None:
        """The name of the framework's type that a value is of, if any."""
        raise NotImplementedError

    def dump_own(self, name: str, value: Any, annotation: Any) -> Any:
        """A value of the framework's own type as JSON."""
        raise NotImplementedError

    def load_own(self, name: str, kept: Any, annotation: Any) -> Any:
        """The value again.

        Raises:
            TraceFormatError: this release has no such type.
        """
        raise NotImplementedError

    def dump(self, value: Any) -> Any:
        """A result as JSON.

        Raises:
            UnencodableError: a trace cannot hold it.
        """
        return self.dump_as(value, self._annotation)

    def load(self, kept: Any) -> Any:
        """The result again."""
        return self.load_as(kept, self._annotation)

    def dump_as(self, value: Any, annotation: Any) -> Any:
        """The same for a part of a result, which has an annotation of its own, or none."""
        name = self.own(value)
        if name is not None:
            return {self.mark: name, "v": self.dump_own(name, value, annotation)}
        if type(value) is list and self._holds_own(value):
            return [self.dump_as(item, None) for item in value]
        if type(value) is dict and self._holds_own(value):
            return {key: self.dump_as(item, None) for key, item in value.items()}
        return self._leaf(value, annotation)

    def load_as(self, kept: Any, annotation: Any) -> Any:
        """The part again."""
        if isinstance(kept, dict) and self.mark in kept:
            name, inner = str(kept[self.mark]), kept.get("v")
            if name == PLAIN:
                return _made(inner, annotation)
            return self.load_own(name, inner, annotation)
        if isinstance(kept, list) and self._has_mark(kept):
            return [self.load_as(item, None) for item in kept]
        if isinstance(kept, dict) and self._has_mark(kept):
            return {key: self.load_as(item, None) for key, item in kept.items()}
        return _made(kept, annotation)

    def _leaf(self, value: Any, annotation: Any) -> Any:
        try:
            kept = encode(value)
        except UnencodableError:
            kept = encode(value, plain=True)
            if annotation is None:
                self._tell(value)
        return {self.mark: PLAIN, "v": kept} if self._has_mark(kept) else kept

    def _tell(self, value: Any) -> None:
        seam = current_seam()
        if seam is not None:
            kind = f"{type(value).__module__}.{type(value).__qualname__}"
            seam.notice(
                f"{self._where} returned a {kind}, which was kept as plain data: annotate what it "
                "returns, and a replay gives that type again"
            )

    def _holds_own(self, value: Any) -> bool:
        """Whether a container, with text keys, holds something of the framework's own."""
        if type(value) is dict:
            named = all(type(key) is str for key in value)
            return named and any(map(self._holds_own, value.values()))
        if type(value) is list:
            return any(map(self._holds_own, value))
        return self.own(value) is not None

    def _has_mark(self, kept: Any) -> bool:
        if isinstance(kept, dict):
            return self.mark in kept or any(map(self._has_mark, kept.values()))
        return isinstance(kept, list) and any(map(self._has_mark, kept))


def _made(kept: Any, annotation: Any) -> Any:
    if annotation is None:
        return decode(kept)
    try:
        return decode_as(kept, annotation)
    except TraceFormatError:
        return decode(kept)  # the function returned something else than it says
