"""What an adapter for another library is made of. ``docs/adapters.md`` shows a whole one.

A package registers an :class:`Adapter` in the entry-point group ``workbench.adapters``. Its hook
puts wrappers into the library's classes; a wrapper asks :func:`current_seam` whether a session is
open, describes the call as a :class:`Call`, and gives it to :func:`call_sync` or
:func:`call_async` with its :class:`Hooks`, which say how the call is made for real and how its
result is kept and given back. For results that are plain values :class:`ValueHooks` does; for
streams it is subclassed.
"""

from workbench.seam.calls import MISSING, Call, Outcome, Served
from workbench.seam.current import COVERED, COVERED_TOOL, current_seam
from workbench.seam.drivers import Hooks, Seam, Tap, call_async, call_sync
from workbench.seam.exceptions import describe, rebuild
from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches
from workbench.seam.plain_calls import AsyncValueHooks, ValueHooks, atool_call, tool_call
from workbench.trace.entries import ErrorInfo
from workbench.trace.payloads import PayloadView, register
from workbench.trace.values import decode, encode

__all__ = [
    "COVERED",
    "COVERED_TOOL",
    "MISSING",
    "Adapter",
    "AsyncValueHooks",
    "Call",
    "ErrorInfo",
    "Hooks",
    "Outcome",
    "Patches",
    "PayloadView",
    "Seam",
    "Served",
    "Tap",
    "ValueHooks",
    "atool_call",
    "call_async",
    "call_sync",
    "current_seam",
    "decode",
    "describe",
    "encode",
    "rebuild",
    "register",
    "tool_call",
]
