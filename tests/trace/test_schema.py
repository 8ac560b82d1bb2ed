"""The JSON Schema that ships says what the models say, and fits every trace that there is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from runmaker import Ran, RunMaker

from workbench.trace import lineschema, schema

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    """Checks a line, as somebody in another language would."""
    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


def _files() -> Iterator[Path]:
    yield from sorted((ROOT / "sample_traces").glob("*.trace.jsonl"))
    yield from sorted((ROOT / "tests" / "trace" / "golden").glob("*.trace.jsonl"))


def test_the_schema_that_ships_is_that_of_the_models() -> None:
    """A field that is added to a line is in the schema, or this says how to put it there."""
    written = lineschema.SCHEMA_FILE.read_text(encoding="utf-8")
    assert written == lineschema.schema_text(), "run: python -m workbench.trace.lineschema"
    assert schema() == lineschema.make_schema()
    assert schema() is not schema()


@pytest.mark.parametrize("path", [*_files()], ids=lambda path: path.name)
def test_every_line_of_a_real_trace_fits(path: Path, validator: Draft202012Validator) -> None:
    """Golden files and samples are valid line by line."""
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        errors = [error.message for error in validator.iter_errors(json.loads(line))]
        assert errors == [], f"line {number}"


def test_every_line_of_the_format_page_and_of_a_journal_fits(
    validator: Draft202012Validator,
) -> None:
    """The page's examples are valid too, and so is what a journal writes today."""
    page = (ROOT / "docs" / "trace-format.md").read_text(encoding="utf-8")
    lines = "".join(re.findall(r"```jsonl\n(.*?)```", page, re.DOTALL)).splitlines()
    maker = RunMaker("now").turn("", Ran("refund", {"order_id": 1}, (1, 2))).event("e", {"a": 1})
    lines += maker.end(output={1}).trim()._read_all().decode().splitlines()
    assert len(lines) >= 30
    for line in lines:
        validator.validate(json.loads(line))


@pytest.mark.parametrize(
    "line",
    [
        {"id": "1-1", "kind": "tool"},
        {"line": "note"},
        {"line": "call", "kind": "tool"},
        {"line": "call", "id": "1-1", "kind": "input"},
        {"line": "call", "id": "1-1", "kind": "tool", "attempt": "second"},
        {"line": "result", "of": "1-1", "source": "guess"},
        {"line": "result", "of": "1-1", "error": {"message": "no type"}},
        {"line": "end", "status": "finished"},
        {"line": "trace", "version": 1},
        {"line": "blob", "value": 1},
        [1],
    ],
    ids=json.dumps,
)
def test_what_the_format_does_not_allow_is_refused(
    line: Any, validator: Draft202012Validator
) -> None:
    """A missing id, an unknown word or a wrong type is found by the schema alone."""
    assert not validator.is_valid(line)


def test_the_schema_speaks_of_lines_as_they_are_in_a_file(validator: Draft202012Validator) -> None:
    """Fields have their names in the file, and a sentence; unknown ones are allowed."""
    call = schema()["$defs"]["CallLine"]
    assert "in" in call["properties"]
    assert "enclosing" not in call["properties"]
    assert call["required"] == ["line", "id", "kind"]
    assert call["properties"]["in"]["description"].startswith("The call inside which")
    assert not any("default" in field for field in call["properties"].values())
    validator.validate({"line": "writer", "id": "b", "added_later": [1]})


def test_the_schema_is_in_the_package() -> None:
    """A wheel takes in everything below the package's folder, where the schema lies."""
    assert lineschema.SCHEMA_FILE.parent == ROOT / "workbench" / "trace"
    build = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[tool.hatch.build", 1)[1]
    assert 'packages = ["workbench"]' in build
    assert "exclude" not in build.split("[tool.ruff]", 1)[0]
