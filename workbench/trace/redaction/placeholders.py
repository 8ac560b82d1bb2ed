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
_MOST: Final = 20
"""A text with more placeholders is not matched with another one: that could take long."""


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


def stands_for(a: Any, b: Any, salt: str) -> bool:
    """Whether the placeholders in `b` stand for what `a` has in their places: for the secret
    itself, which there was not told from other text, or for another placeholder.

    That is how a replay differs whose agent puts what it was served, a placeholder, into a
    sentence: the recorded agent put the secret there.
    """
    if isinstance(b, str):
        return _text_stands_for(a, b, salt)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(stands_for(a[key], b[key], salt) for key in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(
            stands_for(one, other, salt) for one, other in zip(a, b, strict=True)
        )
    return isinstance(a, bool) == isinstance(b, bool) and bool(a == b)


def _text_stands_for(a: Any, b: str, salt: str) -> bool:
    if a == b:
        return True
    found = list(PLACEHOLDER.finditer(b))
    if not 0 < len(found) <= _MOST:
        return False
    if not isinstance(a, str):
        return found[0].group() == b and digest_of(a, salt) == found[0][2]
    literal = PLACEHOLDER.split(b)[:: PLACEHOLDER.groups + 1]
    pattern = "(.{1,4096}?)".join(map(re.escape, literal))
    there = re.fullmatch(pattern, a, re.DOTALL)
    return there is not None and all(
        PLACEHOLDER.fullmatch(text) is not None or digest_of(text, salt) == one[2]
        for text, one in zip(there.groups(), found, strict=True)
    )


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
