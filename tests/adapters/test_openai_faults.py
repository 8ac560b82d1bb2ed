"""Injected faults through the SDK: what agent code gets is what the provider makes it get."""

import asyncio
from typing import Any

import openai
import pytest
from openai_results import aask, ask, client, options
from openai_server import Server
from pydantic import BaseModel

import workbench
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

MODES = ["sync", "async"]
KINDS = ["plain", "stream", "tools"]


class City(BaseModel):
    """What a schema asks for."""

    city: str


def run(mode: str, url: str, model: str, kind: str) -> dict[str, Any]:
    """One call of sync or of async code, as agent code sees it."""
    return ask(url, model, kind) if mode == "sync" else asyncio.run(aask(url, model, kind))


def replayed(server: Server, mode: str, model: str, kind: str, fault: Any) -> dict[str, Any]:
    """The same call recorded, then replayed offline with a fault that hits it."""
    with workbench.recording() as recorded:
        run(mode, server.url, model, kind)
    server.stop()
    with workbench.replaying(recorded.trace, faults=[fault]) as again:
        found = run(mode, server.url, model, kind)
    assert [each for each, _ in again.result.fired] == [fault]
    (entry,) = again.trace.models()
    assert (entry.source, (entry.fault or {}).get("type")) == ("fault", fault.type)
    return found


REAL: list[tuple[str, Any]] = [
    (
        "429",
        HttpError(
            429,
            retry_after_s=0.2,
            body={
                "error": {
                    "message": "Slow down",
                    "type": "requests",
                    "code": "rate_limit_exceeded",
                    "param": None,
                }
            },
        ),
    ),
    ("500", HttpError(500, body={"error": {"message": "boom", "type": "server_error"}})),
    (
        "529",
        HttpError(
            529, body={"type": "error", "error": {"type": "overloaded", "message": "Overloaded"}}
        ),
    ),
    (
        "html502",
        HttpError(502, body="<html>Bad gatéway</html>", headers={"content-type": "text/html"}),
    ),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("model", "fault"), REAL, ids=[name for name, _ in REAL])
def test_an_http_error_is_the_one_that_a_server_causes(
    server: Server, mode: str, kind: str, model: str, fault: Any
) -> None:
    """Type, text, code, body, request, response and headers: a handler finds all it reads."""
    real = run(mode, server.url, model, kind)
    fault = fault.model_copy(update={"headers": {**fault.headers, "x-request-id": "req_1"}})
    assert replayed(server, mode, model, kind, fault) == real


@pytest.mark.parametrize("mode", MODES)
def test_the_usual_body_has_the_providers_code(server: Server, mode: str) -> None:
    """A fault of a status alone is told apart by its code, as a real one is."""
    error = replayed(server, mode, "ok", "plain", HttpError(429, retry_after_s=3))["error"]
    assert (error["kind"], error["code"]) == ("openai.RateLimitError", "rate_limit_exceeded")
    assert error["response"][1]["retry-after"] == "3"
    assert error["body"]["type"] == "requests"


LOST: list[tuple[Any, str, str, bool]] = [
    (Timeout(after_ms=50), "openai.APITimeoutError", "ReadTimeout", True),
    (ConnectionReset(), "openai.APIConnectionError", "ReadError", True),
    (ConnectionRefused(), "openai.APIConnectionError", "ConnectError", True),
]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("fault", "error", "cause", "_"), LOST, ids=["late", "lost", "refused"])
def test_a_lost_connection_is_the_sdks_own(
    server: Server, mode: str, kind: str, fault: Any, error: str, cause: str, _: bool
) -> None:
    """The SDK's exception holds the request, and behind it the transport's own."""
    found = replayed(server, mode, "ok", kind, fault)["error"]
    assert found["kind"] == error
    library, _, name = found["cause"][0].rpartition(".")
    assert (name, found["request_type"].partition(".")[0]) == (cause, library)
    assert found["request"][2]["model"] == "ok"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["stream", "tools"])
@pytest.mark.parametrize("end", ["reset", "stall", "error"])
def test_a_stream_breaks_after_exactly_that_chunk(
    server: Server, mode: str, kind: str, end: Any
) -> None:
    """The reader has three chunks, then the exception of this release, never an empty end."""
    real = run(mode, server.url, f"mid-{end}", kind)
    whole = run(mode, server.url, "ok", kind)["chunks"]
    found = replayed(server, mode, "ok", kind, StreamTruncate(3, end=end))
    assert found["chunks"] == whole[:3]
    assert len(whole) > 3
    assert found["error"]["kind"] == real["error"]["kind"]
    assert bool(found["error"]["cause"]) == bool(real["error"]["cause"])


@pytest.mark.parametrize("mode", MODES)
def test_a_stream_that_just_ends_raises_nothing(server: Server, mode: str) -> None:
    """A clean early end looks like the end: only the missing finish reason tells."""
    found = replayed(server, mode, "ok", "stream", StreamTruncate(2, end="clean"))
    assert "error" not in found
    assert [chunk["data"]["choices"][0]["finish_reason"] for chunk in found["chunks"]] == [None] * 2


@pytest.mark.parametrize("mode", MODES)
def test_a_body_that_is_not_json_is_refused_by_the_sdks_parser(server: Server, mode: str) -> None:
    """The exception is the one that a real broken body causes, with text and position."""
    real = run(mode, server.url, "badjson", "plain")
    found = replayed(server, mode, "ok", "plain", MalformedResponse(text='{"id": '))
    assert found == real
    assert found["error"]["kind"] == "json.decoder.JSONDecodeError"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["stream", "tools"])
def test_a_chunk_that_is_not_json_breaks_the_stream(server: Server, mode: str, kind: str) -> None:
    """Half of the chunks arrive as recorded; the next one is what a real broken event is."""
    whole = run(mode, server.url, "ok", kind)["chunks"]
    real = run(mode, server.url, "mid-bad", kind)["error"]
    found = replayed(server, mode, "ok", kind, MalformedResponse())
    assert found["chunks"] == whole[: len(whole) // 2]
    assert found["error"]["kind"] == real["kind"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_model_refuses_in_its_own_field(server: Server, mode: str, kind: str) -> None:
    """Plain or streamed, the text stands in the refusal, and nothing else is said."""
    found = replayed(server, mode, "ok", kind, Refusal("No."))
    assert "error" not in found
    if kind == "plain":
        choice = found["result"]["data"]["choices"][0]
        assert choice["message"] == {"role": "assistant", "content": None, "refusal": "No."}
        assert (choice["finish_reason"], choice["logprobs"]) == ("stop", None)
        return
    deltas = [chunk["data"]["choices"][0]["delta"] for chunk in found["chunks"]]
    assert "".join(delta.get("refusal") or "" for delta in deltas) == "No."
    assert not any(delta.get("content") or delta.get("tool_calls") for delta in deltas)


def _home(url: str) -> Any:
    # Its home was `client.beta` in the oldest releases.
    made: Any = client(url)
    completions = made.chat.completions
    return completions if hasattr(completions, "parse") else made.beta.chat.completions


@pytest.fixture
def parsed(server: Server) -> workbench.Trace:
    """A recorded reply that was read into a class."""
    with workbench.recording() as recorded:
        _home(server.url).parse(response_format=City, **options("ok", "plain"))
    server.stop()
    return recorded.trace


def test_a_refusal_is_seen_where_a_class_was_asked_for(
    parsed: workbench.Trace, server: Server
) -> None:
    """There is no parsed object, and the reason stands beside it."""
    with workbench.replaying(parsed, faults=[Refusal("No.")]):
        found = _home(server.url).parse(response_format=City, **options("ok", "plain"))
    message = found.choices[0].message
    assert (message.parsed, message.refusal) == (None, "No.")


def test_a_reply_that_is_cut_off_has_the_sdks_own_exception(
    parsed: workbench.Trace, server: Server
) -> None:
    """Where a class was asked for, the SDK itself says that the limit was reached."""
    with (
        workbench.replaying(parsed, faults=[CutOff(2)]),
        pytest.raises(openai.LengthFinishReasonError) as caught,
    ):
        _home(server.url).parse(response_format=City, **options("ok", "plain"))
    assert caught.value.completion.choices[0].message.content == '{"city":'


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_a_reply_is_cut_off(server: Server, mode: str, kind: str) -> None:
    """Finish reason length, and the first eight characters of the text."""
    found = replayed(server, mode, "ok", kind, CutOff(2))
    if kind == "plain":
        choice = found["result"]["data"]["choices"][0]
        assert (choice["message"]["content"], choice["finish_reason"]) == ("You said", "length")
        return
    choices = [chunk["data"]["choices"][0] for chunk in found["chunks"]]
    assert "".join(each["delta"].get("content") or "" for each in choices) == "You said"
    assert [each["finish_reason"] for each in choices][-1] == "length"


@pytest.mark.parametrize("mode", MODES)
def test_a_broken_tool_call_keeps_its_id(server: Server, mode: str) -> None:
    """The SDK hands it on: it is for the agent to notice that the arguments are no JSON."""
    found = replayed(server, mode, "ok", "tools", MalformedToolCall("bad_json"))
    deltas = [chunk["data"]["choices"][0]["delta"] for chunk in found["chunks"]]
    calls = [part for delta in deltas for part in delta.get("tool_calls") or []]
    assert (calls[0]["id"], calls[0]["function"]["name"]) == ("call_1", "get_order")
    assert "".join(part["function"]["arguments"] for part in calls) == '{"number": 101'
    assert {part["index"] for part in calls} == {0}
