"""Why a call was not found in the recording: the nearest entries, and what differs in each.

Explaining changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.errors import DriftError
from workbench.seam.calls import MISSING, Outcome
from workbench.seam.explain_hand import by_hand, changed_by_hand
from workbench.seam.explain_servers import changed_list, same_answer
from workbench.seam.guard import arguments_text
from workbench.seam.nearest import Candidate, named, nearest
from workbench.seam.writing import short
from workbench.trace.canonical import digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.seam.calls import Call, Ticket
    from workbench.seam.tape import Tape
    from workbench.trace.redaction import Redactor
    from workbench.trace.trace import Entry, Trace


@dataclass(frozen=True, slots=True)
class Miss:
    """A call that the recording does not answer."""

    kind: str
    name: str | None
    where: str | None
    turn: int | None
    step: str
    candidates: tuple[Candidate, ...] = field(default=())
    used_up: int = 0
    """How many entries with the very same request were all served already."""
    unreached: tuple[int, int] | None = None
    """The first and last recorded turn that were not reached."""
    position: int | None = None
    """The position, from 1, at which something else was recorded."""
    holds: str = ""
    """What was recorded there."""


def explain(ticket: Ticket, tape: Tape, parent: Trace | None) -> DriftError:
    """The error for a call without an entry."""
    call = _as_written(ticket)
    place = tape.next_in_place() if tape.by_position else None
    same = [] if place is not None else tape.same(call.kind, ticket.digest)
    candidates = [] if same else nearest(call, tape, place)
    void = [each for each in same if _is_void(each, call, tape)]
    miss = Miss(
        kind=call.kind,
        name=call.name or call.model,
        where=call.where,
        turn=ticket.turn,
        step=call.step,
        candidates=tuple(candidates),
        used_up=0 if void else len(same),
        unreached=_unreached(tape, ticket.turn),
        position=tape.entries.index(place) + 1 if place is not None else None,
        holds=f"the {_named(place)} (entry {place.id})" if place is not None else "",
    )
    hand = by_hand(call, tape, parent)
    return DriftError(_text(miss, call, same, void, parent, hand), miss=miss)


def lenient(ticket: Ticket, entry: Entry | None, tape: Tape) -> str:
    """What is said of a call that is answered though nothing recorded fits."""
    call = _as_written(ticket)
    where = f"{call.kind} call at {call.where or 'an unknown line'}"
    if entry is None:
        return f"{where}: nothing recorded fits; a placeholder was served"
    hand = changed_by_hand(call, entry)
    if hand:
        return f"{where}: changed since the recording ({hand}); {entry.id} was served anyway"
    found = nearest(call, tape, entry)
    differs = (
        [f"{each.where}: {each.recorded} became {each.now}" for each in found[0].differs[:3]]
        if found
        else []
    )
    what = f" ({'; '.join(differs)})" if differs else ""
    return f"{where}: changed since the recording{what}; {entry.id} was served anyway"


def _as_written(ticket: Ticket) -> Call:
    """A call as its trace has it: what is said of it goes to terminals and logs, and holds no
    secret, nor does a secret count as a difference."""
    return ticket.call if ticket.request is None else replace(ticket.call, request=ticket.request)


def _is_void(entry: Entry, call: Call, tape: Tape) -> bool:
    """Whether a recorded result is still there, and yet does not hold any more."""
    return entry.step == call.step and not entry.open and not tape.gone(entry)


def other_result(
    ticket: Ticket, entry: Entry, outcome: Outcome, redactor: Redactor
) -> DriftError | None:
    """The error for a tool that was run again and gave something else; None if it did not."""
    if outcome.error is None and entry.error is None and outcome.response is not MISSING:
        fresh = redactor.clean(outcome.response)
        if same_answer(ticket.call.name, entry.response, fresh):
            return None
        listed = changed_list(ticket, entry, fresh)
        if listed is not None:
            return listed
    error, now, was = outcome.error, outcome.response, entry.response
    if ticket.call.stream:  # what a generator yielded, as far as it was read
        now = list(ticket.chunks)
        was = was[: len(now)] if outcome.ended == "stopped" and isinstance(was, list) else was
    if error is not None:
        error = error.model_copy(update={"message": redactor.clean(error.message)})
    if now is not MISSING:
        now = redactor.clean(now)
    same = (error is None) == (entry.error is None)
    if error is not None and entry.error is not None:
        same = error.message == entry.error.message
    if same and digest(None if now is MISSING else now) == digest(was):
        return None
    call = _as_written(ticket)
    was = MISSING if entry.error is not None else was
    return DriftError(
        f"tool '{call.name}'{_at(call.where)} gives another result than was recorded "
        f"(entry {entry.id})"
        f"\n  call      {arguments_text(call)}"
        f"\n  recorded  {short(call, was, entry.error, [])}"
        f"\n  now       {short(call, now, error, [])}"
        "\n  check that setup= makes the world that the recording began with, or serve the "
        'recorded results: tools_before="replay"'
    )


def leftovers(entries: list[Entry]) -> DriftError:
    """The error for recorded calls that were never made."""
    lines = [f"{len(entries)} recorded {_calls(len(entries))} never made:"]
    for entry in entries[:10]:
        turn = f"turn {entry.turn.number} · " if entry.turn is not None else ""
        lines.append(f"  {turn}{_named(entry)} ({entry.id})")
    if len(entries) > 10:
        lines.append(f"  and {len(entries) - 10} more")
    lines.append("  the agent does less than it did; record again to keep the change")
    return DriftError("\n".join(lines))


def _named(entry: Entry) -> str:
    return f"{entry.kind} {named(entry) or entry.model or ''}".strip()


def _calls(count: int) -> str:
    return "call was" if count == 1 else "calls were"


def _at(where: str | None) -> str:
    return f" at {where}" if where else ""


# -- what the text says ---------------------------------------------------------------------


def _text(
    miss: Miss,
    call: Call,
    same: list[Entry],
    void: list[Entry],
    parent: Trace | None,
    hand: list[str],
) -> str:
    parts = [
        f"drift at turn {miss.turn}" if miss.turn else "drift before the first turn",
        f"{miss.kind} call",
        miss.where,
        f"step {miss.step}" if miss.step else None,
    ]
    lines = [" · ".join(part for part in parts if part)]
    if void:
        lines += _void(call, void[0])
    elif hand:
        lines += hand
    elif same:
        lines += _used_up(call, same)
    elif miss.position is not None and not miss.candidates:
        lines.append(f"  position {miss.position} of the recording holds {miss.holds}")
    elif miss.candidates:
        if miss.position is not None:
            lines.append(f"  position {miss.position} of the recording holds another call")
        lines += list(_nearest_lines(miss.candidates[0]))
        lines += [_other_line(each) for each in miss.candidates[1:]]
    else:
        what = f"tool '{call.name}'" if call.kind == "tool" else "a model"
        lines.append(f"  the recording has no call of {what}{_in_step(miss.step)}")
        if call.kind == "tool":
            lines.append(f"  now       {arguments_text(call)}")
    if miss.unreached is not None:
        first, last = miss.unreached
        lines.append(
            f"  turns {first} to {last} were not reached"
            if last > first
            else f"  turn {first} was not reached"
        )
    lines += [f"  {what + ':':<17}{how}" for what, how in _ways_out(miss, call, void, parent)]
    return "\n".join(lines)


def _in_step(step: str) -> str:
    return f" in step '{step}'" if step else ""


def _used_up(call: Call, same: list[Entry]) -> list[str]:
    steps = {entry.step for entry in same}
    if call.step not in steps:
        known = ", ".join(repr(each) for each in sorted(steps))
        return [f"  the same request was recorded in step {known}, not in '{call.step}'"]
    if all(entry.open for entry in same):
        return ["  the recording was cut short in the middle of this very call: it has no result"]
    count = len(same)
    times = "once" if count == 1 else f"{count} times"
    head = arguments_text(call) if call.kind == "tool" else "the same request"
    return [
        f"  {head} was recorded {times}, and served: this is one more ({count} of {count} used)"
    ]


def _void(call: Call, entry: Entry) -> list[str]:
    turn = f" (turn {entry.turn.number})" if entry.turn is not None else ""
    return [
        f"  {arguments_text(call)} was recorded as entry {entry.id}{turn}, but that is void:",
        "  a tool that writes ran live in this run, so the world is not the recorded one any more",
    ]


def _nearest_lines(candidate: Candidate) -> Iterator[str]:
    if not candidate.differs:
        yield f"  nearest   {_called(candidate)}, which differs only in how it is written"
    for difference in candidate.differs[:3]:
        yield f"  recorded  {difference.recorded}"
        note = f"   {difference.where}{', ' + difference.note if difference.note else ''}"
        yield f"  now       {difference.now}{note}"
    if len(candidate.differs) > 3:
        rest = ", ".join(each.where for each in candidate.differs[3:8])
        yield f"  also      {rest}"
    agreed = f"; the same: {', '.join(candidate.agreed)}" if candidate.agreed else ""
    served = ", already served" if candidate.served else ""
    yield f"  nearest   {_called(candidate)}{served}{agreed}"
    if candidate.differs and all(each.volatile for each in candidate.differs):
        yield "  only a time, an id or a path differs"
    elif candidate.differs and all(each.reordered for each in candidate.differs):
        yield "  only the order differs: sort what is listed before the model is asked"


def _other_line(candidate: Candidate) -> str:
    where = dict.fromkeys(each.where for each in candidate.differs)
    what = ", ".join(list(where)[:4]) or "nothing that can be shown"
    served = ", already served" if candidate.served else ""
    return f"  then      {_called(candidate)}{served}: differs in {what}"


def _called(candidate: Candidate) -> str:
    turn = f" (turn {candidate.turn})" if candidate.turn else ""
    return f"entry {candidate.entry}{turn}"


def _ways_out(
    miss: Miss, call: Call, void: list[Entry], parent: Trace | None
) -> list[tuple[str, str]]:
    path = str(parent.path) if parent is not None and parent.path else "TRACE"
    out = [("keep the change", "workbench record …"), ("look closer", f"workbench show {path}")]
    if void:
        out.append(("run it again", 'tools_before="verify", with setup= for the recorded world'))
    differs = miss.candidates[0].differs if miss.candidates else ()
    if parent is not None and parent.header.hand is not None:
        return out[1:]
    if differs and all(each.volatile for each in differs):
        out.insert(0, ("a time or an id", "workbench record --ambient …"))
    if call.kind == "model" and 0 < len(differs) <= 2 and all(each.pointer for each in differs):
        rules = " ".join(f"--ignore {call.api}:{each.pointer}" for each in differs)
        out.append(("ignore it", rules))
    if call.kind == "tool" or not differs:
        out.append(("run it live", "workbench fork … --on-miss live"))
    return out


def _unreached(tape: Tape, turn: int | None) -> tuple[int, int] | None:
    numbers = [
        entry.turn.number
        for entry in tape.waiting()
        if entry.kind == "model" and entry.turn is not None and entry.turn.number > (turn or 0)
    ]
    return (min(numbers), max(numbers)) if numbers else None
