"""Putting bodies together again: blobs put back, shared beginnings of conversations rebuilt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.errors import UnavailableError
from workbench.trace.blobs import Blobs, Filler
from workbench.trace.lines import Lines, may_hold_tags
from workbench.trace.payloads import has_view, view
from workbench.trace.values import decode, dumps, loads

_KEPT = 256
_EVERY = 64


class Bodies:
    """The heavy fields of a trace's lines, complete."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._index = lines.index
        self._blobs = Blobs(lines)
        # By entry, the conversation of its request: the JSON of each item, as stored.
        self._conversations: dict[int, list[bytes]] = {}

    def stored(self, line: int) -> Any:
        """A line's heavy field as an encoded value, with its blobs put back.

        Raises:
            UnavailableError: the line, or a blob that it needs, is damaged or missing, or the
                blobs make it too large (:data:`workbench.trace.blobs.MAX_EXPANDED`).
        """
        value, tags = self._lines.heavy(line)
        return self.put_back(value, line) if tags else value

    def decoded(self, line: int) -> Any:
        """A line's heavy field, decoded. Raises as :meth:`stored`, and as ``values.decode``."""
        value, tags = self._lines.heavy(line)
        return decode(self.put_back(value, line)) if tags else value

    def put_back(self, value: Any, line: int) -> Any:
        """An encoded value with blobs in place of the references to them.

        Raises:
            UnavailableError: as :meth:`Filler.fill` does.
        """
        return self._filler(line).fill(value)

    def _filler(self, line: int) -> Filler:
        return Filler(self._blobs, line, self._lines.place(line))

    def request(self, entry: int, *, raw: bool) -> Any:
        """What a call asked for, complete and made anew at each call.

        Args:
            entry: the call's entry.
            raw: as stored, with tags, instead of decoded.

        Raises:
            UnavailableError: a line that it is made of is damaged or missing.
        """
        line = self._index.calls[entry]
        value, tags = self._lines.heavy(line)
        path = self._path(line)
        holder = _holder(value, path)
        if holder is not None and self._lines.head(line).get("base") is not None:
            data = b"[" + b",".join(self.conversation(entry)) + b"]"
            holder[path[-1]] = loads(data)
            tags = tags or may_hold_tags(data)
        if not tags:
            return value
        value = self.put_back(value, line)
        return value if raw else decode(value)

    def own_items(self, entry: int) -> tuple[int, list[Any]]:
        """How many items a conversation shares with an earlier one, and its own items, decoded."""
        line = self._index.calls[entry]
        own = self._own(entry)
        items = [loads(data) for data in own]
        if any(map(may_hold_tags, own)):
            filler = self._filler(line)
            items = [decode(filler.fill(item)) for item in items]
        return shared_count(self._lines.head(line)), items

    def parts(self, entry: int, gap: str) -> tuple[Any, list[Any], tuple[int, int] | None] | None:
        """A request in parts, decoded: nothing of an earlier one is read for it.

        Returns:
            The request with ``gap`` in place of its conversation; the items that its line holds
            itself; and the entry whose conversation comes before these, with how many items of
            it. None for a request without a conversation.

        Raises:
            UnavailableError: the line is damaged, or a blob that it needs.
        """
        line = self._index.calls[entry]
        value, tags = self._lines.heavy(line)
        path = self._path(line)
        holder = _holder(value, path)
        if holder is None:
            return None
        own, holder[path[-1]] = holder[path[-1]], gap
        if tags:
            filler = self._filler(line)
            value, own = decode(filler.fill(value)), decode(filler.fill(own))
        return value, own, self._base(entry)

    def conversation(self, entry: int) -> list[bytes]:
        """The JSON of each item of a call's conversation. It is shared: do not change it."""
        chain: list[tuple[int, int, list[bytes]]] = []
        at = entry
        while at not in self._conversations:
            base = self._base(at)
            chain.append((at, base[1] if base else 0, self._own(at)))
            if base is None:
                break
            at = base[0]
        items = list(self._conversations.get(at, ()))
        for link, (call, shared, own) in enumerate(reversed(chain), start=1):
            if shared > len(items):
                raise UnavailableError(
                    f"{self._lines.place(self._index.calls[call])} continues {shared} items of an "
                    f"earlier conversation that has only {len(items)}; its request is lost"
                )
            del items[shared:]
            items += own
            if link % _EVERY == 0 or link == len(chain):
                self._keep(call, list(items))
        return items

    def _keep(self, entry: int, items: list[bytes]) -> None:
        while len(self._conversations) >= _KEPT:
            del self._conversations[next(iter(self._conversations))]
        self._conversations[entry] = items

    def _own(self, entry: int) -> list[bytes]:
        """The items that a call's line holds itself."""
        line = self._index.calls[entry]
        value, _ = self._lines.heavy(line)
        path = self._path(line)
        holder = _holder(value, path)
        return [dumps(item) for item in holder[path[-1]]] if holder is not None else []

    def _base(self, entry: int) -> tuple[int, int] | None:
        """The entry that a conversation continues, and how many items of it."""
        line = self._index.calls[entry]
        base = self._lines.head(line).get("base")
        if base is None:
            return None
        if not (
            isinstance(base, list)
            and len(base) == 2
            and isinstance(base[0], str)
            and isinstance(base[1], int)
            and base[1] >= 0
        ):
            raise UnavailableError(f"{self._lines.place(line)}: base is {base!r}, not [call id, n]")
        found = self._index.ids.find_text(base[0])
        if not 0 <= found < entry:
            raise UnavailableError(
                f"{self._lines.place(line)} continues the conversation of the call {base[0]}, and "
                "the line of that call is missing or damaged; its request is lost, its reply is not"
            )
        return found, base[1]

    def _path(self, line: int) -> Sequence[str]:
        api = self._lines.head(line).get("api")
        return view(api).conversation_path if isinstance(api, str) and has_view(api) else ()


def shared_count(head: dict[str, Any]) -> int:
    """How many items a call's conversation shares with an earlier one, by its line's head."""
    base = head.get("base")
    if not isinstance(base, list) or len(base) != 2 or not isinstance(base[1], int):
        return 0
    return base[1]


def _holder(value: Any, path: Sequence[str]) -> dict[str, Any] | None:
    """The object that has the conversation; None where there is none."""
    for key in path[:-1]:
        value = value.get(key) if isinstance(value, dict) else None
    if not path or not isinstance(value, dict) or not isinstance(value.get(path[-1]), list):
        return None
    return value
