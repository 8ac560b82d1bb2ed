"""Signed and opaque reasoning in a message: what a provider takes back only as it was.

A signature stands for reasoning that was done before certain words and calls, by one model. It is
kept as it is, empty fields included, and left out where those words change or another model reads
them: a provider refuses it then.
"""

from __future__ import annotations

from typing import Any

from .base import JSON
from .reading import as_dict, as_list, kind_of

_REASONING = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning.encrypted"})
_SIGNS = ("signature", "data", "encrypted_content")
_BLOCKS = ("thinking_blocks", "reasoning_details")
_OPAQUE = ("reasoning_opaque", "encrypted_content", "reasoning_signature")


def signed_parts(message: dict[str, Any]) -> tuple[str, ...]:
    """The fields of a message, and the kinds of its content parts, that hold signed reasoning."""
    found = [key for key in _OPAQUE if message.get(key) is not None]
    found += [key for key in _BLOCKS if any(map(_is_signed, as_list(message.get(key))))]
    parts = [part for part in as_list(message.get("content")) if _is_signed_part(part)]
    found += [kind_of(part) for part in parts]
    return tuple(dict.fromkeys(found))


def drop_signed(message: dict[str, Any]) -> None:
    """Take signed reasoning out of a message, which is changed."""
    for key in signed_parts(message):
        message.pop(key, None)
    content = message.get("content")
    if isinstance(content, list):
        message["content"] = [part for part in content if not _is_signed_part(part)]


def _is_signed_part(part: JSON) -> bool:
    return kind_of(part) in _REASONING and _is_signed(part)


def _is_signed(block: JSON) -> bool:
    return any(key in as_dict(block) for key in _SIGNS)
