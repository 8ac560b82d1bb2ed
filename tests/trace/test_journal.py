import errno
import json
import os
import stat
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import pytest
from journals import HEADER, ask, journal_at, request, response, user

from workbench.errors import TraceExistsError, TraceFormatError, TraceWriteError, UsageError
from workbench.trace.appender import ClosedError
from workbench.trace.entries import (
    CallLine,
    EndLine,
    ResultLine,
    TraceLine,
)
from workbench.trace.journal import Journal
from workbench.trace.trace import load
from workbench.trace.values import encode


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_what_is_written_is_what_was_said_in_order(tmp_path: Path) -> None:
    """Each line stands in the file when the call returns, with only the fields that were set."""
    path = tmp_path / "deep" / "folder" / "a.trace.jsonl"
    journal = journal_at(path)
    name = journal.new_id()
    journal.call(CallLine(id=name, kind="model", api="openai.chat", request=request(user("hi"))))
    assert _lines(path)[-1] == {
        "line": "call",
        "id": "1-1",
        "kind": "model",
        "api": "openai.chat",
        "request": request(user("hi")),
    }
    journal.append(ResultLine(of=name, source="live", duration_s=0.5, response=response("ho")))
    assert _lines(path)[-1]["response"] == response("ho")
    journal.close(EndLine(status="ok", output=encode((1, 2))))
    assert _lines(path)[-1] == {
        "line": "end",
        "status": "ok",
        "output": {"$wb": "tuple", "v": [1, 2]},
    }
    first = _lines(path)[0]
    assert (first["format"], first["version"], first["name"]) == ("workbench-trace", 1, "small")
    assert path.read_bytes().endswith(b"\n")


def test_a_trace_is_private(tmp_path: Path) -> None:
    """A trace holds what was said in confidence: others on the machine cannot read it."""
    if os.name == "nt":
        pytest.skip("Windows has no mode bits")
    path = tmp_path / "a.trace.jsonl"
    journal_at(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_existing_trace_is_kept_unless_asked(tmp_path: Path) -> None:
    """Recording twice to one path must not destroy the first recording."""
    path = tmp_path / "a.trace.jsonl"
    journal_at(path).close(EndLine(status="ok"))
    before = path.read_bytes()
    with pytest.raises(TraceExistsError) as caught:
        journal_at(path)
    assert str(caught.value) == (
        f"{path} exists already; nothing was changed. "
        "Choose another path, or pass replace=True to write over it"
    )
    assert path.read_bytes() == before


def test_replacing_leaves_the_old_trace_until_the_new_one_is_complete(tmp_path: Path) -> None:
    """A recording that dies half way must not have cost the trace that it was to replace."""
    path = tmp_path / "a.trace.jsonl"
    journal_at(path).close(EndLine(status="ok"))
    before = path.read_bytes()
    journal = journal_at(path, replace=True)
    ask(journal, request(user("new")), response("yes"))
    assert path.read_bytes() == before
    assert len(journal.trace().entries) == 1
    [partial] = tmp_path.glob(".a.trace.jsonl.*.partial")
    assert len(load(partial).entries) == 1
    journal.close(EndLine(status="failed"))
    assert load(path).status == "failed"
    assert [each.name for each in tmp_path.iterdir()] == ["a.trace.jsonl"]


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x00\x00", b"my notes\n", b'{"cells": []}'])
def test_what_is_no_trace_is_never_overwritten(tmp_path: Path, content: bytes) -> None:
    """A wrong path must not cost a user a file that has nothing to do with traces."""
    path = tmp_path / "precious"
    path.write_bytes(content)
    for replace in (False, True):
        with pytest.raises(TraceExistsError, match=r"never overwritten .* Move it away"):
            journal_at(path, replace=replace)
    assert path.read_bytes() == content


def test_an_empty_file_may_be_written_to(tmp_path: Path) -> None:
    """A path made by a temporary-file function has an empty file already."""
    path = tmp_path / "a.trace.jsonl"
    path.touch()
    journal_at(path).close(EndLine(status="ok"))
    assert load(path).status == "ok"


def test_impossible_paths_say_so(tmp_path: Path) -> None:
    """A folder, a compressed name and a path below a file: the error says what to do."""
    with pytest.raises(UsageError, match="is a folder; name a file in it"):
        journal_at(tmp_path)
    with pytest.raises(UsageError, match="recorded uncompressed; compress it afterwards"):
        journal_at(tmp_path / "a.trace.jsonl.gz")
    (tmp_path / "file").write_text("x")
    with pytest.raises(TraceWriteError, match=r"cannot be written .*; choose another path"):
        journal_at(tmp_path / "file" / "a.trace.jsonl")


def test_threads_share_a_journal(tmp_path: Path) -> None:
    """Parallel calls of one process lose nothing, and no two get the same id."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)

    def work(worker: int) -> None:
        for n in range(50):
            ask(journal, request(user(f"{worker} {n}")), response(f"{worker} {n}"))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    journal.close(EndLine(status="ok"))
    trace = load(path)
    assert trace.notices == ()
    said = {(entry.body["messages"][0]["content"], entry.text) for entry in trace.entries}
    assert said == {(f"{w} {n}", f"{w} {n}") for w in range(8) for n in range(50)}


_FULL_DISK = """
import resource, signal, sys, warnings
sys.path.insert(0, sys.argv[2])
from journals import HEADER, ask, request, response, user
from workbench.errors import TraceWriteError
from workbench.trace.entries import EndLine
from workbench.trace.journal import Journal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
journal = Journal.create(sys.argv[1], HEADER, strict=sys.argv[3] == "strict")
for n in range(3):
    ask(journal, request(user(f"question {n} " + "x" * 1000)), response("fine"))
full = journal.path.stat().st_size + 500
resource.setrlimit(resource.RLIMIT_FSIZE, (full, resource.RLIM_INFINITY))
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    try:
        for n in range(3, 6):
            ask(journal, request(user(f"question {n} " + "x" * 1000)), response("fine"))
    except TraceWriteError as error:
        print("raised", error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ask(journal, request(user("room again")), response("fine"))
journal.close(EndLine(status="ok"))
print(len(journal.errors), [str(each.message) for each in caught])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="file size limits are POSIX")
@pytest.mark.parametrize("mode", ["loose", "strict"])
def test_a_full_disk_costs_the_entries_that_do_not_fit(tmp_path: Path, mode: str) -> None:
    """A full disk must neither kill the agent nor leave half a line that spoils later ones."""
    path = tmp_path / "a.trace.jsonl"
    support = Path(__file__).parents[1] / "support"
    done = subprocess.run(
        [sys.executable, "-c", _FULL_DISK, str(path), str(support), mode],
        capture_output=True,
        text=True,
        check=True,
    )
    trace = load(path)
    assert trace.notices == ()
    assert trace.status == "ok"
    texts = [entry.body["messages"][0]["content"][:10] for entry in trace.entries]
    assert texts == ["question 0", "question 1", "question 2", "room again"]
    assert (
        "1-4 could not be written ([Errno 27] File too large), so the trace lacks it" in done.stdout
    )
    assert ("raised" in done.stdout) == (mode == "strict")
    if mode == "loose":
        assert done.stdout.startswith("3 [")
        assert done.stdout.count("could not be written") == 1


def test_a_deleted_file_is_noticed(tmp_path: Path) -> None:
    """Lines written to a file that somebody deleted would be lost without a word."""
    if os.name == "nt":
        pytest.skip("Windows does not delete an open file")
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    path.unlink()
    with pytest.warns(RuntimeWarning, match="the file was deleted while it was being written"):
        ask(journal, request(user("hi")), response("ho"))
    assert len(journal.errors) == 1


def test_joining_ends_a_torn_line_first(tmp_path: Path) -> None:
    """The next append must not fuse with what a dying process left, also inside a character."""
    for torn in (
        b'{"line":"event","id":"1-2","ty',
        '{"line":"event","id":"1-2","type":"😀'.encode()[:-2],
    ):
        path = tmp_path / f"{len(torn)}.trace.jsonl"
        journal = journal_at(path)
        ask(journal, request(user("hi")), response("ho"))
        journal.close()
        with path.open("ab") as file:
            file.write(torn)
        late = Journal.join(path)
        name = ask(late, request(user("again")), response("yes"))
        late.close(EndLine(status="ok"))
        trace = load(path)
        assert path.read_bytes().count(torn + b"\n") == 1
        assert [notice.line for notice in trace.notices] == [4]
        assert [entry.text for entry in trace.entries] == ["ho", "yes"]
        assert trace.entries[1].id == name == f"{late.writer}-1"
        assert trace.status == "cut short"  # only the writer that made the file ends it


def test_joining_needs_a_trace(tmp_path: Path) -> None:
    """A process that joins a wrong file must not append to it."""
    path = tmp_path / "a.trace.jsonl"
    path.write_text("my notes\n")
    with pytest.raises(TraceFormatError, match="not JSON, so not a trace"):
        Journal.join(path)
    assert path.read_text() == "my notes\n"


def test_fsync_writes_the_same(tmp_path: Path) -> None:
    """Durability is about when, not about what."""
    journal = journal_at(tmp_path / "a.trace.jsonl", durability="fsync")
    ask(journal, request(user("hi")), response("ho"))
    journal.close(EndLine(status="ok"))
    assert load(tmp_path / "a.trace.jsonl").turn(1).text == "ho"


def test_writing_after_the_end_is_reported(tmp_path: Path) -> None:
    """A thread that outlives the recording must not lose its entry without a word."""
    journal = journal_at(tmp_path / "a.trace.jsonl", strict=True)
    journal.close(EndLine(status="ok"))
    with pytest.raises(TraceWriteError, match="the trace is closed"):
        ask(journal, request(user("late")))


class _Failing:
    """A disk that fails in one way."""

    def __init__(self, error: OSError) -> None:
        self.error = error

    def append(self, data: bytes) -> None:
        """Fail."""
        raise self.error

    def close(self) -> None:
        """Nothing is held."""


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), "Make room: from then on"),
        (OSError(errno.EFBIG, "File too large"), "Make room: from then on"),
        (OSError(errno.ENOENT, "the file was deleted"), "record again, and let nothing delete it"),
        (OSError(errno.EIO, "Input/output error"), "See to it that the file can be written"),
        (ClosedError(), "from a thread or task that outlived it: wait for that one"),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_what_could_not_be_written_says_what_is_true_of_that(
    error: OSError, advice: str, *, strict: bool
) -> None:
    """Each cause has its own advice, and a run goes on, or ends, as the text says."""
    journal = Journal(HEADER, _Failing(error), writer="1", strict=strict)
    if strict:
        with pytest.raises(TraceWriteError) as raised:
            ask(journal, request(user("hi")))
        text = str(raised.value)
    else:
        with pytest.warns(RuntimeWarning) as told:
            ask(journal, request(user("hi")), response("ho"))
        (failure,) = journal.errors
        text = str(failure)
        assert [str(each.message) for each in told] == [text]
    assert f"1-1 could not be written ({error}), so the trace lacks it. " in text
    assert advice in text
    assert text.count("Make room") == (error.errno in (errno.ENOSPC, errno.EFBIG))
    assert ("The run goes on" in text) == (not strict)


def test_a_full_disk_does_not_end_a_run_whose_warnings_are_errors() -> None:
    """Where warnings are errors (as in many test suites), a lost line still costs only itself."""
    journal = Journal(HEADER, _Failing(OSError(errno.ENOSPC, "full")), writer="1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask(journal, request(user("hi")), response("ho"))
        ask(journal, request(user("again")), response("ho"))
    assert len(journal.errors) == 2


def test_the_header_keeps_what_it_was_given() -> None:
    """A fork's header says where it comes from; none of that may be lost on the way."""
    header = TraceLine.model_validate(
        {
            "id": "f-1",
            "parent": {"id": "t-1", "cut": "turn:5", "edits": [{"type": "fault"}], "more": 1},
            "hash": {"ignore": {"openai.chat": ["/body/user"]}},
            "input": {"args": [{"$wb": "tuple", "v": [1]}], "kwargs": {}},
            "own": "field",
        }
    )
    trace = Journal.in_memory(header).trace()
    assert trace.parent == header.parent
    assert trace.header.hash == header.hash
    assert trace.header.model_extra == {"own": "field"}
    assert trace.input == {"args": [(1,)], "kwargs": {}}
