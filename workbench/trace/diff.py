"""The difference between two traces, aligned by what happened and not by position.

::

    print(trace.diff(fork))
    # first divergence: turn 4: refund → send_email

Turns are matched by their step and by what the model decided. What is left over between matches
is paired by likeness: same request, same tools. The work is bounded, so ten thousand turns take
seconds; past the bounds the answer gets coarser, never wrong.
"""

from __future__ import annotations

import html
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from workbench.trace.difftext import brief, differences, item_label, request_differences
from workbench.trace.fingerprint import Fingerprints, Item, digest
from workbench.trace.payloads.align import align
from workbench.trace.prices import Total, total

if TYPE_CHECKING:
    from workbench.trace.trace import Trace

RowKind = Literal["same", "changed", "inserted", "dropped", "moved"]

_PAIRINGS = 40_000
"""Pairs of leftovers, of one stretch, that are compared with each other."""
_REQUESTS = 50
"""Rows whose requests are opened to find what differs in them."""
_LINES = 200
"""Rows that the text form shows."""


@dataclass(frozen=True, slots=True)
class Row:
    """One item of either trace, or one of each that belong together."""

    kind: RowKind
    """``same``, ``changed``, ``inserted`` (only in the second), ``dropped`` (only in the first),
    ``moved`` (the same, elsewhere)."""
    turn_a: int | None
    """The turn's number in the first trace; None for what is no turn, or is not there."""
    turn_b: int | None
    """The turn's number in the second trace."""
    what: tuple[str, ...] = ()
    """What differs, a few words each."""
    label: str = ""
    """What it is, such as ``refund``; of the second trace where both have it."""
    entry_a: str | None = None
    """The entry's id in the first trace."""
    entry_b: str | None = None
    """The entry's id in the second trace."""

    @property
    def place(self) -> str:
        """Where: ``turn 4``, ``turn 4 (5 in b)``, or ``between turns``."""
        if self.turn_a is not None and self.turn_b is not None and self.turn_a != self.turn_b:
            return f"turn {self.turn_a} ({self.turn_b} in b)"
        number = self.turn_a if self.turn_a is not None else self.turn_b
        return "between turns" if number is None else f"turn {number}"

    @property
    def text(self) -> str:
        """The row in one line, such as ``turn 4: refund → send_email``."""
        if self.kind == "inserted":
            return f"{self.place}: only in b: {self.label}"
        if self.kind == "dropped":
            return f"{self.place}: only in a: {self.label}"
        if self.kind == "moved":
            return f"{self.place}: moved: {self.label}"
        return f"{self.place}: {'; '.join(self.what) or self.label}"


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two traces part for the first time."""

    turn_a: int | None
    """The turn's number in the first trace, when it is a turn there."""
    turn_b: int | None
    """The turn's number in the second trace."""
    text: str
    """One line, such as ``turn 4: refund → send_email``."""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Ending:
    """How one of the traces ended."""

    status: str
    """The trace's status."""
    output: Any
    """What the agent returned, as the trace keeps it (tagged values); None when nothing."""
    error: str | None
    """What the agent raised, ``Type: text``."""

    def __str__(self) -> str:
        parts = [self.status]
        if self.error:
            parts.append(self.error)
        elif self.output is not None:
            parts.append(brief(self.output, 100))
        return " · ".join(parts)


@dataclass(frozen=True, repr=False)
class Diff:
    """What differs between two traces, ``a`` and ``b``."""

    a: Trace
    b: Trace
    rows: tuple[Row, ...]
    """Everything, in order."""

    @cached_property
    def outcome(self) -> tuple[Ending, Ending]:
        """How each of the two ended."""
        return _ending(self.a), _ending(self.b)

    @cached_property
    def first(self) -> Divergence | None:
        """The first divergence, or None when there is none."""
        for row in self.rows:
            if row.kind != "same":
                return Divergence(row.turn_a, row.turn_b, row.text)
        before, after = self.outcome
        if _differs(before, after):
            return Divergence(None, None, f"outcome: {before} → {after}")
        return None

    @property
    def same(self) -> bool:
        """Whether nothing differs: neither a row nor the outcome."""
        return self.first is None

    @cached_property
    def cost(self) -> tuple[Total, Total]:
        """What the calls of each cost when they were made, in US dollars."""
        return total(self.a), total(self.b)

    @property
    def duration(self) -> tuple[float | None, float | None]:
        """How long each took, in seconds."""
        return self.a.elapsed_s, self.b.elapsed_s

    @property
    def turn_counts(self) -> tuple[int, int]:
        """How many turns each has."""
        return len(self.a.turns), len(self.b.turns)

    @cached_property
    def tool_counts(self) -> dict[str, tuple[int, int]]:
        """How often each tool was called, in ``a`` and in ``b``."""
        counts: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for side, trace in enumerate((self.a, self.b)):
            for entry in trace.tools():
                counts[str(entry.name)][side] += 1
        return {name: (pair[0], pair[1]) for name, pair in sorted(counts.items())}

    @cached_property
    def headline(self) -> str:
        """The comparison in one line."""
        return "no difference" if self.first is None else f"first divergence: {self.first}"

    def summary(self) -> list[tuple[str, str, str]]:
        """``(what, in a, in b)`` for outcome, turns, tools, cost and time."""
        rows = [
            ("outcome", str(self.outcome[0]), str(self.outcome[1])),
            ("turns", str(self.turn_counts[0]), str(self.turn_counts[1])),
        ]
        rows += [(name, f"{old}×", f"{new}×") for name, (old, new) in self.tool_counts.items()]
        rows.append(("cost", str(self.cost[0]), str(self.cost[1])))
        rows.append(("time", _seconds(self.duration[0]), _seconds(self.duration[1])))
        return rows

    def __repr__(self) -> str:
        return f"<Diff of {self.a.name or self.a.id} and {self.b.name or self.b.id}>\n{self}"

    def __str__(self) -> str:
        lines = [self.headline]
        for what, old, new in self.summary():
            lines.append(f"  {what}: {old}" if old == new else f"  {what}: {old} → {new}")
        different = [row for row in self.rows if row.kind != "same"]
        signs = {"changed": "~", "inserted": "+", "dropped": "-", "moved": "^"}
        lines += [f"{signs[row.kind]} {row.text}" for row in different[:_LINES]]
        if len(different) > _LINES:
            lines.append(f"… and {len(different) - _LINES:,} more")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data: everything that this object says. Amounts of money are strings."""
        outcome = [
            {"status": each.status, "output": each.output, "error": each.error}
            for each in self.outcome
        ]
        first = self.first
        return {
            "a": {"id": self.a.id, "name": self.a.name},
            "b": {"id": self.b.id, "name": self.b.name},
            "same": self.same,
            "headline": self.headline,
            "first": None
            if first is None
            else {"turn_a": first.turn_a, "turn_b": first.turn_b, "text": first.text},
            "outcome": outcome,
            "cost": [
                {"amount": str(each.amount), "complete": each.complete, "text": str(each)}
                for each in self.cost
            ],
            "duration_s": list(self.duration),
            "turns": list(self.turn_counts),
            "tools": {name: list(pair) for name, pair in self.tool_counts.items()},
            "rows": [
                {
                    "kind": row.kind, "turn_a": row.turn_a, "turn_b": row.turn_b,
                    "entry_a": row.entry_a, "entry_b": row.entry_b,
                    "what": list(row.what), "label": row.label, "text": row.text,
                }
                for row in self.rows
            ],
        }  # fmt: skip

    def _repr_html_(self) -> str:
        def cells(tag: str, *texts: str) -> str:
            return "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts)

        head = [f"<tr>{cells('th', '', 'a', 'b')}</tr>"]
        head += [f"<tr>{cells('td', *row)}</tr>" for row in self.summary()]
        different = [row for row in self.rows if row.kind != "same"]
        body = [f"<tr>{cells('td', row.kind, row.text)}</tr>" for row in different[:_LINES]]
        more = len(different) - _LINES
        tail = f"<p>… and {more:,} more</p>" if more > 0 else ""
        return (
            f"<div><p><strong>{html.escape(self.headline)}</strong></p>"
            f"<table>{''.join(head)}</table><table>{''.join(body)}</table>{tail}</div>"
        )


def diff(a: Trace, b: Trace) -> Diff:
    """Compare two traces.

    Compared are steps, replies (text, tool calls and their arguments, errors, how a stream
    ended), tool results, events, human answers, the outcome, and what the model was shown. A
    request that differs only because an earlier turn did is no difference of its own; this is
    looked into for the first 50 turns whose requests differ.
    """
    first = Fingerprints(a)
    second = first if a is b else Fingerprints(b, first)
    pairs = _with_moves(list(_pairs(first.items, second.items)))
    return Diff(a, b, tuple(_rows(pairs)))


_Pair = tuple[Item | None, Item | None, bool]
"""An item of each trace, and whether they were found in different places."""


def _pairs(a: Sequence[Item], b: Sequence[Item]) -> Iterator[_Pair]:
    for block in align([each.key for each in a], [each.key for each in b]):
        old, new = a[block.a_from : block.a_to], b[block.b_from : block.b_to]
        if block.equal:
            yield from ((x, y, False) for x, y in zip(old, new, strict=True))
            continue
        at_old = at_new = 0
        for i, j in [*_alike(old, new), (len(old), len(new))]:
            yield from ((each, None, False) for each in old[at_old:i])
            yield from ((None, each, False) for each in new[at_new:j])
            at_old, at_new = i + 1, j + 1
            if i < len(old):
                yield old[i], new[j], False


def _alike(old: Sequence[Item], new: Sequence[Item]) -> list[tuple[int, int]]:
    """Which leftovers are versions of each other, in order: the most alike in sum."""
    if len(old) * len(new) > _PAIRINGS:
        return [(n, n) for n, (x, y) in enumerate(zip(old, new, strict=False)) if _score(x, y)]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            score = _score(old[i], new[j])
            paired = best[i + 1][j + 1] + score if score else 0.0
            best[i][j] = max(paired, best[i + 1][j], best[i][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        score = _score(old[i], new[j])
        if score and best[i][j] == best[i + 1][j + 1] + score:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs


def _score(a: Item, b: Item) -> float:
    """How alike two items are; 0 for those that never belong together."""
    if a.kind != b.kind or a.entry.step != b.entry.step:
        return 0.0
    if a.turn is None:
        return 1.0 if a.entry.name == b.entry.name and a.entry.type == b.entry.type else 0.0
    asked = a.entry.hash is not None and a.entry.hash == b.entry.hash
    return 0.25 + 4.0 * asked + 1.0 * (a.names == b.names)


def _with_moves(pairs: list[_Pair]) -> list[_Pair]:
    """Join what is dropped in one place and inserted in another."""
    dropped: dict[str, list[Item]] = defaultdict(list)
    for old, new, _ in pairs:
        if old is not None and new is None:
            dropped[old.key].append(old)
    moved: set[int] = set()
    out: list[_Pair] = []
    for old, new, _ in pairs:
        if old is None and new is not None and dropped[new.key]:
            partner = dropped[new.key].pop(0)
            moved.add(id(partner))
            out.append((partner, new, True))
        else:
            out.append((old, new, False))
    return [pair for pair in out if pair[1] is not None or id(pair[0]) not in moved]


def _rows(pairs: Sequence[_Pair]) -> Iterator[Row]:
    looks, parted, told = 0, False, set[str]()
    for old, new, moved in pairs:
        if old is None or new is None:
            parted = True
            yield _one_sided(old, new)
            continue
        what = differences(old, new) if (old.key, old.result) != (new.key, new.result) else []
        asked = old.entry.hash, new.entry.hash
        if asked[0] != asked[1] and old.turn is not None and looks < _REQUESTS:
            looks += 1
            seen = request_differences(old.entry, new.entry, everything=not parted, told=told)
            # The request is the cause where nothing before it differs, else one effect of many.
            what = [*what, *seen] if parted else [*seen, *what]
        differs = bool(what) or (old.key, old.result) != (new.key, new.result)
        parted = parted or differs
        kind: RowKind = "moved" if moved else "changed" if differs else "same"
        yield Row(
            kind, old.number, new.number, tuple(what), item_label(new) if differs or moved else "",
            old.entry.id, new.entry.id,
        )  # fmt: skip


def _one_sided(old: Item | None, new: Item | None) -> Row:
    if new is None and old is not None:
        return Row("dropped", old.number, None, (), item_label(old), old.entry.id, None)
    if new is not None:
        return Row("inserted", None, new.number, (), item_label(new), None, new.entry.id)
    raise AssertionError("a pair has at least one side")


def _ending(trace: Trace) -> Ending:
    error = trace.error
    text = None if error is None else f"{error.type}: {error.message}"
    return Ending(trace.status, trace.end.output if trace.end is not None else None, text)


def _differs(a: Ending, b: Ending) -> bool:
    return (a.status, a.error, digest(a.output)) != (b.status, b.error, digest(b.output))


def _seconds(value: float | None) -> str:
    return "not recorded" if value is None else f"{value:.2f} s"
