"""Scripts and modules run under the command as Python runs them, recorded and replayed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from shopcli import Shop

import workbench as wb

TELLS = """
import asyncio, atexit, os, sys, threading, time
import beside

atexit.register(lambda: print("at exit", flush=True))

async def later():
    await asyncio.sleep(0)
    return "loop"

def ends_late():
    time.sleep(0.2)
    print("thread", flush=True)

if __name__ == "__main__":
    main = sys.modules["__main__"]
    print(sys.argv, __name__, os.path.isabs(__file__), __spec__, main.later is later)
    print(os.path.samefile(sys.path[0], os.path.dirname(__file__)), beside.WHO)
    print(sys.stdin.read().strip(), asyncio.run(later()))
    threading.Thread(target=ends_late).start()
    sys.exit(int(sys.argv[1]))
"""


def python(shop: Shop, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Python itself, in the same folder."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=shop.folder,
        env=shop.env,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def command(
    shop: Shop, *words: str, text: str = "", folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """The command, with something on standard input."""
    return subprocess.run(
        [sys.executable, "-m", "workbench", *words],
        cwd=folder or shop.folder,
        env=shop.env,
        input=text,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def tells(shop: Shop) -> str:
    """A script that tells how it was started."""
    shop.script("beside.py", "WHO = 'a module beside it'\n")
    shop.script("tells.py", TELLS)
    return "tells.py"


def own(output: str) -> list[str]:
    """What the script printed, without the command's report."""
    lines = output.splitlines()
    return [line for line in lines if "recorded 0 turns" not in line and "from the" not in line]


def test_a_script_runs_as_python_runs_it(shop: Shop, tells: str) -> None:
    """The same output, in the same order, input, threads and exit handlers included, and the same
    exit code; and once more without another word."""
    plain = python(shop, tells, "3", "--flag", text="typed\n")
    assert plain.returncode == 3
    recorded = command(shop, "record", tells, "--", "3", "--flag", text="typed\n")
    assert (recorded.returncode, recorded.stderr) == (3, "")
    assert own(recorded.stdout) == plain.stdout.splitlines()
    again = command(shop, "replay", "runs/tells-01.trace.jsonl", text="typed\n")
    assert (again.returncode, again.stderr) == (3, "")
    lines = [line for line in own(again.stdout) if "exit code 3" not in line]
    assert lines == plain.stdout.splitlines()


def test_other_arguments_take_the_place_of_the_recorded_ones(shop: Shop, tells: str) -> None:
    """What stands after -- is what the script gets, in a replay as well."""
    command(shop, "record", tells, "--", "0", "old")
    again = command(shop, "replay", "runs/tells-01.trace.jsonl", "--", "4", "new")
    assert again.returncode == 4
    assert "['tells.py', '4', 'new'] __main__" in again.stdout


PACKAGE = {
    "__init__.py": "",
    "part.py": "WORD = 'part'\n",
    "__main__.py": "import sys\nfrom .part import WORD\nfrom . import part\n"
    "print(WORD, __package__, sys.argv[1:], sys.path[0], part.__name__)\n",
    "tool.py": "from .part import WORD\nif __name__ == '__main__':\n    print('tool', WORD)\n",
}


@pytest.fixture
def package(shop: Shop) -> str:
    """A package with a main program and relative imports."""
    folder = shop.folder / "packed"
    folder.mkdir()
    for name, text in PACKAGE.items():
        (folder / name).write_text(text)
    return "packed"


@pytest.mark.parametrize("name", ["packed", "packed.tool"])
def test_a_package_runs_as_with_m(shop: Shop, package: str, name: str) -> None:
    """`-m` finds __main__ and what is imported relative to it, as Python does; a replay, too."""
    plain = python(shop, "-m", name, "x", "--y")
    assert plain.returncode == 0, plain.stderr
    recorded = command(shop, "record", "-m", name, "--", "x", "--y")
    assert own(recorded.stdout) == plain.stdout.splitlines()
    trace = f"runs/{name.rpartition('.')[2]}-01.trace.jsonl"
    assert own(command(shop, "replay", trace).stdout) == plain.stdout.splitlines()


def test_a_replay_from_another_folder(shop: Shop, tells: str, package: str) -> None:
    """What was recorded here runs where it was recorded; its new trace is where it is asked for."""
    function = shop.folder / "shopfn.py"
    function.write_text("import shop\n\ndef look():\n    return shop.get_order(order=1)\n")
    command(shop, "record", tells, "--", "0")
    command(shop, "record", "-m", package)
    command(shop, "record", "shopfn:look")
    elsewhere = shop.folder / "elsewhere"
    elsewhere.mkdir()
    runs = shop.folder / "runs"
    script = command(shop, "replay", str(runs / "tells-01.trace.jsonl"), folder=elsewhere)
    assert (script.returncode, script.stderr) == (0, "")
    assert "True a module beside it" in script.stdout
    words = ["replay", str(runs / "packed-01.trace.jsonl"), "--to", "new.trace.jsonl"]
    module = command(shop, *words, folder=elsewhere)
    assert str(shop.folder) in module.stdout
    assert (elsewhere / "new.trace.jsonl").exists()
    again = command(shop, "replay", "new.trace.jsonl", folder=elsewhere)
    assert (again.returncode, own(again.stdout)) == (0, own(module.stdout)[:1])
    called = command(shop, "replay", str(runs / "look-01.trace.jsonl"), folder=elsewhere)
    assert called.returncode == 0, called.stderr
    assert "1 call from the trace" in called.stdout


def test_a_script_that_is_gone_is_named(shop: Shop, tells: str) -> None:
    """The message says which script, where it was looked for, and what to do."""
    command(shop, "record", tells, "--", "0")
    (shop.folder / tells).rename(shop.folder / "moved.py")
    here = command(shop, "replay", "runs/tells-01.trace.jsonl")
    assert (here.returncode, here.stdout) == (2, "")
    assert here.stderr == (
        "workbench: there is no script tells.py here, from which this trace was recorded: go to "
        "the folder that it was in, or name the script to run\n"
    )
    elsewhere = command(
        shop, "replay", str(shop.folder / "runs" / "tells-01.trace.jsonl"), folder=Path(os.sep)
    )
    assert f"no script tells.py in {shop.folder}, from" in elsewhere.stderr
    moved = command(shop, "replay", "runs/tells-01.trace.jsonl", "moved.py")
    assert moved.returncode == 0


def test_a_trace_whose_agent_was_changed_is_a_stranger_s(shop: Shop, tells: str) -> None:
    """Who writes another agent or other arguments into a trace does not make it run."""
    command(shop, "record", tells, "--", "0")
    shop.script("evil.py", "print('it ran')\n")
    path = shop.folder / "runs" / "tells-01.trace.jsonl"
    first, *rest = path.read_text().splitlines(keepends=True)
    for old, new in (('"tells.py"', '"evil.py"'), ('"0"', '"5"')):
        path.write_text("".join([first.replace(old, new), *rest]))
        ran = command(shop, "replay", str(path))
        assert (ran.returncode, ran.stdout) == (2, "")
        assert "name the agent to run" in ran.stderr


def test_without_a_folder_of_one_s_own_it_records_all_the_same(shop: Shop, tells: str) -> None:
    """Where nothing can be remembered, a replay asks for the agent."""
    nowhere = shop.script("nowhere", "a file, not a folder")
    ran = shop("record", tells, "--", "0", env={"WORKBENCH_RUNS_DIR": str(nowhere)})
    assert (ran.code, ran.err) == (0, "")
    asked = shop("replay", "runs/tells-01.trace.jsonl", env={"WORKBENCH_RUNS_DIR": str(nowhere)})
    assert asked.code == 2


ENDS = {
    "SystemExit": ("raise SystemExit", 0),
    "text": ("import sys; sys.exit('sorry')", 1),
    "raises": ("raise ValueError('boom')", 1),
    "interrupted": ("raise KeyboardInterrupt", 130),
    "os._exit": ("import os; os._exit(6)", 6),
    "thread": ("import threading; threading.Thread(target=lambda: 1 / 0).start()", 0),
}


@pytest.mark.parametrize(("text", "code"), ENDS.values(), ids=ENDS)
def test_exit_codes(shop: Shop, text: str, code: int) -> None:
    """However a script ends, the command ends with the code that Python would have ended with,
    and the trace is there."""
    shop.script("ends.py", f"import shop\nshop.get_order(order=1)\n{text}\n")
    plain = python(shop, "ends.py")
    assert plain.returncode in (code, -signal.SIGINT)
    recorded = command(shop, "record", "ends.py")
    assert recorded.returncode == code
    if "sorry" in text or "boom" in text:
        assert recorded.stderr == plain.stderr
    trace = wb.load(shop.folder / "runs" / "ends-01.trace.jsonl")
    assert len(trace.tools()) == 1
    assert (trace.status == "cut short") == ("os._exit" in text)


def test_a_script_that_becomes_another_program(shop: Shop) -> None:
    """Exec takes the process away: the trace ends there, and a warning says so before."""
    shop.script(
        "becomes.py",
        "import os, sys\nimport shop\nshop.get_order(order=1)\nsys.stdout.flush()\n"
        "os.execv(sys.executable, [sys.executable, '-c', 'raise SystemExit(8)'])\n",
    )
    ran = command(shop, "record", "becomes.py")
    assert ran.returncode == 8
    assert "it takes the place of this one, and the trace ends here" in ran.stderr
    trace = wb.load(shop.folder / "runs" / "becomes-01.trace.jsonl")
    assert (trace.status, len(trace.tools())) == ("cut short", 1)


def test_ctrl_c_ends_a_script_with_130(shop: Shop) -> None:
    """Interrupted in the middle, what was recorded is kept and ended."""
    shop.script("waits.py", "import time, shop\nshop.get_order(order=1)\nopen('go', 'w')\n"
                "time.sleep(60)\n")  # fmt: skip
    process = shop.start("record", "waits.py")
    end = time.monotonic() + 30
    while not (shop.folder / "go").exists() and time.monotonic() < end:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out.startswith("interrupted · recorded 0 turns, 1 tool call")


def test_a_script_may_go_to_another_folder(shop: Shop) -> None:
    """Where the script goes does not change where its trace is, nor what it imports next."""
    shop.script("beside.py", "WHO = 'beside'\n")
    shop.script(
        "goes.py",
        "import os, shop\nos.chdir(os.sep)\nshop.get_order(order=1)\nimport beside\n"
        "print(beside.WHO, os.path.exists(__file__))\n",
    )
    ran = command(shop, "record", "goes.py", "--json")
    assert json.loads(ran.stdout)["path"] == "runs/goes-01.trace.jsonl"
    assert "beside True" in ran.stderr
    assert command(shop, "verify", "runs/goes-01.trace.jsonl").returncode == 0


def test_calls_of_threads_that_end_after_the_main_one_are_recorded(shop: Shop) -> None:
    """Python waits for a program's threads, and so does the recording."""
    shop.script(
        "threaded.py",
        "import threading, time\nimport shop\n\ndef late():\n    time.sleep(0.2)\n"
        "    shop.get_order(order=2)\n\nthreading.Thread(target=late).start()\n",
    )
    ran = command(shop, "record", "threaded.py")
    assert "1 tool call →" in ran.stdout
    assert "note:" not in ran.stderr
    assert command(shop, "replay", "runs/threaded-01.trace.jsonl").returncode == 0


def test_a_second_run_in_one_process_imports_anew(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the script's own modules do when they are imported is done in each run of it."""
    monkeypatch.chdir(shop.folder)
    shop.script("counted.py", "RUNS = []\n")
    shop.script("agent.py", "import counted\ncounted.RUNS.append(1)\nprint(len(counted.RUNS))\n")
    before = list(sys.path)
    outputs = [wb.record("agent.py").output for _ in range(2)]
    assert outputs == ["1\n", "1\n"]
    assert "counted" not in sys.modules
    assert (sys.path, Path.cwd()) == (before, shop.folder)


def test_a_stranger_s_trace_copied_here_asks(shop: Shop, recorded: str, tmp_path: Path) -> None:
    """A trace that another user recorded names its agent, and is asked about."""
    shutil.copy(shop.folder / recorded, tmp_path / "theirs.trace.jsonl")
    ran = shop("replay", "theirs.trace.jsonl", env={"WORKBENCH_RUNS_DIR": str(tmp_path / "mine")})
    assert ran.code == 2
    assert "name the agent to run" in ran.err
