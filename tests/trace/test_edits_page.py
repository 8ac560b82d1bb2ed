"""The page on edits says what is so: its Python runs, its JSON is read, its tables are whole."""

import json
import re
from pathlib import Path

from runmaker import RunMaker, order, refund

from workbench.trace.edits import EDIT, EDIT_TYPES, Edits
from workbench.trace.entries import ValueLine
from workbench.trace.trace import Trace


def page(repo_root: Path) -> str:
    """Its text."""
    return (repo_root / "docs" / "edits.md").read_text("utf-8")


def trace() -> Trace:
    """A run with what the page's examples name."""
    run = RunMaker().turn("", order()).turn("", refund()).turn("Done.").event("done", {"ok": True})
    run.journal.append(ValueLine(line="value", id=run.journal.new_id(), name="random", value=0.5))
    return run.end()


def test_its_python_runs(repo_root: Path) -> None:
    """One block after the other, on a run like those that the page speaks of."""
    names: dict[str, object] = {"trace": trace(), "print": lambda *words: None}
    blocks = re.findall(r"^```python\n(.*?)^```$", page(repo_root), re.MULTILINE | re.DOTALL)
    for block in blocks:
        exec(block, names)  # noqa: S102 - our own page
    edits = names["edits"]
    assert len(blocks) == 2
    assert isinstance(edits, Edits)
    assert [each.type for each in edits] == ["tool_result"]


def test_its_json_makes_edits_of_every_kind(repo_root: Path) -> None:
    """Each line is an edit that fits such a run, as it stands."""
    (block,) = re.findall(r"^```json\n(.*?)^```$", page(repo_root), re.MULTILINE | re.DOTALL)
    made = [EDIT.validate_python(json.loads(line)) for line in block.splitlines()]
    assert {each.type for each in made} == set(EDIT_TYPES)
    for each in made:
        assert len(trace().edit().add(each, mend=True)) == 1
        assert each.type in page(repo_root)


def test_its_table_has_every_field(repo_root: Path) -> None:
    """A field that a person could set and cannot find might as well not be there."""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \| (.*) \|$", page(repo_root), re.MULTILINE)
    (head, *_), *rows = rows
    assert (head, [name for name, _, _ in rows]) == ("type", list(EDIT_TYPES))
    for name, _, fields in rows:
        for field in EDIT_TYPES[name].model_fields:
            assert field in ("type", "at") or f"`{field}`" in fields, (name, field)
