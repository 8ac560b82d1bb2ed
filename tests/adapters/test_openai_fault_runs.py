"""Injected faults in whole runs through the SDK: on live calls, and below the SDK's retries."""

import asyncio
from typing import Any

import openai
import pytest
from openai_results import aask, ask, client, options, see
from openai_server import Server

import workbench
from workbench import turn
from workbench.faults import (
    ConnectionRefused,
    ConnectionReset,
    CutOff,
    HttpError,
    MalformedResponse,
    MalformedToolCall,
    Refusal,
    StreamTruncate,
)

MODES = ["sync", "async"]
KINDS = ["plain", "stream", "tools"]


def run(mode: str, url: str, model: str, kind: str) -> dict[str, Any]:
    """One call of sync or of async code, as agent code sees it."""
    return ask(url, model, kind) if mode == "sync" else asyncio.run(aask(url, model, kind))


def live(server: Server, fault: Any, ask_it: Any) -> tuple[Any, Any]:
    """What a live call gives with a fault on it, and its entry."""
    with workbench.recording() as recorded:
        ask_it()
    before = len(server.seen)
    with workbench.forking(recorded.trace, live_from=turn(1), faults=[fault]) as fork:
        found = ask_it()
    assert len(server.seen) == before + 1
    (entry,) = fork.trace.models()
    return found, entry


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_live_answer_is_spoilt_as_a_recorded_one(server: Server, mode: str, kind: str) -> None:
    """The world is asked, what it said is changed on its way, and the entry says so."""
    found, entry = live(server, Refusal("No."), lambda: run(mode, server.url, "ok", kind))
    assert "error" not in found
    assert entry.reply.refusal == "No."
    assert (entry.source, entry.fault["type"]) == ("fault", "refusal")


def test_a_live_stream_is_spoilt_in_whatever_form_it_was_asked_for(server: Server) -> None:
    """Also where the agent gets the HTTP response and reads the stream from that."""

    def raw() -> list[Any]:
        asked: Any = client(server.url).chat.completions
        found = asked.with_raw_response.create(**options("ok", "stream"))
        return [see(chunk)["data"]["choices"][0]["delta"] for chunk in found.parse()]

    found, entry = live(server, CutOff(2), raw)
    assert "".join(delta.get("content") or "" for delta in found) == "You said"
    assert entry.reply.finish_reason == "length"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("model", ["ok", "mid-reset"])
def test_a_live_stream_that_a_fault_does_not_fit_is_as_it_was(
    server: Server, mode: str, model: str
) -> None:
    """It was read ahead to see; the agent gets every chunk, and what broke it, all the same."""
    bare = run(mode, server.url, model, "stream")
    with workbench.recording() as recorded:
        run(mode, server.url, model, "stream")
    found: Any = None
    fault = MalformedToolCall()
    with (
        pytest.raises(workbench.DriftError, match="never fired") as caught,
        workbench.forking(recorded.trace, live_from=turn(1), faults=[fault]),
    ):
        found = run(mode, server.url, model, "stream")
    assert found["chunks"] == bare["chunks"]
    assert found.get("error", {}).get("kind") == bare.get("error", {}).get("kind")
    why = "calls no tool, and the request offers none" if model == "ok" else "fails anyway"
    assert why in str(caught.value)


# -- below the retries -----------------------------------------------------------------------------


def patient(mode: str, url: str, model: str = "ok") -> str:
    """An agent whose SDK may try three times, and which asks twice more itself."""

    def once() -> str:
        made = client(url, max_retries=2)
        return (
            made.chat.completions.create(**options(model, "plain")).choices[0].message.content or ""
        )

    async def aonce() -> str:
        async with openai.AsyncOpenAI(base_url=url, api_key="k", max_retries=2) as made:
            result: Any = await made.chat.completions.create(**options(model, "plain"))
            return str(result.choices[0].message.content)

    said = ""
    for _ in range(3):
        try:
            return said + (once() if mode == "sync" else asyncio.run(aonce()))
        except openai.APIError as error:
            said += f"{type(error).__name__}, "
    return said


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("times", "said", "attempts"),
    [
        (1, "You said: hello", [1]),
        (2, "You said: hello", [1]),
        (3, "RateLimitError, You said: hello", [1, 2]),
        (5, "RateLimitError, You said: hello", [1, 2]),
        (9, "RateLimitError, RateLimitError, RateLimitError, ", [1, 2, 3]),
    ],
)
def test_below_the_retries_the_sdk_meets_the_fault_first(
    server: Server, mode: str, times: int, said: str, attempts: list[int]
) -> None:
    """Each of the SDK's tries uses the fault up by one; the agent only sees what is left."""
    with workbench.recording() as recorded:
        patient(mode, server.url)
    server.stop()
    fault = HttpError(429, retry_after_s=30).at(turn(1), times=times, layer="below")
    with workbench.replaying(recorded.trace, faults=[fault]) as again:
        found = patient(mode, server.url)
    assert found == said
    assert [entry.attempt for entry in again.trace.models()] == attempts
    notes = [note for note in again.result.notices if "by itself" in note]
    first = min(3, times + 1)
    assert f"the SDK made {first} tries by itself" in notes[0]
    assert f"would have waited {30 * (first - 1)} s" in notes[0]


def test_a_live_call_below_the_retries_reaches_the_world_once(server: Server) -> None:
    """Only the tries that the fault leaves are sent."""
    with workbench.recording() as recorded:
        patient("sync", server.url)
    before = len(server.seen)
    fault = ConnectionReset().at(turn(1), times=2, layer="below")
    with workbench.forking(recorded.trace, live_from=turn(1), faults=[fault]) as fork:
        assert patient("sync", server.url) == "You said: hello"
    assert len(server.seen) == before + 1
    (entry,) = fork.trace.models()
    assert entry.source == "live"
    assert (entry.fault or {})["type"] == "connection_reset"


def test_a_retried_stream_is_one_call_of_two_attempts(server: Server) -> None:
    """A cut aimed at the first attempt leaves the second alone; both are of one turn."""

    def agent() -> list[int]:
        lengths = []
        for _ in range(3):
            found = ask(server.url, "ok", "stream")
            lengths.append(len(found["chunks"]))
            if "error" not in found:
                break
        return lengths

    with workbench.recording() as recorded:
        (whole,) = agent()
    server.stop()
    fault = StreamTruncate(2).at(turn(1), attempt=1, times=3)
    with workbench.replaying(recorded.trace, faults=[fault]) as again:
        assert agent() == [2, whole]
    assert [entry.attempt for entry in again.trace.models()] == [1, 2]
    assert len(again.trace.turns) == 1


@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_a_blind_retry_of_a_cut_off_reply_is_another_attempt(server: Server, kind: str) -> None:
    """An agent that asks the very same again tries again: one turn, and the fault can be aimed at
    one of its attempts."""

    def finish() -> Any:
        found = run("sync", server.url, "ok", kind)
        if kind == "plain":
            return found["result"]["data"]["choices"][0]["finish_reason"]
        return found["chunks"][-1]["data"]["choices"][0]["finish_reason"]

    def agent() -> list[Any]:
        reasons = [finish()]
        while reasons[-1] == "length" and len(reasons) < 3:
            reasons.append(finish())
        return reasons

    with workbench.recording() as recorded:
        assert agent() == ["stop"]
    server.stop()
    for fault, reasons in (
        (CutOff(1).at(turn(1), attempt=1, times=3), ["length", "stop"]),
        (CutOff(1).at(turn(1), times=2), ["length", "length", "stop"]),
    ):
        with workbench.replaying(recorded.trace, faults=[fault]) as again:
            assert agent() == reasons
        attempts = [entry.attempt for entry in again.trace.models()]
        assert attempts == list(range(1, len(reasons) + 1))
        assert len(again.trace.turns) == 1


def test_what_a_spoilt_run_recorded_replays_by_itself(server: Server) -> None:
    """The trace of a run with faults needs no faults again: it gives what the agent got."""
    kinds: list[tuple[Any, str]] = [
        (MalformedResponse(), "plain"), (MalformedResponse(), "stream"), (Refusal(), "tools"),
        (CutOff(), "stream"), (ConnectionRefused(), "plain"), (StreamTruncate(2), "tools"),
    ]  # fmt: skip
    traces = []
    for fault, kind in kinds:
        with workbench.recording() as recorded:
            run("sync", server.url, "ok", kind)
        with workbench.replaying(recorded.trace, faults=[fault]) as spoilt:
            found = run("sync", server.url, "ok", kind)
        traces.append((spoilt.trace, kind, found))
    server.stop()
    for trace, kind, found in traces:
        with workbench.replaying(trace) as again:
            assert run("sync", server.url, "ok", kind) == found
        assert again.result.status == "ok"
