"""A fault as a sentence."""

from __future__ import annotations

from workbench.trace.faults.aims import aimed_kinds
from workbench.trace.faults.base import BaseFault

_CALLS = {"model": "model call", "tool": "tool call", "input": "question", "event": "event"}


def fault_sentence(fault: BaseFault) -> str:
    """What a fault does and where, such as "The model call of turn 2 fails with HTTP 429."."""
    tries = "try" if fault.times == 1 else "tries"
    times = f", {fault.times} times" if fault.times > 1 else ""
    if fault.layer == "below":
        times = f", for {fault.times} {tries} of the SDK's own"
    return f"{_aimed(fault)} {fault.words}{times}."


def _aimed(fault: BaseFault) -> str:
    aim = fault.aim
    subject = _subject(fault)
    which = f"{ordinal(aim.nth)} " if aim.nth else ""
    if all(each is None for each in (aim.place, aim.tool, aim.event, aim.nth, aim.when)):
        which = "first "
    words = [f"The {which}{subject}"]
    if aim.place is not None:
        names = {"turn": f"of turn {aim.place.value}", "step": f"of step '{aim.place.value}'"}
        words.append(names.get(aim.place.kind, f"with the id {aim.place.value}"))
    if aim.when is not None:
        words.append(f"for which {aim.predicate_name} is true")
    if aim.attempt:
        words.append(f"(attempt {aim.attempt})")
    return " ".join(words)


def _subject(fault: BaseFault) -> str:
    aim = fault.aim
    if aim.tool is not None:
        return f"call of {aim.tool}"
    if aim.event is not None:
        return f"event {aim.event}"
    kinds = aimed_kinds(fault)
    if aim.when is not None and len(kinds) > 1:
        return "call"
    return _CALLS["model" if "model" in kinds else min(kinds)]


def ordinal(number: int) -> str:
    """A place in an order, from 1, such as ``2nd``."""
    tens = number % 100
    ending = "th" if 10 < tens < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
