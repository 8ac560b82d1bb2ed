"""Asking the model something else: which calls are rewritten, and what a provider would refuse."""

from typing import Any

import pytest
from runmaker import RunMaker, order, refund

from workbench.errors import EditError
from workbench.trace.edits import Edits, MessageEdit, RequestEdit
from workbench.trace.entries import CallLine, ErrorInfo
from workbench.trace.places import entry, turn
from workbench.trace.trace import Trace

API = "openai.chat"


def long_run() -> Trace:
    """Four turns, the second with a failed attempt; messages: system, user, and two pairs."""
    run = RunMaker().turn("", order())
    failed = ErrorInfo(type="RateLimitError", status=429)
    run.turn(error=failed).turn("", refund(), attempt=2)
    return run.turn("Once more.", refund()).turn("Done.").end()


def only(edits: Edits) -> RequestEdit:
    """The one edit in a list."""
    (edit,) = edits
    assert isinstance(edit, RequestEdit)
    return edit


def refused(make: Any, *words: str) -> EditError:
    """The error of an edit that is refused, whose text has these words."""
    with pytest.raises(EditError) as caught:
        make()
    for each in words:
        assert each in str(caught.value)
    return caught.value


def test_a_request_is_rewritten_and_shared_with_the_old_one() -> None:
    """What is not named is the same object; what was asked stays as it was."""
    trace = long_run()
    edits = trace.edit().request(
        turn(2), system="Never refund twice.", model="m-2", set={"temperature": 0, "seed": None},
        unset=["tools"], append=["Think."],
    )  # fmt: skip
    asked = trace.turn(2).request
    sent = only(edits).rewrite(API, asked)
    assert sent["path"] is asked["path"]
    assert sent["body"]["messages"][0]["content"] == "Never refund twice."
    assert sent["body"]["messages"][1:-1] == asked["body"]["messages"][1:]
    assert sent["body"]["messages"][1] is asked["body"]["messages"][1]
    assert sent["body"]["messages"][-1] == {"role": "user", "content": "Think."}
    assert (sent["body"]["model"], sent["body"]["temperature"]) == ("m-2", 0)
    assert sent["body"]["seed"] is None
    assert "tools" not in sent["body"]
    assert trace.turn(2).request == asked


def test_an_edit_onwards_holds_for_the_later_calls_of_the_step() -> None:
    """The agent asks on as before: each later request is rewritten in the same way, and what was
    put in stays where it was put, before what the model answered to it."""
    trace = long_run()
    edits = trace.edit().request(turn(2), replace={2: "Order 7 is lost."}, append=["Think."])
    edit = only(edits)
    assert [m.number for m in edit.messages] == [2, 5]
    sent = edit.rewrite(API, trace.turn(4).request)["body"]["messages"]
    assert [each["role"] for each in sent] == [
        *("system", "user", "assistant", "tool", "user", "assistant", "tool", "assistant", "tool")
    ]
    assert sent[1]["content"] == "Order 7 is lost."
    assert sent[4] == {"role": "user", "content": "Think."}
    assert edit.unfit(API, trace.turn(4).request) == []


def test_a_change_follows_its_message_and_no_other_one() -> None:
    """In another conversation of the step, or a shortened one, it is left out, and said."""
    trace = long_run()
    edit = only(
        trace.edit().request(turn(2), replace={2: "Order 7."}, append=["Think."], model="m")
    )
    other = {"body": {"model": "x", "messages": [{"role": "user", "content": "sum up"}]}}
    sent = edit.rewrite(API, other)
    assert sent["body"] == {**other["body"], "model": "m"}
    assert edit.unfit(API, other) == [
        "message 2 is not replaced: this request has another conversation there",
        "message at 5 is not put in: this request has another conversation there",
    ]


def test_a_message_recorded_without_its_secret_is_known_again() -> None:
    """The digest is that of the redacted message: the live one is cleaned before it is compared."""
    trace = RunMaker(system="Key: <secret>").turn("Done.").end()
    edit = only(trace.edit().request(turn(1), replace={1: "No key."}))
    request = trace.turn(1).request
    request["body"]["messages"][0] = {"role": "system", "content": "Key: hunter2"}

    def clean(value: Any) -> Any:
        return {**value, "content": value["content"].replace("hunter2", "<secret>")}

    assert edit.rewrite(API, request) is request
    sent = edit.rewrite(API, request, clean=clean)
    assert sent["body"]["messages"][0]["content"] == "No key."


def test_which_calls_are_rewritten() -> None:
    """By the recorded entry; past the recording by the order in the step."""
    trace = long_run()
    once = trace.edit().request(turn(2), model="m-2", scope="once").requests()
    onwards = trace.edit().request(turn(2), model="m-2").requests()
    asked = [each for each in trace.entries if each.kind == "model"]
    assert [each.attempt for each in asked] == [1, 1, 2, 1, 1]
    assert [bool(once.at(each)) for each in asked] == [False, True, True, False, False]
    assert [bool(onwards.at(each)) for each in asked] == [False, True, True, True, True]
    assert [bool(once.at(None, nth=n)) for n in range(1, 7)] == [False, True, *[False] * 4]
    assert [bool(onwards.at(None, nth=n)) for n in range(1, 7)] == [False, *[True] * 5]
    assert not onwards.at(None, step="other", nth=3)
    assert not onwards.at(None, nth=3, enclosed=True)
    assert bool(onwards)
    assert not trace.edit().requests()


def test_steps_and_tools_are_conversations_of_their_own() -> None:
    """An edit in one step leaves another step, a step inside it, and a tool's own calls alone."""
    run = RunMaker().turn("a", step="plan").turn("b", step="plan/inner").turn("c", step="write")
    outer = run.turn("d", step="plan").journal
    outer.append(CallLine(id=outer.new_id(), kind="tool", name="think", step="plan", request={}))
    trace = run.turn("inside", step="plan", enclosing="1-5").turn("e", step="plan").end()
    requests = trace.edit().request(turn(1), model="m-2").requests()
    found = {each.text: bool(requests.at(each, step=each.step, enclosed=bool(each.enclosing)))
             for each in trace.models()}  # fmt: skip
    assert found == {"a": True, "b": False, "c": False, "d": True, "inside": False, "e": True}
    last = trace.edit().request(turn(6), model="m-2", scope="once").requests()
    assert [bool(last.at(None, step="plan", nth=n)) for n in (1, 2, 3)] == [False, False, True]


def test_several_edits_hold_in_the_order_of_their_places() -> None:
    """However they were made; the later one has the last word."""
    trace = long_run()
    edits = trace.edit().request(turn(3), model="late").request(turn(1), model="early", system="S")
    sent = trace.turn(3).request
    for edit in edits.requests().at(trace.turn(3).model):
        sent = edit.rewrite(API, sent)
    assert (sent["body"]["model"], sent["body"]["messages"][0]["content"]) == ("late", "S")
    assert [e.model for e in edits.requests().at(trace.turn(2).model)] == ["early"]


def test_a_dropped_result_takes_its_call_or_leaves_words() -> None:
    """A call without a result is refused by a provider: three mends, and each one holds."""
    trace = long_run()
    error = refused(
        lambda: trace.edit().request(turn(2), drop=[4]),
        "turn:2: in what would be sent, message 3: the call 'call_1_0' (get_order) has no result",
    )
    assert [mend.label for mend in error.mends] == [
        "leave out message 3 too",
        "keep the result's message, with words that say that it was taken out",
    ]
    both = only(trace.edit().mend(error.mends[0])).rewrite(API, trace.turn(2).request)
    assert [m["role"] for m in both["body"]["messages"]] == ["system", "user"]
    words = only(trace.edit().mend(error.mends[1])).rewrite(API, trace.turn(2).request)
    assert words["body"]["messages"][3] == {
        "role": "tool",
        "tool_call_id": "call_1_0",
        "content": "[This result was taken out by an edit.]",
    }
    made = trace.edit().add(
        RequestEdit(at=turn(2), messages=(MessageEdit(op="drop", number=3),)), mend=True
    )
    assert sorted(m.number or 0 for m in only(made).messages) == [3, 4]


def test_a_message_between_a_call_and_its_result_is_moved_behind_it() -> None:
    """The order counts: a result comes directly after its call."""
    trace = long_run()
    edit = RequestEdit(at=turn(2), messages=(MessageEdit(op="insert", number=4, text="Wait."),))
    error = refused(lambda: trace.edit().add(edit), "comes after message 4")
    assert [mend.label for mend in error.mends] == ["put the new message after the results"]
    sent = only(trace.edit().add(edit, mend=True)).rewrite(API, trace.turn(2).request)
    assert [m["role"] for m in sent["body"]["messages"]][2:] == ["assistant", "tool", "user"]


def test_what_was_wrong_before_is_not_held_against_an_edit() -> None:
    """A run that a provider took as it was can be edited elsewhere."""
    run = RunMaker().turn("", order()).say("user", "quick")
    run.messages[-2:] = [run.messages[-1]]  # the result is lost, as by an interrupted agent
    trace = run.turn("Done.").end()
    edits = trace.edit().request(turn(2), replace={-1: "slow"})
    assert only(edits).rewrite(API, trace.turn(2).request)["body"]["messages"][-1] == {
        "role": "user",
        "content": "slow",
    }


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"replace": {9: "x"}}, "there is no message 9: the request has the messages 1 to 4"),
        ({"replace": {0: "x"}}, "there is no message 0"),
        ({"replace": {2: ""}}, "message 2 would be empty, and providers refuse that"),
        ({"append": [" "], "model": "m"}, "a new message would be empty"),
        ({"append": [("assistent", "x")]}, "the new message has the role 'assistent'; known are s"),
        ({"append": [{"content": "x"}]}, "has the role None"),
        ({"replace": {2: "a"}, "drop": [2]}, "message 2 is changed twice"),
        ({"drop": [1, 2, 3, 4]}, "no message would be left"),
        ({"set": {"messages": []}}, "'messages' is no parameter"),
        ({"set": {"stream": True}}, "how an answer travels is the agent's to say"),
        ({"unset": ["model"]}, "another model is given with model="),
        ({"set": {"stop": {1}}}, "'stop' can't be sent as JSON"),
        ({"set": {"a": 1}, "unset": ["a"]}, "'a' is both set and unset"),
        ({}, "a request edit changes the system prompt, messages, the model or parameters"),
    ],
)
def test_what_a_provider_would_refuse(change: dict[str, Any], words: str) -> None:
    """Refused when it is made, with the place and the reason."""
    refused(lambda: long_run().edit().request(turn(2), **change), words)


def test_an_empty_message_is_left_out_by_its_mend() -> None:
    """What somebody deletes the text of is meant to go."""
    trace = RunMaker().say("user", "Hurry.").turn("Done.").end()
    edit = RequestEdit(at=turn(1), messages=(MessageEdit(op="replace", number=3, text=""),))
    made = only(trace.edit().add(edit, mend=True))
    assert [(m.op, m.number) for m in made.messages] == [("drop", 3)]


def test_the_preview_of_a_request() -> None:
    """Only what changes, the parameters first; what is left out of signed reasoning is said."""
    run = RunMaker().turn("", order())
    run.messages[2]["reasoning_details"] = [{"type": "reasoning.encrypted", "data": "x"}]
    trace = run.turn("Done.").end()
    edits = trace.edit().request(
        turn(2), model="m-2", set={"temperature": None}, replace={2: "Order 7."}, append=["Think."]
    )
    assert edits.preview() == (
        "turn 2 · request and the later ones of its step\n"
        '- model: "gpt-4o-mini"\n'
        "- temperature: (not sent)\n"
        "- message 2 (user): Order 101 arrived broken.\n"
        '+ model: "m-2"\n'
        "+ temperature: null\n"
        "+ message 2 (user): Order 7.\n"
        "  message 3 (assistant): get_order(\n"
        "    order_id=101,\n"
        "  )\n"
        "+ message 5 (user): Think.\n"
        "! the signed reasoning of a message (reasoning_details) is left out: a provider would "
        "refuse it with another model"
    )
    once = trace.edit().request(entry(trace.turn(1).model.id), set={"seed": 1}, scope="once")
    assert once.preview().splitlines()[0] == "turn 1 · request"
    same = trace.edit().request(turn(1), system="You help customers.")
    assert same.preview().endswith("! this edit changes nothing")
