"""Rules that name places: which parts of a value they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbench.trace.redaction.rules import ANY, DEEP, Rule

_Steps = tuple[str, ...]
_Want = tuple[_Steps, str]
Change = Callable[[Any, str], Any]
"""What is to stand in place of a value that the rule of that name means."""


def apply(value: Any, rules: Iterable[Rule], change: Change) -> Any:
    """A value with its named parts changed; itself when the rules name nothing in it."""
    wanted = [(path, rule.name) for rule in rules for path in rule.paths]
    return _apply(value, wanted, change) if wanted else value


def _apply(value: Any, wanted: Sequence[_Want], change: Change) -> Any:
    wanted = _opened(wanted)
    rule = next((name for steps, name in wanted if not steps), None)
    if rule is not None:
        return change(value, rule)
    if isinstance(value, dict):
        return _in_dict(value, wanted, change)
    if isinstance(value, list | tuple):
        items = [_apply(item, _below(wanted, str(n)), change) for n, item in enumerate(value)]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        return items if isinstance(value, list) else tuple(items)
    return value


def _in_dict(value: dict[Any, Any], wanted: Sequence[_Want], change: Change) -> dict[Any, Any]:
    copy: dict[Any, Any] | None = None
    for key, item in value.items():
        below = _below(wanted, key) if isinstance(key, str) else []
        new = _apply(item, below, change) if below else item
        if new is not item:
            copy = dict(value) if copy is None else copy
            copy[key] = new
    return value if copy is None else copy


def _opened(wanted: Sequence[_Want]) -> list[_Want]:
    """``**`` may stand for no step at all."""
    out: list[_Want] = []
    for steps, name in wanted:
        out.append((steps, name))
        while steps[:1] == (DEEP,):
            steps = steps[1:]  # noqa: PLW2901 - the shorter one is looked at next
            out.append((steps, name))
    return out


def _below(wanted: Sequence[_Want], key: str) -> list[_Want]:
    out: list[_Want] = []
    for steps, name in wanted:
        if steps and steps[0] == DEEP:
            out.append((steps, name))
        elif steps and steps[0] in (ANY, key):
            out.append((steps[1:], name))
    return out
