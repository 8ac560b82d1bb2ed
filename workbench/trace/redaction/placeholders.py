"""What stands in a trace in place of a secret: ``[redacted:RULE:DIGEST]``.

The digest is an HMAC-SHA256 of the secret under the trace's random salt, cut to 16 hexadecimal
digits: the same for the same secret throughout a trace, another one for another secret or in
another trace. Whoever has the trace has the salt, so a secret that can be guessed (a short
password, a PIN) can be found by trying; a random key cannot.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from workbench.trace.canonical import canonical
from workbench.trace.encoding import step
from workbench.trace.jcs import dump_encoded

DIGITS: Final = 16
"""Hexadecimal digits of a placeholder's digest."""
PLACEHOLDER: Final = re.compile(r"\[redacted:([A-Za-z0-9][\w.-]{0,63}):([0-9a-f]{16})\]")
"""Groups: the rule's name, the digest."""

_BEGIN: Final = "[redacted:"
_MASK: Final = "[redacted]"


def digest_of(secret: object, salt: str) -> str:
    """The digest of a secret: of a text, of bytes, or of any other encoded value's JSON."""
    if isinstance(secret, str):
        data = secret.encode("utf-8", "surrogatepass")
    elif isinstance(secret, bytes):
        data = secret
    else:
        try:
            data = dump_encoded(secret)
        except (TypeError, ValueError):  # a provider's JSON, which is not encoded yet
            data = canonical(secret)
    return hmac.digest(salt.encode(), data, "sha256").hex()[:DIGITS]


def placeholder(rule: str, secret: object, salt: str) -> str:
    """What is written in place of a secret."""
    return f"{_BEGIN}{rule}:{digest_of(secret, salt)}]"


def placeholders(value: Any) -> list[str]:
    """The placeholders in a value at any depth, each once, in the order of their first place."""
    return list(dict.fromkeys(text for text, _ in located(value)))


def located(value: Any, where: str = "$") -> Iterator[tuple[str, str]]:
    """Each placeholder in a value, with its place such as ``$.body.messages[0].content``."""
    if isinstance(value, str):
        if _BEGIN in value:
            yield from ((found.group(), where) for found in PLACEHOLDER.finditer(value))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from located(key, where)
            yield from located(item, where + step(key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from located(item, f"{where}[{number}]")


def mask(value: Any) -> Any:
    """A value with the same mark in place of every placeholder; itself when it has none.

    Requests that differ only in their placeholders have equal masks.
    """
    return each_text(value, lambda text: PLACEHOLDER.sub(_MASK, text) if _BEGIN in text else text)


def same_but_placeholders(a: Any, b: Any) -> bool:
    """Whether two encoded values are equal, or would be if their placeholders were."""
    return canonical(mask(a)) == canonical(mask(b))


def each_text(value: Any, change: Callable[[str], str]) -> Any:
    """A copy of a value with its texts and keys changed; itself when none changed."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        made = {change(k) if isinstance(k, str) else k: each_text(v, change) for k, v in
                value.items()}  # fmt: skip
        same = all(a is b for a, b in zip(made, value, strict=False)) and all(
            a is b for a, b in zip(made.values(), value.values(), strict=False)
        )
        return value if same and len(made) == len(value) else made
    if isinstance(value, list | tuple):
        items = [each_text(item, change) for item in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else items if isinstance(value, list) else tuple(items)
    return value
