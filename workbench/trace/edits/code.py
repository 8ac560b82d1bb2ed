"""The Python that makes a list of edits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from workbench.trace.edits.models import (
    DropEdit,
    Edit,
    EventEdit,
    FaultEdit,
    InsertEdit,
    ReplyEdit,
    RequestEdit,
    ToolArgumentsEdit,
    ToolResultEdit,
    ValueEdit,
)
from workbench.trace.edits.parts import CallEdit, MessageEdit, NewEvent, NewTool, NewTurn
from workbench.trace.values import decode

if TYPE_CHECKING:
    from workbench.trace.edits.builder import Edits
    from workbench.trace.faults import Fault
    from workbench.trace.places import Place

WIDE = 88
"""Characters up to which a list stays on one line."""

_MODULES = ("datetime", "decimal", "pathlib", "uuid", "zoneinfo")
_NAMES = {
    "Decimal": "decimal",
    "UUID": "uuid",
    "PosixPath": "pathlib",
    "WindowsPath": "pathlib",
    "PurePosixPath": "pathlib",
    "PureWindowsPath": "pathlib",
}
_OWN = ("CallEdit", "MessageEdit")
_FLOATS = re.compile(r"(?<![\w.'\"])(nan|inf)(?![\w'\"])")


def code(edits: Edits, trace: str) -> str:
    """See :meth:`Edits.code`."""
    lines = edit_lines(trace, edits)
    return "\n".join([*imports(lines), *lines])


def edit_lines(trace: str, edits: Edits) -> list[str]:
    """``edits = trace.edit().reply(…)``, one edit a line where there are several."""
    calls = [edit_code(edit) for edit in edits]
    line = f"edits = {trace}.edit()" + "".join(calls)
    if len(line) <= WIDE:
        return [line]
    return ["edits = (", f"    {trace}.edit()", *(f"    {call}" for call in calls), ")"]


def edit_code(edit: Edit) -> str:
    """The call of the builder that makes an edit, such as ``.reply(wb.turn(4), text='no')``."""
    if isinstance(edit, FaultEdit):
        return f".fault({fault_code(edit.fault)})"
    words = [place_code(edit.at)]
    if isinstance(edit, ReplyEdit):
        return f".reply({', '.join([*words, *_reply(edit)])})"
    if isinstance(edit, RequestEdit):
        return f".request({', '.join([*words, *_request(edit)])})"
    if isinstance(edit, ToolResultEdit | ToolArgumentsEdit):
        given = edit.result if isinstance(edit, ToolResultEdit) else edit.arguments
        words.append(value_code(decode(given)))
        words += [f"tool={edit.tool!r}"] if edit.tool else []
        words += [f"nth={edit.nth}"] if edit.nth != 1 else []
        return f".{edit.type}({', '.join(words)})"
    if isinstance(edit, EventEdit | ValueEdit):
        given = edit.data if isinstance(edit, EventEdit) else edit.value
        return f".{edit.type}({words[0]}, {value_code(decode(given))})"
    if isinstance(edit, DropEdit):
        return f".drop({words[0]}{', pair=True' if edit.pair else ''})"
    return _insert(edit)


def place_code(at: Place) -> str:
    """``wb.turn(4)``."""
    return f"wb.{at.kind}({at.value!r})"


def value_code(value: Any) -> str:
    """A value as Python writes it, infinities and NaN included."""
    return _FLOATS.sub(r"float('\1')", repr(value))


def _reply(edit: ReplyEdit) -> list[str]:
    words = [f"text={edit.text!r}"] if edit.text is not None else []
    calls = edit.tool_calls
    if calls is not None and len(calls) == 1:
        words.append(f"tool_call={_call(calls[0])}")
    elif calls is not None:
        words.append(f"tool_calls=[{', '.join(_call(each) for each in calls)}]")
    return words + [
        f"{name}={getattr(edit, name)!r}"
        for name in ("refusal", "finish_reason")
        if getattr(edit, name) is not None
    ]


def _call(call: CallEdit) -> str:
    if call.id is None:
        return f"({call.name!r}, {value_code(call.arguments)})"
    given = value_code(call.arguments)
    return f"CallEdit(name={call.name!r}, arguments={given}, id={call.id!r})"


def _request(edit: RequestEdit) -> list[str]:
    words = [
        f"{name}={getattr(edit, name)!r}"
        for name in ("system", "model")
        if getattr(edit, name) is not None
    ]
    words += [f"set={value_code(edit.set)}"] if edit.set else []
    words += [f"unset={list(edit.unset)!r}"] if edit.unset else []
    if edit.messages:
        words.append(f"messages=[{', '.join(_message(each) for each in edit.messages)}]")
    words += [f"scope={edit.scope!r}"] if edit.scope != "onwards" else []
    return words


def _message(edit: MessageEdit) -> str:
    given = edit.model_dump(exclude_none=True)
    words = ", ".join(f"{name}={value_code(value)}" for name, value in given.items())
    return f"MessageEdit({words})"


def _insert(edit: InsertEdit) -> str:
    words = [place_code(edit.at)]
    new = edit.what
    if isinstance(new, NewTurn):
        words += [f"text={new.text!r}"] if new.text else []
        if new.tool_calls:
            words.append(f"tool_calls=[{', '.join(_call(each) for each in new.tool_calls)}]")
        if new.results is not None:
            words.append(f"results={value_code([decode(each) for each in new.results])}")
    elif isinstance(new, NewTool):
        words.append(repr(new.name))
        words += [value_code(decode(each)) for each in (new.arguments, new.result)]
    elif isinstance(new, NewEvent):
        words += [repr(new.event), value_code(decode(new.data))]
    words += [f"where={edit.where!r}"] if edit.where != "after" else []
    return f".insert_{new.kind}({', '.join(words)})"


def fault_code(fault: Fault) -> str:
    """``faults.HttpError(status_code=429).at(wb.turn(2))``."""
    words = _fields(fault, ("type", "aim", "times"))
    aim = [place_code(fault.aim.place)] if fault.aim.place else []
    aim += _fields(fault.aim, ("place", "when"))
    named = fault.aim.predicate_name
    if named is not None:
        aim.append(f"when={named if named.isidentifier() else repr(named)}")
    aim += [f"times={fault.times}"] if fault.times != 1 else []
    made = f"faults.{type(fault).__name__}({', '.join(words)})"
    return made + (f".at({', '.join(aim)})" if aim else "")


def _fields(model: BaseModel, less: tuple[str, ...]) -> list[str]:
    """A model's fields as keyword arguments, those aside that have their default."""
    given = model.model_dump(exclude=set(less), exclude_defaults=True)
    return [f"{name}={value_code(value)}" for name, value in given.items()]


def imports(lines: list[str]) -> list[str]:
    """The imports that lines of such code need."""
    text = "\n".join(lines)
    found = [f"import {name}" for name in _MODULES if re.search(rf"\b{name}\.", text)]
    found += [
        f"from {module} import {name}"
        for name, module in _NAMES.items()
        if re.search(rf"(?<![\w.]){name}\(", text)
    ]
    out = [*found, "import workbench as wb"]
    if "faults." in text:
        out.append("from workbench import faults")
    own = [name for name in _OWN if f"{name}(" in text]
    if own:
        out.append(f"from workbench.trace.edits import {', '.join(own)}")
    return out
