"""What an entry written by hand answers a call with, whatever SDK the call comes from.

The answer itself is put into the call's shape by :func:`~workbench.trace.byhand.shapes.as_api`.
Here is what a recorded fault does to it: one that fails the call has become the entry's error when
the recording was loaded; one that spoils an answer is applied when the answer is served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.seam.misshape import reshape
from workbench.trace.faults import FAULT, StreamTruncate

if TYPE_CHECKING:
    from workbench.seam.calls import Call, Served
    from workbench.trace.faults import Fault
    from workbench.trace.trace import Entry


def recorded_fault(entry: Entry) -> Fault | None:
    """The fault that was written by hand into an entry, where it is not the entry's error already:
    one that spoils the answer, or a crash."""
    fault = entry.fault
    if fault is None or entry.source != "hand" or entry.error is not None:
        return None
    found = FAULT.validate_python(fault)
    return None if isinstance(found, StreamTruncate) else found


def spoiled(call: Call, entry: Entry, served: Served) -> Served:
    """The recorded answer as the entry's own fault makes it; without one, the same object."""
    fault = recorded_fault(entry)
    if fault is None or fault.phase != "outcome":
        return served
    return reshape(fault, call, served) or served
