"""What a replay through Google's SDK does without, and how the hooks go in and out."""

import subprocess
from typing import Any

import pytest
from google import genai
from google.genai import types
from loopback import Server
from sdk_cases import KEY
from sdk_seen import differences, see
from ways_google import client

import workbench
from workbench.adapters.google import adapter
from workbench.errors import UsageError

ASKED: dict[str, Any] = {"model": "gemini-x", "contents": "hello"}
GEMINI_KEYS = ("GOOGLE_API_KEY", "GEMINI_API_KEY")


def ask(url: str) -> Any:
    """A plain call."""
    made = client(url, KEY, 0)
    try:
        return made.models.generate_content(**ASKED)
    finally:
        made.close()


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
