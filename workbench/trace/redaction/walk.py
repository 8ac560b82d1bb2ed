"""Cleaning a whole value: copy on write, looking at names, and into JSON inside texts."""

from __future__ import annotations

import base64
import binascii
from typing import Any, Final

from workbench.trace.jcs import TAG
from workbench.trace.redaction import jsontext, names
from workbench.trace.redaction.placeholders import PLACEHOLDER, placeholder
from workbench.trace.redaction.seen import DEEPEST, Seen, too_deep

_SCALARS: Final = names.each_word(
    "int float complex Decimal UUID date time datetime timedelta blob"
)
_BYTES: Final = frozenset({"bytes", "bytearray"})


class Walker(Seen):
    """Puts placeholders into values."""

    def clean(self, value: Any, name: str | None = None, depth: int = 0) -> Any:
        """A value with placeholders for its secrets; itself when there are none.

        Args:
            value: an encoded value. It is not changed.
            name: the key under which it stands.
            depth: how many containers are around it.
        """
        if depth > DEEPEST:
            raise too_deep()
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
        found = {}
        for key in value:
            if type(key) is str:
                if key not in self._names:
                    self._judge(key)
                if key in self._renamed:
                    found[key] = self._renamed[key]
        return found

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
