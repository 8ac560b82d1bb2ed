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
    CallReport,
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
from workbench.seam.explain import explain, other_result
from workbench.seam.guard import blocked, question_about, write_key, writes
from workbench.seam.served import fault_error, placeholder, serve_entry, serve_reply
from workbench.seam.setting import void_tools
from workbench.seam.tries import Tries
from workbench.seam.writing import call_line, chunk_line, replayed_line, result_line, short
from workbench.trace.canonical import digest as content_digest
from workbench.trace.canonical import request_hash
from workbench.trace.edits import ReplyEdit, ToolResultEdit
from workbench.trace.faults import StreamTruncate
from workbench.trace.values import dumps, loads

if TYPE_CHECKING:
    from workbench.seam.cut import Cut
    from workbench.seam.faulting import Faults
    from workbench.seam.setting import Setting
    from workbench.trace.trace import Entry


class Session:
    """Decides about each call of one run. See :class:`workbench.seam.setting.Setting` for what
    it is made of."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.policy = setting.policy
        self.journal = setting.journal
        self.tape = setting.tape
        self.cut: Cut = setting.cut
        self.faults: Faults = setting.faults
        self.reports: list[CallReport] = []
        self.drift: DriftError | None = None
        self.stopped: BaseException | None = None
        self.notices: list[str] = []
        self.tries = Tries()
        self._wrote_live = False

    # -- the four calls of a driver -------------------------------------------------------

    def begin(self, call: Call) -> Decision:
        """What is to become of a call."""
        ticket = self._ticket(call)
        if self.stopped is not None:
            return Fail(ticket, self.stopped)
        if self.drift is not None and self.policy.strict:
            return Fail(ticket, DriftError(str(self.drift), miss=self.drift.miss))
        edit = self.setting.edit_for(ticket, self.policy)
        fault = None if self._drifts(ticket) else self.faults.pick(ticket)
        if fault is not None and not self._cuts_stream(ticket, fault):
            return self._fault(ticket, fault)
        entry = ticket.entry
        if entry is not None and edit is not None:
            return self._edited(ticket, entry, edit)
        if entry is None:
            return self._without_entry(ticket)
        why = self.cut.why(entry)
        if why is not None:
            ticket.reason = why
            return self._live(ticket)
        return self._recorded(ticket, entry)

    def resume(self, ticket: Ticket, verdict: Verdict) -> Decision:
        """Go on after a hold, with somebody's verdict."""
        if self.stopped is not None:
            return Fail(ticket, self.stopped)
        ticket.held_s = time.monotonic() - ticket.begun
        if verdict == "allow":
            return self._perform(ticket)
        question = ticket.question
        self.stopped = blocked(ticket, question.why_denied if question else "it was denied")
        return Fail(ticket, self.stopped)

    def chunk(self, ticket: Ticket, data: Any) -> Fail | None:
        """Note a chunk before it is delivered; a Fail breaks the stream off instead."""
        if self.stopped is not None:
            return Fail(ticket, self.stopped)
        if ticket.cut_after is not None and len(ticket.chunks) >= ticket.cut_after:
            ticket.hit = True
            return Fail(ticket, fault_error(ticket.fault))
        offset = time.monotonic() - ticket.begun
        if len(ticket.chunks) < len(ticket.offsets):
            offset = ticket.offsets[len(ticket.chunks)]
        ticket.first = offset if ticket.first is None else ticket.first
        ticket.chunks.append(data)
        self.journal.append(chunk_line(ticket, offset, data))
        return None

    def ends_clean(self, ticket: Ticket) -> bool:
        """Whether a fault ends the stream here as if it were complete."""
        fault = ticket.fault
        return (
            isinstance(fault, StreamTruncate)
            and fault.end == "clean"
            and len(ticket.chunks) >= fault.after_chunks
        )

    def finish(self, ticket: Ticket, outcome: Outcome) -> BaseException | None:
        """Note how a call ended; gives what is to be raised instead, if anything."""
        if ticket.closed:
            return None
        ticket.closed = True
        if ticket.cut_after is not None and not ticket.hit and not self.ends_clean(ticket):
            self.faults.missed(ticket)  # the stream was over before the fault's place came
        elif ticket.fault is not None:
            ticket.source, ticket.how = "fault", "fault"
        self.journal.append(result_line(ticket, outcome))
        if outcome.error is not None and outcome.error.type == "DriftError":
            self.drift = self.drift or DriftError(outcome.error.message)
        self.tries.end(ticket, failed=outcome.error is not None)
        text = short(ticket.call, outcome.response, outcome.error, ticket.chunks)
        self._report(ticket, text)
        if ticket.expect is not None:
            return self._verified(ticket, ticket.expect, outcome)
        return None

    # -- what a run asks for ----------------------------------------------------------------

    def stop(self, error: StopRun) -> None:
        """End the run: every further call and chunk raises this."""
        self.stopped = self.stopped or error

    def hash(self, call: Call) -> str:
        """The hash of a call's request, less what the trace ignores."""
        ignore = self.setting.ignore.get(call.api or "tool", ())
        return request_hash(call.kind, call.api, call.request, ignore)

    # -- how a decision is reached ------------------------------------------------------------

    def _ticket(self, call: Call) -> Ticket:
        digest = self.hash(call)
        attempt, turn, nth = self.tries.begin(call, digest)
        entry = self.tape.find(call, digest)
        if entry is not None and self._stale(call, entry):
            entry = None
        ticket = Ticket(self.journal.new_id(), call, digest, turn, nth, attempt, entry)
        ticket.key = write_key(self.setting.trace_id, ticket, recording=self.setting.recording)
        return ticket

    def _stale(self, call: Call, entry: Entry) -> bool:
        """After a live write the recorded world no longer is the world: its results are void."""
        if call.kind != "tool" or not self._wrote_live or self.cut.why(entry) is not None:
            return False
        if entry.id in self.setting.edits:
            return False  # what a person put there is theirs to say
        return self.policy.tools_before == "replay"

    def _cuts_stream(self, ticket: Ticket, fault: Any) -> bool:
        if not isinstance(fault, StreamTruncate) or not ticket.call.stream:
            return False
        ticket.fault, ticket.cut_after = fault, fault.after_chunks
        return True

    def _fault(self, ticket: Ticket, fault: Any) -> Decision:
        ticket.fault, ticket.how, ticket.reason, ticket.source = fault, "fault", "fault", "fault"
        self._start(ticket)
        error = fault_error(fault)
        self.finish(ticket, Outcome(error=error))
        return Fail(ticket, error)

    def _edited(self, ticket: Ticket, entry: Entry, edit: ReplyEdit | ToolResultEdit) -> Decision:
        ticket.how, ticket.reason, ticket.source = "edited", "edited", "edited"
        self.setting.applied.add(entry.id)
        self.tape.consume(entry)
        if isinstance(edit, ToolResultEdit):
            return self._serve(ticket, Served(loads(dumps(edit.result))), entry)
        for tool in void_tools(edit, entry):
            self.tape.discard(tool)
        return self._serve(ticket, serve_reply(ticket.call, entry, edit), entry)

    def _recorded(self, ticket: Ticket, entry: Entry) -> Decision:
        call = ticket.call
        if call.kind == "tool" and self.policy.tools_before != "replay":
            ticket.reason = "rerun"
            if self.policy.tools_before == "verify":
                ticket.reason, ticket.expect = "verify", entry
            return self._perform(ticket) if self.policy.fresh_world else self._live(ticket)
        ticket.how, ticket.reason, ticket.source = "replayed", "hit", "replayed"
        self.tape.consume(entry)
        return self._serve(ticket, serve_entry(call, entry), entry)

    def _without_entry(self, ticket: Ticket) -> Decision:
        call = ticket.call
        if self.setting.recording:
            return self._perform(ticket)
        ticket.reason = "miss"
        runs_tools = call.kind == "tool" and self.policy.tools_before == "live"
        if self._past_cut(call):
            ticket.reason = "cut"
            return self._live(ticket)
        if runs_tools or self.policy.on_miss == "live":
            return self._live(ticket)
        if self.policy.on_miss == "placeholder":
            return self._lenient(ticket)
        self.drift = explain(ticket, self.tape, self.setting.parent)
        return Fail(ticket, self.drift)

    def _drifts(self, ticket: Ticket) -> bool:
        """Whether a call ends a strict run, which a fault aimed at it must not hide."""
        if ticket.entry is not None or not self.policy.strict or self.setting.recording:
            return False
        runs_tools = ticket.call.kind == "tool" and self.policy.tools_before == "live"
        return not runs_tools and not self._past_cut(ticket.call)

    def _past_cut(self, call: Call) -> bool:
        if self.cut.covers_step(call.step):
            return True
        return self.cut.is_set and not self.tape.waits_before_cut(call.step)

    def _lenient(self, ticket: Ticket) -> Decision:
        entry = self.tape.next_in_step(ticket.call)
        where = f"{ticket.call.kind} call at {ticket.call.where or 'an unknown line'}"
        ticket.entry, ticket.reason = entry, "placeholder"
        ticket.how, ticket.source = "replayed", "replayed"
        if entry is None:
            self.notices.append(f"{where}: nothing recorded fits; a placeholder was served")
            ticket.source = "simulated"
            return self._serve(ticket, placeholder(ticket.call), None)
        self.notices.append(f"{where}: changed since the recording; {entry.id} was served anyway")
        self.tape.consume(entry)
        return self._serve(ticket, serve_entry(ticket.call, entry), entry)

    def _live(self, ticket: Ticket) -> Decision:
        if ticket.entry is not None:
            self.tape.take(ticket.entry)
        if self.policy.tools_after != "allow" and writes(ticket.call):
            if self.policy.tools_after == "deny":
                self.stopped = blocked(ticket, "live writes are denied")
                return Fail(ticket, self.stopped)
            ticket.question = question_about(ticket)
            ticket.begun = time.monotonic()
            return Hold(ticket, ticket.question)
        return self._perform(ticket)

    def _perform(self, ticket: Ticket) -> Decision:
        ticket.how, ticket.source = "live", "live"
        if ticket.entry is not None:
            self.tape.take(ticket.entry)
        if writes(ticket.call) and ticket.reason not in ("verify", "rerun"):
            self._wrote_live = not self.setting.recording
        self._start(ticket)
        return Perform(ticket, ticket.call.request)

    def _serve(self, ticket: Ticket, served: Served, entry: Entry | None) -> Decision:
        self._start(ticket)
        if served.chunks is None:
            self.journal.append(replayed_line(ticket, served, entry))
            ticket.closed = True
            self.tries.end(ticket, failed=served.error is not None)
            self._report(ticket, short(ticket.call, served.response, served.error, []))
        elif entry is not None and ticket.source == "replayed":
            ticket.offsets = [chunk.offset_s or 0.0 for chunk in entry.chunks]
        return Serve(ticket, served)

    def _start(self, ticket: Ticket) -> None:
        ticket.begun = time.monotonic()  # a wait for somebody's verdict is not the call's
        self.journal.call(call_line(ticket))

    def _verified(self, ticket: Ticket, entry: Entry, outcome: Outcome) -> BaseException | None:
        same_error = (outcome.error is None) == (entry.error is None)
        if outcome.error is not None and entry.error is not None:
            same_error = outcome.error.message == entry.error.message
        now = None if outcome.response is MISSING else outcome.response
        if same_error and content_digest(now) == content_digest(entry.response):
            return None
        self.drift = self.drift or other_result(ticket, entry, outcome)
        return self.drift if self.policy.strict else None

    def _report(self, ticket: Ticket, summary: str) -> None:
        call = ticket.call
        self.reports.append(
            CallReport(
                entry=ticket.id,
                origin=ticket.entry.id if ticket.entry is not None else None,
                turn=ticket.turn,
                kind=call.kind,
                name=call.name or call.model,
                how=ticket.how,
                reason=ticket.reason,
                duration_s=time.monotonic() - ticket.begun,
                where=call.where,
                summary=summary,
                step=call.step,
            )
        )
