"""Long traces are read by shortcuts: what they give is what reading every line gives."""

from __future__ import annotations

from pathlib import Path

import pytest
from runmaker import Ran, RunMaker

from workbench.trace import lines, scan
from workbench.trace.trace import Trace, load


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A trace with large results, some of them alike, so that they are stored once as blobs."""
    maker = RunMaker("long", path=tmp_path / "long.trace.jsonl")
    for number in range(90):
        maker.messages = maker.messages[:2]
        page = {"page": f"{number % 7} " * 5_000}
        maker.turn("", Ran("get_order", {"order_id": number}, page))
    maker.end()
    return tmp_path / "long.trace.jsonl"


def _index(trace: Trace) -> dict[str, object]:
    index = trace.index
    names = ("starts", "kinds", "calls", "results", "blobs", "ends", "loose", "all_loose")
    return {name: getattr(index, name) for name in names}


@pytest.mark.parametrize("block", [50, 5_000, 1024**2], ids=["tiny", "small", "usual"])
def test_the_shortcuts_find_what_parsing_finds(
    path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    """Wherever a block of the file ends, also inside a line that is longer than it."""
    whole = load(path)
    assert whole.index.blobs, "the trace has no blob to find"
    monkeypatch.setattr(scan, "_PARSE_ALL", 0)
    monkeypatch.setattr(scan, "_BLOCK", block)
    quick = load(path)
    assert _index(quick) == _index(whole)
    assert [turn.tools[0].result for turn in quick.turns][88] == {"page": "4 " * 5_000}


@pytest.mark.parametrize("window", [2_000, 1024**2], ids=["small", "usual"])
def test_heads_read_together_are_those_read_one_by_one(
    path: Path, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    """Turns, times and flags do not depend on how the heads were read."""
    monkeypatch.setattr(lines, "_WINDOW", window)
    monkeypatch.setattr(scan, "_PARSE_ALL", 0)
    trace = load(path)
    read = trace.lines.head_reader()
    numbers = [*trace.index.calls, *trace.index.results]
    assert [read(line) for line in numbers] == [trace.lines.read_head(line) for line in numbers]
    monkeypatch.setattr(lines, "_SHORT", 0)
    assert repr(load(path).columns) == repr(trace.columns)


def test_a_line_that_is_too_long_is_left_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines after it are read, and a notice says which one was not."""
    monkeypatch.setattr(scan, "_PARSE_ALL", 0)
    monkeypatch.setattr(scan, "_BLOCK", 1_000)
    monkeypatch.setattr(scan, "MAX_LINE", 12_000)
    text = path.read_bytes().split(b"\n")
    text.insert(3, b'{"line":"event","id":"x","data":"' + b"x" * 20_000 + b'"}')
    path.write_bytes(b"\n".join(text))
    trace = load(path)
    assert [notice.line for notice in trace.notices] == [4]
    assert "longer than 12,000 bytes" in trace.notices[0].message
    assert trace.status == "ok"
    assert len(trace.turns) == 90
