"""Streams of Anthropic's messages: events put together, and a whole reply cut into events."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .base import JSON
from .deltas import pieces
from .reading import as_count, as_dict, as_list, as_text, compact, parse_arguments

_USED_LATER: Final = ("server_tool_use", "output_tokens_details")
_COUNTED: Final = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    *_USED_LATER,
)
_ENDING: Final = ("stop_reason", "stop_sequence", "stop_details", "container")
_OF_EVENT: Final = frozenset({"type", "delta", "usage"})
# What a delta of a kind holds, and the field of the block that it goes to.
_TEXTS: Final = {
    "text_delta": ("text", "text"),
    "thinking_delta": ("thinking", "thinking"),
    "compaction_delta": ("content", "content"),
}


@dataclass(slots=True)
class _Block:
    """One block as it grows."""

    fields: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    written: list[str] = field(default_factory=list)
    cited: list[Any] = field(default_factory=list)

    def take(self, delta: dict[str, Any]) -> None:
        kind = as_text(delta.get("type"))
        if kind in _TEXTS:
            given, name = _TEXTS[kind]
            self.pieces.setdefault(name, []).append(as_text(delta.get(given)))
        elif kind == "input_json_delta":
            self.written.append(as_text(delta.get("partial_json")))
        elif kind == "signature_delta":
            self.fields["signature"] = delta.get("signature")
        elif kind == "citations_delta":
            self.cited.append(delta.get("citation"))

    def done(self) -> dict[str, Any]:
        out = dict(self.fields)
        for name, texts in self.pieces.items():
            out[name] = as_text(out.get(name)) + "".join(texts)
        text = "".join(self.written)
        if text:
            value, error = parse_arguments(text)
            out["input"] = text if error else value
        if self.cited:
            out["citations"] = [*as_list(out.get("citations")), *self.cited]
        return out


class _Blocks:
    """The blocks of a reply by their index, never by their position."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int | None, _Block]] = []

    def start(self, event: dict[str, Any]) -> None:
        """A block begins. One that a delta came for already goes on with what that brought."""
        index, fields = as_count(event.get("index")), as_dict(event.get("content_block"))
        block = self._at(index) if index is not None else None
        if block is None:
            self._blocks.append((index, _Block(dict(fields))))
        else:
            block.fields = {**fields, **block.fields}

    def find(self, event: dict[str, Any]) -> _Block:
        """The block that a delta goes to; without an index, the one that began last."""
        index = as_count(event.get("index"))
        block = self._at(index)
        if block is None:
            block = _Block({})
            self._blocks.append((index, block))
        return block

    def _at(self, index: int | None) -> _Block | None:
        found = [block for place, block in self._blocks if index is None or place == index]
        return found[-1] if found else None

    def done(self) -> list[dict[str, Any]]:
        """The blocks in the order of their indexes, or of their arrival where any has none."""
        blocks = self._blocks
        if all(index is not None for index, _ in blocks):
            blocks = sorted(blocks, key=lambda block: block[0] or 0)
        return [block.done() for _, block in blocks]


def assemble(chunks: Sequence[JSON]) -> dict[str, Any]:
    """The message of a stream; a stop reason that did not come stays missing."""
    body: dict[str, Any] = {"type": "message", "role": "assistant", "content": []}
    blocks = _Blocks()
    for chunk in chunks:
        event = as_dict(chunk)
        kind = event.get("type")
        if kind == "message_start":
            body = {**body, **as_dict(event.get("message"))}
        elif kind == "content_block_start":
            blocks.start(event)
        elif kind == "content_block_delta":
            blocks.find(event).take(as_dict(event.get("delta")))
        elif kind == "message_delta":
            _end(body, event)
    begun = as_list(body.get("content"))
    return {**body, "content": [*begun, *blocks.done()]}


def _end(body: dict[str, Any], event: dict[str, Any]) -> None:
    """What the end of a message adds; its counts are those of the whole message."""
    body |= as_dict(event.get("delta"))
    body |= {key: value for key, value in event.items() if key not in _OF_EVENT}
    counts = {k: v for k, v in as_dict(event.get("usage")).items() if v is not None}
    if counts:
        body["usage"] = {**as_dict(body.get("usage")), **counts}


# -- cutting a reply into events


def split(body: dict[str, Any]) -> list[JSON]:
    """The events that a real stream would have had, in order."""
    if not body:
        return []
    content = body.get("content")
    ended = body.get("stop_reason") is not None
    begun: dict[str, Any] = {**body, "content": [] if isinstance(content, list) else content}
    usage = body.get("usage", {"input_tokens": 0, "output_tokens": 0})
    begun["usage"] = _before_the_end(usage) if ended else usage
    if ended:
        begun |= {key: None for key in _ENDING if begun.get(key) is not None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(as_list(content)):
        events += ({**event, "index": index} for event in _block_events(block))
    if ended:
        counts = {k: usage[k] for k in _COUNTED if as_dict(usage).get(k) is not None}
        delta = {key: body[key] for key in _ENDING if key in body}
        events.append({"type": "message_delta", "delta": delta, "usage": counts})
        events.append({"type": "message_stop"})
    return copy.deepcopy(events)


def _before_the_end(usage: JSON) -> JSON:
    """The counts that are known when a message begins."""
    if not isinstance(usage, dict):
        return usage
    known = {k: v for k, v in usage.items() if k not in _USED_LATER or v is None}
    if isinstance(known.get("output_tokens"), int):
        known["output_tokens"] = min(1, known["output_tokens"])
    return known


def _block_events(block: JSON) -> Iterator[dict[str, Any]]:
    if not isinstance(block, dict):
        yield {"type": "content_block_start", "content_block": {"type": "text", "text": ""}}
        deltas = [{"type": "text_delta", "text": as_text(block)}]
    else:
        opening = dict(block)
        deltas = _deltas(block, opening)
        yield {"type": "content_block_start", "content_block": opening}
    yield from ({"type": "content_block_delta", "delta": delta} for delta in deltas)
    yield {"type": "content_block_stop"}


def _deltas(block: dict[str, Any], opening: dict[str, Any]) -> list[dict[str, Any]]:
    """The deltas of a block; what they bring is taken out of its opening."""
    kind = as_text(block.get("type"))
    if kind == "text" and isinstance(block.get("text"), str):
        opening["text"] = ""
        cited = as_list(block.get("citations"))
        if cited:
            opening["citations"] = []
        notes = [{"type": "citations_delta", "citation": each} for each in cited]
        return [*notes, *({"type": "text_delta", "text": p} for p in pieces(block["text"]))]
    if kind == "thinking" and isinstance(block.get("thinking"), str):
        opening["thinking"] = ""
        thought = [{"type": "thinking_delta", "thinking": p} for p in pieces(block["thinking"])]
        if not isinstance(block.get("signature"), str):
            return thought
        opening["signature"] = ""
        return [*thought, {"type": "signature_delta", "signature": block["signature"]}]
    if kind.endswith("tool_use") and block.get("input") is not None:
        return _input_deltas(block["input"], opening)
    return []


def _input_deltas(value: JSON, opening: dict[str, Any]) -> list[dict[str, Any]]:
    try:
        text = value if isinstance(value, str) else compact(value)
    except (TypeError, ValueError, RecursionError):
        return []  # it can't be cut, so the opening carries it
    opening["input"] = {}
    parts = [] if value == {} else pieces(text)
    return [{"type": "input_json_delta", "partial_json": part} for part in ["", *parts]]
