"""What tells one of these SDKs from another, as data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from workbench.adapters.http.framing import TEXT, Framing

if TYPE_CHECKING:
    from workbench.adapters.http.wire import Event
    from workbench.trace.entries import ErrorInfo


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A part of an API that is recorded."""

    api: str
    """The shape of its payloads, such as ``openai.chat``."""
    path: str
    """How its path ends, such as ``/chat/completions``; a deployment's may stand before it."""
    words: str
    """What it is called in messages, such as ``chat completions``."""
    method: str = "POST"
    named: bool = False
    """Whether each event of its streams is named after the ``type`` in its data."""
    done: bool = False
    """Whether a last event, ``[DONE]``, says that a stream is complete."""
    last: frozenset[str] = frozenset()
    """The types of events after which there is nothing to come that belongs to the answer."""
    unless: str = ""
    """A field of the body that, where it is true, makes it a call of another kind, which is not
    recorded."""


@dataclass(frozen=True, slots=True)
class Sdk:
    """One SDK. What is given as a function is asked only once its module has been imported."""

    module: str
    """The name to import it by; its exceptions are found there too."""
    title: str
    """What its API is called in messages, such as ``OpenAI's API``."""
    endpoints: tuple[Endpoint, ...]
    """What is recorded."""
    clients: Mapping[str, tuple[str, ...]]
    """The classes of clients that want a key, by module."""
    client_error: str
    """The name of the exception by which they refuse to be made without one."""
    key_name: Callable[[Any], str]
    """The environment variable that a client's key is in."""
    fetches_key: Callable[[Any], bool]
    """Whether a client has no key of its own, or fetches it only when a request is sent."""
    key_headers: Callable[[str], dict[str, str]]
    """The headers that carry a key, so that none is fetched."""
    provider: Callable[[Any], str]
    """Who answers a client, without saying where."""
    usual_body: Callable[[int], Any]
    """What the provider's error of a status has as its body, when nothing else is known."""
    event_error: Callable[[Event, Any], tuple[str, str] | None]
    """Given an event, and its data (a text, where that is no JSON): the name and the text of the
    exception that the SDK raises for it inside a stream; None where it hands the event on."""
    raised_event: Callable[[Any, ErrorInfo, Any], BaseException]
    """That exception, of a client, from what was kept and a response with a good status."""
    lacks_key: Callable[[Any], bool] = lambda _client: False
    """Whether a client was made without a key, and will refuse to send anything."""
    rewrites: Callable[[Any], bool] = lambda _client: False
    """Whether a client, by itself, makes another path and body of what it is asked."""
    lost: Callable[[Any], tuple[str, Any] | None] | None = None
    """Of a request's body that goes on from an answer which the provider keeps: the answer's id,
    and the body of the provider's 404 where it has none of that id. None: it keeps none."""
    framing: Callable[[Any], Framing] = lambda _client: TEXT
    """How the events of a client's streams travel."""
    kept_headers: frozenset[str] = frozenset()
    """The response headers that matter to an agent or to whoever looks for a cause."""
    kept_prefixes: tuple[str, ...] = ()
    """And those that begin like this."""
    asked_headers: frozenset[str] = frozenset()
    """The only request headers that are kept: they can change the answer, and hold no secret."""
    sockets: tuple[str, ...] = ()
    """The modules with classes that open WebSockets; a release need not have them all."""
    base: str = field(init=False)
    """Its module with the two classes that every client is of."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", f"{self.module}._base_client")

    def endpoint(self, options: Any) -> Endpoint | None:
        """The endpoint that a call's options lead to; None when there is none that is recorded."""
        method, path = str(options.method).upper(), path_of(options)
        for each in self.endpoints:
            if each.method == method and path.endswith(each.path):
                return each
        return None

    @property
    def recorded(self) -> str:
        """What is recorded, in words: ``chat completions and embeddings``."""
        *most, last = [each.words for each in self.endpoints]
        return f"{', '.join(most)} and {last}" if most else last


@lru_cache(maxsize=256)
def _path(url: str) -> str:
    return urlsplit(url).path


def path_of(options: Any) -> str:
    """The path that is called, without host and query: ``/embeddings``."""
    return _path(str(options.url))


@lru_cache(maxsize=256)
def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
