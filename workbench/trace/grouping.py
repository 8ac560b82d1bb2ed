"""Which entries make up which turn, from what the scan of the file found."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from workbench.trace.index import MODEL, TOOL
from workbench.trace.lazy import LazySequence
from workbench.trace.turns import ERROR, FAULT, OPEN, flags_of

if TYPE_CHECKING:
    from workbench.trace.trace import Trace


class TurnTable:
    """The turns of a trace, in a few numbers for each: a trace can have millions of them."""

    def __init__(self, entries: int) -> None:
        self.numbers = array("i", (0,)) * entries
        """The number of the turn that each entry belongs to; 0 for none."""
        self._firsts = array("i")
        self._more: dict[int, tuple[int, ...]] = {}
        self._tools: tuple[array[int], array[int]] = array("i"), array("i")

    def __len__(self) -> int:
        """How many turns there are."""
        return len(self._firsts)

    @property
    def models(self) -> Sequence[tuple[int, ...]]:
        """For each turn its model entries."""
        return LazySequence(range(len(self)), self.models_of)

    def models_of(self, place: int) -> tuple[int, ...]:
        """The model entries of the turn at that place, counted from 0."""
        return (self._firsts[place], *self._more.get(place, ()))

    def tools_of(self, place: int) -> tuple[int, ...]:
        """The tool entries of the turn at that place, counted from 0."""
        turns, entries = self._tools
        first = bisect_left(turns, place)
        return tuple(entries[first : bisect_left(turns, place + 1, first)])

    def begin(self, entry: int) -> int:
        """A turn begins with that model entry; gives its number."""
        self._firsts.append(entry)
        self.numbers[entry] = len(self._firsts)
        return len(self._firsts)

    def try_again(self, number: int, entry: int) -> None:
        """One more attempt of a turn's model call."""
        self.numbers[entry] = number
        self._more[number - 1] = (*self._more.get(number - 1, ()), entry)

    def put_tools(self, entries: array[int]) -> None:
        """Where each tool entry belongs is known."""
        turns = array("i", (self.numbers[entry] - 1 for entry in entries))
        if any(before > after for before, after in pairwise(turns)):
            order = sorted(range(len(turns)), key=turns.__getitem__)  # stable: starts stay in order
            turns, entries = (array("i", map(each.__getitem__, order)) for each in (turns, entries))
        self._tools = turns, entries


def group(trace: Trace) -> TurnTable:
    """Put the entries of a trace into turns."""
    index = trace.index
    table = TurnTable(len(index.calls))
    numbers, askers, places = table.numbers, index.askers, index.places
    begin, again = table.begin, set(index.again)
    last_in: dict[int, int] = {}  # the latest turn by step and enclosing call
    last = 0
    tools = array("i")
    for entry, kind in enumerate(index.entry_kinds()):
        if kind == MODEL:
            place = places[entry]
            number = last_in.get(place, 0) if entry in again else 0
            if number and _is_retry(trace, table.models_of(number - 1), entry):
                table.try_again(number, entry)
            else:
                number = begin(entry)
            last = last_in[place] = number
        elif kind == TOOL:
            asker = askers[entry]
            number = numbers[asker] if asker >= 0 else 0
            number = number or last_in.get(places[entry], last)
            if number:
                numbers[entry] = number
                tools.append(entry)
    table.put_tools(tools)
    return table


def _is_retry(trace: Trace, before: tuple[int, ...], entry: int) -> bool:
    """Whether a model entry asks again what a failed one had asked."""
    lines, index = trace.lines, trace.index
    result = index.results[before[-1]]
    outcome = lines.read_head(result) if result >= 0 else None
    if not flags_of(outcome) & (ERROR | FAULT | OPEN):
        return False
    first, this = (lines.read_head(index.calls[each]) for each in (before[0], entry))
    return bool(first.get("hash") == this.get("hash"))
