"""What a session is made of: this alone tells a recording from a replay and a fork."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.seam.calls import Policy, Served
from workbench.seam.cut import Cut
from workbench.seam.faulting import Faults
from workbench.seam.pins import Pins
from workbench.seam.served import serve_reply
from workbench.seam.tape import Tape
from workbench.trace.canonical import DEFAULT_IGNORE, digest
from workbench.trace.edits import ReplyEdit, ToolResultEdit
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
    tape: Tape = field(default_factory=lambda: Tape(None))
    cut: Cut = field(default_factory=Cut)
    edits: Mapping[str, Edit] = field(default_factory=dict)
    """Reply and tool-result edits, by the recorded entry that they change."""
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
        return self.resumes.id if self.resumes is not None else self.trace_id

    def ordered(self) -> Iterator[Entry]:
        """The recorded entries that end in their recorded order."""
        if self.policy.completion != "recorded":
            return
        for entry in self.tape.entries:
            if entry.kind != "event" and not (entry.open or entry.repeat or self.cut.why(entry)):
                yield entry

    def edit_for(self, ticket: Ticket) -> ReplyEdit | ToolResultEdit | None:
        """The edit that changes what answers this call.

        Found by the recorded entry; in a run that has already left the recording (a call is not
        in it any more), by turn number: the edit says what the model says at that turn.
        """
        entry = ticket.entry
        if not self.edits:
            return None
        if entry is None and self.policy.on_miss == "live" and self.parent is not None:
            entry = self._same_turn(ticket, self.parent)
        edit = self.edits.get(entry.id) if entry is not None else None
        if edit is None or entry is None or entry.id in self.done:
            return None
        if not isinstance(edit, ReplyEdit | ToolResultEdit):
            return None
        ticket.entry = entry
        return edit

    def applied(self, ticket: Ticket, edit: ReplyEdit | ToolResultEdit, tape: Tape) -> None:
        """An edit is made use of: what it makes void is."""
        entry = ticket.entry
        assert entry is not None  # noqa: S101 - edit_for saw to it
        self.done.add(entry.id)
        if isinstance(edit, ReplyEdit):
            for tool in void_tools(edit, entry):
                tape.discard(tool)

    def edited(self, ticket: Ticket, edit: ReplyEdit | ToolResultEdit) -> Served:
        """What the agent gets by an edit."""
        assert ticket.entry is not None  # noqa: S101 - edit_for saw to it
        if isinstance(edit, ToolResultEdit):
            return Served(loads(dumps(edit.result)))
        return serve_reply(ticket.call, ticket.entry, edit)

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
        return [edit for entry, edit in self.edits.items() if entry not in self.done]


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
