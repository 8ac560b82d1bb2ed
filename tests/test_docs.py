"""The documentation's Python runs as it stands."""

import re
import sys
from pathlib import Path

import pytest

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
