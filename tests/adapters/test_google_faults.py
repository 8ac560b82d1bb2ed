"""Injected faults through Google's SDK: agent code gets what the provider makes it get."""

import asyncio
import gc
import inspect
import time
from importlib.util import find_spec
from typing import Any

import pytest
from google.genai import _api_client, errors, types
from loopback import Server
from sdk_cases import KEY, no_network
from sdk_seen import differences, see
from speaking_google import SPEAKERS
from ways_google import async_client, client, httpx_client

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

KINDS = ["plain", "stream", "tools", "async plain", "async stream", "httpx plain", "httpx stream"]
STREAMS = ["stream", "tools", "async stream", "httpx stream"]
STATUSES = [400, 401, 403, 404, 429, 499, 500, 503, 504, 529]
RAISES = hasattr(errors.APIError, "raise_error")
"""Whether this release raises for what comes inside a stream."""
TOOL = types.Tool(function_declarations=[types.FunctionDeclaration(name="get_order")])


def given(script: str, kind: str) -> Any:
    """The arguments of a call; what the server is to do does not change what is asked."""
    config = types.GenerateContentConfig(
        http_options=types.HttpOptions(headers={"x-script": script}),
        tools=[TOOL] if kind == "tools" else None,
    )
    return {"model": "m", "contents": "hello", "config": config}


def ask(url: str, script: str, kind: str, retries: int | None = 0) -> dict[str, Any]:
    """One call of sync or of async code, as agent code sees it."""
    if kind.startswith(("async", "httpx")):
        return asyncio.run(_aask(url, script, kind, retries))
    seen: list[Any] = []
    made = client(url, KEY, retries)
    try:
        if kind == "plain":
            seen.append(see(made.models.generate_content(**given(script, kind))))
        else:
            for chunk in made.models.generate_content_stream(**given(script, kind)):
                seen.append(see(chunk))
    except Exception as error:
        return {"seen": seen, "error": see(error)}
    finally:
        made.close()
    return {"seen": seen, "error": None}


async def _aask(url: str, script: str, kind: str, retries: int | None) -> dict[str, Any]:
    seen: list[Any] = []
    made = (httpx_client if kind.startswith("httpx") else async_client)(url, KEY, retries)
    try:
        if kind.endswith("plain"):
            seen.append(see(await made.aio.models.generate_content(**given(script, kind))))
        else:
            async for chunk in await made.aio.models.generate_content_stream(**given(script, kind)):
                seen.append(see(chunk))
    except Exception as error:
        return {"seen": seen, "error": see(error)}
    finally:
        await made.close()
    return {"seen": seen, "error": None}


def met(speaker: Server, kind: str, fault: Any, retries: int | None = 0) -> dict[str, Any]:
    """A good call recorded, then replayed offline with a fault that hits it."""
    with workbench.recording() as recorded:
        assert ask(speaker.url, "ok", kind)["error"] is None
    with no_network() as tried, workbench.replaying(recorded.trace, faults=[fault]) as again:
        found = ask(speaker.url, "ok", kind, retries)
    assert [each for each, _ in again.result.fired] == [fault]
    assert tried == []
    (entry,) = again.trace.models()
    assert (entry.fault or {}).get("type") == fault.type
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", STATUSES)
def test_an_http_error_is_the_one_that_a_server_causes(
    speaker: Server, kind: str, status: int
) -> None:
    """Class, code, status, message, details and response: a handler finds all it reads."""
    real = ask(speaker.url, str(status), kind)
    headers = {"x-request-id": "req_1", "content-type": "application/json"}
    if status >= 429:
        headers["retry-after-ms"] = "5"
    wait = 1 if status >= 429 else None
    body = SPEAKERS[-1].error(status)
    fault = HttpError(status, retry_after_s=wait, body=body, headers=headers)
    found = differences(real, met(speaker, kind, fault))
    # The words that a server puts beside its status are not recorded.
    assert [each for each in found if ".response.status" not in each] == []
    name = "ClientError" if status < 500 else "ServerError"
    assert real["error"]["kind"] == f"google.genai.errors.{name}"
    assert real["error"]["attributes"]["code"] == status


@pytest.mark.parametrize(
    ("status", "name"),
    [(400, "INVALID_ARGUMENT"), (429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL"),
     (503, "UNAVAILABLE"), (418, "INVALID_ARGUMENT"), (529, "UNAVAILABLE"), (502, "INTERNAL")],
)  # fmt: skip
def test_the_usual_body_has_the_providers_word_for_it(
    speaker: Server, status: int, name: str
) -> None:
    """A fault of a status alone is told apart by code, status and message, as a real one is."""
    told = met(speaker, "plain", HttpError(status))["error"]["attributes"]
    assert (told["code"], told["status"]) == (status, name)
    assert told["message"] == told["details"]["items"]["error"]["items"]["message"] != ""


LOST = [
    (Timeout(after_ms=50), "ReadTimeout", "TimeoutError"),
    (ConnectionReset(), "ReadError", "ClientOSError"),
    (ConnectionRefused(), "ConnectError", "ClientConnectorError"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("fault", "name", "aiohttp"), LOST, ids=["late", "lost", "refused"])
def test_a_lost_connection_is_the_http_librarys_own(
    speaker: Server, kind: str, fault: Any, name: str, aiohttp: str
) -> None:
    """The SDK lets such exceptions through, so they are those of the library that it uses."""
    found = met(speaker, kind, fault)["error"]
    of_aiohttp = kind.startswith("async") and find_spec("aiohttp") is not None
    library, _, raised = found["kind"].rpartition(".")
    assert raised == (aiohttp if of_aiohttp else name)
    if name == "ReadTimeout":
        real = ask(speaker.url, "stall", kind)["error"]
        assert real["kind"] == found["kind"]
    elif not of_aiohttp:
        assert library in ("httpx", "httpx2")
        assert found["attributes"]["request"]["content"]["contents"][0]["role"] == "user"
        assert KEY not in str(found)


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("end", ["reset", "stall"])
def test_a_stream_breaks_as_a_real_one_does(speaker: Server, kind: str, end: Any) -> None:
    """The reader has three pieces, then the exception of the HTTP library in use."""
    real = ask(speaker.url, f"mid-{end}", kind)
    found = met(speaker, kind, StreamTruncate(3, end=end))
    assert differences(real["seen"], found["seen"]) == []
    assert len(found["seen"]) == 3
    assert found["error"]["kind"] == real["error"]["kind"]


@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_that_just_ends_raises_nothing(speaker: Server, kind: str) -> None:
    """A clean early end looks like the end: only what is missing tells."""
    found = met(speaker, kind, StreamTruncate(2, end="clean"))
    assert (len(found["seen"]), found["error"]) == (2, None)


@pytest.mark.parametrize("kind", STREAMS)
def test_the_provider_may_fail_inside_a_stream(speaker: Server, kind: str) -> None:
    """Two pieces, then the error that the SDK makes of such an event."""
    found = met(speaker, kind, StreamTruncate(2, end="error"))
    assert len(found["seen"]) == 2
    assert found["error"]["kind"] == "google.genai.errors.ServerError"
    told = found["error"]["attributes"]
    assert (told["code"], told["status"]) == (529, "UNAVAILABLE")
    if RAISES:
        real = ask(speaker.url, "mid-error", kind)["error"]["attributes"]["response"]
        assert told["response"]["kind"] == real["kind"]


@pytest.mark.parametrize("kind", STREAMS)
def test_an_error_inside_a_stream_has_its_own_code(speaker: Server, kind: str) -> None:
    """Recorded and replayed it is the SDK's own, with the code of the event and not of the
    response; the oldest releases hand it on as a piece."""
    with workbench.recording() as recorded:
        real = ask(speaker.url, "mid-error", kind)
    speaker.stop()
    (entry,) = recorded.trace.entries
    with workbench.replaying(recorded.trace):
        again = ask(speaker.url, "mid-error", kind)
    assert differences(real, again) == []
    if not RAISES:
        assert (again["error"], len(entry.chunks)) == (None, 4)
        return
    assert entry.error is not None
    assert (entry.ended, entry.error.type, len(entry.chunks)) == ("cut", "ServerError", 3)
    told = again["error"]["attributes"]
    assert (told["code"], told["status"], told["message"]) == (503, "UNAVAILABLE", "No: 503")


@pytest.mark.parametrize("kind", ["plain", "async plain", "httpx plain"])
def test_a_body_that_is_not_json_is_refused_by_the_sdks_parser(speaker: Server, kind: str) -> None:
    """The exception is the one that a real broken body causes, with text and position."""
    real = ask(speaker.url, "badjson", kind)
    found = met(speaker, kind, MalformedResponse(text='{"id": '))
    assert differences(real, found) == []
    assert found["error"]["kind"] == "json.decoder.JSONDecodeError"


@pytest.mark.parametrize("kind", ["stream", "async stream"])
def test_a_piece_that_is_not_json_is_refused_by_the_sdks_parser(speaker: Server, kind: str) -> None:
    """In a stream the SDK has a type of its own for it, with the text that it could not read."""
    real = ask(speaker.url, "mid-bad", kind)["error"]
    text = real["text"].partition("Raw response: ")[2] or '{"id": '
    found = met(speaker, kind, MalformedResponse(text=text))["error"]
    assert differences(real, found) == []
    own = "google.genai.errors.UnknownApiResponseError"
    assert found["kind"] == (own if RAISES else "json.decoder.JSONDecodeError")


@pytest.mark.parametrize("kind", KINDS)
def test_the_sdks_own_retries_meet_a_fault_below_them(speaker: Server, kind: str) -> None:
    """Two tries fail, the third gets what was recorded; the waits take no time, and a fault that
    lasts is raised as the SDK's own in the end."""
    real = ask(speaker.url, "ok", kind)
    began = time.monotonic()
    over = HttpError(529, retry_after_s=20).at(turn(1), layer="below", times=2)
    assert differences(real, met(speaker, kind, over, None)) == []
    lasting = HttpError(429).at(turn(1), layer="below", times=3)
    error = met(speaker, kind, lasting, None)["error"]
    assert error["kind"] == "google.genai.errors.ClientError"
    assert error["attributes"]["code"] == 429
    assert time.monotonic() - began < 10


@pytest.mark.parametrize("kind", ["plain", "async plain", "stream", "httpx stream"])
def test_a_fault_below_goes_on_to_the_world(speaker: Server, kind: str) -> None:
    """In a fork the try after the failed ones is a real one, and what it gives is kept."""
    with workbench.recording() as recorded:
        real = ask(speaker.url, "ok", kind)
    sent = len(speaker.seen)
    fault = HttpError(503).at(turn(1), layer="below", times=2)
    with workbench.forking(recorded.trace, live_from=turn(1), faults=[fault]) as forked:
        found = ask(speaker.url, "ok", kind, None)
    assert differences(real, found) == []
    assert len(speaker.seen) == sent + 1
    assert [each for each, _ in forked.result.fired] == [fault]
    (entry,) = forked.trace.entries
    assert (entry.source, entry.text) == ("live", "You said: hello")


@pytest.mark.parametrize("kind", ["sync", "async", "httpx"])
def test_an_agents_client_outlives_a_fault_below(speaker: Server, kind: str) -> None:
    """The copy that meets the fault takes nothing with it when it goes: the next calls go out."""

    def texts() -> list[Any]:
        made = client(speaker.url, KEY, None)
        try:
            return [made.models.generate_content(**given("ok", "plain")).text for _ in range(3)]
        finally:
            made.close()

    async def later() -> list[Any]:
        made = (httpx_client if kind == "httpx" else async_client)(speaker.url, KEY, None)
        ask_it = made.aio.models.generate_content
        try:
            return [(await ask_it(**given("ok", "plain"))).text for _ in range(3)]
        finally:
            await made.close()

    def agent() -> list[Any]:
        found = texts() if kind == "sync" else asyncio.run(later())
        gc.collect()
        return found

    recorded = workbench.record(agent)
    fault = HttpError(503).at(turn(1), layer="below")
    forked = workbench.fork(agent, recorded.trace, live_from=turn(1), faults=[fault])
    assert (forked.status, forked.output) == ("ok", recorded.output)
    assert [call.how for call in forked.calls] == ["live"] * 3


def test_the_sdk_decides_what_it_tries_again_after(speaker: Server) -> None:
    """A bad request is final at once, and so is all where an agent allows no tries."""
    for status, retries in ((400, None), (503, 0)):
        fault = HttpError(status).at(turn(1), layer="below", times=3)
        with workbench.recording() as recorded:
            ask(speaker.url, "ok", "plain")
        with workbench.replaying(recorded.trace, faults=[fault]) as again:
            error = ask(speaker.url, "ok", "plain", retries)["error"]
        assert error["attributes"]["code"] == status
        assert len(again.result.fired) == 1


def test_rules_for_tries_may_come_with_a_call(speaker: Server) -> None:
    """A call's own retry options hold below a fault as they hold on the wire."""
    own = types.HttpRetryOptions(attempts=2, initial_delay=30, http_status_codes=[503])
    options = types.HttpOptions(retry_options=own)
    if "http_options" not in inspect.signature(_api_client.BaseApiClient._request).parameters:
        pytest.skip("this release takes such options of a client only")

    def agent() -> Any:
        made = client(speaker.url, KEY, 0)
        config = types.GenerateContentConfig(http_options=options)
        try:
            found = made.models.generate_content(model="m", contents="hello", config=config)
            return found.text
        finally:
            made.close()

    recorded = workbench.record(agent)
    fault = HttpError(503).at(turn(1), layer="below")
    began = time.monotonic()
    shaken = workbench.replay(agent, recorded.trace, faults=[fault])
    assert (shaken.status, shaken.output) == ("ok", "You said: hello")
    assert time.monotonic() - began < 10


def test_an_agents_own_retry_outlives_a_fault_above(speaker: Server) -> None:
    """A 429 above the SDK's retries reaches the agent at once; asked again, it gets what was
    recorded, as a second attempt of the same turn."""

    def agent() -> str:
        made = client(speaker.url, KEY, None)
        try:
            for _ in range(3):
                try:
                    return str(made.models.generate_content(model="m", contents="hi").text)
                except errors.ClientError:
                    continue
        finally:
            made.close()
        return "gave up"

    recorded = workbench.record(agent)
    speaker.stop()
    shaken = workbench.replay(agent, recorded.trace, faults=[HttpError(429).at(turn(1))])
    assert (shaken.output, shaken.status) == ("You said: hi", "ok")
    assert [call.how for call in shaken.calls] == ["fault", "replayed"]


@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_a_spoilt_reply_is_read_by_the_sdk_like_any_other(speaker: Server, kind: str) -> None:
    """Refused, cut off and badly called: the SDK's own types say it in the provider's words."""

    def last(fault: Any, kind: str = kind) -> Any:
        seen = met(speaker, kind, fault)
        assert seen["error"] is None
        return seen["seen"][-1]["fields"]["candidates"][1]["fields"]

    refused = last(Refusal("I will not."))
    assert "SAFETY" in str(refused["finish_reason"])
    assert "You said" not in str(refused["content"])
    assert "MAX_TOKENS" in str(last(CutOff(1))["finish_reason"])
    called = last(MalformedToolCall("missing_argument"), "tools")
    assert "'args'" in str(called["content"])
    assert "MALFORMED_FUNCTION_CALL" in str(last(MalformedToolCall(), "tools")["finish_reason"])
