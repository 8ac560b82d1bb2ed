import asyncio
import datetime as dt
import subprocess
from pathlib import Path
from typing import Any

import openai
import pytest
from openai_results import async_client, client, options, see
from openai_server import Server

import workbench
from workbench import UsageError
from workbench.adapters.openai import adapter
from workbench.adapters.stainless import patches
from workbench.errors import UnencodableError
from workbench.faults import ConnectionReset, HttpError, Timeout


def ask(url: str, **changes: Any) -> Any:
    """A plain call."""
    return client(url).chat.completions.create(**{**options("ok", "plain"), **changes})


def call(url: str, mode: str, given: Any) -> Any:
    """One call, of sync or of async code."""
    if mode == "sync":
        return client(url).chat.completions.create(**given)

    async def go() -> Any:
        async with async_client(url) as made:
            return await made.chat.completions.create(**given)

    return asyncio.run(go())


def test_the_request_is_the_json_that_was_sent(server: Server) -> None:
    """Sentinels are left out, extra fields and vendor data kept; numbers stay what they were."""
    extra = {"top_k": 3, "n": {"huge": 2**80, "list": (1, 2)}, "none": None}
    with workbench.recording() as recorded:
        found = ask(
            server.url, temperature=openai.NOT_GIVEN, logit_bias={7: -100}, extra_body=extra
        )
    (entry,) = recorded.trace.entries
    assert entry.body == server.seen[0][2]
    assert entry.body["logit_bias"] == {"7": -100}
    assert "temperature" not in entry.body
    assert entry.response["body"]["x_vendor"]["big"] == 12345678901234567890123
    assert entry.response["body"]["x_vendor"]["note"] == "é\u2028 \ud83d"
    assert (entry.model, entry.reply_model, entry.provider) == ("ok", "served-model-1", "local")
    assert entry.usage == {"input_tokens": 12, "output_tokens": 5}
    with workbench.replaying(recorded.trace):
        again = ask(server.url, logit_bias={"7": -100}, extra_body=extra)
    assert see(again) == see(found)


def test_what_the_agent_does_later_changes_no_entry(server: Server) -> None:
    """A conversation that grows while a call is under way was recorded as it was asked."""

    async def agent() -> None:
        messages: Any = [{"role": "user", "content": "one"}]
        made = async_client(server.url, timeout=20).chat.completions
        task = asyncio.ensure_future(made.create(model="slow", messages=messages))
        await asyncio.sleep(0)
        messages[0]["content"] = "changed"
        messages.append({"role": "user", "content": "two"})
        await task

    recorded = workbench.record(agent)
    (entry,) = recorded.trace.entries
    assert entry.body["messages"] == [{"role": "user", "content": "one"}]
    assert entry.hash == workbench.replay(agent, recorded.trace).trace.entries[0].hash


def test_a_lone_surrogate_is_recorded_and_the_sdk_refuses_it_itself(server: Server) -> None:
    """Half an emoji cannot be sent; the trace holds what was asked and why it failed."""

    def agent() -> str:
        try:
            ask(server.url, messages=[{"role": "user", "content": "half \ud83d"}])
        except UnicodeError as error:
            return str(error)
        return "sent"

    recorded = workbench.record(agent)
    (entry,) = recorded.trace.entries
    assert entry.body["messages"][0]["content"] == "half \ud83d"
    replayed = workbench.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)


def test_a_value_that_json_cannot_hold_is_named(server: Server) -> None:
    """The message says where the value is; nothing is sent."""
    with workbench.recording(), pytest.raises(UnencodableError, match=r"is a object|is a set") as e:
        ask(server.url, extra_body={"metadata": [{"tags": {1, 2}}]})
    assert e.value.path == "$.request.body.metadata[0].tags"
    loop: list[Any] = []
    loop.append(loop)
    with workbench.recording(), pytest.raises(UnencodableError, match="contains itself"):
        ask(server.url, extra_body={"loop": loop})
    assert server.seen == []


def test_no_secret_of_a_request_or_response_is_recorded(server: Server, tmp_path: Path) -> None:
    """Keys, cookies and unknown headers stay out of the file's very bytes."""
    path = tmp_path / "run.trace.jsonl"
    secrets = {"x-gateway": "hush-1", "Authorization": "Bearer hush-2", "OpenAI-Beta": "b=1"}
    query = {"api-version": "7", "key": "hush-3", "access_token": "hush-4", "country_code": "DE"}
    with workbench.recording(path):
        ask(server.url, extra_headers=secrets, extra_query=query)
        with pytest.raises(openai.RateLimitError):
            ask(server.url, model="429")
    assert server.seen[0][1]["x-gateway"] == "hush-1"
    data = path.read_text()
    for word in ("hush", "sk-secret-key", "hidden", "user-agent", "stainless", "127.0.0.1"):
        assert word not in data.lower()
    entry = workbench.load(path).entries[0]
    assert entry.request["headers"] == {"openai-beta": "b=1"}
    assert entry.request["query"] == {"api-version": "7", "country_code": "DE"}


def test_a_retry_of_the_sdk_is_part_of_its_one_call(server: Server) -> None:
    """The SDK asked three times; the agent asked once, and so there is one entry."""
    with workbench.recording() as recorded, pytest.raises(openai.InternalServerError):
        client(server.url, max_retries=2).chat.completions.create(**options("500", "plain"))
    assert len(server.seen) == 3
    assert len(recorded.trace.entries) == 1


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_an_edited_request_is_really_sent(
    server: Server, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    """When the session wants another request sent, it is sent, all else as the agent gave it."""
    body = {"model": "ok", "messages": [{"role": "user", "content": "edited"}]}

    def edited(_seam: Any, call: Any, hooks: Any) -> Any:
        return hooks.perform({**call.request, "query": {"v": "2"}, "body": body})

    monkeypatch.setattr(patches, "call_sync", edited)
    monkeypatch.setattr(patches, "call_async", edited)
    given: Any = {**options("ok", "plain"), "extra_body": {"seed": 1}}
    given |= {"extra_headers": {"x-mine": "1"}, "extra_query": {"v": "1", "key": "k"}}
    with workbench.recording():
        found = call(server.url, mode, given)
    assert found.choices[0].message.content == "You said: edited"
    path, headers, sent = server.seen[-1]
    assert (path, headers["x-mine"]) == ("/v1/chat/completions?v=2&key=k", "1")
    assert sent == body


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_injected_failures_are_the_sdks_own(server: Server, mode: str) -> None:
    """What an agent's handler reads of an exception is all there: class, body, code, headers."""

    def agent() -> Any:
        try:
            return call(server.url, mode, options("ok", "plain"))
        except openai.APIError as error:
            return error

    with workbench.recording() as recorded:
        agent()

    def meet(fault: Any) -> Any:
        with workbench.forking(recorded.trace, faults=[fault], on_miss="fail"):
            return agent()

    limited = meet(HttpError(429, retry_after_s=2))
    assert isinstance(limited, openai.RateLimitError)
    assert limited.response.headers["retry-after"] == "2"
    assert (limited.status_code, limited.code) == (429, "rate_limit_exceeded")
    assert str(limited.request.url) == f"{server.url}/chat/completions"
    for status in (400, 401, 403, 404, 409, 413, 422, 500, 502, 503, 529, 599):
        assert isinstance(meet(HttpError(status)), openai.APIStatusError)
    own = meet(HttpError(418, body={"error": {"message": "teapot", "code": "short"}}))
    assert (own.code, own.body) == ("short", {"message": "teapot", "code": "short"})
    late = meet(Timeout())
    assert isinstance(late, openai.APITimeoutError)
    assert type(late.__cause__).__name__ == "ReadTimeout"
    lost = meet(ConnectionReset())
    assert type(lost) is openai.APIConnectionError
    assert type(lost.__cause__).__name__ == "ReadError"


def test_another_endpoint_is_passed_on_and_said_to_be_missing(server: Server) -> None:
    """While recording, a list of models is there as ever, with one warning; a replay refuses it."""

    def agent() -> Any:
        made = client(server.url)
        ask(server.url)
        made.models.list()
        made.models.list()
        return made.models.list().data

    with workbench.recording() as recorded, pytest.warns(UserWarning, match="GET /models") as told:
        assert agent() == []
    assert len(told) == 1
    assert any("GET /models was made, and not recorded" in each for each in recorded.result.notices)
    calls = len(server.seen)
    refused = pytest.raises(
        UsageError, match=r"GET /models at test_openai_requests.py:\d+ is not in"
    )
    with refused, workbench.replaying(recorded.trace):
        agent()
    assert len(server.seen) == calls


def _lists(url: str, *, swallow: bool = False) -> list[str]:
    """Asks another endpoint, the model, and the endpoint again."""
    said = []
    for number in range(2):
        try:
            client(url, timeout=20).moderations.create(input="a")
        except UsageError as error:
            said.append(str(error))
            if not swallow:
                raise
        if not number:
            ask(url)
    return said


_WAYS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "replay": (workbench.replay, {}, "drifted"),
    "lenient": (workbench.replay, {"on_miss": "placeholder"}, "ok"),
    "served": (workbench.fork, {"live_from": workbench.turn(2)}, "drifted"),
    "allowed": (
        workbench.fork,
        {"live_from": workbench.turn(1), "tools_after": "allow"},
        "drifted",
    ),
    "live": (
        workbench.fork,
        {"live_from": workbench.turn(1), "tools_after": "allow", "on_miss": "live"},
        "ok",
    ),
}


@pytest.mark.parametrize("swallow", [False, True], ids=["raised", "swallowed"])
@pytest.mark.parametrize("way", _WAYS)
def test_another_endpoint_is_refused_wherever_a_recording_answers(
    server: Server, way: str, *, swallow: bool
) -> None:
    """Before a cut and after it, whatever tools may do: nothing is sent that nobody recorded. An
    agent that swallows the refusal drifted; where calls may miss, a notice tells of it."""
    with pytest.warns(UserWarning, match="POST /moderations"):
        recorded = workbench.record(_lists, server.url)
    sent = len([path for path, *_ in server.seen if path.endswith("/moderations")])
    assert sent == 2
    run, given, status = _WAYS[way]
    result = run(_lists, recorded.trace, server.url, swallow=swallow, **given)
    assert len([path for path, *_ in server.seen if path.endswith("/moderations")]) == sent
    assert result.status == (status if swallow or status == "drifted" else "failed")
    told = str(result.drift) if status == "drifted" else "\n".join(result.notices)
    assert told.startswith("POST /moderations at test_openai_requests.py:")
    assert "Put the call into a function with @workbench.tool" in told
    assert "records chat completions, new responses and embeddings only" in told
    assert ("a fork cannot tell" in told) == (run is workbench.fork)
    assert result.trace.status == result.status


def test_another_endpoint_inside_a_tool_is_the_tools_own_affair(server: Server) -> None:
    """The tool's result is recorded, so a replay needs nothing of what the tool called."""

    @workbench.tool(effect="read")
    def score(text: str) -> float:
        """Judge a text."""
        found: Any = client(server.url).post("/scores", body={"input": text}, cast_to=object)
        return float(found["score"])

    recorded = workbench.record(lambda: score("a"))
    forked = workbench.fork(lambda: score("a"), recorded.trace, force_live=[workbench.entry("1-1")])
    assert (forked.status, forked.output, len(server.seen)) == ("ok", 0.5, 2)
    server.stop()
    assert workbench.replay(lambda: score("a"), recorded.trace).output == 0.5


def test_a_replay_needs_no_key(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key an agent replays; a recording leaves the SDK's own error; a live call of a
    client without one is refused before anything is sent, until there is a key."""
    kept: list[Any] = []

    def agent(key: str | None = None, text: str = "hello") -> Any:
        made = openai.OpenAI(base_url=server.url, api_key=key)
        kept.append(made)
        return made.chat.completions.create(**options("ok", "plain", text)).to_dict()

    with workbench.recording() as recorded:
        live = agent("sk-real")
        with pytest.raises(openai.OpenAIError, match="api_key"):
            agent()
    calls = len(server.seen)
    with workbench.replaying(recorded.trace):
        assert agent() == live
        assert openai.AsyncOpenAI(base_url=server.url).api_key
        azure = openai.AzureOpenAI(azure_endpoint=server.url, api_version="1")
        assert azure.api_key
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        kept[-1].chat.completions.create(**options("ok", "plain"))
    refused = pytest.raises(UsageError, match="OPENAI_API_KEY")
    with workbench.forking(recorded.trace, on_miss="live"), refused:
        agent(text="new")
    assert len(server.seen) == calls
    monkeypatch.setenv("OPENAI_API_KEY", "sk-late")
    kept[-1].chat.completions.create(**options("ok", "plain"))
    assert server.seen[-1][1]["authorization"] == "Bearer sk-late"
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(openai.OpenAIError):
        agent()


def test_the_hooks_come_out_as_they_went_in(server: Server) -> None:
    """Installing twice hooks once; uninstalling leaves the SDK's classes as they were."""
    adapter.uninstall()
    from openai import _base_client

    classes: list[Any] = [_base_client.SyncAPIClient, _base_client.AsyncAPIClient]
    classes += [openai.OpenAI, openai.AzureOpenAI]

    def methods() -> list[dict[str, int]]:
        return [{name: id(value) for name, value in vars(each).items()} for each in classes]

    before = methods()
    adapter.install()
    hooked = methods()
    adapter.install()
    assert methods() == hooked != before
    adapter.uninstall()
    assert methods() == before
    assert ask(server.url).choices[0].message.content == "You said: hello"
    adapter.install()
    with workbench.recording() as recorded:
        ask(server.url)
    assert len(recorded.trace.entries) == 1


def test_dates_and_models_are_recorded_as_the_sdk_sends_them() -> None:
    """What the SDK turns into JSON itself is in the trace just so."""
    from pydantic import BaseModel

    from workbench.adapters.stainless.asking import snapshot

    class Part(BaseModel):
        kind: str = "text"
        text: str

    given = {
        "at": dt.datetime(2025, 1, 2, tzinfo=dt.UTC),
        "part": Part(text="x"),
        "no": openai.Omit(),
    }
    assert snapshot(given, "$", (openai.Omit,)) == {
        "at": "2025-01-02T00:00:00+00:00",
        "part": {"text": "x"},
    }


LATE = """
import sys, workbench
with workbench.recording():
    assert "openai" not in sys.modules
    import openai
    assert hasattr(openai.OpenAI.request, "__wrapped__")
"""
NO_WRAPT = """
import sys, workbench
sys.modules["wrapt"] = None
try:
    with workbench.recording():
        pass
except workbench.UsageError as error:
    assert 'pip install "trace-workbench[' in str(error), error
else:
    sys.exit("no error")
"""


@pytest.mark.parametrize("code", [LATE, NO_WRAPT], ids=["imported later", "without wrapt"])
def test_the_sdk_is_hooked_when_it_comes(
    bare_python: tuple[str, dict[str, str]], code: str
) -> None:
    """A session neither imports the SDK nor misses it when the agent does so later; what the
    hooks need and do not find is named, with the command that installs it."""
    python, env = bare_python
    done = subprocess.run(
        [python, "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
