"""What docs/by-hand.md shows can be typed off and works."""

import re
import sys
from pathlib import Path

import pytest

from workbench.trace.byhand.model import TURN_FIELDS
from workbench.trace.faults import FAULT_TYPES

_BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def page(repo_root: Path) -> str:
    """The page's text."""
    return (repo_root / "docs" / "by-hand.md").read_text("utf-8")


def test_every_example_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are put where their heading says, and the Python runs block by block, as a reader's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "page", type(sys)("page"))
    names: dict[str, object] = {"__name__": "page"}
    ran = 0
    for match in _BLOCK.finditer(page):
        language, file, text = match.groups()
        if file is not None:
            Path(file).write_text(text, "utf-8")
        elif language == "python":
            padded = "\n" * page[: match.start(3)].count("\n") + text
            exec(compile(padded, "by-hand.md", "exec"), names)  # noqa: S102 - our own page
            vars(sys.modules["page"]).update(names)
            ran += 1
    assert ran == 5
    assert (tmp_path / "flaky-draft.json").is_file()


def test_every_field_and_fault_is_on_the_page(page: str) -> None:
    """Nobody has to read the code to learn what an entry may hold."""
    words = {word for code in re.findall(r"`([^`\n]+)`", page) for word in re.findall(r"\w+", code)}
    assert set(TURN_FIELDS) - words == set()
    assert set(FAULT_TYPES) - {"stale_result"} - words == set()
