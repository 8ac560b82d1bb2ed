"""pydantic-ai's responses and streams as a trace keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import orjson
from pydantic import ConfigDict, TypeAdapter
from pydantic_ai.messages import (
    ModelMessagesTypeAdapter,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
    ToolCallPartDelta,
)
from pydantic_ai.usage import RequestUsage

from workbench.adapters.frameworks.codec import Body, Codec
from workbench.adapters.pydantic_ai.conversation import Asked, edited, reply, response_of
from workbench.adapters.pydantic_ai.library import fault_error
from workbench.seam.exceptions import describe
from workbench.trace.entries import ErrorInfo

_EVENTS: Final[TypeAdapter[Any]] = TypeAdapter(
    list[ModelResponseStreamEvent],
    config=ConfigDict(defer_build=True, ser_json_bytes="base64", val_json_bytes="base64"),
)
_COUNTS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
_FIELDS: Final = {field.name for field in fields(ModelResponse)}
"""What this release says of a response."""
_ENDED: Final = {"tool_calls": "tool_call", "refusal": "content_filter"}
_REASONS: Final = ("stop", "length", "content_filter", "tool_call", "error")


@dataclass(slots=True)
class Edge:
    """The response as it stood when its stream began, or had ended: all but its parts."""

    response: Any
    last: bool = False


class ResponseCodec(Codec):
    """The calls of one model.

    Args:
        model_name: how the model is named.
        system: who serves it, such as ``test`` or ``bedrock``.
    """

    def __init__(self, model_name: str, system: str | None) -> None:
        self._model_name = model_name
        self.provider = system

    def dump(self, result: Any) -> Any:
        """A response as the library writes it."""
        return orjson.loads(ModelMessagesTypeAdapter.dump_json([result]))[0]

    def load(self, native: Any) -> Any:
        """The response again."""
        return ModelMessagesTypeAdapter.validate_json(orjson.dumps([native]))[0]

    def body(self, result: Any) -> Body:
        """What a response says."""
        return {**reply(result), **_around(result)}

    def make(self, body: Body) -> Any:
        """A response that says this."""
        return self.described(response_of(body), body)

    def described(self, response: Any, body: Body) -> Any:
        """A response with all that a neutral reply says beside its words."""
        usage = body.get("usage")
        given: Body = usage if isinstance(usage, dict) else {}
        counts = {name: given[name] for name in _COUNTS if isinstance(given.get(name), int)}
        ended = _ENDED.get(str(body.get("finish_reason")), body.get("finish_reason"))
        more: dict[str, Any] = {"provider_name": self.provider}
        if ended in _REASONS:
            more["finish_reason"] = ended
        return replace(
            response,
            usage=RequestUsage(**counts),
            model_name=str(body.get("model") or self._model_name),
            **{name: value for name, value in more.items() if name in _FIELDS},
        )

    def apply(self, given: Any, body: Body, was: Body) -> Any:
        """The call with another request."""
        asked: Asked = given
        return edited(asked, body, was)

    def failure(self, error: BaseException) -> ErrorInfo:
        """An exception, with its HTTP status where it has one."""
        info = describe(error)
        status = getattr(error, "status_code", None)
        return info.model_copy(update={"status": status}) if isinstance(status, int) else info

    def injected(self, info: ErrorInfo) -> BaseException:
        """The library's own exception for a fault."""
        return fault_error(info, self._model_name)

    def dump_chunk(self, chunk: Any) -> Any:
        """An event, or an edge of the stream."""
        if isinstance(chunk, Edge):
            return {"last": chunk.last, "response": self.dump(chunk.response)}
        return orjson.loads(_EVENTS.dump_json([chunk]))[0]

    def load_chunk(self, native: Any) -> Any:
        """The event, or the edge, again."""
        if "response" in native:
            return Edge(self.load(native["response"]), last=native["last"])
        return _EVENTS.validate_json(orjson.dumps([native]))[0]

    def chunk_body(self, chunk: Any) -> Body:
        """What an event says."""
        if isinstance(chunk, Edge):
            around = _around(chunk.response)
            return around if chunk.last else {k: v for k, v in around.items() if k == "model"}
        if isinstance(chunk, PartStartEvent):
            return _started(chunk.index, chunk.part)
        if isinstance(chunk, PartDeltaEvent):
            return _grown(chunk.index, chunk.delta)
        return {}

    def maker(self) -> Callable[[Body], Iterable[Any]]:
        """What makes events of neutral chunks."""
        return _Events(self).made


def _around(response: Any) -> Body:
    """What is said of a response beside its words."""
    usage = response.usage
    body: Body = {"model": response.model_name}
    ended = getattr(response, "finish_reason", None)
    if ended is not None:
        body["finish_reason"] = ended
    counts = {name: getattr(usage, name, 0) for name in _COUNTS}
    if any(counts.values()):
        body["usage"] = {k: v for k, v in counts.items() if v or k in _COUNTS[:2]}
    return {name: value for name, value in body.items() if value is not None}


def _started(index: int, part: Any) -> Body:
    if isinstance(part, TextPart):
        return {"text": part.content}
    if isinstance(part, ThinkingPart):
        return {"reasoning": part.content}
    if isinstance(part, ToolCallPart):
        call = {"index": index, "id": part.tool_call_id, "name": part.tool_name}
        return {"tool_call": {**call, "arguments": _text(part.args)}}
    return {}


def _grown(index: int, delta: Any) -> Body:
    if isinstance(delta, TextPartDelta):
        return {"text": delta.content_delta}
    if isinstance(delta, ThinkingPartDelta):
        return {"reasoning": delta.content_delta or ""}
    if isinstance(delta, ToolCallPartDelta):
        call: Body = {"index": index, "arguments": _text(delta.args_delta)}
        named = {"name": delta.tool_name_delta, "id": delta.tool_call_id}
        return {"tool_call": call | {k: v for k, v in named.items() if v}}
    return {}


def _text(given: Any) -> str:
    """Arguments, or a piece of them, as text."""
    if given is None or given == {}:
        return ""
    return given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)


class _Events:
    """Makes the events of one stream of neutral chunks."""

    def __init__(self, codec: ResponseCodec) -> None:
        self._codec = codec
        self._parts: list[Any] = []
        """For each part, what tells that a chunk goes on with it."""

    def made(self, chunk: Body) -> list[Any]:
        """The events for one chunk."""
        events: list[Any] = []
        for key, part, delta in (
            ("text", TextPart, TextPartDelta),
            ("reasoning", ThinkingPart, ThinkingPartDelta),
        ):
            if isinstance(chunk.get(key), str):
                events.append(self._words(key, chunk[key], part, delta))
        call = chunk.get("tool_call")
        if isinstance(call, dict):
            events.append(self._call(call))
        rest = {k: v for k, v in chunk.items() if k not in ("text", "reasoning", "tool_call")}
        if rest:
            if isinstance(rest.get("refusal"), str):
                events.append(self._words("refusal", rest["refusal"], TextPart, TextPartDelta))
            events.append(Edge(self._codec.described(ModelResponse(parts=[]), rest), last=True))
        return events

    def _words(self, key: str, text: str, part: Any, delta: Any) -> Any:
        if self._parts and self._parts[-1] == key:
            return PartDeltaEvent(index=len(self._parts) - 1, delta=delta(content_delta=text))
        self._parts.append(key)
        return PartStartEvent(index=len(self._parts) - 1, part=part(content=text))

    def _call(self, call: Body) -> Any:
        which = ("call", call.get("index"))
        text = str(call.get("arguments") or "")
        if which in self._parts:
            delta = ToolCallPartDelta(args_delta=text)
            return PartDeltaEvent(index=self._parts.index(which), delta=delta)
        self._parts.append(which)
        part = ToolCallPart(str(call.get("name") or ""), text)
        part = replace(part, tool_call_id=call["id"]) if call.get("id") else part
        return PartStartEvent(index=len(self._parts) - 1, part=part)
