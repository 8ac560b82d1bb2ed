import gzip
import json
import re
import threading
from pathlib import Path
from typing import Any

import pytest
from journals import ask, journal_at, request, response, use, user

from workbench.errors import (
    TraceFormatError,
    TraceNotFoundError,
    TraceVersionError,
    UnavailableError,
)
from workbench.trace.entries import EndLine
from workbench.trace.trace import Trace, load

_HEADER = '{"line":"trace","format":"workbench-trace","version":1,"id":"t"}'
_CALL = '{"line":"call","id":"1-1","kind":"tool","name":"f","request":{"name":"f","arguments":{}}}'
_RESULT = '{"line":"result","of":"1-1","response":"done"}'


def _trace(*lines: str) -> Trace:
    return Trace.from_bytes("".join(f"{line}\n" for line in (_HEADER, *lines)).encode())


def _notices(trace: Trace) -> list[str]:
    return [str(notice) for notice in trace.notices]


def _conversation(path: Path) -> list[bytes]:
    """Three calls that build on each other; gives the file's lines."""
    journal = journal_at(path)
    talk = []
    for n in range(3):
        talk.append(user(f"question {n}"))
        ask(journal, request(*talk), response(f"answer {n}"))
    journal.close(EndLine(status="ok"))
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "the file is empty; nothing was recorded in it"),
        (b" \n\n", "the file is empty; nothing was recorded in it"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "this is a binary file, not a trace"),
        (b"\xff\xfe{\0", "the file is UTF-16 text, and a trace is UTF-8; save it as UTF-8"),
        (b"\xe9t\xe9\n", "this is a binary file, or text that is not UTF-8"),
        (
            b"my notes\nmore\n",
            "not JSON, so not a trace: it begins with 'my notes'; its first line",
        ),
        (b'{\n "cells": [],\n "nbformat": 4\n}\n', "this is a Jupyter notebook, not a trace"),
        (b'{"_version": 2, "draft": [{"content": "x"}]}', "this is an AgentLoom recording"),
        (b'{"a": 1}\n', "this is JSON, but no trace: its first line must be the trace's header"),
        (b"[1]\n", "this is JSON, but no trace"),
        (_RESULT.encode(), "the first line is a 'result' line; .* Was it lost?"),
        (_HEADER.encode()[:40], "only a part of its first line: the recording died as it began"),
        (b'{"line":"trace","format":"other","version":1}', "the header's format is 'other', not"),
        (b'{"line":"trace","format":"workbench-trace","version":1}', "the header is not valid: id"),
    ],
)
def test_a_file_that_is_no_trace_says_what_it_is(tmp_path: Path, content: bytes, text: str) -> None:
    """Opening a wrong file names the file and what it seems to be, and leaves it as it was."""
    path = tmp_path / "a.trace.jsonl"
    path.write_bytes(content)
    with pytest.raises(TraceFormatError, match=f"^{re.escape(str(path))}(:1)?: .*{text}"):
        load(path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("version", "text"),
    [
        ("999", "the trace has format version 999, and this workbench reads up to 1. Update it"),
        ("0", "the header has the version 0, and versions are whole numbers from 1"),
        ("true", "the header has the version True"),
        ('"1"', "the header has the version '1'"),
        (None, "the header names no format version"),
    ],
)
def test_a_version_that_is_not_ours_is_refused(
    tmp_path: Path, version: str | None, text: str
) -> None:
    """A newer trace must not be read half, nor a missing version be taken for ours."""
    field = "" if version is None else f',"version":{version}'
    path = tmp_path / "a.trace.jsonl"
    path.write_text(f'{{"line":"trace","format":"workbench-trace"{field},"id":"t"}}\n')
    with pytest.raises(TraceVersionError, match=re.escape(text)):
        load(path)


def test_a_missing_file_names_a_similar_one(tmp_path: Path) -> None:
    """A typing error in a path is answered with the file that was meant."""
    journal_at(tmp_path / "refund.trace.jsonl").close()
    with pytest.raises(TraceNotFoundError, match=r"refnd.*no such file\. Did you mean .*refund"):
        load(tmp_path / "refnd.trace.jsonl")
    with pytest.raises(FileNotFoundError, match="and no folder"):
        load(tmp_path / "nowhere" / "a.trace.jsonl")
    with pytest.raises(
        TraceFormatError, match=r"this is a folder; .* such as refund\.trace\.jsonl"
    ):
        load(tmp_path)


def test_a_torn_last_line_costs_only_itself(tmp_path: Path) -> None:
    """A process can die at any byte of its last line, also inside a character."""
    path = tmp_path / "a.trace.jsonl"
    whole = b"".join(_conversation(path)[:5])
    torn = '{"line":"result","of":"1-2","response":"😀"}'.encode()
    for cut in range(1, len(torn)):
        path.write_bytes(whole + torn[:cut])
        trace = load(path)
        assert _notices(trace) == [
            (
                "line 6: the last line was cut off as it was written, so what it held is lost; "
                "the lines before it are whole"
            )
        ]
        assert [entry.id for entry in trace.entries] == ["1-1", "1-2"]
        assert trace.status == "cut short"


def test_a_last_line_without_newline_counts(tmp_path: Path) -> None:
    """An editor may leave the last newline out; the line is whole all the same."""
    path = tmp_path / "a.trace.jsonl"
    path.write_bytes(b"".join(_conversation(path)).rstrip(b"\n"))
    trace = load(path)
    assert (trace.status, trace.notices) == ("ok", ())


def test_a_bad_line_in_the_middle_costs_what_depends_on_it(tmp_path: Path) -> None:
    """Damage is reported with its line; replies stay, and only requests built on it are lost."""
    path = tmp_path / "a.trace.jsonl"
    lines = _conversation(path)
    lines[3] = b"\xff garbage" + lines[3][30:]
    path.write_bytes(b"".join(lines))
    trace = load(path)
    assert [notice.line for notice in trace.notices] == [4, 5]
    assert "damaged" in str(trace.notices[0])
    assert "a result of '1-2', but no call before it has that id" in str(trace.notices[1])
    assert [entry.id for entry in trace.entries] == ["1-1", "1-3"]
    assert [entry.text for entry in trace.entries] == ["answer 0", "answer 2"]
    assert trace.entries[0].request == request(user("question 0"))
    with pytest.raises(
        UnavailableError,
        match=r"line 6 of .* continues the conversation of the call 1-2, and the line of that call "
        "is missing or damaged; its request is lost, its reply is not",
    ):
        trace.entries[1].request  # noqa: B018 - it is read
    assert trace.entries[1].own_messages == (2, [user("question 2")])
    assert trace.turns[1].label == "answer 2"
    assert trace.status == "ok"
    assert any("missing or damaged" in str(notice) for notice in trace.verify())


def test_damage_inside_a_large_file_shows_when_it_is_looked_at(tmp_path: Path) -> None:
    """Of a large file only the beginnings of lines are read; damage further in is found later."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    for n in range(1500):
        ask(journal, request(user(f"{n} " + "x" * 6000)), response(f"answer {n}"))
    journal.close(EndLine(status="ok"))
    data = path.read_bytes()
    assert len(data) > 8 * 1024**2
    broken = data.replace(b'"content":"answer 700"', b'"content":"answer 70\x00"')
    path.write_bytes(broken)
    trace = load(path)
    assert not trace.notices
    assert trace.entries[699].text == "answer 699"
    with pytest.raises(UnavailableError, match=r"line 1403 of .* is damaged"):
        trace.entries[700].response  # noqa: B018 - it is read
    assert [notice.line for notice in trace.notices] == [1403]
    assert trace.turn(701).label == "unreadable: damaged"
    assert trace.rows(700, 701)[0]["number"] == 701


def test_a_missing_blob_is_named(tmp_path: Path) -> None:
    """A lost blob costs the bodies that refer to it, and says which line needs which blob."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    ask(journal, request(user("x" * 10_000)), response("answer"))
    journal.close()
    lines = path.read_bytes().splitlines(keepends=True)
    assert lines[1].startswith(b'{"line":"blob"')
    path.write_bytes(lines[0] + b"".join(lines[2:]))
    entry = load(path).entries[0]
    assert entry.text == "answer"
    with pytest.raises(UnavailableError, match=r"line 2 of .* needs the blob [0-9a-f]{16}…, and"):
        entry.request  # noqa: B018 - it is read


def test_a_file_cut_short_while_it_is_open(tmp_path: Path) -> None:
    """Somebody truncates a trace that is open: an error that says so, not a crash."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    for n in range(10):
        use(journal, "f", {"n": n, "x": [f"{n}"] * 10_000}, n)
    journal.close()
    trace = load(path)
    with path.open("r+b") as file:
        file.truncate(300_000)
    assert trace.entries[0].arguments["n"] == 0
    with pytest.raises(
        UnavailableError, match=r"the file has 300,000 bytes now, and had .* Somebody cut it short"
    ):
        trace.entries[-1].arguments  # noqa: B018 - it is read


def test_signs_of_an_editor_are_tolerated(tmp_path: Path) -> None:
    """A byte order mark, carriage returns and blank lines do not keep a trace from being read."""
    path = tmp_path / "a.trace.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + f"{_HEADER}\r\n\r\n{_CALL}\r\n{_RESULT}\r\n\r\n".encode())
    trace = load(path)
    assert trace.entries[0].result == "done"
    assert _notices(trace) == [
        "line 1: the file begins with a byte order mark; it is ignored",
        "line 1: lines end with \\r\\n, and a trace's end with \\n; it is ignored",
    ]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (_CALL, "line 4: the id '1-1' is used twice; this entry is ignored"),
        (_RESULT, "line 4: a second result of '1-1'; the first counts, this one is ignored"),
        ('{"line":"chunk","of":"9-9"}', "line 4: a chunk of '9-9', but no call before it has"),
        ('{"line":"result"}', "line 4: a result of 'None', but no call before it has that id"),
        (_HEADER, "line 4: a second header; it is ignored. Were two files put together?"),
        ('{"line":"note","id":"1-9"}', "line 4: a line of the unknown kind 'note'; it is ignored"),
        ('{"line":"call","id":"1-9","kind":"x"}', "line 4: a call of the unknown kind 'x'"),
        ('{"line":"event","type":"x"}', "line 4: an entry without an id; it is ignored"),
        ('{"a":1}', "line 4: not a trace's line"),
        ("[1]", "line 4: not a trace's line"),
        ("{" * 5000, "line 4: damaged"),
        ("[" * 100_000 + "]" * 100_000, "line 4: "),
    ],
)
def test_what_does_not_fit_is_noticed_and_never_raised(line: str, text: str) -> None:
    """Each thing that a foreign or damaged file can hold is reported; the rest is read."""
    trace = _trace(_CALL, _RESULT, line, '{"line":"end","status":"ok"}')
    notice = _notices(trace)[0]
    assert len(trace.notices) == 1
    assert notice.startswith(text)
    assert [entry.result for entry in trace.entries] == ["done"]
    assert trace.status == "ok"


def test_fields_of_a_wrong_type_count_as_not_recorded() -> None:
    """A line written by hand may hold anything; verify() says what is wrong with it."""
    trace = _trace(
        '{"line":"call","id":"1-1","kind":"model","at":5,"step":[],"api":{},"attempt":"x",'
        '"base":7,"hash":{},"request":[]}',
        '{"line":"result","of":"1-1","duration_s":"long","usage":3,"error":"no","source":1,'
        '"response":4}',
        '{"line":"end","status":"finished"}',
    )
    [entry] = trace.entries
    assert (entry.at, entry.step, entry.api, entry.attempt, entry.hash) == (None, "", None, 1, None)
    assert (entry.duration_s, entry.usage, entry.error) == (None, None, None)
    assert trace.turns[0].label == "empty reply"
    assert trace.timeline() == [(1, None, None, "model", 0)]
    assert trace.status == "cut short"
    assert "the end is not valid: status: Input should be 'ok'" in _notices(trace)[0]
    assert [notice.line for notice in trace.verify()] == [2, 3, 4, 4]


@pytest.mark.parametrize(
    "base", ['["1-1",1]', '["1-2",0]', '["x",1]', '["1-1",-1]', '["1-1",9]', "3"]
)
def test_a_base_that_cannot_be_is_unavailable(base: str) -> None:
    """A reference to itself, to a later call or to too many items ends in an error, not a loop."""
    first = (
        f'{{"line":"call","id":"1-1","kind":"model","api":"workbench","base":{base},'
        '"request":{"body":{"messages":[]}}}'
    )
    second = '{"line":"call","id":"1-2","kind":"model","api":"workbench","request":{"body":{}}}'
    trace = _trace(first, second)
    with pytest.raises(UnavailableError):
        trace.entries[0].request  # noqa: B018 - it is read
    assert trace.entries[1].request == {"body": {}}


@pytest.mark.parametrize("large", [False, True])
def test_fields_may_stand_in_any_order(*, large: bool) -> None:
    """Another JSON library sorts keys or puts the heavy field early; it is read alike."""
    lines = [json.loads(line) for line in (_CALL, _RESULT)]
    lines[0] |= {"step": "s", "where": "a.py:1"}
    sorted_keys = [json.dumps(line, sort_keys=True) for line in lines]
    lines[0]["request"] = lines[0].pop("request")
    heavy_early = [
        json.dumps({**line, "at": "2025-11-03"}, separators=(",", ":")) for line in lines
    ]
    for written in (sorted_keys, heavy_early):
        filler = [
            each.replace('"1-1"', f'"2-{n}"').replace('"done"', json.dumps("x" * 3000))
            for n in range(1, 3000 if large else 2)
            for each in written
        ]
        trace = _trace(*filler, *written)
        assert trace.notices == ()
        entry = trace.entry("1-1")
        assert (entry.step, entry.where, entry.name, entry.result) == ("s", "a.py:1", "f", "done")
        assert trace.entry("2-1").step == "s"


def test_a_compressed_trace_is_read(tmp_path: Path) -> None:
    """Archived traces open as they are; a damaged one gives what can be unpacked."""
    lines = b"".join(_conversation(tmp_path / "a.trace.jsonl"))
    path = tmp_path / "a.trace.jsonl.gz"
    path.write_bytes(gzip.compress(lines))
    assert load(path).turn(3).text == "answer 2"
    noise = "".join(f'{{"line":"event","id":"2-{n}","type":"{n * n}"}}\n' for n in range(100_000))
    packed = gzip.compress(lines + noise.encode())
    path.write_bytes(packed[: len(packed) // 2])
    trace = load(path)
    assert trace.turn(3).text == "answer 2"
    assert any("the compressed data are damaged" in notice for notice in _notices(trace))
    path.write_bytes(packed[:12])
    with pytest.raises(TraceFormatError, match="the compressed data are damaged"):
        load(path)


def test_notices_are_bounded() -> None:
    """A file with a million bad lines must not fill the memory with complaints."""
    trace = _trace(*["garbage"] * 5000)
    assert len(trace.notices) == 1001
    assert str(trace.notices[-1]) == "and 4,000 more of such notices"


def test_a_trace_is_read_while_it_is_written(tmp_path: Path) -> None:
    """Looking at a run in progress shows whole entries, as they were at that moment."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            ask(journal, request(user("x" * 5000)), response("fine"))

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(30):
            trace = load(path)
            done = [entry for entry in trace.entries if not entry.open]
            assert all(entry.text == "fine" for entry in done[-3:])
            assert len(trace.entries) - len(done) <= 1
    finally:
        stop.set()
        writer.join()


def test_the_examples_of_the_format_page_are_traces(repo_root: Path) -> None:
    """Somebody writes a trace after the page: its examples must load, and mean what it says."""
    page = (repo_root / "docs" / "trace-format.md").read_text(encoding="utf-8")
    examples = re.findall(r"```jsonl\n(.*?)```", page, re.DOTALL)
    traces = {trace.id: trace for trace in (Trace.from_bytes(each.encode()) for each in examples)}
    assert sorted(traces) == ["4f1c9d20", "by-hand", "small-lines", "with-a-blob", "with-a-secret"]
    for trace in traces.values():
        assert trace.verify() == ()
    refund = traces["4f1c9d20"]
    assert [turn.label for turn in refund.turns] == ["refund_order", "Order 101 is refunded: RF-1."]
    assert refund.turn(1).summary == "101, 149.99 → RF-1"
    assert [message.role for message in refund.turn(2).messages] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert traces["by-hand"].status == "cut short"
    assert traces["by-hand"].turn(1).text == "yes"
    values: list[Any] = [entry.value for entry in traces["small-lines"].entries[:3]]
    assert [str(value) for value in values] == ["2025-11-03 09:15:30+00:00", "0.25", "yes"]
    tools = traces["with-a-blob"].entries[0].body["tools"]
    assert tools[0]["function"]["name"] == "look_up"
