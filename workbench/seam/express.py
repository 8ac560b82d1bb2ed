"""The short way of a replay: a plain call that was recorded like that, where nothing was changed.

Such a call needs no decision but one: is its very answer there, and is it its turn? Whatever else
may play a part (edits, faults, a cut, streams, failures, waits) goes the whole way through
:class:`~workbench.seam.session.Session`, which gives the same for the calls that are taken here.
"""

from __future__ import annotations

from collections import deque
from time import time
from typing import TYPE_CHECKING, Any

from workbench.seam.calls import MISSING
from workbench.seam.current import ENCLOSING, LAST_MODEL, call_place, current_step
from workbench.seam.guard import KEPT_THERE
from workbench.seam.hits import Hit, lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.seam.calls import Call
    from workbench.seam.session import Session
    from workbench.seam.setting import Setting
    from workbench.trace.entries import BaseLine


class Express:
    """Answers plain calls of one session at once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.possible = _nothing_changes(session.setting)
        """Whether there may be such calls at all."""
        self._waiting: deque[Hit] = deque()
        """Calls whose lines nobody has looked at yet."""

    def answer(self, call: Call) -> tuple[str, Any] | None:
        """The new id of a call and its recorded response; None if it must go the whole way, and
        then nothing has happened yet. To be asked under the session's lock."""
        session, kind = self._session, call.kind
        if call.stream or session.stopped is not None or session.drift is not None:
            return None
        if kind not in ("model", "tool") or session.guard.wrote:
            return None
        call.digest = digest = session.tickets.hasher(call).whole(kind, call.api, call.request)
        if digest is None:
            return None
        call.step = call.step or current_step()
        same = session.tape.waits_for(kind, call.step, digest)
        if not same:
            return None
        entry = same[0]
        if not entry.plain or entry.api != call.api or not session.tape.alone(entry):
            return None
        if entry.api in KEPT_THERE and not session.setting.offline:
            return None  # what was replayed of it must not be named by a call that goes live
        if entry.id in session.setting.pins.inside:
            return None
        response = entry.plain_response()
        if response is MISSING or not session.handing.order.passes(entry):
            return None
        call.enclosing = call.enclosing or ENCLOSING.get()
        if kind == "tool":
            call.asked_by = call.asked_by or LAST_MODEL.get()
        session.tickets.inside.until(entry.line)
        tried = session.tickets.tries.begin(call, digest)
        session.tape.consume_first(entry, same)
        name, place = session.setting.journal.new_id(), call_place(3)
        call.request = None
        hit = Hit(name, entry, call, place, tried.turn, tried.calls - 1, tried.attempt, time())
        self._waiting.append(hit)
        session.setting.journal.later(self._lines)
        session.ledger.hit(hit)
        return name, response

    def _lines(self) -> Iterator[BaseLine]:
        while self._waiting:
            yield from lines_of(self._waiting.popleft(), self._session)


def _nothing_changes(setting: Setting) -> bool:
    """Whether a session replays a whole recording as it is, in memory."""
    policy, parent = setting.policy, setting.parent
    if parent is None or setting.taped is not parent or setting.recording or setting.keeps:
        return False
    if parent.notices:  # what is damaged may be needed for the lines that are made later
        return False
    if setting.edits or setting.requests or setting.faults.unfired():
        return False
    if setting.cut.is_set or setting.cut.forced or policy.breakpoints:
        return False
    if policy.match != "hash" or policy.tools_before != "replay" or policy.latency is not None:
        return False
    return parent.header.requests == "full" and setting.journal.path is None
