"""The view of the neutral shape, `workbench`: what `AgentIO` and hand-written traces speak.

Request: `{"model", "messages": [{"role", "content", "tool_calls", "tool_call_id"}], "tools", …}`.
Response: `{"content", "tool_calls": [{"id", "name", "arguments": {…}}], "finish_reason", "model",
"usage", "reasoning"}`. Chunks: `{"text"}`, `{"reasoning"}`, `{"tool_call": {"index", "id",
"name", "arguments"}}` with a piece of the arguments' text, and a last one with everything else.
What a framework wrote beside it, under `native`, is no part of the shape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .base import (
    JSON,
    TOKEN_COUNTS,
    Message,
    MessageChange,
    Reply,
    ToolCall,
    ToolCallLike,
    ToolSpec,
    Usage,
)
from .calls import same_calls, seed_of, settle_calls
from .chat import with_request, write_content
from .deltas import Growing, Slots, pieces
from .reading import (
    as_count,
    as_dict,
    as_list,
    as_text,
    as_text_or_none,
    parse_arguments,
    read_call,
    read_content,
)
from .signed import drop_signed, signed_parts


class NeutralView:
    """Reads and edits bodies of the neutral shape."""

    api = "workbench"
    conversation_path = ("body", "messages")
    roles = ("system", "user", "assistant", "tool")

    def messages(self, body: JSON) -> list[Message]:
        """The `messages` of a request."""
        listed = as_list(as_dict(body).get("messages"))
        return [_message(raw, ("messages", place)) for place, raw in enumerate(listed)]

    def message(self, raw: JSON) -> Message:
        """One item of `messages`."""
        return _message(raw, ())

    def tools(self, body: JSON) -> list[ToolSpec]:
        """The `tools` of a request."""
        sources = [as_dict(raw) for raw in as_list(as_dict(body).get("tools"))]
        return [
            ToolSpec(
                name=as_text(source.get("name")),
                description=as_text(source.get("description")),
                parameters=as_dict(source.get("parameters")),
            )
            for source in sources
        ]

    def model(self, body: JSON) -> str | None:
        """The `model` of a request or response."""
        return as_text_or_none(as_dict(body).get("model"))

    def parameters(self, body: JSON) -> dict[str, Any]:
        """All fields of a request but `messages` and `tools`."""
        beside = {"messages", "tools"}
        return {key: value for key, value in as_dict(body).items() if key not in beside}

    def streams(self, body: JSON) -> bool:
        """Whether `stream` is true."""
        return as_dict(body).get("stream") is True

    def wants_usage(self, body: JSON) -> bool:  # noqa: ARG002
        """Always: in this shape the last chunk carries the usage."""
        return True

    def reply(self, body: JSON) -> Reply:
        """What the model said."""
        source = as_dict(body)
        content = read_content(source.get("content"))
        return Reply(
            text=content.text,
            tool_calls=_calls(source),
            reasoning=as_text(source.get("reasoning")) or content.reasoning,
            finish_reason=as_text_or_none(source.get("finish_reason")),
            refusal=as_text_or_none(source.get("refusal")),
            role=as_text(source.get("role")) or "assistant",
            signed=signed_parts(source),
        )

    def usage(self, body: JSON) -> Usage | None:
        """`usage`; a count that is absent was not recorded."""
        raw = as_dict(body).get("usage")
        if not isinstance(raw, dict):
            return None
        return Usage(**{name: as_count(raw.get(name)) for name in TOKEN_COUNTS}, raw=raw)

    def assemble(self, chunks: Sequence[JSON]) -> JSON:
        """The chunks of a stream as one body; content is None when no text came."""
        whole = Growing(joined=frozenset({"text", "reasoning"}))
        fragment = Growing(joined=frozenset({"arguments"}), continued=frozenset({"name"}))
        calls = Slots(fragment)
        for chunk in chunks:
            for key, value in as_dict(chunk).items():
                if key == "tool_call" and isinstance(value, dict):
                    named = bool(value.get("name"))
                    calls.find(value.get("index"), value.get("id"), starts=named).update(
                        {name: item for name, item in value.items() if name != "index"}
                    )
                elif key != "native":
                    whole.add(key, value)
        body = {"content": None, **whole.done()}
        if "text" in body:
            body["content"] = body.pop("text")
        if calls:
            body["tool_calls"] = [_parsed(call) for call in calls.done()]
        return body

    def split(self, body: JSON, include_usage: bool = False) -> list[JSON]:  # noqa: ARG002, FBT001, FBT002
        """A body as chunks: reasoning, text, calls, and the rest last, usage always included."""
        rest = dict(as_dict(body))
        if not rest:
            return []
        chunks: list[JSON] = []
        for key, name in (("reasoning", "reasoning"), ("content", "text")):
            if isinstance(rest.get(key), str):
                chunks += [{name: piece} for piece in pieces(rest.pop(key)) or [""]]
        calls = as_list(rest.get("tool_calls"))
        if calls and all(isinstance(call, dict) for call in calls):
            del rest["tool_calls"]
            for index, call in enumerate(calls):
                chunks += [{"tool_call": part} for part in _fragments(index, call)]
        return [*chunks, rest]

    def with_reply(
        self,
        body: JSON,
        *,
        text: str | None = None,
        tool_calls: Sequence[ToolCallLike] | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
    ) -> JSON:
        """A body in which the model said this instead. See `PayloadView`."""
        if text is None and tool_calls is None and refusal is None and finish_reason is None:
            return body
        said = {key: value for key, value in as_dict(body).items() if key != "error"}
        if text is not None and text != read_content(said.get("content")).text:
            write_content(said, text)
            said.pop("refusal", None)
            drop_signed(said)
        if refusal is not None:
            said |= {"refusal": refusal, "content": text}
            tool_calls = tool_calls or []
        if tool_calls is not None:
            self._write_calls(said, tool_calls, seed_of(body, said.get("id")))
        if not isinstance(said.get("content"), str | list) and refusal is None:
            said["content"] = None if as_list(said.get("tool_calls")) else ""
        ended = "tool_calls" if as_list(said.get("tool_calls")) else "stop"
        said["finish_reason"] = finish_reason or ended
        return said

    def _write_calls(self, said: dict[str, Any], given: Sequence[ToolCallLike], seed: str) -> None:
        old, old_raw = _calls(said), as_list(said.pop("tool_calls", None))
        calls = settle_calls(given, old, seed)
        if calls:
            said["tool_calls"] = [_written(call, n, old_raw) for n, call in enumerate(calls)]
        if not same_calls(calls, old):
            drop_signed(said)

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
        return with_request(
            body, system=system, messages=messages, model=model, set=set, unset=unset
        )


def _message(raw: JSON, at: tuple[str | int, ...]) -> Message:
    if isinstance(raw, str):
        return Message(role="unknown", text=raw, raw=raw, at=at)
    source = as_dict(raw)
    content = read_content(source.get("content"))
    return Message(
        role=as_text(source.get("role")) or "unknown",
        text=content.text,
        tool_calls=_calls(source),
        tool_call_id=as_text_or_none(source.get("tool_call_id")),
        name=as_text_or_none(source.get("name")),
        reasoning=as_text(source.get("reasoning")) or content.reasoning,
        images=content.others,
        signed=signed_parts(source),
        raw=raw,
        at=at,
    )


def _calls(source: dict[str, Any]) -> tuple[ToolCall, ...]:
    listed = [as_dict(raw) for raw in as_list(source.get("tool_calls"))]
    return tuple(read_call(c.get("id"), c.get("name"), c.get("arguments")) for c in listed)


def _written(call: ToolCall, place: int, old: list[Any]) -> dict[str, Any]:
    raw = as_dict(old[place]) if place < len(old) else {}
    same = raw if raw.get("name") == call.name else {}
    arguments = call.raw if call.error else call.arguments
    return {**same, "id": call.id, "name": call.name, "arguments": arguments}


def _parsed(call: dict[str, Any]) -> dict[str, Any]:
    """The call with its argument text read; text that is no JSON stays text."""
    text = call.get("arguments")
    if isinstance(text, str):
        value, error = parse_arguments(text)
        return call if error else {**call, "arguments": value}
    return call


def _fragments(index: int, call: dict[str, Any]) -> list[dict[str, Any]]:
    if "arguments" not in call or call["arguments"] is None:
        return [{"index": index, **call}]
    text = read_call(None, "", call["arguments"]).raw
    first = {**call, "index": index, "arguments": ""}
    return [first, *({"index": index, "arguments": piece} for piece in pieces(text))]
