"""Responses that stay with the provider: what may be continued live, and what is not recorded."""

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from loopback import Server
from openai_responses import amade, given, made, said

import workbench
from workbench import UsageError, turn

pytestmark = pytest.mark.skipif(
    find_spec("openai.types.responses") is None, reason="this release has no responses"
)


def _chain(url: str, kind: str) -> list[str]:
    """Three turns, each of which names the response before it."""
    texts: list[str] = []
    named: dict[str, Any] = {}
    for text in ("one", "two", "three"):
        responses = made(url).responses
        if kind == "plain":
            found: Any = responses.create(**given(text=text), **named)
        else:
            events = list(responses.create(**given("stream", text), **named))
            found = events[-1].response
        named = {"previous_response_id": found.id}
        texts.append(said(found))
    return texts


@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_a_live_call_never_continues_a_replayed_response(speaker: Server, kind: str) -> None:
    """A fork that goes live at a turn which names a replayed response is stopped before anything
    is sent, with what to do; live from the first turn on it runs."""
    recorded = workbench.record(_chain, speaker.url, kind)
    assert workbench.replay(_chain, recorded.trace, speaker.url, kind).output == recorded.output
    sent = len(speaker.seen)
    forked = workbench.fork(_chain, recorded.trace, speaker.url, kind, live_from=turn(2))
    assert forked.status == "blocked"
    assert "names the response 'resp_1'" in str(forked.error)
    assert "send the whole conversation as input" in str(forked.error)
    assert len(speaker.seen) == sent
    afresh = workbench.fork(_chain, recorded.trace, speaker.url, kind, live_from=turn(1))
    assert (afresh.status, afresh.output) == ("ok", recorded.output)
    assert len(speaker.seen) == sent + 3


def test_a_call_that_was_not_recorded_does_not_continue_one_either(speaker: Server) -> None:
    """Where calls that are missing go live, a replayed response still is not the provider's."""

    def agent(text: str) -> str:
        responses: Any = made(speaker.url).responses
        first = responses.create(**given())
        return said(responses.create(**given(text=text), previous_response_id=first.id))

    recorded = workbench.record(agent, "again")
    sent = len(speaker.seen)
    forked = workbench.fork(agent, recorded.trace, "something else", on_miss="live")
    assert (forked.status, len(speaker.seen)) == ("blocked", sent)


def test_a_live_call_adds_nothing_to_a_replayed_conversation(speaker: Server) -> None:
    """A conversation at the provider's holds what the recorded run said, and not what this does."""

    def agent() -> str:
        responses: Any = made(speaker.url).responses
        kept = {"extra_body": {"conversation": {"id": "conv_1"}}}
        responses.create(**given(text="one"), **kept)
        return said(responses.create(**given(text="two"), **kept))

    recorded = workbench.record(agent)
    forked = workbench.fork(agent, recorded.trace, live_from=turn(2))
    assert forked.status == "blocked"
    assert "names the conversation 'conv_1'" in str(forked.error)


# -- what is not recorded --------------------------------------------------------------------------


def _background(url: str) -> Any:
    return made(url).responses.create(**given(), extra_body={"background": True})


def _retrieve(url: str) -> Any:
    return made(url).responses.retrieve("resp_1")


def _cancel(url: str) -> Any:
    return made(url).post("/responses/resp_1/cancel", cast_to=object)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (_background, "POST /responses with background=True"),
        (_retrieve, "GET /responses/resp_1"),
        (_cancel, "POST /responses/resp_1/cancel"),
    ],
)
def test_what_comes_later_by_other_calls_is_refused(
    speaker: Server, ask: Callable[[str], Any], told: str
) -> None:
    """A response in the background is no answer yet: a recording warns, a replay refuses, and
    both name what is recorded."""
    what = "records chat completions, new responses and embeddings only"
    with workbench.recording() as recorded, pytest.warns(UserWarning, match=told) as warned:
        ask(speaker.url)
    assert what in str(warned[0].message)
    assert list(recorded.trace.entries) == []
    sent = len(speaker.seen)
    with pytest.raises(UsageError, match=told) as refused, workbench.replaying(recorded.trace):
        ask(speaker.url)
    assert what in str(refused.value)
    assert len(speaker.seen) == sent


def _socket(url: str) -> Any:
    with made(url).responses.connect():
        pass


def _realtime(url: str) -> Any:
    made(url).beta.realtime.connect(model="m").enter()


def _asocket(url: str) -> Any:
    async def go() -> None:
        async with amade(url).beta.realtime.connect(model="m"):
            pass

    asyncio.run(go())


def _failure(ask: Callable[[str], Any], url: str) -> Exception | None:
    """What it raises, since the server speaks no such protocol."""
    try:
        ask(url)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (_socket, "the WebSocket of ResponsesConnectionManager"),
        (_realtime, "the WebSocket of RealtimeConnectionManager"),
        (_asocket, "the WebSocket of AsyncRealtimeConnectionManager"),
    ],
)
def test_no_websocket_is_opened_where_a_recording_answers(
    speaker: Server, connections: list[object], ask: Callable[[str], Any], told: str
) -> None:
    """What goes over a WebSocket is not recorded: a recording warns, a replay opens none."""
    if ask is _socket and not hasattr(made(speaker.url).responses, "connect"):
        pytest.skip("this release has no such connection")
    with workbench.recording() as recorded, pytest.warns(UserWarning, match=told):
        assert not isinstance(_failure(ask, speaker.url), UsageError)
    connections.clear()
    with pytest.raises(UsageError, match=told), workbench.replaying(recorded.trace):
        ask(speaker.url)
    assert connections == []


def test_the_whole_request_is_kept(speaker: Server) -> None:
    """What a response continues, includes and stores is part of what was asked."""
    more: dict[str, Any] = {"include": ["reasoning.encrypted_content"]}
    more |= {"previous_response_id": "resp_0", "store": False, "reasoning": {"effort": "low"}}
    with workbench.recording() as recorded:
        made(speaker.url).responses.create(**given(), **more)
    (entry,) = recorded.trace.entries
    assert entry.body == speaker.seen[0].body
    assert entry.body["include"] == ["reasoning.encrypted_content"]
    reasoning, _ = entry.response["body"]["output"]
    assert reasoning["encrypted_content"] == "c2VjcmV0+/=="
