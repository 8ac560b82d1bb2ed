"""Which model call asked for which tool call.

A graph runs its nodes in contexts of their own, so the call of a tool is told apart by its id.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from workbench.seam.current import LAST_MODEL, current_seam

if TYPE_CHECKING:
    from workbench.seam.drivers import Seam

_MOST = 10_000
_askers: WeakKeyDictionary[Seam, dict[str, str]] = WeakKeyDictionary()


def heard(message: Any) -> None:
    """Note who made the calls of a message, or of a piece of one: the model call just made here."""
    seam, entry = current_seam(), LAST_MODEL.get()
    if seam is None or entry is None:
        return
    calls = getattr(message, "tool_calls", None) or getattr(message, "tool_call_chunks", None)
    for call in calls or ():
        if call.get("id"):
            known = _askers.setdefault(seam, {})
            known[call["id"]] = entry
            if len(known) > _MOST:
                del known[next(iter(known))]


@contextmanager
def asked(call_id: str | None) -> Iterator[None]:
    """While this is open, a tool's call belongs to the model call that asked for it."""
    seam = current_seam()
    entry = _askers.get(seam, {}).get(call_id or "") if seam is not None else None
    if entry is None:
        yield
        return
    token = LAST_MODEL.set(entry)
    try:
        yield
    finally:
        LAST_MODEL.reset(token)
