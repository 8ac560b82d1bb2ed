"""Comparing two traces: by what happened, the first divergence as the headline."""

import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from runmaker import Ran, RunMaker, email, order, refund

from workbench.trace import fingerprint
from workbench.trace.diff import Diff, diff
from workbench.trace.entries import ErrorInfo
from workbench.trace.trace import Entry, Trace

USAGE: dict[str, int | None] = {"input_tokens": 100, "output_tokens": 10}


def kinds(found: Diff) -> list[tuple[str, int | None, int | None]]:
    """The rows that differ: kind and the two turns."""
    return [(row.kind, row.turn_a, row.turn_b) for row in found.rows if row.kind != "same"]


def doubled() -> Trace:
    """Refunds the same order twice."""
    run = (
        RunMaker("doubled", ids="a").turn("", order(), usage=USAGE).turn("", refund(), usage=USAGE)
    )
    return run.turn("", refund(), usage=USAGE).turn("Refunded twice.").end({"status": "stuck"})


def mended() -> Trace:
    """The same up to turn 3, where it writes to the customer instead."""
    run = RunMaker("mended", ids="b").turn("", order(), usage=USAGE).turn("", refund(), usage=USAGE)
    return run.turn("", email(), usage=USAGE).turn("Refunded.").end({"status": "ok"})


def test_the_first_divergence_is_the_headline() -> None:
    """Turns 1 and 2 are the same although every id differs; turn 3 is where it went another way."""
    found = diff(doubled(), mended())
    assert found.first is not None
    assert (found.first.turn_a, found.first.turn_b) == (3, 3)
    assert str(found.first) == "turn 3: refund → send_email"
    assert str(found).splitlines()[0] == "first divergence: turn 3: refund → send_email"
    assert [(row.kind, row.turn_a, row.turn_b) for row in found.rows] == [
        ("same", 1, 1),
        ("same", 2, 2),
        ("changed", 3, 3),
        ("changed", 4, 4),
    ]
    assert found.rows[3].what == ("text: “Refunded twice.” → “Refunded.”",)


def test_outcome_counts_cost_and_time_stand_side_by_side() -> None:
    """What a person asks after `where`: how did it end, and what did it take."""
    found = diff(doubled(), mended())
    assert [each.status for each in found.outcome] == ["ok", "ok"]
    assert [each.output for each in found.outcome] == [{"status": "stuck"}, {"status": "ok"}]
    assert found.turn_counts == (4, 4)
    assert found.tool_counts == {"get_order": (1, 1), "refund": (2, 1), "send_email": (0, 1)}
    assert [each.amount for each in found.cost] == [Decimal("0.000063")] * 2
    assert [each.complete for each in found.cost] == [False, False]
    assert found.duration[0] is not None
    lines = str(found).splitlines()
    assert '  outcome: ok · {"status":"stuck"} → ok · {"status":"ok"}' in lines
    assert "  refund: 2× → 1×" in lines
    assert "  cost: at least $0.000063" in lines


def test_a_dropped_turn_shifts_nothing_after_it() -> None:
    """Compared by content: one refund less is one row, not three."""
    a = RunMaker("a").turn("", order()).turn("", refund()).turn("", email()).turn("Done.").end()
    b = RunMaker("b").turn("", order()).turn("", email()).turn("Done.").end()
    assert kinds(diff(a, b)) == [("dropped", 2, None)]
    assert kinds(diff(b, a)) == [("inserted", None, 2)]
    assert str(diff(a, b).first) == "turn 2: only in a: refund"
    assert str(diff(b, a).first) == "turn 2: only in b: refund"


def test_a_moved_turn_is_no_loss_and_no_gain() -> None:
    """The same e-mail, sent earlier."""
    a = RunMaker().turn("", order()).turn("", refund()).turn("", email()).turn("Done.").end()
    b = RunMaker().turn("", email()).turn("", order()).turn("", refund()).turn("Done.").end()
    assert kinds(diff(a, b)) == [("moved", 3, 1)]
    assert str(diff(a, b).first) == "turn 3 (1 in b): moved: send_email"


def test_changed_arguments_are_named_with_both_values() -> None:
    """The amount, and nothing else, is what a person has to see."""
    a = RunMaker().turn("", refund(149.99)).end()
    b = RunMaker().turn("", refund(20.0)).end()
    assert str(diff(a, b).first) == "turn 1: refund.amount: 149.99 → 20.0"


def test_a_changed_tool_result_is_found_where_the_reply_is_the_same() -> None:
    """The world answered differently: the model is not to blame."""
    a = RunMaker().turn("", order()).turn("Done.").end()
    late = Ran("get_order", {"order_id": 101}, error=ErrorInfo(type="TimeoutError", message="slow"))
    b = RunMaker().turn("", late).turn("Done.").end()
    found = diff(a, b)
    expected = 'turn 1: get_order: {"total":149.99} → failed (TimeoutError: slow)'
    assert str(found.first) == expected
    assert kinds(found) == [("changed", 1, 1)]


def test_a_changed_system_prompt_is_the_first_divergence() -> None:
    """Nothing before it differs, so it is the cause; the rest of the requests follows from it."""
    a = RunMaker(system="Refund once.").turn("", order()).turn("", refund()).turn("Ok.").end()
    b = RunMaker(system="Refund.").turn("", order()).turn("", refund()).turn("Ok.").end()
    found = diff(a, b)
    assert str(found.first) == "turn 1: request: message 1 (system) changed (text)"
    assert kinds(found) == [("changed", 1, 1)]
    assert not found.same


def test_context_that_is_injected_later_is_told_apart_from_what_follows() -> None:
    """After the runs parted, a new message of the user is still a difference of its own."""
    a = RunMaker().turn("", refund(1.0)).turn("", order()).turn("Ok.").end()
    run = RunMaker().turn("", refund(2.0)).say("user", "Hurry up.").turn("", order())
    found = diff(a, run.turn("Ok.").end())
    assert [row.what for row in found.rows] == [
        ("refund.amount: 1.0 → 2.0",),
        ("request: message injected (user): Hurry up.",),
        (),
    ]


def test_a_model_s_error_is_a_decision_like_any_other() -> None:
    """A run that fails at turn 2 is named by the error."""
    limited = ErrorInfo(type="RateLimitError", message="req_81", status=429)
    a = RunMaker().turn("", order()).turn("Ok.").end()
    b = RunMaker().turn("", order()).turn(error=limited).end(status="failed", error=limited)
    assert str(diff(a, b).first) == "turn 2: “Ok.” → RateLimitError 429"


def test_request_ids_in_an_error_s_text_do_not_count() -> None:
    """Two rate limits are the same rate limit."""
    first, second = (
        RunMaker().turn(error=ErrorInfo(type="RateLimitError", message=text, status=429)).end()
        for text in ("req_1", "req_2")
    )
    assert diff(first, second).same


def test_only_the_outcome_differs() -> None:
    """All turns are the same, and the agent still returned something else."""
    a, b = RunMaker().turn("Ok.").end({"n": 1}), RunMaker().turn("Ok.").end({"n": 2})
    assert str(diff(a, b).first) == 'outcome: ok · {"n":1} → ok · {"n":2}'


def test_what_is_no_turn_is_compared_as_well() -> None:
    """An event with other data, and one that is missing, are differences."""
    a = RunMaker().turn("Ok.").event("answered", {"n": 1}).event("sent", None).end()
    b = RunMaker().turn("Ok.").event("answered", {"n": 2}).end()
    texts = [row.text for row in diff(a, b).rows if row.kind != "same"]
    assert texts == [
        'between turns: event answered: {"n":1} → {"n":2}',
        "between turns: only in a: event sent",
    ]


def test_data_and_page_say_the_same_and_markup_stays_text() -> None:
    """A trace is untrusted: its text never becomes part of the page."""
    evil = "<script>alert(1)</script>"
    a, b = RunMaker().turn("Ok.").end(), RunMaker().turn(evil).end(evil)
    found = diff(a, b)
    data = found.to_json()
    assert data["same"] is False
    assert data["first"] == {
        "turn_a": 1, "turn_b": 1, "text": f"turn 1: text: “Ok.” → “{evil}”",
    }  # fmt: skip
    assert data["outcome"][1]["output"] == evil
    page = found._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_a_replayed_turn_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a fork took from its parent is known to be the same: only the rest is opened."""
    a = RunMaker("a", trace_id="p").turn("", order()).turn("Ok.").end()
    served = Ran("get_order", {"order_id": 101}, {"total": 149.99}, source="replayed", origin="1-2")
    run = RunMaker("b", parent="p").turn("", served, source="replayed", origin="1-1")
    b = run.turn("Fine.").end()
    read: list[tuple[str, int]] = []
    real = fingerprint._read

    def noting(entry: Entry) -> fingerprint.Mark:
        read.append((str(entry.trace.name), entry.seq))
        return real(entry)

    monkeypatch.setattr(fingerprint, "_read", noting)
    assert str(diff(a, b).first) == "turn 2: text: “Ok.” → “Fine.”"
    assert read == [("a", 1), ("a", 2), ("a", 3), ("b", 3)]


arguments = st.dictionaries(st.sampled_from("abc"), st.integers() | st.text(max_size=3), max_size=2)
results = st.none() | st.floats() | st.text(max_size=4) | st.tuples(st.integers())
calls = st.builds(
    Ran, st.sampled_from(["get_order", "refund", "x"]), arguments, results, run=st.booleans()
)
turns = st.lists(st.tuples(st.text(max_size=4), st.lists(calls, max_size=2)), max_size=6)


def made(script: list[tuple[str, list[Ran]]], ids: str, output: Any) -> Trace:
    """A run of a script."""
    run = RunMaker(ids=ids)
    for text, tools in script:
        run.turn(text, *tools)
    return run.end(output)


@settings(max_examples=60, deadline=None)
@given(script=turns, output=results)
def test_a_run_made_twice_has_no_drift(script: list[tuple[str, list[Ran]]], output: Any) -> None:
    """Against itself, and against a twin with other ids, nothing differs: NaN and all."""
    a, b = made(script, "a", output), made(script, "b", output)
    assert diff(a, a).same
    assert diff(a, b).same
    assert {row.kind for row in diff(a, b).rows} <= {"same"}


@settings(max_examples=60, deadline=None)
@given(first=turns, second=turns)
def test_every_turn_of_either_has_its_row(
    first: list[tuple[str, list[Ran]]], second: list[tuple[str, list[Ran]]]
) -> None:
    """No turn is lost or told twice, whatever the two runs are."""
    found = diff(made(first, "a", None), made(second, "b", None))
    in_a = [row.turn_a for row in found.rows if row.turn_a is not None]
    in_b = [row.turn_b for row in found.rows if row.turn_b is not None]
    assert sorted(in_a) == list(range(1, len(first) + 1))
    assert in_b == list(range(1, len(second) + 1))


def long_run(ids: str, special: int) -> Trace:
    """Ten thousand turns, most of them alike, one of them special."""
    run = RunMaker(ids=ids)
    for number in range(10_000):
        run.messages = run.messages[:2]
        run.turn("", email() if number == special else refund() if number % 3 else order(number))
    return run.end()


@pytest.mark.slow
def test_ten_thousand_turns_are_aligned() -> None:
    """A long run with many equal turns is compared in seconds, exactly where it differs."""
    a, b = long_run("a", 4000), long_run("b", 7000)
    begin = time.perf_counter()
    found = diff(a, b)
    print(f"diff of 10,000 turns: {time.perf_counter() - begin:.2f} s")
    assert [row.text for row in found.rows if row.kind != "same"] == [
        "turn 4001: send_email → refund",
        "turn 7001: refund → send_email",
    ]
