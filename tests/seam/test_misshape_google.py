"""Faults of what a model says, in Google's shape, where a call holds an object."""

from typing import Any

import pytest

from workbench.seam.calls import Call, Served
from workbench.seam.misshape import reshape
from workbench.trace.faults import CutOff, MalformedToolCall, Refusal
from workbench.trace.payloads import view

GOOGLE = view("google.generate_content")


def _shaped(fault: Any, *parts: Any, finish: str | None = "STOP") -> dict[str, Any]:
    said = {"content": {"role": "model", "parts": list(parts)}, "finishReason": finish, "index": 0}
    tools = [{"functionDeclarations": [{"name": "refund", "parameters": {
        "properties": {"order": {"type": "integer"}}, "required": ["order"]}}]}]  # fmt: skip
    call = Call("model", {"body": {"contents": [], "tools": tools}}, api="google.generate_content")
    served = reshape(fault, call, Served({"status": 200, "body": {"candidates": [said]}}))
    assert served is not None
    body: dict[str, Any] = served.response["body"]
    return body


CALL = {"functionCall": {"name": "refund", "args": {"order": 101, "why": "late delivery"}}}


@pytest.mark.parametrize("parts", [[CALL], [{"text": "Hm."}]])
def test_bad_json_is_the_finish_reason_that_the_api_has_for_it(parts: list[Any]) -> None:
    """A call that the model wrote badly never arrives here; the finish reason tells of it."""
    reply = GOOGLE.reply(_shaped(MalformedToolCall("bad_json"), *parts))
    assert (reply.tool_calls, reply.finish_reason) == ((), "MALFORMED_FUNCTION_CALL")


@pytest.mark.parametrize("finish", ["STOP", None])
def test_other_broken_calls_are_calls(finish: str | None) -> None:
    """A missing argument is an object without it, and a finish reason that was not sent is not."""
    reply = GOOGLE.reply(_shaped(MalformedToolCall("missing_argument"), CALL, finish=finish))
    assert [call.arguments for call in reply.tool_calls] == [{"why": "late delivery"}]
    assert reply.finish_reason == finish


def test_a_limit_leaves_whole_calls_only() -> None:
    """The text is cut; of calls those that fit are left, and the reason is the token limit."""
    text = {"text": "I will refund it at once."}
    other = {"functionCall": {"name": "refund", "args": {"order": 1}}}
    reply = GOOGLE.reply(_shaped(CutOff(12), text, other, CALL))
    assert (reply.text, reply.finish_reason) == (text["text"], "MAX_TOKENS")
    assert [call.arguments for call in reply.tool_calls] == [{"order": 1}]
    assert GOOGLE.reply(_shaped(CutOff(2), text, CALL)).text == "I will r"


def test_a_refusal_is_the_api_s_own() -> None:
    """The answer is withheld for safety, with the words of the fault."""
    reply = GOOGLE.reply(_shaped(Refusal("No."), {"text": "Yes."}, CALL))
    assert (reply.refusal, reply.text, reply.tool_calls) == ("No.", "", ())
    assert reply.finish_reason == "SAFETY"
