"""Which conversations a provider would refuse, and what the user is told about them."""

import pytest

from workbench.trace.payloads import Message, ToolCall, check_pairs


def _asks(*ids: str | None, name: str = "refund") -> Message:
    return Message("assistant", tool_calls=tuple(ToolCall(i, name, {}, "{}") for i in ids))


def _result(call_id: str | None, name: str | None = None) -> Message:
    return Message("tool", "done", tool_call_id=call_id, name=name)


USER = Message("user", "go on")


@pytest.mark.parametrize(
    "messages",
    [
        [USER, _asks("a", "b"), _result("b"), _result("a"), Message("assistant", "done")],
        [_asks("call_0"), _result("call_0"), _asks("call_0"), _result("call_0")],
        [_asks(None), _result(None), USER],
        [_asks("a"), _result(None)],
        [],
    ],
    ids=["any order in a turn", "id used again", "no ids", "one candidate", "empty"],
)
def test_sound_conversations_pass(messages: list[Message]) -> None:
    """Results in any order, ids used again in a later turn, and a lone call without id are fine."""
    assert check_pairs(messages) == []


def test_a_call_without_result_is_named() -> None:
    """A deleted result is reported with the call's message, its id, and the mend."""
    assert check_pairs([USER, _asks("a", "b"), _result("a"), USER]) == [
        (
            "message 2: the call 'b' (refund) has no result before message 4 (user). "
            "Add its result directly after message 2, or remove the call."
        )
    ]
    assert check_pairs([_asks("a"), _asks("a"), _result("a")]) == [
        (
            "message 1: the call 'a' (refund) has no result before message 2 (assistant). "
            "Add its result directly after message 1, or remove the call."
        )
    ]


def test_open_calls_at_the_end() -> None:
    """A request may not end with an open call; a conversation that is going on may."""
    assert check_pairs([USER, _asks("a")], complete=False) == []
    assert check_pairs([USER, _asks("a")]) == [
        (
            "message 2: the call 'a' (refund) has no result before the end of the conversation "
            "(2 messages). Add its result directly after message 2, or remove the call."
        )
    ]


def test_a_result_without_call_is_named() -> None:
    """A result whose call was deleted, or whose id was changed, is reported with what waits."""
    assert check_pairs([USER, _result("x", "refund")]) == [
        (
            "message 2: the result for the call 'x' (refund) has no call directly before it. "
            "Put back the assistant message that made the call, correct the id, "
            "or remove this result."
        )
    ]
    wrong = check_pairs([_asks("a"), _result("b")])
    assert wrong[0] == (
        "message 2: the result for the call 'b' has no call directly before it "
        "(waiting: 'a' (refund)). "
        "Put back the assistant message that made the call, correct the id, or remove this result."
    )
    assert len(wrong) == 2


def test_a_result_of_an_earlier_turn_does_not_count() -> None:
    """Identity is turn and id: a result in a later turn does not answer an older call."""
    problems = check_pairs([_asks("a"), _result("a"), _asks("b"), _result("b"), _result("a")])
    assert [problem.split(":")[0] for problem in problems] == ["message 5"]


def test_order_is_reported_once() -> None:
    """A result that is too late, or too early, gives one problem that says where it belongs."""
    assert check_pairs([_asks("a"), USER, _result("a")]) == [
        (
            "message 3: the result for the call 'a' (refund) of message 1 comes after message 2. "
            "Move it directly after message 1."
        )
    ]
    assert check_pairs([_result("a"), _asks("a"), _result("a")]) == [
        (
            "message 1: the result for the call 'a' comes before the call, which is in message 2. "
            "Move the result directly after it."
        )
    ]


def test_doubles_are_reported() -> None:
    """One id for two calls of a turn, and two results for one call, are refused."""
    assert check_pairs([_asks("a", "a"), _result("a"), _result("a")]) == [
        "message 1: two tool calls have the id 'a'. Give one of them, and its result, another id."
    ]
    assert check_pairs([_asks("a"), _result("a"), _result("a")]) == [
        "message 3: a second result for the call 'a' of message 1. Remove one of the two."
    ]


def test_a_missing_id_is_not_guessed() -> None:
    """With two calls waiting, a result without id is ambiguous and refused, not taken in order."""
    problems = check_pairs([_asks("a", "b"), _result(None, "refund"), _result("b")])
    assert problems[0] == (
        "message 2: a tool result of 'refund' without a tool call id, and 2 calls wait for one "
        "(waiting: 'a' (refund), 'b' (refund)). "
        "Give the id of the call that it answers, or remove it."
    )
    named = [ToolCall(i, name, {}, "{}") for i, name in (("a", "x"), ("b", "y"))]
    told = [Message("assistant", tool_calls=tuple(named)), _result(None, "y"), _result("a")]
    assert check_pairs(told) == []
