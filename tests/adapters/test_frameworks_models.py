"""Model calls of a framework that no SDK sends: recorded, replayed exactly, edited, failing."""

from typing import Any

import openai
import pytest
from miniframework import Said, SaidCodec, World, request, say
from openai_server import Server

import workbench
from workbench import turn
from workbench.adapters.frameworks.models import model_call
from workbench.edits import MessageEdit
from workbench.faults import HttpError, StreamTruncate

WAYS = ["plain", "stream", "async", "async stream"]


@pytest.fixture
def world() -> World:
    """What answers live."""
    return World()


@pytest.mark.parametrize("way", WAYS)
def test_a_replay_gives_the_frameworks_own_objects(world: World, way: str) -> None:
    """Also what the neutral shape has no word for comes back; nothing is asked again."""
    recorded = workbench.record(say, world, "a b", way)
    assert {each.mood for each in recorded.output} == {"glad"}
    again = workbench.replay(say, recorded.trace, world, "a b", way)
    assert (again.status, again.output) == ("ok", recorded.output)
    assert world.asked == ["a b"]
    (entry,) = recorded.trace.models()
    assert (entry.api, entry.provider, entry.stream) == ("workbench", "mini", "stream" in way)
    assert entry.text.strip() == "You said: a b"
    assert [message.text for message in entry.messages] == ["a b"]


@pytest.mark.parametrize("way", WAYS)
def test_an_edited_reply_is_made_of_what_the_edit_says(world: World, way: str) -> None:
    """The framework's own JSON is of the old reply, so the object is made of the new one."""
    recorded = workbench.record(say, world, "a b", way)
    edits = recorded.trace.edit().reply(turn(1), text="Quite another thing.")
    forked = workbench.fork(say, recorded.trace, world, "a b", way, edits=edits)
    assert forked.status == "ok", forked.error
    assert "".join(each.text for each in forked.output) == "Quite another thing."
    assert {each.mood for each in forked.output} == {"calm"}
    assert world.asked == ["a b"]


@pytest.mark.parametrize("way", WAYS)
def test_an_edited_request_reaches_the_framework(world: World, way: str) -> None:
    """What an edit asks is what the model is asked, in the framework's own terms."""
    recorded = workbench.record(say, world, "a b", way)
    change = MessageEdit(op="replace", number=1, text="c d")
    edits = recorded.trace.edit().request(turn(1), messages=[change])
    forked = workbench.fork(say, recorded.trace, world, "a b", way, edits=edits)
    assert forked.status == "ok", forked.error
    assert "".join(each.text for each in forked.output).strip() == "You said: c d"
    assert world.asked == ["a b", "c d"]


@pytest.mark.parametrize("way", WAYS)
def test_another_request_is_a_drift(world: World, way: str) -> None:
    """A strict replay never answers a question that was not asked."""
    recorded = workbench.record(say, world, "a b", way)
    again = workbench.replay(say, recorded.trace, world, "a c", way)
    assert again.status == "drifted"
    assert world.asked == ["a b"]


@pytest.mark.parametrize("recorded_as", WAYS)
def test_streams_and_plain_calls_answer_each_other(world: World, recorded_as: str) -> None:
    """A streamed recording answers a plain call and the other way round, in the framework's
    objects."""
    recorded = workbench.record(say, world, "a b", recorded_as)
    asked_as = "plain" if "stream" in recorded_as else "stream"
    again = workbench.replay(say, recorded.trace, world, "a b", asked_as)
    assert again.status == "ok", again.error
    assert "".join(each.text for each in again.output).strip() == "You said: a b"


@pytest.mark.parametrize("way", WAYS)
def test_an_exception_is_raised_again(world: World, way: str) -> None:
    """What the model raised is raised by the replay, with its type and text."""
    world.error = LookupError("no such model")
    recorded = workbench.record(say, world, "a b", way)
    again = workbench.replay(say, recorded.trace, world, "a b", way)
    assert (recorded.status, again.status) == ("failed", "failed")
    assert repr(again.error) == repr(recorded.error) == "LookupError('no such model')"


@pytest.mark.parametrize("way", WAYS)
def test_faults_hit_it(world: World, way: str) -> None:
    """An injected 429 fails the call, and a cut stream breaks off after its pieces."""
    recorded = workbench.record(say, world, "a b", way)
    failed = workbench.fork(
        say, recorded.trace, world, "a b", way, faults=[HttpError(429).at(turn(1))]
    )
    assert getattr(failed.error, "status", None) == 429
    if "stream" in way:
        cut = StreamTruncate(2).at(turn(1))
        broken = workbench.fork(say, recorded.trace, world, "a b", way, faults=[cut])
        assert broken.status == "failed"
        assert len(broken.trace.models()[0].chunks) == 2


def test_a_call_that_an_sdk_sends_inside_is_the_same_call(server: Server) -> None:
    """The framework's call is recorded; that of the SDK below it is not recorded once more."""
    client = openai.OpenAI(base_url=server.url, api_key="k", max_retries=0)

    def ask(question: str) -> Said:
        messages: Any = [{"role": "user", "content": question}]
        said = client.chat.completions.create(model="ok", messages=messages)
        return Said(str(said.choices[0].message.content))

    def agent() -> Said:
        said: Said = model_call(SaidCodec(), request("hi"), "hi", ask)
        return said

    recorded = workbench.record(agent)
    client.close()
    assert [entry.api for entry in recorded.trace.models()] == ["workbench"]
    assert workbench.replay(agent, recorded.trace).output == Said("You said: hi")
    assert len(server.seen) == 1
