"""What is found wrong with a run, the worst first, and what is not."""

import time

import pytest
from runmaker import Ran, RunMaker, email, order, refund

from workbench.trace.entries import ChunkLine, ErrorInfo, ResultLine
from workbench.trace.findings import Finding, again, findings, headline
from workbench.trace.trace import Trace

NO_ORDER = ErrorInfo(type="LookupError", message="no such order 7")


def texts(trace: Trace) -> list[str]:
    """The sentences, in order."""
    return [each.text for each in findings(trace)]


def test_a_run_that_went_well_has_no_findings() -> None:
    """A clean run is shown clean, so that a mark means something."""
    trace = RunMaker().turn("", order()).turn("", refund()).turn("Done.").end({"status": "ok"})
    assert findings(trace) == []
    assert headline(trace) == "ok"


def test_a_repeated_refund_is_the_headline() -> None:
    """The doubled write outranks the status that it led to, and points at the second call."""
    run = RunMaker().turn("", order())
    for _ in range(6):
        run.turn("", refund())
    trace = run.end({"status": "stuck", "reason": "turn limit"})
    found = findings(trace)
    assert found[0] == Finding(
        "repeated_write",
        "error",
        3,
        trace.tools("refund")[1].id,
        "refund called 6 times with the same arguments",
        "refund 6×",
    )
    assert texts(trace)[1:] == ["ends with status stuck: turn limit"]
    assert headline(trace) == "stuck · refund 6×"
    assert again(trace) == {each.id for each in trace.tools("refund")[1:]}


def test_refunds_of_other_amounts_are_no_repeat() -> None:
    """Only equal arguments repeat."""
    trace = RunMaker().turn("", refund(1.0)).turn("", refund(2.0)).turn("Done.").end()
    assert findings(trace) == []
    assert again(trace) == set()


def test_a_write_tried_again_after_it_failed_is_no_repeat() -> None:
    """A retry is what a failure asks for."""
    failed = Ran("refund", {"order_id": 101, "amount": 149.99}, error=ErrorInfo(type="Timeout"))
    trace = RunMaker().turn("", failed).turn("", refund()).turn("Done.").end()
    assert texts(trace) == ["refund failed: Timeout"]
    assert again(trace) == set()


@pytest.mark.parametrize(
    ("times", "effect", "count"), [(2, "read", 0), (3, "read", 1), (2, None, 1)]
)
def test_reads_may_repeat_a_little_and_unknown_tools_may_not(
    times: int, effect: str | None, count: int
) -> None:
    """A tool that does not say what it does counts as one that writes."""
    run = RunMaker()
    for _ in range(times):
        run.turn("", Ran("poll", {"id": 1}, "pending", effect=effect))
    assert len(findings(run.turn("Done.").end())) == count


def test_an_ignored_tool_error_names_what_ran_all_the_same() -> None:
    """A refund after a failed look-up is an invented order, which is what went wrong."""
    failed = Ran("get_order", {"order_id": 7}, error=NO_ORDER)
    trace = RunMaker().turn("", failed).turn("", refund()).turn("Done.").end()
    assert findings(trace) == [
        Finding(
            "ignored_error",
            "error",
            1,
            trace.tools("get_order")[0].id,
            "tool error ignored: get_order failed (no such order 7), then refund ran",
            "get_order error ignored",
        )
    ]
    assert headline(trace) == "ok · get_order error ignored"


def test_an_error_that_a_tool_returned_counts_like_one_it_raised() -> None:
    """Many tools answer with an error object; the model may ignore that as well."""
    failed = Ran("get_order", {"order_id": 7}, {"error": "no such order 7"})
    trace = RunMaker().turn("", failed).turn("I can't find it.").end()
    assert texts(trace) == ["get_order failed: no such order 7"]


def test_an_error_that_was_mended_is_not_ignored() -> None:
    """Looking up the right order after the wrong one is a mended error."""
    failed = Ran("get_order", {"order_id": 7}, error=NO_ORDER)
    trace = RunMaker().turn("", failed).turn("", order()).turn("", refund()).turn("Done.").end()
    assert texts(trace) == ["get_order failed: no such order 7"]
    assert findings(trace)[0].severity == "warning"


def test_a_failed_model_call_says_which_error() -> None:
    """The class and the status tell a rate limit from a bad request."""
    limited = ErrorInfo(type="RateLimitError", message="slow down", status=429)
    trace = RunMaker().turn(error=limited).end(status="failed", error=limited)
    assert texts(trace) == [
        "model call failed: RateLimitError 429",
        "agent raised RateLimitError: slow down",
    ]
    assert headline(trace) == "failed · RateLimitError 429"


def test_a_model_call_that_was_tried_again_is_a_warning() -> None:
    """A retry that worked did no harm."""
    limited = ErrorInfo(type="RateLimitError", status=429)
    trace = RunMaker().turn(error=limited).turn("Done.").end()
    found = findings(trace)
    assert [each.severity for each in found] == ["warning"]
    assert found[0].text == "model call failed: RateLimitError 429, then tried again"


def test_a_cut_stream_counts_its_chunks() -> None:
    """A reply that broke off is not a short reply."""
    run = RunMaker()
    entry = run.ask()
    for text in ("Your ", "order ", "is "):
        data = {"choices": [{"index": 0, "delta": {"content": text}}]}
        run.journal.append(ChunkLine(of=entry, offset_s=0.1, data=data))
    run.journal.append(ResultLine(of=entry, ended="cut"))
    assert texts(run.end()) == ["stream cut after 3 chunks"]


def test_a_killed_run_says_where_it_was() -> None:
    """The turn in which the process died is the place to look at."""
    run = RunMaker().turn("", order()).turn("", Ran("refund", {"order_id": 101}, hanging=True))
    assert texts(run.cut()) == ["cut short in the middle of turn 2"]
    assert headline(run.cut()) == "cut short"
    assert texts(RunMaker().turn("", order()).cut()) == ["cut short after turn 1"]
    assert texts(RunMaker().cut()) == ["cut short before the first turn"]


def test_an_agent_that_raised_is_quoted_on_one_line() -> None:
    """A long text with line breaks still fits into a list."""
    error = ErrorInfo(type="ValueError", message="bad\n" + "x" * 500)
    text = texts(RunMaker().turn("Hm.").end(status="failed", error=error))[0]
    assert text.startswith("agent raised ValueError: bad xxx")
    assert len(text) == 160
    assert "\n" not in text


@pytest.mark.parametrize(
    ("output", "severities"),
    [
        ({"status": "completed"}, []),
        ({"status": "OK"}, []),
        ({"status": "max_turns"}, ["error"]),
        ({"status": "refunded"}, ["info"]),
        ({"status": None}, []),
        ({}, []),
        ("stuck", []),
        (None, []),
    ],
)
def test_the_status_in_the_output_is_read(output: object, severities: list[str]) -> None:
    """A word that is not known to be bad is told, and alarms nobody."""
    trace = RunMaker().turn("Done.").end(output)
    assert [each.severity for each in findings(trace)] == severities


def test_calls_that_no_tool_could_run_are_named() -> None:
    """An invented tool and broken arguments explain a turn in which nothing ran."""
    trace = (
        RunMaker()
        .turn("", Ran("delete_all", {}, run=False))
        .turn("", Ran("refund", '{"order_id": ', run=False))
        .turn("Done.")
        .end()
    )
    found = findings(trace)
    assert [(each.kind, each.turn) for each in found] == [("unknown_tool", 1), ("bad_arguments", 2)]
    assert found[0].text == "unknown tool called: delete_all"
    assert found[1].text.startswith("arguments of refund are not JSON: ")


def test_an_injected_fault_is_told_and_blamed_on_nobody() -> None:
    """A fault is no real error: it is marked as put there."""
    error = ErrorInfo(type="RateLimitError", status=429)
    fault = {"type": "http_error", "status_code": 429}
    trace = RunMaker().turn(error=error, source="fault", fault=fault).turn("Done.").end()
    assert [(each.severity, each.text) for each in findings(trace)] == [
        ("info", "injected into model call: http error")
    ]
    assert headline(trace) == "ok"


def test_ten_thousand_turns_are_read_from_their_heads() -> None:
    """A long run's list is bounded in what it opens, and says where it stopped looking."""
    run = RunMaker()
    for number in range(3000):
        run.messages = run.messages[:2]
        run.turn("", Ran("get_order", {"order_id": number}, {"total": 1}))
    trace = run.end()
    begin = time.perf_counter()
    assert texts(trace) == ["only the first 1,000 tool results were searched for errors"]
    print(f"findings of 3,000 turns: {time.perf_counter() - begin:.2f} s")


def test_a_clean_email_is_not_a_repeat_of_another() -> None:
    """Two customers get a message each."""
    trace = RunMaker().turn("", email("a@example.com"), email("b@example.com")).turn("Ok.").end()
    assert findings(trace) == []
