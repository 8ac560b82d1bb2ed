"""Injected faults on responses: what agent code gets is what the provider makes it get."""

import asyncio
import json
from importlib.util import find_spec
from typing import Any

import pytest
from loopback import Server
from openai_responses import amade, given, made, said
from openai_results import see, see_error

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
    Timeout,
)

pytestmark = pytest.mark.skipif(
    find_spec("openai.types.responses") is None, reason="this release has no responses"
)
MODES = ["sync", "async"]
KINDS = ["plain", "stream", "tools"]


def run(mode: str, url: str, model: str = "ok", kind: str = "plain", tries: int = 0) -> Any:
    """One call, as agent code sees it."""
    return (_ask if mode == "sync" else _aask)(url, model, kind, tries)


def _ask(url: str, model: str, kind: str, tries: int) -> Any:
    seen: list[Any] = []
    with made(url, max_retries=tries) as client:
        try:
            found: Any = client.responses.create(**given(kind, model=model))
            if kind == "plain":
                return {"result": see(found)}
            seen.extend(see(each) for each in found)
        except Exception as error:
            return {"events": seen, "error": see_error(error)}
    return {"events": seen}


def _aask(url: str, model: str, kind: str, tries: int) -> Any:
    async def go() -> Any:
        seen: list[Any] = []
        async with amade(url, max_retries=tries) as client:
            try:
                found: Any = await client.responses.create(**given(kind, model=model))
                if kind == "plain":
                    return {"result": see(found)}
                async for each in found:
                    seen.append(see(each))
            except Exception as error:
                return {"events": seen, "error": see_error(error)}
        return {"events": seen}

    return asyncio.run(go())


def replayed(speaker: Server, fault: Any, *asked: Any) -> Any:
    """A call recorded, then replayed offline with a fault that hits it."""
    mode, *rest = asked
    with workbench.recording() as recorded:
        run(mode, speaker.url, *rest)
    speaker.stop()
    with workbench.replaying(recorded.trace, faults=[fault]) as again:
        found = run(mode, speaker.url, *rest)
    assert [each for each, _ in again.result.fired] == [fault]
    (entry,) = again.trace.models()
    assert (entry.source, (entry.fault or {}).get("type")) == ("fault", fault.type)
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [400, 429, 500, 529])
def test_an_http_error_is_the_one_that_a_server_causes(
    speaker: Server, mode: str, kind: str, status: int
) -> None:
    """Type, text, code, body, request, response: a handler finds all that it reads."""
    real = run(mode, speaker.url, str(status), kind)["error"]
    waits = {"retry-after-ms": "5", "retry-after": "1"} if status >= 429 else {}
    body = real["response"][2]
    fault = HttpError(status, body=body, headers={"x-request-id": "req_1", **waits})
    found = replayed(speaker, fault, mode, "ok", kind)["error"]
    assert _asked(found) == _asked(real)
    assert found["status_code"] == status


def _asked(error: Any) -> Any:
    """An exception, less the model, which the real failure is asked for by."""
    path, method, body = error.pop("request")
    return {**error, "request": (path, method, {**body, "model": ""})}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["plain", "stream"])
@pytest.mark.parametrize(
    ("fault", "error", "cause"),
    [
        (Timeout(after_ms=50), "openai.APITimeoutError", "ReadTimeout"),
        (ConnectionReset(), "openai.APIConnectionError", "ReadError"),
        (ConnectionRefused(), "openai.APIConnectionError", "ConnectError"),
    ],
)
def test_a_lost_connection_is_the_sdks_own(
    speaker: Server, mode: str, kind: str, fault: Any, error: str, cause: str
) -> None:
    """The SDK's exception holds the request, and behind it the transport's own."""
    found = replayed(speaker, fault, mode, "ok", kind)["error"]
    assert (found["kind"], found["cause"][0].rpartition(".")[2]) == (error, cause)
    assert found["request"][2]["input"] == "hello"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["stream", "tools"])
@pytest.mark.parametrize("end", ["reset", "stall"])
def test_a_stream_breaks_after_exactly_that_event(
    speaker: Server, mode: str, kind: str, end: Any
) -> None:
    """The reader has three events, then the exception that a real break causes."""
    real = run(mode, speaker.url, f"mid-{end}", kind)
    found = replayed(speaker, StreamTruncate(3, end=end), mode, "ok", kind)
    assert found["events"] == real["events"]
    assert len(found["events"]) == 3
    assert found["error"]["kind"] == real["error"]["kind"]
    assert bool(found["error"]["cause"]) == bool(real["error"]["cause"])


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_that_just_ends_raises_nothing(speaker: Server, mode: str) -> None:
    """A clean early end: only that no event says so tells."""
    real = run(mode, speaker.url, "mid-clean", "stream")
    assert replayed(speaker, StreamTruncate(3, end="clean"), mode, "ok", "stream") == real
    assert len(real["events"]) == 3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_model_refuses_in_its_own_part(speaker: Server, mode: str, kind: str) -> None:
    """A refusal is a part of the message, plain or event by event; nothing else is said."""
    found = replayed(speaker, Refusal("No."), mode, "ok", kind)
    assert "error" not in found
    whole = _whole(found)
    parts = [part for item in whole["output"] for part in item.get("content") or []]
    assert [(part["type"], part.get("refusal")) for part in parts] == [("refusal", "No.")]
    assert not [item for item in whole["output"] if item["type"] == "function_call"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_a_reply_is_cut_off(speaker: Server, mode: str, kind: str) -> None:
    """The status says that it is incomplete, and why; the text is what the limit leaves."""
    whole = _whole(replayed(speaker, CutOff(2), mode, "ok", kind))
    assert whole["status"] == "incomplete"
    assert whole["incomplete_details"]["reason"] == "max_output_tokens"
    texts = [part["text"] for item in whole["output"] for part in item.get("content") or []]
    assert "".join(texts) == "You said"


@pytest.mark.parametrize("mode", MODES)
def test_a_broken_tool_call_keeps_its_id(speaker: Server, mode: str) -> None:
    """It is for the agent to notice that the arguments are no JSON."""
    found = replayed(speaker, MalformedToolCall("bad_json"), mode, "ok", "tools")
    (call,) = [item for item in _whole(found)["output"] if item["type"] == "function_call"]
    assert (call["call_id"], call["name"]) == ("call_1", "get_order")
    with pytest.raises(json.JSONDecodeError):
        json.loads(call["arguments"])
    deltas = [
        each["data"]["delta"]
        for each in found["events"]
        if each["data"]["type"] == "response.function_call_arguments.delta"
    ]
    assert "".join(deltas) == call["arguments"]


def _whole(found: Any) -> Any:
    """The response: the one that came, or the last event's."""
    if "result" in found:
        return found["result"]["data"]
    return found["events"][-1]["data"]["response"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_that_is_not_json_breaks_as_a_real_one(
    speaker: Server, mode: str, kind: str
) -> None:
    """A body is refused by the SDK's parser; a stream arrives by half, then breaks."""
    real = run(mode, speaker.url, "badjson" if kind == "plain" else "mid-bad", kind)["error"]
    found = replayed(speaker, MalformedResponse(), mode, "ok", kind)
    assert found["error"]["kind"] == real["kind"] == "json.decoder.JSONDecodeError"
    assert bool(found["events"]) == (kind != "plain")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_below_the_retries_the_sdk_gets_over_a_fault_by_itself(
    speaker: Server, mode: str, kind: str
) -> None:
    """Two tries fail, the third gets what was recorded, and the agent sees only that."""
    with workbench.recording() as recorded:
        live = run(mode, speaker.url, "ok", kind, 2)
    speaker.stop()
    for each in (HttpError(429, retry_after_s=30), ConnectionReset(), Timeout()):
        fault = each.at(times=2, layer="below")
        with workbench.replaying(recorded.trace, faults=[fault]) as again:
            assert run(mode, speaker.url, "ok", kind, 2) == live
        assert any("the SDK made 3 tries by itself" in note for note in again.result.notices)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_live_answer_is_spoilt_on_its_way(speaker: Server, mode: str, kind: str) -> None:
    """The world is asked, what it said is changed, and the entry says so."""
    with workbench.recording() as recorded:
        run(mode, speaker.url, "ok", kind)
    sent = len(speaker.seen)
    fault = Refusal("No.")
    with workbench.forking(recorded.trace, live_from=turn(1), faults=[fault]) as fork:
        found = run(mode, speaker.url, "ok", kind)
    assert len(speaker.seen) == sent + 1
    assert "error" not in found
    (entry,) = fork.trace.models()
    assert entry.reply is not None
    assert entry.reply.refusal == "No."


def test_a_class_that_was_asked_for_meets_a_refusal(speaker: Server) -> None:
    """There is no parsed object, and the refusal is where the SDK puts it."""
    from pydantic import BaseModel

    class City(BaseModel):
        city: str

    def agent() -> Any:
        found: Any = made(speaker.url).responses.parse(**given(), text_format=City)
        return found.output_parsed, said(found)

    recorded = workbench.record(agent)
    assert recorded.output[0].city == "Bergen"
    speaker.stop()
    assert workbench.replay(agent, recorded.trace, faults=[Refusal("No.")]).output == (None, "No.")


SPOILT: list[tuple[Any, str]] = [
    (MalformedResponse(), "plain"), (MalformedResponse(), "stream"), (Refusal(), "tools"),
    (CutOff(), "stream"), (StreamTruncate(2), "tools"), (HttpError(500), "stream"),
]  # fmt: skip


@pytest.mark.parametrize(("fault", "kind"), SPOILT, ids=lambda each: getattr(each, "type", each))
def test_what_a_spoilt_run_recorded_replays_by_itself(
    speaker: Server, fault: Any, kind: str
) -> None:
    """The trace of a run with faults needs no faults again: it gives what the agent got."""
    with workbench.recording() as recorded:
        run("sync", speaker.url, "ok", kind)
    with workbench.replaying(recorded.trace, faults=[fault]) as spoilt:
        found = run("sync", speaker.url, "ok", kind)
    speaker.stop()
    with workbench.replaying(spoilt.trace) as again:
        assert run("sync", speaker.url, "ok", kind) == found
    assert again.result.status == "ok"


def test_an_error_is_told_apart_by_its_usual_code(speaker: Server) -> None:
    """A fault of a status alone has the provider's own words for it."""
    found = replayed(speaker, HttpError(429), "sync")["error"]
    assert (found["kind"], found["code"]) == ("openai.RateLimitError", "rate_limit_exceeded")
