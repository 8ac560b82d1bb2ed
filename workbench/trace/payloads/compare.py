"""What changed between two conversations, and between two texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from .align import Block, align
from .base import JSON, Message
from .reading import as_dict, stable_text

ChangeKind: TypeAlias = Literal["same", "injected", "dropped", "changed", "truncated"]
WordKind: TypeAlias = Literal["same", "del", "add"]

_SIMILAR = 0.2
_IN_PLACE = 0.05
_SAMPLE = 4000
_MOST_PAIRINGS = 2500
# How programs mark that they cut a text: "...", "[truncated]", "(1200 characters omitted)".
_CUT_MARK = re.compile(
    r"\s*(?:[\[(<]?(?:\.{3}|…)[\])>]?|[\[(<][^\n\])>]{0,40}(?:truncated|omitted|cut)[^\n]{0,40})\s*$"
)
# Words; in scripts without spaces, characters.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[^\W{_UNSPACED}]+|\s+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Change:
    """How one message of a conversation stands to the other conversation."""

    kind: ChangeKind
    """`truncated`: only the beginning of the text is left. `injected`: only in the second."""
    before: int | None
    """Its index in the first conversation; None when injected."""
    after: int | None
    """Its index in the second; None when dropped."""
    fields: tuple[str, ...] = ()
    """What differs, for `changed` and `truncated`: names of fields of `Message`."""
    exact: bool = False
    """The message is equal on the wire too, ids and fields that no view reads included."""


def compare(before: Sequence[Message], after: Sequence[Message]) -> list[Change]:
    """Align two conversations by content. The ids of tool calls don't count, their order does.

    Returns one change for each message, in the order of `after`, dropped ones in their place.
    """
    changes: list[Change] = []
    old_keys, new_keys = _keys(before), _keys(after)
    for block in align(old_keys, new_keys):
        if block.equal:
            changes += [
                Change("same", i, j, exact=before[i].raw == after[j].raw)
                for i, j in zip(*_indexes(block), strict=True)
            ]
            continue
        for i, j in _versions(before, after, block):
            if i is None or j is None:
                changes.append(Change("injected" if i is None else "dropped", i, j))
                continue
            pairs = zip(_FIELDS, old_keys[i], new_keys[j], strict=True)
            fields = tuple(name for name, x, y in pairs if x != y)
            cut = fields == ("text",) and _is_beginning(after[j].text, before[i].text)
            changes.append(Change("truncated" if cut else "changed", i, j, fields))
    return changes


def word_diff(a: str, b: str) -> list[tuple[WordKind, str]]:
    """The texts as runs of words that are the same, deleted or added.

    `same` and `del` runs joined are `a`, `same` and `add` runs joined are `b`. The work is
    bounded: very different long texts give coarser runs.
    """
    if a == b:
        return [("same", a)] if a else []
    runs: list[tuple[WordKind, str]] = []
    lines_a, lines_b = a.splitlines(keepends=True), b.splitlines(keepends=True)
    for block in align(lines_a, lines_b):
        old = "".join(lines_a[block.a_from : block.a_to])
        new = "".join(lines_b[block.b_from : block.b_to])
        if block.equal:
            runs.append(("same", old))
        else:
            runs += _word_runs(old, new)
    return _tidy(runs)


def _word_runs(old: str, new: str) -> list[tuple[WordKind, str]]:
    words_a, words_b = _WORD.findall(old), _WORD.findall(new)
    runs: list[tuple[WordKind, str]] = []
    for block in align(words_a, words_b):
        left = "".join(words_a[block.a_from : block.a_to])
        if block.equal:
            runs.append(("same", left))
        else:
            right = "".join(words_b[block.b_from : block.b_to])
            runs += [("del", left), ("add", right)]
    return runs


def _tidy(runs: list[tuple[WordKind, str]]) -> list[tuple[WordKind, str]]:
    """Join neighbours; a lone blank between two replacements belongs to both."""
    tidy: list[tuple[WordKind, str]] = []
    deleted = added = ""
    for place, (kind, text) in enumerate(runs):
        if kind == "del":
            deleted += text
        elif kind == "add":
            added += text
        elif deleted and added and _is_lone_blank(runs, place):
            deleted, added = deleted + text, added + text
        elif text:
            tidy += _replacement(deleted, added)
            deleted = added = ""
            joined = tidy.pop()[1] if tidy and tidy[-1][0] == "same" else ""
            tidy.append(("same", joined + text))
    return tidy + _replacement(deleted, added)


def _is_lone_blank(runs: list[tuple[WordKind, str]], place: int) -> bool:
    text = runs[place][1]
    more = place + 1 < len(runs) and runs[place + 1][0] != "same"
    return more and text.isspace() and "\n" not in text


def _replacement(deleted: str, added: str) -> list[tuple[WordKind, str]]:
    both: list[tuple[WordKind, str]] = [("del", deleted), ("add", added)]
    return [(kind, text) for kind, text in both if text]


def _keys(messages: Sequence[Message]) -> list[tuple[object, ...]]:
    """What makes two messages the same. A call is named by its place in its turn, not its id."""
    keys: list[tuple[object, ...]] = []
    places: dict[str | None, int] = {}
    for message in messages:
        if message.role == "assistant":
            places = places if message.continues else {}
            count = len(places)
            places |= {call.id: count + n for n, call in enumerate(message.tool_calls)}
        keys.append(
            (
                message.role,
                message.text,
                tuple((call.name, call.raw) for call in message.tool_calls),
                places.get(message.tool_call_id) if message.tool_call_id else None,
                message.name,
                message.reasoning,
                _opaque(message.raw) if message.images else "",
            )
        )
    return keys


def _opaque(raw: JSON) -> str:
    """What is no text in a message; of an item without a content all but what names it."""
    source = as_dict(raw)
    if "content" in source:
        return stable_text(source["content"])
    return stable_text({key: value for key, value in source.items() if key not in _NAMES})


_NAMES = frozenset({"id", "status", "call_id"})
_FIELDS = ("role", "text", "tool_calls", "tool_call_id", "name", "reasoning", "images")


def _indexes(block: Block) -> tuple[range, range]:
    return range(block.a_from, block.a_to), range(block.b_from, block.b_to)


def _versions(
    before: Sequence[Message], after: Sequence[Message], block: Block
) -> list[tuple[int | None, int | None]]:
    """The messages of an unequal stretch, in order: versions of one another, or one side only."""
    left, right = _indexes(block)
    old, new = [before[i] for i in left], [after[j] for j in right]
    listed: list[tuple[int | None, int | None]] = []
    at_old = at_new = 0
    for i, j in [*_pair(old, new), (len(old), len(new))]:
        listed += [(left[n], None) for n in range(at_old, i)]
        listed += [(None, right[n]) for n in range(at_new, j)]
        at_old, at_new = i + 1, j + 1
        if i < len(old):
            listed.append((left[i], right[j]))
    return listed


def _is_beginning(short: str, long: str) -> bool:
    """Whether `short` is the start of `long`, perhaps with a mark that the rest was cut."""
    if long.startswith(short):
        return True
    mark = _CUT_MARK.search(short, max(0, len(short) - 100))
    return bool(mark and mark.start() and long.startswith(short[: mark.start()]))


def _pair(old: Sequence[Message], new: Sequence[Message]) -> list[tuple[int, int]]:
    """Which messages are versions of each other: in order, same role, the most alike."""
    same_shape = [m.role for m in old] == [m.role for m in new]
    if len(old) * len(new) > _MOST_PAIRINGS:
        return [(n, n) for n in range(len(old))] if same_shape else []
    scores = _scores(old, new, same_shape=same_shape)
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            paired = best[i + 1][j + 1] + scores[i][j]
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(old) and j < len(new):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            pairs.append((i, j))
            i, j = i + 1, j + 1
    return pairs


def _scores(
    old: Sequence[Message], new: Sequence[Message], *, same_shape: bool
) -> list[list[float]]:
    """How alike each two are: 0 for never, a little for the same place in the same shape."""
    new_words = [_words(message) for message in new]

    def score(i: int, words: frozenset[str], j: int) -> float:
        if old[i].role != new[j].role:
            return 0.0
        if new[j].text and old[i].text.startswith(new[j].text):
            return 1.0
        alike = _overlap(words, new_words[j])
        in_place = _IN_PLACE if same_shape and i == j else 0.0
        return alike if alike >= _SIMILAR else in_place

    return [
        [score(i, words, j) for j in range(len(new))]
        for i, words in enumerate(_words(message) for message in old)
    ]


def _words(message: Message) -> frozenset[str]:
    calls = " ".join(f"{call.name} {call.raw}" for call in message.tool_calls)
    return frozenset(re.findall(r"\w+", f"{message.text[:_SAMPLE]} {calls[:_SAMPLE]}"))


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / len(a | b) if a or b else 0.0
