"""The page on reliability names tests that exist."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", PAGE)


def _tests(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    }


def test_every_test_on_the_page_exists() -> None:
    """A test that is renamed or dropped is noticed where it is promised."""
    assert len(NAMED) > 80
    missing = []
    for file, name in NAMED:
        path = ROOT / file
        if not path.is_file() or (name and name not in _tests(path)):
            missing.append(f"{file}::{name}" if name else file)
    assert missing == []


def test_every_kind_says_what_prevents_it() -> None:
    """No row is left half empty."""
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    for row in rows:
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert len(cells) == 3, row
        assert all(cells), row
