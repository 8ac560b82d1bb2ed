"""The page on AgentIO."""

import re
import sys
from pathlib import Path

import pytest

import workbench as wb

_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_page_runs(repo_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every block, one after the other in one folder, as a reader would."""
    monkeypatch.chdir(tmp_path)
    text = (repo_root / "docs" / "agentio.md").read_text("utf-8")
    module = type(sys)("agentio_page")
    monkeypatch.setitem(sys.modules, "agentio_page", module)
    names: dict[str, object] = {"__name__": "agentio_page"}
    matches = list(_BLOCK.finditer(text))
    assert len(matches) == 5
    for match in matches:
        line = text[: match.start()].count("\n") + 1
        source = "\n" * line + match[1]  # so that a failure names the page's own line
        exec(compile(source, "agentio.md", "exec"), names)  # noqa: S102 - our own page
        vars(module).update(names)
    assert wb.load("q.trace.jsonl").output == "The money is on its way."


def test_the_page_names_each_method_and_error(repo_root: Path) -> None:
    """What the protocol has is on the page, and what the page names is there."""
    text = (repo_root / "docs" / "agentio.md").read_text("utf-8")
    methods = [name for name in vars(wb.AgentIO) if not name.startswith("_")]
    assert [name for name in methods if f"{name}(" not in text] == []
    named = set(re.findall(r"`(\w+Error)`", text)) - {"TimeoutError", "ConnectionError"}
    assert len(named) >= 9
    assert [name for name in sorted(named) if not hasattr(wb, name)] == []
