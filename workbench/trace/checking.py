"""Checking a whole trace: every line against its model, every request against its hash."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from workbench.errors import TraceError, UnavailableError
from workbench.trace.canonical import canonical, identity
from workbench.trace.entries import LINE
from workbench.trace.notices import Notice
from workbench.trace.payloads import view
from workbench.trace.scan import BAD, MODEL, OTHER

if TYPE_CHECKING:
    from workbench.trace.trace import Entry, Trace


def check_lines(trace: Trace) -> list[Notice]:
    """The lines that are not what the format says."""
    found = []
    for line, kind in enumerate(trace.index.kinds):
        if kind in (BAD, OTHER):
            continue  # found when the file was opened
        try:
            LINE.validate_python(trace.lines.whole(line))
        except ValidationError as error:
            found.append(Notice(first_problem(error), line + 1))
        except UnavailableError:
            continue  # noted as it was read
    return found


def check_requests(trace: Trace) -> list[Notice]:
    """The calls whose request cannot be put together, or has another hash than was recorded."""
    found = []
    hashes = _Hashes(trace)
    for place, entry in enumerate(trace.entries):
        try:
            if not hashes.fits(place, entry) and entry.verify() is False:
                message = "the request does not have the hash that was recorded"
                found.append(Notice(message, entry.line))
        except TraceError as error:
            found.append(Notice(str(error), entry.line))
    return found


@dataclass(slots=True)
class _State:
    """How far the hash of a request is, when all items of its conversation went in."""

    head: bytes
    """What comes before the conversation, in canonical form."""
    count: int
    hash: Any


class _Hashes:
    """The hashes of requests that continue each other, each made by going on with another one.

    A request's canonical form is what comes before its conversation, the items, and what comes
    after. So the state of one hash, after the items, is where that of the next request begins,
    and no item of a long conversation is read twice.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._states: dict[int, _State] = {}
        self._gap = os.urandom(16).hex()  # no trace holds it

    def fits(self, place: int, entry: Entry) -> bool:
        """Whether the request has the hash that was recorded. If not, check it as a whole: an
        ignore rule that reaches into the conversation is not known here.

        Raises:
            TraceError: the request cannot be put together.
        """
        if self._trace.index.kind(place) != MODEL or entry.hash is None:
            return False
        parts = self._trace.bodies.parts(place, self._gap)
        if parts is None:
            return False
        request, own, base = parts
        whole = canonical(identity("model", entry.api, request, entry.ignored))
        head, gap, tail = whole.partition(b'"%b"' % self._gap.encode())
        if not gap:
            return False
        state = self._state(entry, head, own, base)
        self._states[place] = state
        found = state.hash.copy()
        found.update(b"]" + tail)
        return bool(found.hexdigest() == entry.hash)

    def _state(
        self, entry: Entry, head: bytes, own: list[Any], base: tuple[int, int] | None
    ) -> _State:
        before = self._states.get(base[0]) if base is not None else None
        if (
            before is not None
            and base is not None
            and (before.head, before.count) == (head, base[1])
        ):
            state = _State(before.head, before.count, before.hash.copy())
        else:
            state = _State(head, 0, hashlib.sha256(head + b"["))
            own = own if base is None else _items(entry)
        for item in own:
            state.hash.update((b"," if state.count else b"") + canonical(item))
            state.count += 1
        return state


def _items(entry: Entry) -> list[Any]:
    value = entry.request
    for key in view(entry.api or "").conversation_path:
        value = value[key]
    return list(value)


def first_problem(error: ValidationError) -> str:
    """What a validation found first: the field, and what is wrong with it."""
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])
