"""Faults on replies of OpenAI's Responses and of Anthropic's messages: as a provider sends them."""

from typing import Any

import pytest
from provider_runs import APIS, reply, request

from workbench.faults import CutOff, MalformedToolCall, Refusal
from workbench.seam.calls import Call, Served
from workbench.seam.misshape import reshape
from workbench.trace.callcheck import call_problems
from workbench.trace.payloads import Reply, view

HEAD = {"status": 200, "headers": {"content-type": "application/json"}}
LIMITS = {"openai.responses": "max_output_tokens", "anthropic.messages": "max_tokens"}


def spoilt(fault: Any, api: str, body: Any, *, stream: bool) -> Any:
    """The body of the spoilt reply, put together where it is streamed."""
    asked = Call(kind="model", api=api, model="m", stream=stream, request=request(api))
    whole = Served({**HEAD, "body": body})
    if stream:
        whole = Served(dict(HEAD), list(view(api).split(body)))
    found = reshape(fault, asked, whole)
    assert found is not None
    return view(api).assemble(found.chunks) if stream and found.chunks else found.response["body"]


def both(fault: Any, api: str, body: Any) -> tuple[Any, Reply]:
    """The spoilt body and what it says, the same plain and streamed."""
    plain, streamed = (spoilt(fault, api, body, stream=stream) for stream in (False, True))
    said = view(api).reply(plain)
    assert view(api).reply(streamed) == said
    assert view(api).usage(streamed) == view(api).usage(plain) == view(api).usage(body)
    return plain, said


@pytest.mark.parametrize("api", APIS)
def test_a_refusal_is_the_providers_own(api: str) -> None:
    """A part that refuses, or a stop reason with its explanation; text and calls are gone."""
    body, said = both(Refusal("No."), api, reply(api, "Sure.", calls=True))
    assert (said.refusal, said.text, said.tool_calls) == ("No.", "", ())
    if api == "anthropic.messages":
        assert (body["stop_reason"], body["stop_details"]["type"]) == ("refusal", "refusal")
    else:
        assert body["output"][0]["content"] == [{"type": "refusal", "refusal": "No."}]


@pytest.mark.parametrize("api", APIS)
def test_a_reply_is_cut_off_where_the_limit_is(api: str) -> None:
    """It says why in the provider's words; the last call keeps a part of its arguments."""
    _, said = both(CutOff(4), api, reply(api, "Looking.", calls=True))
    assert (said.text, said.finish_reason) == ("Looking.", LIMITS[api])
    (call,) = said.tool_calls
    assert (call.id, call.name, call.error is None) == ("call_a", "lookup", False)
    assert '{"order": 101}'.replace(" ", "").startswith(call.raw.replace(" ", ""))


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("how", ["bad_json", "unknown_tool", "missing_argument", "wrong_type"])
def test_a_tool_call_is_wrong_in_the_named_way(api: str, how: Any) -> None:
    """The other call is as it was, and the reply goes on saying that it calls tools."""
    before = reply(api, calls=True)
    _, said = both(MalformedToolCall(how), api, before)
    first, second = said.tool_calls
    assert second == view(api).reply(before).tool_calls[1]
    assert said.finish_reason == view(api).reply(before).finish_reason
    tools = view(api).tools(request(api)["body"])
    wrong = call_problems(first.name, first.arguments, tools)
    assert bool(first.error) == (how == "bad_json")
    assert first.error or len(wrong) == 1


@pytest.mark.parametrize("api", APIS)
def test_a_missing_finish_reason_stays_missing(api: str) -> None:
    """A stream that was cut gets none from a fault."""
    none = {"stop_reason": None} if api == "anthropic.messages" else {"status": None}
    _, said = both(MalformedToolCall(), api, {**reply(api, calls=True), **none})
    assert said.finish_reason is None
