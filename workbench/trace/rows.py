"""Light data of a turn, for lists of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.trace.turns import Turn


def row_of(turn: Turn) -> dict[str, Any]:
    """A turn as plain data.

    ``number``, ``id`` (the model entry's), ``label``, ``summary``, ``step``, ``model``, ``at_s``
    (seconds from the trace's start), ``duration_s``, ``tools`` (names), ``attempts``, ``error``
    (the model or one of the tools failed), ``fault`` (its type, or None), ``source`` of the model's
    reply, ``sources`` (of all its entries), ``open``, ``usage``.
    """
    model, tools = turn.model, turn.tools
    label, summary = turn.trace.words(turn)
    entries = turn.entries
    faults = [entry.fault for entry in entries if entry.fault]
    return {
        "number": turn.number,
        "id": model.id,
        "label": label,
        "summary": summary,
        "step": turn.step,
        "model": model.model or model.reply_model,
        "at_s": entries[0].at_s,
        "duration_s": turn.duration_s,
        "tools": [tool.name for tool in tools],
        "attempts": len(entries) - len(tools),
        "error": any(entry.error is not None for entry in entries),
        "fault": str(faults[0].get("type")) if faults else None,
        "source": model.source,
        "sources": sorted({entry.source for entry in entries if entry.source}),
        "open": any(entry.open for entry in entries),
        "usage": model.usage,
    }
