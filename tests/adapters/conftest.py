"""What the tests of the adapters share."""

import socket
import sys
from collections.abc import Iterator

import pytest
from loopback import Server as Speaker
from openai_server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A running loopback server; a test stops it before it replays."""
    with Server() as running:
        yield running


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    """A running loopback server that speaks for every provider."""
    with Speaker() as running:
        yield running


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "AZURE_OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    yield
    if "openai_results" in sys.modules:  # there may be environments without that SDK
        sys.modules["openai_results"].close_all()


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every address that this process connects to, from now on."""
    made: list[object] = []
    for name in ("connect", "connect_ex"):
        original = getattr(socket.socket, name)

        def counted(self: socket.socket, address: object, original: object = original) -> object:
            made.append(address)
            return original(self, address)  # type: ignore[operator]

        monkeypatch.setattr(socket.socket, name, counted)
    return made
