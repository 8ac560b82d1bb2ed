"""The Python of what was clicked: a script that does the same without the workbench."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench.trace.edits import CallEdit, Edit, Edits, FaultEdit, ReplyEdit, ToolResultEdit
from workbench.trace.faults import Fault
from workbench.trace.places import Place
from workbench.trace.values import decode

WIDE = 88
"""Characters up to which a call stays on one line."""

_MODULES = ("datetime", "decimal", "pathlib", "uuid")


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
        return "\n".join([*_imports(lines), *lines])


def name_of(number: int) -> str:
    """The variable of a trace: the parent is 0."""
    return f"fork{number}" if number else "trace"


def edit_lines(base: str, edits: Edits) -> list[str]:
    """``edits = trace.edit().reply(…)``, one edit a line where there are several."""
    calls = [_edit(edit) for edit in edits]
    line = f"edits = {base}.edit()" + "".join(calls)
    if len(line) <= WIDE:
        return [line]
    return ["edits = (", f"    {base}.edit()", *(f"    {call}" for call in calls), ")"]


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
    return Code(f"wb.{at.kind}({at.value!r})")


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


def _edit(edit: Edit) -> str:
    if isinstance(edit, FaultEdit):
        return f".fault({_fault(edit.fault)})"
    if isinstance(edit, ToolResultEdit):
        words = [place(edit.at), repr(decode(edit.result))]
        words += [f"tool={edit.tool!r}"] if edit.tool else []
        words += [f"nth={edit.nth}"] if edit.nth != 1 else []
        return f".tool_result({', '.join(words)})"
    return f".reply({', '.join([place(edit.at), *_said(edit)])})"


def _said(edit: ReplyEdit) -> list[str]:
    words = [f"text={edit.text!r}"] if edit.text is not None else []
    calls = edit.tool_calls
    if calls is not None and len(calls) == 1:
        words.append(f"tool_call={_call(calls[0])}")
    elif calls is not None:
        words.append(f"tool_calls=[{', '.join(_call(each) for each in calls)}]")
    return words


def _call(call: CallEdit) -> str:
    if call.id is None:
        return f"({call.name!r}, {call.arguments!r})"
    return f"CallEdit(name={call.name!r}, arguments={call.arguments!r}, id={call.id!r})"


def _fault(fault: Fault) -> str:
    given = fault.model_dump(exclude={"type", "aim", "times", "layer"}, exclude_defaults=True)
    words = ", ".join(f"{key}={value!r}" for key, value in given.items())
    aim = [place(fault.aim.place)] if fault.aim.place else []
    chosen = fault.aim.model_dump(exclude={"place", "when"}, exclude_none=True)
    aim += [Code(f"{key}={value!r}") for key, value in chosen.items()]
    aim += [Code(f"when={fault.aim.predicate_name}")] if fault.aim.when is not None else []
    aim += [Code(f"times={fault.times}")] if fault.times != 1 else []
    aim += [Code("layer='below'")] if fault.layer == "below" else []
    return f"faults.{type(fault).__name__}({words})" + (f".at({', '.join(aim)})" if aim else "")


def _imports(lines: list[str]) -> list[str]:
    text = "\n".join(lines)
    found = [f"import {name}" for name in _MODULES if re.search(rf"\b{name}\.", text)]
    for name in ("Decimal", "UUID"):
        if f"{name}(" in text:
            module = {"Decimal": "decimal", "UUID": "uuid"}[name]
            found.append(f"from {module} import {name}")
    out = [*found, "import workbench as wb"]
    if "faults." in text:
        out.append("from workbench import faults")
    if "CallEdit(" in text:
        out.append("from workbench.trace.edits import CallEdit")
    return out
