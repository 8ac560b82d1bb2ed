"""How recorded answers are served, and what goes to the live world: the options for it."""

import json
import subprocess
import sys
import time

import pytest
from shopcli import AGENTS, Shop, here

import workbench as wb
from workbench.cli.choices import read_latency
from workbench.seam.latency import Latency

_BUSY = """\
import asyncio, workbench
@workbench.tool(effect="read")
async def look(name: str, wait: float) -> str:
    await asyncio.sleep(wait)
    return name
async def go():
    ended = []
    async def one(name, wait):
        await look(name, wait)
        ended.append(name)
    await asyncio.gather(one("slow", 0.2), one("quick", 0.01))
    return ended
"""


def test_a_latency_model_in_words() -> None:
    """Each model is read with its milliseconds and its seed."""
    assert read_latency("none") is None
    assert read_latency("recorded") == Latency("recorded")
    assert read_latency("constant:250") == Latency("constant", 250)
    assert read_latency("normal:20.5") == Latency("normal", 20.5)
    assert read_latency("normal:20:7") == Latency("normal", 20, seed=7)


def test_served_answers_take_time(shop: Shop, recorded: str) -> None:
    """--latency really waits, for each of the five calls; without it nothing does."""
    begun = time.monotonic()
    assert shop("replay", recorded, "shop.py").code == 0
    plain = time.monotonic() - begun
    begun = time.monotonic()
    assert shop("replay", recorded, "shop.py", "--latency", "constant:600").code == 0
    assert time.monotonic() - begun > plain + 1.5


def test_sleep_is_virtual_unless_realtime(shop: Shop) -> None:
    """A recorded back-off costs no time when it is replayed; --realtime waits again."""
    shop.script("naps.py", "import workbench\ndef go():\n    workbench.sleep(1.5)\n")
    assert shop("record", "naps:go", "--to", "n.trace.jsonl").code == 0
    begun = time.monotonic()
    assert shop("replay", "n.trace.jsonl", "naps:go", "--realtime").code == 0
    slow = time.monotonic() - begun
    begun = time.monotonic()
    assert shop("replay", "n.trace.jsonl", "naps:go").code == 0
    assert time.monotonic() - begun < slow - 0.7


def test_calls_end_as_recorded_or_as_they_come(shop: Shop) -> None:
    """What ran at once ends in the recorded order, unless that is left free."""
    shop.script("busy.py", _BUSY)
    assert shop("record", "busy:go", "--to", "b.trace.jsonl").code == 0
    orders = {
        choice: shop("replay", "b.trace.jsonl", "busy:go", "--completion", choice, "--json").json
        for choice in ("recorded", "free")
    }
    assert orders["recorded"]["output"] == ["quick", "slow"]
    assert orders["free"]["output"] == ["slow", "quick"]


def test_calls_are_found_by_position_when_asked_for(shop: Shop) -> None:
    """By what is asked the order does not matter; by position it does."""
    text = "import shop\ndef go(orders):\n    return [shop.get_order(order=n) for n in orders]\n"
    shop.script("two.py", text)
    assert shop("record", "two:go", "--to", "t.trace.jsonl", "--", "[1, 2]").code == 0
    words = ["replay", "t.trace.jsonl", "two:go"]
    assert shop(*words, "--", "[2, 1]").code == 0
    ran = shop(*words, "--match", "position", "--", "[2, 1]")
    assert ran.code == 1
    assert "drift" in ran.out


def test_a_function_stands_in_for_a_tool_that_writes(shop: Shop, recorded: str) -> None:
    """--simulate runs it instead, nothing is done, and the trace says that it was not real."""
    shop.keep_ledger()
    shop.script("stand.py", "def refund(order, amount):\n    return f'would refund {amount}'\n")
    words = ["--live-from", "turn:2", "--simulate", "refund=stand:refund"]
    ran = shop("fork", recorded, "shop.py", *words)
    assert ran.code == 0, ran.out + ran.err
    assert "live writes: 1 of them simulated" in ran.out
    assert "ok · 2 calls from the trace, 2 live, 1 simulated" in ran.out
    assert shop.ledger() == []
    fork = wb.load(shop.folder / "a-fork1.trace.jsonl")
    assert (fork.tools()[-1].source, fork.tools()[-1].result) == (
        "simulated",
        "would refund 149.99",
    )
    words = ["--tools", "live", "--simulate", "refund=stand:refund"]
    assert shop("replay", recorded, "shop.py", *words, "--json").json["simulated"] == 1
    ran = shop("fork", recorded, "shop.py", "--live-from", "turn:2", "--simulate", "x=stand:refund")
    assert ran.code == 1
    assert "nothing stands in for it: --simulate refund=MODULE:FUNCTION" in ran.out


def test_a_secret_comes_from_the_environment(shop: Shop) -> None:
    """The trace has no key; a live call gets it from the variable that --secret names."""
    key = "sk-proj-" + "abcDEF0123456789" * 2
    shop.script(
        "keyed.py",
        "import workbench\n"
        "@workbench.tool(effect='read')\n"
        "def look(key):\n    open('seen.txt', 'w').write(key)\n    return 'ok'\n"
        "def go(key):\n    return look(key)\n",
    )
    assert shop("record", "keyed:go", "--to", "k.trace.jsonl", "--", key).code == 0
    assert key not in (shop.folder / "k.trace.jsonl").read_text("utf-8")
    seen = shop.folder / "seen.txt"
    seen.unlink()
    words = ["fork", "k.trace.jsonl", "keyed:go", "--on-miss", "live", "--force-live", "entry:1-1"]
    ran = shop(*words)
    assert (ran.code, seen.exists()) == (1, False)
    assert "Give --secret NAME, the environment variable that holds it" in ran.out
    ran = shop(*words, "--secret", "MY_KEY", env={"MY_KEY": key})
    assert (ran.code, seen.read_text("utf-8")) == (0, key)
    assert key not in ran.out + ran.err
    ran = shop(*words, "--secret", "MY_KEY")
    assert (ran.code, ran.out) == (2, "")
    assert "MY_KEY is not set" in ran.err
    ran = shop(*words, "--secret", key)
    assert ran.code == 2
    assert key not in ran.err


def test_readings_go_on_as_recorded_unless_released(shop: Shop) -> None:
    """After the cut an id is the recorded one; --release id makes a new one, live."""
    shop.script(
        "ids.py",
        "import scripted, workbench\n"
        "def go():\n    scripted.ask('one')\n    return [workbench.new_id(), workbench.new_id()]\n",
    )
    assert shop("record", "ids:go", "--to", "i.trace.jsonl").code == 0
    before = wb.load(shop.folder / "i.trace.jsonl").output
    words = ["fork", "i.trace.jsonl", "ids:go", "--live-from", "turn:1", "--json"]
    assert shop(*words).json["output"] == before
    assert shop(*words, "--release", "id").json["output"] != before
    assert here("fork", "i.trace.jsonl", "--release", "moon").code == 2


@pytest.mark.parametrize("name", ["flaky.yaml", "flaky.json"])
def test_a_recording_written_by_hand(shop: Shop, name: str) -> None:
    """A few lines stand for a provider: replayed, verified, forked and shown as any trace."""
    shop.script("draft.py", (AGENTS / "draft.py").read_text("utf-8"))
    said = {
        "_version": 2,
        "draft": [
            {"fault": {"type": "http_error", "status_code": 429, "retry_after_s": 30}},
            {"content": "Ships Thursday."},
        ],
    }
    shop.script(name, json.dumps(said))  # JSON is YAML, too
    begun = time.monotonic()
    ran = shop("replay", name, "draft.py")
    assert time.monotonic() - begun < 15  # the recorded wait alone is 30 seconds
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Ships Thursday.\nok · 2 calls from the trace, 0 live · saved not known\n"
    assert shop("verify", name, "draft.py").out.startswith("no difference · 3 replays of ")
    ran = shop("fork", name, "draft:draft", "--live-from", "turn:1")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "→ flaky-fork1.trace.jsonl")
    assert "re: Draft a note." in ran.out
    ran = shop("replay", name)
    assert ran.code == 2
    assert "name the agent: workbench replay" in ran.err
    shown = here("show", str(shop.folder / name)).out
    assert "  written by hand\n" in shown
    lines = here("show", str(shop.folder / name), "--turn", "1").out.splitlines()
    assert lines[:3] == [
        "turn 1 of 1 · step draft · hand · 2 attempts",
        "  attempt 1 failed: http_error: injected HTTP 429",
        "    fault: it fails with HTTP 429, retry after 30 s",
    ]
    assert "said: Ships Thursday." in lines


def test_an_agent_that_takes_an_io_is_given_one(shop: Shop) -> None:
    """Recorded from Python with its own io, it replays from the shell with one that is served."""
    shop.script(
        "loop.py",
        "import sys, workbench\n"
        "def agent(io, question):\n"
        "    asked = [{'role': 'user', 'content': question}]\n"
        "    return io.call_model(model='m-1', messages=asked).text\n"
        "if __name__ == '__main__':\n"
        "    io = workbench.live_io(model=lambda body: {'content': 'A fine day.'}).sync\n"
        "    workbench.record(agent, io, 'Hm?', to='io.trace.jsonl')\n",
    )
    subprocess.run([sys.executable, "loop.py"], cwd=shop.folder, env=shop.env, check=True)
    ran = shop("replay", "io.trace.jsonl", "loop:agent")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("A fine day.\nok · 1 call from the trace, 0 live")
    assert shop("verify", "io.trace.jsonl", "loop:agent", "--", "Other?").code == 1
