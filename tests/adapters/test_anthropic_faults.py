"""Injected faults through Anthropic's SDK: agent code gets what the provider makes it get."""

import asyncio
import time
from typing import Any

import anthropic
import pytest
from loopback import Server
from sdk_cases import KEY, no_network
from sdk_seen import differences, see
from speaking_anthropic import SPEAKERS
from ways_anthropic import TOOL, async_client, client

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

KINDS = ["plain", "stream", "tools", "async plain", "async stream"]
STATUSES = [400, 401, 403, 404, 409, 413, 422, 429, 500, 503, 504, 529]


def given(script: str, kind: str) -> Any:
    """The arguments of a call; what the server is to do does not change what is asked."""
    return {
        "model": "m",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "hello"}],
        "extra_headers": {"x-script": script},
        **({"stream": True} if "plain" not in kind else {}),
        **({"tools": [TOOL]} if kind == "tools" else {}),
    }


def ask(url: str, script: str, kind: str, retries: int | None = 0) -> dict[str, Any]:
    """One call of sync or of async code, as agent code sees it."""
    if kind.startswith("async"):
        return asyncio.run(_aask(url, script, kind, retries))
    seen: list[Any] = []
    with client(url, KEY, retries) as made:
        try:
            found = made.messages.create(**given(script, kind))
            if kind == "plain":
                return {"seen": see(found), "error": None}
            seen.extend(see(event) for event in found)
        except Exception as error:
            return {"seen": seen, "error": see(error)}
    return {"seen": seen, "error": None}


async def _aask(url: str, script: str, kind: str, retries: int | None) -> dict[str, Any]:
    seen: list[Any] = []
    async with async_client(url, KEY, retries) as made:
        try:
            found: Any = await made.messages.create(**given(script, kind))
            if kind == "async plain":
                return {"seen": see(found), "error": None}
            async for event in found:
                seen.append(see(event))
        except Exception as error:
            return {"seen": seen, "error": see(error)}
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
    """Class, type, text, body, request, response and headers: a handler finds all it reads."""
    real = ask(speaker.url, str(status), kind)
    headers = {"request-id": "req_1", "content-type": "application/json"}
    if status >= 429:
        headers["retry-after-ms"] = "5"
    wait = 1 if status >= 429 else None
    body = SPEAKERS[-1].error(status)
    fault = HttpError(status, retry_after_s=wait, body=body, headers=headers)
    found = differences(real, met(speaker, kind, fault))
    # The words that a server puts beside its status are not recorded.
    assert [each for each in found if ".response.status:" not in each] == []
    assert real["error"]["attributes"]["status_code"] == status


TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@pytest.mark.parametrize(("status", "kind"), TYPES.items())
def test_the_usual_body_has_the_providers_type(speaker: Server, status: int, kind: str) -> None:
    """A fault of a status alone is told apart by its type, as a real one is."""
    error = met(speaker, "plain", HttpError(status))["error"]
    body = error["attributes"]["body"]["items"]
    assert body["type"] == "error"
    assert body["error"]["items"]["type"] == kind
    if hasattr(anthropic, "OverloadedError"):
        assert error["attributes"]["type"] == kind


LOST: list[tuple[Any, str, str]] = [
    (Timeout(after_ms=50), "anthropic.APITimeoutError", "ReadTimeout"),
    (ConnectionReset(), "anthropic.APIConnectionError", "ReadError"),
    (ConnectionRefused(), "anthropic.APIConnectionError", "ConnectError"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("fault", "error", "cause"), LOST, ids=["late", "lost", "refused"])
def test_a_lost_connection_is_the_sdks_own(
    speaker: Server, kind: str, fault: Any, error: str, cause: str
) -> None:
    """The SDK's exception holds the request, and behind it the transport's own."""
    found = met(speaker, kind, fault)["error"]
    assert found["kind"].replace("_exceptions.", "") == error
    library, _, name = found["cause"][0].rpartition(".")
    assert name == cause
    request = found["attributes"]["request"]
    assert request["kind"].partition(".")[0] == library.partition(".")[0]
    assert request["content"]["model"] == "m"
    if name == "ReadTimeout":
        real = ask(speaker.url, "stall", kind)["error"]
        assert (real["kind"], real["text"]) == (found["kind"], found["text"])


@pytest.mark.parametrize("kind", ["stream", "tools", "async stream"])
@pytest.mark.parametrize("end", ["reset", "stall", "error"])
def test_a_stream_breaks_as_a_real_one_does(speaker: Server, kind: str, end: Any) -> None:
    """The reader has two events (a ping is not handed on), then the exception of this release."""
    real = ask(speaker.url, f"mid-{end}", kind)
    found = met(speaker, kind, StreamTruncate(3, end=end))
    assert found["seen"] == real["seen"]
    assert len(found["seen"]) == 2
    assert found["error"]["kind"] == real["error"]["kind"]
    assert bool(found["error"]["cause"]) == bool(real["error"]["cause"])
    if end == "error":
        names = ("status_code", "type", "request_id")
        seen = [each["error"]["attributes"] for each in (found, real)]
        assert [seen[0].get(name) for name in names] == [seen[1].get(name) for name in names]
        assert seen[0]["body"]["items"]["error"]["items"]["type"] == "overloaded_error"


def test_an_injected_error_inside_a_live_stream_is_recorded_as_one(speaker: Server) -> None:
    """A fork cuts a live stream by the provider's own words; its trace replays to the same, and a
    call that is not streamed fails with the status."""
    with workbench.recording() as recorded:
        ask(speaker.url, "ok", "stream")
    fault = StreamTruncate(3, end="error").at(turn(1))
    with workbench.forking(recorded.trace, live_from=turn(1), faults=[fault]) as forked:
        live = ask(speaker.url, "ok", "stream")
    assert live["error"]["attributes"]["status_code"] == 200
    (entry,) = forked.trace.entries
    assert (entry.ended, entry.source, len(entry.chunks)) == ("cut", "fault", 3)
    with workbench.replaying(forked.trace):
        assert differences(live, ask(speaker.url, "ok", "stream")) == []
    assert met(speaker, "plain", fault)["error"]["attributes"]["status_code"] == 529


@pytest.mark.parametrize("kind", ["stream", "async stream"])
def test_a_stream_that_just_ends_raises_nothing(speaker: Server, kind: str) -> None:
    """A clean early end looks like the end: only what is missing tells."""
    found = met(speaker, kind, StreamTruncate(4, end="clean"))
    assert found["error"] is None
    assert [each["fields"]["type"] for each in found["seen"]] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
    ]


@pytest.mark.parametrize("kind", ["stream", "async stream"])
def test_an_error_inside_a_stream_has_the_status_of_the_stream(speaker: Server, kind: str) -> None:
    """Recorded and replayed it is the SDK's own, of status 200, with the provider's type."""
    with workbench.recording() as recorded:
        real = ask(speaker.url, "mid-error", kind)
    speaker.stop()
    (entry,) = recorded.trace.entries
    assert entry.error is not None
    assert (entry.ended, entry.error.type, len(entry.chunks)) == ("cut", "APIStatusError", 3)
    with workbench.replaying(recorded.trace):
        again = ask(speaker.url, "mid-error", kind)
    assert differences(real, again) == []
    assert again["error"]["kind"].endswith(".APIStatusError")
    seen = again["error"]["attributes"]
    assert seen["status_code"] == 200
    assert seen["request_id"] == "req_1"
    assert seen["body"]["items"]["error"]["items"]["type"] == "overloaded_error"


@pytest.mark.parametrize("kind", ["plain", "async plain"])
def test_a_body_that_is_not_json_is_refused_by_the_sdks_parser(speaker: Server, kind: str) -> None:
    """The exception is the one that a real broken body causes, with text and position."""
    real = ask(speaker.url, "badjson", kind)
    found = met(speaker, kind, MalformedResponse(text='{"id": '))
    assert differences(real, found) == []
    assert found["error"]["kind"] == "json.decoder.JSONDecodeError"


@pytest.mark.parametrize("kind", KINDS)
def test_the_sdks_own_retries_meet_a_fault_below_them(speaker: Server, kind: str) -> None:
    """Two tries fail, the third gets what was recorded; the waits that were asked for take no
    time, and a fault that lasts is raised as the SDK's own in the end."""
    real = ask(speaker.url, "ok", kind)
    began = time.monotonic()
    over = HttpError(529, retry_after_s=20).at(turn(1), layer="below", times=2)
    assert differences(real, met(speaker, kind, over, None)) == []
    lost = ConnectionReset().at(turn(1), layer="below", times=2)
    assert differences(real, met(speaker, kind, lost, None)) == []
    lasting = HttpError(429, retry_after_s=20).at(turn(1), layer="below", times=3)
    error = met(speaker, kind, lasting, None)["error"]
    assert error["kind"] == "anthropic.RateLimitError"
    assert error["attributes"]["response"]["headers"]["retry-after"] == "20"
    assert time.monotonic() - began < 10


def test_the_sdk_decides_what_it_tries_again_after(speaker: Server) -> None:
    """A bad request is final at once, however often the fault would strike."""
    fault = HttpError(400).at(turn(1), layer="below", times=3)
    with workbench.recording() as recorded:
        ask(speaker.url, "ok", "plain")
    with workbench.replaying(recorded.trace, faults=[fault]) as again:
        error = ask(speaker.url, "ok", "plain", None)["error"]
    assert error["kind"] == "anthropic.BadRequestError"
    assert len(again.result.fired) == 1


def test_an_agents_own_retry_outlives_a_fault_above(speaker: Server) -> None:
    """A 429 above the SDK's retries reaches the agent at once; asked again, it gets what was
    recorded, as a second attempt of the same turn."""

    def agent() -> str:
        with client(speaker.url, KEY, None) as made:
            for _ in range(3):
                try:
                    return str(made.messages.create(**given("ok", "plain")).id)
                except anthropic.RateLimitError:
                    continue
        return "gave up"

    recorded = workbench.record(agent)
    speaker.stop()
    shaken = workbench.replay(agent, recorded.trace, faults=[HttpError(429).at(turn(1))])
    assert (shaken.output, shaken.status) == ("msg_1", "ok")
    assert [call.how for call in shaken.calls] == ["fault", "replayed"]


def final(speaker: Server, fault: Any) -> Any:
    """The message that a stream's events add up to, with a fault, beside the plain one."""
    asked: Any = {name: value for name, value in given("ok", "tools").items() if name != "stream"}

    def agent() -> list[Any]:
        with client(speaker.url, KEY, 0) as made:
            plain = made.messages.create(**asked)
            with made.messages.stream(**{**asked, "max_tokens": 99}) as stream:
                return [plain.to_dict(), stream.get_final_message().to_dict()]

    recorded = workbench.record(agent)
    replayed = workbench.replay(
        agent, recorded.trace, faults=[fault.at(turn(1)), fault.at(turn(2))]
    )
    assert replayed.status == "ok"
    one, two = replayed.output
    assert one["stop_reason"] == two["stop_reason"]
    shown: Any = [
        [{name: block.get(name) for name in ("type", "text", "input", "name")} for block in each]
        for each in (one["content"], two["content"])
    ]
    assert shown[0] == shown[1]
    return one


def test_a_spoilt_reply_is_read_by_the_sdk_like_any_other(speaker: Server) -> None:
    """A refusal, a reply that is cut off, a call of a tool that nobody offers: plain or streamed,
    the SDK makes the same message of it."""
    refused = final(speaker, Refusal("No."))
    assert (refused["content"], refused["stop_reason"]) == ([], "refusal")
    assert refused["stop_details"]["explanation"] == "No."
    cut = final(speaker, CutOff(2))
    texts = [block["text"] for block in cut["content"] if block["type"] == "text"]
    assert (texts, cut["stop_reason"]) == (["You said"], "max_tokens")
    broken = final(speaker, MalformedToolCall("unknown_tool"))
    (call,) = [block for block in broken["content"] if block["type"] == "tool_use"]
    assert (call["id"], call["input"]) == ("toolu_1", {"number": 101})
    assert call["name"] != "get_order"
