import os
import subprocess
import sys
from pathlib import Path

import pytest
from journals import ask, journal_at, request, response, user

from workbench.trace.entries import EndLine
from workbench.trace.trace import load

_SUPPORT = Path(__file__).parents[1] / "support"
_START = f"import sys; sys.path.insert(0, {str(_SUPPORT)!r})\n"

_JOINED = (
    _START
    + """
from journals import ask, request, response, user
from workbench.trace.journal import Journal
journal = Journal.join(sys.argv[1])
for n in range(100):
    ask(journal, request(user(f"{sys.argv[2]} {n} " + "é" * 32_000)), response(f"{n}"))
journal.close()
"""
)


def test_processes_append_to_one_file(tmp_path: Path) -> None:
    """Four processes with a hundred calls of 64 KB each: every line whole, nothing lost."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    workers = [
        subprocess.Popen([sys.executable, "-c", _JOINED, str(path), f"worker{n}"]) for n in range(4)
    ]
    assert [worker.wait(timeout=100) for worker in workers] == [0, 0, 0, 0]
    ask(journal, request(user("the creator")), response("last"))
    journal.close(EndLine(status="ok"))
    trace = load(path)
    assert trace.notices == ()
    assert trace.status == "ok"
    assert len({entry.id for entry in trace.entries}) == 401
    said = {(e.body["messages"][0]["content"].rstrip("é"), e.text) for e in trace.entries}
    expected = {(f"worker{w} {n} ", f"{n}") for w in range(4) for n in range(100)}
    assert said == expected | {("the creator", "last")}
    assert not any(entry.open for entry in trace.entries)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("replace", [False, True])
def test_a_forked_child_goes_on_as_a_writer_of_its_own(tmp_path: Path, *, replace: bool) -> None:
    """An agent that forks workers keeps what they do, with ids that no two of them share."""
    path = tmp_path / "a.trace.jsonl"
    if replace:
        journal_at(path).close()
    journal = journal_at(path, replace=replace)
    talk = [user("before")]
    ask(journal, request(*talk), response("parent 0"))
    children = []
    for child in range(3):
        pid = os.fork()
        if pid == 0:
            for n in range(20):
                ask(journal, request(*talk, user(f"{child} {n}")), response(f"child {child} {n}"))
            journal.close(EndLine(status="failed"))
            os._exit(0)
        children.append(pid)
    for n in range(20):
        ask(journal, request(*talk, user(f"parent {n}")), response(f"parent {n + 1}"))
    assert [os.waitpid(pid, 0)[1] for pid in children] == [0, 0, 0]
    journal.close(EndLine(status="ok"))
    trace = load(path)
    assert trace.notices == ()
    assert trace.status == "ok"
    texts = sorted(entry.text for entry in trace.entries)
    expected = [f"parent {n}" for n in range(21)]
    expected += [f"child {c} {n}" for c in range(3) for n in range(20)]
    assert texts == sorted(expected)
    writers = {entry.id.partition("-")[0] for entry in trace.entries}
    assert len(writers) == 4
    for entry in trace.entries:
        assert entry.request["body"]["messages"][0] == user("before")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_that_writes_nothing_leaves_no_trace(tmp_path: Path) -> None:
    """A subprocess that has nothing to do with the recording must not show in it."""
    journal = journal_at(tmp_path / "a.trace.jsonl")
    pid = os.fork()
    if pid == 0:
        journal.close(EndLine(status="failed"))
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
    ask(journal, request(user("hi")), response("ho"))
    journal.close(EndLine(status="ok"))
    kinds = [line.split(b'"')[3] for line in (tmp_path / "a.trace.jsonl").read_bytes().splitlines()]
    assert kinds == [b"trace", b"call", b"result", b"end"]


def test_a_tool_in_a_subprocess_is_in_the_trace_when_it_returns(tmp_path: Path) -> None:
    """A short-lived process must not exit before what it recorded is written."""
    path = tmp_path / "a.trace.jsonl"
    journal = journal_at(path)
    code = _START + (
        "import os\n"
        "from journals import use\n"
        "from workbench.trace.journal import Journal\n"
        "use(Journal.join(sys.argv[1]), 'convert', {'n': 1}, ('x',))\n"
        "os._exit(0)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=True)
    [tool] = journal.trace().tools("convert")
    assert (tool.arguments, tool.result) == ({"n": 1}, ("x",))
    journal.close()
