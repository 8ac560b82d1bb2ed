"""What is recorded of a call through Google's SDK, what is not, and what a replay needs."""

import asyncio
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
from workbench.errors import UsageError
from workbench.trace.prices import cost_of

ASKED: dict[str, Any] = {"model": "gemini-x", "contents": "hello"}
CONFIG = types.GenerateContentConfig


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
