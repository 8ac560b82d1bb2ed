"""Ignore rules: JSON pointers (RFC 6901) to the parts of a request that do not count.

``/body/stream`` names a key, ``/body/messages/0`` an item of a list, ``~0`` and ``~1`` stand for
``~`` and ``/``. Beyond the RFC, ``*`` stands for every key or item: ``/body/messages/*/id``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from workbench.errors import UsageError

_Tree = dict[str, Any]
"""Reference tokens to subtrees; an empty subtree means that what it names is left out."""

_ANY: Final = "*"
_BAD_ESCAPE: Final = re.compile(r"~(?![01])")


def parse_pointer(pointer: str) -> tuple[str, ...]:
    """The reference tokens of a JSON pointer, unescaped.

    Raises:
        UsageError: it is no pointer, or names the whole document.
    """
    if not isinstance(pointer, str):
        raise UsageError(f"an ignore rule is a text such as '/body/stream', not {pointer!r}")
    if not pointer:
        raise UsageError("the ignore rule '' names the whole request, so all calls would be equal")
    if not pointer.startswith("/"):
        raise UsageError(
            f"the ignore rule {pointer!r} is not a JSON pointer: it must begin with '/', "
            "as '/body/stream' does"
        )
    if _BAD_ESCAPE.search(pointer):
        raise UsageError(
            f"the ignore rule {pointer!r} is not a JSON pointer: write '~' as '~0' and '/' as '~1'"
        )
    tokens = pointer[1:].split("/")
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in tokens)


def without(value: Any, rules: Iterable[str]) -> Any:
    """A value less what the rules name. Shares the rest with `value`, which is not changed.

    A rule that names nothing here has no effect. Indexes count in the list as it was.

    Raises:
        UsageError: a rule is not a JSON pointer.
    """
    return Rules(rules).without(value)


class Rules:
    """Ignore rules that are made use of again and again.

    Raises:
        UsageError: one of them is not a JSON pointer.
    """

    __slots__ = ("_pairs", "_tree")

    def __init__(self, rules: Iterable[str]) -> None:
        self._tree = _compile(tuple(rules))
        self._pairs = _pairs(self._tree)

    def may_name(self, value: Any) -> bool:
        """Whether they may name a part of the value. False is certain."""
        if self._pairs is None or type(value) is not dict:
            return _may_name(self._tree, value)
        for outer, inner in self._pairs:
            below = value.get(outer)
            if below is not None and (type(below) is not dict or not inner.isdisjoint(below)):
                return _may_name(self._tree, value)
        return False

    def without(self, value: Any) -> Any:
        """As :func:`without`."""
        return _prune(value, (self._tree,)) if _may_name(self._tree, value) else value


def _pairs(tree: _Tree) -> list[tuple[str, frozenset[str]]] | None:
    """The usual rules, each of a key and a key below it, in a form that is quickly looked at."""
    plain = all(below and not any(below.values()) and _ANY not in below for below in tree.values())
    if _ANY in tree or not plain:
        return None
    return [(token, frozenset(below)) for token, below in tree.items()]


def _may_name(tree: _Tree, value: Any) -> bool:
    """Whether any rule could name a part of the value: a quick no for most requests."""
    if type(value) is not dict:
        return type(value) is list or type(value) is tuple
    for token, below in tree.items():
        if token in value and (not below or _may_name(below, value[token])):
            return True
    return _ANY in tree


@lru_cache(maxsize=256)
def _compile(rules: tuple[str, ...]) -> _Tree:
    root: _Tree = {}
    shorter_first = sorted(map(parse_pointer, rules), key=len)
    for tokens in shorter_first:
        node = root
        for token in tokens[:-1]:
            if node.get(token) == {}:
                break  # a shorter rule leaves it out already
            node = node.setdefault(token, {})
        else:
            node[tokens[-1]] = {}
    return root


def _prune(value: Any, trees: tuple[_Tree, ...]) -> Any:
    kind = type(value)
    if kind is dict:
        return _prune_dict(value, trees)
    if kind is list or kind is tuple:
        kept = []
        changed = False
        for index, item in enumerate(value):
            below = _below(trees, str(index))
            if {} in below:
                changed = True
                continue
            new = _prune(item, below) if below else item
            changed = changed or new is not item
            kept.append(new)
        return kind(kept) if changed else value
    return value


def _prune_dict(value: dict[Any, Any], trees: tuple[_Tree, ...]) -> dict[Any, Any]:
    if any(_ANY in tree for tree in trees):
        names = list(value)
    else:
        names = [token for tree in trees for token in tree if token in value]
    copy: dict[Any, Any] | None = None
    for name in names:
        below = _below(trees, name)
        if {} in below:
            copy = dict(value) if copy is None else copy
            copy.pop(name, None)
            continue
        new = _prune(value[name], below)
        if new is not value[name]:
            copy = dict(value) if copy is None else copy
            copy[name] = new
    return value if copy is None else copy


def _below(trees: tuple[_Tree, ...], token: str) -> tuple[_Tree, ...]:
    found = [tree[token] for tree in trees if token in tree]
    if token != _ANY:
        found += [tree[_ANY] for tree in trees if _ANY in tree]
    return tuple(found)
