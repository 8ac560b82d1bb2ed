"""`workbench fork`."""

import json
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from shopcli import Shop, here, on_terminal

import workbench as wb
from workbench.cli.edit_words import read_edits
from workbench.trace.edits import ReplyEdit

EDIT: dict[str, Any] = {
    "type": "reply",
    "at": "turn:2",
    "tool_calls": [{"name": "send_email", "arguments": {"to": "ada@example.com"}}],
}
PLAN = (
    "plan: 3 calls from the trace · turn 2 edited · live only what the edit changes, "
    "at most about 2 · cost not known · live writes: 1 of them denied"
)


def test_an_edit_ripples(shop: Shop, recorded: str) -> None:
    """Only what the edit changed goes live; each call says how it was answered, and why."""
    shop.script("edit.json", json.dumps([EDIT]))
    shop.keep_ledger()
    words = ["--edit", "edit.json", "--tools-after", "allow", "--yes"]
    ran = shop("fork", recorded, "--recorded-agent", *words)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        PLAN.replace("denied", "allowed"),
        "Written to.",
        "  turn  call        how       why                   outcome",
        "     1  m-1         replayed  as recorded           get_order",
        '     1  get_order   replayed  as recorded           {"order":101,"total":149.99}',
        "     2  m-1         edited    edited                send_email",
        '     2  send_email  live      not in the recording  "sent"',
        "     3  m-1         live      not in the recording  Written to.",
        "ok · 2 calls from the trace, 2 live, 1 edited · spent not known · saved not known",
        "first divergence: turn 2: refund → send_email",
        "→ a-fork1.trace.jsonl",
    ]
    assert shop.ledger() == ["email ada@example.com"]
    fork = wb.load(shop.folder / "a-fork1.trace.jsonl")
    assert fork.parent is not None
    assert fork.parent.edits[0]["at"] == {"kind": "turn", "value": 2}
    assert shop("fork", recorded, "shop.py", *words, "--json").json["path"] == "a-fork2.trace.jsonl"


def test_a_live_write_is_denied_by_default(shop: Shop, recorded: str) -> None:
    """Nothing happens to the world unless somebody allowed it; the text names the options."""
    shop.keep_ledger()
    ran = shop("fork", recorded, "--recorded-agent", "--edit", json.dumps(EDIT), "--json")
    assert (ran.code, shop.ledger()) == (1, [])
    found = ran.json
    assert found["status"] == "blocked"
    assert found["plan"]["lines"][1] == "turn 2 edited"
    assert found["diff"]["first"]["text"] == "turn 2: refund → send_email"
    assert "let live writes run: --tools-after allow; be asked for each:" in ran.err
    ran = shop("fork", recorded, "shop.py", "--edit", json.dumps(EDIT), "--tools-after", "ask")
    assert ran.code == 1
    assert "nobody could be asked, since this is no terminal" in ran.out


@pytest.mark.parametrize("call", [["send_email", {"to": "a@b.c"}], EDIT["tool_calls"][0]])
def test_one_tool_call_in_short(recorded_once: Path, call: object) -> None:
    """A single tool call needs no list around it, and no names for its two parts."""
    edit = {"type": "reply", "at": "turn:2", "tool_call": call}
    ran = here("fork", str(recorded_once), "--edit", json.dumps(edit), "--plan")
    assert (ran.code, ran.out) == (0, PLAN + "\n")


def test_the_helps_examples_are_edits(tmp_path: Path) -> None:
    """Every edit that --help shows can be copied as it is, and does what is said of it."""
    text = here("fork", "--help").out
    found = re.findall(r"^ *(\{.*?\})$", text, re.MULTILINE | re.DOTALL)
    file = tmp_path / "edits.json"
    file.write_text(f"[{','.join(found)}]", "utf-8")
    edits = read_edits([str(file)])
    assert [each.type for each in edits] == [
        *("reply", "reply", "tool_result", "tool_arguments", "request"),
        *("event", "value", "fault", "insert", "drop"),
    ]
    last, called = edits[:2]
    assert isinstance(last, ReplyEdit)
    assert isinstance(called, ReplyEdit)
    assert (last.text, last.tool_calls) == ("Done.", ()), "the recorded tool call would stay"
    assert called.tool_calls is not None
    assert called.tool_calls[0].arguments == {"to": "ada@example.com"}


def test_the_plan_alone(recorded_once: Path) -> None:
    """--plan says what would happen and runs nothing: it needs no agent."""
    before = sorted(recorded_once.parent.iterdir())
    ran = here("fork", str(recorded_once), "--edit", json.dumps(EDIT), "--plan")
    assert (ran.code, ran.out) == (0, PLAN + "\n")
    ran = here("fork", str(recorded_once), "--live-from", "turn:2", "--plan", "--json")
    assert (ran.json["plan"]["served"], ran.json["plan"]["live"]) == (2, 3)
    assert sorted(recorded_once.parent.iterdir()) == before


def _cut_short(shop: Shop, recorded: str, lines: int) -> str:
    """The same trace without its last lines, as if its process had been killed."""
    kept = (shop.folder / recorded).read_text("utf-8").splitlines(keepends=True)[:-lines]
    return shop.script("cut.trace.jsonl", "".join(kept)).name


def test_the_plan_of_a_recording_that_was_killed(shop: Shop, recorded: str) -> None:
    """Nobody knows what comes after its end: the plan must not say that nothing goes live."""
    cut = _cut_short(shop, recorded, 1)
    assert wb.load(shop.folder / cut).status == "cut short"
    ran = shop("fork", cut, "--on-miss", "live", "--plan")
    assert ran.out == (
        "plan: 5 calls from the trace · the trace ends at turn 3: what comes after it is live, "
        "and how much is not known\n"
    )
    ran = shop("fork", cut, "--live-from", "turn:3", "--plan", "--json")
    assert [line for line in ran.json["plan"]["lines"] if "live" in line] == [
        "about 1 live",
        "live writes: denied",
        "the trace ends at turn 3: what comes after it is live, and how much is not known",
    ]
    assert "ends at" not in shop("fork", cut, "--on-miss", "fail", "--plan").out


def test_writes_need_a_yes_where_nobody_can_be_asked(shop: Shop, recorded: str) -> None:
    """A script runs unasked what cannot write; what can is refused until it says --yes."""
    shop.keep_ledger()
    words = ["fork", recorded, "shop.py", "--live-from", "turn:2", "--tools-after", "allow"]
    ran = shop(*words)
    assert (ran.code, shop.ledger()) == (2, [])
    assert "nobody can be asked, since this is no terminal: add --yes to run it" in ran.err
    assert not list(shop.folder.glob("a-fork*"))
    assert (shop(*words, "--yes").code, shop.ledger()) == (0, ["refund 101 149.99"])
    assert "--tools-after allow needs this" in " ".join(here("fork", "--help").out.split())


def test_all_calls_past_the_cut_say_so(shop: Shop, recorded: str) -> None:
    """Past the cut nothing is looked up, so no call there is blamed on the recording."""
    changed = shop.changed("new.py", '"amount": 149.99', '"amount": 5')
    words = ["--live-from", "turn:2", "--tools-after", "allow", "--yes"]
    ran = shop("fork", recorded, changed, *words)
    live = [line.split()[3:6] for line in ran.out.splitlines() if line.split()[2:3] == ["live"]]
    assert live == [["past", "the", "cut"]] * 3, ran.out


def test_a_fork_on_a_terminal_shows_how_far_it_is(shop: Shop, recorded: str) -> None:
    """The bar begins with the number of calls that the plan counted."""
    words = ["fork", recorded, "shop.py", "--live-from", "turn:3", "--yes"]
    code, shown = on_terminal(shop, {}, *words)
    assert code == 0, shown
    assert "None" not in shown
    assert "0/5" in shown


def test_a_question_on_a_terminal(shop: Shop, recorded: str) -> None:
    """Before it goes live it asks, and again for the write; a yes lets the write happen."""
    shop.keep_ledger()
    words = ["fork", recorded, "shop.py", "--edit", json.dumps(EDIT), "--tools-after", "ask"]
    code, shown = on_terminal(shop, {"Run it? [y/N]": "y\n", "Allow it? [y/N]": "yes\n"}, *words)
    assert code == 0, shown
    assert "turn 2: send_email writes and is about to run for real: send_email(to=" in shown
    assert shop.ledger() == ["email ada@example.com"]
    code, shown = on_terminal(shop, {"Allow it? [y/N]": "n\n"}, *words, "--yes")
    assert code == 1, shown
    assert "it was denied" in shown
    assert "Run it?" not in shown
    assert shop.ledger() == ["email ada@example.com"]


def test_no_is_the_default_answer(shop: Shop, recorded: str) -> None:
    """Enter alone runs nothing."""
    words = ["fork", recorded, "shop.py", "--live-from", "turn:2"]
    code, shown = on_terminal(shop, {"Run it? [y/N]": "\n"}, *words)
    assert code == 1
    assert shown.rstrip().endswith("nothing was run")
    assert not list(shop.folder.glob("a-fork*"))


@pytest.mark.parametrize("agent", ["slow.py", "slow:asleep"])
def test_ctrl_c_cancels_cleanly(shop: Shop, recorded: str, agent: str) -> None:
    """An interrupted fork is ended, kept and reported, with sync and with async agents."""
    shop.script(
        "slow.py",
        "import asyncio, time, shop\n"
        "async def asleep():\n"
        "    shop.handle(101)\n    print('asleep', flush=True)\n    await asyncio.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    shop.handle(101)\n    print('asleep', flush=True)\n    time.sleep(60)\n",
    )
    words = ["--live-from", "turn:3", "--to", "c.trace.jsonl"]
    process = shop.start("fork", recorded, agent, *words, stderr=subprocess.STDOUT)
    assert process.stdout is not None
    assert "asleep\n" in iter(process.stdout.readline, "")
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == 130, rest
    assert "Traceback" not in rest
    assert "the run was cancelled" in rest
    assert rest.splitlines()[-1] == "→ c.trace.jsonl"
    trace = wb.load(shop.folder / "c.trace.jsonl")
    assert (trace.status, len(trace.entries)) == ("cancelled", 5)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "nothing is to be changed: give --edit, --fault, --live-from, --force-live or "),
        (["--edit", "no.json"], "--edit no.json: there is no such file; give a JSON file, or JSON"),
        (["--edit", "[1]"], "--edit: an edit is a JSON object {…}, not 1"),
        (["--edit", "{}"], "--edit: the edit says no type; there are reply, request, tool_re"),
        (
            ["--edit", '{"type": "reply"}'],
            "--edit: reply: 'at' is missing; the keys are type, at, text, tool_calls, refusal",
        ),
        (
            ["--edit", '{"type": "reply", "at": "turn:1", "txt": "x"}'],
            "--edit: reply: there is no key 'txt', did you mean 'text'? the keys are type,",
        ),
        (
            ["--edit", '{"type": "reply", "at": "turn:1", "tool_call": {"nme": "x"}}'],
            "--edit: reply.tool_calls.0: there is no key 'nme', did you mean 'name'? the keys are ",
        ),
        (
            ["--edit", '{"type": "reply", "at": "turn:1", "tool_call": ["x"]}'],
            '--edit: a tool call is ["name", {...}] or {"name", "arguments"}',
        ),
        (
            ["--fault", '{"type": "timeout", "aim": {"turn": 2}}'],
            '--fault {"type": "timeout", "aim": {"turn": 2}}: timeout.aim: ',
        ),
        (["--edit", '{"type": "reply", "at": 4, "text": "x"}'], "4 is not a place: "),
        (
            ["--edit", '{"type": "reply", "at": "turn:9", "text": "x"}'],
            "this edit cannot be made: turn(9): the trace shop-01 has turns 1 to 3",
        ),
        (["--live-from", "step:x"], "the trace has no step 'x': it names no steps at all"),
        (["--live-from", "step:a:b"], "the trace has no step 'a:b': it names no steps at all"),
        (["--live-from", "turn:2"], "name the agent to run. This trace was recorded from shop.py"),
    ],
)
def test_what_cannot_be_forked(
    recorded_once: Path, words: list[str], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fork that cannot work says why before anything runs."""
    monkeypatch.setenv("WORKBENCH_RUNS_DIR", str(recorded_once.parent / "somebody-else"))
    ran = here("fork", str(recorded_once), *words)
    assert ran.code == 2
    assert ran.err.startswith(f"workbench: {text}")


def test_a_live_result_is_shown_without_its_secret(shop: Shop) -> None:
    """The table of calls may end in a log: a key that a tool really gave is not in it."""
    key = "zq81-brown-kettle-5520"
    env = {"SHOP_API_KEY": key}
    shop.script(
        "keyed.py",
        "import os, workbench\n"
        "@workbench.tool(effect='read')\n"
        "def settings() -> dict:\n    return {'used': os.environ['SHOP_API_KEY']}\n"
        "def go():\n    settings()\n",
    )
    assert shop("record", "keyed:go", "--to", "k.trace.jsonl", env=env).code == 0
    words = ["--live-from", "entry:1-1", "--yes"]
    ran = shop("fork", "k.trace.jsonl", "keyed:go", *words, env=env)
    assert ran.code == 0
    assert '{"used":"[redacted:environment:' in ran.out
    assert key not in ran.out + ran.err


def test_what_looks_wrong_in_an_edit_is_said_with_the_plan(shop: Shop, recorded: str) -> None:
    """An edit that changes nothing can be run, but is a slip mostly: it is told before."""
    same = {"type": "tool_result", "at": "turn:1", "result": {"order": 101, "total": 149.99}}
    ran = shop("fork", recorded, "shop.py", "--edit", json.dumps(same), "--plan")
    assert ran.code == 0
    said = [line for line in ran.out.splitlines() if line.startswith("warning: ")]
    assert said == ["warning: turn 1 · result of get_order: this edit changes nothing"]
