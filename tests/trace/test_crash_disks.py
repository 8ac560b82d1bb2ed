"""Full disks, files that cannot be read or replaced, old locales, workers beside each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from journals import HEADER, ask, journal_at, request, response, user

import workbench as wb
from workbench.errors import TraceError, TraceExistsError, TraceFormatError, TraceWriteError
from workbench.trace.entries import EndLine
from workbench.trace.journal import Journal
from workbench.trace.trace import load

SUPPORT = Path(__file__).parents[1] / "support"

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

_TINY_DISK = """
import errno, json, sys, warnings
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from journals import HEADER, ask, request, response, user
from workbench.errors import TraceWriteError
from workbench.trace.entries import EndLine
from workbench.trace.journal import Journal
from workbench.trace.trace import load
warnings.simplefilter("ignore")
disk = Path(sys.argv[2])
path, filler = disk / "a.trace.jsonl", disk / "filler"
filler.write_bytes(b"x" * 600_000)
journal = Journal.create(path, HEADER)
for n in range(20):
    ask(journal, request(user(f"question {n} " + "x" * 60_000)), response("fine"))
filler.unlink()
ask(journal, request(user("room again")), response("fine"))
journal.close(EndLine(status="ok"))
trace = load(path)
try:
    for n in range(9):
        trace.save(disk / f"copy{n}.trace.jsonl")
except TraceWriteError as error:
    full = str(error)
print(json.dumps({
    "errors": [error.__cause__.errno == errno.ENOSPC for error in journal.errors],
    "notices": [str(each) for each in trace.notices],
    "status": trace.status,
    "texts": [each.body["messages"][0]["content"][:10] for each in trace.entries],
    "open": [each.open for each in trace.entries],
    "full": full,
    "left": [each.name for each in disk.iterdir() if each.name.endswith(".partial")],
    "copies": [load(each).status for each in disk.glob("copy*")],
}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="makes a small disk in memory")
def test_a_disk_of_one_megabyte_runs_full(tmp_path: Path) -> None:
    """The run goes on, the file stays whole, and lines are written again when there is room."""
    mount = f"mount -t tmpfs -o size=1m tmpfs '{tmp_path}'"
    inside = f"{mount} && exec '{sys.executable}' -c \"$0\" '{SUPPORT}' '{tmp_path}'"
    # In a mount namespace of its own: the disk is gone when the process is.
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", inside, _TINY_DISK],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and "Traceback" not in done.stderr:
        pytest.skip(f"no small disk can be made here: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    assert found["errors"]
    assert all(found["errors"])
    assert (found["notices"], found["status"]) == ([], "ok")
    written = len(found["texts"]) - 1
    assert 3 <= written < 20
    assert found["texts"] == [*(f"question {n}"[:10] for n in range(written)), "room again"]
    assert not any(found["open"][:-2])
    assert "No space left on device" in found["full"]
    assert found["left"] == []
    assert set(found["copies"]) <= {"ok"}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "the file is empty"),
        (b"\0" * 64, "this is a binary file, not a trace"),
        (b'{"line":"trace",\0', "this is a binary file"),
        ('{"line":"trace","name":"é"}'.encode("latin-1"), "not UTF-8"),
        ('{"line":"trace"}'.encode("utf-16"), "the file is UTF-16 text"),
        (b"null\n", "this is JSON, but no trace"),
        (b'{"line":"trace","format":"workbench-trace","version":1,"id":null}\n', "not valid: id"),
    ],
)
def test_what_cannot_be_read_is_told_apart_and_never_written_over(
    tmp_path: Path, content: bytes, text: str
) -> None:
    """Each has an error of its own, and only the empty file may be recorded into."""
    path = tmp_path / "a.trace.jsonl"
    path.write_bytes(content)
    with pytest.raises(TraceFormatError, match=text):
        load(path)
    for write in (
        lambda: journal_at(path, replace=True),
        lambda: Journal.in_memory(HEADER).trace().save(path, replace=True),
    ):
        if content:
            with pytest.raises(TraceExistsError, match="never overwritten"):
                write()
    assert path.read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["a.trace.jsonl"]


def test_a_file_that_may_not_be_read_is_not_taken_for_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No permission is said as that; nothing is recorded over it."""
    path = tmp_path / "a.trace.jsonl"
    journal_at(path).close(EndLine(status="ok"))
    really = os.open

    def refuse(name: Any, flags: int, *rest: Any) -> int:
        if str(name) == str(path):
            raise PermissionError(13, "Permission denied", str(name))
        return really(name, flags, *rest)

    monkeypatch.setattr(os, "open", refuse)  # the superuser may read everything
    with pytest.raises(TraceFormatError, match=r"the file cannot be read \(Permission denied\)"):
        load(path)
    with pytest.raises(TraceExistsError, match=r"never overwritten .*Permission denied"):
        journal_at(path, replace=True)
    with pytest.raises(TraceError, match="Permission denied"):
        Journal.join(path)


@pytest.fixture
def denied(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Renaming is denied as often as the list's only number says; waits take no time."""
    left, really = [0], Path.replace
    waits: list[float] = []

    def replace(self: Path, target: Path) -> Path:
        if left[0] > 0:
            left[0] -= 1
            raise PermissionError(13, "The process cannot access the file", str(target))
        return really(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    monkeypatch.setattr(time, "sleep", waits.append)
    yield left
    assert sum(waits) < 3


def test_a_file_that_is_held_for_a_moment_is_replaced(tmp_path: Path, denied: list[int]) -> None:
    """A virus scanner or a reader holds the old trace for a moment: it is tried again."""
    path = tmp_path / "a.trace.jsonl"
    journal_at(path).close(EndLine(status="ok"))
    journal = journal_at(path, replace=True)
    ask(journal, request(user("new")), response("new"))
    denied[0] = 3
    journal.close(EndLine(status="ok"))
    assert load(path).turn(1).text == "new"
    assert [each.name for each in tmp_path.iterdir()] == ["a.trace.jsonl"]


def test_a_file_that_is_held_for_good_costs_nothing(tmp_path: Path, denied: list[int]) -> None:
    """The error names where the new trace lies, complete; the old one is as it was."""
    path = tmp_path / "a.trace.jsonl"
    journal_at(path).close(EndLine(status="ok"))
    old = path.read_bytes()
    new = Journal.in_memory(HEADER)
    ask(new, request(user("new")), response("new"))
    denied[0] = 99
    with pytest.raises(TraceWriteError, match=r"could not be replaced .* is complete and lies at"):
        new.trace().save(path, replace=True)
    assert path.read_bytes() == old
    [kept] = [each for each in tmp_path.iterdir() if each != path]
    assert load(kept).turn(1).text == "new"


def test_an_old_locale_changes_nothing(tmp_path: Path) -> None:
    """Where the default encoding is not UTF-8, a trace with 😀 is the same, byte for byte."""
    code = (
        f"import sys; sys.path.insert(0, {str(SUPPORT)!r})\n"
        "import locale, pathlib\n"
        "from journals import ask, journal_at, request, response, use, user\n"
        "from workbench.trace.entries import EndLine\n"
        "from workbench.trace.trace import load\n"
        "path = pathlib.Path(sys.argv[1])\n"
        "journal = journal_at(path)\n"
        "ask(journal, request(user('😀 naïve ☃')), response('réponse 🎉'))\n"
        "use(journal, 'f', {'ключ': '值'}, ('🧊',))\n"
        "journal.close(EndLine(status='ok'))\n"
        "load(path).save(path.with_name('b.trace.jsonl'), replace=True)\n"
        "print(load(path).turn(1).text.encode().hex(), locale.getencoding())\n"
    )
    names = {}
    for name, env in {
        "old": {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "LANG": "C"},
        "new": {"PYTHONUTF8": "1"},
    }.items():
        path = tmp_path / f"{name}.trace.jsonl"
        script = tmp_path / "record.py"
        script.write_text(code, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(script), str(path)],
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            check=True,
        )
        text, encoding = done.stdout.split()
        assert bytes.fromhex(text).decode() == "réponse 🎉"
        names[name] = encoding
        assert path.read_bytes() == (tmp_path / "b.trace.jsonl").read_bytes()
    assert names["new"].lower() == "utf-8"
    assert names["old"].lower() != "utf-8" or sys.platform == "darwin"
    assert (tmp_path / "old.trace.jsonl").read_bytes() == (
        tmp_path / "new.trace.jsonl"
    ).read_bytes()


def test_a_run_that_fails_is_kept(tmp_path: Path) -> None:
    """What an agent did before it raised is what one wants to look at."""
    path = tmp_path / "a.trace.jsonl"

    def agent() -> None:
        wb.write_event("begun", {"n": 1})
        raise ValueError("step 3 went wrong")

    result = wb.record(agent, to=path)
    assert result.status == "failed"
    trace = load(path)
    assert trace.status == "failed"
    assert trace.error is not None
    assert (trace.error.type, trace.error.message) == ("ValueError", "step 3 went wrong")
    assert trace.events("begun")[0].data == {"n": 1}


@forks
def test_workers_that_record_to_one_place_leave_each_other_alone(tmp_path: Path) -> None:
    """Parallel test workers replace the same trace: each is whole, and the last one stays."""
    path = tmp_path / "a.trace.jsonl"
    journal_at(path).close(EndLine(status="ok"))
    other = tmp_path / ".b.trace.jsonl.77-aa.partial"
    other.write_bytes(b"of another worker\n")
    children = []
    for child in range(4):
        pid = os.fork()
        if pid == 0:
            try:
                for n in range(10):
                    with journal_at(path, replace=True) as journal:
                        ask(journal, request(user(f"{child} {n}")), response(f"{child} {n}"))
                os._exit(0)
            finally:
                os._exit(1)
        children.append(pid)
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0, 0]
    trace = load(path)
    assert trace.verify() == ()
    assert trace.turn(1).text[-1] == "9"
    assert sorted(each.name for each in tmp_path.iterdir()) == [other.name, "a.trace.jsonl"]
    assert other.read_bytes() == b"of another worker\n"
