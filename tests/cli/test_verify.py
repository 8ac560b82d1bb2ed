"""`workbench verify`, and `workbench rebuild`."""

import json
import signal
import subprocess
import time

from shopcli import AGENTS, Shop, here, on_terminal

_COUNTS = """\
from pathlib import Path
import shop
FILE = Path(__file__).with_name("n.txt")
def go(order=101):
    runs = int(FILE.read_text()) if FILE.exists() else 0
    FILE.write_text(str(runs + 1))
    return shop.handle(order), runs {condition}
"""


def test_the_same_in_every_replay(shop: Shop, recorded: str) -> None:
    """Exit code 0 and one line; what the agent prints is kept out of the verdict."""
    shop.keep_ledger()
    ran = shop("verify", recorded, "--recorded-agent")
    assert (ran.code, ran.err) == (0, "Refunded.\n" * 3)
    assert ran.out == "no difference · 3 replays of a.trace.jsonl, 5 calls each\n"
    assert shop.ledger() == []
    ran = shop("verify", recorded, "shop.py", "--runs", "1", "--json")
    assert ran.json == {
        "command": "verify",
        "path": "a.trace.jsonl",
        "ok": True,
        "runs": [{"status": "ok", "calls": 5}],
        "differences": [],
    }


def test_an_agent_that_is_not_the_same_twice(shop: Shop) -> None:
    """An output that changes from run to run is told for each replay that it changed in."""
    shop.script("odd.py", _COUNTS.format(condition="> 2"))
    assert shop("record", "odd:go", "--to", "o.trace.jsonl").code == 0
    ran = shop("verify", "o.trace.jsonl", "odd:go")
    assert ran.code == 1
    *differences, verdict = ran.out.splitlines()
    assert verdict == "2 differences · 3 replays of o.trace.jsonl, 5 calls each"
    assert differences[0].startswith("replay 3, beside the recording: it gives ")
    assert differences[1].startswith("replay 3, beside replay 1: it gives ")
    found = shop("verify", "o.trace.jsonl", "odd:go", "--json").json
    assert (found["ok"], len(found["differences"])) == (False, 3)


def test_a_drift_is_said_once_for_all_replays(shop: Shop, recorded: str) -> None:
    """The same drift in each replay is one text, with commands that can be copied."""
    changed = shop.changed("new.py", "the order total once.", "the order total.")
    ran = shop("verify", recorded, changed)
    assert ran.code == 1
    assert ran.out.startswith("replays 1, 2, 3: drift at turn 1 · model call · ")
    assert ran.out.count("1 word dropped") == 1
    assert "keep the change: workbench record new.py -- --order 101" in ran.out
    words = ["--ignore", "workbench:/body/messages/0", "--runs", "1"]
    assert shop("verify", recorded, changed, *words).code == 0


def test_a_recorded_failure_may_be_fine(shop: Shop) -> None:
    """A run that failed when it was recorded passes only when somebody says so."""
    shop.script(
        "bad.py", "import shop\ndef go():\n    shop.handle(101)\n    raise ValueError('no')\n"
    )
    assert shop("record", "bad:go", "--to", "b.trace.jsonl").code == 1
    ran = shop("verify", "b.trace.jsonl", "bad:go", "--runs", "2")
    assert ran.code == 1
    assert "replays 1, 2: the run ended failed: no\n" in ran.out
    assert shop("verify", "b.trace.jsonl", "bad:go", "--runs", "2", "--allow-failed").code == 0


def test_tools_run_again_in_a_fresh_world_each_time(shop: Shop, recorded: str) -> None:
    """--tools verify runs the tools of every replay, and a live write is denied without a world."""
    words = ["verify", recorded, "shop.py", "--runs", "2"]
    shop.keep_ledger()
    ran = shop(*words, "--tools", "live")
    assert ran.code == 1
    assert "Let it run with --tools-after allow, or be asked for each with --tools-after ask" in (
        ran.out
    )
    assert shop.ledger() == []
    ran = shop(*words, "--tools", "verify", "--setup", "shop:fresh_world")
    assert (ran.code, shop.ledger()) == (0, ["refund 101 149.99"])  # the world's own ledger
    ran = shop(*words, "--tools", "live", "--simulate", "refund=shop:get_order")
    assert "replays 1, 2: the run ended failed: " in ran.out  # the stand-in takes no amount
    assert "unexpected keyword argument 'amount'" in ran.out


def test_what_verify_cannot_do(shop: Shop) -> None:
    """A count that is none, and a file that is none, are wrong use."""
    assert here("verify", "x.trace.jsonl", "--runs", "0").code == 2
    assert here("verify", "x.trace.jsonl").err.startswith("workbench: x.trace.jsonl: there is no ")


def test_progress_and_ctrl_c(shop: Shop, recorded: str) -> None:
    """On a terminal it shows how far it is; interrupted it ends with the shell's own code."""
    code, shown = on_terminal(shop, {}, "verify", recorded, "shop.py")
    assert code == 0, shown
    assert "5/5" in shown
    shop.script(
        "slow.py",
        "import time, shop\nshop.handle(101)\nprint('asleep', flush=True)\ntime.sleep(60)\n",
    )
    process = shop.start("verify", recorded, "slow.py", stderr=subprocess.STDOUT)
    assert process.stdout is not None
    assert "asleep\n" in iter(process.stdout.readline, "")
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert (process.returncode, rest) == (130, "workbench: interrupted\n")


def test_a_fork_is_made_again(shop: Shop, recorded: str) -> None:
    """The fork's own file says how it was made; made again it comes out the same."""
    edit = {"type": "reply", "at": "turn:2", "tool_call": ["send_email", {"to": "a@b.c"}]}
    words = ["--edit", json.dumps(edit), "--tools-after", "allow", "--yes"]
    assert shop("fork", recorded, "shop.py", *words).code == 0
    ran = shop("rebuild", "a-fork1.trace.jsonl", "shop.py")
    assert ran.code == 2
    assert "live calls may write (--tools-after allow), and nobody can be asked" in ran.err
    assert "--plan" not in ran.err
    ran = shop("rebuild", "a-fork1.trace.jsonl", "shop.py", "--yes", "--to", "b.trace.jsonl")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-2:] == [
        "beside a-fork1.trace.jsonl: no difference",
        "→ b.trace.jsonl",
    ]
    shop.script("stand.py", "def email(to, text):\n    return f'would write to {to}'\n")
    words = ["--simulate", "send_email=stand:email", "--json"]
    ran = shop("rebuild", "a-fork1.trace.jsonl", "shop.py", *words)
    found = ran.json
    assert (ran.code, found["error"], found["command"], found["diff"]["same"]) == (
        0,
        None,
        "rebuild",
        False,
    )
    assert (found["live"], found["simulated"]) == (1, 1)


def test_what_cannot_be_rebuilt(shop: Shop, recorded: str) -> None:
    """A recording has no parent; a parent that moved is named; the agent is never run unasked."""
    ran = shop("rebuild", recorded, "shop.py")
    assert ran.code == 2
    assert "has no parent: it was recorded" in ran.err
    assert shop("fork", recorded, "shop.py", "--live-from", "turn:3").code == 0
    stranger = {"WORKBENCH_RUNS_DIR": str(shop.folder / "somebody-else")}
    assert "name the agent to run" in shop("rebuild", "a-fork1.trace.jsonl", env=stranger).err
    (shop.folder / recorded).rename(shop.folder / "moved.trace.jsonl")
    assert "a.trace.jsonl: there is no such file" in (
        shop("rebuild", "a-fork1.trace.jsonl", "shop.py").err
    )
    ran = shop("rebuild", "a-fork1.trace.jsonl", "shop.py", "--parent", "moved.trace.jsonl")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "beside a-fork1.trace.jsonl: no difference")


def test_a_recording_by_hand_is_verified_from_replay_to_replay(shop: Shop) -> None:
    """Nobody writes by hand what was asked, so that is not taken for a difference."""
    shop.script("draft.py", (AGENTS / "draft.py").read_text("utf-8"))
    shop.script("d.json", '{"draft": {"content": "Ships Thursday."}}')
    ran = shop("verify", "d.json", "draft:draft", "--runs", "2")
    assert (ran.code, ran.out) == (0, "no difference · 2 replays of d.json, 1 call each\n")
