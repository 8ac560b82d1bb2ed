"""Bodies, headers and event streams: from the wire into a trace, and back.

A body that is JSON is kept as JSON; any other as its text. So a string always is a body's text,
as it was, and whatever else is written out as JSON again.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

_JSON = "application/json"
EVENTS = "text/event-stream; charset=utf-8"
"""The type of a stream of events."""
# A lone return at the end of the buffer may be half of one line end; the other half, left over,
# is an empty line, which means nothing to a reader.
_BLANK = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_CHARSET = re.compile(r"charset=\"?([\w.:-]+)", re.IGNORECASE)

DONE = b"data: [DONE]\n\n"
"""The last event of a stream that is complete."""


def kept_headers(
    response: Any, kept: Collection[str], prefixes: tuple[str, ...] = ()
) -> dict[str, str]:
    """Those headers of a response that are named, or begin as named; in lower case, sorted."""
    return {
        name: value
        for name, value in sorted(response.headers.items())
        if name in kept or name.startswith(prefixes)
    }


def read_body(response: Any) -> Any:
    """A response's body as the trace keeps it; it must have been read."""
    try:
        found = json.loads(response.content)
    except ValueError:
        return response.text
    return response.text if found is None or isinstance(found, str) else found


def body_bytes(body: Any, headers: dict[str, str]) -> bytes:
    """A kept body as it travels."""
    if not isinstance(body, str):
        return json.dumps(body).encode()
    return body.encode(_charset(headers), "replace")


def body_text(data: bytes, headers: dict[str, str]) -> str:
    """Bytes that are no JSON, as text."""
    return data.decode(_charset(headers), "replace")


def _charset(headers: dict[str, str]) -> str:
    named = _CHARSET.search(headers.get("content-type", ""))
    try:
        return codecs.lookup(named.group(1)).name if named else "utf-8"
    except LookupError:
        return "utf-8"


def body_headers(headers: dict[str, str] | None, body: Any) -> dict[str, str]:
    """Headers for a plain body: one that was put together from a stream is no stream now."""
    found = {str(name).lower(): str(value) for name, value in (headers or {}).items()}
    kind = found.get("content-type", "")
    if not kind or (not isinstance(body, str) and is_stream(kind)):
        found["content-type"] = "text/plain" if isinstance(body, str) else _JSON
    return found


def stream_headers(head: dict[str, Any], *, has_events: bool, kind: str = EVENTS) -> dict[str, str]:
    """Headers for a stream, whatever way it travelled when it was recorded.

    Args:
        head: what was kept of the response.
        has_events: whether any event came. Where none did, it may never have been a stream.
        kind: the type of such a stream.
    """
    found = {str(name).lower(): str(value) for name, value in (head.get("headers") or {}).items()}
    told = found.get("content-type", "")
    is_such = told.partition(";")[0] == kind.partition(";")[0]
    if not told or (has_events and "rest" not in head and not is_such):
        found["content-type"] = kind
    return found


def is_stream(content_type: str) -> bool:
    """Whether a body of this type is a stream of events."""
    return content_type.startswith((EVENTS.partition(";")[0], "application/vnd.amazon.eventstream"))


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a stream."""

    raw: bytes
    """As it came, with the blank line that ends it."""
    data: str | None
    """Its data; None when it is only a comment, sent to keep the connection alive."""
    name: str | None = None
    """Its name, which not every API uses."""

    @property
    def is_done(self) -> bool:
        """Whether it says that the stream is complete."""
        return self.data is not None and self.data.startswith("[DONE]")


def write_event(data: Any, name: str | None = None) -> bytes:
    """An event: a string is its data as it stands, anything else is written as JSON."""
    text = data if isinstance(data, str) else json.dumps(data)
    head = f"event: {name}\n" if name else ""
    lines = "".join(f"data: {line}\n" for line in re.split("\r\n|\r|\n", text))
    return f"{head}{lines}\n".encode("utf-8", "replace")


class Splitter:
    """Cuts a byte stream into events, however the network packed it."""

    def __init__(self) -> None:
        self._buffer = b""
        self._seen = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that are complete with this piece."""
        self._buffer += piece
        while True:
            end = _BLANK.search(self._buffer, max(0, self._seen - 3))
            if end is None:
                self._seen = len(self._buffer)
                return
            raw, self._buffer = self._buffer[: end.end()], self._buffer[end.end() :]
            self._seen = 0
            yield _event(raw)

    def rest(self) -> bytes:
        """What came after the last complete event."""
        rest, self._buffer, self._seen = self._buffer, b"", 0
        return rest


def _event(raw: bytes) -> Event:
    data: list[str] = []
    name, is_event = None, False
    for line in re.split("\r\n|\r|\n", raw.decode("utf-8", "replace")):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value or None
        is_event = is_event or field in ("data", "event", "id", "retry")
    return Event(raw, "\n".join(data) if is_event else None, name)
