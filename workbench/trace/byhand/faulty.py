"""Faults in a recording: checked when it loads, and what the call then fails with."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import ValidationError

from workbench.trace.byhand.places import Document, KeyPath, kind_of, shown
from workbench.trace.faults import FAULT_TYPES, BaseFault
from workbench.trace.jcs import dump_stored

_AIMING = ("aim", "times")
_REQUIRED = {"stream_truncate": ("after_chunks",)}
_ANSWERS = ("content", "tool_calls", "embeddings", "result")
_WORD = re.compile(r"\s*\S+\s*")


def read_fault(fault: dict[str, Any]) -> BaseFault:
    """A recorded fault as its model. Raises ValidationError, or KeyError for an unknown type."""
    return FAULT_TYPES[fault["type"]].model_validate(fault)


def check_fault_of(
    document: Document, holder: dict[str, Any], where: KeyPath, *, kind: Literal["model", "tool"]
) -> None:
    """Refuse a malformed fault of a turn or a tool result.

    Raises:
        TraceFormatError: it is no fault, or it cannot hit such a call.
    """
    fault, place = holder["fault"], (*where, "fault")
    if not isinstance(fault, dict):
        document.refuse(
            place, f'a fault is an object such as {{"type": "timeout"}}, not {kind_of(fault)}'
        )
    model = _model_of(document, fault, place, kind)
    _check_fields(document, fault, place, model)
    try:
        found = model.model_validate(fault)
        dump_stored(fault)
    except ValidationError as error:
        where_in, message = _problem(error, fault)
        document.refuse((*place, *where_in), message)
    except TypeError:
        document.refuse(place, "a fault holds numbers of up to 64 bits, and whole characters")
    if found.phase == "before" and any(holder.get(name) for name in _ANSWERS):
        document.refuse(
            place,
            f"a {fault['type']} fault comes instead of an answer, and this turn has both; "
            "put the answer into the next turn of a list",
        )


def _check_fields(
    document: Document, fault: dict[str, Any], place: KeyPath, model: type[BaseFault]
) -> None:
    known = [name for name in model.model_fields if name not in (*_AIMING, "type")]
    for name in fault:
        if name in _AIMING:
            document.refuse(
                (*place, name), "a recorded fault hits the call of its own turn, once; leave it out"
            )
        if name not in (*known, "type"):
            has = f"it has {', '.join(known)}" if known else "it has none"
            document.refuse((*place, name), f"a {fault['type']} fault has no field {name!r}; {has}")
    for name in _REQUIRED.get(fault["type"], ()):
        if fault.get(name) is None:
            document.refuse((*place, name), f"a {fault['type']} fault needs {name}")


def _model_of(
    document: Document, fault: dict[str, Any], place: KeyPath, kind: Literal["model", "tool"]
) -> type[BaseFault]:
    known = [
        name for name, each in FAULT_TYPES.items() if kind in each.kinds and name != "stale_result"
    ]
    name = fault.get("type")
    if name == "stale_result":
        document.refuse((*place, "type"), "write the earlier result once more instead")
    if not isinstance(name, str) or name not in FAULT_TYPES:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        document.refuse(
            (*place, "type"),
            f"there is no fault {shown(name)}.{hint} Known are: {', '.join(known)}",
        )
    if name not in known:
        right = "to a result under _tools" if kind == "model" else "to a model's turn"
        document.refuse((*place, "type"), f"a {name} fault belongs {right}")
    return FAULT_TYPES[name]


def _problem(error: ValidationError, fault: dict[str, Any]) -> tuple[KeyPath, str]:
    problem = error.errors()[0]
    where = tuple(problem["loc"])
    kind, name = fault["type"], where[-1] if where else ""
    if problem["type"] == "missing":
        return where, f"a {kind} fault needs {name}"
    message = problem["msg"].removeprefix("Value error, ")
    given = "" if problem["type"] == "value_error" else f", not {shown(problem['input'])}"
    if "status_code" in where:
        return where, f"the status of an error is a whole number from 400 to 599{given}"
    return where, f"{message[:1].lower()}{message[1:]}{given}"


def first_words(text: str, count: int) -> Sequence[str]:
    """The first words of a text, each with the space after it; joined they are its beginning."""
    found: list[str] = []
    for match in _WORD.finditer(text):
        if len(found) == count:
            break
        found.append(match[0])
    return found
