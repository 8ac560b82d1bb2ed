"""Compressed traces: read whatever they are called, however they were packed or damaged."""

from __future__ import annotations

import gzip
import stat
from pathlib import Path

import pytest
from journals import ask, journal_at, request, response, user

from workbench.errors import TraceError, TraceExistsError, UsageError
from workbench.trace.entries import EndLine
from workbench.trace.journal import Journal
from workbench.trace.trace import load, read_header


@pytest.fixture
def plain(tmp_path: Path) -> bytes:
    """The bytes of a trace of three turns."""
    path = tmp_path / "plain.trace.jsonl"
    journal = journal_at(path)
    for number in range(3):
        ask(journal, request(user(f"question {number} 😀")), response(f"answer {number}"))
    journal.close(EndLine(status="ok"))
    return path.read_bytes()


@pytest.mark.parametrize("name", ["a.trace.jsonl.gz", "a.trace.jsonl", "a.bin"])
@pytest.mark.parametrize("parts", [1, 3])
def test_what_is_packed_is_known_by_its_bytes(
    tmp_path: Path, plain: bytes, name: str, parts: int
) -> None:
    """The name does not matter, nor whether several packed pieces were put together."""
    path = tmp_path / name
    size = len(plain) // parts + 1
    pieces = [plain[at : at + size] for at in range(0, len(plain), size)]
    path.write_bytes(b"".join(map(gzip.compress, pieces)))
    trace = load(path)
    assert [turn.text for turn in trace.turns] == ["answer 0", "answer 1", "answer 2"]
    assert (trace.status, trace.notices, trace.path) == ("ok", (), path)
    assert read_header(path).id == "t-1"
    assert trace.save(tmp_path / "out.trace.jsonl").read_bytes() == plain


def test_a_name_that_promises_packing_is_not_believed(tmp_path: Path, plain: bytes) -> None:
    """A trace that was renamed opens as what it is."""
    path = tmp_path / "a.trace.jsonl.gz"
    path.write_bytes(plain)
    assert load(path).turn(3).text == "answer 2"


def test_saving_packed_gives_the_same_bytes_each_time(tmp_path: Path, plain: bytes) -> None:
    """No time and no name goes into the file: equal traces are equal files, and private ones."""
    trace = load(tmp_path / "plain.trace.jsonl")
    first = trace.save(tmp_path / "a.trace.jsonl.gz")
    second = load(first).save(tmp_path / "other" / "b.trace.jsonl.gz")
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()) == plain
    assert load(first).digest == trace.digest
    assert stat.S_IMODE(first.stat().st_mode) & 0o077 == 0
    with pytest.raises(TraceExistsError):
        trace.save(first)


def test_every_cut_gives_what_came_before_it(tmp_path: Path, plain: bytes) -> None:
    """A download that broke off, at any byte: an error or a notice, and never a wrong value."""
    packed = gzip.compress(plain)
    path = tmp_path / "a.trace.jsonl.gz"
    opened = 0
    for cut in range(2, len(packed), 7):
        path.write_bytes(packed[:cut])
        try:
            trace = load(path)
        except TraceError as error:
            assert str(path) in str(error)
            continue
        opened += 1
        assert any("compressed data are damaged" in str(notice) for notice in trace.notices)
        done = [entry.text for entry in trace.entries if not entry.open]
        assert done == [f"answer {number}" for number in range(len(done))]
    assert opened


@pytest.mark.parametrize("damage", ["checksum", "rubbish behind it"])
def test_damage_behind_the_data_costs_none_of_them(
    tmp_path: Path, plain: bytes, damage: str
) -> None:
    """Everything is read, and a notice says that the packing is not as it should be."""
    packed = bytearray(gzip.compress(plain))
    if damage == "checksum":
        packed[-8] ^= 0xFF
    else:
        packed += b"rubbish"
    path = tmp_path / "a.trace.jsonl.gz"
    path.write_bytes(packed)
    trace = load(path)
    assert [turn.text for turn in trace.turns] == ["answer 0", "answer 1", "answer 2"]
    assert "the compressed data are damaged" in str(trace.notices[0])


def test_nothing_is_recorded_into_a_packed_trace(tmp_path: Path, plain: bytes) -> None:
    """Lines behind packed data would be lost to every reader."""
    path = tmp_path / "a.trace.jsonl.gz"
    path.write_bytes(gzip.compress(plain))
    before = path.read_bytes()
    with pytest.raises(UsageError, match="recorded uncompressed"):
        Journal.join(path)
    with pytest.raises(UsageError, match="recorded uncompressed"):
        journal_at(path, replace=True)
    assert path.read_bytes() == before
    renamed = tmp_path / "a.trace.jsonl"
    renamed.write_bytes(before)
    with pytest.raises(UsageError, match="recorded uncompressed"):
        Journal.join(renamed)
    assert renamed.read_bytes() == before


def test_a_hundred_thousand_empty_pieces_are_nothing_special(tmp_path: Path, plain: bytes) -> None:
    """A file made to be awkward opens like any other, padding between its pieces too."""
    path = tmp_path / "a.trace.jsonl.gz"
    empty = gzip.compress(b"")
    path.write_bytes(empty * 100_000 + b"\0" * 100 + gzip.compress(plain) + b"\0" * 512)
    trace = load(path)
    assert trace.turn(3).text == "answer 2"
    assert trace.notices == ()
