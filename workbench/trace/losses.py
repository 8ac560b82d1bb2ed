"""What to say about lines that a journal could not write, and about secrets that it wrote."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.errors import TraceWriteError
from workbench.trace.appender import ClosedError
from workbench.trace.entries import BaseLine

if TYPE_CHECKING:
    from workbench.trace.redaction import Finding

_FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}


def lost(line: BaseLine, error: OSError, path: Path | None, *, goes_on: bool) -> TraceWriteError:
    """The error for a line that could not be written.

    Args:
        line: what is missing from the trace.
        error: why.
        path: the trace's file; None for one in memory.
        goes_on: whether the run goes on without it.
    """
    name = getattr(line, "id", None) or getattr(line, "of", None)
    what = f"the {getattr(line, 'line', 'line')} {name or ''}".strip()
    failure = TraceWriteError(
        f"{path or 'the trace in memory'}: {what} could not be written ({error}), so the trace "
        f"lacks it. {_advice(error)}" + (". The run goes on" if goes_on else "")
    )
    failure.__cause__ = error
    return failure


def leaked(findings: Sequence[Finding]) -> str:
    """The notice for secrets that are in a file in spite of redaction; it holds none of them."""
    count = f"{len(findings)} secrets were" if len(findings) > 1 else "a secret was"
    shown = "; ".join(map(str, findings[:3])) + ("; …" if len(findings) > 3 else "")
    return (
        f"{count} written in spite of redaction: {shown}. Keep the file to yourself, and change "
        "the secret if others have seen it"
    )


def _advice(error: OSError) -> str:
    """What to do about a line that could not be written."""
    if isinstance(error, ClosedError):
        return (
            "It came after the end of the recording, from a thread or task that outlived it: "
            "wait for that one before the end"
        )
    if error.errno in _FULL:
        return "Make room: from then on lines are written again"
    if error.errno == errno.ENOENT:
        return (
            "With the file all that was recorded is gone: record again, and let nothing delete it"
        )
    return "See to it that the file can be written: from then on lines are written again"
