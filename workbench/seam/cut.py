"""Where a fork goes live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from workbench.errors import PlaceError, UsageError
from workbench.trace.places import Place, in_step

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from workbench.seam.calls import Policy
    from workbench.trace.trace import Entry, Trace


class Cut:
    """Which recorded entries run live: all from a point on, whole steps, and single ones."""

    def __init__(
        self,
        trace: Trace | None = None,
        live_from: Place | Callable[[Entry], bool] | None = None,
        force_live: Iterable[Place] = (),
    ) -> None:
        self.place: Place | None = live_from if isinstance(live_from, Place) else None
        """Where the run goes live; for a condition the first entry that meets it."""
        self.first: int | None = None
        self.steps: set[str] = set()
        self.forced: set[str] = set()
        if trace is None:
            return
        if live_from is not None:
            self._set(trace, live_from)
        for place in force_live:
            self.forced |= {entry.id for entry in _named(trace, place)}

    @property
    def is_set(self) -> bool:
        """Whether anything past a point runs live (single forced entries aside)."""
        return self.first is not None or bool(self.steps)

    def why(self, entry: Entry) -> Literal["cut", "forced"] | None:
        """Why a recorded entry runs live; None when it is served."""
        if entry.id in self.forced:
            return "forced"
        if self.first is not None and entry.seq >= self.first:
            return "cut"
        if self.steps and _within(entry.step, self.steps):
            return "cut"
        return None

    def covers_step(self, step: str) -> bool:
        """Whether a whole step runs live, so that calls without an entry do too."""
        return bool(self.steps) and _within(step, self.steps)

    def _set(self, trace: Trace, live_from: Place | Callable[[Entry], bool]) -> None:
        if not isinstance(live_from, Place):
            if not callable(live_from):
                raise UsageError(
                    f"live_from={live_from!r}: say turn(n), step('name'), entry('id') or give a "
                    "function of an entry; a bare number could mean any of them"
                )
            hit = next((entry for entry in trace.entries if live_from(entry)), None)
            if hit is None:
                raise PlaceError("live_from: no entry of the trace meets the condition")
            self.first = hit.seq
            self.place = Place(kind="entry", value=hit.id)
            return
        graph = trace.header.steps
        if live_from.kind == "step" and graph:
            self.steps = _dependents(str(live_from.value), graph)
            return
        if live_from.kind == "turn" and live_from.value == len(trace.turns) + 1:
            self.first = trace.entries[-1].seq + 1 if len(trace.entries) else 0
            return
        self.first = min(entry.seq for entry in _named(trace, live_from))


def check_reachable(trace: Trace, cut: Cut, edited: Iterable[str], policy: Policy) -> None:
    """Refuse a cut, a forced entry or an edit that lies inside a tool which is served whole.

    A served tool does not run, so nothing inside it is ever asked for.

    Raises:
        PlaceError: one does; the text names the tool's own entry.
    """
    if policy.tools_before != "replay":
        return
    wanted = {*cut.forced, *edited}
    if cut.place is not None and cut.place.kind == "entry":
        wanted.add(str(cut.place.value))
    for entry_id in sorted(wanted):
        outer = trace.entry(entry_id).enclosing
        if outer is not None and cut.why(trace.entry(outer)) is None:
            raise PlaceError(
                f"entry {entry_id} lies inside the tool call {outer}, which is served from the "
                f'trace and does not run: name entry("{outer}"), or run the tools again with '
                'tools_before="verify" and a setup= that makes their world'
            )


def _named(trace: Trace, place: Place) -> list[Entry]:
    if not isinstance(place, Place):
        raise UsageError(f"{place!r} is not a place: say turn(n), step('name') or entry('id')")
    if place.kind == "turn":
        turn = trace.turn(int(place.value))
        return [*turn.attempts, *turn.tools]
    if place.kind == "entry":
        return [trace.entry(str(place.value))]
    found = [entry for entry in trace.entries if _within(entry.step, {str(place.value)})]
    if not found:
        names = sorted({entry.step for entry in trace.entries if entry.step})
        known = "it has the steps " + ", ".join(names) if names else "it names no steps at all"
        raise PlaceError(f"the trace has no step '{place.value}': {known}")
    return found


def _within(step: str, steps: set[str]) -> bool:
    return step in steps or any(in_step(step, each) for each in steps)


def _dependents(step: str, graph: dict[str, list[str]]) -> set[str]:
    if step not in graph:
        raise PlaceError(f"the trace has no step '{step}': it has {', '.join(sorted(graph))}")
    out = {step}
    while True:
        more = {name for name, needs in graph.items() if out & set(needs)} - out
        if not more:
            return out
        out |= more
