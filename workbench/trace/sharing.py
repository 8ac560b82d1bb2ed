"""What makes a trace grow with what is new: shared beginnings of conversations, and blobs.

A model call's request usually repeats the conversation of an earlier call and adds to it. So a
line stores *the first n items of call k, plus these*. Large values that come again (an image, the
list of tools) are stored once, as blobs named by their content.

What is here turns a line's fields into JSON; nothing is remembered before :meth:`Packed.written`
says that the line is in the file.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from workbench.trace.jcs import TAG, has_surrogate
from workbench.trace.payloads import has_view, view
from workbench.trace.values import dumps, encode

LARGE_TEXT = 8192
"""A text of that many characters or more is stored as a blob."""
LARGE_FIELD = 1024
"""A field of a model's request body whose JSON has that many bytes or more is stored as a blob."""

_MAX_PREFIXES = 200_000
_MAX_BLOBS = 100_000


@dataclass
class Packed:
    """One line ready to be written, with the blobs that it needs before it."""

    fields: dict[str, Any]
    blobs: dict[str, bytes] = field(default_factory=dict)
    prefixes: dict[bytes, tuple[str, int]] = field(default_factory=dict)
    touched: bytes | None = None

    def json(self) -> bytes:
        """The blobs' lines and the line itself, each ended by a newline."""
        parts = [
            b'{"line":"blob","sha256":"%b","value":%b}\n' % (name.encode(), data)
            for name, data in self.blobs.items()
        ]
        try:
            parts.append(dumps(self.fields))
        except TypeError:
            parts.append(dumps({key: _printable(each) for key, each in self.fields.items()}))
        parts.append(b"\n")
        return b"".join(parts)


class Sharing:
    """Remembers, for one writer, which conversations and blobs its file has already."""

    def __init__(self) -> None:
        # The digest of a conversation's first items -> (the call that has them, how many).
        self._prefixes: dict[bytes, tuple[str, int]] = {}
        self._blobs: dict[str, None] = {}

    def new_writer(self) -> None:
        """Forget the conversations: they are shared within one writer only."""
        self._prefixes.clear()

    def pack(self, fields: dict[str, Any], heavy: str | None, *, payload: bool) -> Packed:
        """A line whose heavy field is stored whole, but for its large texts.

        Args:
            fields: the line as :meth:`BaseLine.as_dict` gives it.
            heavy: the name of its heavy field.
            payload: the heavy field is a provider's JSON, not an encoded value yet.
        """
        packed = Packed(fields)
        if heavy is not None and heavy in fields:
            fields[heavy] = self._fragment(fields[heavy], packed, payload=payload)
        return packed

    def pack_call(self, fields: dict[str, Any]) -> Packed:
        """A ``call`` line, with the beginning of its conversation shared where possible."""
        packed = Packed(fields)
        payload = fields.get("kind") == "model"
        if "sent" in fields:
            fields["sent"] = self._fragment(fields["sent"], packed, payload=payload)
        if "request" not in fields:
            return packed
        request = fields.pop("request")  # and back at the end: the heavy field is the last one
        api = fields.get("api")
        path = view(api).conversation_path if payload and api and has_view(api) else ()
        items = _at(request, path)
        if "base" in fields or not isinstance(items, list):
            fields["request"] = self._fragment(request, packed, payload=payload)
            return packed
        own = self._own_items(fields, items, packed)
        fields["request"] = self._with_items(request, path, own, packed)
        return packed

    def written(self, packed: Packed) -> None:
        """The line is in the file: later ones may refer to it."""
        self._blobs.update(dict.fromkeys(packed.blobs))
        if packed.touched is not None and packed.touched in self._prefixes:
            self._prefixes[packed.touched] = self._prefixes.pop(packed.touched)
        self._prefixes.update(packed.prefixes)
        _trim(self._prefixes, _MAX_PREFIXES)
        _trim(self._blobs, _MAX_BLOBS)

    def _own_items(
        self, fields: dict[str, Any], items: list[Any], packed: Packed
    ) -> list[orjson.Fragment]:
        """The items that no earlier conversation begins with; sets ``base`` for the others."""
        coded = [dumps(encode(item)) for item in items]
        digests = _chain(coded)
        shared = len(digests)
        while shared and digests[shared - 1] not in self._prefixes:
            shared -= 1
        if shared:
            packed.touched = digests[shared - 1]
            base = list(self._prefixes[packed.touched])
            fields["base"] = base
        call = fields["id"]
        packed.prefixes = {
            digest: (call, shared + count) for count, digest in enumerate(digests[shared:], start=1)
        }
        return [self._shrunk(data, packed) for data in coded[shared:]]

    def _with_items(
        self, request: Any, path: Sequence[str], own: list[orjson.Fragment], packed: Packed
    ) -> Any:
        """The request with its own items only, and its body's large fields as blobs."""
        if not path:
            return own
        key, rest = path[0], path[1:]
        out = {}
        for name, value in request.items():
            if name == key:
                out[name] = self._with_items(value, rest, own, packed)
            else:
                limit = LARGE_FIELD if not rest else None
                out[name] = self._fragment(value, packed, payload=True, limit=limit)
        return out

    def _fragment(
        self, value: Any, packed: Packed, *, payload: bool, limit: int | None = None
    ) -> orjson.Fragment:
        data = dumps(encode(value) if payload else value)
        if limit is not None and len(data) >= limit:
            return orjson.Fragment(dumps(self._blob(data, packed)))
        return self._shrunk(data, packed)

    def _shrunk(self, data: bytes, packed: Packed) -> orjson.Fragment:
        """Encoded JSON with its large texts as blobs."""
        if len(data) < LARGE_TEXT:
            return orjson.Fragment(data)
        return orjson.Fragment(
            dumps(_without_large(orjson.loads(data), lambda text: self._blob(dumps(text), packed)))
        )

    def _blob(self, data: bytes, packed: Packed) -> dict[str, str]:
        name = hashlib.sha256(data).hexdigest()
        if name not in self._blobs:
            packed.blobs[name] = data
        return {TAG: "blob", "v": name}


def _chain(coded: list[bytes]) -> list[bytes]:
    """For each item a digest of all items up to and with it."""
    out = []
    last = b""
    for data in coded:
        last = hashlib.sha256(last + data).digest()
        out.append(last)
    return out


def _at(value: Any, path: Sequence[str]) -> Any:
    for key in path:
        if not isinstance(value, dict) or key not in value or not _is_plain_map(value):
            return None
        value = value[key]
    return value if path else None


def _is_plain_map(value: dict[Any, Any]) -> bool:
    """Whether it is written as an object; any other map is written as a tagged value."""
    return TAG not in value and all(type(k) is str and not has_surrogate(k) for k in value)


def _without_large(value: Any, blob: Callable[[str], Any]) -> Any:
    if isinstance(value, str):
        return blob(value) if len(value) >= LARGE_TEXT else value
    if isinstance(value, dict):
        return {key: _without_large(item, blob) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_large(item, blob) for item in value]
    return value


def _printable(value: Any) -> Any:
    """The same with lone surrogates written as escapes: for names, where no tag can stand."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_printable(key): _printable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_printable(item) for item in value]
    return value


def _trim(kept: dict[Any, Any], limit: int) -> None:
    """Forget the oldest beyond a limit; a forgotten one is only stored once more."""
    for _ in range(len(kept) - limit):
        del kept[next(iter(kept))]
