"""Aligning two sequences by their content, with bounded work.

Elements that occur once in each are the anchors (as in a patience diff); what lies between them
is aligned by Myers' greedy algorithm ("An O(ND) Difference Algorithm and Its Variations", 1986)
up to a number of differences. Beyond the bounds a stretch is left unaligned, so the answer gets
coarser, never wrong.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import KW_ONLY, dataclass

# Where no element is unique, as in a long text of common words, a row of so many may be.
_WIDE = 6
_MOST_DIFFERENCES = 250
_MOST_STEPS = 3_000_000


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch `a[a_from:a_to]` and `b[b_from:b_to]`, equal or not."""

    a_from: int
    a_to: int
    b_from: int
    b_to: int
    _: KW_ONLY
    equal: bool


def align(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[Block]:
    """Equal and unequal stretches that cover both sequences, in order."""
    blocks: list[Block] = []
    at_a = at_b = 0
    for i, j, size in [*_runs(sorted(_Aligner(a, b).matches())), (len(a), len(b), 0)]:
        if i > at_a or j > at_b:
            blocks.append(Block(at_a, i, at_b, j, equal=False))
        at_a, at_b = i + size, j + size
        if size:
            blocks.append(Block(i, at_a, j, at_b, equal=True))
    return blocks


def _runs(matches: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    runs: list[tuple[int, int, int]] = []
    for i, j in matches:
        if runs and (i, j) == (runs[-1][0] + runs[-1][2], runs[-1][1] + runs[-1][2]):
            runs[-1] = (runs[-1][0], runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((i, j, 1))
    return runs


_Range = tuple[int, int, int, int]


class _Aligner:
    def __init__(self, a: Sequence[Hashable], b: Sequence[Hashable]) -> None:
        self.a, self.b = a, b
        self.steps = 0
        self.found: list[tuple[int, int]] = []

    def matches(self) -> list[tuple[int, int]]:
        todo: list[_Range] = [(0, len(self.a), 0, len(self.b))]
        while todo:
            a_lo, a_hi, b_lo, b_hi = self._trim(*todo.pop())
            self.steps += a_hi - a_lo + b_hi - b_lo
            if a_lo == a_hi or b_lo == b_hi or self.steps > _MOST_STEPS:
                continue
            here = (a_lo, a_hi, b_lo, b_hi)
            anchors = self._anchors(*here, width=1) or self._anchors(*here, width=_WIDE)
            if not anchors:
                self._myers(a_lo, a_hi, b_lo, b_hi)
                continue
            self.found += anchors
            ends = [*anchors, (a_hi, b_hi)]
            starts = [(a_lo, b_lo), *((i + 1, j + 1) for i, j in anchors)]
            todo += [(i, x, j, y) for (i, j), (x, y) in zip(starts, ends, strict=True)]
        return self.found

    def _trim(self, a_lo: int, a_hi: int, b_lo: int, b_hi: int) -> _Range:
        """Take what is equal at both ends."""
        a, b = self.a, self.b
        while a_lo < a_hi and b_lo < b_hi and a[a_lo] == b[b_lo]:
            self.found.append((a_lo, b_lo))
            a_lo, b_lo = a_lo + 1, b_lo + 1
        while a_lo < a_hi and b_lo < b_hi and a[a_hi - 1] == b[b_hi - 1]:
            a_hi, b_hi = a_hi - 1, b_hi - 1
            self.found.append((a_hi, b_hi))
        return a_lo, a_hi, b_lo, b_hi

    def _anchors(
        self, a_lo: int, a_hi: int, b_lo: int, b_hi: int, *, width: int
    ) -> list[tuple[int, int]]:
        """The longest rising row of elements (or of `width` in a row) that occur once per side."""
        rows_a, rows_b = _rows(self.a[a_lo:a_hi], width), _rows(self.b[b_lo:b_hi], width)
        in_a, in_b = Counter(rows_a), Counter(rows_b)
        place = {row: j for j, row in enumerate(rows_b, b_lo) if in_b[row] == 1}
        return _rising(
            [(i, place[r]) for i, r in enumerate(rows_a, a_lo) if in_a[r] == 1 and r in place]
        )

    def _myers(self, a_lo: int, a_hi: int, b_lo: int, b_hi: int) -> None:
        a, b, n, m = self.a, self.b, a_hi - a_lo, b_hi - b_lo
        if set(a[a_lo:a_hi]).isdisjoint(b[b_lo:b_hi]):
            return
        far = {1: 0}
        history: list[dict[int, int]] = []
        for d in range(min(n + m, _MOST_DIFFERENCES) + 1):
            history.append(dict(far))
            self.steps += 2 * d + 1
            for k in range(-d, d + 1, 2):
                down = k == -d or (k != d and far[k - 1] < far[k + 1])
                x = far[k + 1] if down else far[k - 1] + 1
                start = x
                while x < n and x - k < m and a[a_lo + x] == b[b_lo + x - k]:
                    x += 1
                self.steps += x - start
                far[k] = x
                if x >= n and x - k >= m:
                    self._walk_back(history, x, x - k, (a_lo, b_lo))
                    return
            if self.steps > _MOST_STEPS:
                return

    def _walk_back(
        self, history: list[dict[int, int]], x: int, y: int, origin: tuple[int, int]
    ) -> None:
        for d in range(len(history) - 1, -1, -1):
            far, k = history[d], x - y
            down = k == -d or (k != d and far[k - 1] < far[k + 1])
            before = k + 1 if down else k - 1
            x_before = far[before]
            y_before = x_before - before
            x_turn = x_before if down else x_before + 1
            while x > x_turn and y > 0 and x > 0:
                x, y = x - 1, y - 1
                self.found.append((origin[0] + x, origin[1] + y))
            x, y = x_before, y_before


def _rows(items: Sequence[Hashable], width: int) -> Sequence[Hashable]:
    if width == 1:
        return items
    return list(zip(*(items[n:] for n in range(width)), strict=False))


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest subsequence whose second items rise (the first ones do already)."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for number, (_, j) in enumerate(pairs):
        at = bisect_left(tails, j)
        before.append(ends[at - 1] if at else -1)
        tails[at : at + 1] = [j]
        ends[at : at + 1] = [number]
    row: list[tuple[int, int]] = []
    number = ends[-1] if ends else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]
