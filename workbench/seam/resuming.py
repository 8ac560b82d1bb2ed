"""A run that goes on from one that crashed, which may have gone on from another that did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.trace.trace import Trace


def key_owner(dead: Trace) -> str:
    """What the idempotency keys of a crashed run begin with: the first run of the row, since a
    write that is made again keeps the key that it had then."""
    owner = _options(dead).get("keys")
    return owner if isinstance(owner, str) else dead.id


def done_by(dead: Trace) -> set[str]:
    """The entries of the recording that a crashed run has gone through, and those before it."""
    before = _options(dead).get("done")
    done = set(before) if isinstance(before, list) else set()
    return done | {entry.origin for entry in dead.entries if entry.origin is not None}


def noted(dead: Trace) -> dict[str, Any]:
    """What the header of a run says of the crashed run that it goes on from."""
    return {"resumes": dead.id, "keys": key_owner(dead), "done": sorted(done_by(dead))}


def _options(dead: Trace) -> dict[str, Any]:
    parent = dead.header.parent
    return parent.options if parent is not None else {}
