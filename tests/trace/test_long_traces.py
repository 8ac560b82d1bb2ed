"""Long traces are read by shortcuts: what they give is what reading every line gives."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

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
    names = [name for name in vars(index) if name not in ("ids", "places", "_places")]
    numbers: dict[int, int] = {0: 0}  # which number stands for a place means nothing
    places = [numbers.setdefault(each, len(numbers)) for each in index.places]
    found = {name: getattr(index, name) for name in names}
    return found | {"places": places, "turns": vars(trace.turn_table)}


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


class _Mix:
    """Lines of all kinds by several writers, as journals write them; now and then a bad one."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a test's dice
        self.counts = dict.fromkeys(("1", "9c2e11af", "b"), 0)
        self.open: list[str] = []
        self.calls: list[str] = []

    def lines(self, count: int) -> list[str]:
        """The header and that many lines."""
        first = '{"line":"trace","format":"workbench-trace","version":1,"id":"mix"}'
        return [first, *(self.line() for _ in range(count))]

    def line(self) -> str:
        made = self.random.choices(
            [self.call, self.result, self.chunk, self.single, self.blob, self.odd],
            [40, 40, 10, 6, 3, self.odds()],
        )
        found = made[0]()
        return found if isinstance(found, str) else json.dumps(found, separators=(",", ":"))

    def odds(self) -> float:
        return 1.0

    def new_id(self) -> str:
        writer = self.random.choices(list(self.counts), [90, 8, 2])[0]
        self.counts[writer] += self.random.choices([1, 2, 2000], [995, 4, 1])[0]
        return f"{writer}-{self.counts[writer]}"

    def call(self) -> dict[str, Any]:
        pick, name = self.random.random, self.new_id()
        kind = "model" if pick() < 0.6 else "tool"
        line: dict[str, Any] = {"line": "call", "id": name, "kind": kind}
        if pick() < 0.9:
            line["at"] = "2025-11-03T09:15:30.100000Z"
        if pick() < 0.3:
            line["step"] = self.random.choice(["a", "a/b", 'a "quoted" one', "ä"])
        if pick() < 0.2:
            line["attempt"] = self.random.choice([1, 2, 3])
        if self.calls and pick() < 0.3:
            line["in"] = self.random.choice(self.calls)
        if self.calls and kind == "tool" and pick() < 0.7:
            line["asked_by"] = self.random.choice(self.calls)
        line |= {"api": "openai.chat"} if kind == "model" else {"name": "f"}
        line |= {"hash": "0" * 64, "request": {"body": {"step": "x", "attempt": 2}}}
        self.open.append(name)
        self.calls.append(name)
        return line

    def result(self) -> dict[str, Any]:
        of = self.open.pop(self.random.randrange(len(self.open))) if self.open else "1-1"
        line: dict[str, Any] = {"line": "result", "of": of}
        if self.random.random() < 0.2:
            line["error"] = {"type": "RateLimitError"}
        return line | {"response": {"body": "x" * self.random.randrange(300)}}

    def chunk(self) -> dict[str, Any]:
        of = self.random.choice(self.open) if self.open else "1-1"
        return {"line": "chunk", "of": of, "data": "x"}

    def single(self) -> dict[str, Any]:
        return {"line": "event", "id": self.new_id(), "type": "t", "data": [1]}

    def blob(self) -> dict[str, Any]:
        return {"line": "blob", "sha256": "ab" * 32, "value": "x"}

    def odd(self) -> Any:
        call: dict[str, Any] = {"line": "call", "id": "1-1", "kind": "tool", "request": {}}
        odd = ["", "garbage", '{"line":"result","of":"1-2","respo', {"line": "note"}, call]
        odd += [{"line": "result", "of": "1-3"}, {"line": "call", "id": "x y", "kind": "model"}]
        odd += [{"line": "writer", "id": "b"}, {"line": "end", "status": "ok"}]
        return self.random.choice(odd)


@pytest.mark.parametrize("seed", range(24))
def test_any_mix_of_lines_is_found_as_parsing_finds_it(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Several writers, retries, streams, tools inside tools, gaps, damage: recognising lines by
    their beginnings finds the same entries, turns and notices as reading each of them.
    """
    mix = _Mix(seed)
    if seed % 3:
        monkeypatch.setattr(mix, "odds", lambda: 0.0)
    data = "\n".join([*mix.lines(1500), ""]).encode()
    whole = Trace.from_bytes(data)
    monkeypatch.setattr(scan, "_PARSE_ALL", 0)
    monkeypatch.setattr(scan, "_BLOCK", 2_000)
    quick = Trace.from_bytes(data)
    assert _index(quick) == _index(whole)
    assert [str(each) for each in quick.notices] == [str(each) for each in whole.notices]
    ids = [each.id for each in whole.entries]
    assert [quick.entry(each).seq for each in ids] == list(range(1, len(ids) + 1))
    assert len(whole.turns) > 300


def test_millions_of_plain_calls_take_the_shortest_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording of nothing but calls and results is taken in block by block, not by line."""
    calls = (
        f'{{"line":"call","id":"1-{n}","kind":"model","api":"openai.chat","request":{{}}}}\n'
        f'{{"line":"result","of":"1-{n}","response":{{}}}}\n'
        for n in range(1, 20_001)
    )
    header = '{"line":"trace","format":"workbench-trace","version":1,"id":"t"}\n'
    data = "".join([header, *calls]).encode()
    whole = Trace.from_bytes(data)
    monkeypatch.setattr(scan, "_PARSE_ALL", 0)
    seen: list[bytes] = []
    parsed = scan._Scan.parsed

    def counted(self: Any, line: bytes) -> None:
        seen.append(line)
        parsed(self, line)

    monkeypatch.setattr(scan._Scan, "parsed", counted)
    monkeypatch.setattr(scan, "_BLOCK", 20_000)
    quick = Trace.from_bytes(data)
    assert _index(quick) == _index(whole)
    assert len(seen) < 400
    assert quick.turn(20_000).model.id == "1-20000"


def test_a_writer_with_its_own_order_of_fields_is_read_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Another program may put ``attempt`` and ``asked_by`` anywhere in a line: none is missed."""
    lines = ['{"line":"trace","format":"workbench-trace","version":1,"id":"t"}']
    for n in range(1, 400):
        first, tool = f"1-{2 * n - 1}", f"1-{2 * n}"
        lines.append(f'{{"line":"call","id":"{first}","kind":"model","api":"a","step":"s{n}"}}')
        lines.append(f'{{"line":"call","id":"{tool}","kind":"tool","name":"f","asked_by":"1-1"}}')
    monkeypatch.setattr(scan, "_PARSE_ALL", 0)
    monkeypatch.setattr(scan, "_BLOCK", 2_000)
    trace = Trace.from_bytes("\n".join([*lines, ""]).encode())
    assert len(trace.turn(1).tools) == 399
    assert trace.turn(399).step == "s399"


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
