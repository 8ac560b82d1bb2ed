"""Each version of the format stays readable, with all its values; no other one is guessed at."""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Any
from uuid import UUID

import pytest
from roundtrip import same

from workbench.errors import TraceVersionError, UnavailableError
from workbench.trace import versions
from workbench.trace.entries import ErrorInfo
from workbench.trace.faults import FAULT
from workbench.trace.journal import Journal
from workbench.trace.trace import Trace, load

GOLDEN = Path(__file__).parent / "golden"
MANUAL = "Page one of the manual. " * 400
VALUES: dict[str, Any] = {
    "bytes": b"\x8c\x00",
    "bytearray": bytearray(b"ab"),
    "nan": float("nan"),
    "inf": float("inf"),
    "minus": float("-inf"),
    "big": 2**70,
    "date": date(2025, 11, 3),
    "time": time(9, 15, 30),
    "delta": timedelta(days=1, seconds=2, microseconds=3),
    "decimal": Decimal("149.90"),
    "uuid": UUID("12345678-1234-5678-1234-567812345678"),
    "path": PurePosixPath("a/b"),
    "tuple": (1, (2,)),
    "set": {"x"},
    "frozen": frozenset({1}),
    "complex": 1 + 2j,
    "pairs": {1: "one", None: "none"},
    "surrogate": "\ud83d",
    "reserved": {"$wb": 1},
}


@pytest.fixture(scope="module")
def first() -> Trace:
    """The golden trace of version 1."""
    return load(GOLDEN / "v1.trace.jsonl")


def test_every_version_has_its_golden_file() -> None:
    """A new version comes with a step from the one before, whose golden file stays for ever."""
    assert sorted(versions.MIGRATIONS) == list(range(1, versions.CURRENT))
    names = {f"v{version}.trace.jsonl" for version in range(1, versions.CURRENT + 1)}
    assert {each.name for each in GOLDEN.iterdir()} == names


def test_version_1_keeps_its_bytes(first: Trace, tmp_path: Path) -> None:
    """Loading and saving gives the same bytes, compressed as well; nothing in it is wrong."""
    data = (GOLDEN / "v1.trace.jsonl").read_bytes()
    assert first.save(tmp_path / "a.trace.jsonl").read_bytes() == data
    packed = first.save(tmp_path / "a.trace.jsonl.gz")
    assert load(packed).save(tmp_path / "b.trace.jsonl").read_bytes() == data
    assert first.verify() == ()
    lines = {json.loads(line)["line"] for line in data.splitlines()}
    assert lines == {
        "trace", "writer", "call", "chunk", "result", "event", "clock", "value", "input", "blob",
        "end",
    }  # fmt: skip


def test_version_1_keeps_its_header_and_end(first: Trace) -> None:
    """What the run was, where it came from and how it ended."""
    header, parent = first.header, first.parent
    assert (first.id, first.name, header.tags) == ("fork-1", "refund-forked", ["demo", "späti"])
    assert header.agent is not None
    assert header.agent.argv == ["--order", "101"]
    assert (header.redact, header.salt, header.seed) == (["keys", "values"], "5a17", "seed-1")
    assert header.hash is not None
    assert header.hash.ignore["tool"] == ["/arguments/trace"]
    assert header.steps == {"plan": [], "plan/look": ["plan"], "answer": ["plan"]}
    assert parent is not None
    assert (parent.id, parent.cut, parent.options) == ("4f1c9d20", "turn:2", {"on_miss": "live"})
    assert parent.edits[0]["place"] == "entry:1-2"
    when = datetime(2025, 11, 3, 9, 15, tzinfo=UTC)
    assert first.input == {"args": [("a", 1)], "kwargs": {"order": "101", "when": when}}
    assert (first.status, first.duration_s) == ("failed", 16.0)
    assert same(first.output, {"refunded": Decimal(0), "seen": {101}})
    assert first.error == ErrorInfo(type="OutOfStock", message="none left")
    assert first.started_at == datetime(2025, 11, 3, 9, 15, 30, tzinfo=UTC)


def test_version_1_keeps_its_model_calls(first: Trace) -> None:
    """Requests are whole, shared beginnings and blobs put back; replies and usage are there."""
    one, two = first.entry("1-3"), first.entry("1-7")
    messages = one.body["messages"]
    assert messages[0]["content"] == "Refund orders. 😀 \u2028"
    assert messages[1]["content"] == MANUAL
    assert one.body["tools"][0]["function"]["parameters"]["required"] == ["id"]
    assert one.request["query"] == {"api-version": "1"}
    assert two.body["messages"][:2] == messages
    assert [each["content"] for each in two.body["messages"][3:]] == ["broken"]
    assert two.sent["body"]["messages"][3]["content"] == "whole"
    assert (one.origin, one.reason, one.source) == ("1-1", "hit", "replayed")
    assert (one.where, one.step, one.duration_s) == ("refund.py:41", "plan", 1.2)
    assert one.usage == {
        "input_tokens": 21, "output_tokens": 9, "cache_read_tokens": 4, "cache_write_tokens": 1,
        "reasoning_tokens": 2,
    }  # fmt: skip
    assert one.response["body"]["odd"] == {"$wb": "not a tag of ours"}
    assert [(each.name, each.arguments) for each in one.tool_calls] == [("get_order", {"id": 101})]
    assert two.usage == {"input_tokens": 44, "output_tokens": None}
    assert two.reply_model is None


def test_version_1_keeps_its_tools_and_values(first: Trace) -> None:
    """Every tagged type comes back as itself; errors keep their arguments and attributes."""
    look, refund, ship = first.tools()
    assert same(look.arguments, {"id": 101, "values": VALUES})
    assert same(look.result, {"order": 101, "total": Decimal("149.90"), "page": MANUAL})
    assert (look.asked_by, look.effect, look.source) == ("1-3", "read", "edited")
    assert (refund.effect, refund.key, refund.held_s) == ("write", "fork-1:1-9", 2.5)
    assert refund.request == {"name": "refund", "arguments": {"order": 101}, "key": "own-1"}
    assert refund.error is not None
    assert (refund.error.module, refund.error.attributes) == ("shop.errors", {"left": 0})
    assert refund.error.args == [{"$wb": "tuple", "v": ["a", {"$wb": "bytes", "v": "Yg=="}]}]
    assert (ship.id, ship.open, ship.hash) == ("9c2e11af-2", True, None)
    assert [entry.value for entry in first.entries[:2]] == [
        datetime(2025, 11, 3, 9, 15, 30, tzinfo=UTC),
        0.25,
    ]
    assert [(entry.name, entry.site, entry.nth) for entry in first.entries[:2]] == [
        ("now", "agent:plan", 1),
        ("random", "agent:plan", 1),
    ]
    human = first.entry("1-8")
    assert (human.prompt, human.value, human.duration_s) == ("Refund 149.90?", "yes", 4.5)
    event = first.events("refunded")[0]
    assert (event.data, event.enclosing) == ({"order": 101, "tags": ("a",)}, "1-9")


def test_version_1_keeps_its_streams_faults_and_turns(first: Trace) -> None:
    """A stream's pieces, how it ended, an injected fault, attempts, and what makes up a turn."""
    fault, cut = first.entry("1-5"), first.entry("1-6")
    assert fault.fault is not None
    assert FAULT.validate_python(fault.fault).type == "http_error"
    assert fault.fault["status_code"] == 503
    assert fault.error is not None
    assert (fault.error.status, fault.error.headers) == (503, {"retry-after": "2"})
    assert fault.error.body == {"error": {"message": "overloaded"}}
    assert [chunk.offset_s for chunk in cut.chunks] == [0.5, 0.6]
    assert cut.text == "Hello "
    assert (cut.ended, cut.first_s, cut.attempt, cut.stream) == ("cut", 0.5, 2, True)
    assert cut.error is not None
    assert (cut.error.cause, cut.response["rest"]) == ("RemoteProtocolError", ": ping")
    turns = [[entry.id for entry in turn.entries] for turn in first.turns]
    assert turns == [["1-3", "1-4"], ["1-5", "1-6"], ["1-7", "1-9", "9c2e11af-2"]]


@pytest.mark.parametrize("version", ["999", "0", "-1", "1.0", '"1"', "true", "null", None])
@pytest.mark.parametrize("packed", [False, True])
def test_any_other_version_is_refused_and_the_file_left_alone(
    tmp_path: Path, version: str | None, *, packed: bool
) -> None:
    """A newer trace is not read half, a version is not guessed, and nothing is written."""
    field = "" if version is None else f',"version":{version}'
    line = f'{{"line":"trace","format":"workbench-trace"{field},"id":"t"}}\n'
    path = tmp_path / ("a.trace.jsonl.gz" if packed else "a.trace.jsonl")
    if packed:
        import gzip

        path.write_bytes(gzip.compress(line.encode()))
    else:
        path.write_text(line)
    before = path.read_bytes()
    with pytest.raises(TraceVersionError) as caught:
        load(path)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 400
    assert path.read_bytes() == before


# -- a version to come: what changes is made up, what reads it is not


def _to_2(line: dict[str, Any]) -> dict[str, Any]:
    """Version 2, made up: the head says ``agent_step``, and durations are milliseconds."""
    if "agent_step" in line:
        line["step"] = line.pop("agent_step")
    if line["line"] == "result" and "ms" in line:
        line["duration_s"] = line.pop("ms") / 1000
    return line


def _to_3(line: dict[str, Any]) -> dict[str, Any]:
    """Version 3, made up: a tool's result is in a field of another name."""
    if line["line"] == "result" and "returned" in line:
        line["response"] = line.pop("returned")
    return line


@pytest.fixture
def third(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that writes version 3, and reads 1 and 2 as well."""
    monkeypatch.setattr(versions, "CURRENT", 3)
    monkeypatch.setattr(versions, "MIGRATIONS", {1: _to_2, 2: _to_3})


def _old(version: int, count: int = 2, size: int = 1) -> bytes:
    lines: list[dict[str, Any]] = [
        {"line": "trace", "format": "workbench-trace", "version": version, "id": "old"}
    ]
    for n in range(1, count + 1):
        asked = {"name": "f", "arguments": {"n": n}}
        step = {"agent_step": "s"} if version == 1 else {"step": "s"}
        call = {"line": "call", "id": f"1-{n}", "kind": "tool", "name": "f", "request": asked}
        took: dict[str, Any] = (
            {} if n == 1 else {"ms": 250} if version == 1 else {"duration_s": 0.25}
        )
        result = {"line": "result", "of": f"1-{n}", **took, "returned": "x" * size}
        lines += [call | step, result]
    return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


@pytest.mark.usefixtures("third")
@pytest.mark.parametrize("version", [1, 2])
def test_an_old_trace_is_brought_up_to_date_step_by_step(tmp_path: Path, version: int) -> None:
    """Each line goes through all steps from its version on, and the file stays as it was."""
    path = tmp_path / "a.trace.jsonl"
    path.write_bytes(_old(version))
    trace = load(path)
    assert [entry.step for entry in trace.entries] == ["s", "s"]
    assert [entry.result for entry in trace.entries] == ["x", "x"]
    assert trace.header.version == 3
    assert trace.verify() == ()
    assert trace.rows() == []
    assert trace.save(tmp_path / "b.trace.jsonl").read_bytes() == path.read_bytes() == _old(version)
    now = trace.trim().save(tmp_path / "c.trace.jsonl")
    assert b'"version":3' in now.read_bytes()
    assert [entry.result for entry in load(now).entries] == ["x", "x"]


@pytest.mark.usefixtures("third")
def test_nothing_is_appended_to_an_old_trace(tmp_path: Path) -> None:
    """A file has lines of one version: to go on with an old one, it is written anew first."""
    path = tmp_path / "a.trace.jsonl"
    path.write_bytes(_old(2))
    with pytest.raises(TraceVersionError, match=r"has format version 2, .* in version 3 only"):
        Journal.join(path)
    assert path.read_bytes() == _old(2)
    late = Journal.join(load(path).trim().save(tmp_path / "b.trace.jsonl"))
    late.close()
    assert load(tmp_path / "b.trace.jsonl").verify() == ()


@pytest.mark.usefixtures("third")
def test_what_an_old_trace_does_not_say_is_not_recorded() -> None:
    """A field that an old line lacks is unknown after the steps too, and never 0."""
    one, two = Trace.from_bytes(_old(1)).entries
    assert (one.duration_s, two.duration_s) == (None, 0.25)
    assert one.usage is None


@pytest.mark.usefixtures("third")
def test_a_large_old_trace_is_not_loaded_whole(tmp_path: Path) -> None:
    """Lines are brought up to date when they are looked at; memory holds one at a time."""
    path = tmp_path / "a.trace.jsonl"
    path.write_bytes(_old(1, count=400, size=100_000))
    tracemalloc.start()
    trace = load(path)
    assert trace.entry("1-400").step == "s"
    assert len(trace.entry("1-400").result) == 100_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert path.stat().st_size > 40_000_000
    assert peak < 8_000_000


@pytest.mark.usefixtures("third")
def test_a_line_that_a_step_cannot_read_is_damage(tmp_path: Path) -> None:
    """One odd line costs itself: it is reported with its number, and the rest is there."""
    data = _old(1).replace(b'"ms": 250', b'"ms": "fast"')
    trace = Trace.from_bytes(data)
    assert [str(notice)[:60] for notice in trace.notices] == [
        "line 5: damaged (it cannot be brought from format version 1 "
    ]
    assert [entry.open for entry in trace.entries] == [False, True]
    path = tmp_path / "a.trace.jsonl"
    path.write_bytes(_old(1))
    late = load(path)
    path.write_bytes(_old(1))
    assert late.entries[1].result == "x"
    with pytest.raises(UnavailableError, match=r"line 5 of .* is damaged \(it cannot be brought"):
        late.lines.parse(data.splitlines()[4], 4)
