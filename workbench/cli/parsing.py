"""From the words of a command line to places, faults and ignore rules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.trace.faults import Fault
    from workbench.trace.places import Place

_NUMBERS = ("status_code", "after_ms", "after_chunks", "after_tokens")
"""The fields that are numbers, of those that a short form gives after the colon."""
_AIMS = ("turn", "entry", "step", "tool", "event", "nth")
"""What a fault's short form may aim at, before the colon."""


def read_fault(text: str) -> Fault:
    """A fault, as JSON or in the short form ``TYPE[:VALUE][@AIM]``.

    ``http_error:429@turn:2``, ``timeout@tool:get_order``, ``stream_truncate:3@turn:1``,
    ``connection_reset@tool:refund#2`` (its second call), ``timeout@nth:3`` (the third model call),
    ``malformed_tool_call:wrong_type``, ``tool_error:no such order@tool:get_order``,
    ``crash@event:paid``. Without an aim it is the first model call, or the first tool call.

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
    """A fault in its short form as plain data. Raises UsageError."""
    from workbench.trace.faults import FAULT_TYPES

    head, at, aim = text.partition("@")
    kind, colon, value = head.partition(":")
    if kind not in FAULT_TYPES:
        raise UsageError(f"--fault {text}: choose one of {', '.join(FAULT_TYPES)}")
    data: dict[str, Any] = {"type": kind}
    if colon:
        field = FAULT_TYPES[kind].short
        if field is None or not value or (field in _NUMBERS and not value.isdecimal()):
            example = "http_error:429" if kind == "http_error" else f"{kind}@turn:2"
            raise UsageError(f"--fault {text}: '{value}' does not fit; write {example}, or JSON")
        data[field] = int(value) if field in _NUMBERS else value
    elif kind == "http_error":
        raise UsageError(f"--fault {text}: say which status, such as http_error:429@turn:2")
    if at:
        data["aim"] = _aim(aim, text)
    return data


def _aim(aim: str, whole: str) -> dict[str, Any]:
    from workbench.trace.places import parse_place

    kind, colon, number = aim.partition(":")
    if colon and kind not in _AIMS:
        raise UsageError(
            f"--fault {whole}: '{aim}' is no aim: write @turn:3, @entry:1-7, @step:x, @tool:NAME, "
            "@tool:NAME#2 (its second call), @event:TYPE or @nth:3 (the third model call)"
        )
    if kind == "event" and number:
        return {"event": number}
    if kind == "nth":
        if not number.isdecimal() or int(number) < 1:
            raise UsageError(f"--fault {whole}: model calls count from 1, such as @nth:3")
        return {"nth": int(number)}
    if kind != "tool":
        return {"place": parse_place(aim)}
    name, sharp, nth = aim.removeprefix("tool:").partition("#")
    if not name or (sharp and not nth.isdecimal()):
        raise UsageError(f"--fault {whole}: aim at a tool with tool:NAME or tool:NAME#2")
    return {"tool": name, "nth": int(nth)} if sharp else {"tool": name}


def with_places(data: Any) -> Any:
    """The same with places written as text turned into places."""
    from workbench.trace.places import parse_place

    if not isinstance(data, Mapping):
        return data
    out = dict(data)
    if "at" in out and not isinstance(out["at"], Mapping):
        out["at"] = parse_place(out["at"])
    if isinstance(out.get("fault"), Mapping):
        out["fault"] = with_places(out["fault"])
    aim = out.get("aim")
    if isinstance(aim, Mapping) and isinstance(aim.get("place"), str):
        out["aim"] = {**aim, "place": parse_place(aim["place"])}
    return out


def read_ignore(rules: Sequence[str]) -> dict[str, list[str]]:
    """``API:/json/pointer`` rules, per api.

    Raises:
        UsageError: one is not of that form.
    """
    out: dict[str, list[str]] = {}
    for rule in rules:
        api, colon, pointer = rule.partition(":")
        if not api or not colon or not pointer.startswith("/"):
            raise UsageError(
                f"--ignore {rule}: write API:/pointer, such as openai.chat:/body/messages/0 "
                "(for a tool's arguments: tool:/arguments/when)"
            )
        out.setdefault(api, []).append(pointer)
    return out


def read_place(text: str | None) -> Place | None:
    """A place as written on a command line, or none. Raises PlaceError."""
    from workbench.trace.places import parse_place

    return None if text is None else parse_place(text)


def read_file(name: str) -> str:
    """The text of a file with edits. Raises UsageError."""
    path = Path(name)
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        raise UsageError(
            f"--edit {name}: there is no such file; give a JSON file, or JSON that begins with {{"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--edit {name}: the file cannot be read ({error})") from error


def json_of(text: str, what: str) -> Any:
    """What a JSON text says; ``what`` names it in the error. Raises UsageError."""
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(f"{what}: this is not JSON ({error})") from error
