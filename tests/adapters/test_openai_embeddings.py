"""Embeddings through the SDK: recorded as the wire has them, replayed as numbers."""

import asyncio
from typing import Any

import pytest
from loopback import Server
from openai_results import async_client, client

import workbench
from workbench.faults import HttpError, MalformedResponse


def made(server: Server) -> Any:
    """A sync client."""
    return client(f"{server.url}/v1")


def embed(server: Server, texts: Any, **more: Any) -> list[list[float]]:
    """The vectors of some texts."""
    found = made(server).embeddings.create(model="ok", input=texts, **more)
    return [each.embedding for each in found.data]


def test_vectors_are_kept_as_they_travelled(speaker: Server) -> None:
    """The SDK asks for base64 by itself, where it can read that: so is the trace, and the agent
    gets numbers, live and replayed."""

    def agent() -> Any:
        return embed(speaker, ["one", "three"]), embed(speaker, "a", encoding_format="float")

    with workbench.recording() as recorded:
        live = agent()
    assert live == ([[3.0, 0.5, pytest.approx(-1e-7)], [5.0, 0.5, pytest.approx(-1e-7)]],
                    [[1.0, 0.5, -1e-7]])  # fmt: skip
    first, second = recorded.trace.entries
    assert (first.api, first.kind, first.request["path"]) == (
        "openai.embeddings",
        "model",
        "/embeddings",
    )
    assert first.body == speaker.seen[0].body
    in_base64 = first.body.get("encoding_format") == "base64"
    assert isinstance(first.response["body"]["data"][0]["embedding"], str) == in_base64
    assert second.response["body"]["data"][0]["embedding"] == [1.0, 0.5, -1e-7]
    assert (first.provider, first.reply_model) == ("local", "served-model-1")
    speaker.stop()
    with workbench.replaying(recorded.trace) as replayed:
        assert agent() == live
    assert replayed.result.status == "ok"


def test_another_text_has_no_recorded_vector(speaker: Server) -> None:
    """A replay never gives the vector of something else."""
    recorded = workbench.record(embed, speaker, "one")
    sent = len(speaker.seen)
    replayed = workbench.replay(embed, recorded.trace, speaker, "two")
    assert (replayed.status, len(speaker.seen)) == ("drifted", sent)


def test_a_lenient_replay_gives_zeros(speaker: Server) -> None:
    """Where nothing is left: one vector for each text, as long as was asked for."""

    def agent(*more: str) -> Any:
        first = embed(speaker, "one")
        return embed(speaker, list(more), dimensions=3) if more else first

    recorded = workbench.record(agent)
    speaker.stop()
    replayed = workbench.replay(agent, recorded.trace, "a", "b", on_miss="placeholder")
    assert (replayed.status, replayed.output) == ("ok", [[0.0] * 3] * 2)


def test_a_fork_asks_for_them_anew_after_its_cut(speaker: Server) -> None:
    """Vectors before the cut are the recorded ones, later ones are live."""

    def agent() -> list[list[float]]:
        return embed(speaker, "one") + embed(speaker, "three")

    recorded = workbench.record(agent)
    forked = workbench.fork(agent, recorded.trace, live_from=workbench.turn(2))
    assert (forked.status, forked.output) == ("ok", recorded.output)
    assert [each.how for each in forked.calls] == ["replayed", "live"]
    assert len(speaker.seen) == 3


def test_inside_a_tool_they_are_part_of_it(speaker: Server) -> None:
    """The tool is answered whole when it is replayed, with what it asked inside."""

    @workbench.tool(effect="read")
    def nearest(text: str) -> float:
        """Look a text up."""
        return float(embed(speaker, text)[0][0])

    recorded = workbench.record(lambda: nearest("four"))
    tool, inner = sorted(recorded.trace.entries, key=lambda each: each.kind, reverse=True)
    assert (inner.api, inner.enclosing) == ("openai.embeddings", tool.id)
    speaker.stop()
    replayed = workbench.replay(lambda: nearest("four"), recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", 4.0)


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("layer", ["above", "below"])
def test_a_fault_strikes_as_on_any_other_call(speaker: Server, mode: str, layer: Any) -> None:
    """Above the SDK's retries the agent gets the error; below them the SDK gets over it."""

    def agent() -> Any:
        async def go() -> Any:
            async with async_client(f"{speaker.url}/v1", max_retries=2) as one:
                return await one.embeddings.create(model="ok", input="one")

        try:
            if mode == "async":
                found = asyncio.run(go())
            else:
                with client(f"{speaker.url}/v1", max_retries=2) as one:
                    found = one.embeddings.create(model="ok", input="one")
        except Exception as error:
            return type(error).__name__
        return found.data[0].embedding[0]

    recorded = workbench.record(agent)
    speaker.stop()
    fault = HttpError(429, retry_after_s=9).at(layer=layer)
    spoilt = workbench.replay(agent, recorded.trace, faults=[fault])
    assert spoilt.output == ("RateLimitError" if layer == "above" else 3.0)
    broken = workbench.replay(agent, recorded.trace, faults=[MalformedResponse()])
    assert broken.output == "JSONDecodeError"
