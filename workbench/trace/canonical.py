"""Canonical bytes and the identity of a call (hash scheme 1).

The canonical form is RFC 8785 over the encoded value (:mod:`workbench.trace.values`), with two
extensions: integers are written exactly however large, and other types stand as their tagged
objects. So ``1`` and ``1.0`` are equal, ``1`` and ``True`` are not; the order of keys does not
count, that of lists does. It is for hashing only: a trace stores what was sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

from workbench.trace import jcs
from workbench.trace.pointers import Rules
from workbench.trace.values import encode

HASH_SCHEME: Final = 1
"""Stored in each trace: what the hashes in it were made of, and how."""

_STREAMED: Final = ("/body/stream",)

DEFAULT_IGNORE: Final[dict[str, tuple[str, ...]]] = {
    "openai.chat": (*_STREAMED, "/body/stream_options"),
    "openai.responses": (*_STREAMED, "/body/stream_options"),
    "openai.embeddings": (),
    "anthropic.messages": _STREAMED,
    "google.generate_content": (),
    "workbench": _STREAMED,
}
"""Ignore rules by api, relative to the request: only what changes how an answer travels."""


def canonical(value: object) -> bytes:
    """Canonical bytes of any value that a trace can keep. Equal values give equal bytes.

    Raises:
        UnencodableError: part of the value cannot be represented; ``.path`` says which.
    """
    usual = jcs.dump_json(value)
    return jcs.dump_encoded(encode(value)) if usual is None else usual


def digest(value: object) -> str:
    """SHA-256 of the canonical bytes: 64 lower-case hexadecimal digits.

    Raises:
        UnencodableError: as :func:`canonical`.
    """
    return hashlib.sha256(canonical(value)).hexdigest()


def request_hash(kind: str, api: str | None, request: Any, ignore: Sequence[str] = ()) -> str:
    """The identity of a call: the digest of ``{kind, api, request}`` less what is ignored.

    Args:
        kind: the entry's kind, such as ``model`` or ``tool``.
        api: the shape of the request, such as ``openai.chat``; None where there is none.
        request: what was asked. It is not changed, and not kept.
        ignore: JSON pointers into the request, such as :data:`DEFAULT_IGNORE` has; ``*`` stands
            for every key or item. One that names nothing has no effect.

    Raises:
        UnencodableError: part of the request cannot be represented; ``.path`` begins at the
            request (``$.request``).
        UsageError: an ignore rule is not a JSON pointer.
    """
    return Hasher(ignore)(kind, api, request)


def identity(
    kind: str, api: str | None, request: Any, ignore: Sequence[str] = ()
) -> dict[str, Any]:
    """What :func:`request_hash` is the digest of. Raises UsageError as that does."""
    return Hasher(ignore).identity(kind, api, request)


class Hasher:
    """:func:`request_hash` for many requests, with the same parts ignored.

    Raises:
        UsageError: an ignore rule is not a JSON pointer.
    """

    __slots__ = ("_rules",)

    def __init__(self, ignore: Sequence[str] = ()) -> None:
        self._rules = Rules((ignore,) if isinstance(ignore, str) else ignore)

    def __call__(self, kind: str, api: str | None, request: Any) -> str:
        """The hash. Raises UnencodableError as :func:`request_hash`."""
        return _hash(kind, api, self._rules.without(request))

    def whole(self, kind: str, api: str | None, request: Any) -> str | None:
        """The hash of a request in which surely nothing is ignored; None for any other."""
        return None if self._rules.may_name(request) else _hash(kind, api, request)

    def without(self, request: Any) -> Any:
        """A request less what is ignored; itself where that is nothing."""
        return self._rules.without(request)

    def identity(self, kind: str, api: str | None, request: Any) -> dict[str, Any]:
        """As :func:`identity`."""
        return {"kind": kind, "api": api, "request": self._rules.without(request)}


def _hash(kind: str, api: str | None, request: Any) -> str:
    usual = jcs.dump_identity(kind, api, request)
    if usual is None:
        return digest({"kind": kind, "api": api, "request": request})
    return hashlib.sha256(usual).hexdigest()
