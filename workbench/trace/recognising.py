"""Recognising the lines of a large trace by their first bytes, a block of them at once.

A trace can have millions of lines, so what can be done for a whole block is done without a step
of Python for each line. Nothing is guessed: a line that does not begin exactly as a journal writes
it is parsed, and a writer's lines are recognised only once some of them were found to be so.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Sequence
from itertools import compress
from operator import ge, itemgetter, lt, not_
from typing import Any

from workbench.trace.index import (
    BAD,
    BLOB,
    CLOCK,
    EVENT,
    INPUT,
    MODEL,
    RESULT,
    TOOL,
    VALUE,
    Index,
)
from workbench.trace.values import loads

SINGLE = {"event": EVENT, "value": VALUE, "clock": CLOCK, "input": INPUT}
"""The lines that are an entry of their own."""

_SAMPLES = 20
_PLACES = 10_000
_HEAD = itemgetter(slice(192))
_LAST = itemgetter(slice(-1, None))
_LINES = re.compile(
    rb'\n\{"line":"([a-z]++(?:","(?:id|of|sha256))?+)"'
    rb'(?::"([0-9A-Za-z]++)-([1-9][0-9]{0,8}+)"'
    rb'(?:,"kind":"(model|tool)"(?:,"at":"[^"\\]*+")?+'
    rb'((?:,"(?:step|attempt|in)":(?:"[^"\\]*+"|[0-9]{1,9}+))*+)'
    rb'(?:,"asked_by":"([0-9A-Za-z]++)-([1-9][0-9]{0,8}+)")?+'
    rb'(?=,"(?!(?:at|step|attempt|in|asked_by)")[a-z_]++"|\}))?+)?+'
)
"""Each line that begins as a journal writes it, of many beginnings of lines put together."""
_FIRST = ("line", "id", "kind", "at", "step", "attempt", "in", "asked_by")
"""The order in which a journal writes the fields that are looked at."""

_CALL, _RESULT, _CHUNK, _BLOB = b'call","id', b'result","of', b'chunk","of', b'blob","sha256'
_SINGLES = {b'%b","id' % name.encode(): code for name, code in SINGLE.items()}
_PAIRS = {(_CALL, b"model"), (_CALL, b"tool"), (_RESULT, b"")}
_CODE = {b"model": MODEL, b"tool": TOOL, b"": RESULT}

_Found = tuple[bytes, bytes, bytes, bytes, bytes, bytes, bytes]


class Recogniser:
    """Takes blocks of lines into an index.

    Args:
        index: the index.
        parsed: takes one line by parsing it.
    """

    def __init__(self, index: Index, parsed: Callable[[bytes], None]) -> None:
        self.index = index
        self._parsed = parsed
        # A writer's entries by number, once its lines were found to be as a journal's.
        self._trusted: dict[bytes, array[int]] = {}
        self._samples: dict[str, int] = {}
        self._singles: dict[int, int] = {}
        self._places: dict[bytes, int] = {b"": 0}

    def take(self, lines: list[bytes]) -> bool:
        """Take a block of whole lines; False, with nothing changed, when they must be parsed."""
        # Only the beginnings: searching through what the lines carry would take far longer.
        found = _LINES.findall(b"\n" + b"\n".join(map(_HEAD, lines)))
        if len(found) != len(lines) or set(map(_LAST, lines)) != {b"}"}:
            return False
        if not self._at_once(found):
            self._one_by_one(found, lines)
        return True

    def sample(self, line: dict[str, Any]) -> bool:
        """A parsed line, by which its writer is known; False when it has an order of its own."""
        code = self.index.kinds[-1]
        self._singles[code] = self._singles.get(code, 0) + 1
        name = line.get("id")
        if line["line"] != "call" or not isinstance(name, str):
            return True
        if not _in_order(line):
            return False
        writer, dash, number = name.partition("-")
        if dash and number.isdecimal() and writer.isalnum() and writer.isascii():
            count = self._samples[writer] = self._samples.get(writer, 0) + 1
            if count == _SAMPLES:
                self._trusted[writer.encode()] = self.index.ids.table(writer.encode())
        return True

    def _at_once(self, found: list[_Found]) -> bool:
        """A block of nothing but calls and results of one writer, whose calls follow each other.

        Nothing here is done line by line in Python. False, with nothing changed, when the block is
        something else.
        """
        names, writers, numbers, kinds, *related = zip(*found, strict=True)
        index, writer = self.index, writers[0]
        table = self._trusted.get(writer)
        if table is None or index.ids.other or writers.count(writer) != len(writers):
            return False
        if not _PAIRS.issuperset(zip(names, kinds, strict=True)):
            return False
        line, entry, number = len(index.kinds), len(index.calls), len(table)
        lines, counted = range(line, line + len(found)), list(map(int, numbers))
        new = len(kinds) - kinds.count(b"")
        if list(compress(counted, kinds)) != list(range(number, number + new)):
            return False
        table.extend(range(entry, entry + new))
        index.calls.extend(compress(lines, kinds))
        index.results += array("q", (-1,)) * new
        place, *asked = (tuple(compress(each, kinds)) for each in related)
        ended = tuple(map(not_, kinds))
        if not (
            self._relate_at_once(table, writer, entry, place, *asked)
            and self._end_at_once(table, [*compress(counted, ended)], [*compress(lines, ended)])
        ):
            del table[number:], index.calls[entry:], index.results[entry:]
            del index.askers[entry:], index.places[entry:]
            return False
        index.kinds += bytes(map(_CODE.__getitem__, kinds))
        return True

    def _relate_at_once(
        self,
        table: array[int],
        writer: bytes,
        entry: int,
        places: Sequence[bytes],
        writers: Sequence[bytes],
        numbers: Sequence[bytes],
    ) -> bool:
        """How these entries hang together with others; False when it must be looked at."""
        if len(self._places) > _PLACES:
            self._places = {b"": 0}
        index, known = self.index, self._places
        if not all(self._known_place(place) for place in set(places).difference(known)):
            return False
        index.places.extend(map(known.__getitem__, places))
        if not {b"", writer}.issuperset(writers):
            return False
        try:
            asked = [table[int(number)] if number else -1 for number in numbers]
        except IndexError:
            return False
        if any(map(ge, asked, range(entry, entry + len(asked)))):
            return False
        index.askers.extend(asked)
        return True

    def _known_place(self, piece: bytes) -> bool:
        """Know the place that a piece of a line stands for; False for a further attempt."""
        place, again = self._place(piece)
        if not again:
            self._places[piece] = place
        return not again

    def _place(self, piece: bytes) -> tuple[int, bool]:
        """The place that a piece of a line stands for, and whether it is a further attempt."""
        fields: dict[str, Any] = loads(b"{%b}" % piece[1:])
        step, inside = (fields.get(each, "") for each in ("step", "in"))
        attempt = fields.get("attempt", 1)
        place = self.index.place(
            step if isinstance(step, str) else "", inside if isinstance(inside, str) else ""
        )
        return place, isinstance(attempt, int) and attempt > 1

    def _end_at_once(self, table: array[int], numbers: list[int], lines: list[int]) -> bool:
        """Results of these entries at these lines; False, with nothing changed, if one is wrong."""
        if not numbers:
            return True
        calls, results = self.index.calls, self.index.results
        if max(numbers) >= len(table) or len(set(numbers)) != len(numbers):
            return False
        entries = list(map(table.__getitem__, numbers))
        if min(entries) < 0 or max(map(results.__getitem__, entries)) >= 0:
            return False
        if not all(map(lt, map(calls.__getitem__, entries), lines)):
            return False
        for entry, line in zip(entries, lines, strict=True):
            results[entry] = line
        return True

    def _one_by_one(self, found: list[_Found], lines: list[bytes]) -> None:
        index, table, parsed = self.index, self._trusted.get, self._parsed
        kinds, results = index.kinds, index.results
        for at, (name, writer, number, kind, *related) in enumerate(found):
            numbers = table(writer)
            if numbers is None:
                if name == _BLOB and self._trusted:
                    index.blobs.append(len(kinds))
                    kinds.append(BLOB)
                else:
                    parsed(lines[at])
            elif kind:
                if len(numbers) == int(number) and not index.ids.other and name == _CALL:
                    numbers.append(len(index.calls))
                    index.add_entry(_CODE[kind])
                    self._relate(*related)
                else:
                    parsed(lines[at])
            elif name == _RESULT:
                entry = numbers[int(number)] if int(number) < len(numbers) else -1
                if entry >= 0 and results[entry] < 0:
                    results[entry] = len(kinds)
                    kinds.append(RESULT)
                else:
                    parsed(lines[at])
            elif not self._single(name, numbers, int(number)):
                parsed(lines[at])

    def _relate(self, place: bytes, writer: bytes, number: bytes) -> None:
        """How the latest entry hangs together with others."""
        index = self.index
        entry = len(index.calls) - 1
        if number:
            found = index.ids.find_numbered(writer, int(number))
            index.askers[entry] = found if found < entry else -1
        known = self._places.get(place)
        if known is None:
            known, again = self._place(place)
            if again:
                index.again.append(entry)
        index.places[entry] = known

    def _single(self, name: bytes, numbers: array[int], number: int) -> bool:
        """A chunk, or an entry of one line; False when it must be looked at."""
        index = self.index
        if name == _CHUNK:
            entry = numbers[number] if number < len(numbers) else -1
            if entry >= 0:
                index.add_chunk(entry)
            return entry >= 0
        code = _SINGLES.get(name, BAD)
        if self._singles.get(code, 0) < _SAMPLES or len(numbers) != number or index.ids.other:
            return False
        numbers.append(len(index.calls))
        index.add_entry(code)
        return True


def _in_order(line: dict[str, Any]) -> bool:
    """Whether the fields that are looked at come first, in a journal's order."""
    wanted = [name for name in _FIRST if name in line]
    return list(line)[: len(wanted)] == wanted
