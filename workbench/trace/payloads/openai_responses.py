"""The view of OpenAI's Responses, and of the servers that speak them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.errors import EditError

from .base import JSON, Message, MessageChange, Reply, ToolCallLike, ToolSpec, Usage
from .calls import derived_id, seed_of
from .chat import check_places, with_fields
from .reading import as_count, as_dict, as_list, as_text_or_none
from .responses_edit import change_items, unsigned, write_output
from .responses_items import (
    is_message,
    is_signed,
    open_calls,
    read_item,
    read_items,
    read_tool_call,
    read_tools,
    reasoning_text,
    refusal_text,
    spoken_text,
)
from .responses_stream import assemble, split

_STATUSES = frozenset({"completed", "failed", "in_progress", "cancelled", "queued", "incomplete"})


class OpenAIResponsesView:
    """Reads and edits bodies of `POST /responses`.

    The finish reason of a reply is why it is incomplete, where it says so, else its status.
    """

    api = "openai.responses"
    conversation_path = ("body", "input")
    roles = ("system", "developer", "user", "assistant")

    def messages(self, body: JSON) -> list[Message]:
        """The `instructions` of a request, and the items of its `input`."""
        source = as_dict(body)
        said = _system(source)
        asked = source.get("input")
        if isinstance(asked, str):
            return [*said, Message(role="user", text=asked, raw=asked, at=("input",))]
        return [*said, *read_items(as_list(asked), "input")]

    def message(self, raw: JSON) -> Message:
        """One item of `input` or `output`."""
        return read_item(raw)

    def tools(self, body: JSON) -> list[ToolSpec]:
        """The `tools` of a request; built-in ones by their type."""
        return read_tools(as_list(as_dict(body).get("tools")))

    def model(self, body: JSON) -> str | None:
        """The `model` of a request or response."""
        return as_text_or_none(as_dict(body).get("model"))

    def parameters(self, body: JSON) -> dict[str, Any]:
        """All fields of a request but `instructions`, `input` and `tools`."""
        beside = {"instructions", "input", "tools"}
        return {key: value for key, value in as_dict(body).items() if key not in beside}

    def streams(self, body: JSON) -> bool:
        """Whether `stream` is true."""
        return as_dict(body).get("stream") is True

    def wants_usage(self, body: JSON) -> bool:  # noqa: ARG002
        """Always: the last event carries the whole response."""
        return True

    def reply(self, body: JSON) -> Reply:
        """What the items of the `output` say."""
        source = as_dict(body)
        output = [as_dict(item) for item in as_list(source.get("output"))]
        spoken = [item for item in output if is_message(item)]
        refusals = [text for text in map(refusal_text, spoken) if text is not None]
        thought = [reasoning_text(item) for item in output if item.get("type") == "reasoning"]
        reason = as_dict(source.get("incomplete_details")).get("reason")
        return Reply(
            text="".join(map(spoken_text, spoken)),
            tool_calls=tuple(read_tool_call(output[place]) for place in open_calls(output)),
            reasoning="\n".join(filter(None, thought)),
            finish_reason=as_text_or_none(reason) or as_text_or_none(source.get("status")),
            refusal="\n".join(refusals) if refusals else None,
            signed=("reasoning",) if any(map(is_signed, output)) else (),
        )

    def usage(self, body: JSON) -> Usage | None:
        """`usage`; its input tokens include the cached ones already."""
        raw = as_dict(body).get("usage")
        if not isinstance(raw, dict):
            return None
        asked, said = (
            as_dict(raw.get("input_tokens_details")),
            as_dict(raw.get("output_tokens_details")),
        )
        return Usage(
            input_tokens=as_count(raw.get("input_tokens")),
            output_tokens=as_count(raw.get("output_tokens")),
            cache_read_tokens=as_count(asked.get("cached_tokens")),
            cache_write_tokens=as_count(asked.get("cache_write_tokens")),
            reasoning_tokens=as_count(said.get("reasoning_tokens")),
            raw=raw,
        )

    def assemble(self, chunks: Sequence[JSON]) -> JSON:
        """The events of a stream as one response; without a last event its status stays."""
        return assemble(chunks)

    def split(self, body: JSON, include_usage: bool = False) -> list[JSON]:  # noqa: ARG002, FBT001, FBT002
        """A response as the events of a stream, the usage always in the last one."""
        return split(as_dict(body))

    def with_reply(
        self,
        body: JSON,
        *,
        text: str | None = None,
        tool_calls: Sequence[ToolCallLike] | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
    ) -> JSON:
        """A response in which the model said this instead. See `PayloadView`."""
        if text is None and tool_calls is None and refusal is None and finish_reason is None:
            return body
        source = as_dict(body)
        seed = seed_of(body, source.get("id"))
        if refusal is not None:
            tool_calls = tool_calls or []
        old = as_list(source.get("output"))
        output = write_output(old, text=text, tool_calls=tool_calls, refusal=refusal, seed=seed)
        made = {"id": derived_id("resp_wb_", seed), "object": "response", "created_at": 0}
        new = {**(source or made), "output": output, **_ended(source, finish_reason)}
        if source.get("error") is not None:
            new["error"] = None
        return new

    def with_request(
        self,
        body: JSON,
        *,
        system: str | None = None,
        messages: Sequence[MessageChange] = (),
        model: str | None = None,
        set: Mapping[str, JSON] | None = None,  # noqa: A002 - as in PayloadView
        unset: Sequence[str] = (),
    ) -> JSON:
        """A request that asks this instead. See `PayloadView`."""
        source = as_dict(body)
        changes: dict[str, Any] = dict(set or {})
        gone = [*unset]
        told, said = len(_system(source)), _items(source)
        check_places(messages, told + len(said))
        for change in messages:
            if change.place < told and change.op != "insert":
                _instruct(change, changes, gone)
        if system is not None:
            changes["instructions"] = system
        new = change_items(said, [_moved(each, told) for each in messages if _inside(each, told)])
        if model is not None:
            changes["model"] = model
            new = unsigned(new) if model != source.get("model") else new
        if len(new) != len(said) or any(a is not b for a, b in zip(new, said, strict=True)):
            changes["input"] = _as_input(new, source.get("input"))
        return with_fields(body, changes, gone)


def _system(source: dict[str, Any]) -> list[Message]:
    told = source.get("instructions")
    if not isinstance(told, str):
        return []
    return [Message(role="system", text=told, raw=told, at=("instructions",))]


def _items(source: dict[str, Any]) -> list[Any]:
    asked = source.get("input")
    return [asked] if isinstance(asked, str) else as_list(asked)


def _as_input(items: list[Any], old: JSON) -> JSON:
    if isinstance(old, str) and len(items) == 1 and isinstance(items[0], str):
        return items[0]
    return [{"role": "user", "content": i} if isinstance(i, str) else i for i in items]


def _inside(change: MessageChange, told: int) -> bool:
    return change.op == "insert" or change.place >= told


def _moved(change: MessageChange, told: int) -> MessageChange:
    """The change with its place among the items; nothing can stand before the instructions."""
    return replace(change, place=max(0, change.place - told))


def _instruct(change: MessageChange, changes: dict[str, Any], gone: list[str]) -> None:
    """Change the instructions, which are the first message of a conversation."""
    if change.op == "drop":
        gone.append("instructions")
        return
    said = read_item(change.message) if change.message is not None else None
    role = change.role if said is None else said.role
    if role not in (None, "system", "developer"):
        raise EditError(
            f"message {change.place + 1} is the system prompt (instructions), which can't get the "
            f"role {role!r}: drop it, and put in a new message"
        )
    text = change.text if said is None else said.text
    if text is not None:
        changes["instructions"] = text


def _ended(source: dict[str, Any], reason: str | None) -> dict[str, Any]:
    if reason is None or reason in _STATUSES:
        cut = {"incomplete_details": None} if source.get("incomplete_details") else {}
        return {"status": reason or "completed", **cut}
    return {"status": "incomplete", "incomplete_details": {"reason": reason}}
