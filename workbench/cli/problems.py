"""What is wrong with an edit or a fault, in the words of a command line."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

_ALSO = {"reply": ("tool_call",), "request": ("replace", "append", "drop")}
"""Keys that only the command line has, by edit."""


def problem(error: ValidationError) -> str:
    """What a validation found, the most telling part of it first: where, what, and what may be
    written there."""
    found = error.errors()
    order = ("extra_forbidden", "missing")
    found.sort(key=lambda each: order.index(each["type"]) if each["type"] in order else len(order))
    first = found[0]
    loc = first["loc"]
    where = ".".join(str(part) for part in loc)
    if first["type"] not in order:
        return f"{where}: {first['msg']}" if where else str(first["msg"])
    owner, keys = ".".join(str(part) for part in loc[:-1]), _keys(loc[:-1])
    if first["type"] == "missing":
        return f"{owner}: '{loc[-1]}' is missing; the keys are {', '.join(keys)}"
    close = difflib.get_close_matches(str(loc[-1]), keys, 1)
    hint = f", did you mean '{close[0]}'?" if close else ";"
    return f"{owner}: there is no key '{loc[-1]}'{hint} the keys are {', '.join(keys)}"


def _keys(loc: tuple[Any, ...]) -> list[str]:
    """The keys that may be written at a place of an edit or a fault."""
    from workbench.trace.edits import EDIT_TYPES, CallEdit, MessageEdit
    from workbench.trace.edits.parts import NEW_TYPES
    from workbench.trace.faults import FAULT_TYPES, Aim
    from workbench.trace.places import Place

    inner: dict[Any, type[BaseModel]] = {"aim": Aim, "at": Place, "place": Place}
    name = loc[-1] if loc else None
    if isinstance(name, int):
        listed = MessageEdit if "messages" in loc else CallEdit
        return list(listed.model_fields)
    kinds = {**inner, **FAULT_TYPES, **(EDIT_TYPES if len(loc) == 1 else {})}
    kinds |= NEW_TYPES if "what" in loc else {}
    model = kinds.get(name)
    return [] if model is None else [*model.model_fields, *_ALSO.get(str(name), ())]
