"""Entry ids to entry numbers in little memory, since ids are nearly always ``writer-n``."""

from __future__ import annotations

import re
from array import array

_NUMBERED = re.compile(r"([0-9A-Za-z]+)-([1-9][0-9]{0,8})\Z", re.ASCII)
_GAP = 1000


class Ids:
    """Finds an entry by its id. Numbers that follow each other take four bytes each."""

    def __init__(self) -> None:
        self._numbered: dict[bytes, array[int]] = {}
        self.other: dict[bytes, int] = {}
        """The ids of another form, or with numbers far from the others."""

    def table(self, writer: bytes) -> array[int]:
        """A writer's entries by number; -1 where there is none (number 0 never is)."""
        table = self._numbered.get(writer)
        if table is None:
            table = self._numbered[writer] = array("i", (-1,))
        return table

    def add_numbered(self, writer: bytes, number: int, entry: int) -> bool:
        """Add ``writer-number``; False when it is there already."""
        table = self.table(writer)
        here = len(table)
        if number == here:
            # It may have been added out of turn, when the gap before it was too wide.
            if self.other and b"%b-%d" % (writer, number) in self.other:
                return False
            table.append(entry)
            return True
        if number < here:
            if table[number] >= 0 or b"%b-%d" % (writer, number) in self.other:
                return False
            table[number] = entry
            return True
        if number - here > _GAP:
            return self.add(b"%b-%d" % (writer, number), entry)
        table.extend([-1] * (number - here))
        return self.add_numbered(writer, number, entry)

    def find_numbered(self, writer: bytes, number: int) -> int:
        """The entry ``writer-number``, or -1."""
        table = self._numbered.get(writer)
        if table is not None and number < len(table) and table[number] >= 0:
            return table[number]
        return self.other.get(b"%b-%d" % (writer, number), -1)

    def add(self, name: bytes, entry: int) -> bool:
        """Add any other id; False when it is there already."""
        if name in self.other:
            return False
        self.other[name] = entry
        return True

    def find(self, name: bytes) -> int:
        """The entry of any other id, or -1."""
        return self.other.get(name, -1)

    def add_text(self, name: str, entry: int) -> bool:
        """Add an id of any form; False when it is there already."""
        found = _NUMBERED.match(name)
        if found:
            return self.add_numbered(found[1].encode(), int(found[2]), entry)
        return self.add(name.encode("utf-8", "surrogatepass"), entry)

    def find_text(self, name: str) -> int:
        """The entry with an id of any form, or -1."""
        found = _NUMBERED.match(name)
        if found:
            return self.find_numbered(found[1].encode(), int(found[2]))
        return self.find(name.encode("utf-8", "surrogatepass"))
