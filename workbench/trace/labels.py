"""Words for a turn in a list: what the model did, and what went in and came out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError, UsageError
from workbench.trace.entries import ErrorInfo
from workbench.trace.toolresults import in_words

if TYPE_CHECKING:
    from workbench.trace.entry import Entry
    from workbench.trace.turns import Turn

LIMIT = 120
"""No label or summary is longer."""

_VALUE_LIMIT = 40


def clip(text: str, limit: int = LIMIT) -> str:
    """A text on one line, cut to a length."""
    text = " ".join(text[: limit * 8].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def label_of(turn: Turn) -> str:
    """The tools that the model called, the beginning of its text, or what went wrong."""
    model = turn.model
    try:
        reply = model.reply
    except UsageError:
        reply = None  # no view for this api: its head is all that can be read
    except TraceError:
        return "unreadable: damaged"
    if reply is not None and reply.tool_calls:
        return clip(", ".join(call.name or "?" for call in reply.tool_calls))
    text = "" if reply is None else reply.text or reply.refusal or ""
    if text.strip():
        return clip(text, 60)
    error = model.error
    if error is not None:
        return clip(_error(error))
    if model.open:
        return "no reply"
    names = [tool.name or "?" for tool in turn.tools]
    return clip(", ".join(names)) or "empty reply"


def summary_of(turn: Turn) -> str:
    """Arguments and results of the tools, ``101, 149.99 → RF-1``; without tools, the text."""
    model = turn.model
    try:
        tools = turn.tools
        if tools:
            return clip("; ".join(_tool(tool) for tool in tools[:4]))
        reply = model.reply
        if reply is not None and reply.tool_calls:
            return clip("; ".join(_values(call.arguments or call.raw) for call in reply.tool_calls))
        if reply is not None and (reply.text or reply.refusal):
            return clip(reply.text or reply.refusal or "")
    except (TraceError, UsageError):
        return ""
    return clip(_error(model.error)) if model.error is not None else ""


def _tool(tool: Entry) -> str:
    given = "" if tool.hash_only else _values(tool.arguments)
    error = tool.error
    if tool.open:
        came = "no result"
    else:
        came = _error(error) if error is not None else _values(in_words(tool.result))
    return f"{given} → {came}".lstrip()


def _error(error: ErrorInfo) -> str:
    status = f" {error.status}" if error.status else ""
    return f"{error.type}{status}: {error.message}" if error.message else f"{error.type}{status}"


def _values(value: Any) -> str:
    """The values in a value, without their names."""
    if isinstance(value, dict):
        return ", ".join(_value(item) for item in list(value.values())[:5])
    if isinstance(value, list | tuple):
        return ", ".join(_value(item) for item in value[:5])
    return _value(value)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return "{…}" if value else "{}"
    if isinstance(value, list | tuple | set | frozenset):
        return f"[{len(value)}]"
    if value is None:
        return "nothing"
    return clip(str(value), _VALUE_LIMIT)
