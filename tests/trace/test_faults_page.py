"""The page on faults says what there is, and its Python runs."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from workbench.trace.faults import FAULT_TYPES

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_table_names_every_fault_and_its_fields() -> None:
    """Whoever looks for a fault finds its type, its class and each of its fields."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    table = {row[0].strip("`"): (row[1].strip("`"), row[2]) for row in rows}
    assert list(table) == list(FAULT_TYPES)
    for name, model in FAULT_TYPES.items():
        kind, fields = table[name]
        assert kind == model.__name__
        own = set(model.model_fields) - {"type", "aim", "times", "layer"}
        assert set(re.findall(r"`(\w+)`", fields)) == own


def test_the_pages_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block in its order, as a reader would type it."""
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text("utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == 4
    module = ModuleType("faults_page")
    monkeypatch.setitem(sys.modules, "faults_page", module)
    names = vars(module)
    for block in blocks:
        line = text[: block.start(1)].count("\n")
        source = "\n" * line + block[1]  # so that a failure names the page's own line
        exec(compile(source, "faults.md", "exec"), names)  # noqa: S102 - our own page
    assert names["again"].output == "paid"
