"""YAML as people write it, read into plain JSON values and nothing else.

Only the parser of PyYAML is used, never its constructors: scalars are read as YAML 1.2 has them,
so ``yes`` and ``12:30`` are text, and a number is what JSON calls one. Tags, merge keys and
documents after the first are refused; what anchors stand for is counted each time, so that a small
file cannot become a large value.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from workbench.errors import MissingExtraError, TraceFormatError
from workbench.trace.byhand.places import Document, KeyPath

MAX_VALUES = 200_000
"""A file may stand for that many values, those behind anchors counted each time, and a long text
as several."""
MAX_DEPTH = 100
"""That many lists and objects may stand one in another."""

_LONG_TEXT = 100
_DEEPEST_LINE = 12  # deeper down the line of what stands around it is near enough
_INTEGER = re.compile(r"[-+]?[0-9]{1,4000}\Z")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?\Z")
_WORDS = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)\Z|\.(nan|NaN|NAN)\Z")
_TEXT = "tag:yaml.org,2002:str"


def is_plain_text(text: str) -> bool:
    """Whether a text that stands without quotes is read as text."""
    patterns = (_INTEGER, _FLOAT, _NOT_JSON)
    return text not in _WORDS and not any(pattern.match(text) for pattern in patterns)


def parse_yaml(text: str, file: Path | None) -> Document:
    """Read one YAML document.

    Raises:
        MissingExtraError: PyYAML is not installed.
        TraceFormatError: it is no YAML, or holds what JSON does not; with the line.
    """
    try:
        import yaml
    except ImportError as error:
        raise MissingExtraError("yaml", "PyYAML") from error
    reader = _Reader(file)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            reader.take(event)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else None
        raise TraceFormatError(f"not YAML: {error.problem}", file=file, line=line) from error
    except (yaml.YAMLError, ValueError, OverflowError) as error:
        message = f"not YAML: {' '.join(str(error).split())}"
        raise TraceFormatError(message, file=file) from error
    return Document(reader.data, file, reader.line_of)


@dataclass(slots=True)
class _Open:
    """A list or object that is being read."""

    value: Any
    where: KeyPath
    anchor: str | None
    begun: int
    key: str | None = None


@dataclass(slots=True)
class _Reader:
    """Builds the value from the parser's events, without recursion."""

    file: Path | None
    data: Any = None
    count: int = 0
    documents: int = 0
    lines: dict[KeyPath, int] = field(default_factory=dict)
    open: list[_Open] = field(default_factory=list)
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)

    def line_of(self, where: KeyPath) -> int | None:
        """The line of what is there, or of the nearest thing around it."""
        while where and where not in self.lines:
            where = where[:-1]
        return self.lines.get(where)

    def take(self, event: Any) -> None:
        """One event of the parser."""
        name = type(event).__name__
        if name == "DocumentStartEvent":
            self.documents += 1
            if self.documents > 1:
                self.refuse(event, "the file holds a second document (after ---); write one only")
        elif name == "ScalarEvent":
            self.put(event, self.scalar(event), event.anchor)
        elif name == "AliasEvent":
            self.alias(event)
        elif name in ("MappingStartEvent", "SequenceStartEvent"):
            self.begin(event, {} if name == "MappingStartEvent" else [])
        elif name in ("MappingEndEvent", "SequenceEndEvent"):
            self.end()

    def refuse(self, event: Any, message: str) -> NoReturn:
        raise TraceFormatError(message, file=self.file, line=event.start_mark.line + 1)

    def add(self, event: Any, values: int) -> None:
        self.count += values
        if self.count > MAX_VALUES:
            self.refuse(
                event, f"the file stands for more than {MAX_VALUES:,} values; write them out"
            )

    def begin(self, event: Any, value: Any) -> None:
        if event.tag is not None:
            self.refuse(event, f"the tag {event.tag[:80]!r} is not read; write plain values")
        if len(self.open) >= MAX_DEPTH:
            self.refuse(event, f"more than {MAX_DEPTH} lists and objects one in another")
        begun = self.count
        where = self.put(event, value, None)
        self.open.append(_Open(value, where, event.anchor, begun))

    def end(self) -> None:
        done = self.open.pop()
        if done.anchor is not None:
            self.anchors[done.anchor] = (done.value, self.count - done.begun)

    def alias(self, event: Any) -> None:
        found = self.anchors.get(event.anchor)
        if found is None:
            self.refuse(event, f"nothing before it is called &{event.anchor}, or it holds itself")
        value, values = found
        self.add(event, values)
        self.place(event, value)

    def put(self, event: Any, value: Any, anchor: str | None) -> KeyPath:
        """A new value in its place; gives its key path."""
        weight = 1 + len(value) // _LONG_TEXT if isinstance(value, str) else 1
        self.add(event, weight)
        if anchor is not None:
            self.anchors[anchor] = (value, weight)
        return self.place(event, value)

    def place(self, event: Any, value: Any) -> KeyPath:
        """A value in its place; gives its key path."""
        line = event.start_mark.line + 1
        if not self.open:
            self.data = value
            self.lines[()] = line
            return ()
        parent = self.open[-1]
        if isinstance(parent.value, list):
            parent.value.append(value)
            return self.placed((*parent.where, len(parent.value) - 1), line)
        if parent.key is None:
            parent.key = self.key(event, value, parent)
            return self.placed((*parent.where, parent.key), line)
        key, parent.key = parent.key, None
        parent.value[key] = value
        return (*parent.where, key)

    def placed(self, where: KeyPath, line: int) -> KeyPath:
        if len(where) <= _DEEPEST_LINE:
            self.lines[where] = line
        return where

    def key(self, event: Any, value: Any, parent: _Open) -> str:
        """A key of an object: text, once. A number or a word as key is the text that it was."""
        if isinstance(value, dict | list):
            self.refuse(event, "a list or an object can't be a key; write text")
        key = value if isinstance(value, str) else str(getattr(event, "value", value))
        if key == "<<" and getattr(event, "style", None) is None:
            self.refuse(event, "the merge key << is not read; write the fields out")
        if key in parent.value:
            self.refuse(
                event,
                f"the key {key!r} is given twice, and only one of them would count; "
                "for several turns of a step write a list",
            )
        return key

    def scalar(self, event: Any) -> Any:
        text: str = event.value
        if event.tag == _TEXT or (event.tag in (None, "!") and not event.implicit[0]):
            return text
        if event.tag is not None:
            self.refuse(event, f"the tag {event.tag[:80]!r} is not read; write plain values")
        if text in _WORDS:
            return _WORDS[text]
        if _INTEGER.match(text):
            return int(text)
        if _FLOAT.match(text):
            number = float(text)
            if math.isinf(number):
                self.refuse(event, f"{text} is larger than any number that JSON readers take")
            return number
        if _NOT_JSON.match(text):
            self.refuse(event, f"{text} is not a JSON number; put it in quotes if it is text")
        return text
