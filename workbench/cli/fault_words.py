"""From the words of a command line to faults."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from workbench.cli.parsing import json_of, with_places
from workbench.errors import PlaceError, UsageError

if TYPE_CHECKING:
    from workbench.trace.faults import Fault

EXAMPLES = """\
\b
Faults, TYPE[:VALUE][@AIM], or JSON:
  http_error:429@turn:2              the model call of turn 2 fails
  http_error:503@turn:2,below,times:2
                                     below the SDK's retries: two tries fail
  timeout@nth:3,attempt:1            the first try of the third model call
  stream_truncate:3@step:draft       a stream breaks off after 3 chunks
  malformed_tool_call:unknown_tool, malformed_response, refusal, cut_off:20
  connection_reset, connection_refused
  tool_error:no such order@tool:get_order
  tool_timeout@tool:refund#2         its second call
  partial_success, stale_result, empty_result
                                     of a tool, such as @turn:3,tool:search
  crash:after@event:tool_succeeded   the process dies there; --resumes goes on
Without an aim: the first model call, or the first tool call."""
"""What can be written after ``--fault``, for the help."""

_NUMBERS = ("status_code", "after_ms", "after_chunks", "after_tokens")
"""The fields that are numbers, of those that a short form gives after the colon."""
_COUNTS = ("nth", "attempt", "times")
_LAYERS = ("above", "below")
_SHORT = {"crash": "when"}
"""What the colon gives, where that is not the fault's own short field."""
_KNOWN = (
    "write @turn:3, @entry:1-7, @step:x, @tool:NAME, @tool:NAME#2 (its second call), @event:TYPE "
    "or @nth:3 (the third model call), and after a comma attempt:1, times:2 or below"
)


def read_fault(text: str) -> Fault:
    """A fault, as JSON or in the short form ``TYPE[:VALUE][@AIM]`` of :data:`EXAMPLES`.

    Raises:
        UsageError: it is no fault; the text says what is wrong and what can be written.
    """
    from pydantic import ValidationError

    from workbench.cli.problems import problem
    from workbench.trace.faults import FAULT, check_fault

    data = json_of(text, "--fault") if text.lstrip().startswith("{") else short_fault(text)
    try:
        return check_fault(FAULT.validate_python(with_places(data)))
    except ValidationError as error:
        raise UsageError(f"--fault {text}: {problem(error)}") from error


def short_fault(text: str) -> dict[str, Any]:
    """A fault in its short form as plain data.

    Raises:
        UsageError: it is none.
        PlaceError: it is aimed at what is no place.
    """
    from workbench.trace.faults import FAULT_TYPES

    head, at, aim = text.rpartition("@")  # what a tool says may have one, too
    head, aim = (head, aim) if at else (text, "")
    kind, colon, value = head.partition(":")
    if kind not in FAULT_TYPES:
        raise UsageError(f"--fault {text}: choose one of {', '.join(FAULT_TYPES)}")
    data: dict[str, Any] = {"type": kind}
    if colon:
        data |= _value(kind, value, text)
    elif kind == "http_error":
        raise UsageError(f"--fault {text}: say which status, such as http_error:429@turn:2")
    return data | (_aim(aim, text) if at else {})


def _value(kind: str, value: str, text: str) -> dict[str, Any]:
    from workbench.trace.faults import FAULT_TYPES

    field = _SHORT.get(kind, FAULT_TYPES[kind].short)
    if field is None or not value or (field in _NUMBERS and not value.isdecimal()):
        examples = {"http_error": "http_error:429", "crash": "crash:after@event:paid"}
        example = examples.get(kind, f"{kind}@turn:2")
        raise UsageError(f"--fault {text}: '{value}' does not fit; write {example}, or JSON")
    if field == "result":
        return {field: _json_or_text(value)}
    return {field: int(value) if field in _NUMBERS else value}


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError:
        return value


def _aim(aim: str, whole: str) -> dict[str, Any]:
    """What stands after the ``@``: the aim, how often, and the layer."""
    found: dict[str, Any] = {}
    for part in aim.split(","):
        for name, value in _part(part, whole).items():
            if name in found:
                kind = "a place (a bare word is a step)" if name == "place" else f"its {name}"
                raise UsageError(
                    f"--fault {whole}: '{part}' is said twice, or against another: it is read as "
                    f"{kind}, and there is one before it"
                )
            found[name] = value
    place = found.get("place")
    if "tool" in found and place is not None and place.kind == "turn":
        found.setdefault("nth", 1)  # one call of the tool, not each one
    outer: dict[str, Any] = {name: found.pop(name) for name in ("times", "layer") if name in found}
    return {**outer, "aim": found} if found else outer


def _part(part: str, whole: str) -> dict[str, Any]:
    from workbench.trace.places import parse_place

    kind, colon, value = part.partition(":")
    if part in _LAYERS:
        return {"layer": part}
    if kind in _COUNTS:
        if not value.isdecimal() or int(value) < 1:
            what = {"nth": "model calls", "attempt": "tries"}.get(kind, "times")
            raise UsageError(f"--fault {whole}: {what} count from 1, such as {kind}:2")
        return {kind: int(value)}
    if kind == "event" and value:
        return {"event": value}
    if kind == "tool":
        name, sharp, nth = value.partition("#")
        if not name or (sharp and not nth.isdecimal()):
            raise UsageError(f"--fault {whole}: aim at a tool with tool:NAME or tool:NAME#2")
        return {"tool": name, "nth": int(nth)} if sharp else {"tool": name}
    if colon and kind not in ("turn", "entry", "step"):
        raise UsageError(f"--fault {whole}: '{part}' is no aim: {_KNOWN}")
    try:
        return {"place": parse_place(part)}
    except PlaceError as error:
        raise PlaceError(f"--fault {whole}: {error}") from error
