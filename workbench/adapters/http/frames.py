"""AWS's event streams: each event travels in a binary frame of its own, with checksums.

A frame is its length, the length of its headers and a checksum of the two (4 bytes each), the
headers, a payload, and a checksum of all before it. The payload of a model's event is JSON whose
``bytes`` are the event itself, in base64.
"""

from __future__ import annotations

import base64
import binascii
import json
import struct
from collections.abc import Iterator
from typing import Any

from workbench.adapters.http.wire import Event

_PRELUDE = struct.Struct(">III")
_CRC = struct.Struct(">I")
_LONGEST = 1 << 24
"""No frame is longer: what says so is no frame."""
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""The sizes of the values of headers, by type; types 6 and 7 bring their own."""
_TEXT = 7


class FrameSplitter:
    """Cuts a byte stream into events, however the network packed it."""

    def __init__(self) -> None:
        self._buffer = b""

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that are complete with this piece."""
        self._buffer += piece
        while len(self._buffer) >= _PRELUDE.size:
            length = _PRELUDE.unpack_from(self._buffer)[0]
            if not _PRELUDE.size + _CRC.size <= length <= _LONGEST or len(self._buffer) < length:
                return
            raw, self._buffer = self._buffer[:length], self._buffer[length:]
            yield _event(raw)

    def rest(self) -> bytes:
        """What came after the last complete event."""
        rest, self._buffer = self._buffer, b""
        return rest


def write_frame(data: Any, name: str | None = None) -> bytes:
    """An event as a frame; one that is named ``error`` as an exception of the service.

    Args:
        data: JSON, or a text that stands as it is.
        name: the event's name; others than ``error`` follow from the data.
    """
    if name == "error":
        error = data.get("error") if isinstance(data, dict) else None
        told = error if isinstance(error, dict) else {"message": str(data)}
        code = str(told.get("type", "internalServerException"))
        payload = {"message": told.get("message", "")}
        return _frame({":exception-type": code, ":message-type": "exception"}, payload)
    text = data if isinstance(data, str) else json.dumps(data)
    payload = {"bytes": base64.b64encode(text.encode("utf-8", "replace")).decode()}
    return _frame({":event-type": "chunk", ":message-type": "event"}, payload)


def _frame(headers: dict[str, str], payload: dict[str, Any]) -> bytes:
    named = {**headers, ":content-type": "application/json"}
    head = b"".join(_header(*each) for each in named.items())
    body = json.dumps(payload).encode()
    length = _PRELUDE.size + len(head) + len(body) + _CRC.size
    prelude = struct.pack(">II", length, len(head))
    message = prelude + _CRC.pack(binascii.crc32(prelude)) + head + body
    return message + _CRC.pack(binascii.crc32(message))


def _header(name: str, value: str) -> bytes:
    text = value.encode()
    return bytes([len(name)]) + name.encode() + bytes([_TEXT]) + struct.pack(">H", len(text)) + text


def _event(raw: bytes) -> Event:
    _, head, _ = _PRELUDE.unpack_from(raw)
    start = _PRELUDE.size + head
    try:
        headers = dict(_headers(raw[_PRELUDE.size : start]))
        payload = json.loads(raw[start : -_CRC.size] or b"{}")
        if headers.get(":message-type") in ("exception", "error"):
            return Event(raw, json.dumps(_error(headers, payload)), "error")
        data = base64.b64decode(payload["bytes"]).decode("utf-8", "replace")
    except (struct.error, ValueError, KeyError, TypeError):  # no event of a model's: passed on
        return Event(raw, None)
    return Event(raw, data, _name(data))


def _headers(data: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(data):
        end = at + 1 + data[at]
        name, kind = data[at + 1 : end].decode(), data[end]
        at = end + 1
        size = _SIZES.get(kind)
        if size is None:
            (size,) = struct.unpack_from(">H", data, at)
            at += 2
        if kind == _TEXT:
            yield name, data[at : at + size].decode()
        at += size


def _error(headers: dict[str, str], payload: Any) -> dict[str, Any]:
    told = payload if isinstance(payload, dict) else {}
    code = headers.get(":exception-type") or headers.get(":error-code") or "error"
    message = told.get("message") or headers.get(":error-message") or ""
    return {"type": "error", "error": {"type": code, "message": message}}


def _name(data: str) -> str | None:
    try:
        found = json.loads(data)
    except ValueError:  # whoever reads the data finds out
        return None
    kind = found.get("type") if isinstance(found, dict) else None
    return kind if isinstance(kind, str) else None
