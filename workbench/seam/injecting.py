"""What injected faults do to a call: before it, to its outcome, or after it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import SimulatedCrash
from workbench.seam.calls import MISSING, Fail, Outcome, Served
from workbench.seam.misshape import reshape, why_not
from workbench.seam.translate import recorded_fault
from workbench.trace.faults import StreamTruncate

if TYPE_CHECKING:
    from workbench.errors import StopRun
    from workbench.seam.calls import Ticket
    from workbench.seam.faulting import Faults
    from workbench.seam.ledger import Ledger
    from workbench.seam.tape import Tape
    from workbench.trace.entries import ErrorInfo
    from workbench.trace.trace import Entry


class Injecting:
    """Carries the faults of one run from the calls that they hit to what the agent gets."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults
        self._results: dict[str, Any] = {}

    def pick(self, ticket: Ticket) -> ErrorInfo | StopRun | None:
        """A call begins: with what it fails at once, if a fault says so.

        A fault that hits its outcome, or the moment after it, is noted on the ticket.
        """
        fault = self.faults.pick(ticket)
        if fault is None:
            return None
        ticket.fault = fault
        if fault.layer == "below":
            ticket.below = self.faults.use_up(fault)
            return None
        if fault.phase == "before":
            return _crash(ticket) if fault.type == "crash" else fault.error()
        if isinstance(fault, StreamTruncate):
            if not ticket.call.stream:
                return fault.error()
            ticket.cut_after = fault.after_chunks
        elif fault.phase == "outcome":
            ticket.reshapes = True
        return None

    def recorded(self, ticket: Ticket, entry: Entry) -> StopRun | None:
        """A recorded entry is served: the death before it, when somebody wrote that into it."""
        fault = recorded_fault(entry)
        if fault is None or fault.type != "crash":
            return None
        ticket.fault = fault
        return _crash(ticket) if fault.phase == "before" else None

    def below(self, ticket: Ticket) -> list[ErrorInfo]:
        """With what the SDK's own first tries fail."""
        if not ticket.below:
            return []
        error: ErrorInfo = ticket.fault.error()
        return [error] * ticket.below

    def reshaped(self, ticket: Ticket, served: Served) -> Served | None:
        """The outcome as a fault makes it; None where the fault does not fit it.

        A stream that was read to its end for this is given back as it was.
        """
        ticket.reshapes = False
        was_read, ticket.chunks = bool(ticket.chunks), []
        earlier = self._results.get(str(ticket.call.name), MISSING)
        changed = reshape(ticket.fault, ticket.call, served, earlier)
        if changed is None:
            why = why_not(ticket.fault, ticket.call, served, earlier)
            self.faults.missed(ticket, why)
            return served if was_read else None
        ticket.source, ticket.how, ticket.reason = "fault", "fault", "fault"
        return changed

    def tried(
        self, ticket: Ticket, tries: int, waited_s: float, tape: Tape, ledger: Ledger
    ) -> None:
        """The SDK made that many tries by itself. What it left of the fault's tries hits a later
        call, and an entry that no try came as far as is there for a retry."""
        if tries <= ticket.below and ticket.entry is not None:
            tape.give_back(ticket.entry)
        fault = ticket.fault
        if not tries:
            self.faults.give_back(fault, ticket.below - 1)
            self.faults.missed(ticket, "no SDK tried this call by itself")
            return
        self.faults.give_back(fault, ticket.below - min(tries, ticket.below))
        times = "1 try" if tries == 1 else f"{tries} tries"
        wait = f", and would have waited {waited_s:.3g} s between them" if waited_s else ""
        ledger.note(f"{ticket.id}: the SDK made {times} by itself{wait} ({fault.label})")

    def remember(self, ticket: Ticket, response: Any) -> None:
        """What a tool gave, for a fault that gives it once more."""
        if ticket.call.kind != "tool":
            return
        response = list(ticket.chunks) if ticket.call.stream else response
        if response is not MISSING:
            self._results[str(ticket.call.name)] = response

    def breaks(self, ticket: Ticket) -> Fail | None:
        """Whether a stream breaks off here."""
        if ticket.cut_after is None or len(ticket.chunks) < ticket.cut_after:
            return None
        ticket.hit = True
        return Fail(ticket, ticket.fault.error())

    def ends_clean(self, ticket: Ticket) -> bool:
        """Whether a fault ends the stream here as if it were complete."""
        fault = ticket.fault
        return (
            isinstance(fault, StreamTruncate)
            and fault.end == "clean"
            and ticket.cut_after is not None
            and len(ticket.chunks) >= fault.after_chunks
        )

    def ended(self, ticket: Ticket) -> bool:
        """A call ended: whether the fault that was to break its stream off did so."""
        if ticket.cut_after is None:
            return False
        if ticket.hit or self.ends_clean(ticket):
            ticket.source, ticket.how = "fault", "fault"
            return True
        self.faults.missed(ticket, "the stream was over before that")
        return False

    def failed(self, ticket: Ticket, error: ErrorInfo | None) -> bool:
        """Whether who asks the same again tries again: the call failed, or a fault spoilt what
        the model said."""
        return error is not None or (ticket.source == "fault" and ticket.call.kind == "model")

    def crash_after(self, ticket: Ticket) -> SimulatedCrash | None:
        """The death of the process right after a call, if a fault says so."""
        fault = ticket.fault
        if fault is None or fault.type != "crash" or fault.phase != "after":
            return None
        return _crash(ticket)


def outcome_as_served(ticket: Ticket, outcome: Outcome) -> Served:
    """What a live call gave, as an answer that can be changed."""
    chunks = list(ticket.chunks) if ticket.call.stream and ticket.chunks else None
    return Served(outcome.response, chunks, outcome.error)


def _crash(ticket: Ticket) -> SimulatedCrash:
    call = ticket.call
    name = f" {call.name or call.model}" if call.name or call.model else ""
    where = f" at {call.where}" if call.where else ""
    return SimulatedCrash(
        f"the process dies {ticket.fault.phase} the {call.kind}{name}{where} (an injected crash)"
    )
