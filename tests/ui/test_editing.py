"""Changing a turn: by the page's forms and by Python, with undo, and refused with a reason."""

from __future__ import annotations

from typing import Any

import pytest

from workbench import EditError, Workbench, turn
from workbench.faults import HttpError, Timeout
from workbench.trace.faults import FAULT_TYPES
from workbench.trace.trace import Trace

CALL = {"name": "send_email", "arguments": {"to": "ada@example.com"}}
REPLY = {"type": "reply", "at": {"kind": "turn", "value": 3}, "tool_calls": [CALL]}
FAULT = {
    "type": "fault",
    "fault": {
        "type": "http_error",
        "status_code": 429,
        "aim": {"place": {"kind": "turn", "value": 2}},
    },
}


def test_an_edit_by_the_page_is_the_edit_by_python(made: Trace, ask: Any) -> None:
    """Each click has its call: both doors lead to the same list."""
    clicked, called = Workbench(made), Workbench(made)
    answer = ask(clicked, "edit", edit=REPLY)
    called.reply(3, tool_call=("send_email", {"to": "ada@example.com"}))
    assert clicked.edits.to_json() == called.edits.to_json()
    assert answer["preview"] == called.edits.preview()
    assert answer["problems"] == []
    assert clicked.widget.edits == [
        {
            "index": 0,
            "kind": "reply",
            "turn": 3,
            "text": 'turn 3 · reply → send_email( to="ada@example.com", )',
        }
    ]


def test_what_looks_wrong_is_said_and_allowed(made: Trace, ask: Any) -> None:
    """A call without a needed argument is what models do; the page warns and lets it be."""
    call = {"name": "send_email", "arguments": {"text": "hello"}}
    answer = ask(Workbench(made), "edit", edit={**REPLY, "tool_calls": [call]})
    assert any("to" in warning for warning in answer["warnings"])


def test_faults_come_from_their_own_forms(made: Trace, ask: Any) -> None:
    """The form is made from the fault's model, and what it sends is that model."""
    bench = Workbench(made)
    forms = bench.widget.fault_forms
    assert set(forms) == set(FAULT_TYPES) - {"crash"}
    assert forms["http_error"]["properties"]["status_code"]["minimum"] == 400
    assert forms["http_error"]["kinds"] == ["model", "tool"]
    assert forms["tool_error"]["properties"]["message"]["description"] == "What the error says."
    ask(bench, "edit", edit=FAULT)
    bench.fault(Timeout().at(tool="refund", nth=2))
    assert bench.edits.faults() == [
        HttpError(429).at(turn(2)),
        Timeout().at(tool="refund", nth=2),
    ]
    assert [line["kind"] for line in bench.widget.edits] == ["fault", "fault"]


def test_undo_redo_and_clear(made: Trace, ask: Any) -> None:
    """Clear can be undone, so no work by hand is lost; a new change ends what can be redone."""
    bench = Workbench(made)

    def state() -> tuple[int, bool, bool]:
        return len(bench.edits), bench.widget.can["undo"], bench.widget.can["redo"]

    ask(bench, "edit", edit=REPLY)
    ask(bench, "edit", edit=FAULT)
    ask(bench, "undo")
    assert state() == (1, True, True)
    ask(bench, "redo")
    assert state() == (2, True, False)
    ask(bench, "clear")
    assert state() == (0, True, False)
    ask(bench, "undo")
    assert state() == (2, True, True)
    bench.undo()
    bench.tool_result(2, {"refund_id": None})
    assert state() == (2, True, False)
    for _ in range(5):
        bench.undo()
    assert state() == (0, False, True)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({**REPLY, "at": {"kind": "turn", "value": 9}}, "turns 1 to 5"),
        ({"type": "reply", "at": {"kind": "turn", "value": 3}}, "changes the text, the tool calls"),
        ({"type": "wish"}, "'reply', 'tool_result', 'fault'"),
        ({"type": "tool_result", "at": {"kind": "turn", "value": 5}}, "called no tool"),
        ({**FAULT, "fault": {"type": "http_error", "status_code": 200}}, "status_code"),
        (None, "type"),
    ],
)
def test_an_edit_that_cannot_be_is_refused_with_the_reason(
    made: Trace, refused: Any, edit: Any, words: str
) -> None:
    """The page shows why, and the list stays as it was."""
    bench = Workbench(made)
    assert words in refused(bench, "edit", edit=edit)
    assert words in bench.error
    assert len(bench.edits) == 0
    assert bench.widget.can["undo"] is False


def test_an_edit_that_breaks_a_pair_is_refused(made: Trace, refused: Any, ask: Any) -> None:
    """A result for a call that the edited reply no longer makes would poison the conversation."""
    bench = Workbench(made)
    ask(bench, "edit", edit=REPLY)
    result = {"type": "tool_result", "at": {"kind": "turn", "value": 3}, "result": "x"}
    text = refused(bench, "edit", edit=result)
    assert "no longer calls 'refund'" in text
    assert "drop one of the two edits" in text
    with pytest.raises(EditError, match="no longer calls"):
        bench.tool_result(3, "x")


def test_a_correct_edit_takes_the_alert_away(made: Trace, refused: Any, ask: Any) -> None:
    """An alert about something that has been put right is no longer true."""
    bench = Workbench(made)
    refused(bench, "edit", edit=None)
    assert bench.error
    ask(bench, "edit", edit=REPLY)
    assert bench.error == ""


def test_the_preview_says_what_was_and_what_is_said_instead(made: Trace, ask: Any) -> None:
    """The difference is seen before anything runs."""
    bench = Workbench(made)
    assert ask(bench, "preview") == {"text": "no edits", "rows": []}
    ask(bench, "edit", edit=REPLY)
    preview = ask(bench, "preview")
    assert "- refund(" in preview["text"]
    assert '+   to="ada@example.com",' in preview["text"]
    assert preview["rows"][0]["turn"] == 3


def test_the_python_of_the_edits_makes_the_same_edits(made: Trace, tmp_path: Any) -> None:
    """Copy Python: what it gives is run here, and makes the very same list."""
    path = made.save(tmp_path / "made.trace.jsonl")
    bench = Workbench(path)
    bench.reply(3, text='it\'s "done"\n', tool_calls=[])
    bench.tool_result(2, {"at": (1, 2), "raw": b"\x00"}, tool="refund")
    bench.fault(HttpError(429, retry_after_s=2).at(turn(4), times=2))
    names: dict[str, Any] = {}
    script = bench.python.replace("print(edits.preview())", "")
    exec(script, names)  # noqa: S102 - this very text is what the page offers to copy
    assert names["edits"].to_json() == bench.edits.to_json()
