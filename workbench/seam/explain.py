"""Why a call was not found in the recording: the nearest entries, and what differs in each.

Explaining changes nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.errors import DriftError, UnavailableError
from workbench.seam.calls import MISSING, Outcome
from workbench.seam.guard import arguments_text
from workbench.seam.writing import clip, short
from workbench.trace.canonical import digest
from workbench.trace.payloads import compare, has_view, view, word_diff

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.seam.calls import Call, Ticket
    from workbench.seam.tape import Tape
    from workbench.trace.payloads import Message, PayloadView
    from workbench.trace.trace import Entry, Trace

_CONTEXT = 40
_NEAREST = 3
_LOOKED_AT = 50
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|\b[0-9a-fA-F]{32}\b|\b1[5-9]\d{8}(?:\.\d+)?\b|(?:/[\w.-]+){2,}"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which a call and a recorded entry differ."""

    where: str
    """What differs, for people: ``message 1 (system)``, ``temperature``."""
    pointer: str
    """The same as a JSON pointer into the request, for an ignore rule."""
    recorded: str
    now: str
    note: str = ""
    volatile: bool = False
    """Only a time, an id or a path differs."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recorded entry, and why it does not answer the call."""

    entry: str
    turn: int | None
    served: bool
    """It was served already."""
    agreed: tuple[str, ...]
    differs: tuple[Difference, ...]


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


def explain(ticket: Ticket, tape: Tape, parent: Trace | None) -> DriftError:
    """The error for a call without an entry."""
    call = ticket.call
    same = tape.same(call.kind, ticket.digest)
    candidates = [] if same else _nearest(call, tape)
    miss = Miss(
        kind=call.kind,
        name=call.name or call.model,
        where=call.where,
        turn=ticket.turn,
        step=call.step,
        candidates=tuple(candidates),
        used_up=len(same),
        unreached=_unreached(tape, ticket.turn),
    )
    return DriftError(_text(miss, call, same, parent), miss=miss)


def other_result(ticket: Ticket, entry: Entry, outcome: Outcome) -> DriftError:
    """The error for a tool that was run again and gave something else."""
    call = ticket.call
    was = MISSING if entry.error is not None else entry.response
    return DriftError(
        f"tool '{call.name}'{_at(call.where)} gives another result than was recorded "
        f"(entry {entry.id})"
        f"\n  call      {arguments_text(call)}"
        f"\n  recorded  {short(call, was, entry.error, [])}"
        f"\n  now       {short(call, outcome.response, outcome.error, [])}"
        "\n  check that setup= makes the world that the recording began with, or serve the "
        'recorded results: tools_before="replay"'
    )


def leftovers(entries: list[Entry]) -> DriftError:
    """The error for recorded calls that were never made."""
    lines = [f"{len(entries)} recorded {_calls(len(entries))} never made:"]
    for entry in entries[:10]:
        turn = f"turn {entry.turn.number} · " if entry.turn is not None else ""
        lines.append(f"  {turn}{entry.kind} {entry.name or entry.model or ''} ({entry.id})")
    if len(entries) > 10:
        lines.append(f"  and {len(entries) - 10} more")
    lines.append("  the agent does less than it did; record again to keep the change")
    return DriftError("\n".join(lines))


def _calls(count: int) -> str:
    return "call was" if count == 1 else "calls were"


def _at(where: str | None) -> str:
    return f" at {where}" if where else ""


# -- what the text says ---------------------------------------------------------------------


def _text(miss: Miss, call: Call, same: list[Entry], parent: Trace | None) -> str:
    parts = [
        f"drift at turn {miss.turn}" if miss.turn else "drift before the first turn",
        f"{miss.kind} call",
        miss.where,
        f"step {miss.step}" if miss.step else None,
    ]
    lines = [" · ".join(part for part in parts if part)]
    if same:
        lines += _used_up(call, same)
    elif miss.candidates:
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
    lines += [f"  {what + ':':<17}{how}" for what, how in _ways_out(miss, call, parent)]
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


def _nearest_lines(nearest: Candidate) -> Iterator[str]:
    if not nearest.differs:
        yield f"  nearest   {_called(nearest)}, which differs only in how it is written"
    for difference in nearest.differs[:3]:
        yield f"  recorded  {difference.recorded}"
        note = f"   {difference.where}{', ' + difference.note if difference.note else ''}"
        yield f"  now       {difference.now}{note}"
    if len(nearest.differs) > 3:
        rest = ", ".join(each.where for each in nearest.differs[3:8])
        yield f"  also      {rest}"
    agreed = f"; the same: {', '.join(nearest.agreed)}" if nearest.agreed else ""
    yield f"  nearest   {_called(nearest)}{', already served' if nearest.served else ''}{agreed}"
    if nearest.differs and all(each.volatile for each in nearest.differs):
        yield "  only a time, an id or a path differs"


def _other_line(candidate: Candidate) -> str:
    what = ", ".join(each.where for each in candidate.differs[:4]) or "nothing that can be shown"
    served = ", already served" if candidate.served else ""
    return f"  then      {_called(candidate)}{served}: differs in {what}"


def _called(candidate: Candidate) -> str:
    turn = f" (turn {candidate.turn})" if candidate.turn else ""
    return f"entry {candidate.entry}{turn}"


def _ways_out(miss: Miss, call: Call, parent: Trace | None) -> list[tuple[str, str]]:
    path = str(parent.path) if parent is not None and parent.path else "TRACE"
    out = [("keep the change", "workbench record …"), ("look closer", f"workbench show {path}")]
    differs = miss.candidates[0].differs if miss.candidates else ()
    if call.kind == "model" and differs and len(differs) <= 2:
        rules = " ".join(f"--ignore {call.api}:{each.pointer}" for each in differs)
        out.append(("ignore it", rules))
    if call.kind == "tool" or not differs:
        out.append(("run it live", "workbench fork … --on-miss live"))
    return out


# -- finding the nearest --------------------------------------------------------------------


def _unreached(tape: Tape, turn: int | None) -> tuple[int, int] | None:
    numbers = [
        entry.turn.number
        for entry in tape.waiting()
        if entry.kind == "model" and entry.turn is not None and entry.turn.number > (turn or 0)
    ]
    return (min(numbers), max(numbers)) if numbers else None


def _nearest(call: Call, tape: Tape) -> list[Candidate]:
    alike = [
        entry
        for entry in tape.entries
        if entry.kind == call.kind and (call.kind == "model" or entry.name == call.name)
    ]
    waiting = [each for each in alike if not tape.gone(each)]
    ranked = sorted(waiting, key=lambda each: each.step != call.step)[:_LOOKED_AT]
    ranked = ranked or alike[-_LOOKED_AT:]
    found = [each for each in (_candidate(call, entry, tape) for entry in ranked) if each]
    found.sort(key=lambda each: (each.served, _weight(each)))
    return found[:_NEAREST]


def _weight(candidate: Candidate) -> int:
    return sum(1 if each.volatile else 10 for each in candidate.differs)


def _candidate(call: Call, entry: Entry, tape: Tape) -> Candidate | None:
    try:
        recorded = entry.request
    except UnavailableError:
        return None
    if call.kind == "model" and entry.api == call.api and has_view(str(call.api)):
        agreed, differs = _compare_model(view(str(call.api)), recorded, call.request)
    else:
        agreed, differs = _compare_plain(recorded, call.request)
    if entry.step != call.step:
        differs.insert(0, Difference("step", "", entry.step or "(none)", call.step or "(none)"))
    return Candidate(
        entry=entry.id,
        turn=entry.turn.number if entry.turn is not None else None,
        served=tape.gone(entry),
        agreed=tuple(agreed),
        differs=tuple(differs),
    )


def _compare_model(shape: PayloadView, was: Any, now: Any) -> tuple[list[str], list[Difference]]:
    before, after = was.get("body", {}), now.get("body", {})
    agreed: list[str] = []
    differs: list[Difference] = []
    conversation = "/".join(("", *shape.conversation_path))
    known = shape.conversation_path[-1]
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, MISSING), after.get(name, MISSING)
        if name == known:
            old_messages, new_messages = shape.messages(before), shape.messages(after)
            found = list(_compare_messages(old_messages, new_messages, conversation))
            differs += found
            agreed += [] if found else [name]
        elif old is not MISSING and new is not MISSING and digest(old) == digest(new):
            agreed.append(name)
        elif name not in ("stream", "stream_options"):
            differs.append(_plain_difference(name, f"/body/{name}", old, new))
    for part in ("path", "query", "headers"):
        if was.get(part) != now.get(part):
            differs.append(_plain_difference(part, f"/{part}", was.get(part), now.get(part)))
    return agreed, differs


def _compare_messages(
    before: list[Message], after: list[Message], pointer: str
) -> Iterator[Difference]:
    for change in compare(before, after):
        if change.kind == "same" and change.exact:
            continue
        index = change.after if change.after is not None else change.before
        number = (index or 0) + 1
        if change.before is not None and change.after is not None:
            old, new = before[change.before], after[change.after]
            yield _changed_message(old, new, number, f"{pointer}/{index}")
        elif change.after is not None:
            new = after[change.after]
            where = f"message {number} ({new.role})"
            yield Difference(where, f"{pointer}/{index}", "(not there)", _said(new), "new")
        elif change.before is not None:
            old = before[change.before]
            where = f"message {number} ({old.role})"
            yield Difference(where, f"{pointer}/{index}", _said(old), "(not there)", "dropped")


def _changed_message(old: Message, new: Message, number: int, pointer: str) -> Difference:
    where = f"message {number} ({new.role})"
    if old.text == new.text:
        return Difference(
            where, pointer, _said(old), _said(new), "ids, tool calls or other fields changed"
        )
    was, is_now, note = _windows(old.text, new.text)
    return Difference(where, pointer, was, is_now, note, _only_volatile(old.text, new.text))


def _said(message: Message) -> str:
    calls = ", ".join(f"{call.name}({call.raw})" for call in message.tool_calls)
    return clip(message.text or calls or "(empty)", 80)


def _windows(old: str, new: str) -> tuple[str, str, str]:
    start = 0
    limit = min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    begin = max(0, start - _CONTEXT)
    words = word_diff(old, new)
    dropped = sum(len(text.split()) for kind, text in words if kind == "del")
    added = sum(len(text.split()) for kind, text in words if kind == "add")
    notes = [f"{dropped} {_words(dropped)} dropped"] if dropped else []
    notes += [f"{added} {_words(added)} added"] if added else []
    return _window(old, begin), _window(new, begin), ", ".join(notes)


def _words(count: int) -> str:
    return "word" if count == 1 else "words"


def _window(text: str, begin: int) -> str:
    piece = " ".join(text[begin : begin + 2 * _CONTEXT].split())
    more = begin + 2 * _CONTEXT < len(text)
    return f"{'…' if begin else ''}{piece}{'…' if more else ''}"


def _only_volatile(old: str, new: str) -> bool:
    return _VOLATILE.sub("\0", old) == _VOLATILE.sub("\0", new)


def _compare_plain(was: Any, now: Any) -> tuple[list[str], list[Difference]]:
    agreed: list[str] = []
    differs: list[Difference] = []
    for path, old, new in _walk(was, now, ""):
        if digest(_or_none(old)) == digest(_or_none(new)) and (old is MISSING) == (new is MISSING):
            agreed.append(path.strip("/").replace("/", "."))
        else:
            differs.append(_plain_difference(path.strip("/").replace("/", "."), path, old, new))
    return agreed, differs


def _walk(was: Any, now: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(was, dict) and isinstance(now, dict) and depth < 6:
        for name in dict.fromkeys([*was, *now]):
            yield from _walk(
                was.get(name, MISSING), now.get(name, MISSING), f"{path}/{name}", depth + 1
            )
    else:
        yield path, was, now


def _plain_difference(where: str, pointer: str, old: Any, new: Any) -> Difference:
    was, now = _show(old), _show(new)
    volatile = isinstance(old, str) and isinstance(new, str) and _only_volatile(old, new)
    return Difference(where, pointer, was, now, "", volatile)


def _show(value: Any) -> str:
    from workbench.trace.values import dumps

    return "(absent)" if value is MISSING else clip(dumps(value).decode(), 80)


def _or_none(value: Any) -> Any:
    return None if value is MISSING else value
