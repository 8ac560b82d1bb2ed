"""DSPy's engines, which it has since 3.4: retries above the seam, streams, engines of one's own."""

import asyncio
from collections.abc import Iterator
from typing import Any

import dspy
import pytest
from chat_server import ChatServer
from dspy import lm15
from dspy_shop import ask, fields, model, ran, shop

import workbench as wb
from workbench.faults import HttpError, StreamTruncate


@pytest.fixture(autouse=True)
def _alone() -> None:
    """No cache on the disk."""
    dspy.configure_cache(enable_disk_cache=False)
    ran.clear()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """A model server."""
    with ChatServer(shop) as running:
        yield running


def test_a_rate_limit_is_tried_again_by_dspy_itself(server: ChatServer) -> None:
    """A fault meets DSPy's own retries; one that lasts is DSPy's own error."""

    def agent() -> Any:
        return ask(model(server), "order 101")[0]

    recorded = wb.record(agent)
    limited = [HttpError(429, retry_after_s=0).at(wb.turn(2))]
    survived = wb.replay(agent, recorded.trace, faults=limited)
    assert (survived.status, survived.output) == ("ok", "149.99")
    often = [HttpError(429, times=9, retry_after_s=0).at(wb.turn(2))]
    failed = wb.replay(agent, recorded.trace, faults=often)
    assert isinstance(failed.error, dspy.utils.exceptions.LMRateLimitError)
    server.answer = lambda _: 429
    refused = wb.record(lambda: model(server, num_retries=1)("hi"))
    assert isinstance(refused.error, dspy.utils.exceptions.LMRateLimitError)
    assert len(refused.trace.entries) == 2
    again = wb.replay(lambda: model(server, num_retries=1)("hi"), refused.trace)
    assert isinstance(again.error, dspy.utils.exceptions.LMRateLimitError)
    assert str(again.error) == str(refused.error)


class Engine:
    """An engine of the user's own."""

    def complete(self, request: Any) -> Any:
        ran.append("asked")
        said = f"You said: {request.messages[-1].text}"
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text=said),))
        usage = lm15.Usage(input_tokens=3, output_tokens=1)
        return lm15.Response(
            id="r", model=request.model, message=message, finish_reason="stop", usage=usage
        )


def test_an_engine_of_ones_own_is_answered() -> None:
    """A replay does not ask it; edited replies and edited requests reach the program and it."""

    def agent(question: str) -> Any:
        made = dspy.LM("own", engine=Engine())
        return made(question), [each["usage"]["prompt_tokens"] for each in made.history]

    recorded = wb.record(agent, "hi")
    assert recorded.output == (["You said: hi"], [3]), recorded.error
    ran.clear()
    assert wb.replay(agent, recorded.trace, "hi").output == recorded.output
    edits = recorded.trace.edit().reply(wb.turn(1), text="never mind")
    edited = wb.replay(agent, recorded.trace, "hi", edits=edits)
    assert edited.output == (["never mind"], [3]), edited.error
    assert ran == []
    edits = recorded.trace.edit().request(wb.turn(1), replace={1: "ho"}, system="Be kind.")
    assert wb.fork(agent, recorded.trace, "hi", edits=edits).output[0] == ["You said: ho"]


def test_typed_requests_are_answered_with_typed_responses(server: ChatServer) -> None:
    """DSPy's own request and response types come back equal, without a server."""

    def agent() -> Any:
        message = lm15.Message(role="user", parts=(lm15.TextPart(text="next_thought 101"),))
        request = lm15.Request(model="openai/m", messages=(message,), system="Be brief.")
        got.append(model(server)(request))

    got: list[Any] = []
    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    asked = recorded.trace.turn(1).model.messages
    assert [(m.role, m.text) for m in asked] == [
        ("system", "Be brief."),
        ("user", "next_thought 101"),
    ]
    server.stop()
    assert wb.replay(agent, recorded.trace).status == "ok"
    assert isinstance(got[0], lm15.Response)
    assert got[0] == got[1]


def test_streams_are_replayed_piece_by_piece(server: ChatServer) -> None:
    """A program that is read while it answers gives the same pieces again."""

    def agent() -> Any:
        async def run() -> list[Any]:
            listener = dspy.streaming.StreamListener(signature_field_name="answer")
            program = dspy.streamify(
                dspy.Predict("question -> answer"), stream_listeners=[listener]
            )
            with dspy.context(lm=model(server)):
                pieces = [each async for each in program(question="hi")]
            return [p.chunk if hasattr(p, "chunk") else p.answer for p in pieces]

        return asyncio.run(run())

    server.answer = lambda _: fields(answer="one two three four five six seven eight")
    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    assert len(recorded.output) > 2
    assert recorded.output[-1] == "one two three four five six seven eight"
    assert recorded.trace.turn(1).model.stream
    server.stop()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.error
    edits = recorded.trace.edit().reply(wb.turn(1), text=fields(answer="none at all"))
    edited = wb.replay(agent, recorded.trace, edits=edits)
    assert edited.output[-1] == "none at all", edited.error
    cut = wb.replay(agent, recorded.trace, faults=[StreamTruncate(3).at(wb.turn(1))])
    assert cut.status == "failed"
