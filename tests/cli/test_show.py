"""`workbench show` and `workbench diff`."""

import gzip
import json
import shutil
from pathlib import Path

import pytest
from runmaker import Ran, RunMaker, email, order, refund
from shopcli import Shop, here

import workbench as wb
from workbench.trace.entries import ErrorInfo

USAGE = {"input_tokens": 1000, "output_tokens": 100}


def _stuck(path: Path) -> Path:
    """A run that refunds twice and ends without an answer."""
    run = RunMaker("stuck", path=path)
    run.turn("", order(), usage=USAGE, model="gpt-4o-mini")
    run.turn("", refund(), usage=USAGE)
    run.turn("", refund(), usage=USAGE)
    run.end({"status": "stuck"})
    return path


def test_a_run_at_a_glance(tmp_path: Path) -> None:
    """What it was, how it ended, what is wrong in it, and a line for each turn."""
    ran = here("show", str(_stuck(tmp_path / "s.trace.jsonl")))
    assert (ran.code, ran.err) == (0, "")
    lines = ran.out.splitlines()
    assert lines[0] == "stuck · stuck · refund 2×"
    assert lines[1].startswith("  3 turns · 3 tool calls · ")
    assert "$0.0006" in lines[1]  # 3 × (1000 × $0.15 + 100 × $0.60) a million
    finding = next(line for line in lines if line.startswith("  error "))
    assert "turn 3: " in finding
    assert "refund" in finding
    assert [line.split()[:4] for line in lines if line[:7].strip().isdecimal()] == [
        ["1", "600", "ms", "get_order"],
        ["2", "600", "ms", "refund"],
        ["3", "600", "ms", "refund"],
    ]


def test_one_turn(tmp_path: Path) -> None:
    """What was new to the model, what it said, and what its tools gave."""
    path = _stuck(tmp_path / "s.trace.jsonl")
    lines = here("show", str(path), "--turn", "2").out.splitlines()
    assert lines[0] == "turn 2 of 3 · gpt-4o-mini · 600 ms"
    assert 'called: refund({"order_id":101,"amount":149.99})' in lines
    assert lines[-1] == 'tool refund(order_id=101, amount=149.99) → {"ok": true}'
    assert not any("broken" in line for line in lines), "the first message is not new any more"
    assert "user: Order 101 arrived broken." in here("show", str(path), "--turn", "1").out
    ran = here("show", str(path), "--turn", "9")
    assert (ran.code, ran.err) == (2, "workbench: turn(9): the trace stuck has turns 1 to 3\n")


def test_one_entry(tmp_path: Path) -> None:
    """All that is stored of it, as it was on the wire."""
    path = _stuck(tmp_path / "s.trace.jsonl")
    entry = wb.load(path).tools("refund")[0].id
    found = here("show", str(path), "--entry", entry, "--json").json["entry"]
    assert found["request"] == {
        "name": "refund",
        "arguments": {"order_id": 101, "amount": 149.99},
    }
    assert (found["response"], found["effect"]) == ({"ok": True}, "write")
    assert '\nresponse:\n{\n  "ok": true\n}\n' in here("show", str(path), "--entry", entry).out
    assert here("show", str(path), "--entry", "9-9").err.startswith("workbench: entry('9-9'): ")


def test_raw_puts_every_request_together(tmp_path: Path) -> None:
    """Conversations are stored once; a program still gets each request whole."""
    path = _stuck(tmp_path / "s.trace.jsonl")
    lines = [json.loads(line) for line in here("show", str(path), "--raw").out.splitlines()]
    models = [line for line in lines if line["kind"] == "model"]
    assert [len(each["request"]["body"]["messages"]) for each in models] == [2, 4, 6]
    assert len(lines) == 6


def test_json_says_what_the_text_says(tmp_path: Path) -> None:
    """The document has the status, the findings and the turns."""
    found = here("show", str(_stuck(tmp_path / "s.trace.jsonl")), "--json").json
    assert (found["name"], found["status"]) == ("stuck", "ok")
    assert found["findings"][0]["kind"] == "repeated_write"
    assert found["cost_usd"] == pytest.approx(0.00063)
    assert [turn["label"] for turn in found["turns"]] == ["get_order", "refund", "refund"]


def test_a_fork_takes_as_long_as_diff_says(shop: Shop) -> None:
    """Served answers count with the time that they took when recorded, in every command."""
    shop.changed("slow.py", '"""Look an order up."""', "__import__('time').sleep(0.4)")
    shop("record", "slow.py", "--to", "a.trace.jsonl")
    shop("replay", "a.trace.jsonl", "slow.py", "--to", "b.trace.jsonl")
    shown = shop("show", "b.trace.jsonl", "--json").json["duration_s"]
    found = shop("diff", "a.trace.jsonl", "b.trace.jsonl", "--json").json
    assert shown == found["duration_s"][1]
    assert shown > (wb.load(shop.folder / "b.trace.jsonl").duration_s or 0.0) + 0.3


def test_a_page_that_stands_alone(tmp_path: Path) -> None:
    """--html writes a page, and never over a file that is there."""
    path, page = _stuck(tmp_path / "s.trace.jsonl"), tmp_path / "s.html"
    ran = here("show", str(path), "--html", str(page))
    assert (ran.code, ran.out) == (0, f"→ {page}\n")
    assert "refund" in page.read_text("utf-8")
    ran = here("show", str(path), "--html", str(page))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"workbench: {page} exists already; give another name, or --replace\n"


def test_control_characters_never_reach_the_terminal(tmp_path: Path) -> None:
    """A trace is untrusted: what a model said cannot clear the screen or fake a line."""
    run = RunMaker("evil\x1b[2J", path=tmp_path / "e.trace.jsonl")
    run.turn("\x1b]0;owned\x07 hi \u202e there", Ran("t\x9b31m", {"a": "\x1b[A"}, "\x1b[B"))
    run.end("\x1b[1m")
    for words in ([], ["--turn", "1"], ["--entry", "1-1"], ["--raw"]):
        out = here("show", str(tmp_path / "e.trace.jsonl"), *words).out
        assert not set(out) & set("\x1b\x07\x9b\u202e"), words
    assert "\\x1b[2J" in here("show", str(tmp_path / "e.trace.jsonl")).out


def test_a_damaged_trace_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    """One broken line costs what was on it, and the viewer says which line."""
    path = _stuck(tmp_path / "s.trace.jsonl")
    lines = path.read_bytes().splitlines(keepends=True)
    lines[4] = b'{"line":"call", broken\n'
    path.write_bytes(b"".join(lines))
    for words in ([], ["--turn", "1"], ["--raw"], ["--json"]):
        assert here("show", str(path), *words).code == 0, words
    assert "damaged: " in here("show", str(path)).out
    assert "line 5" in here("show", str(path)).out


def test_a_run_that_failed_before_its_first_call(tmp_path: Path) -> None:
    """Nothing recorded but the error is still something to show."""
    run = RunMaker("early", path=tmp_path / "f.trace.jsonl")
    run.end(None, "failed", ErrorInfo(type="KeyError", message="'plan'"))
    ran = here("show", str(tmp_path / "f.trace.jsonl"))
    assert ran.code == 0
    assert "  KeyError: 'plan'\n" in ran.out
    assert ran.out.endswith("  no turns were recorded\n")


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("empty", b"", "empty"),
        ("binary", bytes(range(256)), "not"),
        ("text", b"hello\n", "not JSON, so not a trace: it begins with 'hello'"),
        ("json", b'{"a": 1}\n', "trace"),
        (
            "newer",
            b'{"line":"trace","format":"workbench-trace","version":99,"id":"x"}\n',
            "99",
        ),
        (
            "zipped",
            gzip.compress(b"hello", mtime=0)[:-9],
            "not JSON, so not a trace: it begins with",
        ),
    ],
)
@pytest.mark.parametrize("command", [["show"], ["replay"], ["fork", "--live-from", "turn:1"]])
def test_a_file_that_is_no_trace(
    tmp_path: Path, command: list[str], name: str, data: bytes, text: str
) -> None:
    """One line that says what the file is, and exit code 2, whatever the command."""
    path = tmp_path / name
    path.write_bytes(data)
    ran = here(*command, str(path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"workbench: {path}")
    assert text in ran.err
    assert len(ran.err.splitlines()) == 1


def test_errors_as_json_and_with_a_traceback(tmp_path: Path) -> None:
    """A program gets the error as a document; --debug shows a developer where it came from."""
    path = str(tmp_path / "nope.trace.jsonl")
    ran = here("show", path, "--json")
    assert ran.code == 2
    assert ran.json["error"]["type"] == "TraceNotFoundError"
    assert path in ran.json["error"]["message"]
    with pytest.raises(wb.TraceError):
        here("show", path, "--debug")


def test_the_same_trace_has_no_difference(tmp_path: Path) -> None:
    """Exit code 0 means the same, in text and in JSON."""
    path = _stuck(tmp_path / "a.trace.jsonl")
    shutil.copy(path, tmp_path / "b.trace.jsonl")
    ran = here("diff", str(path), str(tmp_path / "b.trace.jsonl"))
    assert (ran.code, ran.out.splitlines()[0]) == (0, "no difference")
    ran = here("diff", str(path), str(tmp_path / "b.trace.jsonl"), "--json")
    assert (ran.code, ran.json["same"]) == (0, True)


def test_a_difference_is_exit_code_1(tmp_path: Path) -> None:
    """The first divergence comes first, and a shell script can branch on the code."""
    path = _stuck(tmp_path / "a.trace.jsonl")
    run = RunMaker("other", path=tmp_path / "b.trace.jsonl")
    run.turn("", order(), usage=USAGE).turn("", email(), usage=USAGE).turn("Done.").end("ok")
    ran = here("diff", str(path), str(tmp_path / "b.trace.jsonl"))
    assert ran.code == 1
    assert ran.out.splitlines()[0] == "first divergence: turn 2: refund → send_email"
    found = here("diff", str(path), str(tmp_path / "b.trace.jsonl"), "--json")
    assert (found.code, found.json["first"]["turn_a"]) == (1, 2)


def test_text_fits_the_stream() -> None:
    """What a stream cannot write is written in ASCII."""
    from workbench.cli.output import fitting

    assert fitting("a → b · “c” é", "ascii") == 'a -> b | "c" \\xe9'
    assert fitting("a → b", "utf-8") == "a → b"
    assert fitting("é → ☃", "latin-1") == "é -> \\u2603"


def test_a_part_of_a_trace_is_no_crash(shop: Shop, recorded: str) -> None:
    """What was cut off on purpose is told as that; nobody looks for a process that died."""
    wb.load(shop.folder / recorded).trim(last=wb.turn(1)).save(shop.folder / "p.trace.jsonl")
    ran = shop("show", "p.trace.jsonl")
    assert ran.code == 0
    assert "  it ends before that run did" in ran.out.splitlines()
    assert "died" not in ran.out
