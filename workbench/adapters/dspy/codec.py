"""DSPy's requests, responses and stream events in the neutral shape, and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from workbench.adapters.dspy import names
from workbench.adapters.frameworks.aligning import aligned
from workbench.adapters.frameworks.codec import Body, Codec
from workbench.errors import UsageError
from workbench.trace.entries import ErrorInfo
from workbench.trace.values import decode, encode

_ENDS: Final = {"tool_call": "tool_calls"}
_ENDS_BACK: Final = {"tool_calls": "tool_call"}
_COUNTS: Final = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)


def asked_of(request: Any) -> Body:
    """What a request asks."""
    data = names.serde().request_to_dict(request)
    said: Body = {"model": data["model"], "messages": [body for body, _ in _conversation(request)]}
    if data.get("tools"):
        said["tools"] = [_tool(each) for each in data["tools"]]
    for key, value in (data.get("config") or {}).items():
        said.setdefault(key, encode(value, plain=True))
    return said


def _tool(tool: Body) -> Body:
    known: Body = {key: tool[key] for key in ("name", "description", "parameters") if key in tool}
    return known if "name" in known else {"name": str(tool.get("type")), "given": tool}


def _conversation(request: Any) -> list[tuple[Body, Any]]:
    """The messages, each with DSPy's own object; with None where that is several messages."""
    found: list[tuple[Body, Any]] = []
    if request.system is not None:
        parts = request.system
        content = parts if isinstance(parts, str) else _content(map(_part, parts))
        found.append(({"role": "system", "content": content}, parts))
    for message in request.messages:
        bodies = _bodies(message.role, [_part(part) for part in message.parts])
        found += [(body, message if len(bodies) == 1 else None) for body in bodies]
    return found


def _part(part: Any) -> Body:
    data: Body = names.serde().part_to_dict(part)
    return data


def _bodies(role: str, parts: list[Body]) -> list[Body]:
    results = [part for part in parts if part["type"] == "tool_result"]
    if results:
        return [
            {"role": "tool", "content": _content(r["content"]), "tool_call_id": r["id"]}
            for r in results
        ]
    return [{"role": role, **_said(parts)}]


def _said(parts: Iterable[Body]) -> Body:
    """What the parts of a message say."""
    rest: list[Body] = []
    said: Body = {}
    for part in parts:
        kind = part["type"]
        if kind == "tool_call":
            call = {"id": part["id"], "name": part["name"], "arguments": part["input"]}
            said.setdefault("tool_calls", []).append(call)
        elif kind == "thinking":
            said["reasoning"] = said.get("reasoning", "") + part["text"]
        elif kind == "refusal":
            said["refusal"] = part["text"]
        else:
            rest.append(part)
    return {"content": _content(rest), **said}


def _content(parts: Iterable[Body]) -> Any:
    listed = list(parts)
    if all(part["type"] == "text" for part in listed):
        return "".join(part["text"] for part in listed)
    if len(listed) == 1 and listed[0]["type"] == "data":
        return json.dumps(listed[0]["value"], ensure_ascii=False)
    return listed


def _parts_back(said: Body) -> list[Body]:
    """The parts of a message that says this."""
    content = said.get("content")
    texts = [{"type": "text", "text": content}] if isinstance(content, str) and content else []
    parts: list[Body] = list(content) if isinstance(content, list) else texts
    if said.get("reasoning"):
        parts.insert(0, {"type": "thinking", "text": said["reasoning"]})
    if said.get("refusal"):
        parts.append({"type": "refusal", "text": said["refusal"]})
    for call in said.get("tool_calls") or ():
        made = {"id": call.get("id"), "name": call.get("name"), "input": call.get("arguments")}
        parts.append({"type": "tool_call", **made})
    return parts or [{"type": "text", "text": ""}]


def _message_back(said: Body) -> Any:
    role, parts = said.get("role"), _parts_back(said)
    if role == "tool":
        parts = [{"type": "tool_result", "id": said.get("tool_call_id"), "content": parts}]
    return names.serde().message_from_dict({"role": role, "parts": parts})


def _usage(usage: Any) -> Body:
    counts = names.serde().usage_to_dict(usage) if usage is not None else {}
    return {key: counts[key] for key in _COUNTS if key in counts}


class EngineCodec(Codec):
    """Calls in DSPy's own shape of requests and responses."""

    def dump(self, result: Any) -> Any:
        """A ``Response`` as JSON."""
        return encode(
            names.serde().response_to_dict(result, include_provider_data=True), plain=True
        )

    def load(self, native: Any) -> Any:
        """The response again."""
        return names.serde().response_from_dict(decode(native))

    def body(self, result: Any) -> Body:
        """What a response says."""
        said = _said([_part(part) for part in result.message.parts])
        said["finish_reason"] = _ENDS.get(result.finish_reason, result.finish_reason)
        usage = _usage(result.usage)
        return said | {"model": result.model} | ({"usage": usage} if usage else {})

    def make(self, body: Body) -> Any:
        """A response that says this."""
        ended = str(body.get("finish_reason") or "stop")
        return names.serde().response_from_dict(
            {
                "model": body.get("model") or "unknown",
                "message": {"role": "assistant", "parts": _parts_back(body)},
                "finish_reason": _ENDS_BACK.get(ended, ended),
                "usage": body.get("usage") or {},
            }
        )

    def apply(self, given: Any, body: Body, was: Body) -> Any:
        """The request with other messages or settings."""
        changed = {key for key in body.keys() | was.keys() if body.get(key) != was.get(key)}
        for key in changed & {"model", "tools"}:
            raise UsageError(
                f"a request of DSPy cannot be sent with other {key}: edit its messages"
            )
        said = [each for each in _conversation(given) if each[0]["role"] != "system"]
        head = [m for m in body["messages"] if m.get("role") == "system"]
        others = [m for m in body["messages"] if m.get("role") != "system"]
        system = "\n".join(str(each["content"]) for each in head) if head else None
        kept = given.system if head == [b for b, _ in _conversation(given)[:1]] else system
        messages = tuple(aligned(others, said, _message_back))
        config = given.config
        if changed - {"messages"}:
            serde = names.serde()
            data = {**serde.config_to_dict(config), **{key: body.get(key) for key in changed}}
            data.pop("messages", None)
            config = serde.config_from_dict({k: v for k, v in data.items() if v is not None})
        return replace(given, messages=messages, system=kept, config=config)

    def exception(self, info: ErrorInfo) -> BaseException:
        """What an engine failed with, complete."""
        return names.recorded_error(super().exception(info))

    def injected(self, info: ErrorInfo) -> BaseException:
        """A failure as an engine has it."""
        return names.engine_error(info)

    # -- streams --------------------------------------------------------------------------

    def dump_chunk(self, chunk: Any) -> Any:
        """A stream event as JSON."""
        return encode(names.serde().stream_event_to_dict(chunk), plain=True)

    def load_chunk(self, native: Any) -> Any:
        """The event again."""
        return names.serde().stream_event_from_dict(decode(native))

    def chunk_body(self, chunk: Any) -> Body:
        """What an event says."""
        data = names.serde().stream_event_to_dict(chunk)
        if data["type"] == "start":
            return {"model": data["model"]} if data.get("model") else {}
        if data["type"] == "end":
            ended = data.get("finish_reason")
            said = {"finish_reason": _ENDS.get(ended, ended)} if ended else {}
            usage = _usage(chunk.usage)
            return said | ({"usage": usage} if usage else {})
        delta = data.get("delta") or {}
        if delta.get("type") == "tool_call":
            named = {key: delta[key] for key in ("id", "name") if delta.get(key)}
            index = delta.get("part_index", 0)
            return {"tool_call": {"index": index, **named, "arguments": delta.get("input", "")}}
        key = {"text": "text", "thinking": "reasoning"}.get(delta.get("type", ""))
        return {key: delta["text"]} if key else {}

    def maker(self) -> Callable[[Body], Iterable[Any]]:
        """Neutral chunks as events: one that starts, the pieces, one that ends."""
        return _Events()


class _Events:
    """Makes the events of one stream."""

    def __init__(self) -> None:
        self._begun = False
        self._reasoned = False

    def __call__(self, said: Body) -> Iterator[Any]:
        made = names.serde().stream_event_from_dict
        if not self._begun:
            self._begun = True
            yield made({"type": "start", "model": said.get("model")})
        for delta in self._deltas(said):
            yield made({"type": "delta", "delta": delta})
        if said.get("finish_reason"):
            ended = _ENDS_BACK.get(said["finish_reason"], said["finish_reason"])
            yield made({"type": "end", "finish_reason": ended, "usage": said.get("usage")})

    def _deltas(self, said: Body) -> Iterator[Body]:
        if said.get("reasoning"):
            self._reasoned = True
            yield {"type": "thinking", "text": said["reasoning"], "part_index": 0}
        if said.get("text"):
            yield {"type": "text", "text": said["text"], "part_index": int(self._reasoned)}
        call = said.get("tool_call")
        if isinstance(call, dict):
            place = 2 + int(call.get("index") or 0)
            known = {"id": call.get("id"), "name": call.get("name")}
            text = call.get("arguments") or ""
            yield {"type": "tool_call", "input": text, "part_index": place, **known}
