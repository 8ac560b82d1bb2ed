"""Redaction in whole runs: through a real SDK, tools, exceptions and events, and back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai_server import Server

import workbench as wb
from workbench.errors import UsageError
from workbench.trace.redaction import Rule, placeholders, scan

KEY = "sk-proj-abcDEF0123456789abcdef"
HIDDEN = "correct-horse-battery"
PLAIN = "hunter2!"
IDS = ("chatcmpl-1", "call_1")
charged: list[str] = []


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A running provider; this process has a secret in its environment."""
    monkeypatch.setenv("SHOP_TOKEN", HIDDEN)
    charged.clear()
    with Server() as running:
        yield running


@wb.tool
def charge(card: str, config: str, *, password: str) -> dict[str, Any]:
    """Charge a card."""
    charged.append(f"{card} {password} {config}")
    return {"id": "call_1", "receipt": f"charged with {card}", "access_token": PLAIN, "n": 1}


@wb.tool(effect="read")
def look_up(card: str) -> str:
    """Fails, and says too much."""
    error = ValueError(f"no such card: {card}", {"token": PLAIN})
    error.api_key = PLAIN  # type: ignore[attr-defined] # as SDKs' errors have them
    raise error


def shop(url: str, key: str = KEY) -> str:
    """An agent that is careless with its secrets wherever it can be."""
    with openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
        config = json.dumps({"inner": json.dumps({"api_key": key, "n": 1.0}), "password": PLAIN})
        messages: list[Any] = [{"role": "user", "content": f"Use {key} or {HIDDEN}; {config}"}]
        headers = {"x-api-key": key, "openai-beta": f"k={key}"}
        first = client.chat.completions.create(
            model="ok", messages=messages, extra_headers=headers, extra_query={"access_token": key}
        )
        said = str(first.choices[0].message.content)
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": "again"}]
        stream = client.chat.completions.create(
            model="ok", stream=True, messages=[{"role": "user", "content": f"say {key} twice"}]
        )
        pieces = [c.choices[0].delta.content or "" for c in stream if c.choices]
        messages.append({"role": "user", "content": "".join(pieces)})
        paid = charge(key, config, password=PLAIN)
        wb.write_event("paid", {"with": key, "receipt": paid["receipt"], "id": paid["id"]})
        try:
            look_up(key)
        except ValueError as error:
            messages.append({"role": "user", "content": str(error)})
        messages.append({"role": "tool", "tool_call_id": "call_1", "content": json.dumps(paid)})
        last = client.chat.completions.create(model="ok", messages=messages)
        return f"done with {paid['receipt']}: {last.choices[0].message.content}"


def bytes_of(path: Path) -> str:
    """The file's text, its lines' JSON escapes undone."""
    text = path.read_text("utf-8")
    return text + text.replace('\\"', '"').replace("\\\\", "\\")


def test_a_careless_agent_leaves_no_secret_and_replays(tmp_path: Path, server: Server) -> None:
    """Prompt, header, query, tool argument, JSON in JSON, exception, environment, stream, output:
    none of them is in the file, the ids are, and the replay finds every call again."""
    path = tmp_path / "run.trace.jsonl"
    recorded = wb.record(shop, server.url, to=path)
    assert recorded.status == "ok", recorded.error
    assert KEY in str(recorded.output), "the agent itself sees the real value"
    assert charged == [f"{KEY} {PLAIN} " + charged[0].split(" ", 2)[2]]
    text = bytes_of(path)
    for secret in (KEY, KEY[8:], HIDDEN, PLAIN):
        assert secret not in text
    for known in IDS:
        assert f'"{known}"' in text
    assert scan(path) == []
    server.stop()
    replayed = wb.replay(shop, path, server.url)
    assert (replayed.status, replayed.drift) == ("ok", None)
    assert len(charged) == 1
    assert [call.reason for call in replayed.calls] == ["hit"] * len(replayed.calls)
    assert KEY not in str(replayed.output)
    assert replayed.notices == []


def test_a_changed_key_is_served_and_said(tmp_path: Path, server: Server) -> None:
    """A key that was rotated since differs in its placeholder only."""
    path = tmp_path / "run.trace.jsonl"
    wb.record(shop, server.url, to=path)
    server.stop()
    replayed = wb.replay(shop, path, server.url, KEY.replace("abc", "xyz"))
    assert (replayed.status, replayed.drift) == ("ok", None)
    assert any("secret rotated" in each for each in replayed.notices)


def test_a_fork_is_clean_and_needs_the_secrets_for_the_live_world(
    tmp_path: Path, server: Server
) -> None:
    """A recorded placeholder never reaches a live tool: it is resolved, or refused."""

    def agent(key: str) -> str:
        found = look_up_key()
        return str(charge(found["api_key"], "{}", password="x-" + key)["n"])

    @wb.tool(effect="read")
    def look_up_key() -> dict[str, str]:
        return {"api_key": KEY}

    path, to = tmp_path / "run.trace.jsonl", tmp_path / "fork.trace.jsonl"
    wb.record(agent, KEY, to=path)
    assert len(charged) == 1
    (entry,) = wb.load(path).tools("charge")
    options: dict[str, Any] = {"live_from": wb.entry(entry.id), "tools_after": "allow"}
    refused = wb.fork(agent, path, KEY, to=to, **options)
    assert refused.status != "ok"
    assert len(charged) == 1
    assert placeholders(str(refused.error)), "it names what is missing"
    forked = wb.fork(agent, path, KEY, to=tmp_path / "2.trace.jsonl", secrets=[KEY], **options)
    assert forked.status == "ok", forked.error
    assert charged[1].startswith(f"{KEY} ")
    assert KEY not in bytes_of(tmp_path / "2.trace.jsonl")


def test_a_users_rule_is_needed_again(tmp_path: Path) -> None:
    """A replay without it says so; with it, every call is found."""

    @wb.tool
    def bill(customer: dict[str, str]) -> str:
        return f"billed {customer['tax_id']}"

    def agent() -> str:
        return bill({"tax_id": "DE123456", "name": "Ada"})

    rules = [Rule.key("tax_id"), Rule.pattern("tax-number", r"DE\d+")]
    path = tmp_path / "run.trace.jsonl"
    wb.record(agent, to=path, redact=rules)
    assert "DE123456" not in path.read_text("utf-8")
    assert "Ada" in path.read_text("utf-8")
    with pytest.raises(UsageError, match="'tax_id', 'tax-number'"):
        wb.replay(agent, path)
    assert wb.replay(agent, path, redact=rules).status == "ok"


def test_redaction_can_be_left_out(tmp_path: Path) -> None:
    """The trace then holds what was said, and its replay cleans nothing."""

    @wb.tool
    def keep(value: str) -> str:
        return value

    path = tmp_path / "run.trace.jsonl"
    wb.record(lambda: keep(KEY), to=path, redact=False)
    assert KEY in path.read_text("utf-8")
    assert wb.replay(lambda: keep(KEY), path).output == KEY


def test_a_secret_in_a_sentence_is_known_again(tmp_path: Path) -> None:
    """A tool gave it by name, so a replay has its placeholder; the recording has it in the
    sentence as it is, since nothing tells it from other words. The call is found all the same."""

    @wb.tool(effect="read")
    def log_in() -> dict[str, str]:
        return {"password": PLAIN}

    @wb.tool
    def note(text: str) -> int:
        return len(text)

    def agent() -> int:
        return note(f"the password is {log_in()['password']}, he said")

    path = tmp_path / "run.trace.jsonl"
    recorded = wb.record(agent, to=path)
    replayed = wb.replay(agent, path)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len(replayed.notices) == 1
