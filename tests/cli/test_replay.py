"""`workbench replay`."""

import json

import pytest
from shopcli import Shop, here

import workbench as wb

_DRIFT = """\
drift at turn 1 · model call · {where}
  recorded  …u handle refunds. Refund the order total once.
  now       …u handle refunds. Refund the order total.   message 1 (system), 1 word dropped
"""


def test_the_recorded_agent_runs_when_asked_for(shop: Shop, recorded: str) -> None:
    """The same output, all of it from the trace; the tools do nothing."""
    shop.keep_ledger()
    ran = shop("replay", recorded, "--recorded-agent")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "Refunded.\nok · 5 calls from the trace, 0 live · saved not known\n"
    assert shop.ledger() == []


def test_a_trace_never_runs_its_agent_by_itself(
    shop: Shop, recorded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trace is untrusted: it names an agent, and somebody must say that it may run, or have
    recorded it here."""
    monkeypatch.chdir(shop.folder)
    monkeypatch.setenv("WORKBENCH_RUNS_DIR", str(shop.folder / "somebody-else"))
    shop.script("shop.py", "raise SystemExit('it ran')\n")
    ran = here("replay", recorded)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "workbench: name the agent to run. This trace was recorded from shop.py --order 101; "
        "to run that:\n  workbench replay a.trace.jsonl --recorded-agent\n"
    )


def test_a_function_runs_with_the_recorded_arguments(shop: Shop) -> None:
    """Without arguments of its own the agent gets the recorded ones; its output is shown."""
    shop("record", "shop:handle", "--to", "f.trace.jsonl", "--", "order=77")
    ran = shop("replay", "f.trace.jsonl", "shop:handle")
    assert ran.code == 0
    *output, summary = ran.out.splitlines()
    assert json.loads("\n".join(output)) == {"order": 77, "answer": "Refunded."}
    assert summary == "ok · 5 calls from the trace, 0 live · saved not known"


def test_a_changed_tool_argument_is_named(shop: Shop, recorded: str) -> None:
    """Who changed the agent sees which argument of which tool is another one now."""
    changed = shop.changed(
        "new.py", '(**each["arguments"])', '(**each["arguments"] | {"order": 9})'
    )
    ran = shop("replay", recorded, changed)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0].startswith("drift at turn 1 · tool call · new.py:")
    assert lines[1:4] == [
        "  recorded  101",
        "  now       9   arguments.order",
        "  nearest   entry 1-2 (turn 1); the same: name",
    ]
    assert lines[-1] == "drifted · 1 call from the trace, 0 live · saved not known"
    assert "exit 1" not in ran.out


def test_a_changed_prompt_is_shown_and_can_be_ignored(shop: Shop, recorded: str) -> None:
    """The message and the words; the rule that the text offers makes the replay pass."""
    changed = shop.changed("new.py", "the order total once.", "the order total.")
    ran = shop("replay", recorded, changed, "--json")
    assert ran.code == 1
    found = ran.json
    miss = found["drift"]["miss"]
    assert found["status"] == "drifted"
    assert found["drift"]["text"].startswith(_DRIFT.format(where=miss["where"]))
    assert miss["candidates"][0]["differs"][0]["where"] == "message 1 (system)"
    rule = "workbench:/body/messages/0"
    assert f"--ignore {rule}" in found["drift"]["text"]
    assert shop("replay", recorded, changed, "--ignore", rule).code == 0


def test_a_drift_names_commands_that_can_be_copied(shop: Shop) -> None:
    """The ways out of a drift hold the file, the agent and its arguments: they run as they are."""
    shop("record", "shop:handle", "--to", "f.trace.jsonl", "--", "order=77")
    shop.changed("new.py", '(**each["arguments"])', '(**each["arguments"] | {"order": 9})')
    ran = shop("replay", "f.trace.jsonl", "new:handle")
    assert ran.code == 1
    found = {line.split(":", 1)[0].strip(): line for line in ran.out.splitlines() if ": " in line}
    record = found["keep the change"].split(":", 1)[1].split()
    live = found["run it live"].split(":", 1)[1].split()
    assert record == ["workbench", "record", "new:handle", "--", "order=77"]
    assert live == ["workbench", "fork", "f.trace.jsonl", "new:handle", "--on-miss", "live"]
    assert shop(*record[1:]).code == 0
    assert shop(*live[1:], "--plan").code == 0


def test_an_agent_that_cannot_take_the_recorded_arguments(shop: Shop) -> None:
    """The text names the recorded agent and its arguments, and nothing of our own inside."""
    shop("record", "shop:handle", "--to", "f.trace.jsonl", "--", "101")
    ran = shop("replay", "f.trace.jsonl", "shop.py")
    assert ran.code == 2
    assert ran.err == (
        "workbench: the trace was recorded from shop:handle with (101), and a script cannot be "
        "given those; run that agent, or give a function arguments of its own after --\n"
    )
    ran = shop("replay", "f.trace.jsonl", "shop:fresh_world")
    assert ran.code == 2
    assert ran.err == (
        "workbench: the trace was recorded from shop:handle with (101), and this one: too many "
        "positional arguments; run that agent, or give it arguments of its own after --\n"
    )


@pytest.mark.parametrize("command", ["replay", "fork"])
def test_help_explains_the_ways_of_tools_by_name(command: str) -> None:
    """Each choice stands beside what it does, so that none is taken for another."""
    text = " ".join(here(command, "--help").out.split())
    assert "replay: serve the results; verify: run the tools, and compare; live: run the" in text


def test_lenient_serves_and_says_so(shop: Shop, recorded: str) -> None:
    """A changed agent gets the recorded answers, and each of them is noted."""
    changed = shop.changed("new.py", "the order total once.", "the order total.")
    ran = shop("replay", recorded, changed, "--lenient")
    assert ran.code == 0
    assert ran.out.count("changed since the recording") == 3
    assert ran.out.splitlines()[-1] == "ok · 5 calls from the trace, 0 live · saved not known"


def test_another_output_is_shown_as_a_warning(shop: Shop, recorded: str) -> None:
    """The same calls and yet another output: nothing fails, and the difference is there to see."""
    changed = shop.changed("new.py", "print(handle(number)", "print('Now:', handle(number)")
    ran = shop("replay", recorded, changed)
    assert ran.code == 0
    assert ran.out.splitlines()[1:] == [
        "warning: the output differs from the recorded one",
        "  --- recorded",
        "  +++ now",
        "  @@ -1 +1 @@",
        "  -Refunded.",
        "  +Now: Refunded.",
        "ok · 5 calls from the trace, 0 live · saved not known",
    ]


def test_a_fault_hits_where_it_aims(shop: Shop, recorded: str) -> None:
    """An agent that cannot stand a 429 fails, with its own frames in the traceback."""
    ran = shop("replay", recorded, "--recorded-agent", "--fault", "http_error:429@turn:2")
    assert ran.code == 1
    assert ran.err.splitlines()[-1] == "scripted.HttpStatus: status 429"
    assert "drivers.py" not in ran.err
    assert ran.out.splitlines() == [
        "failed · 2 calls from the trace, 0 live, 1 fault · saved not known",
        "1 fault hit: HTTP 429 at turn 2; the agent ended with HttpStatus",
    ]


def test_what_came_of_a_fault_is_said(shop: Shop, recorded: str) -> None:
    """An agent that stands a failure is told from one that does not, in the last line."""
    changed = shop.changed(
        "new.py",
        'result = TOOLS[each["name"]](**each["arguments"])',
        'try:\n                result = TOOLS[each["name"]](**each["arguments"])\n'
        '            except TimeoutError:\n                result = "RF-101"',
    )
    ran = shop("replay", recorded, changed, "--fault", "timeout@tool:refund")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-1] == "1 fault hit: timeout at refund in turn 2; the agent went on"


def test_a_fault_hits_the_nth_model_call(shop: Shop, recorded: str) -> None:
    """Model calls can be counted on the command line too, whatever turns they belong to."""
    ran = shop("replay", recorded, "--recorded-agent", "--fault", "timeout@nth:3", "--json")
    assert [(call["turn"], call["how"]) for call in ran.json["calls"]][-1] == (3, "fault")


def test_a_fault_that_never_fires_fails(shop: Shop, recorded: str) -> None:
    """A test of a failure that never happened must not look passed."""
    ran = shop("replay", recorded, "--recorded-agent", "--fault", "timeout@tool:get_order#2")
    assert ran.code == 1
    assert "the fault timeout never fired: no call met its aim (tool get_order, call 2)" in ran.out


def test_live_from_a_place(shop: Shop, recorded: str) -> None:
    """A part runs live, and the new trace says which; a live write is denied unless allowed."""
    shop.keep_ledger()
    ran = shop("replay", recorded, "--recorded-agent", "--live-from", "turn:2")
    assert ran.code == 1
    assert "refund(order=101, amount=149.99)" in ran.out
    assert ran.out.splitlines()[-1].startswith("blocked · 2 calls from the trace, 1 live")
    assert shop.ledger() == []
    words = ["--live-from", "turn:2", "--tools-after", "allow", "--to", "b.trace.jsonl"]
    ran = shop("replay", recorded, "--recorded-agent", *words)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "→ b.trace.jsonl")
    assert shop.ledger() == ["refund 101 149.99"]
    sources = [entry.source for entry in wb.load(shop.folder / "b.trace.jsonl").entries]
    assert sources == ["replayed", "replayed", "live", "live", "live"]


def test_tools_run_again_in_a_fresh_world(shop: Shop, recorded: str) -> None:
    """--tools verify runs the recorded tools in what --setup made, and compares."""
    words = ["--recorded-agent", "--tools", "verify", "--setup", "shop:fresh_world"]
    ran = shop("replay", recorded, *words)
    assert (ran.code, shop.ledger()) == (0, ["refund 101 149.99"])
    changed = shop.changed("new.py", 'f"RF-{order}"', '"RF-0"')
    ran = shop("replay", recorded, changed, *words[1:])
    assert ran.code == 1
    assert "tool 'refund'" in ran.out
    assert "gives another result than was recorded" in ran.out


def test_json_holds_the_document_alone(shop: Shop, recorded: str) -> None:
    """A program reads calls, money and output, whatever the agent prints."""
    ran = shop("replay", recorded, "--recorded-agent", "--json")
    found = ran.json
    assert "Refunded.\n" in ran.err
    assert (found["command"], found["status"], found["same_output"]) == ("replay", "ok", True)
    assert (found["replayed"], found["live"], found["saved_usd"]) == (5, 0, None)
    assert [call["reason"] for call in found["calls"]] == ["hit"] * 5
    assert found["output"] == "Refunded.\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--fault", "flood"], "--fault flood: choose one of http_error, timeout, "),
        (["--fault", "http_error"], "--fault http_error: say which status, such as http_error:429"),
        (["--fault", "http_error:99"], "--fault http_error:99: http_error.status_code: "),
        (["--fault", "http_error:x@turn:1"], "--fault http_error:x@turn:1: 'x' does not fit;"),
        (["--fault", "timeout@tool:"], "--fault timeout@tool:: aim at a tool with tool:NAME"),
        (["--fault", "timeout@turn:0"], "--fault timeout@turn:0: 'turn:0': turns are whole "),
        (
            ["--fault", "http_error:429@call:3"],
            "--fault http_error:429@call:3: 'call:3' is no aim: write @turn:3, @entry:1-7, @step:x",
        ),
        (["--fault", "timeout@nth:0"], "--fault timeout@nth:0: model calls count from 1, such as "),
        (["--fault", "timeout@turn:"], "--fault timeout@turn:: 'turn:' is not a place: write "),
        (["--fault", "timeout@turn:1,turn:2"], "--fault timeout@turn:1,turn:2: 'turn:2' is said "),
        (["--fault", "timeout@attempt:x"], "--fault timeout@attempt:x: tries count from 1, such "),
        (["--fault", "timeout@tool:a,below"], "--fault timeout@tool:a,below: timeout: "),
        (["--fault", "crash:later"], "--fault crash:later: crash.when: "),
        (["--latency", "slow"], "--latency slow: write none, recorded, constant:250 or normal:"),
        (["--latency", "constant"], "--latency constant: write none, recorded, constant:250"),
        (["--latency", "normal:-1"], "--latency normal:-1: write none, "),
        (["--latency", "normal:5:x"], "--latency normal:5:x: write none, "),
        (["--secret", "sk-Ab3dEf"], "--secret takes the name of an environment variable that "),
        (["--simulate", "refund"], "--simulate refund: write TOOL=MODULE:FUNCTION"),
        (["--tools-after", "simulate"], "--tools-after simulate: say what runs instead of each "),
        (
            ["--tools-after", "allow", "--simulate", "refund=shop:refund"],
            "--simulate gives what runs instead of tools, and --tools-after allow does not ask ",
        ),
        (
            ["--live-from", "turn:2", "--match", "position"],
            "--match position goes with a replay that serves everything: leave --live-from and ",
        ),
        (
            ["--live-from", "call:3"],
            "'call:3' is not a place: write turn:3, entry:1-7 or step:x (a step of that name is ",
        ),
        (["--fault", "{nope"], "--fault: this is not JSON ("),
        (
            ["--live-from", "3"],
            "'3' is not a place: write turn:3, entry:1-7, step:x or a step's name",
        ),
        (["--ignore", "/body"], "--ignore /body: write API:/pointer, such as "),
    ],
)
def test_a_word_that_cannot_be_read(recorded_once: object, words: list[str], text: str) -> None:
    """Each option says what can be written there, in one line."""
    ran = here("replay", str(recorded_once), *words)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"workbench: {text}")
    assert len(ran.err.splitlines()) == 1
