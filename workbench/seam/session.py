"""The session: the one place where it is decided what becomes of a call.

It takes a call and gives a decision, takes an outcome and gives what the agent is to get. It does
no I/O but for the journal that it is given, and knows nothing of SDKs, asyncio or threads; whoever
drives it holds a lock. Recording, replaying and forking differ only in what it is made of: a tape
(what was recorded), a cut (what of it runs live), edits, faults and a policy.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

from workbench.errors import DriftError, StopRun
from workbench.seam.calls import (
    MISSING,
    Call,
    Decision,
    Fail,
    Hold,
    Outcome,
    Perform,
    Serve,
    Served,
    Ticket,
    Verdict,
)
from workbench.seam.current import LIVE_WRITE
from workbench.seam.explain import explain, lenient, other_result
from workbench.seam.express import Express
from workbench.seam.guard import Guard
from workbench.seam.handing import Handing
from workbench.seam.injecting import Injecting, outcome_as_served
from workbench.seam.inside import ended
from workbench.seam.ledger import Ledger
from workbench.seam.pins import Reading, unrecorded
from workbench.seam.reach import Reach
from workbench.seam.served import placeholder, serve_entry
from workbench.seam.tickets import Tickets

if TYPE_CHECKING:
    from workbench.seam.setting import Setting
    from workbench.trace.trace import Entry

D = TypeVar("D")


class Session:
    """Decides about each call of one run. See :class:`workbench.seam.setting.Setting` for what
    it is made of."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.policy = setting.policy
        self.tape = setting.tape
        self.cut = setting.cut
        self.ledger = Ledger(setting.journal, setting.redactor)
        self.injecting = Injecting(setting.faults)
        self.guard = Guard(setting)
        self.reach = Reach(setting)
        self.tickets = Tickets(setting, self.ledger, self.guard, self.reach)
        self.handing = Handing(setting, self.ledger, self.injecting, self.guard, self.tickets)
        self.express = Express(self)
        self.drift: DriftError | None = None
        self.stopped: BaseException | None = None
        self.live = False
        """Whether a call has really run: from then on the world is not the recorded one."""

    # -- the four calls of a driver -------------------------------------------------------

    def begin(self, call: Call) -> Decision:
        """What is to become of a call."""
        ticket = self.tickets.make(call)
        dead = self._dead()
        if dead is not None:
            return Fail(ticket, dead)
        question = self.guard.pauses(ticket)
        return self._decide(ticket) if question is None else self._ask(ticket, question)

    def resume(self, ticket: Ticket, verdict: Verdict) -> Decision:
        """Go on after a hold, with somebody's verdict."""
        if self.stopped is not None:
            return Fail(ticket, self.stopped)
        if self.handing.holds(ticket):
            return self._unless_dead(ticket, self.handing.in_turn(ticket, verdict))
        question, ticket.question = ticket.question, None
        ticket.held_s = time.monotonic() - ticket.begun
        if verdict == "simulate" and question is not None:
            return self._serve(ticket, self.guard.answer(ticket, question))
        if verdict == "allow" and question is not None:
            return self._decide(ticket) if question.kind == "pause" else self._perform(ticket)
        self.stopped = self.guard.refusal(ticket, question)
        return Fail(ticket, self.stopped)

    def abandon(self, ticket: Ticket, outcome: Outcome) -> None:
        """Whoever made a held call no longer waits for it."""
        if self.handing.forget(ticket):
            self.finish(ticket, outcome)

    def chunk(self, ticket: Ticket, data: Any) -> Fail | None:
        """Note a chunk before it is delivered; a Fail breaks the stream off instead."""
        if self.stopped is not None:
            return Fail(ticket, self.stopped)
        if ticket.reshapes:  # the whole answer is waited for, and changed, before any of it goes on
            ticket.chunks.append(data)
            return None
        broken = self.injecting.breaks(ticket)
        if broken is not None:
            return broken
        self.ledger.chunk(ticket, data)
        return None

    def finish(self, ticket: Ticket, outcome: Outcome) -> Fail | Serve | None:
        """Note how a call ended; gives what the agent gets instead, if anything."""
        if ticket.closed:
            return None
        self.handing.ran(ticket)
        if ticket.reshapes:
            served = self.injecting.reshaped(ticket, outcome_as_served(ticket, outcome))
            if served is not None:
                return self._unless_dead(ticket, self.handing.over(ticket, served))
        ticket.closed = True
        self.tickets.inside.until(ended(ticket.entry))
        if self.injecting.ended(ticket) and ticket.entry is not None:
            self.tape.give_back(ticket.entry)
        self.ledger.end(ticket, outcome)
        error = outcome.error
        if error is not None and error.type == "DriftError":  # what was received is read past
            self.drift = self.drift or DriftError(error.message)
        self.tickets.end(ticket, failed=self.injecting.failed(ticket, error))
        self.injecting.remember(ticket, outcome.response)
        self.handing.order.handed_over(ticket)
        if ticket.expect is not None:
            other = other_result(ticket, ticket.expect, outcome, self.setting.redactor)
            self.drift = self.drift or other
            if other is not None and self.policy.strict:
                return Fail(ticket, other)
        return self._unless_dead(ticket, None)

    def stop(self, error: StopRun) -> None:
        """End the run: every further call and chunk raises this."""
        self.stopped = self.stopped or error
        self.handing.release_all()

    def read(self, reading: Reading) -> None:
        """Decide what a reading of the clock, an id or a random number gives.

        Raises:
            StopRun: the run was stopped.
            DriftError: a strict replay, and it was not recorded.
        """
        dead = self._dead()
        if dead is not None and not (reading.goes_on and isinstance(dead, DriftError)):
            raise dead
        pins = self.setting.pins
        pins.find(reading)
        released = self.live and reading.released in self.policy.release
        # Inside a live write nothing recorded may reach the world: an id may be a key there.
        if self.setting.recording or released or LIVE_WRITE.get():
            reading.value = reading.live()
        elif reading.entry is not None:
            self.tickets.inside.until(reading.entry.line)
            pins.serve(reading)
        elif self.setting.offline and self.policy.strict and not reading.goes_on:
            self.drift = unrecorded(reading)
            raise self.drift
        else:
            pins.go_on(reading)

    # -- how a decision is reached ------------------------------------------------------------

    def _dead(self) -> BaseException | None:
        """Why nothing goes on any more, if so."""
        if self.stopped is not None:
            return self.stopped
        if self.drift is not None and self.policy.strict:
            return DriftError(str(self.drift), miss=self.drift.miss)
        return None

    def _decide(self, ticket: Ticket) -> Decision:
        edit = self.setting.edit_for(ticket)
        fault = None if self.reach.drifts(ticket) else self.injecting.pick(ticket)
        if fault is not None:
            return self._fail(ticket, fault)
        if edit is not None:
            return self._edited(ticket, edit)
        entry = ticket.entry
        if entry is None:
            return self._without_entry(ticket)
        why = self.cut.why(entry)
        if why is not None:
            ticket.reason = why
            return self._live(ticket)
        return self._recorded(ticket, entry)

    def _fail(self, ticket: Ticket, error: Any) -> Decision:
        ticket.how, ticket.reason, ticket.source = "fault", "fault", "fault"
        self.ledger.begin(ticket)
        if isinstance(error, StopRun):  # the process dies before the call has any outcome
            self.stop(error)
            return Fail(ticket, error)
        self.finish(ticket, Outcome(error=error))
        return Fail(ticket, error)

    def _edited(self, ticket: Ticket, edit: Any) -> Decision:
        ticket.reason = "edited"
        self.setting.applied(ticket, edit, self.tape)
        if ticket.sent is not MISSING:
            return self._live(ticket)
        ticket.how, ticket.source = "edited", "edited"
        return self._serve(ticket, self.setting.edited(ticket, edit))

    def _recorded(self, ticket: Ticket, entry: Entry) -> Decision:
        if ticket.call.kind == "tool" and self.policy.tools_before != "replay":
            ticket.reason = "rerun"
            if self.policy.tools_before == "verify":
                ticket.reason, ticket.expect = "verify", entry
            return self._perform(ticket) if self.policy.fresh_world else self._live(ticket)
        died = self.injecting.recorded(ticket, entry)
        if died is not None:
            return self._fail(ticket, died)
        ticket.how, ticket.source = "replayed", "replayed"
        ticket.reason = "hit" if ticket.reason == "record" else ticket.reason
        try:
            return self._serve(ticket, serve_entry(ticket.call, entry))
        except DriftError as error:  # the entry holds another kind of answer
            self.drift = self.drift or error
            return Fail(ticket, error)

    def _without_entry(self, ticket: Ticket) -> Decision:
        call = ticket.call
        if self.setting.recording:
            return self._perform(ticket)
        ticket.reason = "miss"
        if self.reach.past_cut(call):
            ticket.reason = "cut"
            return self._live(ticket)
        rotated = self.tape.rotated(ticket, self.setting.redactor)
        if rotated is not None:
            self.ledger.note(f"{rotated.id}: secret rotated: only a redacted secret differs")
            ticket.entry, ticket.reason = rotated, "rotated"
            return self._recorded(ticket, rotated)
        if self.reach.runs_tools(call) or self.policy.on_miss == "live":
            return self._live(ticket)
        if self.policy.on_miss == "placeholder":
            return self._lenient(ticket)
        self.drift = explain(ticket, self.tape, self.setting.parent)
        return Fail(ticket, self.drift)

    def _lenient(self, ticket: Ticket) -> Decision:
        entry = self.tape.following(ticket.call)
        self.ledger.note(lenient(ticket, entry, self.tape))
        ticket.entry, ticket.reason = entry, "placeholder"
        ticket.how = ticket.source = "simulated" if entry is None else "replayed"
        served = placeholder(ticket.call) if entry is None else serve_entry(ticket.call, entry)
        return self._serve(ticket, served)

    # -- what happens to it ---------------------------------------------------------------------

    def _live(self, ticket: Ticket) -> Decision:
        if ticket.entry is not None:
            self.tape.take(ticket.entry)
        held = self.guard.holds(ticket)
        if held is None:
            return self._perform(ticket)
        if isinstance(held, StopRun):
            self.stopped = held
            return Fail(ticket, held)
        return self._ask(ticket, held)

    def _ask(self, ticket: Ticket, question: Any) -> Hold:
        ticket.question, ticket.begun = question, time.monotonic()
        return Hold(ticket, question)

    def _perform(self, ticket: Ticket) -> Decision:
        ticket.how, ticket.source = "live", "live"
        if ticket.entry is not None:
            self.tape.take(ticket.entry)
        request = self.guard.passes(ticket)
        if isinstance(request, StopRun):
            self.stopped = request
            return Fail(ticket, request)
        if ticket.call.kind != "event" and ticket.reason not in ("verify", "rerun"):
            self.live = True
        self.ledger.begin(ticket)
        self.handing.runs(ticket)
        stand_in = self.guard.stand_in(ticket)
        return Perform(ticket, request, self.injecting.below(ticket), stand_in)

    def _serve(self, ticket: Ticket, served: Served) -> Decision:
        self.drift = self.drift or (DriftError(served.beyond) if served.beyond else None)
        return self._unless_dead(ticket, self.handing.serve(ticket, served))

    def _unless_dead(self, ticket: Ticket, decision: D) -> D | Fail:
        """What was decided, unless a fault makes the process die right after the call."""
        crash = self.injecting.crash_after(ticket) if ticket.closed else None
        if crash is None:
            return decision
        self.stop(crash)
        return Fail(ticket, crash)
