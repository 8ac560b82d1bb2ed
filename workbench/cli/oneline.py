"""Entries in one line each, and what is special about one: what was sent instead, its fault."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError, UsageError
from workbench.trace.values import encode

if TYPE_CHECKING:
    from workbench.trace.trace import Entry

_CALLS = ("model", "tool")


def entry_line(entry: Entry) -> str:
    """An event, a question to a human or a reading in one line, such as ``event paid {"order":
    7}``; a tool's call as :func:`tool_line` has it."""
    if entry.kind == "tool":
        return f"tool {tool_line(entry)}"
    try:
        if entry.kind == "event":
            said = f"event {entry.type} {inline(encode(entry.data))}"
        elif entry.kind == "input":
            said = _asked(entry)
        elif entry.kind == "model":
            said = f"model {entry.model or ''}"
        else:
            said = f"read {entry.name} → {inline(encode(entry.value))}"
    except (TraceError, UsageError) as error:
        return f"{entry.kind} {entry.type or entry.name or ''} (cannot be read: {error})"
    return said + _marks(entry)


def _asked(entry: Entry) -> str:
    if entry.hash_only:
        prompt = "asked a human (the question was not recorded)"
    else:
        prompt = f"asked a human {inline(encode(entry.prompt))}"
    if entry.choices:
        prompt += f" of {inline(encode(entry.choices))}"
    came = f"failed: {error_text(entry)}" if entry.error else inline(encode(entry.value))
    return f"{prompt} → {came}"


def tool_line(entry: Entry) -> str:
    """A tool call in one line, ``refund(order_id=101) → "RF-1"``."""
    try:
        request = None if entry.hash_only else entry.request
        given = "arguments not recorded" if entry.hash_only else arguments(request)
        sent = entry.sent
        if sent is not None:
            given = f"{arguments(sent)}; asked for: {given}"
        result = "no result: still open" if entry.open else inline(entry.response)
    except TraceError as error:
        return f"{entry.name} (cannot be read: {error})"
    if entry.error is not None:
        result = f"raised {error_text(entry)}"
    return f"{entry.name}({given}) → {result}{_marks(entry)}"


def arguments(request: Any) -> str:
    """A tool request's arguments as they stand in code."""
    given = request.get("arguments") if isinstance(request, dict) else None
    if isinstance(given, dict):
        return ", ".join(f"{name}={inline(value)}" for name, value in given.items())
    return inline(given)


def _marks(entry: Entry) -> str:
    marks = [] if entry.source in ("live", None) else [str(entry.source)]
    marks += ["once more for every call"] if entry.repeat else []
    marks += ["said to have failed"] if entry.success is False else []
    return f"   [{', '.join(marks)}]" if marks else ""


def fault_line(entry: Entry) -> str | None:
    """The fault that hit an entry, in words; None without one."""
    from pydantic import ValidationError

    from workbench.trace.faults import FAULT, Aim

    if entry.fault is None:
        return None
    try:
        fault = FAULT.validate_python(entry.fault)
    except ValidationError:  # of a newer version, or written by hand
        return f"fault: {inline(entry.fault)}"
    said = f"fault: it {fault.words}"
    if fault.layer == "below":
        said += f", for {fault.times} {'try' if fault.times == 1 else 'tries'} of the SDK's own"
    return said if fault.aim == Aim() else f"{said} (aimed at {fault.aim})"


def sent_lines(entry: Entry) -> list[str]:
    """What an edit sent in a model call's place: the parameters and messages that differ."""
    from workbench.trace.payloads import view

    try:
        sent = entry.sent
        if sent is None:
            return []
        body = sent.get("body")
        shape = view(entry.api or "")
        asked: Any = {} if entry.hash_only else entry.body
        before = shape.parameters(asked)
        out = ["an edit sent this instead:"]
        for name, value in shape.parameters(body).items():
            if name not in before or before[name] != value:
                out.append(f"  {name}: {inline(encode(value))}")
        out += [f"  {name}: not sent" for name in before if name not in shape.parameters(body)]
        old = [each.raw for each in shape.messages(asked)] if asked else []
        for number, message in enumerate(shape.messages(body), 1):
            if message.raw not in old:
                calls = "".join(f" calls {call.name}({call.raw})" for call in message.tool_calls)
                out.append(f"  message {number}, {message.role}: {message.text}{calls}")
        left_out = len(old) - len(shape.messages(body))
        out += [f"  {left_out} fewer messages"] if left_out > 0 else []
    except (TraceError, UsageError, AttributeError) as error:
        return [f"an edit sent another request, which cannot be read: {error}"]
    return [*out, ""]


def error_text(entry: Entry) -> str:
    """What an entry raised."""
    error = entry.error
    return "without an error" if error is None else f"{error.type}: {error.message}"


def inline(value: Any) -> str:
    """A stored value as JSON in one line."""
    return json.dumps(value, ensure_ascii=False)
