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
    script = str(shop.folder / "broken.py")  # whole, as Python has it
    assert re.findall(r'File "([^"]*)", line (\d+)', ran.err) == [(script, "5"), (script, "4")]
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
        ("nope.py:go",): (
            "workbench: 'nope.py:go': there is no module nope.py here or among the installed "
            "packages; write nope:go\n"
        ),
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


def test_record_modes(shop: Shop) -> None:
    """A trace that is there is replayed, added to or made anew, as --mode says, and it is told."""
    words = ["record", "shop.py", "--to", "m.trace.jsonl", "--mode"]
    path = shop.folder / "m.trace.jsonl"
    ran = shop(*words, "none")
    assert (ran.code, path.exists()) == (2, False)
    assert "there is no trace to replay, and --mode none makes none" in ran.err
    shop.keep_ledger()
    assert shop(*words, "once").out.startswith("Refunded.\nrecorded 3 turns")
    assert shop.ledger() == ["refund 101 149.99"]
    first = path.read_bytes()
    for mode in ("none", "once"):
        ran = shop(*words, mode)
        assert (ran.code, path.read_bytes()) == (0, first)
        assert ran.out.splitlines()[1:] == [
            "ok · 5 calls from the trace, 0 live · saved not known",
            "replayed from m.trace.jsonl; nothing was recorded",
        ]
    ran = shop(*words, "none", "--json", "--", "--order", "7")
    assert (ran.code, ran.json["command"], ran.json["status"]) == (1, "record", "drifted")
    ran = shop(*words, "new_episodes", "--", "--order", "7")
    assert ran.code == 0
    assert "0 calls from the trace, 5 live" in ran.out
    assert ran.out.splitlines()[-1] == "→ m.trace.jsonl"
    assert len(wb.load(path).tools()) == 4, "what was there is kept"
    assert shop(*words, "all").out.startswith("Refunded.\nrecorded 3 turns")
    assert len(wb.load(path).tools()) == 2
    assert len(shop.ledger()) == 3


def test_an_exit_code_passes_through_a_replay_as_well(shop: Shop) -> None:
    """A script that is replayed instead of recorded ends the command as it always did."""
    shop.script("leaves.py", "import sys, shop\nshop.get_order(order=1)\nsys.exit(7)\n")
    words = ["record", "leaves.py", "--to", "l.trace.jsonl", "--mode", "once"]
    assert [shop(*words).code, shop(*words).code] == [7, 7]


def test_prompts_can_be_left_out(shop: Shop) -> None:
    """--requests hash writes no prompt and no argument, and the trace replays all the same."""
    words = ["--to", "h.trace.jsonl", "--requests", "hash", "--durability", "fsync"]
    assert shop("record", "shop.py", *words).code == 0
    text = (shop.folder / "h.trace.jsonl").read_text("utf-8")
    assert "You handle refunds" not in text
    assert wb.load(shop.folder / "h.trace.jsonl").header.requests == "hash"
    assert shop("replay", "h.trace.jsonl", "shop.py").code == 0


def test_what_is_ignored_when_recording_is_ignored_later(shop: Shop) -> None:
    """A rule given to record holds for every replay of the trace."""
    rule = ["--ignore", "workbench:/body/messages/0"]
    assert shop("record", "shop.py", "--to", "i.trace.jsonl", *rule).code == 0
    changed = shop.changed("new.py", "the order total once.", "the order total.")
    assert shop("replay", "i.trace.jsonl", changed).code == 0


def test_secrets_are_taken_out_unless_somebody_says_so(shop: Shop) -> None:
    """A key is not in the trace; with --no-redact it is."""
    key = "sk-proj-" + "abcDEF0123456789" * 2
    shop.script("keyed.py", "import shop\ndef go(key):\n    return shop.get_order(order=key)\n")
    shop("record", "keyed:go", "--to", "k.trace.jsonl", "--", key)
    shop("record", "keyed:go", "--to", "n.trace.jsonl", "--no-redact", "--", key)
    found = [(shop.folder / f"{name}.trace.jsonl").read_text("utf-8") for name in "kn"]
    assert [key in text for text in found] == [False, True]


def test_a_secret_that_got_through_is_told(shop: Shop) -> None:
    """When the closed file is scanned and holds a secret all the same, it is a note, once, which
    does not show it."""
    key = "sk-proj-" + "abcDEF0123456789" * 2
    shop.script(
        "leaky.py",
        "import json\n"
        "def go():\n"
        "    line = {'line': 'event', 'id': '9-1', 'type': 'x', 'data': 'sk-proj-' "
        "+ 'abcDEF0123456789' * 2}\n"
        "    open('s.trace.jsonl', 'a').write(json.dumps(line) + '\\n')\n",
    )
    ran = shop("record", "leaky:go", "--to", "s.trace.jsonl")
    assert key in (shop.folder / "s.trace.jsonl").read_text("utf-8")
    assert ran.code == 0
    assert ran.err.startswith("note: a secret was written in spite of redaction: s.trace.jsonl:")
    assert len(ran.err.splitlines()) == 1
    assert key not in ran.err + ran.out


def test_modes_that_cannot_be(shop: Shop) -> None:
    """Each wrong use is one line, before anything runs."""
    for words, text in {
        ("--mode", "once"): "--mode once is about a trace that may be there already: say which",
        ("--mode", "all", "--to", "x", "--replace"): "--mode and --replace both say what becomes",
        ("--mode", "all", "--to", "x.yaml"): "--to x.yaml: a file of that name is a recording wr",
        ("--to", "x.json"): "--to x.json: a file of that name is a recording written by hand",
        ("--ignore", "body"): "--ignore body: write API:/pointer, such as ",
    }.items():
        ran = here("record", "shop.py", *words)
        assert (ran.code, ran.out) == (2, ""), words
        assert ran.err.startswith(f"workbench: {text}"), words
    assert not list(shop.folder.glob("x*"))


def test_a_recording_by_hand_answers_a_recording(shop: Shop) -> None:
    """--mode none runs an agent against a file that somebody wrote."""
    shop.script("d.json", '{"": {"content": "Ships Thursday."}}')
    shop.script("ask.py", "import scripted\nprint(scripted.ask('When?')['content'])\n")
    ran = shop("record", "ask.py", "--mode", "none", "--to", "d.json")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "Ships Thursday."), ran.err
