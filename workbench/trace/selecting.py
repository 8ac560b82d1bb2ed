"""The entries at a place of a trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import PlaceError
from workbench.trace.places import in_step

if TYPE_CHECKING:
    from workbench.trace.places import Place
    from workbench.trace.trace import Entry, Trace


def entries_at(trace: Trace, place: Place) -> list[Entry]:
    """A turn's entries, a step's (with its inner steps'), or one.

    Raises:
        PlaceError: the trace has no such place.
    """
    if place.kind == "turn":
        return trace.turn(int(place.value)).entries
    if place.kind == "entry":
        return [trace.entry(str(place.value))]
    name = str(place.value)
    found = [each for each in trace.entries if in_step(each.step, name)]
    if not found:
        steps = sorted({each.step for each in trace.entries if each.step})
        there = f"the steps {', '.join(steps[:20])}" if steps else "no steps"
        raise PlaceError(f"step({name!r}): the trace {trace.name or trace.id} has {there}")
    return found
