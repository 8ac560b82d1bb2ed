"""The usual case: a value with no secret in it, seen as such with as little work as can be."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import orjson

from workbench.errors import UnencodableError
from workbench.trace.jcs import MAX_DEPTH, TAG
from workbench.trace.redaction import jsontext, names
from workbench.trace.redaction.rules import Rule, plain_key
from workbench.trace.redaction.texts import SHORTEST, Texts

PLAIN: Final = 0
SPECIAL: Final = 1
"""Something is to be looked at more closely: a secret's name, a tag, a name that is a secret."""
OPAQUE: Final = 2
PAIRS: Final = 3
"""Headers, which may be a list of pairs, to be looked at more closely; a map of them is plain."""

DEEPEST: Final = MAX_DEPTH + 60
_MAX_NAMES: Final = 50_000
_MAX_CHARACTERS: Final = 32 * 1024**2
_MAX_TEXTS: Final = 200_000


class Seen:
    """Tells clean values, and remembers their texts, so that a conversation that grows costs what
    is new in it."""

    def __init__(self, texts: Texts, keys: Iterable[Rule]) -> None:
        self.texts = texts
        self._keys = {key: rule.name for rule in keys for key in rule.keys}
        self._by_name = "secret" in texts.names
        self._names: dict[str, int] = {}
        self._renamed: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._size = 0
        self._shortest = 1 if texts.custom else SHORTEST

    def is_clean(self, value: Any) -> bool:
        """Whether a value surely holds no secret. It is remembered when it is so."""
        unseen: list[str] = []
        if not self._plain(value, unseen, 0):
            return False
        if not unseen:
            return True
        texts = self.texts
        if texts.custom and any(texts.find(text) for text in unseen):
            return False
        if texts.suspicious(unseen[0] if len(unseen) == 1 else "\n".join(unseen)):
            return False
        for text in unseen:
            self._remember(text, text)
        return True

    def _plain(self, value: Any, unseen: list[str], depth: int) -> bool:
        """Whether no name in a value is special; collects the texts that were not seen yet."""
        kind = type(value)
        if kind is dict:
            return self._plain_dict(value, unseen, depth)
        if kind is list or kind is tuple:
            if depth > DEEPEST:
                raise too_deep()
            known, shortest = self._known, self._shortest
            for item in value:
                kind = type(item)
                if kind is str:
                    if item[:2] == "--" or (
                        len(item) >= shortest
                        and known.get(item) is not item
                        and not self._plain_text(item, unseen)
                    ):
                        return False
                elif kind is dict:
                    if not self._plain_dict(item, unseen, depth + 1):
                        return False
                elif (kind is list or kind is tuple) and not self._plain(item, unseen, depth + 1):
                    return False
            return True
        return kind is not str or self._plain_text(value, unseen)

    def _plain_dict(self, value: dict[Any, Any], unseen: list[str], depth: int) -> bool:
        if depth > DEEPEST:
            raise too_deep()
        known, shortest, verdicts = self._known, self._shortest, self._names
        for key, item in value.items():
            verdict = verdicts.get(key)
            if verdict is None:
                verdict = self._judge(key)
            kind = type(item)
            if verdict == SPECIAL or (verdict == PAIRS and kind is not dict):
                return False
            if kind is str:
                if (
                    len(item) >= shortest
                    and verdict != OPAQUE
                    and known.get(item) is not item
                    and not self._plain_text(item, unseen)
                ):
                    return False
            elif kind is dict:
                if not self._plain_dict(item, unseen, depth + 1):
                    return False
            elif (kind is list or kind is tuple) and not self._plain(item, unseen, depth + 1):
                return False
        return True

    def _plain_text(self, text: str, unseen: list[str]) -> bool:
        """The same for a text that is not the very object that was seen."""
        seen = self._known.get(text)
        if seen is not None:
            return seen == text
        if len(text) < self._shortest:
            return True
        unseen.append(text)
        if not jsontext.looks_like_json(text):
            return True
        try:
            return self._plain(orjson.loads(text), unseen, 0)
        except ValueError:
            return jsontext.parse(text) is None
        except UnencodableError:
            return True  # deeper than any value: looked at as a text

    def _judge(self, key: Any) -> int:
        """What a key says; remembered."""
        if type(key) is not str:
            return SPECIAL
        if key in (TAG, "value") or self._rule_of(key) is not None:
            verdict = SPECIAL
        elif names.is_opaque(key):
            verdict = OPAQUE
        else:
            verdict = PAIRS if key.lower().endswith("headers") else PLAIN
        cleaned = self.texts.clean(key) if len(key) >= self._shortest else key
        if len(self._names) >= _MAX_NAMES:
            self._names.clear()
            self._renamed.clear()
        if cleaned != key:
            verdict, self._renamed[key] = SPECIAL, cleaned
        self._names[key] = verdict
        return verdict

    def _rule_of(self, key: str) -> str | None:
        """The rule by which everything under a key is a secret."""
        if self._keys:
            rule = self._keys.get(plain_key(key))
            if rule is not None:
                return rule
        return "secret" if self._by_name and names.is_secret_name(key) else None

    def _remember(self, text: str, cleaned: str) -> None:
        self._size += len(text)
        if self._size > _MAX_CHARACTERS or len(self._known) >= _MAX_TEXTS:
            self._known.clear()
            self._size = len(text)
        # Under the cleaned text's own object, where it is the same: it is recognised fastest.
        self._known[text] = text if cleaned == text else cleaned


def too_deep() -> UnencodableError:
    """The error for a value without an end."""
    return UnencodableError(
        f"a value contains itself, or is nested more than {MAX_DEPTH} levels deep; flatten it"
    )
