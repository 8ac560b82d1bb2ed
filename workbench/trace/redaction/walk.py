"""Cleaning a whole value: copy on write, looking at names, and into JSON inside texts."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable
from typing import Any, Final

import orjson

from workbench.errors import UnencodableError
from workbench.trace.jcs import MAX_DEPTH, TAG
from workbench.trace.redaction import jsontext, names
from workbench.trace.redaction.placeholders import PLACEHOLDER, placeholder
from workbench.trace.redaction.rules import Rule, plain_key
from workbench.trace.redaction.texts import SHORTEST, Texts

PLAIN: Final = 0
SPECIAL: Final = 1
"""Something is to be looked at more closely: a secret's name, a tag, a name that is a secret."""
OPAQUE: Final = 2

_DEEPEST: Final = MAX_DEPTH + 60
_MAX_NAMES: Final = 50_000
_MAX_CHARACTERS: Final = 32 * 1024**2
_MAX_TEXTS: Final = 200_000
_SCALARS: Final = names.each_word(
    "int float complex Decimal UUID date time datetime timedelta blob"
)
_BYTES: Final = frozenset({"bytes", "bytearray"})


class Walker:
    """Cleans values. It remembers texts that it has seen, so that a conversation that grows costs
    what is new in it."""

    def __init__(self, texts: Texts, keys: Iterable[Rule]) -> None:
        self.texts = texts
        self._keys = {key: rule.name for rule in keys for key in rule.keys}
        self._by_name = "secret" in texts.names
        self._names: dict[str, int] = {}
        self._renamed: dict[str, str] = {}
        self._known: dict[str, str] = {}
        self._size = 0
        self._shortest = 1 if texts.custom else SHORTEST

    # -- the usual case: nothing in it -------------------------------------------------------

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
            if depth > _DEEPEST:
                raise _too_deep()
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
        if depth > _DEEPEST:
            raise _too_deep()
        known, shortest, verdicts = self._known, self._shortest, self._names
        for key, item in value.items():
            verdict = verdicts.get(key)
            if verdict is None:
                verdict = self._judge(key)
            if verdict == SPECIAL:
                return False
            kind = type(item)
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
        if key == TAG or key in ("value", "headers") or self._rule_of(key) is not None:
            verdict = SPECIAL
        elif names.is_opaque(key):
            verdict = OPAQUE
        else:
            verdict = SPECIAL if key.endswith(("headers", "Headers")) else PLAIN
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

    # -- the other case ----------------------------------------------------------------------

    def clean(self, value: Any, name: str | None = None, depth: int = 0) -> Any:
        """A value with placeholders for its secrets; itself when there are none.

        Args:
            value: an encoded value. It is not changed.
            name: the key under which it stands.
            depth: how many containers are around it.
        """
        if depth > _DEEPEST:
            raise _too_deep()
        kind = type(value)
        if kind is str:
            return self._text(value, name)
        if kind is dict:
            if TAG in value and value.keys() == {TAG, "v"}:
                return self._tagged(value, name, depth)
            return self._dict(value, name, depth)
        if kind is list or kind is tuple:
            return self._list(value, name, depth)
        return value

    def _text(self, text: str, name: str | None) -> str:
        if name is not None and (names.is_id(name) or names.is_opaque(name)):
            return text if names.is_opaque(name) else self.texts.clean_id(text)
        if len(text) < self._shortest:
            return text
        known = self._known.get(text)
        if known is not None:
            return text if known == text else known
        inner = jsontext.parse(text)
        if inner is None:
            cleaned = self.texts.clean(text)
        else:
            new = self.clean(inner, name)
            cleaned = text if new is inner else jsontext.rewrite(text, inner, new)
        self._remember(text, cleaned)
        return text if cleaned == text else cleaned

    def _dict(self, value: dict[Any, Any], name: str | None, depth: int) -> dict[Any, Any]:
        schemas = names.holds_schemas(name)
        changes = {
            key: self._member(value, key, item, schemas=schemas, depth=depth)
            for key, item in value.items()
        }
        return _changed(value, changes, self._new_names(value))

    def _new_names(self, value: dict[Any, Any]) -> dict[Any, str]:
        """The keys that hold a secret themselves, with what is written for them."""
        for key in value:
            if type(key) is str and key not in self._names:
                self._judge(key)
        if self._renamed.keys().isdisjoint(value):
            return {}
        return {key: self._renamed[key] for key in value if key in self._renamed}

    def _member(
        self, holder: dict[Any, Any], key: Any, item: Any, *, schemas: bool, depth: int
    ) -> Any:
        if type(key) is not str:
            return self.clean(item, None, depth + 1)
        rule = self._rule_of(key)
        if rule is None and key == "value" and type(item) is str:
            named = holder.get("name", holder.get("key"))
            rule = self._rule_of(named) if type(named) is str else None
        if rule is None or (schemas and names.is_schema(item)):
            return self.clean(item, key, depth + 1)
        if key == "token" and rule == "secret" and _is_piece(holder, item):
            return self.clean(item, key, depth + 1)
        return self.secret(item, rule, key)

    def secret(self, value: Any, rule: str, name: str | None = None) -> Any:
        """What stands in place of a value that is a secret as a whole: the same, with a
        placeholder for each text and number in it."""
        if value is None or isinstance(value, bool):
            return value
        if type(value) is str:
            return self._secret_text(value, rule, name)
        if type(value) is dict:
            if value.keys() == {TAG, "v"}:
                return self._secret_tag(value, rule, name)
            changes = {k: self.secret(item, rule, name) for k, item in value.items()}
            return _changed(value, changes, self._new_names(value))
        if type(value) in (list, tuple):
            items = [self.secret(item, rule, name) for item in value]
            if all(a is b for a, b in zip(items, value, strict=True)):
                return value
            return items if type(value) is list else tuple(items)
        if name is not None and names.is_countable(name):
            return value
        return placeholder(rule, jsontext.number_of(value), self.texts.salt)

    def _secret_text(self, text: str, rule: str, name: str | None) -> str:
        inner = jsontext.parse(text)
        if inner is not None:
            new = self.secret(inner, rule, name)
            return text if new is inner else jsontext.rewrite(text, inner, new)
        if rule == "secret":
            return self.texts.named(text) or text
        if PLACEHOLDER.fullmatch(text) or not text.strip():
            return text
        return placeholder(rule, text, self.texts.salt)

    def _secret_tag(self, value: dict[str, Any], rule: str, name: str | None) -> Any:
        tag, content = value[TAG], value["v"]
        if tag in _BYTES:
            data = _decoded(content)
            if data is None or not data or PLACEHOLDER.fullmatch(data.decode("latin-1")):
                return value
            return _encoded(value, placeholder(rule, data, self.texts.salt).encode())
        if tag == "dict" and type(content) is list:
            new: Any = [
                [self.clean(pair[0]), self.secret(pair[1], rule, name)] if _is_pair(pair) else pair
                for pair in content
            ]
            return {TAG: tag, "v": new}
        if tag in _SCALARS or tag == "str":
            return placeholder(rule, value, self.texts.salt)
        return {TAG: tag, "v": self.secret(content, rule, name)}

    def _list(self, value: Any, name: str | None, depth: int) -> Any:
        pairs = name is not None and name.lower().endswith("headers")
        items = [
            self._pair(item, depth) if pairs else self.clean(item, name, depth + 1)
            for item in value
        ]
        for at, option in enumerate(value[:-1]):
            if type(option) is str and option[:2] == "--" and self._is_value(value[at + 1]):
                rule = self._rule_of(option[2:])
                if rule is not None:
                    items[at + 1] = self.secret(value[at + 1], rule)
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if type(value) is list else tuple(items)

    @staticmethod
    def _is_value(item: Any) -> bool:
        """Whether an item after an option is the option's value."""
        return type(item) is str and item[:1] != "-"

    def _pair(self, item: Any, depth: int) -> Any:
        """A header written as a pair of name and value."""
        tagged = type(item) is dict and item.get(TAG) == "tuple"
        pair = item.get("v") if tagged else item
        if type(pair) in (list, tuple) and len(pair) == 2 and type(pair[0]) is str:
            rule = self._rule_of(pair[0])
            new = self.secret(pair[1], rule) if rule else self.clean(pair[1], pair[0], depth + 2)
            if new is pair[1]:
                return item
            made = [pair[0], new] if type(pair) is list else (pair[0], new)
            return {**item, "v": made} if tagged else made
        return self.clean(item, "header", depth + 1)

    def _tagged(self, value: dict[str, Any], name: str | None, depth: int) -> Any:
        tag, content = value[TAG], value["v"]
        if tag in _SCALARS:
            new: Any = self.texts.clean_id(content) if type(content) is str else content
        elif tag in _BYTES:
            data = _decoded(content)
            return value if data is None else self._in_bytes(value, data)
        elif tag == "dict" and type(content) is list:
            new = self._tagged_dict(content, name, depth)
        else:
            new = self.clean(content, name, depth + 1)
        return value if new is content else {TAG: tag, "v": new}

    def _in_bytes(self, value: dict[str, Any], data: bytes) -> dict[str, Any]:
        try:
            text, codec = data.decode(), "utf-8"
        except UnicodeDecodeError:
            text, codec = data.decode("latin-1"), "latin-1"
        cleaned = self._text(text, None)
        return value if cleaned == text else _encoded(value, cleaned.encode(codec))

    def _tagged_dict(self, pairs: list[Any], name: str | None, depth: int) -> list[Any]:
        schemas = names.holds_schemas(name)
        texts = {p[0]: p[1] for p in pairs if _is_pair(p) and type(p[0]) is str}
        made = []
        for pair in pairs:
            if not _is_pair(pair):
                made.append(self.clean(pair, None, depth + 1))
                continue
            key, item = pair
            new_key = self.clean(key, None, depth + 2)
            new = self._member(texts, key, item, schemas=schemas, depth=depth + 2)
            made.append(pair if new_key is key and new is item else [new_key, new])
        return pairs if all(a is b for a, b in zip(made, pairs, strict=True)) else made


def _changed(
    value: dict[Any, Any], items: dict[Any, Any], renamed: dict[Any, str]
) -> dict[Any, Any]:
    """A map with other items and keys; itself when these are the same."""
    if renamed:
        return {renamed.get(key, key): item for key, item in items.items()}
    return value if all(items[key] is item for key, item in value.items()) else items


def _is_pair(value: Any) -> bool:
    return type(value) is list and len(value) == 2


def _is_piece(holder: dict[Any, Any], item: Any) -> bool:
    return names.is_piece_of_text(holder) or (
        isinstance(item, dict) and names.is_piece_of_text(item)
    )


def _decoded(content: Any) -> bytes | None:
    try:
        return base64.b64decode(content, validate=True)
    except (binascii.Error, TypeError, ValueError):
        return None


def _encoded(value: dict[str, Any], data: bytes) -> dict[str, Any]:
    return {TAG: value[TAG], "v": base64.b64encode(data).decode()}


def _too_deep() -> UnencodableError:
    return UnencodableError(
        f"a value contains itself, or is nested more than {MAX_DEPTH} levels deep; flatten it"
    )
