"""The page on agents says what is so."""

import re
import sys
from pathlib import Path

import pytest

import workbench as wb
from workbench.cli.own import VARIABLE
from workbench.seam.ambient_stands import MODULES

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_on_agents_runs(
    repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its Python does what it says, and what it names is there."""
    monkeypatch.chdir(tmp_path)
    page = repo_root / "docs" / "agents.md"
    text = page.read_text("utf-8")
    module = type(sys)("agents_page")
    monkeypatch.setitem(sys.modules, "agents_page", module)
    blocks = list(_BLOCK.finditer(text))
    assert len(blocks) == 3
    for match in blocks:
        above = "\n" * text[: match.start(1)].count("\n")
        exec(compile(above + match[1], page.name, "exec"), vars(module))  # noqa: S102 - our page
    assert VARIABLE in text
    assert all(f"`{name}`" in text for name in MODULES)
    assert hasattr(wb, "bind")
