"""What a form for a fault is made from: JSON Schemas with a help text on every field."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench.trace.faults.base import BaseFault


def fault_forms(types: Mapping[str, type[BaseFault]]) -> dict[str, Any]:
    """For each type that a form offers, the JSON Schema of its model, without its aim, for which
    a form has its own way.

    Two keys are added: ``kinds``, the kinds of call that it can hit (``model``, ``tool``), and
    ``layers``, those that make a difference to it (``above``, ``below``).
    """
    return {name: _schema(model) for name, model in types.items() if model.in_form}


def _schema(model: type[BaseFault]) -> dict[str, Any]:
    schema = model.model_json_schema()
    hidden = ("aim", "type") if model.reaches_below else ("aim", "type", "layer")
    fields = {k: _field(model, k, v) for k, v in schema["properties"].items() if k not in hidden}
    return {
        "type": "object",
        "description": str(schema.get("description", "")).partition("\n\n")[0],
        "properties": fields,
        "required": schema.get("required", []),
        "kinds": sorted(model.kinds),
        "layers": ["above", "below"] if model.reaches_below else ["above"],
    }


def _field(model: type[BaseFault], name: str, schema: dict[str, Any]) -> dict[str, Any]:
    text = _help(model, name)
    less = {key: value for key, value in schema.items() if key != "title"}
    return {**less, "description": text} if text else less


def _help(model: type[BaseFault], name: str) -> str:
    for owner in model.__mro__:
        if name in vars(owner).get("__annotations__", {}):
            return _texts(owner).get(name, "")
    return ""


@cache
def _texts(owner: type) -> dict[str, str]:
    """The text under each field of a class, which is where this project explains fields."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
    except OSError:  # installed without its source: a form without help still works
        return {}
    assert isinstance(tree, ast.ClassDef)  # noqa: S101 - it is the source of a class
    found: dict[str, str] = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if not isinstance(field, ast.AnnAssign) or not isinstance(field.target, ast.Name):
            continue
        value = text.value if isinstance(text, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            found[field.target.id] = " ".join(value.value.replace("`", "").split())
    return found
