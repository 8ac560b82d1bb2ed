"""Edits as they are written after ``--edit``: the short forms of a request's messages."""

import json

import pytest

from workbench.cli.edit_words import read_edits
from workbench.errors import UsageError
from workbench.trace.edits import InsertEdit, MessageEdit, NewTurn, RequestEdit


def test_messages_in_short() -> None:
    """By number, a text or a role and a text; written out and short ones go together."""
    edit = {
        "type": "request", "at": "turn:2", "replace": {"-1": ["system", "Stop."], "2": "Order 7."},
        "append": ["Think.", ["user", "Twice."], {"role": "user", "content": "Thrice."}],
        "drop": [3], "messages": [{"op": "insert", "number": 1, "text": "First."}],
    }  # fmt: skip
    (made,) = read_edits([json.dumps(edit)])
    assert isinstance(made, RequestEdit)
    assert made.messages == (
        MessageEdit(op="insert", number=1, text="First."),
        MessageEdit(op="replace", number=-1, role="system", text="Stop."),
        MessageEdit(op="replace", number=2, text="Order 7."),
        MessageEdit(op="drop", number=3),
        MessageEdit(op="insert", text="Think."),
        MessageEdit(op="insert", role="user", text="Twice."),
        MessageEdit(op="insert", message={"role": "user", "content": "Thrice."}),
    )


def test_a_turn_to_put_in() -> None:
    """Its calls are written in full, since it is a recorded thing and no change of one."""
    call = {"name": "refund", "arguments": {"amount": 1}}
    what = {"kind": "turn", "text": "Hm.", "tool_calls": [call], "results": [None]}
    (made,) = read_edits([json.dumps({"type": "insert", "at": "entry:1-3", "what": what})])
    assert isinstance(made, InsertEdit)
    assert isinstance(made.what, NewTurn)
    assert (made.where, made.what.results, made.what.text) == ("after", [None], "Hm.")


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ({"replace": ["x"]}, 'replace is {"2": "text"}'),
        ({"replace": {"two": "x"}}, 'replace is {"2": "text"}'),
        ({"append": [7]}, 'append is ["text"]'),
        ({"drop": [0]}, "there is no message 0"),
        ({"messages": [{"op": "drop", "nubmer": 1}]}, "did you mean 'number'?"),
        ({"sytem": "x"}, "there is no key 'sytem', did you mean 'system'?"),
        ({"what": {}}, "there is no key 'what'"),
    ],
)
def test_what_is_no_request_edit(edit: dict[str, object], words: str) -> None:
    """The error names the key, and what may be written there."""
    with pytest.raises(UsageError) as caught:
        read_edits([json.dumps({"type": "request", "at": "turn:1", **edit})])
    assert words in str(caught.value)
    assert str(caught.value).startswith("--edit: ")


def test_what_cannot_be_put_in() -> None:
    """The keys of a new thing are named by its kind."""
    what = {"kind": "event", "type": "seen"}
    with pytest.raises(UsageError, match="event: there is no key 'type'; the keys are kind, event"):
        read_edits([json.dumps({"type": "insert", "at": "turn:1", "what": what})])
