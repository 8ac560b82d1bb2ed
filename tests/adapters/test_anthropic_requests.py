"""What is kept of a request to Anthropic's SDK, what is not, and what is refused."""

import asyncio
from pathlib import Path
from typing import Any

import anthropic
import pytest
from loopback import Server
from sdk_cases import KEY
from sdk_seen import differences, see
from ways_anthropic import async_client, client

import workbench
from workbench import UsageError
from workbench.adapters.anthropic import adapter

ASKED: Any = {
    "model": "ok",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "hello"}],
}


def ask(url: str, key: str | None = KEY, **changes: Any) -> Any:
    """A plain call."""
    with client(url, key, 0) as made:
        return made.messages.create(**{**ASKED, **changes})


def test_the_request_is_the_json_that_was_sent(speaker: Server) -> None:
    """Sentinels are left out; what the SDK itself read, such as an iterator of messages and a
    reply's blocks, stands there as JSON; the reply keeps a vendor's extras."""
    with workbench.recording() as recorded:
        first = ask(speaker.url, tools=[{"name": "f", "input_schema": {"type": "object"}}])
        history: Any = [*ASKED["messages"], {"role": "assistant", "content": first.content}]
        last = {"role": "user", "content": "go on"}
        extra = {"top_k": 3, "none": None, "list": (1, 2)}
        found = ask(
            speaker.url,
            messages=[*history, last],
            system=anthropic.NOT_GIVEN,
            extra_body=extra,
        )
    one, two = recorded.trace.entries
    assert [one.body, two.body] == [seen.body for seen in speaker.seen]
    assert two.body["messages"][1]["content"][0]["signature"] == "c2lnbmF0dXJl+/=="
    assert two.body["top_k"] == 3
    assert "system" not in two.body
    assert two.response["body"]["x_vendor"]["big"] == 12345678901234567890123
    assert (two.model, two.reply_model, two.provider) == ("ok", "served-model-1", "local")
    speaker.stop()
    with workbench.replaying(recorded.trace):
        again = ask(speaker.url, tools=[{"name": "f", "input_schema": {"type": "object"}}])
        assert differences(see(first), see(again)) == []
        history = [*ASKED["messages"], {"role": "assistant", "content": again.content}]
        second = ask(speaker.url, messages=[*history, last], extra_body=extra)
        assert differences(see(found), see(second)) == []


def test_no_secret_of_a_request_or_response_is_recorded(speaker: Server, tmp_path: Path) -> None:
    """Keys, cookies and unknown headers stay out of the file's very bytes; what can change an
    answer stays in."""
    path = tmp_path / "run.trace.jsonl"
    secrets = {"x-gateway": "hush-1", "Authorization": "Bearer hush-2"}
    secrets["anthropic-version"] = "2023-06-01"
    with workbench.recording(path), client(speaker.url, KEY, 0) as made:
        made.beta.messages.create(
            **ASKED,
            betas=["one-2025-01-01", "two-2025-02-02"],
            extra_headers=secrets,
            extra_query={"token": "hush-3", "country": "DE"},
        )
        with pytest.raises(anthropic.RateLimitError):
            made.messages.create(**{**ASKED, "model": "429"})
    assert speaker.seen[0].headers["x-gateway"] == "hush-1"
    data = path.read_text().lower()
    for word in ("hush", KEY, "hidden", "user-agent", "stainless", "127.0.0.1"):
        assert word not in data
    first, second = workbench.load(path).entries
    assert first.request["headers"] == {
        "anthropic-beta": "one-2025-01-01,two-2025-02-02",
        "anthropic-version": "2023-06-01",
    }
    query = dict(first.request["query"])
    query.pop("beta", None)  # older releases say in the path that it is of betas
    assert query == {"country": "DE"}
    assert "headers" not in second.request
    assert second.error is not None
    assert second.error.headers == {
        "content-type": "application/json",
        "request-id": "req_1",
        "retry-after": "1",
        "retry-after-ms": "5",
    }


def test_a_beta_is_part_of_what_was_asked(speaker: Server) -> None:
    """The same words with another beta are another request."""
    with workbench.recording() as recorded, client(speaker.url, KEY, 0) as made:
        made.beta.messages.create(**ASKED, betas=["one-2025-01-01"])
    with (
        pytest.raises(workbench.DriftError, match="two-2025-01-01"),
        workbench.replaying(recorded.trace),
        client(speaker.url, None, 0) as made,
    ):
        made.beta.messages.create(**ASKED, betas=["two-2025-01-01"])


def test_an_agent_that_counts_tokens_first_replays(speaker: Server) -> None:
    """The count is recorded beside the messages, and both come back."""

    def agent() -> list[Any]:
        with client(speaker.url, KEY, 0) as made:
            given = {name: ASKED[name] for name in ("model", "messages")}
            count = made.messages.count_tokens(**given)
            found = made.messages.create(**{**ASKED, "max_tokens": 100 - count.input_tokens})
            return [count.input_tokens, found.content[-1].to_dict(), found._request_id]

    recorded = workbench.record(agent)
    speaker.stop()
    count, message = recorded.trace.entries
    assert (count.api, count.response["body"]) == ("anthropic.count_tokens", {"input_tokens": 12})
    assert (count.reply_model, message.api) == (None, "anthropic.messages")
    assert message.body["max_tokens"] == 88
    replayed = workbench.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert recorded.trace.diff(replayed.trace).same


def test_batches_are_passed_on_and_said_to_be_missing(speaker: Server) -> None:
    """While recording they work as ever, with one warning; a replay refuses them."""

    def agent() -> Any:
        with client(speaker.url, KEY, 0) as made:
            request: Any = {"custom_id": "a", "params": ASKED}
            made.messages.batches.create(requests=[request])
            made.messages.batches.create(requests=[request])
            return made.messages.create(**ASKED).stop_reason

    with pytest.warns(UserWarning, match="POST /v1/messages/batches was made") as told:
        recorded = workbench.record(agent)
    assert len(told) == 1
    assert [entry.api for entry in recorded.trace.entries] == ["anthropic.messages"]
    sent = len(speaker.seen)
    replayed = workbench.replay(agent, recorded.trace)
    assert replayed.status == "drifted"
    text = str(replayed.drift)
    assert text.startswith("POST /v1/messages/batches at test_anthropic_requests.py:")
    assert "of Anthropic's API this version records messages and counts of tokens only" in text
    assert len(speaker.seen) == sent


def test_a_retry_of_the_sdk_is_part_of_its_one_call(speaker: Server) -> None:
    """The SDK asked three times; the agent asked once, and so there is one entry."""
    with (
        workbench.recording() as recorded,
        client(speaker.url, KEY, None) as made,
        pytest.raises(anthropic.APIStatusError, match="529"),
    ):
        made.messages.create(**{**ASKED, "model": "529"})
    assert len(speaker.seen) == 3
    (entry,) = recorded.trace.entries
    assert entry.error is not None
    assert entry.error.status == 529


def test_a_replay_needs_no_key(speaker: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key an agent replays; a recording leaves the SDK's own error; a live call of a
    client without one is refused before anything is sent, until there is a key."""
    kept: list[Any] = []

    def agent(key: str | None = None, model: str = "ok") -> Any:
        kept.append(client(speaker.url, key, 0))
        return kept[-1].with_options(timeout=2).messages.create(**{**ASKED, "model": model})

    with workbench.recording() as recorded:
        live = agent(KEY)
    with workbench.recording(), pytest.raises(TypeError, match="authentication"):
        agent()
    calls = len(speaker.seen)
    with workbench.replaying(recorded.trace):
        assert differences(see(live), see(agent())) == []
        assert anthropic.AsyncAnthropic().api_key
        assert anthropic.Anthropic(auth_token="mine").api_key is None
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        kept[-1].messages.create(**ASKED)
    refused = pytest.raises(UsageError, match="ANTHROPIC_API_KEY")
    with workbench.forking(recorded.trace, on_miss="live"), refused:
        agent(model="new")
    assert len(speaker.seen) == calls
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-late")
    kept[-1].messages.create(**ASKED)
    sent = speaker.seen[-1].headers
    assert "sk-late" in (sent.get("x-api-key") or sent.get("authorization") or "")
    for made in kept:
        made.close()


def test_an_edited_request_is_really_sent(speaker: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the session wants another request sent, it is sent, all else as the agent gave it."""
    from workbench.adapters.stainless import patches

    def edited(_seam: Any, call: Any, hooks: Any) -> Any:
        return hooks.perform({**call.request, "body": {**call.request["body"], "max_tokens": 7}})

    monkeypatch.setattr(patches, "call_sync", edited)
    monkeypatch.setattr(patches, "call_async", edited)
    given: Any = {**ASKED, "extra_body": {"seed": 1}, "extra_headers": {"x-mine": "1"}}

    async def later() -> Any:
        async with async_client(speaker.url, KEY, 0) as made:
            return await made.beta.messages.create(**given, betas=["b-1"])

    with workbench.recording():
        ask(speaker.url, **given)
        asyncio.run(later())
    for seen in speaker.seen:
        assert seen.headers["x-mine"] == "1"
        assert seen.body == {**ASKED, "seed": 1, "max_tokens": 7}
    assert speaker.seen[-1].path.startswith("/v1/messages")
    assert speaker.seen[-1].headers["anthropic-beta"] == "b-1"


def test_the_hooks_come_out_as_they_went_in(speaker: Server) -> None:
    """Installing twice hooks once; uninstalling leaves the SDK's classes as they were."""
    adapter.uninstall()
    from anthropic import _base_client

    classes: list[Any] = [_base_client.SyncAPIClient, _base_client.AsyncAPIClient]
    classes += [anthropic.Anthropic, anthropic.AsyncAnthropic]

    def methods() -> list[dict[str, int]]:
        return [{name: id(value) for name, value in vars(each).items()} for each in classes]

    before = methods()
    adapter.install()
    hooked = methods()
    adapter.install()
    assert methods() == hooked != before
    adapter.uninstall()
    assert methods() == before
    assert ask(speaker.url).stop_reason == "end_turn"
    adapter.install()
    with workbench.recording() as recorded:
        ask(speaker.url)
    assert len(recorded.trace.entries) == 1


def test_the_sdk_is_not_imported_by_its_adapter(bare_python: tuple[str, dict[str, str]]) -> None:
    """A session costs an agent nothing that never uses the SDK, and hooks it when it comes."""
    import subprocess

    code = (
        "import sys, workbench\n"
        "with workbench.recording():\n"
        "    assert 'anthropic' not in sys.modules\n"
        "    import anthropic\n"
        "    assert hasattr(anthropic.Anthropic.request, '__wrapped__')\n"
    )
    python, env = bare_python
    subprocess.run([python, "-W", "error", "-c", code], env=env, check=True, timeout=60)
