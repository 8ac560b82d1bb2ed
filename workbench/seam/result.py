"""What a run leaves: its result, the reports of its calls, and the plan that it began with."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from workbench.errors import DriftError, UsageError
from workbench.seam.calls import CallReport, Question
from workbench.seam.lazily import Lazily
from workbench.seam.watching import Controller, Progress

if TYPE_CHECKING:
    from decimal import Decimal

    from workbench.trace.diff import Diff
    from workbench.trace.entries import Status
    from workbench.trace.faults import Fault
    from workbench.trace.places import Place
    from workbench.trace.trace import Entry, Trace

__all__ = ["CallReport", "Controller", "Plan", "Progress", "Question", "RunResult"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a fork is going to do, said before it starts."""

    served: int
    """Calls that are answered from the trace."""
    rerun: int
    """Recorded tool calls that are run again before the cut (``tools_before`` not ``replay``)."""
    edited: tuple[str, ...]
    """What is edited, such as ``turn 4``."""
    live: int
    """Calls that are expected to run live: as many as were recorded from there on."""
    live_writes: int
    """Those among them that write."""
    cost: Decimal | None
    """What the recorded calls from there on cost, in US dollars; None when that is not known."""
    cut: Place | None
    """Where it goes live; None when the edits alone decide (ripple)."""
    lines: tuple[str, ...]
    """All of it in sentences."""

    def __str__(self) -> str:
        return " · ".join(self.lines)

    def to_json(self) -> dict[str, Any]:
        """Plain data for a front end or ``--json``."""
        return {
            "served": self.served,
            "rerun": self.rerun,
            "edited": list(self.edited),
            "live": self.live,
            "live_writes": self.live_writes,
            "cost_usd": None if self.cost is None else float(self.cost),
            "cut": None if self.cut is None else str(self.cut),
            "lines": list(self.lines),
        }


def _no_trace() -> Trace:
    raise UsageError("the trace of this run was never written")


@dataclass
class RunResult:
    """How a recording, replay or fork went."""

    status: Status
    """``ok``; ``failed``: the agent raised; ``drifted``: the replay did not fit the recording;
    ``blocked``: a live write was not allowed; ``cancelled``."""
    output: Any = None
    """What the agent returned."""
    error: BaseException | None = None
    """What the agent raised."""
    drift: DriftError | None = None
    """How the agent left the recording; never the agent's own failure."""
    calls: Lazily[list[CallReport]] = Lazily(list)  # noqa: RUF009 - a descriptor is no value
    """Each call: replayed, live, edited or failed on purpose, and why."""
    leftover: list[Entry] = field(default_factory=list)
    """Recorded calls that were never made."""
    fired: list[tuple[Fault, str]] = field(default_factory=list)
    """Injected faults that hit, each with its entry."""
    unfired: list[Fault] = field(default_factory=list)
    """Injected faults that hit nothing."""
    notices: list[str] = field(default_factory=list)
    """What else is worth knowing."""
    plan: Plan | None = None
    """A fork's plan."""
    parent: Trace | None = None
    """What was replayed or forked."""
    trace: Lazily[Trace] = Lazily(_no_trace)  # noqa: RUF009
    """The new trace."""

    def __getstate__(self) -> dict[str, Any]:
        """What goes to another process: what is made later is made now."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def spent(self) -> Decimal | None:
        """US dollars that live calls cost; None when a price is not known."""
        from workbench.trace.prices import spent_and_saved

        return spent_and_saved(self.trace)[0].exact

    @property
    def saved(self) -> Decimal | None:
        """US dollars that replayed calls did not cost again; None when a price is not known."""
        from workbench.trace.prices import spent_and_saved

        return spent_and_saved(self.trace)[1].exact

    @property
    def live_calls(self) -> int:
        """How many calls ran live."""
        return sum(1 for call in self.calls if call.how == "live")

    def diff(self) -> Diff:
        """The difference between what was recorded and what happened now.

        Raises:
            UsageError: a recording has nothing to compare with.
        """
        if self.parent is None:
            raise UsageError("a recording has no parent to compare with; use trace.diff(other)")
        return self.parent.diff(self.trace)

    def raise_for_drift(self) -> RunResult:
        """This result, once it is sure that the replay fitted the recording.

        Raises:
            DriftError: it did not.
        """
        if self.drift is not None:
            raise self.drift
        return self

    def __repr__(self) -> str:
        live = f", {self.live_calls} live" if self.live_calls else ""
        calls = "1 call" if len(self.calls) == 1 else f"{len(self.calls)} calls"
        return f"<RunResult {self.status}: {calls}{live}>"
