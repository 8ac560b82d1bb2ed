"""Where something is in a file that a person wrote: its key path and its line."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from workbench.errors import TraceFormatError, TraceVersionError

KeyPath = tuple[str | int, ...]
"""Keys and indexes from the top, such as ``("draft", 1, "fault")``."""

_PLAIN = re.compile(r"[\w/:#<>@-]+\Z")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Document:
    """A file as it was parsed, and the way back to its lines."""

    data: Any
    """The parsed value."""
    file: Path | None
    """Where it was read from."""
    line_of: Callable[[KeyPath], int | None]
    """The line, from 1, on which what is at a key path begins; None when it is not known."""

    def refuse(self, where: KeyPath, message: str) -> NoReturn:
        """Refuse what is at a key path.

        Raises:
            TraceFormatError: always; it names the file, the line and the key path.
        """
        raise TraceFormatError(
            message, file=self.file, line=self.line_of(where), path=key_path(where)
        )

    def refuse_version(self, where: KeyPath, message: str) -> NoReturn:
        """The same for a version that is not read. Raises TraceVersionError."""
        raise TraceVersionError(
            message, file=self.file, line=self.line_of(where), path=key_path(where)
        )

    def check_keys(self, found: Mapping[str, Any], known: Iterable[str], where: KeyPath) -> None:
        """Refuse a key that is nearly a known one: it is a slip, and would do nothing.

        A key that is unlike all known ones is left alone: another program may have written it.
        """
        names = list(known)
        for key in found:
            if key in names or key.startswith("_"):
                continue
            near = difflib.get_close_matches(key, names, n=1, cutoff=0.75)
            if near:
                self.refuse((*where, key), f"there is no field {key!r}; did you mean {near[0]!r}?")


def containers(value: Any) -> Iterator[tuple[Any, KeyPath]]:
    """Every object and list in a value, each with its key path, the outermost first."""
    waiting: list[tuple[Any, KeyPath]] = [(value, ())]
    while waiting:
        found, where = waiting.pop()
        if isinstance(found, dict):
            inner: Iterable[tuple[str | int, Any]] = found.items()
        elif isinstance(found, list):
            inner = enumerate(found)
        else:
            continue
        yield found, where
        waiting += [(v, (*where, key)) for key, v in inner if isinstance(v, dict | list)]


def key_path(where: KeyPath) -> str | None:
    """A key path as people write it: ``draft[1].fault.status_code``; None for the whole file."""
    out = ""
    for part in where:
        if isinstance(part, int):
            out += f"[{part}]"
        elif _PLAIN.match(part):
            out += f".{part}" if out else part
        else:
            out += f"[{json.dumps(part)[:200]}]"
    return out or None


def shown(value: Any) -> str:
    """A value for a message: as JSON, cut short."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=True, skipkeys=True)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def kind_of(value: Any) -> str:
    """What a value is, in a person's words."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    if value is None:
        return "nothing (null)"
    return names.get(type(value), "a number")
