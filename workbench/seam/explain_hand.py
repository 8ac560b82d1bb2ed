"""Why a recording written by hand does not answer a call.

Such a recording does not hold what was asked, so there is nothing to compare but steps, the number
of turns, and a hash of the system that made it.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from workbench.seam.guard import arguments_text
from workbench.seam.nearest import named
from workbench.trace.byhand.foreign import SPOKEN, agentloom_hash, is_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.seam.calls import Call
    from workbench.seam.tape import Tape
    from workbench.trace.trace import Entry, Trace

_SHOWN = 12


def by_hand(call: Call, tape: Tape, parent: Trace | None) -> list[str]:
    """Lines that say why; none for a trace that was recorded here."""
    if parent is None or parent.header.hand is None or call.kind not in ("model", "tool"):
        return []
    alike = [each for each in tape.entries if each.kind == call.kind]
    here = [each for each in alike if each.step == call.step and not each.hand_key]
    if call.kind == "tool":
        return _tool(call, [each for each in here if named(each) == call.name], tape)
    if not here:
        return [f"  no recorded response for {_step(call.step)}{_known(call, alike)}"]
    waiting = [each for each in here if not tape.gone(each)]
    if not waiting:
        return [f"  the recording holds {_turns(len(here))} for {_step(call.step)}, all served"]
    return _changed(call, waiting[0])


def changed_by_hand(call: Call, entry: Entry) -> str:
    """What is said of an entry that was served though its hash is another one; empty without."""
    recorded = entry.foreign_hash or entry.hand_key
    if call.kind != "model" or call.api not in SPOKEN or not is_digest(recorded):
        return ""
    return f"its hash was {str(recorded)[:12]}… and is {_hash(call)[:12]}…"


def _tool(call: Call, same: Sequence[Entry], tape: Tape) -> list[str]:
    asked = f"  no recorded result for {arguments_text(call)} in {_step(call.step)}"
    if not same:
        return [f"{asked}: none of that tool's"]
    left = [each for each in same if not tape.gone(each)]
    if not left:
        return [f"{asked}: all {len(same)} of that tool's are served"]
    return [f"{asked}: the next one is {left[0].id}, for {left[0].arguments!r}"[:300]]


def _changed(call: Call, entry: Entry) -> list[str]:
    recorded = entry.foreign_hash or entry.hand_key or ""
    now = f"{_hash(call)[:12]}…" if call.api in SPOKEN else "unknown"
    lines = f"""\
  the replayed request (hash {now}) does not match the recording (hash {recorded[:12]}…, entry \
{entry.id})
  any change counts: a prompt, the model, a parameter, the tools. A recording holds no prompts, so
  which it was cannot be shown; without its request_hash the entry answers whatever is asked"""
    return lines.splitlines()


def _hash(call: Call) -> str:
    request = call.request if isinstance(call.request, dict) else {}
    return agentloom_hash(request.get("body"), api=str(call.api), step=call.step)


def _step(step: str) -> str:
    return f"step '{step}'" if step else "a call outside any step"


def _turns(count: int) -> str:
    return f"{count} turn{'' if count == 1 else 's'}"


def _known(call: Call, entries: Sequence[Entry]) -> str:
    steps = list(dict.fromkeys(each.step for each in entries))
    near = difflib.get_close_matches(call.step, steps, n=1)
    if near:
        return f"; did you mean '{near[0]}'?"
    names = ", ".join(repr(each) if each else "none" for each in steps[:_SHOWN])
    return f"; it has the steps {names}" if names else "; it has no entries"
