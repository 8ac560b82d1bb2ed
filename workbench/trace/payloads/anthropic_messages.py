"""The view of Anthropic's messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.errors import EditError

from .anthropic_blocks import (
    is_call,
    read_calls,
    read_messages,
    read_system,
    read_tools,
    read_units,
    spoken_text,
    thinking_text,
)
from .anthropic_edit import change_messages, unsigned, with_text, write_blocks
from .anthropic_stream import assemble, split
from .base import JSON, Message, MessageChange, Reply, ToolCallLike, ToolSpec, Usage
from .calls import derived_id, seed_of
from .chat import check_places, with_fields
from .reading import as_count, as_dict, as_list, as_text, as_text_or_none
from .signed import signed_parts


class AnthropicMessagesView:
    """Reads and edits bodies of `POST /v1/messages`.

    A message with the results of several calls is several messages here, one for each block.
    """

    api = "anthropic.messages"
    conversation_path = ("body", "messages")
    roles = ("user", "assistant", "system")

    def messages(self, body: JSON) -> list[Message]:
        """The `system` prompt of a request, and its `messages`."""
        source = as_dict(body)
        return [*read_system(source), *read_messages(as_list(source.get("messages")))]

    def message(self, raw: JSON) -> Message:
        """One item of `messages`, or one block; of several results the last."""
        return read_units(raw)[-1]

    def tools(self, body: JSON) -> list[ToolSpec]:
        """The `tools` of a request, the provider's own ones included."""
        return read_tools(as_list(as_dict(body).get("tools")))

    def model(self, body: JSON) -> str | None:
        """The `model` of a request or response."""
        return as_text_or_none(as_dict(body).get("model"))

    def parameters(self, body: JSON) -> dict[str, Any]:
        """All fields of a request but `system`, `messages` and `tools`."""
        beside = {"system", "messages", "tools"}
        return {key: value for key, value in as_dict(body).items() if key not in beside}

    def streams(self, body: JSON) -> bool:
        """Whether `stream` is true."""
        return as_dict(body).get("stream") is True

    def wants_usage(self, body: JSON) -> bool:  # noqa: ARG002
        """Always: the first event and the last but one carry it."""
        return True

    def reply(self, body: JSON) -> Reply:
        """What the blocks of the `content` say."""
        source = as_dict(body)
        content = source.get("content")
        blocks = as_list(content)
        text = spoken_text(content)
        reason = as_text_or_none(source.get("stop_reason"))
        why = as_text(as_dict(source.get("stop_details")).get("explanation"))
        return Reply(
            text=text,
            tool_calls=read_calls(blocks),
            reasoning=thinking_text(blocks),
            finish_reason=reason,
            refusal=(why or text) if reason == "refusal" else None,
            role=as_text(source.get("role")) or "assistant",
            signed=signed_parts({"content": blocks}),
        )

    def usage(self, body: JSON) -> Usage | None:
        """`usage`; Anthropic's input tokens are without the cached ones, which are added."""
        raw = as_dict(body).get("usage")
        if not isinstance(raw, dict):
            return None
        read = as_count(raw.get("cache_read_input_tokens"))
        written = as_count(raw.get("cache_creation_input_tokens"))
        fresh = as_count(raw.get("input_tokens"))
        return Usage(
            input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
            output_tokens=as_count(raw.get("output_tokens")),
            cache_read_tokens=read,
            cache_write_tokens=written,
            reasoning_tokens=as_count(
                as_dict(raw.get("output_tokens_details")).get("thinking_tokens")
            ),
            raw=raw,
        )

    def assemble(self, chunks: Sequence[JSON]) -> JSON:
        """The events of a stream as one message; a missing stop reason stays missing."""
        return assemble(chunks)

    def split(self, body: JSON, include_usage: bool = False) -> list[JSON]:  # noqa: ARG002, FBT001, FBT002
        """A message as the events of a stream, the usage always included."""
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
        """A message in which the model said this instead. See `PayloadView`."""
        if text is None and tool_calls is None and refusal is None and finish_reason is None:
            return body
        source = as_dict(body)
        seed = seed_of(body, source.get("id"))
        if refusal is not None:
            text, tool_calls = text or "", tool_calls or []
        content = write_blocks(source.get("content"), text=text, tool_calls=tool_calls, seed=seed)
        stopped = finish_reason or ("tool_use" if any(map(is_call, content)) else "end_turn")
        new = {**_begun(source, seed), "content": content, "stop_reason": stopped}
        if source.get("stop_sequence") is not None and stopped != "stop_sequence":
            new["stop_sequence"] = None
        if source.get("stop_details") is not None and stopped != "refusal":
            new["stop_details"] = None
        if refusal is not None:
            told = {"type": "refusal", "category": None, "explanation": refusal}
            new |= {"stop_reason": "refusal", "stop_details": told}
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
        told, said = len(read_system(source)), as_list(source.get("messages"))
        units = read_messages(said)
        changes: dict[str, Any] = dict(set or {})
        gone = [*unset]
        check_places(messages, told + len(units))
        inside: list[MessageChange] = []
        for change in messages:
            if change.place < told and change.op != "insert":
                _prompt(change, source, changes, gone)
            else:
                inside.append(replace(change, place=max(0, change.place - told)))
        if system is not None:
            changes["system"] = _with_prompt(source.get("system"), system)
        new = change_messages(said, units, inside, told)
        if model is not None:
            changes["model"] = model
            new = [unsigned(each) for each in new] if model != source.get("model") else new
        if len(new) != len(said) or any(a is not b for a, b in zip(new, said, strict=True)):
            changes["messages"] = new
        return with_fields(body, changes, gone)


def _begun(source: dict[str, Any], seed: str) -> dict[str, Any]:
    """The fields of a reply; an empty body, or an error, becomes a whole one."""
    if source.get("id") is not None:
        return source
    made = {
        "id": derived_id("msg_wb_", seed),
        "type": "message",
        "role": "assistant",
        "stop_sequence": None,
        # The SDK adds to these counts and needs them; nothing was spent on a made-up reply.
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    kept = {key: value for key, value in source.items() if key not in ("error", "type")}
    return {**made, **kept}


def _with_prompt(old: JSON, text: str) -> JSON:
    told = read_system({"system": old})
    if told and told[0].text == text:
        return old
    return with_text(old, text)


def _prompt(
    change: MessageChange, source: dict[str, Any], changes: dict[str, Any], gone: list[str]
) -> None:
    """Change the system prompt, which is the first message of a conversation."""
    if change.op == "drop":
        gone.append("system")
        return
    given = as_dict(change.message)
    role = given.get("role") if given else change.role
    if role not in (None, "system"):
        raise EditError(
            f"message {change.place + 1} is the system prompt, which can't get the role {role!r}: "
            "drop it, and put in a new message"
        )
    if given:
        changes["system"] = given.get("content")
    elif change.text is not None:
        changes["system"] = _with_prompt(source.get("system"), change.text)
