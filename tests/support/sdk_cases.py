"""The SDKs × what can happen to a call: each way to ask, each case, and what agent code sees.

To add an SDK:

1. Let the loopback server speak its API (``loopback.py`` says how).
2. Write ``tests/support/ways_NAME.py`` with a list ``WAYS`` of :class:`Way`. A way has a function
   that makes a client for the server's address, and one that asks with it and *notes* whatever the
   agent gets, chunk by chunk. It lets exceptions through; the harness sees and keeps them.
3. Name the module in :data:`MODULES`. It is left out where its SDK is not installed.

``tests/adapters/test_sdk_matrix.py`` then takes each way through each case that it can meet:
recorded over loopback, the server stopped, replayed, compared field by field.
"""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from sdk_seen import see, see_error

MODULES = {"openai": "ways_openai", "anthropic": "ways_anthropic", "google.genai": "ways_google"}
"""The module that has the ways of an SDK, by the module of that SDK."""
KEY = "sk-secret-key"
"""What clients have while they record. Replays have none."""
TIMEOUT_S = 0.4
"""How long clients wait; the server stalls for longer."""

Note = Callable[[Any], None]


@dataclass(frozen=True)
class Ask:
    """What a way is to ask for."""

    script: str
    """What the server is to do: the model's name, or the header ``x-script``."""
    tools: bool = False
    """Whether to offer a tool, so that the answer is a call of it."""


@dataclass(frozen=True)
class Way:
    """One way of asking one API."""

    api: str
    """What the entries' ``api`` is, such as ``openai.chat``."""
    name: str
    client: Callable[[str, str | None, int | None], Any]
    """Makes a client of ``(address, key, retries)``: the address has no path; a key of None is
    not given, nor retries of None, which are then the SDK's own number. It waits
    :data:`TIMEOUT_S`."""
    ask: Callable[[Any, Ask, Note], Any]
    """Asks with the client, and notes what comes; a coroutine function where ``is_async``."""
    is_async: bool = False
    streams: bool = False
    tools: bool = True
    """Whether a tool can be offered."""
    raises_events: bool = True
    """Whether this release of the SDK raises for an error that is an event inside a stream."""

    def __str__(self) -> str:
        return f"{self.api}-{self.name}"


@dataclass(frozen=True)
class Case:
    """One thing that can happen to a call."""

    script: str
    tools: bool = False
    inside: bool = False
    """It happens inside a stream."""
    retries: int | None = 0
    """How often the SDK may try again; None: as often as it likes."""
    fails: bool | None = True
    """Whether the agent must get an exception; None: that is the SDK's affair."""
    tries: int = 1
    """How many requests it takes."""

    def __str__(self) -> str:
        retried = "" if self.retries == 0 else "-retried"
        return f"{self.script}{'-tools' if self.tools else ''}{retried}"


CASES = [
    Case("ok", fails=False),
    Case("ok", tools=True, fails=False),
    *(Case(str(status)) for status in (400, 401, 429, 500, 503, 529)),
    Case("html502"),
    Case("reset"),
    Case("cut"),
    Case("stall"),
    Case("badjson", fails=None),
    Case("text", fails=None),
    Case("429,500,ok", retries=None, fails=False, tries=3),
    Case("529,ok", tools=True, retries=None, fails=False, tries=2),
    Case("429", retries=None, tries=3),
    Case("slow", inside=True, fails=False),
    *(Case(f"mid-{how}", inside=True) for how in ("reset", "cut", "stall", "error", "bad")),
    Case("mid-error", tools=True, inside=True),
    Case("mid-clean", inside=True, fails=None),
]


def ways() -> list[Way]:
    """The ways of every SDK that is installed here."""
    found: list[Way] = []
    for sdk, module in MODULES.items():
        if find_spec(sdk.partition(".")[0]) is not None and find_spec(sdk) is not None:
            found.extend(import_module(module).WAYS)
    return found


def pairs() -> list[tuple[Way, Case]]:
    """Each way with each case that it can meet."""
    return [(way, case) for way in ways() for case in CASES if _can_meet(way, case)]


def _can_meet(way: Way, case: Case) -> bool:
    return (way.streams or not case.inside) and (way.tools or not case.tools)


def must_fail(way: Way, case: Case) -> bool | None:
    """Whether the agent must get an exception; None: that is the SDK's affair."""
    return case.fails if way.raises_events or "mid-error" not in case.script else None


def outcome(way: Way, case: Case, url: str, key: str | None) -> dict[str, Any]:
    """Ask once, as an agent does, and see all that came of it."""
    if way.is_async:
        return asyncio.run(_aoutcome(way, case, url, key))
    noted: list[Any] = []
    client = way.client(url, key, case.retries)
    try:
        way.ask(client, Ask(case.script, case.tools), lambda value: noted.append(see(value)))
    except Exception as error:
        return {"noted": noted, "error": see_error(error)}
    finally:
        client.close()
    return {"noted": noted, "error": None}


async def _aoutcome(way: Way, case: Case, url: str, key: str | None) -> dict[str, Any]:
    noted: list[Any] = []
    client = way.client(url, key, case.retries)
    try:
        await way.ask(client, Ask(case.script, case.tools), lambda value: noted.append(see(value)))
    except Exception as error:
        return {"noted": noted, "error": see_error(error)}
    finally:
        await client.close()
    return {"noted": noted, "error": None}


@contextlib.contextmanager
def no_network() -> Iterator[list[str]]:
    """While open, nothing reaches even this machine's own servers; gives what was tried."""
    tried: list[str] = []

    def refuse(name: str) -> Callable[..., Any]:
        def refused(*args: Any, **_options: Any) -> Any:
            tried.append(f"{name}{args[-1:]}")
            raise OSError(f"{name}: a replay tried to reach the network")

        return refused

    was = [(socket.socket, name) for name in ("connect", "connect_ex", "sendto")]
    was += [(socket, "getaddrinfo")]  # type: ignore[list-item]
    kept = [(owner, name, getattr(owner, name)) for owner, name in was]
    for owner, name, _ in kept:
        setattr(owner, name, refuse(name))
    try:
        yield tried
    finally:
        for owner, name, original in kept:
            setattr(owner, name, original)
