"""The Python of what was clicked: a script that does the same without the workbench."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.trace.edits import Edits
from workbench.trace.edits.code import WIDE, edit_lines, imports, place_code
from workbench.trace.places import Place


class PythonLog:
    """Lines for what was run and saved; the pending edits are added when it is read."""

    def __init__(self, path: Path | None) -> None:
        source = f"wb.load({str(path)!r})" if path else "bench.parent  # it is in no file yet"
        self._lines = [f"trace = {source}"]

    def ran(self, number: int, base: str, edits: Edits, options: Mapping[str, Any]) -> None:
        """A run that made fork ``number`` from the trace called ``base``."""
        self._lines += ["", *edit_lines(base, edits)] if len(edits) else [""]
        self._lines += run_lines(f"result{number}", base, options, edits=len(edits) > 0)
        self._lines.append(f"{name_of(number)} = result{number}.trace")

    def saved(self, number: int, path: str) -> None:
        """A trace was written to a file."""
        self._lines.append(f"{name_of(number)}.save({path!r})")

    def text(self, base: str, pending: Edits) -> str:
        """The whole script, with the edits that no run has used yet at its end."""
        lines = list(self._lines)
        if len(pending):
            lines += ["", *edit_lines(base, pending), "print(edits.preview())"]
        return "\n".join([*imports(lines), *lines])


def name_of(number: int) -> str:
    """The variable of a trace: the parent is 0."""
    return f"fork{number}" if number else "trace"


def run_lines(name: str, base: str, options: Mapping[str, Any], *, edits: bool) -> list[str]:
    """``result1 = wb.fork(agent, trace, …)``; values that are code are :class:`Code`."""
    words = ["agent", base, *_arguments(options.get("args"), options.get("kwargs"))]
    if edits:
        words.append("edits=edits")
    words += [f"{key}={value!r}" for key, value in options.items() if key not in _NOT_SHOWN]
    line = f"{name} = wb.fork({', '.join(words)})"
    if len(line) <= WIDE:
        return [line]
    return [f"{name} = wb.fork(", *(f"    {word}," for word in words), ")"]


_NOT_SHOWN = ("args", "kwargs")


class Code(str):
    """A text that stands in the script as it is, such as ``wb.turn(4)``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def place(at: Place) -> Code:
    """``wb.turn(4)``."""
    return Code(place_code(at))


def _arguments(args: Sequence[Any] | None, kwargs: Mapping[str, Any] | None) -> list[str]:
    """The agent's arguments; a name for those that cannot be written down."""
    words = [repr(each) for each in args or ()]
    words += [f"{key}={value!r}" for key, value in (kwargs or {}).items()]
    if all(_is_literal(each) for each in [*(args or ()), *(kwargs or {}).values()]):
        return words
    return [*(["*args"] if args else []), *(["**kwargs"] if kwargs else [])]


def _is_literal(value: Any) -> bool:
    try:
        ast.literal_eval(repr(value))
    except (ValueError, SyntaxError):
        return False
    return True
