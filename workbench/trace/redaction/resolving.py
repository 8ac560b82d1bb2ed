"""Putting secrets back, for what goes to the live world."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.errors import UsageError
from workbench.trace.redaction import jsontext
from workbench.trace.redaction.placeholders import (
    PLACEHOLDER,
    digest_of,
    each_text,
    located,
)

Secrets = Iterable[str] | Mapping[str, str]
"""What placeholders stand for: secrets, or a mapping to them. See `Redactor.resolve`."""


def resolve(value: Any, secrets: Secrets, salt: str) -> Any:
    """See :meth:`workbench.trace.redaction.Redactor.resolve`."""
    wanted = list(located(value))
    if not wanted:
        return value
    known = _Known(secrets, salt)
    for text, where in wanted:
        if known.secret(text) is None:
            raise UsageError(
                f"{text} at {where} stands for a secret that is not in the trace, and this goes "
                "to the live world. Pass the secret: secrets=[…] with its text, or "
                f"secrets={{{text!r}: …}} with another one in its place"
            )
    return each_text(value, known.put_back)


class _Known:
    """The secrets at hand, by the placeholders that they stand for."""

    def __init__(self, secrets: Secrets, salt: str) -> None:
        if isinstance(secrets, str):
            secrets = (secrets,)
        by_key: Mapping[str, str] = secrets if isinstance(secrets, Mapping) else {}
        texts = secrets.values() if isinstance(secrets, Mapping) else secrets
        self._by_key = by_key
        self._by_digest = {digest_of(text, salt): text for text in texts if text}

    def secret(self, text: str) -> str | None:
        """The secret of a placeholder: what it is mapped to, else the text it was made of, else
        what its rule is mapped to."""
        found = PLACEHOLDER.fullmatch(text)
        if found is None:
            return None
        if text in self._by_key:
            return self._by_key[text]
        return self._by_digest.get(found[2], self._by_key.get(found[1]))

    def put_back(self, text: str) -> str:
        """A text with its placeholders resolved; JSON in it stays JSON."""
        if PLACEHOLDER.search(text) is None:
            return text
        inner = jsontext.parse(text)
        if inner is not None:
            return jsontext.rewrite(text, inner, each_text(inner, self.put_back))
        return PLACEHOLDER.sub(self._one, text)

    def _one(self, found: re.Match[str]) -> str:
        return self.secret(found.group()) or ""
