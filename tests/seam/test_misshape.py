"""What a fault makes of an answer: spoilt in the named way, readable, and nothing else changed."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.faults import (
    ConnectionReset,
    CutOff,
    EmptyResult,
    MalformedResponse,
    MalformedToolCall,
    PartialSuccess,
    Refusal,
    StaleResult,
)
from workbench.seam.calls import MISSING, Call, Served
from workbench.seam.exceptions import rebuild
from workbench.seam.misshape import TOKEN, reshape, why_not
from workbench.trace.callcheck import call_problems
from workbench.trace.entries import ErrorInfo
from workbench.trace.payloads import Reply, view
from workbench.trace.values import decode, encode

SCHEMA = {
    "type": "object",
    "properties": {
        "order_id": {"type": "integer"},
        "amount": {"type": "number"},
        "why": {"type": ["string", "null"]},
        "tags": {"type": "array"},
    },
    "required": ["order_id", "amount"],
}
TOOLS = {
    "openai.chat": [{"type": "function", "function": {"name": "refund", "parameters": SCHEMA}}],
    "workbench": [{"name": "refund", "parameters": SCHEMA}],
}
APIS = sorted(TOOLS)
GOOD = {"order_id": 101, "amount": 1.5}
MUTATIONS: Any = ("bad_json", "unknown_tool", "missing_argument", "extra_argument", "wrong_type")
HEAD = {"status": 200, "headers": {"content-type": "application/json"}}


def call(api: str, *, stream: bool = False, tools: bool = True) -> Call:
    """A request for a completion."""
    body: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    body |= {"tools": TOOLS[api]} if tools else {}
    body |= {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    return Call(
        kind="model", api=api, model="m", stream=stream, request={"path": "/", "body": body}
    )


def answer(
    api: str, text: str | None, calls: list[tuple[str, Any]], finish: str | None = "stop"
) -> Any:
    """A completion as that API gives it."""
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    if api == "workbench":
        body: Any = {"content": text, "finish_reason": finish, "model": "m-1"}
        made = [{"id": f"c{n}", "name": name, "arguments": a} for n, (name, a) in enumerate(calls)]
        return body | ({"tool_calls": made} if made else {})
    message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"c{n}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for n, (name, arguments) in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m-1",
        "choices": [choice], "usage": usage,
    }  # fmt: skip


def served(api: str, body: Any, *, stream: bool) -> Served:
    """The answer as it is served, plain or as chunks."""
    if stream:
        return Served(dict(HEAD), list(view(api).split(body, include_usage=True)))
    return Served({**HEAD, "body": body})


def body_of(api: str, found: Served) -> Any:
    """The body of an answer, however it is served."""
    if found.chunks is not None:
        return view(api).assemble(found.chunks)
    return found.response["body"]


def reply_of(api: str, found: Served | None) -> Reply:
    """What the model said in a spoilt answer, read by the view."""
    assert found is not None
    assert found.error is None
    return view(api).reply(body_of(api, found))


def parts_of(reply: Reply) -> list[Any]:
    """What an agent sees of a reply."""
    calls = [(each.id, each.name, each.raw) for each in reply.tool_calls]
    return [reply.text, calls, reply.finish_reason, reply.refusal]


TEXT = st.text(st.characters(codec="utf-8"), max_size=60)
ARGUMENTS = st.fixed_dictionaries(
    {}, optional={"order_id": st.integers(0, 999), "amount": st.floats(0, 9), "why": TEXT}
)
ANSWERS = st.tuples(
    st.none() | TEXT,
    st.lists(st.tuples(st.sampled_from(["refund", "look"]), ARGUMENTS), max_size=3),
    st.sampled_from(["stop", "tool_calls", None]),
)
REPLY_FAULTS: list[Any] = [MalformedResponse(), Refusal(), Refusal("No."), CutOff(), CutOff(3)]
REPLY_FAULTS += [MalformedToolCall(how) for how in MUTATIONS]


@given(st.sampled_from(REPLY_FAULTS), st.sampled_from(APIS), ANSWERS, st.booleans(), st.booleans())
def test_what_went_in_is_never_changed(
    fault: Any, api: str, given: Any, stream: bool, tools: bool
) -> None:
    """Neither the call nor the answer, which the retry will get as it was recorded."""
    asked, whole = (
        call(api, stream=stream, tools=tools),
        served(api, answer(api, *given), stream=stream),
    )
    before = copy.deepcopy((asked, whole))
    found = reshape(fault, asked, whole)
    assert (asked, whole) == before
    assert (found is None) == bool(why_not(fault, asked, whole))
    if found is not None and found.chunks:
        for chunk in found.chunks:
            if isinstance(chunk, dict):
                chunk.clear()
        assert whole == before[1]


@given(st.sampled_from(REPLY_FAULTS[1:]), st.sampled_from(APIS), ANSWERS)
def test_a_stream_says_what_the_plain_answer_says(fault: Any, api: str, given: Any) -> None:
    """A fault gives the same reply, whichever way it was asked for, and the view reads both."""
    body = answer(api, *given)
    plain = reshape(fault, call(api), served(api, body, stream=False))
    streamed = reshape(fault, call(api, stream=True), served(api, body, stream=True))
    assert (plain is None) == (streamed is None)
    if plain is None or streamed is None:
        return
    assert streamed.chunks
    assert plain.chunks is None
    assert parts_of(reply_of(api, streamed)) == parts_of(reply_of(api, plain))
    usage = view(api).usage(body_of(api, streamed))
    was = view(api).usage(body)
    assert (usage and usage.raw) == (was and was.raw)


@given(st.sampled_from(APIS), ANSWERS, st.none() | st.integers(0, 40), st.booleans())
def test_a_reply_is_cut_off_where_the_limit_is(
    api: str, given: Any, tokens: int | None, stream: bool
) -> None:
    """What is left is the first part, call for call, no longer than the limit; it says why."""
    body = answer(api, *given)
    whole = view(api).reply(body)
    length = len(whole.text) + sum(len(each.raw) for each in whole.tool_calls)
    fault = CutOff(tokens)
    asked = call(api, stream=stream)
    found = reshape(fault, asked, served(api, body, stream=stream))
    limit = length // 2 if tokens is None else tokens * TOKEN
    if limit >= length:
        assert found is None
        assert "no more than about" in why_not(fault, asked, served(api, body, stream=stream))
        return
    reply = reply_of(api, found)
    assert reply.finish_reason == "length"
    assert whole.text.startswith(reply.text)
    assert len(reply.text) + sum(len(each.raw) for each in reply.tool_calls) == limit
    for kept, was in zip(reply.tool_calls, whole.tool_calls, strict=False):
        assert (kept.id, kept.name) == (was.id, was.name)
        assert was.raw.startswith(kept.raw)


@pytest.mark.parametrize("api", APIS)
def test_a_call_that_is_cut_off_is_no_json(api: str) -> None:
    """The last call keeps a part of its arguments, as a model leaves it; later ones are gone."""
    body = answer(api, "Refunding.", [("refund", GOOD), ("look", {})], "tool_calls")
    reply = reply_of(api, reshape(CutOff(4), call(api), served(api, body, stream=False)))
    assert reply.text == "Refunding."
    assert [(each.name, each.raw) for each in reply.tool_calls] == [("refund", '{"orde')]
    assert reply.tool_calls[0].error is not None


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_stands_alone(api: str, stream: bool) -> None:
    """The model declines in the provider's own field; text and calls are gone."""
    body = answer(api, "Sure.", [("refund", GOOD)], "tool_calls")
    found = reshape(Refusal("No."), call(api, stream=stream), served(api, body, stream=stream))
    assert parts_of(reply_of(api, found)) == ["", [], "stop", "No."]


def test_a_refusal_is_openais_own_field() -> None:
    """The body is what OpenAI sends: content null, the refusal beside it."""
    found = reshape(
        Refusal("No."), call("openai.chat"),
        served("openai.chat", answer("openai.chat", "Sure.", []), stream=False),
    )  # fmt: skip
    assert found is not None
    message = found.response["body"]["choices"][0]["message"]
    assert message == {"role": "assistant", "content": None, "refusal": "No."}
    assert found.response["status"] == 200


PROBLEMS = {
    "unknown_tool": "the model was not offered a tool 'refund_2'",
    "missing_argument": "refund needs the argument 'order_id'",
    "extra_argument": "refund knows no argument 'unexpected_2'",
    "wrong_type": "refund's argument 'order_id' is array, and should be integer",
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("how", MUTATIONS)
@pytest.mark.parametrize("made", [True, False], ids=["its own call", "a made call"])
def test_a_tool_call_is_wrong_in_the_named_way(api: str, how: Any, made: bool) -> None:
    """Just that is wrong: a validator finds one problem, the one that was asked for."""
    calls = [("refund", GOOD), ("look", {"a": 1})] if made else []
    finish = "tool_calls" if made else "stop"
    body = answer(api, "Text.", calls, finish)
    reply = reply_of(
        api, reshape(MalformedToolCall(how), call(api), served(api, body, stream=False))
    )
    first, *others = reply.tool_calls
    assert (reply.text, reply.finish_reason) == ("Text.", "tool_calls")
    assert [(each.name, each.arguments) for each in others] == [("look", {"a": 1})][:made]
    assert first.id
    assert first.id == "c0" or not made
    offered = view(api).tools(call(api).request["body"])
    if how == "bad_json":
        assert first.name == "refund"
        assert first.error is not None
        assert first.raw.startswith('{"order_id":')
        return
    assert first.error is None
    problems = call_problems(first.name, first.arguments, offered)
    assert len(problems) == 1
    assert problems[0].startswith(PROBLEMS[how])


@given(st.sampled_from(APIS), ARGUMENTS, st.sampled_from(MUTATIONS))
def test_a_broken_call_never_fits_its_schema(api: str, arguments: Any, how: Any) -> None:
    """Whatever the arguments were, what comes out is wrong, or the fault says that it cannot be."""
    body = answer(api, None, [("refund", {**GOOD, **arguments})], "tool_calls")
    found = reshape(MalformedToolCall(how), call(api), served(api, body, stream=False))
    (broken,) = reply_of(api, found).tool_calls
    offered = view(api).tools(call(api).request["body"])
    assert broken.error or call_problems(broken.name, broken.arguments, offered)


def test_the_finish_reason_of_a_broken_call_is_not_invented() -> None:
    """A provider that sends none, or its own, goes on doing so: a wrong one leads to wrong
    retries."""
    for finish in (None, "stop", "eos"):
        for api in APIS:
            body = answer(api, None, [("refund", GOOD)], finish)
            for stream in (False, True):
                found = reshape(
                    MalformedToolCall(),
                    call(api, stream=stream),
                    served(api, body, stream=stream),
                )
                assert reply_of(api, found).finish_reason == finish


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_is_not_json(api: str) -> None:
    """The body is a text that a parser refuses, kept with status and headers; the error is the
    parser's own."""
    body = answer(api, "Sure.", [])
    found = reshape(MalformedResponse(), call(api), served(api, body, stream=False))
    assert found is not None
    text = found.response["body"]
    assert json.dumps(body, ensure_ascii=False).startswith(text)
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    assert found.error is not None
    assert (found.error.status, found.error.body) == (200, text)
    again = rebuild(found.error)
    assert (type(again), str(again)) == (json.JSONDecodeError, str(caught.value))
    assert isinstance(again, json.JSONDecodeError)
    assert (again.doc, again.pos) == (text, caught.value.pos)
    page = reshape(
        MalformedResponse(text="<html>Bad gateway</html>"), call(api),
        served(api, body, stream=False),
    )  # fmt: skip
    assert page is not None
    assert page.response == {**HEAD, "body": "<html>Bad gateway</html>"}


@pytest.mark.parametrize("api", APIS)
def test_a_stream_with_a_chunk_that_is_not_json(api: str) -> None:
    """Half of the chunks come as recorded, then one that cannot be read."""
    whole = served(api, answer(api, " ".join(["word"] * 40), []), stream=True)
    assert whole.chunks is not None
    found = reshape(MalformedResponse(), call(api, stream=True), whole)
    assert found is not None
    assert found.chunks == whole.chunks[: len(whole.chunks) // 2]
    assert found.chunks
    assert found.error is not None
    assert (found.error.type, found.error.status) == ("JSONDecodeError", None)
    broken = json.dumps(whole.chunks[len(found.chunks)], ensure_ascii=False)
    assert broken.startswith(str(found.error.body))


def tool(result: Any) -> tuple[Call, Served]:
    """A call of a tool and what it gives."""
    asked = Call(kind="tool", name="look", request={"name": "look", "arguments": {}})
    return asked, Served(encode(result))


@pytest.mark.parametrize(
    ("result", "empty"),
    [
        ({"a": 1}, {}), ([1], []), ("text", ""), ((1, 2), ()), ({1, 2}, set()), (b"x", b""),
        (3, None), (True, None), (1.5, None),
    ],
)  # fmt: skip
def test_nothing_has_the_results_type(result: Any, empty: Any) -> None:
    """An agent that loops over a list gets an empty one, not a None that no tool ever gave."""
    found = reshape(EmptyResult(), *tool(result))
    assert found is not None
    value = decode(found.response)
    assert value == empty
    assert type(value) is type(empty)


def test_a_stale_result_is_the_one_before() -> None:
    """What the tool gave last comes again, as its own copy."""
    earlier = encode({"total": (1, 2)})
    found = reshape(StaleResult(), *tool({"total": 3}), earlier)
    assert found == Served(earlier)
    assert found is not None
    assert found.response is not earlier


def test_a_partial_success_tells_what_was_done() -> None:
    """By default it is the whole real result; the entry keeps it beside the error."""
    found = reshape(PartialSuccess(), *tool({"paid": 1}))
    assert found is not None
    assert found.response == {"paid": 1}
    assert found.error is not None
    assert found.error.attributes == {"result": {"paid": 1}}
    given = reshape(PartialSuccess(["a"]), *tool({"paid": 1}))
    assert given is not None
    assert given.response == ["a"]


@pytest.mark.parametrize(
    ("fault", "asked", "whole", "why"),
    [
        (StaleResult(), *tool(1), "look has given no result before in this run"),
        (EmptyResult(), *tool([]), "the result is nothing anyway"),
        (EmptyResult(), *tool(None), "the result is nothing anyway"),
        (PartialSuccess(), tool(1)[0], Served(error=ErrorInfo(type="E")), "the call fails anyway"),
        (MalformedToolCall(), call("workbench", tools=False),
         served("workbench", answer("workbench", "hi", []), stream=False),
         "the reply calls no tool, and the request offers none"),
        (MalformedToolCall("missing_argument"), call("workbench"),
         served("workbench", answer("workbench", None, [("look", {})]), stream=False),
         "look is called without any argument to leave out"),
        (MalformedToolCall("wrong_type"), call("workbench"),
         served("workbench", answer("workbench", None, [("look", "{")]), stream=False),
         "the arguments of look are no JSON object already"),
        (CutOff(9), call("workbench"),
         served("workbench", answer("workbench", "hi", []), stream=False),
         "the reply has no more than about 1 tokens"),
        (Refusal(), Call(kind="model", api="other.api", request={}), Served({"body": {}}),
         "replies of the API other.api cannot be read"),
        (Refusal(), call("workbench"), Served({**HEAD, "body": "<html>"}),
         "the answer is no JSON object"),
        (Refusal(), call("workbench", stream=True), Served(dict(HEAD), []),
         "the answer is no JSON object"),
        (ConnectionReset(), call("workbench"), Served({"body": {}}),
         "connection reset does not strike on an outcome"),
    ],
)  # fmt: skip
def test_a_fault_that_can_do_nothing_says_why(
    fault: Any, asked: Call, whole: Served, why: str
) -> None:
    """It does not fire, rather than seem to be withstood."""
    assert reshape(fault, asked, whole, MISSING) is None
    assert why_not(fault, asked, whole, MISSING) == why
