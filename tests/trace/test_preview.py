"""What edits change, shown before anything runs."""

import pytest
from runmaker import Ran, RunMaker, email, order, refund

from workbench.errors import EditError
from workbench.trace.entries import ErrorInfo
from workbench.trace.faults import (
    ConnectionReset,
    Fault,
    HttpError,
    StreamTruncate,
    Timeout,
    fault_sentence,
)
from workbench.trace.places import entry, step, turn
from workbench.trace.preview import preview, preview_rows
from workbench.trace.trace import Trace


def doubled() -> Trace:
    """Looks the order up and refunds it twice."""
    run = RunMaker().turn("", order()).turn("", refund()).turn("Once more.", refund())
    return run.turn("Done.").end()


def test_a_changed_tool_call_shows_what_was_and_what_is_said_instead() -> None:
    """The call of turn 3 in the shape in which one reads it, old above new."""
    edits = doubled().edit().reply(turn(3), tool_call=("send_email", {"to": "ada@example.com"}))
    assert preview(edits) == (
        "turn 3 · reply\n"
        "  Once more.\n"
        "- refund(\n"
        "-   order_id=101,\n"
        "-   amount=149.99,\n"
        "+ send_email(\n"
        '+   to="ada@example.com",\n'
        "  )"
    )
    assert edits.preview() == preview(edits)


def test_one_changed_argument_is_one_changed_line() -> None:
    """What stays is shown once."""
    arguments = {"order_id": 101, "amount": 20.0}
    edits = doubled().edit().reply(turn(2), tool_call=("refund", arguments))
    row = preview_rows(edits)[0]
    assert row["diff"] == [
        {"sign": " ", "text": "refund("},
        {"sign": " ", "text": "  order_id=101,"},
        {"sign": "-", "text": "  amount=149.99,"},
        {"sign": "+", "text": "  amount=20.0,"},
        {"sign": " ", "text": ")"},
    ]
    assert (row["type"], row["place"], row["turn"], row["entry"]) == ("reply", "turn:2", 2, "1-3")
    assert row["warnings"] == []


def test_a_text_instead_of_a_call() -> None:
    """Calls that are taken away are shown as gone."""
    edits = doubled().edit().reply(turn(3), text="I stop here.", tool_calls=[])
    assert preview(edits).splitlines()[1:4] == ["- Once more.", "- refund(", "-   order_id=101,"]
    assert preview(edits).splitlines()[-1] == "+ I stop here."


def test_a_changed_result_and_one_that_was_an_error() -> None:
    """A tool's result is changed under the tool's name; an error reads as what it was."""
    failed = Ran("get_order", {"order_id": 7}, error=ErrorInfo(type="KeyError", message="7"))
    trace = RunMaker().turn("", order()).turn("", failed).turn("Done.").end()
    edits = trace.edit().tool_result(turn(1), {"total": 5}).tool_result(turn(2), None)
    assert preview(edits) == (
        "turn 1 · result of get_order\n"
        "  {\n"
        '-   "total": 149.99\n'
        '+   "total": 5\n'
        "  }\n"
        "\n"
        "turn 2 · result of get_order\n"
        "- raised KeyError: 7\n"
        "+ null"
    )
    assert [row["tool"] for row in preview_rows(edits)] == ["get_order", "get_order"]


def test_calls_that_a_provider_would_take_and_the_agent_could_not_run_are_warned_of() -> None:
    """A typing mistake in a call is seen before a live run is paid for."""
    trace = doubled()

    def warnings(name: str, arguments: dict[str, object] | str) -> list[str]:
        return list(
            preview_rows(trace.edit().reply(turn(2), tool_call=(name, arguments)))[0]["warnings"]
        )

    assert warnings("refnd", {}) == [
        "the model was not offered a tool 'refnd' (it was offered: get_order, refund, send_email)"
    ]
    assert warnings("refund", {"order_id": "101"}) == [
        "refund needs the argument 'amount'",
        "refund's argument 'order_id' is string, and should be integer",
    ]
    assert warnings("refund", {"order_id": True, "amount": 1, "why": "?"}) == [
        "refund's argument 'order_id' is boolean, and should be integer",
        "refund knows no argument 'why'",
    ]
    assert warnings("refund", "[1]") == ["the arguments of refund are no JSON object"]
    assert warnings("refund", '{"order_id"')[0].startswith("the arguments of refund are not JSON: ")
    assert warnings("refund", {"order_id": 7.0, "amount": 1}) == []
    edits = trace.edit().reply(turn(2), tool_call=("refnd", {}))
    assert preview(edits).splitlines()[-1].startswith("! the model was not offered a tool 'refnd'")


def test_an_edit_that_changes_nothing_says_so() -> None:
    """Running on from it would be a plain repetition."""
    arguments = {"order_id": 101, "amount": 149.99}
    edits = doubled().edit().reply(turn(2), tool_call=("refund", arguments))
    assert preview_rows(edits)[0]["warnings"] == ["this edit changes nothing"]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        (HttpError(429, retry_after_s=2).at(turn(2)),
         "The model call of turn 2 fails with HTTP 429, retry after 2 s."),
        (Timeout(after_ms=500).at(tool="get_order", nth=1),
         "The 1st call of get_order times out after 500 ms."),
        (ConnectionReset(), "The first model call loses its connection."),
        (StreamTruncate(3, end="stall").at(turn(1)),
         "The model call of turn 1 sends 3 chunks of its reply, then stalls."),
        (HttpError(503).at(step("plan"), times=2),
         "The model call of step 'plan' fails with HTTP 503, 2 times."),
        (HttpError(500).at(entry("1-3"), attempt=2),
         "The model call with the id 1-3 (attempt 2) fails with HTTP 500."),
    ],
)  # fmt: skip
def test_a_fault_is_a_sentence(fault: Fault, sentence: str) -> None:
    """What will fail, where, and how, without knowing the names of the fields."""
    assert fault_sentence(fault) == sentence


def test_faults_stand_in_the_preview_with_their_place() -> None:
    """The page can mark the turn that will fail."""
    edits = doubled().edit().fault(HttpError(429).at(turn(2)))
    row = preview_rows(edits)[0]
    assert (row["turn"], row["before"], row["diff"]) == (2, None, [])
    assert preview(edits) == "turn 2 · fault\n* The model call of turn 2 fails with HTTP 429."


def test_faults_that_will_hardly_fire_are_warned_of() -> None:
    """A fault that never fires fails a strict replay; better to know before."""
    trace = doubled()
    unknown = preview_rows(trace.edit().fault(Timeout().at(tool="pay")))[0]
    assert unknown["warnings"] == ["the trace has no call of 'pay', so this may never fire"]
    plain = preview_rows(trace.edit().fault(StreamTruncate(1).at(turn(1))))[0]
    assert plain["warnings"] == ["that reply is not streamed, so the call fails at once"]


def test_no_edits_and_a_refused_one() -> None:
    """Nothing is said to be nothing; what can't be done is refused when it is made."""
    assert preview(doubled().edit()) == "no edits"
    with pytest.raises(EditError):
        doubled().edit().reply(turn(9), text="x")


def test_a_turn_with_several_calls_keeps_their_order() -> None:
    """Calls side by side are compared one below the other."""
    trace = RunMaker().turn("", order(), email()).turn("Done.").end()
    edits = trace.edit().reply(
        turn(1),
        tool_calls=[("get_order", {"order_id": 102}), ("send_email", {"to": "ada@example.com"})],
    )
    changed = [each for each in preview_rows(edits)[0]["diff"] if each["sign"] != " "]
    assert changed == [
        {"sign": "-", "text": "  order_id=101,"},
        {"sign": "+", "text": "  order_id=102,"},
    ]
