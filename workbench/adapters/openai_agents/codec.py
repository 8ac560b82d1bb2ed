"""Responses and streams of the agents SDK as a trace keeps them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from agents.items import ModelResponse, TResponseOutputItem, TResponseStreamEvent
from agents.usage import Usage
from openai import BaseModel
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemAddedEvent,
    ResponseOutputMessage,
    ResponseTextDeltaEvent,
)
from pydantic import TypeAdapter

from workbench.adapters.frameworks.codec import Body, Codec
from workbench.adapters.openai_agents.conversation import Asked, edited, item_data, reply
from workbench.trace.payloads.neutral import NeutralView

_FAKE_ID: Final = "__fake_id__"
"""What the SDK itself puts where a model gives its items no ids."""
_USAGE: Final[TypeAdapter[Any]] = TypeAdapter(Usage)
_VIEW: Final = NeutralView()


class _Item(BaseModel):
    value: TResponseOutputItem


class _Event(BaseModel):
    value: TResponseStreamEvent


class ResponseCodec(Codec):
    """The calls of one model."""

    def __init__(self, model_name: str, provider: str) -> None:
        self._model_name = model_name
        self.provider = provider

    def dump(self, result: Any) -> Any:
        """A response, its items as the SDK of OpenAI writes them."""
        return {
            "output": [_dumped(item) for item in result.output],
            "usage": _USAGE.dump_python(result.usage, mode="json"),
            **{
                name: value
                for name in ("response_id", "request_id", "raw_usage")
                if (value := getattr(result, name, None)) is not None
            },
        }

    def load(self, native: Any) -> Any:
        """The response again."""
        given = dict(native)
        output = [_Item.construct(value=item).value for item in given.pop("output")]
        usage = _USAGE.validate_python(given.pop("usage"))
        return ModelResponse(output=output, usage=usage, **{"response_id": None, **given})

    def body(self, result: Any) -> Body:
        """What a response says."""
        said = reply(item_data(item) for item in result.output)
        usage = result.usage
        counts = {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens}
        body = {**said, "model": self._model_name}
        return {**body, "usage": counts} if any(counts.values()) else body

    def make(self, body: Body) -> Any:
        """A response that says this."""
        counts = _counts(body)
        whole: Body = {"requests": 1, **counts, "total_tokens": sum(counts.values())}
        usage = Usage(**whole)
        return ModelResponse(output=_items(body), usage=usage, response_id=None)

    def apply(self, given: Any, body: Body, was: Body) -> Any:
        """The call with another request."""
        asked: Asked = given
        return edited(asked, body, was)

    def dump_chunk(self, chunk: Any) -> Any:
        """An event, as the SDK of OpenAI writes it."""
        return _dumped(chunk)

    def load_chunk(self, native: Any) -> Any:
        """The event again."""
        return _Event.construct(value=native).value

    def chunk_body(self, chunk: Any) -> Body:
        """What an event says. The last one says it all: some models send nothing but that."""
        kind = getattr(chunk, "type", "")
        if kind == "response.output_text.delta":
            return {"text": chunk.delta}
        if kind == "response.refusal.delta":
            return {}
        if kind in ("response.reasoning_summary_text.delta", "response.reasoning_text.delta"):
            return {"reasoning": chunk.delta}
        if kind == "response.output_item.added" and chunk.item.type == "function_call":
            call = {"id": chunk.item.call_id, "name": chunk.item.name, "arguments": ""}
            return {"tool_call": {"index": chunk.output_index, **call}}
        if kind == "response.function_call_arguments.delta":
            return {"tool_call": {"index": chunk.output_index, "arguments": chunk.delta}}
        if kind in ("response.completed", "response.incomplete"):
            return self._whole(chunk.response)
        return {}

    def _whole(self, response: Any) -> Body:
        said = {k: v for k, v in reply(item_data(item) for item in response.output).items() if v}
        usage = response.usage
        if usage is not None:
            said["usage"] = {
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
            }
        return {**said, "model": self._model_name}

    def maker(self) -> Callable[[Body], Iterable[Any]]:
        """What makes events of neutral chunks."""
        return _Events(self._model_name).made


def _dumped(item: Any) -> Any:
    if isinstance(item, dict):
        return item
    return item.model_dump(mode="json", exclude_unset=True)


def _counts(body: Body) -> dict[str, int]:
    usage = body.get("usage")
    given = usage if isinstance(usage, dict) else {}
    return {name: int(given.get(name) or 0) for name in ("input_tokens", "output_tokens")}


def _items(body: Body) -> list[Any]:
    items: list[Any] = []
    part: Body | None = None
    if body.get("refusal"):
        part = {"type": "refusal", "refusal": body["refusal"]}
    elif body.get("content") or not body.get("tool_calls"):
        text = _VIEW.reply(body).text
        part = {"type": "output_text", "text": text, "annotations": []}
    if part is not None:
        message: Body = {"id": _FAKE_ID, "type": "message", "role": "assistant"}
        message["status"] = "completed"
        items.append(ResponseOutputMessage.construct(**message, content=[part]))
    return items + [
        ResponseFunctionToolCall.construct(
            id=_FAKE_ID,
            type="function_call",
            call_id=str(call.get("id") or _FAKE_ID),
            name=call.get("name"),
            arguments=_text(call.get("arguments")),
        )
        for call in body.get("tool_calls") or ()
    ]


def _text(given: Any) -> str:
    return given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)


class _Events:
    """Makes the events of one stream of neutral chunks."""

    def __init__(self, model_name: str) -> None:
        self._model_name = model_name
        self._chunks: list[Body] = []
        self._number = 0

    def made(self, chunk: Body) -> list[Any]:
        """The events for one chunk; the last one is about them all."""
        self._chunks.append(chunk)
        if isinstance(chunk.get("text"), str):
            return [self._event(ResponseTextDeltaEvent, **_TEXT, delta=chunk["text"])]
        call = chunk.get("tool_call")
        if isinstance(call, dict):
            return self._call(call)
        if "reasoning" in chunk:
            return []
        return [self._completed()]

    def _event(self, kind: Any, **fields: Any) -> Any:
        self._number += 1
        return kind.construct(**fields, sequence_number=self._number)

    def _call(self, call: Body) -> list[Any]:
        if not call.get("name"):
            return []
        item = _items({"tool_calls": [{**call, "arguments": ""}]})[0]
        added = {"type": "response.output_item.added", "output_index": call.get("index", 0)}
        return [self._event(ResponseOutputItemAddedEvent, **added, item=item)]

    def _completed(self) -> Any:
        body = _VIEW.assemble(self._chunks)
        counts = _counts(body)
        response = Response.construct(
            id=_FAKE_ID,
            created_at=0,
            model=str(body.get("model") or self._model_name),
            object="response",
            output=_items(body),
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
            usage={
                **counts,
                "total_tokens": sum(counts.values()),
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": 0},
            },
        )
        return self._event(ResponseCompletedEvent, type="response.completed", response=response)


_TEXT: Final = {
    "type": "response.output_text.delta",
    "item_id": _FAKE_ID,
    "output_index": 0,
    "content_index": 0,
    "logprobs": [],
}
