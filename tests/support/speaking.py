"""How one API answers, for the loopback server."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Speaker:
    """The good and the bad answers of one API. Bodies are what ``json`` makes of them."""

    knows: Callable[[str], bool]
    """Whether a path, without its query, is one of its own."""
    reply: Callable[[str, Any], Any]
    """The whole body of an answer to ``(path, body)``."""
    events: Callable[[str, Any], Iterator[bytes]]
    """The same as the events of a stream, each with the blank line that ends it; with them what
    says that the stream is complete."""
    error: Callable[[int], Any]
    """The body of an answer with this status."""
    event_error: Callable[[], bytes]
    """An error as an event inside a stream."""
    event_bad: bytes = b'data: {"id": \n\n'
    """An event inside a stream that is no JSON."""
    comment: bytes = b": still here\n\n"
    """What keeps a slow stream alive; empty where the SDK reads no comments."""
    model: Callable[[str, Any], str] = lambda _path, body: str(body.get("model", ""))
    """The model that ``(path, body)`` asks for."""
    streams: Callable[[str, Any], bool] = lambda _path, body: bool(body.get("stream"))
    """Whether ``(path, body)`` asks for a stream."""
    stream_type: str = "text/event-stream"
    """What a stream says of itself."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """What each answer has, such as the id of the request."""


def event(data: Any, name: str | None = None) -> bytes:
    """One event of a stream."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def pieces(text: str, size: int = 6) -> Iterator[str]:
    """A text as it is streamed."""
    for start in range(0, len(text), size):
        yield text[start : start + size]
