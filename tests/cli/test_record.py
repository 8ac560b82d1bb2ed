"""`workbench record`."""

import os
import re
import signal
import time
from pathlib import Path

import pytest
from shopcli import Shop, here, on_terminal

import workbench as wb

_LINE = re.compile(
    r"recorded 3 turns, 2 tool calls → runs/shop-01\.trace\.jsonl   \(\d+ ms, cost not known\)"
)


def test_a_script_is_recorded_unchanged(shop: Shop) -> None:
    """The script gets its arguments, prints what it prints, and its calls are in the trace."""
    ran = shop("record", "shop.py", "--", "--order", "102")
    said, report = ran.out.splitlines()
    assert (ran.code, ran.err, said) == (0, "", "Refunded.")
    assert _LINE.fullmatch(re.sub(r"\d\.\d s", "1 ms", report))
    trace = wb.load(shop.folder / "runs" / "shop-01.trace.jsonl")
    assert [tool.arguments["order"] for tool in trace.tools()] == [102, 102]
    assert trace.header.agent is not None
    assert trace.header.agent.model_dump(exclude_none=True) == {
        "kind": "script",
        "target": "shop.py",
        "argv": ["--order", "102"],
    }
    assert trace.output == "Refunded.\n"


def test_each_recording_gets_the_next_number(shop: Shop) -> None:
    """A second run never lands on the first one, and gaps are not filled with newer runs."""
    runs = shop.folder / "runs"
    runs.mkdir()
    (runs / "shop-07.trace.jsonl").write_text("")
    assert "→ runs/shop-08.trace.jsonl" in shop("record", "shop.py").out


def test_a_function_takes_json_and_names(shop: Shop) -> None:
    """What stands after -- is JSON where it is JSON, text where not, and by name with an =."""
    shop.script("fn.py", "def show(*args, **kwargs):\n    return [list(args), kwargs]\n")
    ran = shop("record", "fn:show", "--json", "--", "7", "[1]", "x y", "a=2.5", "b=null", "c=z=1")
    assert ran.json["output"] == [[7, [1], "x y"], {"a": 2.5, "b": None, "c": "z=1"}]
    assert ran.json["path"] == "runs/show-01.trace.jsonl"


def test_a_module_is_run_as_python_does(shop: Shop) -> None:
    """-m runs a module as the main program, and the trace says so."""
    ran = shop("record", "-m", "shop", "--to", "m.trace.jsonl", "--", "--order", "5")
    assert ran.code == 0
    agent = wb.load(shop.folder / "m.trace.jsonl").header.agent
    assert agent is not None
    assert (agent.kind, agent.target, agent.argv) == ("module", "shop", ["--order", "5"])


def test_turns_are_shown_on_a_terminal_as_they_end(shop: Shop) -> None:
    """Who waits sees the run go on; a log gets none of it."""
    code, shown = on_terminal(shop, {}, "record", "shop.py")
    assert code == 0, shown
    found = re.findall(r"^turn (\d) · (.+) · \d+(?: ms|\.\d s)\r?$", shown, re.MULTILINE)
    assert found == [("1", "get_order"), ("2", "refund"), ("3", "Refunded.")]


def test_name_and_tags_are_kept(shop: Shop) -> None:
    """A trace can be found again by what it was called."""
    shop("record", "shop.py", "--to", "x.trace.jsonl", "--name", "n", "--tag", "a", "--tag", "b")
    header = wb.load(shop.folder / "x.trace.jsonl").header
    assert (header.name, header.tags) == ("n", ["a", "b"])


def test_an_existing_trace_is_not_replaced(shop: Shop, recorded: str) -> None:
    """A recording that cost money is never lost to a repeated command; --replace says it."""
    before = (shop.folder / recorded).read_bytes()
    ran = shop("record", "shop.py", "--to", recorded)
    assert ran.code == 2
    assert ran.out == ""
    assert ran.err.startswith(f"workbench: {recorded}")
    assert "give --replace to write over it" in ran.err
    assert len(ran.err.splitlines()) == 1
    assert (shop.folder / recorded).read_bytes() == before
    assert shop("record", "shop.py", "--to", recorded, "--replace").code == 0
    assert (shop.folder / recorded).read_bytes() != before


def test_an_exit_code_passes_through(shop: Shop) -> None:
    """Whatever ran the script before can run it recorded: its exit code stays."""
    shop.script("leaves.py", "import sys\nprint('bye')\nsys.exit(7)\n")
    ran = shop("record", "leaves.py")
    assert ran.code == 7
    assert ran.out.startswith("bye\nthe agent failed · recorded 0 turns, 0 tool calls → runs/")
    assert ran.err == ""


def test_a_function_may_end_the_process(shop: Shop) -> None:
    """sys.exit() in a function ends the command with that code; the trace is kept."""
    shop.script("fn.py", "import sys\ndef leave():\n    sys.exit('no luck')\n")
    ran = shop("record", "fn:leave")
    assert (ran.code, ran.err) == (1, "no luck\n")
    assert "the agent failed · recorded 0 turns" in ran.out


def test_a_failing_script_is_kept_with_its_own_traceback(shop: Shop) -> None:
    """The failed run is the one to debug: it is kept, and the traceback is the script's alone."""
    text = "import shop\nshop.get_order(order=1)\ndef go():\n    raise ValueError('no é')\ngo()\n"
    shop.script("broken.py", text)
    ran = shop("record", "broken.py")
    assert ran.code == 1
    assert ran.err.splitlines()[0] == "Traceback (most recent call last):"
    assert ran.err.splitlines()[-1] == "ValueError: no é"
    assert re.findall(r'File "([^"]*)", line (\d+)', ran.err) == [
        ("broken.py", "5"),
        ("broken.py", "4"),
    ]
    assert ran.out.startswith("the agent failed · recorded 0 turns, 1 tool call → runs/broken-01.")
    assert wb.load(shop.folder / "runs" / "broken-01.trace.jsonl").status == "failed"


def test_a_module_that_cannot_be_imported(shop: Shop) -> None:
    """An error in the agent's module is shown where it is, and nothing is recorded."""
    shop.script("bad.py", "import not_there_at_all\n")
    ran = shop("record", "bad:go")
    assert ran.code == 2
    assert 'bad.py", line 1' in ran.err
    assert ran.err.splitlines()[-1] == (
        "workbench: the module bad cannot be imported: "
        "ModuleNotFoundError: No module named 'not_there_at_all'"
    )
    assert not (shop.folder / "runs").exists()


def test_json_holds_the_document_alone(shop: Shop) -> None:
    """What the script and its child processes print must not get between a program and JSON."""
    shop.script(
        "loud.py",
        "import os, subprocess, sys\nprint('by print')\n"
        "subprocess.run([sys.executable, '-c', \"print('by a child')\"])\n"
        "os.write(1, b'by number\\n')\n",
    )
    ran = shop("record", "loud.py", "--json")
    assert (ran.json["command"], ran.json["status"], ran.json["exit_code"]) == ("record", "ok", 0)
    assert ran.json["output"] == "by print\n"
    for words in ("by print", "by a child", "by number", "recorded 0 turns"):
        assert words in ran.err


def test_killed_in_the_middle_of_a_call(shop: Shop) -> None:
    """Kill -9 loses nothing that had ended, and the open call is named."""
    shop.script(
        "slow.py",
        "import time, workbench, shop\n"
        "@workbench.tool(effect='write')\n"
        "def wait(order: int) -> None:\n"
        "    print('waiting', flush=True)\n    time.sleep(60)\n"
        "shop.get_order(order=9)\nwait(order=9)\n",
    )
    process = shop.start("record", "slow.py", "--to", "s.trace.jsonl")
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    ran = shop("show", "s.trace.jsonl")
    assert ran.code == 0
    assert "cut short: the recording has no end, so its process died" in ran.out
    assert "1 call open, without a result:\n    1-2 tool wait at slow.py:7\n" in ran.out
    assert '1-1  get_order(order=9) → {"order": 9, "total": 149.99}' in ran.out
    assert "1-2  wait(order=9) → no result: still open" in ran.out
    assert shop("show", "s.trace.jsonl", "--json").json["open"] == ["1-2"]


def test_ctrl_c_keeps_the_trace(shop: Shop) -> None:
    """An interrupted recording is ended properly, and the exit code is the shell's own."""
    shop.script(
        "slow.py",
        "import time, shop\nshop.get_order(order=9)\nprint('now', flush=True)\ntime.sleep(60)\n",
    )
    process = shop.start("record", "slow.py", "--to", "s.trace.jsonl")
    assert process.stdout is not None
    assert process.stdout.readline() == "now\n"
    time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out.startswith("interrupted · recorded 0 turns, 1 tool call → s.trace.jsonl")
    assert "Traceback" not in err
    trace = wb.load(shop.folder / "s.trace.jsonl")
    assert (trace.status, len(trace.tools())) == ("cancelled", 1)


def test_what_cannot_be_recorded(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each wrong target is one line that says what to write."""
    monkeypatch.chdir(shop.folder)
    expected = {
        ("nope.py",): "workbench: there is no script nope.py\n",
        (): "workbench: name an agent: a script, module:function, or -m MODULE\n",
        ("json",): "workbench: 'json' names no agent: write module:function, or a script's path\n",
        ("json:nope",): "workbench: 'json:nope': the module json has no nope\n",
        ("-m", "nope"): (
            "workbench: there is no module nope here or among the installed packages\n"
        ),
        ("shop.py", "-m", "shop"): (
            "workbench: give a script or -m shop, not both (shop.py and -m shop)\n"
        ),
        ("json:dumps", "--", "to=3"): (
            "workbench: the agent's argument to= cannot be given by name, since record() has an "
            "option of that name; give it by position\n"
        ),
    }
    for words, text in expected.items():
        ran = here("record", *words)
        assert (ran.code, ran.err, ran.out) == (2, text, ""), words
    assert not list(Path(shop.folder).glob("runs/*"))


def test_the_agents_own_options_go_after_two_dashes() -> None:
    """The commonest slip gets its remedy."""
    ran = here("record", "shop.py", "--order", "101")
    assert ran.code == 2
    assert ". The agent's own arguments go after --." in ran.err
