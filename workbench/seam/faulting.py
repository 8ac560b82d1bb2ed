"""Which calls the injected faults hit, and which of them did."""

from __future__ import annotations

import copy
import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError
from workbench.trace.faults import Aim, StreamTruncate, aimed_kinds, only_named
from workbench.trace.places import in_step
from workbench.trace.toollists import keeps_session

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.seam.calls import Ticket
    from workbench.trace.faults import Fault


@dataclass(frozen=True, slots=True)
class SeenCall:
    """A call as a fault's ``when=`` function gets it, to say whether it is meant.

    The data are copies: changing them changes nothing.
    """

    kind: str
    """``model``, ``tool``, ``input`` or ``event``."""
    name: str | None
    """The tool's name, or the event's type; None for a model call."""
    model: str | None
    """The model that is asked for; None for any other call."""
    step: str
    """The step's path; empty outside any step."""
    turn: int | None
    """The turn, from 1; None before the first model call."""
    attempt: int
    """Which try of the same call it is, from 1."""
    request: Any
    """What is asked: a model's ``{"path", "body"}``, a tool's ``{"name", "arguments"}``, a
    person's ``{"prompt"}``, an event's ``{"type", "data"}``."""

    @property
    def arguments(self) -> dict[str, Any]:
        """A tool's arguments by name, as a trace holds them; else empty."""
        found = self.request.get("arguments") if isinstance(self.request, dict) else None
        return found if self.kind == "tool" and isinstance(found, dict) else {}

    @property
    def body(self) -> dict[str, Any]:
        """The body of a model's request; else empty."""
        found = self.request.get("body") if isinstance(self.request, dict) else None
        return found if self.kind == "model" and isinstance(found, dict) else {}

    @property
    def data(self) -> Any:
        """What an event carries; None for any other call."""
        return self.request.get("data") if self.kind == "event" else None


class Faults:
    """The faults of one run. A retry of a call is the same call: it is not counted anew.

    Raises:
        UsageError: the function that a fault is aimed with is only known by its name.
    """

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._all = list(faults)
        for problem in filter(None, map(only_named, self._all)):
            raise UsageError(problem)
        self._left = [fault.times for fault in self._all]
        self._counts: list[dict[tuple[str, str, str, int], int]] = [{} for _ in self._all]
        self._broken: UsageError | None = None
        self._reasons: dict[int, str] = {}
        self._tools: set[str] = set()
        """The names of the tools that were called, for who wrote one wrong."""
        self.fired: list[tuple[Fault, str]] = []

    def pick(self, ticket: Ticket) -> Fault | None:
        """The fault that hits this call, if one does; it is then used up by one.

        Raises:
            UsageError: a fault's ``when=`` function failed; so does every later call.
        """
        if self._broken is not None:
            raise self._broken
        same = (ticket.call.kind, ticket.call.step, ticket.digest, ticket.nth)
        if ticket.call.kind == "tool" and ticket.call.name:
            self._tools.add(ticket.call.name)
        chosen: int | None = None
        # A call that one fault hits still counts for the others.
        for number, fault in enumerate(self._all):
            if not self._fits(fault, ticket):
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

    def use_up(self, fault: Fault) -> int:
        """For a fault below an SDK's retries that was just picked: how many of the SDK's own
        tries it makes fail, which are all that it has left."""
        number = self._number(fault)
        tries, self._left[number] = self._left[number] + 1, 0
        return tries

    def give_back(self, fault: Fault, tries: int) -> None:
        """So many of the tries that :meth:`use_up` gave were never made: they hit a later call."""
        self._left[self._number(fault)] += tries

    def missed(self, ticket: Ticket, why: str = "") -> None:
        """Take back that a fault hit this call: there was nothing that it could do to it.

        It stays for a later call. ``why`` is what is said of it when no call comes that it fits.
        """
        for fault, _ in [each for each in self.fired if each[1] == ticket.id]:
            number = self._number(fault)
            self._left[number] += 1
            self._reasons[number] = f"{why} ({ticket.id})" if why else ""
        self.fired = [each for each in self.fired if each[1] != ticket.id]
        ticket.fault = None

    def unfired(self) -> list[Fault]:
        """Faults that hit nothing at all."""
        hit = [fault for fault, _ in self.fired]
        return [fault for fault in self._all if not any(fault is each for each in hit)]

    def complaint(self) -> str:
        """Which faults hit nothing and why, a line each."""
        return "\n".join(
            f"the fault {fault.label} never fired: {self._why_unfired(fault)}"
            for fault in self.unfired()
        )

    def _why_unfired(self, fault: Fault) -> str:
        """Why a fault hit nothing, as a part of a sentence."""
        reason = self._reasons.get(self._number(fault))
        if reason:
            return reason
        if fault.aim == Aim():
            return f"there was no {' or '.join(sorted(aimed_kinds(fault)))} call"
        meant = difflib.get_close_matches(fault.aim.tool or "", self._tools - {fault.aim.tool}, 1)
        hint = f"; did you mean the tool {meant[0]}?" if meant else ""
        return f"no call met its aim ({fault.aim}){hint}"

    def _number(self, fault: Fault) -> int:
        return next(number for number, each in enumerate(self._all) if each is fault)

    def _fits(self, fault: Fault, ticket: Ticket) -> bool:
        aim, call = fault.aim, ticket.call
        if call.kind not in aimed_kinds(fault):
            return False
        if fault.layer == "below" and call.kind != "model":
            return False
        if isinstance(fault, StreamTruncate) and call.kind == "tool" and not call.stream:
            why = f"{call.name} is no generator: it gives its result whole ({ticket.id})"
            self._reasons[self._number(fault)] = why
            return False
        if keeps_session(call.name) and aim.tool is None and not _names_entry(aim):
            return False  # no model asks for it, and who means it says so
        if any(name not in (None, call.name) for name in (aim.tool, aim.event)):
            return False
        return _at(fault.aim, ticket) and self._says_so(fault, ticket)

    def _says_so(self, fault: Fault, ticket: Ticket) -> bool:
        predicate = fault.aim.predicate
        if predicate is None:
            return True
        try:
            return bool(predicate(_seen(ticket)))
        except Exception as error:
            self._broken = UsageError(
                f"the function {fault.aim.predicate_name}, given to the fault {fault.label} with "
                f"when=, failed for the {ticket.call.kind} call "
                f"{ticket.call.name or ticket.call.model or ''} at {ticket.call.where}: "
                f"{type(error).__name__}: {error}"
            )
            raise self._broken from error


def _seen(ticket: Ticket) -> SeenCall:
    call = ticket.call
    return SeenCall(
        kind=call.kind,
        name=call.name,
        model=call.model,
        step=call.step,
        turn=ticket.turn,
        attempt=ticket.attempt,
        request=copy.deepcopy(call.request),
    )


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
    return in_step(ticket.call.step, str(place.value))


def _names_entry(aim: Aim) -> bool:
    return aim.place is not None and aim.place.kind == "entry"


def _meets(aim: Aim, ticket: Ticket, nth: int) -> bool:
    if aim.attempt is not None and aim.attempt != ticket.attempt:
        return False
    return aim.nth is None or nth == aim.nth
