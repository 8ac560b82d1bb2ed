"""The trace workbench: record, replay, fork and debug what an AI agent exchanges with the world.

Nothing is imported before it is used, so that ``import workbench`` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.version import VERSION

if TYPE_CHECKING:
    from workbench.errors import (
        DriftError,
        EditError,
        LocalModelError,
        MissingExtraError,
        PlaceError,
        RecordedError,
        ReplayError,
        RunBlocked,
        RunCancelled,
        SimulatedCrash,
        StopRun,
        ToolFaultError,
        TraceError,
        TraceExistsError,
        TraceFormatError,
        TraceNotFoundError,
        TraceVersionError,
        TraceWriteError,
        UnavailableError,
        UnencodableError,
        UnknownApiError,
        UsageError,
        WorkbenchError,
    )
    from workbench.providers.local import local_model
    from workbench.providers.openai import LocalModel, OpenAIModel
    from workbench.seam.agentio.ambient import ask_human
    from workbench.seam.agentio.errors import (
        BadReplyError,
        ConnectionLostError,
        ModelError,
        ModelTimeoutError,
        NobodyToAskError,
        RateLimitError,
        RequestRefusedError,
        ScriptEndedError,
        ServerFailedError,
        UnknownToolError,
    )
    from workbench.seam.agentio.making import (
        faulty_io,
        live_io,
        recording_io,
        replaying_io,
        scripted_io,
    )
    from workbench.seam.agentio.model import Model
    from workbench.seam.agentio.protocols import AgentIO, SyncAgentIO
    from workbench.seam.agentio.reply import Reply, tool_message
    from workbench.seam.binding import bind
    from workbench.seam.contexts import OpenRun, forking, recording, replaying
    from workbench.seam.current import idempotency_key, step
    from workbench.seam.forks import afork, fork, plan
    from workbench.seam.latency import Latency
    from workbench.seam.pins import new_id, now, random, sleep, write_event
    from workbench.seam.rebuilding import arebuild, rebuild
    from workbench.seam.result import (
        CallReport,
        Controller,
        Plan,
        Progress,
        Question,
        RunResult,
    )
    from workbench.seam.run import arecord, areplay, record, replay
    from workbench.seam.tool import Tool, tool
    from workbench.seam.verifying import Verification, averify, verify
    from workbench.trace.edits import Edits
    from workbench.trace.places import Place, entry, parse_place, turn
    from workbench.trace.trace import Entry, Trace, Turn, load
    from workbench.ui.workbench import Workbench

# Where each public name lives. `step` is both a place and a context: see seam/current.py.
_HOME = {
    "DriftError": "workbench.errors",
    "EditError": "workbench.errors",
    "LocalModelError": "workbench.errors",
    "PlaceError": "workbench.errors",
    "RecordedError": "workbench.errors",
    "ReplayError": "workbench.errors",
    "TraceExistsError": "workbench.errors",
    "TraceFormatError": "workbench.errors",
    "TraceNotFoundError": "workbench.errors",
    "TraceVersionError": "workbench.errors",
    "TraceWriteError": "workbench.errors",
    "UnavailableError": "workbench.errors",
    "UnencodableError": "workbench.errors",
    "UnknownApiError": "workbench.errors",
    "MissingExtraError": "workbench.errors",
    "RunBlocked": "workbench.errors",
    "RunCancelled": "workbench.errors",
    "SimulatedCrash": "workbench.errors",
    "StopRun": "workbench.errors",
    "ToolFaultError": "workbench.errors",
    "TraceError": "workbench.errors",
    "UsageError": "workbench.errors",
    "WorkbenchError": "workbench.errors",
    "local_model": "workbench.providers.local",
    "bind": "workbench.seam.binding",
    "idempotency_key": "workbench.seam.current",
    "step": "workbench.seam.current",
    "Latency": "workbench.seam.latency",
    "new_id": "workbench.seam.pins",
    "now": "workbench.seam.pins",
    "random": "workbench.seam.pins",
    "sleep": "workbench.seam.pins",
    "write_event": "workbench.seam.pins",
    "arecord": "workbench.seam.run",
    "areplay": "workbench.seam.run",
    "record": "workbench.seam.run",
    "replay": "workbench.seam.run",
    "afork": "workbench.seam.forks",
    "fork": "workbench.seam.forks",
    "plan": "workbench.seam.forks",
    "forking": "workbench.seam.contexts",
    "recording": "workbench.seam.contexts",
    "OpenRun": "workbench.seam.contexts",
    "Controller": "workbench.seam.result",
    "Progress": "workbench.seam.result",
    "Question": "workbench.seam.result",
    "replaying": "workbench.seam.contexts",
    "CallReport": "workbench.seam.result",
    "Plan": "workbench.seam.result",
    "RunResult": "workbench.seam.result",
    "Tool": "workbench.seam.tool",
    "tool": "workbench.seam.tool",
    "arebuild": "workbench.seam.rebuilding",
    "rebuild": "workbench.seam.rebuilding",
    "Verification": "workbench.seam.verifying",
    "averify": "workbench.seam.verifying",
    "verify": "workbench.seam.verifying",
    "Edits": "workbench.trace.edits",
    "Place": "workbench.trace.places",
    "entry": "workbench.trace.places",
    "parse_place": "workbench.trace.places",
    "turn": "workbench.trace.places",
    "Entry": "workbench.trace.trace",
    "Trace": "workbench.trace.trace",
    "Turn": "workbench.trace.trace",
    "load": "workbench.trace.trace",
    "LocalModel": "workbench.providers.openai",
    "OpenAIModel": "workbench.providers.openai",
    "ask_human": "workbench.seam.agentio.ambient",
    "BadReplyError": "workbench.seam.agentio.errors",
    "ConnectionLostError": "workbench.seam.agentio.errors",
    "ModelError": "workbench.seam.agentio.errors",
    "ModelTimeoutError": "workbench.seam.agentio.errors",
    "NobodyToAskError": "workbench.seam.agentio.errors",
    "RateLimitError": "workbench.seam.agentio.errors",
    "RequestRefusedError": "workbench.seam.agentio.errors",
    "ScriptEndedError": "workbench.seam.agentio.errors",
    "ServerFailedError": "workbench.seam.agentio.errors",
    "UnknownToolError": "workbench.seam.agentio.errors",
    "faulty_io": "workbench.seam.agentio.making",
    "live_io": "workbench.seam.agentio.making",
    "recording_io": "workbench.seam.agentio.making",
    "replaying_io": "workbench.seam.agentio.making",
    "scripted_io": "workbench.seam.agentio.making",
    "Model": "workbench.seam.agentio.model",
    "AgentIO": "workbench.seam.agentio.protocols",
    "SyncAgentIO": "workbench.seam.agentio.protocols",
    "Reply": "workbench.seam.agentio.reply",
    "tool_message": "workbench.seam.agentio.reply",
    "Workbench": "workbench.ui.workbench",
}

__version__ = VERSION

__all__ = [
    "AgentIO",
    "BadReplyError",
    "CallReport",
    "ConnectionLostError",
    "Controller",
    "DriftError",
    "EditError",
    "Edits",
    "Entry",
    "Latency",
    "LocalModel",
    "LocalModelError",
    "MissingExtraError",
    "Model",
    "ModelError",
    "ModelTimeoutError",
    "NobodyToAskError",
    "OpenAIModel",
    "OpenRun",
    "Place",
    "PlaceError",
    "Plan",
    "Progress",
    "Question",
    "RateLimitError",
    "RecordedError",
    "ReplayError",
    "Reply",
    "RequestRefusedError",
    "RunBlocked",
    "RunCancelled",
    "RunResult",
    "ScriptEndedError",
    "ServerFailedError",
    "SimulatedCrash",
    "StopRun",
    "SyncAgentIO",
    "Tool",
    "ToolFaultError",
    "Trace",
    "TraceError",
    "TraceExistsError",
    "TraceFormatError",
    "TraceNotFoundError",
    "TraceVersionError",
    "TraceWriteError",
    "Turn",
    "UnavailableError",
    "UnencodableError",
    "UnknownApiError",
    "UnknownToolError",
    "UsageError",
    "Verification",
    "Workbench",
    "WorkbenchError",
    "__version__",
    "afork",
    "arebuild",
    "arecord",
    "areplay",
    "ask_human",
    "averify",
    "bind",
    "entry",
    "faulty_io",
    "fork",
    "forking",
    "idempotency_key",
    "live_io",
    "load",
    "local_model",
    "new_id",
    "now",
    "parse_place",
    "plan",
    "random",
    "rebuild",
    "record",
    "recording",
    "recording_io",
    "replay",
    "replaying",
    "replaying_io",
    "scripted_io",
    "sleep",
    "step",
    "tool",
    "tool_message",
    "turn",
    "verify",
    "write_event",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'workbench' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
