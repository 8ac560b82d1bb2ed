"""Looking at a trace: lists, turns, texts, search."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import pytest
from runmaker import Ran, RunMaker, order

from workbench import TraceError, UsageError, Workbench
from workbench.errors import PlaceError
from workbench.trace.entries import ErrorInfo
from workbench.trace.trace import Trace
from workbench.ui.clips import LIMIT


def test_a_trace_opens_on_its_first_turn_and_says_what_went_wrong(made: Trace) -> None:
    """Before anything is read, one line says what happened."""
    bench = Workbench(made)
    info = bench.widget.traces[0]
    assert (bench.selected, bench.shown, bench.turn) == (1, 0, made.turn(1))
    assert info["headline"] == "stuck · refund 3×"
    assert info["tone"] == "bad"
    assert info["tools_called"] == {"get_order": 1, "refund": 3}
    assert (info["n_turns"], info["duration_s"], info["saved"]) == (5, 4.1, False)
    assert {
        "turn": 3,
        "severity": "error",
        "text": "refund called 3 times with the same arguments",
    } in (info["findings"])
    assert bench.widget.can == {"undo": False, "redo": False, "run": False, "agent": False}


def test_rows_tell_the_story(made: Trace, ask: Any) -> None:
    """The list reads as what happened: tool names, arguments, results, and what is repeated."""
    rows = ask(Workbench(made), "rows", trace=0, start=1, stop=99)
    assert [(row["label"], row["marks"]) for row in rows] == [
        ("get_order", []),
        ("refund", []),
        ("refund", ["again"]),
        ("refund", ["again"]),
        ("All done.", []),
    ]
    assert rows[1]["summary"] == "101, 149.99 → RF-1"
    assert [row["tone"] for row in rows] == ["", "", "bad", "bad", ""]
    assert ask(Workbench(made), "rows", trace=0, start=2, stop=4) == rows[1:3]


def test_a_turn_shows_what_is_new_and_folds_the_rest(made: Trace, ask: Any) -> None:
    """What the model saw is read as the difference to the turn before."""
    turn = ask(Workbench(made), "turn", trace=0, n=3)
    assert turn["saw"]["total"] == 6
    assert (turn["saw"]["shared"], turn["saw"]["shared_with"], turn["folded"]) == (4, 2, 4)
    assert [(m["n"], m["role"], m["change"]) for m in turn["saw"]["messages"]] == [
        (5, "assistant", None),
        (6, "tool", None),
    ]
    call = turn["said"]["calls"][0]
    assert (call["name"], call["arguments"]) == ("refund", {"order_id": 101, "amount": 149.99})
    assert call["result"]["text"] == '{\n  "refund_id": "RF-2"\n}'
    assert call["again"] is True
    assert call["schema"]["required"] == ["order_id", "amount"]
    assert turn["system"]["text"] == "You help customers."
    assert turn["findings"] == ["refund called 3 times with the same arguments"]
    whole = ask(Workbench(made), "turn", trace=0, n=3, all=True)
    assert [m["role"] for m in whole["saw"]["messages"]][:2] == ["system", "user"]
    assert whole["folded"] == 0


def test_a_changed_dropped_or_injected_message_is_said(ask: Any) -> None:
    """A framework that rewrites the conversation between two turns is caught in the act."""
    maker = RunMaker("rewritten")
    maker.say("user", "It was the blue one, bought on Monday.")
    maker.turn("Which order?")
    maker.messages[1]["content"] = "Order 101 arrived broken. Be brief."
    maker.messages.insert(2, {"role": "user", "content": "Reminder: 3 calls left."})
    del maker.messages[3]
    maker.turn("Refunded.")
    turn = ask(Workbench(maker.end()), "turn", trace=0, n=2)
    assert [(m["change"], m["text"]["text"]) for m in turn["saw"]["messages"]] == [
        ("changed", "Order 101 arrived broken. Be brief."),
        ("dropped", "It was the blue one, bought on Monday."),
        ("injected", "Reminder: 3 calls left."),
        (None, "Which order?"),
    ]
    assert turn["saw"]["messages"][0]["words"][-1] == ["add", " Be brief."]


def test_the_timeline_is_float32_quadruples(made: Trace, ask: Any) -> None:
    """The page draws ten thousand calls from one small buffer."""
    bench = Workbench(made)
    _, buffers = bench._requests.answer({"id": 1, "do": "timeline", "trace": 0})
    quads = array("f", buffers[0])
    calls = [tuple(quads[i : i + 4]) for i in range(0, len(quads), 4)]
    assert [call[2] for call in calls] == [1, 1, 2, 2, 3, 3, 4, 4, 5]
    assert [call[3] for call in calls] == [0, 1, 0, 1, 0, 3, 0, 3, 0]
    assert calls[0][1] == pytest.approx(0.5)


def test_a_long_text_is_clipped_and_comes_in_pieces(ask: Any) -> None:
    """A text of a megabyte neither hangs the page nor is lost."""
    long = "".join(f"line {n}\n" for n in range(60_000))
    maker = RunMaker("long").turn("", Ran("get_order", {"order_id": 1}, long)).turn(long)
    bench = Workbench(maker.end())
    said = ask(bench, "turn", trace=0, n=2)["said"]["text"]
    assert (said["text"], said["total"]) == (long[:LIMIT], len(long))
    result = ask(bench, "turn", trace=0, n=1)["said"]["calls"][0]["result"]
    for clip in (said, result):
        pieces = [clip["text"]]
        more: dict[str, Any] = {"next": LIMIT}
        while more["next"] is not None:
            more = ask(bench, "text", trace=0, ref=clip["ref"], start=more["next"])
            pieces.append(more["text"])
        assert "".join(pieces) == long


def test_a_clipped_text_is_found_again_after_others_pushed_it_out(ask: Any) -> None:
    """The page's "show more" works however many turns were looked at in between."""
    maker = RunMaker("many")
    for number in range(30):
        maker.turn(f"{number} " + "x" * (LIMIT + 10))
    bench = Workbench(maker.end())
    first = ask(bench, "turn", trace=0, n=1)["said"]["text"]["ref"]
    for number in range(2, 31):
        ask(bench, "turn", trace=0, n=number)
    assert len(bench._desk.sheets[0]._long) < 60
    assert ask(bench, "text", trace=0, ref=first, start=0)["text"].startswith("0 xxx")


def test_the_raw_payload_is_what_was_on_the_wire(made: Trace, ask: Any) -> None:
    """Whoever doubts the view can look at the request itself."""
    raw = ask(Workbench(made), "raw", trace=0, n=2)
    assert '"content": "Order 101 arrived broken."' in raw["request"]["text"]
    assert '"finish_reason": "tool_calls"' in raw["reply"]["text"]
    assert raw["chunks"] == 0


@pytest.mark.parametrize(
    ("query", "only", "turns"),
    [
        ("rf-2", "", [3, 4]),  # said by the tool in turn 3, seen by the model in turn 4
        ("ALL DONE", "", [5]),
        ("get_order", "", [1]),
        ("nowhere", "", []),
        ("", "writes", [2, 3, 4]),
        ("", "errors", [3, 4]),
        ("rf-2", "errors", [3, 4]),
        ("", "live", []),
    ],
)
def test_search_looks_into_texts_and_filters(
    made: Trace, ask: Any, query: str, only: str, turns: list[int]
) -> None:
    """What was said, called or returned is found, in any case; marks narrow it down."""
    found = ask(Workbench(made), "search", trace=0, query=query, filter=only)
    assert found == {"turns": turns, "complete": True}


def test_the_next_error_and_the_next_step_are_found(ask: Any) -> None:
    """Stepping goes by what matters, in both directions, and says when there is no more."""
    maker = RunMaker("steps").turn("", order(), step="plan").turn("ok", step="plan")
    maker.turn(
        "", error=ErrorInfo(type="RateLimitError", message="slow down", status=429), step="do"
    )
    bench = Workbench(maker.turn("end", step="do").end())

    def go(start: int, direction: int, what: str) -> Any:
        request = {"trace": 0, "from": start, "direction": direction, "what": what}
        return ask(bench, "next", **request)["n"]

    assert (go(1, 1, "error"), go(4, -1, "error"), go(3, 1, "error")) == (3, 3, None)
    assert (go(1, 1, "step"), go(4, -1, "step")) == (3, 2)


def test_selection_is_the_same_from_both_sides(made: Trace) -> None:
    """`.selected` and `.turn` follow the page, the page follows `.select()`, nothing runs away."""
    bench = Workbench(made)
    bench.widget.set_state({"selected": 4})
    assert (bench.selected, bench.turn) == (4, made.turn(4))
    bench.select(2)
    assert bench.widget.selected == 2
    bench.widget.set_state({"selected": 99})
    assert bench.selected == 5
    bench.widget.set_state({"selected": -1})
    assert bench.selected == 1
    with pytest.raises(PlaceError, match="turns 1 to 5"):
        bench.select(6)
    with pytest.raises(UsageError, match="there is no fork 1"):
        bench.show(1)


def test_text_that_no_utf8_carries_reaches_the_page(ask: Any) -> None:
    """A lone surrogate, a huge integer: shown as they are, and the form does not round them."""
    call = Ran("get_order", {"order_id": 12345678901234567890}, "half \ud83d")
    bench = Workbench(RunMaker("odd \ud83d").turn("", call).turn("said \ud83d").end())
    turn = ask(bench, "turn", trace=0, n=1)
    assert turn["said"]["calls"][0]["arguments"] is None
    assert "12345678901234567890" in turn["said"]["calls"][0]["raw"]
    assert ask(bench, "turn", trace=0, n=2)["said"]["text"]["text"] == "said \ud83d"
    bench.widget.traces[0]["name"].encode()
    ask(bench, "rows", trace=0, start=1, stop=3)
    bench._repr_mimebundle_()[0]["text/html"].encode()


def test_an_empty_trace_opens(ask: Any) -> None:
    """A run that made no model call is shown as such."""
    bench = Workbench(RunMaker("none").end())
    assert (bench.selected, bench.turn) == (0, None)
    assert ask(bench, "rows", trace=0, start=1, stop=50) == []
    assert ask(bench, "search", trace=0, query="x", filter="")["turns"] == []


def test_a_run_cut_short_opens(ask: Any) -> None:
    """After a crash the call that was open is shown as open."""
    maker = RunMaker("killed").turn("", order())
    maker.turn("", hanging=True)
    bench = Workbench(maker.cut())
    assert bench.widget.traces[0]["status"] == "cut short"
    assert bench.widget.traces[0]["tone"] == "warn"
    assert "cut short in the middle of turn 2" in bench.widget.traces[0]["findings"][0]["text"]
    assert ask(bench, "rows", trace=0, start=2, stop=3)[0]["open"] is True
    turn = ask(bench, "turn", trace=0, n=2)
    assert (turn["open"], turn["said"]["text"], turn["said"]["calls"]) == (True, None, [])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "there is no such file"),
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "a binary file, not a trace"),
        (b"not json\n", "not JSON, so not a trace"),
        (b'{"line":"trace","format":"workbench-trace","version":99,"id":"x"}\n', "reads up to 1"),
    ],
)
def test_what_is_no_trace_is_refused_by_name(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    """The error names the file; no half-made page appears."""
    path = tmp_path / "bad.trace.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(TraceError) as caught:
        Workbench(path)
    assert "bad.trace.jsonl" in str(caught.value)
    assert words in str(caught.value)


def test_options_that_do_not_exist_are_refused(made: Trace) -> None:
    """A misspelt option says so, and what was meant; so does a value that does not exist."""
    with pytest.raises(UsageError, match=r"no option agnet=\. Did you mean agent=\?"):
        Workbench(made, agnet=print)
    with pytest.raises(UsageError, match="tools_after='perhaps': there are deny, allow, ask"):
        Workbench(made, tools_after="perhaps")  # type: ignore[arg-type]
