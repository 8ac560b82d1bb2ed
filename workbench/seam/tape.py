"""The recorded entries of a trace, found again and each served once.

Entries are looked up by kind, step and request hash, first in, first out; or, by position, in the
order in which they were recorded. Nothing is parsed for that but the heads of their lines.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError
from workbench.seam.cut import Cut
from workbench.seam.nearest import named
from workbench.seam.taped import KINDS, Taped, calls_of
from workbench.trace.byhand.foreign import matches
from workbench.trace.canonical import digest as digest_of
from workbench.trace.canonical import request_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.seam.calls import Call, Match, Ticket
    from workbench.trace.redaction import Redactor
    from workbench.trace.trace import Entry, Trace

__all__ = ["KINDS", "Tape", "leftover", "tool_arguments_fit"]

Key = tuple[str, str, str]


class Tape:
    """What of a trace is still to be served.

    Args:
        trace: what was recorded.
        digests: hashes that hold instead of the recorded ones, by entry.
        cut: which entries run live.
        match: how an entry is found.
    """

    def __init__(
        self,
        trace: Trace | None,
        digests: dict[str, str] | None = None,
        cut: Cut | None = None,
        match: Match = "hash",
    ) -> None:
        self._cut = cut or Cut()
        self.by_position = match == "position"
        self._before: Counter[str] = Counter()
        self.entries: list[Taped] = []
        self._by_hash: dict[Key, list[Taped]] = {}
        self._by_step: dict[tuple[str, str], deque[Taped]] = defaultdict(deque)
        self._inside: dict[str, list[Taped]] = {}
        self._gone: set[str] = set()
        self._failed: set[str] = set()  # a fault hit the call: it may come again, or not
        self.served: set[str] = set()
        self._digests = digests or {}
        self._place = 0
        for entry in calls_of(trace) if trace is not None else ():
            self._add(entry)

    def _add(self, entry: Taped) -> None:
        self.entries.append(entry)
        digest = self.digest(entry) if self._digests or entry.hash is None else entry.hash
        if digest is not None:
            self._by_hash.setdefault((entry.kind, entry.step, digest), []).append(entry)
        self._by_step[entry.kind, entry.step].append(entry)
        if not entry.open and not entry.repeat and self._cut.why(entry) is None:
            self._before[entry.step] += 1
        if entry.enclosing:
            self._inside.setdefault(entry.enclosing, []).append(entry)

    def digest(self, entry: Entry) -> str | None:
        """The hash by which an entry is found; None for one written by hand without a hash."""
        known = self._digests.get(entry.id) or entry.hash
        if known is None and entry.kind == "event":  # it says all there is to compare
            try:
                known = request_hash("event", None, entry.request)
            except TraceError:
                return None
            self._digests[entry.id] = known
        return known

    def waits_for(self, kind: str, step: str, digest: str) -> list[Taped] | None:
        """The entries with a hash of which the first is still to be served, in their order."""
        return self._by_hash.get((kind, step, digest))

    def inside(self, entry_id: str) -> list[Taped]:
        """The calls that were made inside a call."""
        return self._inside.get(entry_id, [])

    def alone(self, entry: Entry) -> bool:
        """Whether an entry is still to be served, and no call was made inside it."""
        return entry.id not in self._gone and entry.id not in self._inside

    def consume_first(self, entry: Taped, same: list[Taped]) -> None:
        """:meth:`consume` for a plain entry that is the first of those with its hash, and
        :meth:`alone`, where nothing is cut."""
        name, gone = entry.id, self._gone
        self.served.add(name)
        gone.add(name)
        self._before[entry.step] -= 1
        row = self._by_step[entry.kind, entry.step]
        while row and row[0].id in gone:
            row.popleft()
        while same and same[0].id in gone:
            del same[0]

    def find(self, call: Call, digest: str, request: Any) -> Entry | None:
        """The entry that would answer a call; consumes nothing.

        Among those with the same hash the first that travelled the same way (streamed or not),
        else the first. An entry without a hash, written by hand, answers by its order in its step,
        unless it has a hash of the system that it comes from, which the request does not have.
        """
        if self.by_position:
            following = self.next_in_place()
            fits = following is not None and self._fits(following, call, digest, request)
            return following if fits else None
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
        return self._by_hand(call, request)

    def _by_hand(self, call: Call, request: Any) -> Entry | None:
        """The next entry of the step if it was written by hand; of several in a row the first
        whose request another system's hash does not tell to be another one."""
        for entry in self._by_step.get((call.kind, call.step), ()):
            if entry.id in self._gone or entry.open or not self._same_name(entry, call):
                continue
            if self.digest(entry) is not None:
                return None
            if call.kind != "model":
                if tool_arguments_fit(entry, request):
                    return entry
            elif matches(entry, request, api=call.api, step=call.step) is not False:
                return entry
        return None

    def _same_name(self, entry: Entry, call: Call) -> bool:
        return call.kind == "model" or named(entry) == call.name

    def _fits(self, entry: Entry, call: Call, digest: str, request: Any) -> bool:  # noqa: ARG002
        if entry.kind != call.kind or named(entry) != call.name or entry.step != call.step:
            return False
        known = self.digest(entry)
        return known is None or known == digest

    def next_in_place(self) -> Taped | None:
        """The first entry of the whole trace that is neither served nor void."""
        while self._place < len(self.entries):
            entry = self.entries[self._place]
            if entry.id not in self._gone and not entry.open:
                return entry
            self._place += 1
        return None

    def rotated(self, ticket: Ticket, redactor: Redactor) -> Entry | None:
        """The one entry whose request differs in nothing but in what stands for a secret."""
        call = ticket.call
        if not redactor.placeholders(ticket.request):
            return None
        found = []
        for entry in self._by_step.get((call.kind, call.step), ()):
            if entry.id in self._gone or entry.open or named(entry) != call.name:
                continue
            try:
                if redactor.same_but_placeholders(entry.request, ticket.request):
                    found.append(entry)
            except TraceError:
                continue
        return found[0] if len(found) == 1 else None

    def next_in_step(self, call: Call) -> Entry | None:
        """The next entry of the call's kind, step and tool, whatever its request."""
        for entry in self._by_step.get((call.kind, call.step), ()):
            if entry.id in self._gone or entry.open:
                continue
            if self._same_name(entry, call):
                return entry
        return None

    def following(self, call: Call) -> Entry | None:
        """What a lenient replay serves to a call that nothing recorded fits."""
        if self.by_position:
            entry = self.next_in_place()
            same = entry is not None and entry.kind == call.kind
            if entry is not None and same and (call.kind == "model" or named(entry) == call.name):
                return entry
        return self.next_in_step(call) or self._last_by_hand(call)

    def _last_by_hand(self, call: Call) -> Entry | None:
        """The last turn of the step, which a list written by hand repeats once it runs out."""
        for entry in reversed(self.entries if call.kind == "model" else ()):
            if entry.kind == "model" and entry.step == call.step:
                return entry if entry.source == "hand" else None
        return None

    def consume(self, entry: Entry) -> None:
        """Mark an entry as served, and with it the calls that it enclosed."""
        self.served.add(entry.id)
        if entry.repeat:
            return  # it is served as often as it is asked for
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

    def give_back(self, entry: Entry) -> None:
        """Take back that an entry was served: a fault kept it from the agent, and a retry of the
        call is to get it."""
        self.served.discard(entry.id)
        if entry.id not in self._gone:
            return
        self._gone.discard(entry.id)
        self._failed.discard(entry.id)
        if self._counts(entry):
            self._before[entry.step] += 1
        place = next(n for n, each in enumerate(self.entries) if each.id == entry.id)
        taped, row = self.entries[place], self._by_step[entry.kind, entry.step]
        if taped not in row:
            row.appendleft(taped)
        same = self._by_hash.get((entry.kind, entry.step, str(self.digest(entry))))
        if same is not None and taped not in same:
            same.insert(0, taped)
        self._place = min(self._place, place)
        for inner in self._inside.get(entry.id, ()):
            self.give_back(inner)

    def waits_before_cut(self, step: str) -> bool:
        """Whether a step still has recorded calls to be served before the run goes live."""
        return self._before[step] > 0

    def failed(self, entry: Entry) -> None:
        """A fault hit a call: a run that goes live after it does not wait for a retry."""
        if self._counts(entry):
            self._before[entry.step] -= 1
        self._failed.add(entry.id)

    def _counts(self, entry: Entry) -> bool:
        known = entry.id in self._gone or entry.id in self._failed
        return not known and not entry.open and self._cut.why(entry) is None

    def _drop(self, entry: Entry) -> None:
        if self._counts(entry):
            self._before[entry.step] -= 1
        self._gone.add(entry.id)
        digest = self.digest(entry)
        gone, row = self._gone, self._by_step[entry.kind, entry.step]
        while row and row[0].id in gone:
            row.popleft()
        same = self._by_hash.get((entry.kind, entry.step, str(digest)), [])
        while same and same[0].id in gone:
            del same[0]

    def waiting(self) -> Iterator[Entry]:
        """Entries that are neither served nor void, in order."""
        return (each for each in self.entries if each.id not in self._gone)

    def gone(self, entry: Entry) -> bool:
        """Whether an entry was served or made void."""
        return entry.id in self._gone

    def is_gone(self, entry_id: str) -> bool:
        """The same, by an entry's id."""
        return entry_id in self._gone

    def same(self, kind: str, digest: str) -> list[Entry]:
        """All entries with that hash, served ones too, in any step: for explaining a miss."""
        return [each for each in self.entries if each.kind == kind and self.digest(each) == digest]


def tool_arguments_fit(entry: Entry, request: Any) -> bool:
    """Whether a tool call that was written by hand is this one; it may leave its arguments out."""
    recorded = entry.request
    if not isinstance(recorded, dict) or "arguments" not in recorded:
        return True
    asked = request.get("arguments") if isinstance(request, dict) else None
    return digest_of(recorded["arguments"]) == digest_of(asked)


def leftover(tape: Tape, live: Iterable[str]) -> list[Entry]:
    """Recorded calls that were never made, less those that were to run live anyway."""
    skip = set(live)
    return [
        each
        for each in tape.waiting()
        if each.id not in skip
        and not each.open
        and each.id not in tape.served
        and not (each.kind == "event" and each.source == "hand")  # the log of another system
    ]
