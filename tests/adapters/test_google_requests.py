"""What is recorded of a call through Google's SDK, what is not, and what a replay needs."""

import asyncio
import subprocess
import warnings
from pathlib import Path
from typing import Any

import pytest
from google import genai
from google.genai import types
from loopback import Server
from pydantic import BaseModel
from sdk_cases import KEY
from sdk_seen import differences, see
from ways_google import async_client, client

import workbench
from workbench.adapters.google import adapter
from workbench.errors import UsageError
from workbench.trace.prices import cost_of

ASKED: dict[str, Any] = {"model": "gemini-x", "contents": "hello"}
CONFIG = types.GenerateContentConfig
GEMINI_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")


def ask(url: str, key: str | None = KEY, **changes: Any) -> Any:
    """A plain call."""
    made = client(url, key, 0)
    try:
        return made.models.generate_content(**{**ASKED, **changes})
    finally:
        made.close()


def test_the_request_is_the_json_that_was_sent(speaker: Server) -> None:
    """Camel case as on the wire, signatures and images as base64, extra fields included; the
    path names the model, and neither host nor version nor project is kept."""
    picture = types.Part.from_bytes(data=b"\x00\xff", mime_type="image/png")
    tool = types.Tool(function_declarations=[types.FunctionDeclaration(name="get_order")])
    extra = types.HttpOptions(extra_body={"labels": {"a": "b"}})
    with workbench.recording() as recorded:
        first = ask(speaker.url, config=CONFIG(tools=[tool], temperature=0.5))
        history = [types.Content(role="user", parts=[types.Part(text="hello"), picture])]
        history.append(first.candidates[0].content)
        last = types.Part.from_function_response(name="get_order", response={"result": "ok"})
        history.append(types.Content(role="user", parts=[last]))
        ask(speaker.url, contents=history, config=CONFIG(http_options=extra))
    one, two = recorded.trace.entries
    assert [one.body, two.body] == [seen.body for seen in speaker.seen]
    assert one.body["generationConfig"] == {"temperature": 0.5}
    assert two.body["labels"] == {"a": "b"}
    assert two.body["contents"][0]["parts"][1]["inlineData"]["data"] == "AP8="
    # The SDK itself writes the bytes that it got in the other alphabet of base64.
    assert two.body["contents"][1]["parts"][1]["thoughtSignature"] == "c2_-nA=="
    assert one.request == {"path": "/models/gemini-x:generateContent", "body": one.body}
    assert (one.model, one.reply_model, one.provider) == ("gemini-x", "served-model-1", "local")
    assert [m.role for m in two.messages] == ["user", "assistant", "tool"]
    assert one.usage == {
        "input_tokens": 12,
        "output_tokens": 7,
        "cache_read_tokens": 4,
        "reasoning_tokens": 2,
    }


def test_what_the_agent_does_later_changes_no_entry(speaker: Server) -> None:
    """A conversation that is one growing list stands in each entry as it was."""
    contents: list[Any] = [{"role": "user", "parts": [{"text": "one"}]}]
    with workbench.recording() as recorded:
        ask(speaker.url, contents=contents)
        contents.append({"role": "user", "parts": [{"text": "two"}]})
        ask(speaker.url, contents=contents)
    assert [len(entry.messages) for entry in recorded.trace.entries] == [1, 2]


def test_no_secret_of_a_request_or_response_is_recorded(speaker: Server, tmp_path: Path) -> None:
    """Keys, cookies, headers and the host stay out of the file's very bytes."""
    path = tmp_path / "run.trace.jsonl"
    headers = {"x-gateway": "hush-1", "Authorization": "Bearer hush-2"}
    with workbench.recording(path):
        ask(speaker.url, config=CONFIG(http_options=types.HttpOptions(headers=headers)))
        with pytest.raises(genai.errors.ClientError):
            ask(speaker.url, model="429")
    assert speaker.seen[0].headers["x-gateway"] == "hush-1"
    assert speaker.seen[0].headers["x-goog-api-key"] == KEY
    data = path.read_text().lower()
    for word in ("hush", KEY, "hidden", "user-agent", "127.0.0.1"):
        assert word not in data
    error = workbench.load(path).entries[1].error
    assert error is not None
    assert (error.status, (error.headers or {})["retry-after"]) == (429, "1")


class Weather(BaseModel):
    """What a schema asks for."""

    city: str


def test_what_the_sdk_makes_of_an_answer_is_its_own(speaker: Server) -> None:
    """Parsed output, thoughts, calls and the response's headers come from the SDK's own parser."""

    def agent(key: str | None) -> Any:
        made = client(speaker.url, key, 0)
        config = CONFIG(response_mime_type="application/json", response_schema=Weather)
        found = made.models.generate_content(**ASKED, config=config)
        made.close()
        assert found.parsed == Weather(city="Bergen")
        response: Any = found.sdk_http_response
        assert response.headers["x-request-id"] == "req_1"
        return found

    with workbench.recording() as recorded:
        live = agent(KEY)
    speaker.stop()
    with workbench.replaying(recorded.trace):
        assert differences(see(live), see(agent(None))) == []


ran: list[int] = []


def get_order(number: int) -> str:
    """Looks up an order."""
    ran.append(number)
    if number == 7:
        raise LookupError("no such order")
    return f"order {number}"


async def aget_order(number: int) -> str:
    """Looks up an order."""
    return get_order(number)


aget_order.__name__ = "get_order"


def calling(url: str, key: str | None, tool: Any, *, chat: bool = False) -> Any:
    """An agent whose tools the SDK calls by itself."""
    made = client(url, key, 0)
    try:
        config = CONFIG(tools=[tool])
        if chat:
            talk = made.chats.create(model="gemini-x", config=config)
            return talk.send_message("hello").text, see(talk.get_history())
        found = made.models.generate_content(**ASKED, config=config)
        return found.text, see(found.automatic_function_calling_history)
    finally:
        made.close()


async def acalling(url: str, key: str | None, tool: Any) -> Any:
    """The same in async code."""
    made = async_client(url, key, 0)
    found = await made.aio.models.generate_content(**ASKED, config=CONFIG(tools=[tool]))
    await made.close()
    return found.text, see(found.automatic_function_calling_history)


TOOLS = {
    "a function": get_order,
    "a tool": workbench.tool(effect="read")(get_order),
    "async": aget_order,
    "an async tool": workbench.tool(effect="read")(aget_order),
}


@pytest.mark.parametrize("how", [*TOOLS, "a chat"])
def test_functions_that_the_sdk_calls_are_tools(speaker: Server, how: str) -> None:
    """They are recorded once, answered in a replay and not run; what one raised, the model is
    told again in the same words."""
    tool: Any = TOOLS.get(how, get_order)
    if CONFIG(tools=[tool]).tools != [tool]:
        pytest.skip("this release takes plain functions only")

    def agent(key: str | None) -> Any:
        if "async" in how:
            return asyncio.run(acalling(speaker.url, key, tool))
        return calling(speaker.url, key, tool, chat=how == "a chat")

    ran.clear()
    with workbench.recording() as recorded:
        live = agent(KEY)
    assert ran == [101, 7]
    speaker.stop()
    with workbench.replaying(recorded.trace) as replayed:
        assert agent(None) == live
    assert ran == [101, 7]
    assert replayed.result.status == "ok"
    kinds = [(entry.kind, entry.name) for entry in recorded.trace.entries]
    tools = [("tool", "get_order")] * 2
    assert kinds == [("model", None), *tools, ("model", None)]
    first, second = recorded.trace.tools("get_order")
    assert (first.arguments, first.result, first.asked_by) == (
        {"number": 101},
        "order 101",
        recorded.trace.entries[0].id,
    )
    assert second.error is not None
    assert "no such order" in second.error.message
    assert first.effect == "read"  # as the tools of that name say
    answers = [m.text for m in recorded.trace.turns[1].messages if m.role == "tool"]
    assert answers[0] == "order 101"
    assert "no such order" in answers[1]


def test_an_agent_that_counts_and_embeds_first_replays(speaker: Server) -> None:
    """Counts and vectors are recorded beside the answers, and all come back."""

    def agent() -> Any:
        made = client(speaker.url, KEY, 0)
        try:
            count = made.models.count_tokens(**ASKED)
            texts: Any = ["a", "bcd"]
            vectors = made.models.embed_content(model="e", contents=texts)
            found = made.models.generate_content(**ASKED)
            values = [each.values for each in vectors.embeddings or ()]
            return [count.total_tokens, values, found.text]
        finally:
            made.close()

    recorded = workbench.record(agent)
    speaker.stop()
    assert recorded.output == [31, [[1.0, 0.5, -1e-7], [3.0, 0.5, -1e-7]], "You said: hello"]
    assert [(entry.api, entry.model) for entry in recorded.trace.entries] == [
        ("google.count_tokens", "gemini-x"),
        ("google.embed_content", "e"),
        ("google.generate_content", "gemini-x"),
    ]
    assert [entry.text for entry in recorded.trace.entries] == [
        "31 tokens",
        "2 vectors of 3 numbers",
        "You said: hello",
    ]
    assert [m.text for m in recorded.trace.entries[0].messages] == ["hello"]
    assert cost_of(recorded.trace.entries[0]) == 0
    replayed = workbench.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert recorded.trace.diff(replayed.trace).same


def test_what_is_not_recorded_is_passed_on_and_said_to_be_missing(speaker: Server) -> None:
    """While recording it works as ever, with one warning; a replay refuses it."""

    def agent() -> Any:
        made = client(speaker.url, KEY, 0)
        try:
            for _ in range(2):
                made.models._api_client.request("get", "models/gemini-x", {}, None)
            return made.models.generate_content(**ASKED).text
        finally:
            made.close()

    with pytest.warns(UserWarning, match="GET /models/gemini-x was made") as told:
        recorded = workbench.record(agent)
    assert len(told) == 1
    assert len(recorded.trace.entries) == 1
    sent = len(speaker.seen)
    replayed = workbench.replay(agent, recorded.trace)
    assert replayed.status == "drifted"
    assert str(replayed.drift).startswith("GET /models/gemini-x at test_google_requests.py:")
    assert "records generateContent, embeddings and counts of tokens only" in str(replayed.drift)
    assert len(speaker.seen) == sent


def test_files_and_live_sessions_are_refused_in_a_replay(speaker: Server) -> None:
    """They go past the calls that are recorded, and are told of all the same."""
    with workbench.recording() as recorded:
        ask(speaker.url)

    async def lively() -> None:
        made = async_client(speaker.url, None, 0)
        try:
            async with made.aio.live.connect(model="m"):
                raise AssertionError("connected")
        finally:
            await made.close()

    def loading() -> None:
        client(speaker.url, None, 0).models._api_client.download_file("x")

    def interacting() -> None:
        warnings.simplefilter("ignore")  # it is told more than it heeds
        client(speaker.url, None, 0).whole.interactions.create(model="m", input="hello")

    asked: dict[str, Any] = {
        r"a live session \(client.aio.live\)": lambda: asyncio.run(lively()),
        r"a download \(client.files\)": loading,
    }
    if hasattr(genai.Client, "interactions"):
        asked[r"a call of client\.interactions"] = interacting
    for words, ask_it in asked.items():
        refused = pytest.raises(UsageError, match=words)
        replaying = workbench.replaying(recorded.trace, on_miss="placeholder")
        with warnings.catch_warnings(), replaying, refused:
            ask_it()


def test_a_retry_of_the_sdk_is_part_of_its_one_call(speaker: Server) -> None:
    """The SDK asked three times; the agent asked once, and so there is one entry."""
    made = client(speaker.url, KEY, None)
    with workbench.recording() as recorded, pytest.raises(genai.errors.ServerError, match="529"):
        made.models.generate_content(**{**ASKED, "model": "529"})
    made.close()
    assert len(speaker.seen) == 3
    (entry,) = recorded.trace.entries
    assert entry.error is not None
    assert entry.error.status == 529


def test_a_replay_needs_no_key(speaker: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key an agent replays; a recording leaves the SDK's own error; a live call of a
    client without one is refused before anything is sent, until there is a key."""
    for name in GEMINI_KEYS:
        monkeypatch.delenv(name, raising=False)
    kept: list[Any] = []

    def agent(key: str | None = None, model: str = "gemini-x") -> Any:
        kept.append(client(speaker.url, key, 0))
        return kept[-1].models.generate_content(**{**ASKED, "model": model})

    with workbench.recording() as recorded:
        live = agent(KEY)
    with workbench.recording(), pytest.raises(ValueError, match=r"[kK]ey"):
        agent()
    calls = len(speaker.seen)
    with workbench.replaying(recorded.trace):
        assert differences(see(live), see(agent())) == []
    with pytest.raises(UsageError, match="GEMINI_API_KEY or GOOGLE_API_KEY"):
        kept[-1].models.generate_content(**ASKED)
    refused = pytest.raises(UsageError, match="made without an API key while a recording")
    with workbench.forking(recorded.trace, on_miss="live"), refused:
        agent(model="new")
    assert len(speaker.seen) == calls
    monkeypatch.setenv("GEMINI_API_KEY", "late-key")
    kept[-1].models.generate_content(**ASKED)
    assert speaker.seen[-1].headers["x-goog-api-key"] == "late-key"
    for made in kept:
        made.close()


VERTEX = "/publishers/google/models/gemini-x:generateContent"


def test_vertex_is_recorded_without_its_project(
    speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was asked on Vertex AI is told without project and place; a replay needs neither
    credentials nor a project, and a live call is refused without one."""
    from google.oauth2.credentials import Credentials

    for name in ("GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS", *GEMINI_KEYS):
        monkeypatch.delenv(name, raising=False)
    options = types.HttpOptions(base_url=speaker.url, client_args={"verify": False})
    given: Any = {"project": "my-project", "location": "europe-west1"}
    made_of: Any = Credentials
    made = genai.Client(vertexai=True, credentials=made_of("hush"), http_options=options, **given)
    with workbench.recording() as recorded:
        live = made.models.generate_content(**ASKED)
    sent = speaker.seen[0]
    assert "/projects/my-project/locations/europe-west1/" in sent.path
    assert sent.headers["authorization"] == "Bearer hush"
    (entry,) = recorded.trace.entries
    assert (entry.request["path"], entry.model) == (VERTEX, "gemini-x")
    assert "hush" not in str(list(recorded.trace.entries))
    with workbench.replaying(recorded.trace):
        bare = genai.Client(vertexai=True)
        again = bare.models.generate_content(**ASKED)
    assert (again.text, again.usage_metadata) == (live.text, live.usage_metadata)
    with pytest.raises(UsageError, match="GOOGLE_CLOUD_PROJECT"):
        bare.models.generate_content(**ASKED)
    assert len(speaker.seen) == 1


def test_an_edited_request_is_really_sent(speaker: Server) -> None:
    """A fork sends the edited words to the edited model, all else as the agent gave it."""
    headers = {"x-mine": "1"}
    config = CONFIG(
        temperature=0.5,
        http_options=types.HttpOptions(headers=headers, extra_body={"labels": {"a": "b"}}),
    )

    def agent() -> Any:
        return ask(speaker.url, config=config).text

    def stream() -> Any:
        made = client(speaker.url, KEY, 0)
        found = made.models.generate_content_stream(**ASKED, config=config)
        said = "".join(chunk.text or "" for chunk in found)
        made.close()
        return said

    for each in (agent, stream):
        recorded = workbench.record(each)
        edits = recorded.trace.edit().request(
            workbench.turn(1), replace={1: "bye"}, model="gemini-y", set={"labels": {"a": "c"}}
        )
        forked = workbench.fork(each, recorded.trace, edits=edits, live_from=workbench.turn(1))
        assert (forked.status, forked.output) == ("ok", "You said: bye")
        seen = speaker.seen[-1]
        assert "/models/gemini-y:" in seen.path
        assert seen.headers["x-mine"] == "1"
        assert "model" not in seen.body
        assert seen.body["contents"][0]["parts"] == [{"text": "bye"}]
        assert (seen.body["labels"], seen.body["generationConfig"]) == (
            {"a": "c"},
            {"temperature": 0.5},
        )


def test_the_hooks_come_out_as_they_went_in(speaker: Server) -> None:
    """Installing twice hooks once; uninstalling leaves the SDK as it was."""
    from google.genai import _api_client, _extra_utils, _transformers, live

    adapter.uninstall()
    owners: list[Any] = [_api_client.BaseApiClient, _extra_utils, _transformers, live.AsyncLive]

    def names() -> list[dict[str, int]]:
        return [{name: id(value) for name, value in vars(each).items()} for each in owners]

    before = names()
    adapter.install()
    hooked = names()
    adapter.install()
    assert names() == hooked != before
    adapter.uninstall()
    assert names() == before
    assert ask(speaker.url).text == "You said: hello"
    adapter.install()
    with workbench.recording() as recorded:
        ask(speaker.url)
    assert len(recorded.trace.entries) == 1


def test_the_sdk_is_not_imported_by_its_adapter(bare_python: tuple[str, dict[str, str]]) -> None:
    """A session costs an agent nothing that never uses the SDK, and hooks it when it comes."""
    code = (
        "import sys, workbench\n"
        "with workbench.recording():\n"
        "    assert 'google.genai' not in sys.modules\n"
        "    from google.genai import _api_client\n"
        "    assert hasattr(_api_client.BaseApiClient.request, '__wrapped__')\n"
    )
    python, env = bare_python
    subprocess.run([python, "-c", code], env=env, check=True, timeout=60)


def test_a_release_that_does_not_fit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the SDK lacks what is hooked, the user is told which release that is."""
    from google.genai import _api_client

    adapter.uninstall()
    monkeypatch.delattr(_api_client.BaseApiClient, "async_request_streamed")
    with pytest.raises(UsageError, match=r"'google' does not fit google-genai \d.*streamed"):
        adapter.install()
    monkeypatch.undo()
    adapter.install()
