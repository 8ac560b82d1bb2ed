"""The view of OpenAI's chat completions, and of the many servers that speak them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .base import JSON, Message, MessageChange, Reply, ToolCall, ToolCallLike, ToolSpec, Usage
from .calls import derived_id, same_calls, seed_of, settle_calls
from .chat import with_request, write_content
from .deltas import Growing, Slots, pieces
from .reading import (
    as_count,
    as_dict,
    as_list,
    as_text,
    as_text_or_none,
    first_text,
    read_call,
    read_content,
)
from .signed import drop_signed, signed_parts

_ROLES = {"developer": "system", "function": "tool"}
_TEXTS = ("reasoning_content", "reasoning", "content", "refusal")
_JOINED = frozenset({*_TEXTS, "arguments", "input", "transcript", "data", "annotations"})
_IN_DETAILS = frozenset({"text", "summary", "data", "signature"})
_NESTED = frozenset({"function", "custom", "function_call", "audio", "logprobs"})
_CONTINUED = frozenset({"name"})
_ON_EVERY_CHUNK = ("id", "created", "model", "system_fingerprint", "service_tier")
# `obfuscation` is random padding against traffic analysis; the plain response has none.
_ONLY_IN_CHUNKS = frozenset({"choices", "object", "obfuscation"})
# What describes the old text token by token, and would contradict another.
_TIED_TO_TEXT: dict[str, Any] = {"refusal": None, "audio": None, "annotations": []}


class OpenAIChatView:
    """Reads and edits bodies of `POST /chat/completions`. Of several choices it reads the first."""

    api = "openai.chat"
    conversation_path = ("body", "messages")
    roles = ("system", "developer", "user", "assistant", "tool", "function")

    def messages(self, body: JSON) -> list[Message]:
        """The `messages` of a request."""
        listed = as_list(as_dict(body).get("messages"))
        return [_message(raw, ("messages", place)) for place, raw in enumerate(listed)]

    def message(self, raw: JSON) -> Message:
        """One item of `messages`, or the `message` of a choice."""
        return _message(raw, ())

    def tools(self, body: JSON) -> list[ToolSpec]:
        """The `tools` of a request (and the `functions` of old ones)."""
        source = as_dict(body)
        return [_tool(raw) for raw in as_list(source.get("tools"))] + [
            _spec(as_dict(raw)) for raw in as_list(source.get("functions"))
        ]

    def model(self, body: JSON) -> str | None:
        """The `model` of a request or response."""
        return as_text_or_none(as_dict(body).get("model"))

    def parameters(self, body: JSON) -> dict[str, Any]:
        """All fields of a request but `messages`, `tools` and `functions`."""
        beside = {"messages", "tools", "functions"}
        return {key: value for key, value in as_dict(body).items() if key not in beside}

    def streams(self, body: JSON) -> bool:
        """Whether `stream` is true."""
        return as_dict(body).get("stream") is True

    def wants_usage(self, body: JSON) -> bool:
        """Whether `stream_options.include_usage` is true."""
        return as_dict(as_dict(body).get("stream_options")).get("include_usage") is True

    def reply(self, body: JSON) -> Reply:
        """What the first choice says."""
        choice = _first_choice(body)
        raw = as_dict(choice.get("message"))
        said = _message(raw, ())
        return Reply(
            text=said.text,
            tool_calls=said.tool_calls,
            reasoning=said.reasoning,
            finish_reason=as_text_or_none(choice.get("finish_reason")),
            refusal=_refusal(raw),
            role=as_text(raw.get("role")) or "assistant",
            signed=said.signed,
        )

    def usage(self, body: JSON) -> Usage | None:
        """`usage`; OpenAI's prompt tokens include the cached ones already."""
        source = as_dict(body)
        raw = source.get("usage") or as_dict(source.get("x_groq")).get("usage")
        if not isinstance(raw, dict):
            return Usage(raw={}) if source.get("usage") == {} else None
        asked = as_dict(raw.get("prompt_tokens_details"))
        said = as_dict(raw.get("completion_tokens_details"))
        cached = as_count(asked.get("cached_tokens"))
        return Usage(
            input_tokens=as_count(raw.get("prompt_tokens")),
            output_tokens=as_count(raw.get("completion_tokens")),
            cache_read_tokens=(
                as_count(raw.get("prompt_cache_hit_tokens")) if cached is None else cached
            ),
            cache_write_tokens=as_count(asked.get("cache_write_tokens")),
            reasoning_tokens=as_count(said.get("reasoning_tokens")),
            raw=raw,
        )

    def assemble(self, chunks: Sequence[JSON]) -> JSON:
        """The chunks of a stream as one completion; a missing finish reason stays missing."""
        whole = Growing()
        choices: dict[int, _GrowingChoice] = {}
        for chunk in chunks:
            for key, value in as_dict(chunk).items():
                if key not in _ONLY_IN_CHUNKS:
                    whole.add(key, value)
            for place, choice in enumerate(as_list(as_dict(chunk).get("choices"))):
                given = as_count(as_dict(choice).get("index"))
                index = place if given is None else given
                choices.setdefault(index, _GrowingChoice(index)).take(as_dict(choice))
        finished = [choices[index].done() for index in sorted(choices)]
        return {**whole.done(), "object": "chat.completion", "choices": finished}

    def split(self, body: JSON, include_usage: bool = False) -> list[JSON]:  # noqa: FBT001, FBT002
        """A completion as chunks: role first, text by words, finish reason last, then usage."""
        source = as_dict(body)
        if not source:
            return []
        head = {key: source[key] for key in _ON_EVERY_CHUNK if key in source}
        head["object"] = "chat.completion.chunk"
        rest = {k: v for k, v in source.items() if k not in {*head, "choices", "usage", "object"}}
        chunks: list[dict[str, Any]] = [
            {**head, "choices": [part]}
            for place, choice in enumerate(as_list(source.get("choices")))
            for part in _split_choice(as_dict(choice), place)
        ] or [{**head, "choices": []}]
        chunks[0].update(rest)
        if include_usage and "usage" in source:
            for chunk in chunks:
                chunk["usage"] = None
            if source["usage"] is not None:
                chunks.append({**head, "choices": [], "usage": source["usage"]})
        return chunks

    def with_reply(
        self,
        body: JSON,
        *,
        text: str | None = None,
        tool_calls: Sequence[ToolCallLike] | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
    ) -> JSON:
        """A completion in which the first choice says this instead. See `PayloadView`."""
        if text is None and tool_calls is None and refusal is None and finish_reason is None:
            return body
        source = as_dict(body)
        seed = seed_of(body, source.get("id"))
        choice = _first_choice(source) or {"index": 0}
        message = dict(as_dict(choice.get("message"))) or {"role": "assistant"}
        new_text = text is not None and text != read_content(message.get("content")).text
        if text is not None and (new_text or not isinstance(message.get("content"), str | list)):
            _write_text(message, text)
        if refusal is not None:
            message |= {"content": text, "refusal": refusal}
            tool_calls = tool_calls or []
        if tool_calls is not None:
            _write_calls(message, tool_calls, seed)
        if not isinstance(message.get("content"), str | list) and refusal is None:
            message["content"] = None if _calls(message) else ""
        said = {**choice, "message": message, "finish_reason": finish_reason or _finish(message)}
        if (new_text or refusal is not None) and said.get("logprobs") is not None:
            said["logprobs"] = None
        return _with_first_choice(source, said, seed)

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


class _GrowingChoice:
    """One choice of a stream."""

    def __init__(self, index: int) -> None:
        self.fields = Growing(_JOINED, _NESTED, _CONTINUED)
        self.fields.add("index", index)
        self.message = Growing(_JOINED, _NESTED, _CONTINUED)
        self.calls = Slots(Growing(_JOINED, _NESTED, _CONTINUED))
        self.details: dict[tuple[int, str], Growing] = {}

    def take(self, choice: dict[str, Any]) -> None:
        for key, value in choice.items():
            if key in ("delta", "message"):
                self._take_delta(as_dict(value))
            elif key != "index":
                self.fields.add(key, value)

    def _take_delta(self, delta: dict[str, Any]) -> None:
        for key, value in delta.items():
            fragments = as_list(value)
            if key == "tool_calls" and fragments and all(isinstance(f, dict) for f in fragments):
                for fragment in fragments:
                    self._take_fragment(fragment)
            elif key == "reasoning_details" and fragments and all(map(_has_index, fragments)):
                for fragment in fragments:
                    block = (fragment["index"], as_text(fragment.get("type")))
                    self.details.setdefault(block, Growing(_IN_DETAILS)).update(fragment)
            else:
                self.message.add(key, value)

    def _take_fragment(self, fragment: dict[str, Any]) -> None:
        named = as_dict(fragment.get("function") or fragment.get("custom")).get("name")
        call = self.calls.find(fragment.get("index"), fragment.get("id"), starts=bool(named))
        for key, value in fragment.items():
            # The first id stays: some servers make a new one for every fragment.
            if key != "index" and not (key == "id" and call.get("id")):
                call.add(key, value)

    def done(self) -> dict[str, Any]:
        message = self.message.done()
        if self.calls:
            message["tool_calls"] = self.calls.done()
        if self.details:
            message["reasoning_details"] = [block.done() for block in self.details.values()]
        return {**self.fields.done(), "message": message}


def _has_index(fragment: JSON) -> bool:
    return as_count(as_dict(fragment).get("index")) is not None


def _message(raw: JSON, at: tuple[str | int, ...]) -> Message:
    source = as_dict(raw)
    if isinstance(raw, str):
        return Message(role="unknown", text=raw, raw=raw, at=at)
    content = read_content(source.get("content"))
    role = as_text(source.get("role")) or "unknown"
    return Message(
        role=_ROLES.get(role, role),
        text=content.text,
        tool_calls=_calls(source),
        tool_call_id=as_text_or_none(source.get("tool_call_id")),
        name=as_text_or_none(source.get("name")),
        reasoning=first_text(source, "reasoning_content", "reasoning") or content.reasoning,
        images=content.others,
        signed=signed_parts(source),
        raw=raw,
        at=at,
    )


def _calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    calls = [_call(as_dict(raw)) for raw in as_list(message.get("tool_calls"))]
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        calls.append(read_call(None, legacy.get("name"), legacy.get("arguments")))
    return tuple(calls)


def _call(raw: dict[str, Any]) -> ToolCall:
    custom = raw.get("custom")
    if isinstance(custom, dict):  # a custom tool's input is free text, not JSON
        text = as_text(custom.get("input"))
        return ToolCall(as_text_or_none(raw.get("id")), as_text(custom.get("name")), text, text)
    function = as_dict(raw.get("function"))
    return read_call(raw.get("id"), function.get("name"), function.get("arguments"))


def _tool(raw: JSON) -> ToolSpec:
    source = as_dict(raw)
    for key in ("function", "custom"):
        if isinstance(source.get(key), dict):
            return _spec(source[key])
    return _spec({"name": source.get("type"), **source})


def _spec(source: dict[str, Any]) -> ToolSpec:
    return ToolSpec(
        name=as_text(source.get("name")),
        description=as_text(source.get("description")),
        parameters=as_dict(source.get("parameters")),
    )


def _refusal(message: dict[str, Any]) -> str | None:
    if isinstance(message.get("refusal"), str):
        return as_text(message["refusal"])
    parts = [as_dict(part) for part in as_list(message.get("content"))]
    found = [as_text(part.get("refusal")) for part in parts if part.get("type") == "refusal"]
    return "\n".join(found) if found else None


def _first_choice(body: JSON) -> dict[str, Any]:
    choices = [c for c in as_list(as_dict(body).get("choices")) if isinstance(c, dict)]
    return next((c for c in choices if c.get("index") == 0), choices[0] if choices else {})


def _with_first_choice(source: dict[str, Any], said: dict[str, Any], seed: str) -> dict[str, Any]:
    choices = as_list(source.get("choices"))
    first = _first_choice(source)
    if first:
        return {**source, "choices": [said if c is first else c for c in choices]}
    kept = {key: value for key, value in source.items() if key != "error"}
    made = {"id": derived_id("chatcmpl_wb_", seed), "object": "chat.completion"}
    return {**made, **kept, "choices": [said]}


def _finish(message: dict[str, Any]) -> str:
    if as_list(message.get("tool_calls")):
        return "tool_calls"
    return "function_call" if isinstance(message.get("function_call"), dict) else "stop"


def _write_text(message: dict[str, Any], text: str) -> None:
    write_content(message, text)
    for key, empty in _TIED_TO_TEXT.items():
        if message.get(key):
            message[key] = empty
    drop_signed(message)


def _write_calls(message: dict[str, Any], given: Sequence[ToolCallLike], seed: str) -> None:
    was = _calls(message)
    calls = settle_calls(given, was, seed)
    old = as_list(message.pop("tool_calls", None))
    legacy = message.pop("function_call", None)
    if isinstance(legacy, dict) and not old and len(calls) == 1:
        message["function_call"] = {"name": calls[0].name, "arguments": calls[0].raw}
    elif calls:
        before = [as_dict(old[place]) if place < len(old) else {} for place in range(len(calls))]
        message["tool_calls"] = [
            _written(call, raw) for call, raw in zip(calls, before, strict=True)
        ]
    if not same_calls(calls, was):
        drop_signed(message)


def _written(call: ToolCall, old: dict[str, Any]) -> dict[str, Any]:
    """The call on the wire; a provider's own fields stay where the same tool is called."""
    same = old if _call(old).name == call.name else {}
    if isinstance(same.get("custom"), dict):
        return {**same, "id": call.id, "custom": {**same["custom"], "input": call.raw}}
    function = {**as_dict(same.get("function")), "name": call.name, "arguments": call.raw}
    return {"type": "function", **same, "id": call.id, "function": function}


def _split_choice(choice: dict[str, Any], place: int) -> list[dict[str, Any]]:
    index = choice.get("index", place)
    message = as_dict(choice.get("message"))
    calls = as_list(message.get("tool_calls"))
    if not all(isinstance(call, dict) for call in calls):
        calls = []
    texts = [key for key in _TEXTS if isinstance(message.get(key), str) and message[key]]
    later = {*texts, *(["tool_calls"] if calls else [])}
    first = {key: value for key, value in message.items() if key not in later}
    if "content" in texts:
        first["content"] = ""
    deltas = [first, *({key: part} for key in texts for part in pieces(message[key]))]
    deltas += [
        {"tool_calls": [part]} for n, call in enumerate(calls) for part in _fragments(n, call)
    ]
    parts = [{"index": index, "delta": delta, "finish_reason": None} for delta in deltas]
    if "logprobs" in choice:
        parts[min(1, len(parts) - 1)]["logprobs"] = choice["logprobs"]
    rest = {k: v for k, v in choice.items() if k not in ("index", "message", "logprobs")}
    return [*parts, {"finish_reason": None, **rest, "index": index, "delta": {}}]


def _fragments(index: int, call: dict[str, Any]) -> list[dict[str, Any]]:
    for key, field in (("function", "arguments"), ("custom", "input")):
        inner = call.get(key)
        if isinstance(inner, dict) and isinstance(inner.get(field), str):
            first = {**call, "index": index, key: {**inner, field: ""}}
            return [first, *({"index": index, key: {field: p}} for p in pieces(inner[field]))]
    return [{**call, "index": index}]
