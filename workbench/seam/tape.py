"""The recorded entries of a trace, found again and each served once.

Entries are looked up by kind, step and request hash, first in, first out. Nothing is parsed for
that but the heads of their lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING

from workbench.seam.cut import Cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.seam.calls import Call
    from workbench.trace.trace import Entry, Trace

Key = tuple[str, str, str]


class Tape:
    """What of a trace is still to be served."""

    def __init__(
        self, trace: Trace | None, digests: dict[str, str] | None = None, cut: Cut | None = None
    ) -> None:
        self._cut = cut or Cut()
        self._before: Counter[str] = Counter()
        self.entries: list[Entry] = []
        self._by_hash: dict[Key, deque[Entry]] = defaultdict(deque)
        self._by_step: dict[tuple[str, str], deque[Entry]] = defaultdict(deque)
        self._inside: dict[str, list[Entry]] = defaultdict(list)
        self._gone: set[str] = set()
        self.served: set[str] = set()
        self._digests = digests or {}
        for entry in trace.entries if trace is not None else ():
            if entry.kind in ("model", "tool"):
                self._add(entry)

    def _add(self, entry: Entry) -> None:
        self.entries.append(entry)
        digest = self.digest(entry)
        if digest is not None:
            self._by_hash[entry.kind, entry.step, digest].append(entry)
        self._by_step[entry.kind, entry.step].append(entry)
        if not entry.open and self._cut.why(entry) is None:
            self._before[entry.step] += 1
        if entry.enclosing:
            self._inside[entry.enclosing].append(entry)

    def digest(self, entry: Entry) -> str | None:
        """The hash by which an entry is found; None for one written by hand without a hash."""
        return self._digests.get(entry.id) or entry.hash

    def find(self, call: Call, digest: str) -> Entry | None:
        """The entry that would answer a call; consumes nothing.

        Among those with the same hash the first that travelled the same way (streamed or not),
        else the first. An entry without a hash, written by hand, answers by its order in its step.
        """
        queue = self._by_hash.get((call.kind, call.step, digest))
        if queue:
            other: Entry | None = None
            for entry in queue:
                if entry.id in self._gone or entry.open:
                    continue
                if bool(entry.stream) == call.stream:
                    return entry
                other = other or entry
            if other is not None:
                return other
        following = self.next_in_step(call)
        if following is not None and self.digest(following) is None:
            return following
        return None

    def next_in_step(self, call: Call) -> Entry | None:
        """The next entry of the call's kind, step and tool, whatever its request."""
        for entry in self._by_step.get((call.kind, call.step), ()):
            if entry.id in self._gone or entry.open:
                continue
            if call.kind == "tool" and entry.name != call.name:
                continue
            return entry
        return None

    def consume(self, entry: Entry) -> None:
        """Mark an entry as served, and with it the calls that it enclosed."""
        self.served.add(entry.id)
        self._drop(entry)
        for inner in self._inside.get(entry.id, ()):
            self.consume(inner)

    def take(self, entry: Entry) -> None:
        """Mark an entry as used by a call that runs; the calls inside it are still to come."""
        self.served.add(entry.id)
        self._drop(entry)

    def discard(self, entry: Entry) -> None:
        """Take an entry out, neither served nor left over: an edit made it void."""
        self._drop(entry)
        self.served.discard(entry.id)
        for inner in self._inside.get(entry.id, ()):
            self.discard(inner)

    def waits_before_cut(self, step: str) -> bool:
        """Whether a step still has recorded calls to be served before the run goes live."""
        return self._before[step] > 0

    def _drop(self, entry: Entry) -> None:
        if entry.id not in self._gone and not entry.open and self._cut.why(entry) is None:
            self._before[entry.step] -= 1
        self._gone.add(entry.id)
        digest = self.digest(entry)
        queues = [self._by_step[entry.kind, entry.step]]
        if digest is not None:
            queues.append(self._by_hash[entry.kind, entry.step, digest])
        for queue in queues:
            while queue and queue[0].id in self._gone:
                queue.popleft()

    def waiting(self) -> Iterator[Entry]:
        """Entries that are neither served nor void, in order."""
        return (each for each in self.entries if each.id not in self._gone)

    def gone(self, entry: Entry) -> bool:
        """Whether an entry was served or made void."""
        return entry.id in self._gone

    def same(self, kind: str, digest: str) -> list[Entry]:
        """All entries with that hash, served ones too, in any step: for explaining a miss."""
        return [each for each in self.entries if each.kind == kind and self.digest(each) == digest]


def leftover(tape: Tape, live: Iterable[str]) -> list[Entry]:
    """Recorded calls that were never made, less those that were to run live anyway."""
    skip = set(live)
    return [each for each in tape.waiting() if each.id not in skip and not each.open]
