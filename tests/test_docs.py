"""The documentation's Python runs as it stands."""

import re
import sys
from pathlib import Path
from typing import get_args

import pytest

import workbench as wb
from workbench.seam.modes import Mode

ROOT = Path(__file__).resolve().parent.parent
_BLOCK = re.compile(r"^```python([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(path: Path) -> list[tuple[int, str]]:
    text = path.read_text(encoding="utf-8")
    return [
        (text[: match.start()].count("\n") + 2, match[2])
        for match in _BLOCK.finditer(text)
        if "no-run" not in match[1]
    ]


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block of the README, one after the other in one folder, as a reader would."""
    monkeypatch.chdir(tmp_path)
    blocks = _blocks(ROOT / "README.md")
    assert len(blocks) >= 7
    names: dict[str, object] = {"__name__": "readme"}
    module = type(sys)("readme")
    monkeypatch.setitem(sys.modules, "readme", module)
    for line, source in blocks:
        padded = "\n" * (line - 1) + source  # so that a failure names the README's own line
        exec(compile(padded, "README.md", "exec"), names)  # noqa: S102 - our own README
        vars(module).update(names)
    assert (tmp_path / "refund.trace.jsonl").is_file()


def test_the_page_on_recording_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Python does what it says, and its table has every mode, each of them and no other."""
    monkeypatch.chdir(tmp_path)
    page = ROOT / "docs" / "recording.md"
    module = type(sys)("recording_page")
    monkeypatch.setitem(sys.modules, "recording_page", module)
    names = vars(module)
    for line, source in _blocks(page):
        exec(compile("\n" * (line - 1) + source, page.name, "exec"), names)  # noqa: S102 - our page
    assert len(wb.load("orders.trace.jsonl").tools("get_order")) == 3
    modes = re.findall(r"^\| `(\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert modes == list(get_args(Mode))


def test_what_contributing_names_is_there() -> None:
    """Who follows the guide finds each file and folder of this repository that it names."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:workbench|tests|docs|sample_traces)/[\w./-]*)`", text)
    assert len(named) >= 8
    assert [each for each in named if not (ROOT / each).exists()] == []
    views = re.search(r"beside the others in `([^`]+)`", text)
    assert views is not None
    assert (ROOT / views[1] / "openai_chat.py").is_file()
    adapters = [each for each in (ROOT / "workbench" / "adapters").iterdir() if each.name[0] != "_"]
    assert all((each / "__init__.py").is_file() for each in adapters)
    assert "a package of its own in `workbench/adapters/`" in text


def test_no_placeholder_is_left() -> None:
    """What a reader is to fill in is marked as such; what we were to fill in is filled in."""
    for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^(MEASURED|TODO|TBD|FIXME)\b", text, re.MULTILINE), path.name
