"""The session: the one place where it is decided what becomes of a call.

It takes a call and gives a decision, takes an outcome and gives what the agent is to get. It does
no I/O but for the journal that it is given, and knows nothing of SDKs, asyncio or threads; whoever
drives it holds a lock. Recording, replaying and forking differ only in what it is made of: a tape
(what was recorded), a cut (what of it runs live), edits, faults and a policy.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

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
from workbench.seam.injecting import Injecting, outcome_as_served
from workbench.seam.ledger import Ledger
from workbench.seam.order import PATIENCE_S, Order
from workbench.seam.pins import Reading, unrecorded
from workbench.seam.reach import Reach
from workbench.seam.served import placeholder, serve_entry
from workbench.seam.tries import Tries
from workbench.trace.canonical import Hasher

if TYPE_CHECKING:
    from workbench.seam.cut import Cut
    from workbench.seam.setting import Setting
    from workbench.trace.trace import Entry


class Session:
    """Decides about each call of one run. See :class:`workbench.seam.setting.Setting` for what
    it is made of."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.policy = setting.policy
        self.tape = setting.tape
        self.cut: Cut = setting.cut
        self.ledger = Ledger(setting.journal)
        self.injecting = Injecting(setting.faults)
        self.guard = Guard(setting)
        self.reach = Reach(setting)
        self.order = Order(self.tape, setting.ordered())
        self.tries = Tries()
        self.express = Express(self)
        self._hashers: dict[str, Hasher] = {}
        self.drift: DriftError | None = None
        self.stopped: BaseException | None = None
        self.live = False
        """Whether a call has really run: from then on the world is not the recorded one."""
        self._held: dict[str, Served] = {}

    # -- the four calls of a driver -------------------------------------------------------

    def begin(self, call: Call) -> Decision:
        """What is to become of a call."""
        ticket = self._ticket(call)
        dead = self._dead()
        if dead is not None:
            return Fail(ticket, dead)
        question = self.guard.pauses(ticket)
        return self._decide(ticket) if question is None else self._ask(ticket, question)

    def resume(self, ticket: Ticket, verdict: Verdict) -> Decision:
        """Go on after a hold, with somebody's verdict."""
        if self.stopped is not None:
            return Fail(ticket, self.stopped)
        if ticket.id in self._held:
            return self._in_turn(ticket, verdict)
        question, ticket.question = ticket.question, None
        ticket.held_s = time.monotonic() - ticket.begun
        if verdict == "simulate" and question is not None:
            ticket.how, ticket.source = "simulated", "simulated"
            return self._serve(ticket, Served(question.result))
        if verdict == "allow" and question is not None:
            return self._decide(ticket) if question.kind == "pause" else self._perform(ticket)
        self.stopped = self.guard.refusal(ticket, question)
        return Fail(ticket, self.stopped)

    def abandon(self, ticket: Ticket, outcome: Outcome) -> None:
        """Whoever made a held call no longer waits for it."""
        if self._held.pop(ticket.id, None) is not None:
            self.order.forget(ticket)
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
        offset = time.monotonic() - ticket.begun
        if len(ticket.chunks) < len(ticket.offsets):
            offset = ticket.offsets[len(ticket.chunks)]
        self.ledger.chunk(ticket, offset, data)
        return None

    def finish(self, ticket: Ticket, outcome: Outcome) -> Fail | Serve | None:
        """Note how a call ended; gives what the agent gets instead, if anything."""
        if ticket.closed:
            return None
        self._ran(ticket)
        if ticket.reshapes:
            served = self.injecting.reshaped(ticket, outcome_as_served(ticket, outcome))
            if served is not None:
                return self._hand_over(ticket, served)
        ticket.closed = True
        if self.injecting.ended(ticket) and ticket.entry is not None:
            self.tape.give_back(ticket.entry)
        self.ledger.end(ticket, outcome)
        error = outcome.error
        if error is not None and error.type == "DriftError":  # what was received is read past
            self.drift = self.drift or DriftError(error.message)
        self.tries.end(ticket, failed=self.injecting.failed(ticket, error))
        self.injecting.remember(ticket, outcome.response)
        self.order.handed_over(ticket)
        if ticket.expect is not None:
            other = other_result(ticket, ticket.expect, outcome, self.setting.redactor)
            self.drift = self.drift or other
            if other is not None and self.policy.strict:
                return Fail(ticket, other)
        return self._crash(ticket)

    # -- what a run asks for ----------------------------------------------------------------

    def stop(self, error: StopRun) -> None:
        """End the run: every further call and chunk raises this."""
        self.stopped = self.stopped or error
        self.order.release_all()

    def read(self, reading: Reading) -> None:
        """Decide what a reading of the clock, an id or a random number gives.

        Raises:
            StopRun: the run was stopped.
            DriftError: a strict replay, and it was not recorded.
        """
        dead = self._dead()
        if dead is not None:
            raise dead
        pins = self.setting.pins
        pins.find(reading)
        released = self.live and reading.released in self.policy.release
        # Inside a live write nothing recorded may reach the world: an id may be a key there.
        if self.setting.recording or released or LIVE_WRITE.get():
            reading.value = reading.live()
        elif reading.entry is not None:
            pins.serve(reading)
        elif self.setting.offline and self.policy.strict:
            self.drift = unrecorded(reading)
            raise self.drift
        else:
            pins.go_on(reading)

    def opened(self, ticket: Ticket) -> None:
        """A live stream is handed over: its reader may take his time."""
        self._ran(ticket)

    def hash(self, call: Call, request: Any) -> str:
        """The hash of a call's request, less what the trace ignores."""
        return self.hasher(call)(call.kind, call.api, request)

    def hasher(self, call: Call) -> Hasher:
        """What makes such hashes."""
        name = call.api or call.kind
        found = self._hashers.get(name)
        if found is None:
            found = self._hashers[name] = Hasher(self.setting.ignore.get(name, ()))
        return found

    # -- how a decision is reached ------------------------------------------------------------

    def _ticket(self, call: Call) -> Ticket:
        request, digest, clean = self._asked(call)
        tried = self.tries.begin(call, digest)
        entry = self.tape.find(call, digest, request)
        if entry is not None and self.guard.wrote and self.reach.void(call, entry):
            entry = None
        ticket = Ticket(
            self.setting.journal.new_id(),
            call,
            digest,
            tried.turn,
            tried.nth,
            tried.attempt,
            tried.in_step,
            entry,
            request=request,
            clean=clean,
        )
        ticket.key = self.guard.key(ticket)
        return ticket

    def _asked(self, call: Call) -> tuple[Any, str, bool]:
        """What is written of a request, its hash, and whether it is redacted already.

        What a recording has by this very hash is without secrets already, as all that it holds.
        """
        request = call.request
        if self.tape.entries:
            digest = call.digest or self.hash(call, request)
            if self.tape.waits_for(call.kind, call.step, digest):
                return request, digest, False
            clean = self.setting.redactor.clean(request)
            return clean, digest if clean is request else self.hash(call, clean), True
        request = self.setting.redactor.clean(request)
        return request, self.hash(call, request), True

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
        if entry is None:
            ticket.how, ticket.source = "simulated", "simulated"
            return self._serve(ticket, placeholder(ticket.call))
        ticket.how, ticket.source = "replayed", "replayed"
        return self._serve(ticket, serve_entry(ticket.call, entry))

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
        ticket.running = True
        self.order.runs(ticket, +1)
        stand_in = self.guard.stand_in(ticket)
        return Perform(ticket, request, self.injecting.below(ticket), stand_in)

    def _ran(self, ticket: Ticket) -> None:
        if ticket.running:
            ticket.running = False
            self.order.runs(ticket, -1)

    def _serve(self, ticket: Ticket, served: Served) -> Decision:
        if ticket.reshapes:
            served = self.injecting.reshaped(ticket, served) or served
        if ticket.entry is not None and ticket.source in ("replayed", "edited"):
            self.tape.consume(ticket.entry)
        self.ledger.begin(ticket)
        turn = self.order.begins(ticket) if ticket.source == "replayed" else None
        if turn is None:
            return self._hand_over(ticket, served)
        self._held[ticket.id] = served
        return Hold(ticket, future=turn, patience_s=PATIENCE_S)

    def _in_turn(self, ticket: Ticket, verdict: Verdict) -> Decision:
        """It waited for the calls that were handed over before it when they were recorded."""
        if verdict == "time":
            if not self.order.stuck() or not self.order.skip_to(ticket):
                return Hold(ticket, future=self.order.future(ticket), patience_s=PATIENCE_S)
            entry = ticket.entry.id if ticket.entry is not None else ticket.id
            self.ledger.note(f"{entry} was reordered: what ended before it did not come")
        return self._hand_over(ticket, self._held.pop(ticket.id))

    def _hand_over(self, ticket: Ticket, served: Served) -> Fail | Serve:
        below = self.injecting.below(ticket)
        if served.chunks is None and not below:
            ticket.closed = True
            entry = ticket.entry if ticket.source in ("replayed", "edited") else None
            self.ledger.served(ticket, served, entry)
            self.tries.end(ticket, failed=self.injecting.failed(ticket, served.error))
            self.injecting.remember(ticket, served.response)
        elif ticket.entry is not None and ticket.source == "replayed":
            ticket.offsets = [chunk.offset_s or 0.0 for chunk in ticket.entry.chunks]
        self.guard.served(ticket, served)
        self.order.handed_over(ticket)
        latency = self.policy.latency
        delay = latency.seconds(ticket.entry) if latency is not None else 0.0
        return self._crash(ticket) or Serve(ticket, served, delay, below)

    def _crash(self, ticket: Ticket) -> Fail | None:
        crash = self.injecting.crash_after(ticket) if ticket.closed else None
        if crash is None:
            return None
        self.stop(crash)
        return Fail(ticket, crash)
