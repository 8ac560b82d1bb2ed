"""What a session is made of: this alone tells a recording from a replay and a fork."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.seam.calls import Policy, Served
from workbench.seam.cut import Cut
from workbench.seam.faulting import Faults
from workbench.seam.pins import Pins
from workbench.seam.resuming import done_by, key_owner
from workbench.seam.served import as_yielded, serve_reply
from workbench.seam.tape import Tape
from workbench.trace.canonical import DEFAULT_IGNORE, digest
from workbench.trace.edits import ReplyEdit, ToolArgumentsEdit, ToolResultEdit, ValueEdit
from workbench.trace.edits.requests import Requests
from workbench.trace.redaction import Redactor
from workbench.trace.values import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workbench.seam.calls import Ticket
    from workbench.trace.edits import Edit
    from workbench.trace.journal import Journal
    from workbench.trace.trace import Entry, Trace


@dataclass(slots=True)
class Setting:
    """The parts of one session."""

    journal: Journal
    trace_id: str
    """The id of the trace that is being written."""
    policy: Policy = field(default_factory=Policy)
    recording: bool = False
    """Everything is live, and nothing is asked."""
    parent: Trace | None = None
    """What was recorded."""
    taped: Trace | None = None
    """What is served of it: with what edits put in, and without what they drop."""
    requests: Requests = field(default_factory=Requests)
    """The edits of what is sent."""
    tape: Tape = field(default_factory=lambda: Tape(None))
    cut: Cut = field(default_factory=Cut)
    edits: Mapping[str, Edit] = field(default_factory=dict)
    """What a person changed, by the recorded entry."""
    faults: Faults = field(default_factory=Faults)
    pins: Pins = field(default_factory=lambda: Pins(None, ""))
    ignore: Mapping[str, Sequence[str]] = field(default_factory=lambda: DEFAULT_IGNORE)
    """JSON pointers into a request that do not count, per api."""
    redactor: Redactor = field(default_factory=Redactor.off)
    """Takes secrets out of what is written and hashed."""
    secrets: Any = ()
    """What placeholders of secrets stand for, where they go to the live world."""
    resumes: Trace | None = None
    """The trace of a run that crashed, which this one goes on from."""
    keeps: bool = False
    """What is recorded and not asked for is kept in the new trace."""
    ambient: bool | Sequence[str] = False
    """Whether what the agent's own modules read of clocks and chance is part of the session, or
    which modules those are."""
    notices: list[str] = field(default_factory=list)
    """What of the edits was left out, and why."""
    done: set[str] = field(default_factory=set)
    """Entries whose edit was applied."""

    @property
    def offline(self) -> bool:
        """Whether no call of this session can ever go live."""
        return (
            not self.recording
            and self.policy.on_miss != "live"
            and not self.cut.is_set
            and not self.cut.forced
        )

    @property
    def key_owner(self) -> str:
        """What idempotency keys begin with: this run, or the one that it goes on from."""
        return key_owner(self.resumes) if self.resumes is not None else self.trace_id

    def ordered(self) -> Iterator[Entry]:
        """The recorded entries that end in their recorded order."""
        if self.policy.completion != "recorded":
            return
        done = self.done_before()
        for entry in self.tape.entries:
            if entry.kind == "event" or entry.open or entry.repeat or self.cut.why(entry):
                continue
            if entry.id not in done:
                yield entry

    def inside(self, entry: Entry) -> list[Entry]:
        """What was recorded inside a call, in its order: calls and readings."""
        found: list[Entry] = []
        for each in (*self.tape.inside(entry.id), *self.pins.inside.get(entry.id, ())):
            found += [each, *self.inside(each)]
        return sorted(found, key=lambda each: each.seq)

    def done_before(self) -> set[str]:
        """What a crashed run did, so that the one that goes on from it need not do it again."""
        return done_by(self.resumes) if self.resumes is not None else set()

    def edit_for(self, ticket: Ticket) -> Edit | None:
        """The edit that changes what answers this call, or what is sent.

        Found by the recorded entry; in a run that has already left the recording (a call is not
        in it any more), by turn number: the edit says what the model says at that turn.
        """
        if not self.edits:
            return None
        entry = ticket.entry
        if entry is None and self.policy.on_miss == "live" and self.taped is not None:
            entry = self._same_turn(ticket, self.taped)
        edit = self.edits.get(entry.id) if entry is not None else None
        if edit is not None and entry is not None and entry.id not in self.done:
            if isinstance(edit, ReplyEdit | ToolResultEdit | ValueEdit):
                ticket.entry = entry
                return edit
            if isinstance(edit, ToolArgumentsEdit):
                ticket.sent = edit.rewrite(ticket.call.request)
                return edit
        return self._rewritten(ticket) if ticket.call.kind == "model" else None

    def _rewritten(self, ticket: Ticket) -> Edit | None:
        call = ticket.call
        found = self.requests.at(
            ticket.entry,
            step=call.step,
            nth=ticket.in_step,
            enclosed=call.enclosing is not None,
        )
        sent = call.request
        for edit in found:
            for text in edit.unfit(str(call.api), sent, clean=self.redactor.clean):
                self.notices.append(f"turn {ticket.turn}, {edit.label}: {text}")
            sent = edit.rewrite(str(call.api), sent, clean=self.redactor.clean)
        if sent is call.request:
            return None
        ticket.sent = sent
        return found[-1]

    def applied(self, ticket: Ticket, edit: Edit, tape: Tape) -> None:
        """An edit is made use of: what it makes void is."""
        self.done |= {entry for entry, each in self.edits.items() if each is edit}
        if isinstance(edit, ReplyEdit) and ticket.entry is not None:
            for tool in void_tools(edit, ticket.entry):
                tape.discard(tool)

    def edited(self, ticket: Ticket, edit: Edit) -> Served:
        """What the agent gets by an edit."""
        if isinstance(edit, ReplyEdit) and ticket.entry is not None:
            return serve_reply(ticket.call, ticket.entry, edit)
        value = edit.value if isinstance(edit, ValueEdit) else getattr(edit, "result", None)
        fresh = loads(dumps(value))
        if ticket.call.kind == "tool" and ticket.call.stream:
            return as_yielded(str(ticket.call.name), fresh)
        return Served(fresh)

    def _same_turn(self, ticket: Ticket, parent: Trace) -> Entry | None:
        for entry_id, edit in self.edits.items():
            if not isinstance(edit, ReplyEdit):
                continue  # a tool's result belongs to its arguments
            entry = parent.entry(entry_id)
            turn = entry.turn
            if entry.kind != ticket.call.kind or turn is None or turn.number != ticket.turn:
                continue
            if entry_id not in self.done and entry.name == ticket.call.name:
                return entry
        return None

    def unapplied(self) -> list[Edit]:
        """Edits whose entry was never asked for."""
        used = self.done | self.tape.served | self.pins.edited
        return [edit for entry, edit in self.edits.items() if entry not in used]


def void_tools(edit: ReplyEdit, entry: Entry) -> Iterator[Entry]:
    """The recorded tool calls of a turn that its edited reply no longer makes."""
    if edit.tool_calls is None or entry.turn is None:
        return
    wanted = [(call.name, digest(call.arguments)) for call in edit.tool_calls]
    for tool in entry.turn.tools:
        this = (str(tool.name), digest(tool.request.get("arguments")))
        if this in wanted:
            wanted.remove(this)
        else:
            yield tool
