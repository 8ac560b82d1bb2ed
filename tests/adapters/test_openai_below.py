"""Faults below the SDK's retries: its own tries meet them, at once and as from a real server."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import openai
import pytest
from openai_hooks import through
from openai_results import async_client, client, options, see, see_error
from openai_server import Server, chunks, completion

from workbench.adapters.http.keys import DUMMY_KEY
from workbench.errors import UsageError
from workbench.faults import ConnectionRefused, ConnectionReset, HttpError, Timeout
from workbench.seam.calls import Served
from workbench.trace.entries import ErrorInfo

NOWHERE = "http://127.0.0.1:9/v1"
ASKED = options("ok", "plain")
HEAD = {"status": 200, "headers": {"content-type": "application/json", "x-request-id": "req_7"}}
PLAIN = Served({**HEAD, "body": completion(ASKED)})
STREAM = Served(dict(HEAD), list(chunks(options("ok", "stream"))))
FAULTS: list[Any] = [HttpError(503), HttpError(429), Timeout(), ConnectionReset()]
FAULTS.append(ConnectionRefused())


def ask(url: str, kind: str, model: str = "ok", **changes: Any) -> Any:
    """What one call gives, or raises, as agent code sees it; the SDK may try three times."""
    made = client(url, **{"max_retries": 2, **changes})
    try:
        result: Any = made.chat.completions.create(**options(model, kind))
        return see(result) if kind == "plain" else [see(chunk) for chunk in result]
    except openai.APIError as error:
        return see_error(error)


def aask(url: str, kind: str, model: str = "ok") -> Any:
    """The same from async code."""

    async def asked() -> Any:
        async with async_client(url, max_retries=2) as made:
            try:
                result: Any = await made.chat.completions.create(**options(model, kind))
                if kind == "plain":
                    return see(result)
                return [see(chunk) async for chunk in result]
            except openai.APIError as error:
                return see_error(error)

    return asyncio.run(asked())


@pytest.mark.parametrize("asker", [ask, aask])
@pytest.mark.parametrize("kind", ["plain", "stream"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.label)
def test_the_sdk_gets_over_a_fault_by_itself(
    asker: Callable[..., Any], kind: str, fault: Any, server: Server
) -> None:
    """Two tries fail, the third gets what was recorded, and the agent sees only that."""
    real = asker(server.url, kind)
    server.stop()
    served = PLAIN if kind == "plain" else STREAM
    with through([fault.error()] * 2, served) as made:
        found = asker(NOWHERE, kind)
    assert made[0].tries == 3
    if kind == "plain":
        assert found["request_id"] == "req_7"
        found["request_id"] = real["request_id"]
    assert found == real


@pytest.mark.parametrize("asker", [ask, aask])
@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_what_the_sdk_raises_in_the_end_is_what_a_server_makes_it_raise(
    asker: Callable[..., Any], kind: str, server: Server
) -> None:
    """After its last try the exception has the same type, text, code, request and response."""
    real = asker(server.url, kind, "429")
    tries = len(server.seen)
    server.stop()
    error = {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}
    body = {"error": {**error, "param": None}}
    fault = HttpError(429, retry_after_s=0.2, body=body, headers={"x-request-id": "req_1"})
    with through([fault.error()] * 5, PLAIN) as made:
        found = asker(server.url, kind, "429")
    assert found["kind"] == "openai.RateLimitError"
    assert found["response"][1]["retry-after"] == "0.2"
    assert found == real
    assert (made[0].tries, tries) == (3, 3)


@pytest.mark.parametrize(
    ("fault", "error", "cause"),
    [
        (Timeout(), openai.APITimeoutError, "ReadTimeout"),
        (ConnectionReset(), openai.APIConnectionError, "ReadError"),
        (ConnectionRefused(), openai.APIConnectionError, "ConnectError"),
    ],
)
def test_a_lost_connection_has_its_cause(fault: Any, error: type, cause: str) -> None:
    """A handler that looks for what was behind the SDK's exception finds the transport's own."""
    with through([fault.error()] * 3, PLAIN) as made, pytest.raises(error) as caught:
        client(NOWHERE, max_retries=2).chat.completions.create(**ASKED)
    assert type(caught.value) is error
    assert type(caught.value.__cause__).__name__ == cause
    assert made[0].tries == 3


def test_the_sdk_decides_what_it_tries_again_after() -> None:
    """A bad request is final at once, however often the fault would strike."""
    with through([HttpError(400).error()] * 3, PLAIN) as made:
        found = ask(NOWHERE, "plain")
    assert (found["kind"], found["status_code"]) == ("openai.BadRequestError", 400)
    assert made[0].tries == 1


def test_an_agent_that_allows_no_retries_gets_none() -> None:
    """The client's own max_retries holds."""
    with through([HttpError(503).error()], PLAIN) as made:
        found = ask(NOWHERE, "plain", max_retries=0)
    assert found["kind"] == "openai.InternalServerError"
    assert made[0].tries == 1


@pytest.mark.parametrize("asker", [ask, aask])
def test_retry_after_is_obeyed_and_takes_no_time(asker: Callable[..., Any]) -> None:
    """The SDK would wait 20 s twice: that is told, and nobody waits."""
    began = time.monotonic()
    with through([HttpError(429, retry_after_s=20).error()] * 2, PLAIN) as made:
        asker(NOWHERE, "plain")
    assert made[0].waited_s == 40.0
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("asker", [ask, aask])
def test_a_live_call_goes_on_to_the_network(asker: Callable[..., Any], server: Server) -> None:
    """After the injected try the real server is asked once, by the SDK's first retry."""
    with through([HttpError(503).error()], None) as made:
        found = asker(server.url, "plain")
    assert found["data"]["model"] == "served-model-1"
    assert made[0].tries == 2
    (path, headers, asked) = server.seen[0]
    assert path == "/v1/chat/completions"
    assert headers["x-stainless-retry-count"] == "1"
    assert headers["authorization"] == "Bearer sk-secret-key"
    assert (len(server.seen), asked["model"]) == (1, "ok")


def test_a_real_server_that_fails_is_given_time(server: Server) -> None:
    """Only waits after injected failures are left out: a real 429 is waited for as it asks."""
    began = time.monotonic()
    with through([HttpError(429, retry_after_s=20).error()], None) as made:
        found = ask(server.url, "plain", "429")
    assert found["kind"] == "openai.RateLimitError"
    assert (made[0].tries, len(server.seen)) == (3, 2)
    assert 0.2 <= time.monotonic() - began < 5
    assert made[0].waited_s == 20.0


def test_the_agents_client_is_as_it_was(server: Server) -> None:
    """The faults are in a copy of the client: the next call is an ordinary one."""
    made = client(server.url, max_retries=2)
    before = dict(vars(made))
    with through([HttpError(503).error()], PLAIN):
        made.chat.completions.create(**ASKED)
    assert {name: vars(made)[name] for name in before} == before
    assert made.chat.completions.create(**ASKED).model == "served-model-1"
    assert len(server.seen) == 1


def test_the_outcome_is_read_as_after_a_real_call() -> None:
    """What is written down is the answer, with its status and headers, and no provider."""
    with through([HttpError(503).error()], PLAIN) as made:
        result = client(NOWHERE, max_retries=2).chat.completions.create(**ASKED)
    outcome = made[0].outcome(result)
    assert outcome.response == PLAIN.response
    assert (outcome.model, outcome.provider) == ("served-model-1", None)


def test_a_recorded_failure_stays_one() -> None:
    """What was recorded after the injected tries can be a failure too, and is retried as such."""
    recorded = Served(error=ErrorInfo(type="InternalServerError", message="x", status=500))
    with through([HttpError(429).error()], recorded) as made:
        found = ask(NOWHERE, "plain")
    assert (found["kind"], found["status_code"]) == ("openai.InternalServerError", 500)
    assert made[0].tries == 3


def test_what_is_no_failure_of_the_connection_passes_the_sdk() -> None:
    """An exception of the agent's own, recorded inside the call, is neither wrapped nor retried."""
    recorded = Served(error=ErrorInfo(type="ValueError", module="builtins", message="mine"))
    with (
        through([HttpError(429).error()], recorded) as made,
        pytest.raises(ValueError, match="mine"),
    ):
        client(NOWHERE, max_retries=2).chat.completions.create(**ASKED)
    assert made[0].tries == 2


def test_the_http_clients_own_hooks_see_every_try() -> None:
    """An agent that logs its HTTP traffic logs the failed tries too."""
    seen: list[int] = []
    http = openai.DefaultHttpxClient(
        event_hooks={"response": [lambda response: seen.append(response.status_code)]}
    )
    with http, through([HttpError(503).error()] * 2, PLAIN):
        client(NOWHERE, http_client=http, max_retries=2).chat.completions.create(**ASKED)
    assert seen == [503, 503, 200]


def test_an_older_http_client_of_the_agents_own_does_as_well() -> None:
    """A client that was given an httpx.Client keeps its kind of requests and exceptions."""
    httpx = pytest.importorskip("httpx")
    with (
        httpx.Client() as http,
        through([Timeout().error(), HttpError(503).error()], PLAIN) as made,
    ):
        result = client(NOWHERE, http_client=http, max_retries=2).chat.completions.create(**ASKED)
    assert (result.model, made[0].tries) == ("served-model-1", 3)
    with (
        httpx.Client() as http,
        through([ConnectionRefused().error()] * 3, PLAIN),
        pytest.raises(openai.APIConnectionError) as caught,
    ):
        client(NOWHERE, http_client=http, max_retries=2).chat.completions.create(**ASKED)
    assert type(caught.value.__cause__) is httpx.ConnectError


def test_no_token_is_fetched_for_a_try_that_goes_nowhere() -> None:
    """A client whose key comes from a function, which may ask a server, is replayed without it."""
    asked: list[str] = []

    def token() -> str:
        asked.append("token")
        return "t"

    azure = openai.AzureOpenAI(
        azure_endpoint="https://example.openai.azure.com",
        api_version="2024-10-21",
        azure_ad_token_provider=token,
        max_retries=2,
    )
    with azure, through([HttpError(503).error()], PLAIN) as made:
        result = azure.chat.completions.create(**ASKED)
    assert result.model == "served-model-1"
    assert (made[0].tries, asked) == (2, [])


def test_a_client_without_a_key_needs_one_only_for_the_network() -> None:
    """The dummy key of a replay is never sent."""
    dummy: dict[str, Any] = {"api_key": DUMMY_KEY, "max_retries": 2}
    with through([HttpError(503).error()], PLAIN) as made:
        client(NOWHERE, **dummy).chat.completions.create(**ASKED)
    assert made[0].tries == 2
    with through([HttpError(503).error()], None), pytest.raises(UsageError, match="OPENAI_API_KEY"):
        client(NOWHERE, **dummy).chat.completions.create(**ASKED)


def test_calls_at_once_meet_their_own_faults() -> None:
    """Each call has its own copy of the client and its own count."""

    async def many() -> list[Any]:
        async with async_client(NOWHERE, max_retries=3) as made:
            calls = [made.chat.completions.create(**options("ok", "plain")) for _ in range(8)]
            return await asyncio.gather(*calls)

    with through([HttpError(503).error()] * 3, PLAIN) as hooks:
        results = asyncio.run(many())
    assert [result.model for result in results] == ["served-model-1"] * 8
    assert [each.tries for each in hooks] == [4] * 8


def test_a_body_that_is_read_late_is_there() -> None:
    """A caller who takes the HTTP response and reads it itself gets it whole."""
    with through([HttpError(503).error()], PLAIN) as made:
        completions: Any = client(NOWHERE, max_retries=2).chat.completions
        with completions.with_streaming_response.create(**ASKED) as response:
            assert response.retries_taken == 1
            assert response.json() == PLAIN.response["body"]
    assert made[0].tries == 2
