"""The JSON Schema of a trace's lines, made from their models.

``python -m workbench.trace.lineschema`` writes it to ``schema.json``, which ships with the package;
:func:`workbench.trace.schema` gives it.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from workbench.trace import entries, header
from workbench.trace.entries import LINE

SCHEMA_FILE = Path(__file__).with_name("schema.json")
"""Where the schema lies."""


def make_schema() -> dict[str, Any]:
    """The schema of one line, a draft 2020-12 JSON Schema.

    Unknown fields are allowed, as the format says. A heavy field is any JSON: what tagged values
    look like is on the format's page.
    """
    made = LINE.json_schema()
    models = made["$defs"]
    for name, schema in models.items():
        _complete(schema, _described(name))
    lines = [each["$ref"].removeprefix("#/$defs/") for each in made["oneOf"]]
    for name in lines:
        models[name]["required"] = ["line", *models[name].get("required", [])]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a trace, format version {header.VERSION}",
        "oneOf": made["oneOf"],
        "$defs": models,
    }


def _complete(schema: dict[str, Any], said: dict[str, str]) -> None:
    """Leave out what only repeats names, and defaults: a field that is absent was not recorded."""
    schema.pop("title", None)
    schema["required"] = [name for name in schema.get("required", []) if name != "line"]
    if not schema["required"]:
        del schema["required"]
    for name, field in schema["properties"].items():
        field.pop("title", None)
        field.pop("default", None)
        if name in said:
            field["description"] = said[name]


def _described(name: str) -> dict[str, str]:
    """What the docstrings of a model's fields say, by the fields' names in a file."""
    model: type[BaseModel] = getattr(entries, name, None) or getattr(header, name)
    tree = ast.parse(inspect.getsource(model)).body[0]
    assert isinstance(tree, ast.ClassDef)  # noqa: S101 - it is the source of a class
    said = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(text, ast.Expr)
            and isinstance(text.value, ast.Constant)
        ):
            info = model.model_fields.get(field.target.id)
            if info is not None:
                alias = info.alias or field.target.id
                said[alias] = " ".join(str(text.value.value).split()).replace("``", "`")
    return said


def schema_text() -> str:
    """The text of the file that ships."""
    return json.dumps(make_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8", newline="\n")
    sys.stdout.write(f"{SCHEMA_FILE.name} is written\n")
