"""Which calls the injected faults hit, and which of them did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.trace.faults import StreamTruncate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.seam.calls import Ticket
    from workbench.trace.faults import Aim, Fault


class Faults:
    """The faults of one run. A retry of a call is the same call: it is not counted anew."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._all = list(faults)
        self._left = [fault.times for fault in self._all]
        self._counts: list[dict[tuple[str, str, str, int], int]] = [{} for _ in self._all]
        self.fired: list[tuple[Fault, str]] = []

    def pick(self, ticket: Ticket) -> Fault | None:
        """The fault that hits this call, if one does; it is then used up by one."""
        same = (ticket.call.kind, ticket.call.step, ticket.digest, ticket.nth)
        chosen: int | None = None
        # A call that one fault hits still counts for the others.
        for number, fault in enumerate(self._all):
            if not _fits(fault, ticket):
                continue
            counts = self._counts[number]
            nth = counts.setdefault(same, len(counts) + 1)
            if chosen is None and self._left[number] and _meets(fault.aim, ticket, nth):
                chosen = number
        if chosen is None:
            return None
        self._left[chosen] -= 1
        self.fired.append((self._all[chosen], ticket.id))
        return self._all[chosen]

    def missed(self, ticket: Ticket) -> None:
        """Take back that a fault hit this call: its place in the stream never came."""
        self.fired = [each for each in self.fired if each[1] != ticket.id]
        ticket.fault = None

    def unfired(self) -> list[Fault]:
        """Faults that hit nothing at all."""
        hit = [fault for fault, _ in self.fired]
        return [fault for fault in self._all if not any(fault is each for each in hit)]


def _fits(fault: Fault, ticket: Ticket) -> bool:
    aim, call = fault.aim, ticket.call
    if isinstance(fault, StreamTruncate) and call.kind != "model":
        return False
    if aim.tool is not None:
        if call.kind != "tool" or call.name != aim.tool:
            return False
    elif (aim.place is None or aim.place.kind != "entry") and call.kind != "model":
        return False
    return aim.place is None or _at(aim, ticket)


def _at(aim: Aim, ticket: Ticket) -> bool:
    place = aim.place
    if place is None:
        return True
    if place.kind == "turn":
        recorded = ticket.entry.turn if ticket.entry is not None else None
        number = recorded.number if recorded is not None else ticket.turn
        return number == place.value
    if place.kind == "entry":
        return ticket.entry is not None and ticket.entry.id == place.value
    step = ticket.call.step
    return step == place.value or step.startswith(f"{place.value}/")


def _meets(aim: Aim, ticket: Ticket, nth: int) -> bool:
    if aim.attempt is not None and aim.attempt != ticket.attempt:
        return False
    if aim.nth is not None:
        return nth == aim.nth
    return True
