"""Recordings written by hand, replayed by agents that speak another shape than they do."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from handmade import client, put
from scripted import Lost, ask

import workbench as wb
from workbench.errors import DriftError
from workbench.seam.calls import Call
from workbench.seam.served import serve_entry

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Puts a recording into a file."""
    return functools.partial(put, tmp_path)


def _chat(**options: Any) -> Any:
    with wb.step("draft"), client() as model:
        return model.chat.completions.create(
            model="gpt-4o-mini", messages=[{"role": "user", "content": "hi"}], **options
        )


def test_an_sdk_gets_its_own_types(write: Write) -> None:
    """Text, tool calls, finish reason, usage and model arrive as the SDK has them."""
    turn = {
        "content": "",
        "model": "gpt-4o-mini-2024",
        "tool_calls": [{"id": "c1", "name": "look", "arguments": {"at": 1}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3, "reasoning_tokens": 1},
        "finish_reason": "tool_use",
    }
    seen: list[Any] = []
    run = wb.replay(lambda: seen.append(_chat()), write({"draft": turn}))
    assert run.status == "ok"
    (reply,) = seen
    assert isinstance(reply, openai.types.chat.ChatCompletion)
    (choice,) = reply.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    assert choice.message.tool_calls is not None
    (call,) = choice.message.tool_calls
    assert call.type == "function"
    assert (call.id, call.function.name, call.function.arguments) == ("c1", "look", '{"at":1}')
    assert reply.model == "gpt-4o-mini-2024"
    assert reply.usage is not None
    assert (reply.usage.prompt_tokens, reply.usage.total_tokens) == (12, 15)
    assert reply.usage.completion_tokens_details is not None
    assert reply.usage.completion_tokens_details.reasoning_tokens == 1


def test_an_sdk_streams_a_plain_entry(write: Write) -> None:
    """A person writes the text; an agent that streams gets it in chunks, finish reason last."""
    seen: list[Any] = []

    def agent() -> str:
        with wb.step("draft"), client() as model:
            stream = model.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}], stream=True
            )
            seen.extend(stream)
        return "".join(chunk.choices[0].delta.content or "" for chunk in seen)

    text = "Release 1.4 is in final testing, and ships on Thursday."
    run = wb.replay(agent, write({"draft": {"content": text}}))
    assert (run.status, run.output) == ("ok", text)
    assert len(seen) > 2
    assert seen[-1].choices[0].finish_reason == "stop"


CUT = {"content": "one two three four", "fault": {"type": "stream_truncate", "after_chunks": 2}}


def _read(stream: Iterator[Any], text: Callable[[Any], str]) -> list[str]:
    said: list[str] = []
    try:
        for chunk in stream:
            said += [text(chunk)] if text(chunk) else []
    except (Lost, httpx.ReadError, openai.APIConnectionError):  # the last two as the SDK has it
        said.append("lost")
    return said


def test_a_cut_stream_gives_its_words_and_fails(write: Write) -> None:
    """Two words, then the connection drops, at the neutral seam."""

    def agent() -> list[str]:
        with wb.step("draft"):
            return _read(ask("hi", stream=True), lambda chunk: chunk.get("text", ""))

    run = wb.replay(agent, write({"draft": CUT}))
    assert run.output == ["one ", "two ", "lost"]


def test_a_cut_stream_fails_through_an_sdk(write: Write) -> None:
    """The same words, and the SDK's own error for a lost connection."""

    def agent() -> list[str]:
        with wb.step("draft"), client() as model:
            stream = model.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}], stream=True
            )
            return _read(iter(stream), lambda chunk: chunk.choices[0].delta.content or "")

    run = wb.replay(agent, write({"draft": CUT}))
    assert run.output == ["one ", "two ", "lost"]


def test_a_call_that_does_not_stream_fails_at_once(write: Write) -> None:
    """A cut stream has no plain form: such a call fails as if the connection was lost."""

    def agent() -> str:
        with wb.step("draft"), pytest.raises(Lost):
            ask("hi")
        return "lost"

    assert wb.replay(agent, write({"draft": [CUT]})).output == "lost"


def test_an_answer_may_be_spoiled(write: Write) -> None:
    """A fault of the answer is applied to what the turn says, and the turn is used up."""
    turn = {"content": "one two three", "fault": {"type": "cut_off", "after_tokens": 1}}

    def agent() -> list[Any]:
        with wb.step("draft"):
            return [ask("a"), ask("b")]

    run = wb.replay(agent, write({"draft": [turn, {"content": "whole"}]}))
    assert run.status == "ok"
    first, second = run.output
    assert (first["content"], first["finish_reason"]) == ("one ", "length")
    assert second["content"] == "whole"


def _careless() -> str:
    with wb.step("draft"):
        try:
            return str(ask("hi")["content"])
        except Exception:
            return "went on"


def _embed(inputs: Any) -> Any:
    """A call for embeddings at the seam's own door."""

    def ask_for(trace: wb.Trace, api: str) -> Any:
        call = Call(kind="model", api=api, request={"body": {"model": "m", "input": inputs}})
        return serve_entry(call, trace.entries[0]).response

    return ask_for


def test_recorded_vectors_answer_either_shape(write: Write) -> None:
    """An embedding step is answered with its vectors, as the asking SDK has them."""
    trace = wb.load(write({"embed": {"embeddings": [[1, 0], [0, 1]], "model": "e-1"}}))
    ask_for = _embed(["a", "b"])
    assert ask_for(trace, "workbench.embeddings")["body"]["embeddings"] == [[1, 0], [0, 1]]
    body = ask_for(trace, "openai.embeddings")["body"]
    made = openai.types.CreateEmbeddingResponse.model_validate(body)
    assert [each.embedding for each in made.data] == [[1, 0], [0, 1]]
    assert made.model == "e-1"


@pytest.mark.parametrize("api", ["workbench.embeddings", "openai.embeddings"])
def test_another_number_of_inputs_fails(write: Write, api: str) -> None:
    """An embedding step fails at once when it asks for another number of vectors than there are."""
    trace = wb.load(write({"embed": {"embeddings": [[1, 0], [0, 1]]}}))
    with pytest.raises(DriftError, match=r"the call embeds 3 inputs, .* holds 2 vectors"):
        _embed(["a", "b", "c"])(trace, api)
    with pytest.raises(DriftError, match=r"the call embeds 1 input, .* holds 2 vectors"):
        _embed("a")(trace, api)


def test_vectors_are_no_reply(write: Write) -> None:
    """A chat call that meets an embedding entry fails with the reason, and gets no empty text."""
    trace = wb.load(write({"embed": {"embeddings": [[1, 0]]}}))
    with pytest.raises(DriftError, match="the recorded entry holds embeddings only"):
        _embed([])(trace, "openai.chat")
    run = wb.replay(_careless, write({"draft": {"embeddings": [[1, 0]]}}))
    assert run.status == "drifted"
    assert "embeddings only" in str(run.drift)
    chat = wb.load(write({"draft": {"content": "x"}}, "chat.json"))
    with pytest.raises(DriftError, match="asks for embeddings, and the recorded entry has none"):
        _embed(["a"])(chat, "workbench.embeddings")


async def _through_io(io: wb.AgentIO, texts: list[str]) -> Any:
    with wb.step("draft"):
        reply = await io.call_model(model="m", messages=[{"role": "user", "content": "hi"}])
    with wb.step("embed"):
        return reply.text, (await io.embed(model="e", texts=texts)).vectors


def test_an_agent_of_ones_own_is_answered_too(write: Write) -> None:
    """An agent that reaches the world through an AgentIO replays the same files."""
    path = write({"draft": {"content": "x"}, "embed": {"embeddings": [[1, 0], [0, 1]]}})
    run = wb.replay(_through_io, path, ["a", "b"])
    assert (run.status, run.output) == ("ok", ("x", [[1, 0], [0, 1]]))
    run = wb.replay(_through_io, path, ["a"])
    assert run.status == "drifted"
    assert "embeds 1 input" in str(run.drift)


def test_a_lenient_replay_embeds_with_zeros(write: Write) -> None:
    """Lenient: an embedding step that is missing fails no call either."""
    path = write({"draft": {"content": "x"}})
    run = wb.replay(_through_io, path, ["a", "b"], on_miss="placeholder")
    assert (run.status, run.output) == ("ok", ("x", [[0.0], [0.0]]))
