"""Reading the items of OpenAI's Responses: messages, calls, results, reasoning, built-in tools.

A conversation is a list of items in which one turn of the model is several: its reasoning, its
words, and each of its calls. What the provider's own tools did (searches, code, remote MCP
servers) is opaque here, and kept as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from .base import JSON, Message, ToolCall, ToolSpec
from .reading import (
    TEXT_PARTS,
    as_dict,
    as_list,
    as_text,
    as_text_or_none,
    compact,
    kind_of,
    read_call,
    read_content,
)

ROLES: Final = {"developer": "system"}
# Where a call that the client is to make keeps what it asks for, by the item's type.
_ASKS: Final = {
    "function_call": ("arguments",),
    "custom_tool_call": ("input",),
    "computer_call": ("actions", "action"),
    "local_shell_call": ("action",),
    "shell_call": ("action",),
    "apply_patch_call": ("operation",),
    "tool_search_call": ("arguments",),
}
_NAMED: Final = ("name", "server_label")
_OUTPUT: Final = "_output"
_FROM_CLIENT: Final = frozenset({"mcp_approval_response", "compaction_trigger"})


def is_message(item: JSON) -> bool:
    """Whether an item is a message; in a request it need not say so."""
    source = as_dict(item)
    return source.get("type") == "message" or ("type" not in source and "role" in source)


def is_call(item: JSON) -> bool:
    """Whether an item is a call that the client is to make."""
    source = as_dict(item)
    return kind_of(item) in _ASKS and source.get("execution") != "server"


def is_result(item: JSON) -> bool:
    """Whether an item is the result of a call."""
    source = as_dict(item)
    return kind_of(item).endswith(_OUTPUT) and answers(source) is not None


def answers(result: dict[str, Any]) -> str | None:
    """The id of the call that a result answers."""
    # A local shell's result has it under another name.
    named = result.get("call_id")
    return as_text_or_none(result.get("id") if named is None else named)


def is_signed(item: JSON) -> bool:
    """Whether an item is reasoning that the provider takes back only as it was.

    It is sealed, or named by an id under which the provider keeps it.
    """
    source = as_dict(item)
    if kind_of(item) != "reasoning":
        return False
    return source.get("encrypted_content") is not None or bool(source.get("id"))


def by_model(item: JSON) -> bool:
    """Whether an item is part of what the model did."""
    return _message(item, ()).role == "assistant"


def read_items(items: Sequence[JSON], at: str) -> list[Message]:
    """The items of a conversation, each with its place; those of one turn continue each other."""
    found: list[Message] = []
    for place, item in enumerate(items):
        message = _message(item, (at, place))
        before = found[-1].role if found else ""
        goes_on = message.role == before == "assistant"
        found.append(replace(message, continues=True) if goes_on else message)
    return found


def read_item(item: JSON) -> Message:
    """One item of a conversation."""
    return _message(item, ())


def _message(item: JSON, at: tuple[str | int, ...]) -> Message:
    if isinstance(item, str):
        return Message(role="user", text=item, raw=item, at=at)
    source = as_dict(item)
    kind = kind_of(item)
    if is_message(item):
        return _spoken(source, at)
    if is_result(item):
        return _result(source, at)
    if is_call(item):
        return Message(role="assistant", tool_calls=(read_tool_call(source),), raw=item, at=at)
    if kind == "reasoning":
        signed = ("reasoning",) if is_signed(item) else ()
        thought = reasoning_text(source)
        return Message(role="assistant", reasoning=thought, signed=signed, raw=item, at=at)
    role = "assistant" if kind else "unknown"
    if kind in _FROM_CLIENT:
        role = "user"
    return Message(role=role, name=_opaque_name(source), images=1 if kind else 0, raw=item, at=at)


def _spoken(source: dict[str, Any], at: tuple[str | int, ...]) -> Message:
    role = as_text(source.get("role")) or "unknown"
    content = read_content(source.get("content"))
    # The parts of a reply go on from each other; those that a client puts together do not.
    text = spoken_text(source) if role == "assistant" else content.text
    return Message(
        role=ROLES.get(role, role),
        text=text,
        name=as_text_or_none(source.get("name")),
        images=content.others,
        raw=source,
        at=at,
    )


def _result(source: dict[str, Any], at: tuple[str | int, ...]) -> Message:
    output = source.get("output")
    text, others = "", 0 if "output" in source else 1
    if isinstance(output, str):
        text = output
    elif isinstance(output, list) and any(is_text(part) for part in output):
        content = read_content(output)
        text, others = content.text, content.others
    elif isinstance(output, dict) and "image_url" in output:
        others = 1
    elif output is not None:
        text, others = _written(output)
    return Message(
        role="tool",
        text=text,
        tool_call_id=answers(source),
        name=as_text_or_none(source.get("name")),
        images=others,
        raw=source,
        at=at,
    )


def _written(output: JSON) -> tuple[str, int]:
    parts = as_list(output)
    if parts and all(kind_of(part).startswith("input_") for part in parts):
        return "", len(parts)
    try:
        return compact(output), 0
    except (TypeError, ValueError, RecursionError):
        return "", 1


def _opaque_name(source: dict[str, Any]) -> str | None:
    kind = as_text_or_none(source.get("type"))
    named = next((as_text(source[key]) for key in _NAMED if as_text(source.get(key))), "")
    return f"{kind} {named}" if kind and named else kind


def is_text(part: JSON) -> bool:
    """Whether a part of a content holds text."""
    return isinstance(part, str) or kind_of(part) in TEXT_PARTS


def spoken_text(message: dict[str, Any]) -> str:
    """The text of a message of the model, its parts put end to end."""
    content = message.get("content")
    if not isinstance(content, list):
        return as_text(content)
    return "".join(
        part if isinstance(part, str) else as_text(part.get("text"))
        for part in content
        if is_text(part)
    )


def refusal_text(message: dict[str, Any]) -> str | None:
    """The words in which a message refuses; None where it does not."""
    parts = [as_dict(part) for part in as_list(message.get("content"))]
    found = [as_text(part.get("refusal")) for part in parts if part.get("type") == "refusal"]
    return "\n".join(found) if found else None


def reasoning_text(item: dict[str, Any]) -> str:
    """The readable part of a reasoning item: its summary, and its words where they are given."""
    parts = [*as_list(item.get("summary")), *as_list(item.get("content"))]
    return "\n".join(filter(None, (as_text(as_dict(part).get("text")) for part in parts)))


def read_tool_call(item: dict[str, Any]) -> ToolCall:
    """A call that the client is to make."""
    kind = kind_of(item)
    call_id = as_text_or_none(item.get("call_id"))
    asked = next((item[key] for key in _ASKS.get(kind, ()) if item.get(key) is not None), None)
    if kind == "custom_tool_call":  # its input is free text, not JSON
        text = as_text(asked)
        return ToolCall(call_id, as_text(item.get("name")), text, text)
    name = item.get("name") if kind == "function_call" else kind.removesuffix("_call")
    return read_call(call_id, name, asked)


def open_calls(output: Sequence[JSON]) -> list[int]:
    """Where in a reply's output calls stand that the client is to make.

    A call that is answered in the same output was made by the provider.
    """
    answered = {answers(item) for item in output if is_result(item)} - {None}
    return [
        place
        for place, item in enumerate(output)
        if is_call(item) and as_text_or_none(item.get("call_id")) not in answered
    ]


def read_tools(listed: Sequence[JSON]) -> list[ToolSpec]:
    """The tools of a request: functions, custom and built-in ones, and those in a namespace."""
    found: list[ToolSpec] = []
    for raw in listed:
        source = as_dict(raw)
        if source.get("type") == "namespace":
            found += read_tools(as_list(source.get("tools")))
            continue
        found.append(
            ToolSpec(
                name=_tool_name(source),
                description=as_text(source.get("description")),
                parameters=as_dict(source.get("parameters")),
                raw=raw,
            )
        )
    return found


def _tool_name(source: dict[str, Any]) -> str:
    kind = kind_of(source).removesuffix("_use_preview")
    if kind == "mcp":
        return f"mcp {as_text(source.get('server_label'))}".strip()
    return as_text(source.get("name")) or kind
