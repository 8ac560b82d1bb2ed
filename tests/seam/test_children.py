"""Other processes that an agent starts: no session reaches them, and the run says so."""

import asyncio
import concurrent.futures
import multiprocessing
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from scripted import World

import workbench as wb
from workbench.errors import UnrecordedWarning

PROGRAM = [sys.executable, "-c", "print('hello')"]
NAME = os.path.basename(sys.executable)  # noqa: PTH119 - a name, not a path


def run() -> str:
    """The usual way."""
    return subprocess.run(PROGRAM, capture_output=True, text=True, check=True).stdout


def popen() -> str:
    """The way beneath."""
    with subprocess.Popen(PROGRAM, stdout=subprocess.PIPE, text=True) as child:
        return child.communicate()[0]


def system() -> int:
    """Through a shell."""
    return os.system("true")  # noqa: S605 - that is what is tested


async def aprogram() -> bytes:
    """In a loop."""
    child = await asyncio.create_subprocess_exec(*PROGRAM, stdout=asyncio.subprocess.PIPE)
    return (await child.communicate())[0]


def spawned() -> Any:
    """A process of multiprocessing that begins anew."""
    child = multiprocessing.get_context("spawn").Process(target=int)
    child.start()
    child.join()
    return child.exitcode


def spawned_pool() -> Any:
    """A pool of such processes."""
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(abs, -3).result()


WAYS: list[tuple[Callable[[], Any], str]] = [
    (run, NAME),
    (popen, NAME),
    (system, "a shell"),
    (aprogram, NAME),
    (spawned, "of multiprocessing"),
    (spawned_pool, "of multiprocessing"),
]


@pytest.mark.parametrize(("agent", "name"), WAYS)
def test_a_process_is_named_once(agent: Callable[[], Any], name: str) -> None:
    """A warning at the line that starts it, and a note in the result and in the trace."""
    with pytest.warns(UnrecordedWarning, match="starts another process") as caught:
        recorded = wb.record(agent)
    assert [each.filename for each in caught] == [__file__]
    (note,) = recorded.notices
    assert note.startswith("a call at test_children.py:")
    assert f"starts another process ({name})" in note
    assert note.endswith("what that one asks of models and tools is not recorded")
    assert recorded.trace.gaps == (note,)
    assert recorded.status == "ok"


def test_in_a_replay_it_is_live() -> None:
    """A replay says that the process is not answered from the recording."""
    with pytest.warns(UnrecordedWarning):
        recorded = wb.record(run)
    with pytest.warns(UnrecordedWarning, match="is live, and not from the recording"):
        replayed = wb.replay(run, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", "hello\n")
    assert len(replayed.notices) == 1


def test_two_processes_of_one_line_are_one_note() -> None:
    """A loop that starts many says it once; another line says it again."""

    def agent() -> None:
        for _ in range(2):
            run()
        popen()

    with pytest.warns(UnrecordedWarning) as caught:
        recorded = wb.record(agent)
    assert len(recorded.notices) == len(caught) == 2


def test_where_warnings_are_errors_the_agent_goes_on() -> None:
    """Nobody's process fails because it is reported."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorded = wb.record(run)
    assert recorded.output == "hello\n"
    assert len(recorded.notices) == 1


def test_inside_a_tool_it_is_the_tool_s_own(world: World) -> None:
    """What a tool does is recorded as its result: nothing is missing."""
    tool = wb.tool(name="run", effect="read")(run)
    recorded = wb.record(tool)
    assert recorded.notices == []
    assert wb.replay(tool, recorded.trace).output == "hello\n"


def test_outside_of_sessions_nothing_is_said() -> None:
    """Before, after, and beside: a process of a program that records nothing is its own affair."""
    wb.record(lambda: None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert run() == "hello\n"


def test_what_libraries_start_for_themselves_is_theirs() -> None:
    """A library of Python's own that asks the system something is not the agent's process."""
    import platform

    def agent() -> str:
        platform.uname.cache_clear() if hasattr(platform.uname, "cache_clear") else None
        return platform.processor() or "unknown"

    recorded = wb.record(agent)
    assert recorded.notices == []


def test_a_secret_in_its_arguments_is_not_written() -> None:
    """Only the program's name is told."""

    def agent() -> None:
        subprocess.run([sys.executable, "-c", "pass", "sk-verysecret"], check=True)

    with pytest.warns(UnrecordedWarning):
        recorded = wb.record(agent)
    assert "verysecret" not in str(recorded.notices)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_goes_on_writing_and_is_not_named() -> None:
    """A fork is the same program, and its calls are recorded: there is nothing to report."""

    def agent() -> int:
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    assert wb.record(agent).notices == []
