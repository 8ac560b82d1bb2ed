"""From the words of a command line to edits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.cli.fault_words import short_fault
from workbench.cli.parsing import json_of, read_file, with_places
from workbench.cli.problems import problem
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.trace.edits import Edit

EXAMPLES = """\
\b
Edits, each JSON or a JSON file (a list of them, too):
  another last answer, and no tool call:
    {"type": "reply", "at": "turn:4", "text": "Done.", "tool_calls": []}
  another tool call, the recorded text stays:
    {"type": "reply", "at": "turn:4",
     "tool_call": ["send_email", {"to": "ada@example.com"}]}
  another result of a tool:
    {"type": "tool_result", "at": "turn:3", "tool": "get_order",
     "result": {"total": 0}}
  other arguments for a tool, whatever the model said:
    {"type": "tool_arguments", "at": "turn:3", "arguments": {"order_id": 7}}
  another question, also in the later turns ("scope": "once": only here):
    {"type": "request", "at": "turn:2", "system": "Be brief.", "model": "m-2",
     "replace": {"2": "Order 7 is lost."}, "append": ["Think twice."],
     "drop": [3], "set": {"temperature": 0}, "unset": ["seed"]}
  another event expected of the agent; another reading or human's answer:
    {"type": "event", "at": "entry:1-6", "data": {"order": 7}}
    {"type": "value", "at": "entry:1-9", "value": "no"}
  a failure:
    {"type": "fault", "fault": "http_error:429@turn:2"}
  one more turn, and one less (for traces written by hand):
    {"type": "insert", "at": "turn:2", "what": {"kind": "turn", "text": "Hm."}}
    {"type": "drop", "at": "turn:3"}"""
"""What can be written after ``--edit``, for the help."""


def read_edits(texts: Iterable[str]) -> list[Edit]:
    """Edits, each text a JSON file or JSON itself: one edit, or a list of them.

    Beside the stored form they may be written as in :data:`EXAMPLES`: a place as on the command
    line, a tool call as ``["name", {...}]``, a single one under ``tool_call``, a fault in its short
    form.

    Raises:
        UsageError: one is no edit; the text says where and why.
    """
    found: list[Edit] = []
    for text in texts:
        inline = text.lstrip()[:1] in ("{", "[")
        what = "--edit" if inline else f"--edit {text}"
        data = json_of(text if inline else read_file(text), what)
        found += [_edit(one, what) for one in (data if isinstance(data, list) else [data])]
    return found


def _edit(data: Any, what: str) -> Edit:
    from pydantic import ValidationError

    from workbench.trace.edits import EDIT, EDIT_TYPES

    if not isinstance(data, Mapping):
        raise UsageError(f"{what}: an edit is a JSON object {{…}}, not {data!r}")
    kind = data.get("type")
    if kind not in EDIT_TYPES:
        given = "says no type" if kind is None else f"has the type {kind!r}"
        raise UsageError(f"{what}: the edit {given}; there are {', '.join(EDIT_TYPES)}")
    try:
        return EDIT.validate_python(with_places(_spelled_out(dict(data), what)))
    except ValidationError as error:
        raise UsageError(f"{what}: {problem(error)}") from error


def _spelled_out(data: dict[str, Any], what: str) -> dict[str, Any]:
    """The same in the stored form."""
    if data["type"] == "reply":
        if "tool_call" in data:
            if "tool_calls" in data:
                raise UsageError(f"{what}: give either tool_call or tool_calls, not both")
            data["tool_calls"] = [data.pop("tool_call")]
        if isinstance(data.get("tool_calls"), list):
            data["tool_calls"] = [_call(each, what) for each in data["tool_calls"]]
    if data["type"] == "request":
        data = _messages(data, what)
    if data["type"] == "fault" and isinstance(data.get("fault"), str):
        data["fault"] = short_fault(data["fault"])
    return data


def _messages(data: dict[str, Any], what: str) -> dict[str, Any]:
    """A request edit with the short forms of its messages written out."""
    from workbench.errors import EditError
    from workbench.trace.edits.making import message_edits

    short = {name: data[name] for name in ("replace", "append", "drop") if name in data}
    rest = {name: value for name, value in data.items() if name not in short}
    if not short:
        return rest
    try:
        if "replace" in short:
            replaced = short["replace"].items()
            short["replace"] = {int(number): _said(said) for number, said in replaced}
        short["append"] = [_said(said) for said in short.get("append", ())]
        made = message_edits(**short)
    except (AttributeError, TypeError, ValueError, EditError) as error:
        raise UsageError(
            f'{what}: replace is {{"2": "text"}}, append is ["text"], drop is [3] ({error})'
        ) from error
    written = [each.model_dump(exclude_none=True) for each in made]
    return {**rest, "messages": [*rest.get("messages", ()), *written]}


def _said(value: Any) -> Any:
    """A role and a text may be written as a list."""
    return tuple(value) if isinstance(value, list) else value


def _call(value: Any, what: str) -> Any:
    if not isinstance(value, list):
        return value
    if len(value) != 2 or not isinstance(value[0], str):
        raise UsageError(f'{what}: a tool call is ["name", {{...}}] or {{"name", "arguments"}}')
    return {"name": value[0], "arguments": value[1]}
