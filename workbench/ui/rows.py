"""The list of turns and the timeline: what is read from heads, without a turn's large bodies."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from time import monotonic
from typing import Any

from workbench.errors import UsageError, WorkbenchError
from workbench.trace.scan import MODEL, TOOL
from workbench.trace.trace import Trace, Turn
from workbench.trace.turns import EDITED, ERROR, FAULT, OPEN, REPLAYED
from workbench.ui.clips import clean, label
from workbench.ui.turn_view import ran_again, source_of

SEARCH_S = 1.0
"""Seconds after which a search ends with what it has."""

FILTERS = ("", "errors", "writes", "edited", "live")
"""What a search can be limited to."""


def row(turn: Turn, again: set[str]) -> dict[str, Any]:
    """One line of the list."""
    marks = marks_of(turn, again)
    words = _words(turn)
    return {
        "n": turn.number,
        "label": label(words[0]),
        "summary": label(words[1]),
        "step": turn.step or "",
        "duration_s": turn.duration_s,
        "tone": tone(marks),
        "marks": marks,
        "source": source_of(turn.model),
        "open": turn.model.open,
    }


def _words(turn: Turn) -> tuple[str, str]:
    try:
        return turn.trace.words(turn)
    except WorkbenchError as error:
        return "not readable", str(error)


def marks_of(turn: Turn, again: set[str]) -> list[str]:
    """The words that stand beside a turn, from the protocol's list."""
    entries = [turn.model, *turn.tools]
    sources = {source_of(entry) for entry in entries if not ran_again(entry)}
    marks = {
        "again": any(tool.id in again for tool in turn.tools),
        "error": turn.model.error is not None,
        "tool error": any(tool.error is not None for tool in turn.tools),
        "fault": any(entry.fault is not None for entry in entries) or "fault" in sources,
        "edited": "edited" in sources,
        "live": "live" in sources,
        "cut short": any(entry.open or entry.ended == "cut" for entry in entries),
    }
    return [word for word, holds in marks.items() if holds]


def tone(marks: Iterable[str]) -> str:
    """``bad``, ``warn`` or nothing, by the worst mark."""
    found = set(marks)
    if found & {"again", "error", "tool error"}:
        return "bad"
    return "warn" if found & {"fault", "cut short"} else ""


def timeline(trace: Trace, again: set[str]) -> bytes:
    """float32 quadruples ``start_s, duration_s, turn, code`` for each call of each turn.

    Calls without a time of day follow each other at their durations.
    """
    quads = array("f")
    forked = trace.header.parent is not None
    repeated = {trace.index.ids.find_text(each) for each in again}
    places = (place for place, kind in enumerate(_kinds(trace)) if kind in (MODEL, TOOL))
    clock = 0.0
    for place, (turn, start, length, kind, flags) in zip(places, trace.timeline(), strict=True):
        if start is not None:
            clock = max(0.0, start)
        if turn:
            bad = place in repeated or (flags & ERROR and not flags & FAULT)
            shade = 1 if bad else 2 if flags & (FAULT | OPEN) else 0
            live = forked and not flags & REPLAYED
            source = 3 if flags & FAULT else 2 if flags & EDITED else int(live)
            code = (kind == "tool") + 2 * shade + 8 * source
            quads.extend((clock, length or 0.0, turn, code))
        clock += length or 0.0
    return quads.tobytes()


def _kinds(trace: Trace) -> Iterator[int]:
    kinds = trace.index.kinds
    return (kinds[line] for line in trace.index.calls)


def search(trace: Trace, query: str, only: str, again: set[str]) -> dict[str, Any]:
    """Turns whose names, texts, arguments or results hold ``query``, in any case.

    Returns ``{turns, complete}``; not complete when it took longer than :data:`SEARCH_S`.

    Raises:
        UsageError: the filter is unknown.
    """
    if only not in FILTERS:
        raise UsageError(f"no filter '{only}': there are {', '.join(FILTERS[1:])}")
    wanted, until = clean(query).casefold().strip(), monotonic() + SEARCH_S
    found: list[int] = []
    for turn in trace.turns:
        if not _passes(turn, only, again):
            continue
        if not wanted or _holds(turn, wanted):
            found.append(turn.number)
        if monotonic() > until:
            return {"turns": found, "complete": turn.number == len(trace.turns)}
    return {"turns": found, "complete": True}


def _passes(turn: Turn, only: str, again: set[str]) -> bool:
    if not only:
        return True
    if only == "writes":
        return any(tool.effect == "write" for tool in turn.tools)
    marks = marks_of(turn, again)
    if only == "errors":
        return tone(marks) == "bad"
    return only in marks


def _holds(turn: Turn, wanted: str) -> bool:
    names = [turn.step or "", turn.model.model or "", *(str(tool.name) for tool in turn.tools)]
    if any(wanted in name.casefold() for name in names):
        return True
    try:
        return any(wanted in text.casefold() for text in _bodies(turn))
    except WorkbenchError:
        return False  # what cannot be read holds no text


def _bodies(turn: Turn) -> Iterator[str]:
    yield turn.text
    yield _calls(turn)
    for tool in turn.tools:
        yield _texts(tool.response)
    yield turn.messages[-1].text if turn.messages else ""


def _calls(turn: Turn) -> str:
    return "\n".join(f"{call.name} {call.raw}" for call in turn.model.tool_calls)


def _texts(value: Any) -> str:
    """All texts and numbers in stored JSON, one a line."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{_texts(each)}" for key, each in value.items())
    if isinstance(value, list):
        return "\n".join(_texts(each) for each in value)
    return "" if value is None else str(value)


def next_turn(trace: Trace, start: int, direction: int, what: str, again: set[str]) -> int | None:
    """The next turn with an ``error``, or whose ``step`` differs; None when there is none.

    Raises:
        UsageError: ``what`` is neither.
    """
    if what not in ("error", "step"):
        raise UsageError(f"no next '{what}': there are error and step")
    sign = -1 if direction < 0 else 1
    turns = trace.turns
    here = turns[start - 1].step if 1 <= start <= len(turns) else None
    number = start + sign
    while 1 <= number <= len(turns):
        turn = turns[number - 1]
        if what == "step" and turn.step != here:
            return number
        if what == "error" and tone(marks_of(turn, again)) == "bad":
            return number
        number += sign
    return None
