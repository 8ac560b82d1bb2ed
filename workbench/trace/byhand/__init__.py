"""Recordings written by hand: the short form, JSON or YAML, that people write and read.

A recording is an object with, for each step, one entry or a list of turns::

    _version: 2
    draft:
      - fault: {type: http_error, status_code: 429, retry_after_s: 30}
      - content: Release 1.4 ships Thursday.

It is version 2 of AgentLoom's recordings, so those open here. :func:`~workbench.trace.trace.load`
reads it as an ordinary trace, and ``Trace.save("x.yaml")`` writes it. ``docs/by-hand.md`` shows
what it can hold.
"""

from __future__ import annotations

from workbench.trace.byhand.foreign import agentloom_hash, matches
from workbench.trace.byhand.opening import read_recording, seems_recording
from workbench.trace.byhand.saving import recording_of, save_recording
from workbench.trace.byhand.shapes import as_api

__all__ = [
    "agentloom_hash",
    "as_api",
    "matches",
    "read_recording",
    "recording_of",
    "save_recording",
    "seems_recording",
]
