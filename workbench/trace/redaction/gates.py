"""Quick looks at a text: whether it is worth while to look for a kind of secret in it.

Most texts hold none, and an expression for each kind of secret reads a text at 20 MB a second.
These say no at some hundred.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from workbench.trace.redaction.names import is_secret_in_query, is_secret_name
from workbench.trace.redaction.shapes import MARKS

_RUN: Final = b"\0" * 16
_END: Final = b"\1"
_NO_RUN: Final = bytes(
    0 if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-+/=.") else 1
    for code in range(256)
)
"""Every key and token has 16 characters or more of these in a row, and prose hardly ever has."""
_DASHED: Final = re.compile(
    b"|".join(re.escape(mark).encode() for mark in MARKS if "-" in mark or "_" in mark)
)
_OTHERS: Final = tuple(mark.encode() for mark in MARKS if "-" not in mark and "_" not in mark)
_KEYS: Final = re.compile(r"[\"']([\w.$-][\w.$ -]{0,79}+)\\*+[\"']\s*+:")
_COLON: Final = re.compile(r"[\"']\s*+:")
_WORD_BACKWARDS: Final = re.compile(r"\s?([\w.$-]{1,64})")
_OPTION: Final = re.compile(r"[A-Za-z][\w-]{1,63}")
_HEADER_END: Final = re.compile(
    r":(?:(?<=[ihsIHS]-[kK][eE][yY]:)|(?<=[ihsIHS][kK][eE][yY]:)|(?<=-[tT][oO][kK][eE][nN]:)"
    r"|(?<=[ihsIHS][tT][oO][kK][eE][nN]:)|(?<=[rR][iI][zZ][aA][tT][iI][oO][nN]:)"
    r"|(?<=[cC][oO][oO][kK][iI][eE]:))"
)


def may_hold_key(text: str) -> bool:
    """Whether a text may hold a provider's key or a web token."""
    data = text.encode("utf-8", "replace")
    runs = data.translate(_NO_RUN)
    at = runs.find(_RUN)
    while at >= 0:
        end = runs.find(_END, at)
        if _is_marked(data[at:end] if end >= 0 else data[at:]):
            return True
        at = runs.find(_RUN, end) if end >= 0 else -1
    return False


def _is_marked(run: bytes) -> bool:
    """Whether there is the beginning of a key in it; base64 of an image has neither - nor _."""
    if (b"-" in run or b"_" in run) and _DASHED.search(run) is not None:
        return True
    return any(mark in run for mark in _OTHERS) and (b"eyJ" not in run or b"." in run)


def may_hold_pem(text: str) -> bool:
    """Whether a text may hold a PEM block."""
    return "-----BEGIN" in text


def may_hold_userinfo(text: str) -> bool:
    """Whether a text may hold a URL with a user before its host."""
    return "@" in text


def may_hold_bearer(text: str) -> bool:
    """Whether a text may hold ``Bearer …``."""
    return "earer" in text


def may_hold_basic(text: str) -> bool:
    """Whether a text may hold ``Basic …``."""
    return "asic " in text


def may_hold_pair(text: str) -> bool:
    """Whether a text has a secret name in quotes before a colon."""
    if ":" not in text or _COLON.search(text) is None:
        return False
    return any(map(is_secret_name, set(_KEYS.findall(text))))


def may_hold_assignment(text: str) -> bool:
    """Whether a text has a secret name before an equals sign."""
    return any(map(is_secret_in_query, set(_before_equals(text))))


def may_hold_option(text: str) -> bool:
    """Whether a text has a command's option with a secret name."""
    at = text.find("--")
    while at >= 0:
        found = _OPTION.match(text, at + 2)
        if found is not None and is_secret_name(found.group()):
            return True
        at = text.find("--", found.end() if found is not None else at + 2)
    return False


def may_hold_header(text: str) -> bool:
    """Whether a text has the end of a secret header's name before a colon."""
    return ":" in text and _HEADER_END.search(text) is not None


def _before_equals(text: str) -> Iterator[str]:
    at = text.find("=")
    while at >= 0:
        found = _WORD_BACKWARDS.match(text[max(0, at - 66) : at][::-1])
        if found is not None:
            yield found[1][::-1]
        at = text.find("=", at + 1)
