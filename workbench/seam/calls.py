"""What passes between an adapter, a driver and the session: calls, decisions, outcomes."""

from __future__ import annotations

import contextlib
from concurrent.futures import InvalidStateError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from workbench.errors import UsageError
from workbench.trace.values import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from workbench.seam.latency import Latency
    from workbench.trace.entries import Effect, Ended, ErrorInfo, Source
    from workbench.trace.places import Place
    from workbench.trace.trace import Entry

CallKind = Literal["model", "tool", "input", "event"]
How = Literal["live", "replayed", "edited", "fault", "simulated"]
Reason = Literal[
    "record",
    "hit",
    "miss",
    "cut",
    "forced",
    "edited",
    "fault",
    "verify",
    "rerun",
    "placeholder",
    "rotated",
]
OnMiss = Literal["fail", "live", "placeholder"]
ReplayMiss = Literal["fail", "placeholder"]
ToolsBefore = Literal["replay", "verify", "live"]
ToolsAfter = Literal["deny", "allow", "ask", "simulate"]
Match = Literal["hash", "position"]
Completion = Literal["recorded", "free"]
Released = Literal["clock", "id", "random"]
Verdict = Literal["allow", "deny", "cancel", "simulate", "go", "time"]


class _Missing:
    """No value at all, which is not None."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""Stands for a response that never came."""


@dataclass(slots=True)
class Call:
    """A call as the agent asks for it.

    An adapter fills in what it knows; the driver adds where the call comes from.
    """

    kind: CallKind
    request: Any
    """As the trace stores it: encoded values, a snapshot that nobody changes later. Of an input
    it is ``{"prompt": …}``, of an event what it carries. None once the call was answered at once,
    by the very call that was recorded."""
    api: str | None = None
    name: str | None = None
    model: str | None = None
    stream: bool = False
    effect: Effect | None = None
    key: str | None = None
    """A tool's own idempotency key, when it declares one."""
    step: str = ""
    enclosing: str | None = None
    asked_by: str | None = None
    where: str | None = None
    digest: str | None = field(default=None, init=False, repr=False, compare=False)
    """The hash of the request as it is, once it is known."""


@dataclass(slots=True)
class Outcome:
    """How a call ended, as an adapter read it off the SDK's result or exception."""

    response: Any = MISSING
    error: ErrorInfo | None = None
    ended: Ended | None = None
    provider: str | None = None
    model: str | None = None
    usage: dict[str, int | None] | None = None


@dataclass(slots=True)
class Served:
    """An answer that does not come from the world: recorded, edited, or a fault.

    A streamed answer has ``chunks``, a plain one ``response``. With ``error``, that is raised: at
    once, or after the chunks.
    """

    response: Any = MISSING
    chunks: list[Any] | None = None
    error: ErrorInfo | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether nothing came of the call: it was cancelled, and will be."""
        error = self.error
        return self.chunks is None and error is not None and error.type == "CancelledError"

    @property
    def beyond(self) -> str | None:
        """Why a call cannot be answered whole: its recorded reader had stopped before the end."""
        error = self.error
        stopped = self.chunks is None and error is not None and error.type == "stopped"
        return error.message if stopped and error is not None else None


@dataclass(slots=True)
class Ticket:
    """One call on its way through the session."""

    id: str
    call: Call
    digest: str
    turn: int | None
    nth: int = 0
    """How many calls with the very same request came before, retries aside."""
    attempt: int = 1
    in_step: int = 0
    """Of a model call: the how-manyeth it is in its step, retries aside, from 1."""
    entry: Entry | None = None
    """The recorded entry that answers it, if any."""
    how: How = "live"
    reason: Reason = "record"
    source: Source = "live"
    key: str | None = None
    request: Any = None
    """What is written of the request."""
    clean: bool = False
    """It is redacted already; else the journal does it."""
    sent: Any = MISSING
    """What is sent instead of it, when an edit says so."""
    fault: Any = None
    """The injected fault that hits it."""
    reshapes: bool = False
    """The fault changes the outcome, which is still to come."""
    below: int = 0
    """How many tries of the SDK's own the fault makes fail."""
    question: Question | None = None
    """What was asked about it."""
    held_s: float | None = None
    """Seconds that it waited for the answer."""
    expect: Entry | None = None
    """Set when the result of a call that runs is compared with that of a recorded one."""
    begun: float = 0.0
    first: float | None = None
    chunks: list[Any] = field(default_factory=list)
    offsets: Sequence[float] = ()
    """When the chunks of a recorded stream came, which a replay of it repeats."""
    cut_after: int | None = None
    """After how many chunks a fault breaks the stream off."""
    hit: bool = False
    """Whether it did."""
    running: bool = False
    """It runs in the world just now."""
    closed: bool = False


@dataclass(slots=True)
class Serve:
    """Hand this to the agent; the world is not touched."""

    ticket: Ticket
    served: Served
    below: list[ErrorInfo] = field(default_factory=list)
    """With what the SDK's own first tries fail, before it gets this."""


@dataclass(slots=True)
class Perform:
    """Do it for real, with this request."""

    ticket: Ticket
    request: Any
    below: list[ErrorInfo] = field(default_factory=list)
    """With what the SDK's own first tries fail, before one reaches the world."""
    stand_in: Callable[..., Any] | None = None
    """A function that is called instead of the tool."""


@dataclass(slots=True)
class Fail:
    """Raise: an injected fault as the provider's own exception, or an error of ours."""

    ticket: Ticket
    error: ErrorInfo | BaseException


@dataclass(slots=True)
class Hold:
    """Wait for a verdict, then ``resume``: for an answer to the question, or for the calls that
    are to end before this one (verdict ``go``; ``time`` when ``patience_s`` have passed). With
    ``apart`` it ended a while after them, and what follows from them is to come before it."""

    ticket: Ticket
    question: Question | None = None
    future: Future[Verdict] | None = None
    patience_s: float = 0.0
    apart: bool = False


Decision = Serve | Perform | Fail | Hold


@dataclass(slots=True)
class Question:
    """A call waits for somebody's word. Answer it once, from any thread.

    Of the kind ``write`` it is a live write that asks whether it may happen, of the kind ``pause``
    a call at a breakpoint.
    """

    id: str
    tool: str
    arguments: Any
    key: str
    turn: int | None
    text: str
    future: Future[Verdict]
    why_denied: str = "it was denied"
    """Said when it is denied."""
    kind: Literal["write", "pause"] = "write"
    of: CallKind = "tool"
    """What kind of call waits."""
    result: Any = MISSING
    """What the call gives instead of running."""

    def allow(self) -> None:
        """Let the write happen, this once; go on from a breakpoint."""
        self._answer("allow")

    def simulate(self, result: Any) -> None:
        """Let the agent have this as the result; nothing runs.

        A tool's is any value, an answer of a human a text. A model's is a text, or the body of a
        response in its own shape.

        Raises:
            UsageError: a model can say no such thing.
            UnencodableError: a trace cannot represent the result.
        """
        if self.of == "model" and not isinstance(result, str | dict):
            raise UsageError(
                f"a model cannot have answered {result!r}: give a text, or a response's body"
            )
        self.result = encode(result)
        self._answer("simulate")

    def deny(self, why: str = "it was denied") -> None:
        """End the run as blocked; ``why`` is said in the error."""
        self.why_denied = why
        self._answer("deny")

    def _answer(self, verdict: Verdict) -> None:
        with contextlib.suppress(InvalidStateError):  # somebody was quicker
            self.future.set_result(verdict)


@dataclass(frozen=True, slots=True)
class CallReport:
    """What became of one call of a run."""

    entry: str
    """Its entry in the new trace."""
    origin: str | None
    """The recorded entry that it is the same as, in the parent: what answered it if it was
    replayed, what it was compared with or ran instead of if it was live."""
    turn: int | None
    """The turn, from 1, in the new trace."""
    kind: str
    name: str | None
    """The tool or the model."""
    how: How
    """``replayed``, ``live``, ``edited``, ``fault`` or ``simulated``."""
    reason: Reason
    """Why: ``hit``, ``miss``, ``cut``, ``forced``, ``edited``, ``fault``, ``verify``, …"""
    duration_s: float | None
    where: str | None
    """The line of the agent's code."""
    summary: str
    """A few words on the outcome."""
    step: str = ""


@dataclass(slots=True)
class Policy:
    """What makes a session record, replay, or fork."""

    on_miss: OnMiss = "fail"
    tools_before: ToolsBefore = "replay"
    tools_after: ToolsAfter = "deny"
    realtime: bool = False
    fresh_world: bool = False
    """A world was made for this run, so tools may run again in it without being asked for."""
    match: Match = "hash"
    """How a recorded call is found: by what it asks, or by its position in the whole trace."""
    completion: Completion = "recorded"
    """Calls at once end in the order in which they ended when they were recorded, or as they
    come."""
    latency: Latency | None = None
    """How long a served answer takes; None: no time at all."""
    release: frozenset[str] = frozenset()
    """What is read anew once the run is live: ``clock``, ``id``, ``random``."""
    simulate: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    """Stand-ins for tools that write, by name."""
    breakpoints: Sequence[Place | Callable[..., bool]] = ()
    """Where a run waits for somebody to let it go on."""

    @property
    def strict(self) -> bool:
        """Whether a call that is not in the trace ends the run."""
        return self.on_miss == "fail"
