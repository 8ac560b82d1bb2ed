"""Crash and resume: two commands against the same database, and nothing is done twice."""

import shlex

import pytest
from shopcli import AGENTS, Shop

import workbench as wb

CRASH = ["--fault", "crash:after@event:tool_succeeded"]
LIVE = ["--tools", "live", "--tools-after", "allow"]


@pytest.fixture
def durable(shop: Shop) -> Shop:
    """A folder with the agent, and a recording of a run that went well."""
    shop.script("durable.py", (AGENTS / "durable.py").read_text("utf-8"))
    assert shop("record", "durable.py", "--to", "a.trace.jsonl", "--", "101").code == 0
    (shop.folder / "done.db").unlink()
    (shop.folder / "paid.txt").unlink()
    return shop


def _paid(shop: Shop) -> list[str]:
    return (shop.folder / "paid.txt").read_text().splitlines()


def test_a_crash_then_the_command_that_it_names(durable: Shop) -> None:
    """The process dies after the event; the printed command goes on, under the very same key."""
    words = [*LIVE, *CRASH, "--to", "dead.trace.jsonl"]
    ran = durable("replay", "a.trace.jsonl", "durable.py", *words)
    assert (ran.code, ran.err) == (1, "")
    said, kept, then = ran.out.splitlines()
    assert said.startswith("the process dies after the event tool_succeeded at durable.py:")
    assert kept == "its trace ends there, as that of a process that died → dead.trace.jsonl"
    assert wb.load(durable.folder / "dead.trace.jsonl").status == "cut short"
    command = then.removeprefix("go on from there: workbench ")
    assert command == (
        "replay a.trace.jsonl durable.py --tools live --tools-after allow "
        "--resumes dead.trace.jsonl -- 101"
    )
    ran = durable(*shlex.split(command))
    assert ran.code == 0, ran.out + ran.err
    assert ran.out.splitlines()[0] == "completed"
    first, second = _paid(durable)
    assert first == second == f"{wb.load(durable.folder / 'dead.trace.jsonl').id}:refund:101"


def test_without_a_file_it_says_how_to_keep_one(durable: Shop) -> None:
    """Nothing is written where nobody named a file, and nobody is left wondering."""
    ran = durable("replay", "a.trace.jsonl", "durable.py", *CRASH)
    assert ran.code == 1
    assert "its trace was not kept. To go on from there: give --to PATH, and then" in ran.out
    assert "Traceback" not in ran.err
    assert sorted(path.name for path in durable.folder.glob("*.jsonl")) == ["a.trace.jsonl"]


def test_a_crash_as_json(durable: Shop) -> None:
    """A program finds the trace and the next command in one document."""
    words = [*CRASH, "--to", "dead.trace.jsonl", "--json"]
    ran = durable("replay", "a.trace.jsonl", "durable.py", *words)
    assert (ran.code, ran.json["status"], ran.json["path"]) == (1, "crashed", "dead.trace.jsonl")
    assert ran.json["error"]["type"] == "SimulatedCrash"
    assert ran.json["next"] == (
        "workbench replay a.trace.jsonl durable.py --resumes dead.trace.jsonl -- 101"
    )
    assert ran.json["entries"] == 4


def test_a_fork_that_crashes_keeps_its_trace(durable: Shop) -> None:
    """A fork always has a file; what is in it can be looked at."""
    words = ["--fault", "crash:before@tool:refund", "--yes"]
    ran = durable("fork", "a.trace.jsonl", "durable.py", *words)
    assert ran.code == 1
    assert ran.out.splitlines()[-1].endswith("→ a-fork1.trace.jsonl")
    assert "the process dies before the tool refund" in ran.out
    shown = durable("show", "a-fork1.trace.jsonl")
    assert "fault: The call of refund never happens: a crash." in shown.out
    assert "1 call open, without a result:" in shown.out


def test_a_crash_that_never_comes_fails(durable: Shop) -> None:
    """A crash test that crashed nothing must not look passed."""
    ran = durable("replay", "a.trace.jsonl", "durable.py", "--fault", "crash@event:no_such")
    assert ran.code == 1
    assert "the fault crash after never fired" in ran.out
