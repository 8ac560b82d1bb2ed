"""Streams of OpenAI's Responses: events put together, and a whole reply cut into events."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from .base import JSON
from .deltas import pieces
from .reading import as_count, as_dict, as_list, as_text

_ENDS: Final = {
    "completed": "response.completed",
    "incomplete": "response.incomplete",
    "failed": "response.failed",
}
"""The last event, by the status of the reply. A reply with another status has none."""
_BEFORE_THE_END: Final = {"usage": None, "error": None, "incomplete_details": None}

# What the deltas of an event add to: the field of the item, or the list of parts, the name of the
# index of the part, its type and its field.
_FIELDS: Final = {
    "response.function_call_arguments": ("function_call", "arguments"),
    "response.mcp_call_arguments": ("mcp_call", "arguments"),
    "response.custom_tool_call_input": ("custom_tool_call", "input"),
    "response.code_interpreter_call_code": ("code_interpreter_call", "code"),
}
_PARTS: Final = {
    "response.output_text": ("message", "content", "content_index", "output_text", "text"),
    "response.refusal": ("message", "content", "content_index", "refusal", "refusal"),
    "response.reasoning_text": ("reasoning", "content", "content_index", "reasoning_text", "text"),
    "response.reasoning_summary_text": (
        "reasoning", "summary", "summary_index", "summary_text", "text",
    ),
}  # fmt: skip
_PART_EVENTS: Final = {
    "response.content_part": ("content", "content_index"),
    "response.reasoning_summary_part": ("summary", "summary_index"),
}


@dataclass(slots=True)
class _Part:
    """One part of an item, and the pieces of its text that came."""

    fields: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    more: dict[str, list[Any]] = field(default_factory=dict)

    def done(self) -> dict[str, Any]:
        out = dict(self.fields)
        for name, texts in self.pieces.items():
            out[name] = as_text(out.get(name)) + "".join(texts)
        for name, items in self.more.items():
            out[name] = [*as_list(out.get(name)), *items]
        return out


@dataclass(slots=True)
class _Item:
    """One item of the output as it grows."""

    index: int | None
    whole: _Part
    lists: dict[str, dict[int, _Part]] = field(default_factory=dict)
    finished: Any = None
    begun: bool = True
    """False where only a delta came so far, and not the item's own beginning."""

    def part(self, key: str, index: int, kind: str) -> _Part:
        """A part of one of its lists; a new one where a delta comes before its beginning."""
        return self.lists.setdefault(key, {}).setdefault(index, _Part({"type": kind}))

    def done(self) -> Any:
        if self.finished is not None:
            return self.finished
        out = self.whole.done()
        for key, parts in self.lists.items():
            out[key] = [*as_list(out.get(key)), *(parts[n].done() for n in sorted(parts))]
        return out


class _Growing:
    """The output of a reply, item by item: by id, then by index, never by position."""

    def __init__(self) -> None:
        self.items: list[_Item] = []
        self._by_id: dict[str, _Item] = {}
        self._by_index: dict[int, _Item] = {}

    def take(self, event: dict[str, Any]) -> None:
        """One event; those that say nothing of the output are passed over."""
        kind = as_text(event.get("type"))
        stem, _, verb = kind.rpartition(".")
        if stem == "response.output_item":
            self._take_item(event, verb)
        elif stem in _FIELDS:
            self._take_field(event, *_FIELDS[stem], verb)
        elif stem in _PARTS:
            self._take_text(event, _PARTS[stem], verb)
        elif stem in _PART_EVENTS:
            self._take_part(event, *_PART_EVENTS[stem])
        elif kind == "response.output_text.annotation.added":
            index = as_count(event.get("content_index")) or 0
            part = self._find(event, "message").part("content", index, "output_text")
            part.more.setdefault("annotations", []).append(event.get("annotation"))

    def _take_item(self, event: dict[str, Any], verb: str) -> None:
        given = as_dict(event.get("item"))
        index, item_id = as_count(event.get("output_index")), given.get("id")
        known = self._known(item_id, index)
        if verb == "done":
            known = known or self._new(index, item_id, given)
            known.finished = event.get("item")
        elif known is not None and not known.begun:
            known.whole.fields, known.begun = {**known.whole.fields, **given}, True
        elif known is None or known.whole.fields.get("id") != item_id:
            self._new(index, item_id, given)  # also where a server gives each the same index

    def _take_field(self, event: dict[str, Any], kind: str, name: str, verb: str) -> None:
        whole = self._find(event, kind).whole
        if verb == "delta":
            whole.pieces.setdefault(name, []).append(as_text(event.get("delta")))
        elif verb == "done" and isinstance(event.get(name), str):
            whole.fields[name] = event[name]
            whole.pieces.pop(name, None)

    def _take_text(self, event: dict[str, Any], where: tuple[str, ...], verb: str) -> None:
        kind, key, counter, part_type, name = where
        index = as_count(event.get(counter)) or 0
        part = self._find(event, kind).part(key, index, part_type)
        if verb == "delta":
            part.pieces.setdefault(name, []).append(as_text(event.get("delta")))
            if as_list(event.get("logprobs")):
                part.more.setdefault("logprobs", []).extend(event["logprobs"])
        elif verb == "done" and isinstance(event.get(name), str):
            part.fields[name] = event[name]
            part.pieces.pop(name, None)

    def _take_part(self, event: dict[str, Any], key: str, counter: str) -> None:
        index, given = as_count(event.get(counter)) or 0, as_dict(event.get("part"))
        kind = "reasoning" if key == "summary" else "message"
        part = self._find(event, kind).part(key, index, as_text(given.get("type")))
        part.fields = {**part.fields, **given}
        if as_text(event.get("type")).endswith(".done"):
            part.pieces.clear()
            part.more.clear()

    def _find(self, event: dict[str, Any], kind: str) -> _Item:
        index, item_id = as_count(event.get("output_index")), event.get("item_id")
        known = self._known(item_id, index)
        if known is not None:
            return known
        fields = {"id": item_id} if isinstance(item_id, str) else {}
        return self._new(index, item_id, {**fields, "type": kind}, begun=False)

    def _known(self, item_id: JSON, index: int | None) -> _Item | None:
        known = self._by_id.get(item_id) if isinstance(item_id, str) else None
        # Some servers make a new id for each event: the index says then which item it is.
        return known if known is not None or index is None else self._by_index.get(index)

    def _new(
        self, index: int | None, item_id: JSON, fields: dict[str, Any], *, begun: bool = True
    ) -> _Item:
        item = _Item(index, _Part(fields), begun=begun)
        self.items.append(item)
        if isinstance(item_id, str):
            self._by_id[item_id] = item
        if index is not None:
            self._by_index[index] = item
        return item

    def done(self) -> list[Any]:
        """The items in the order of their indexes, or of their arrival where any has none."""
        items = self.items
        if all(item.index is not None for item in items):
            items = sorted(items, key=lambda item: item.index or 0)
        return [item.done() for item in items]


def assemble(chunks: Sequence[JSON]) -> dict[str, Any]:
    """The reply of a stream: that of its last event, else what came, its status as it was."""
    body: dict[str, Any] = {}
    growing = _Growing()
    ended = False
    for chunk in chunks:
        event = as_dict(chunk)
        if isinstance(event.get("response"), dict):
            body = event["response"]
            ended = event.get("type") in _ENDS.values()
        else:
            growing.take(event)
    if growing.items and not (ended and as_list(body.get("output"))):
        return {**body, "output": growing.done()}
    return dict(body)


# -- cutting a reply into events


def split(body: dict[str, Any]) -> list[JSON]:
    """The events that a real stream would have had, in order and numbered."""
    if not body:
        return []
    ending = _ENDS.get(as_text(body.get("status")))
    begun = {**body, "output": []} if isinstance(body.get("output"), list) else dict(body)
    if ending:
        begun |= {"status": "in_progress"}
        begun |= {key: empty for key, empty in _BEFORE_THE_END.items() if body.get(key)}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
    ]
    for index, item in enumerate(as_list(body.get("output"))):
        events += ({**event, "output_index": index} for event in _item_events(item))
    if ending:
        events.append({"type": ending, "response": body})
    return [copy.deepcopy({**event, "sequence_number": n}) for n, event in enumerate(events)]


def _item_events(item: JSON) -> Iterator[dict[str, Any]]:
    source = as_dict(item)
    opening, inside = dict(source), []
    make = _INSIDE.get(as_text(source.get("type")))
    if make is not None:
        inside = make(source, opening)
    if "status" in opening and opening["status"] == "completed":
        opening["status"] = "in_progress"
    yield {"type": "response.output_item.added", "item": opening}
    about = {"item_id": source["id"]} if "id" in source else {}
    yield from ({**event, **about} for event in inside)
    yield {"type": "response.output_item.done", "item": item}


_Inside = list[dict[str, Any]]


def _field_events(stem: str) -> Callable[[dict[str, Any], dict[str, Any]], _Inside]:
    """Events of an item whose one text is a field of its own."""
    name = _FIELDS[stem][1]

    def inside(source: dict[str, Any], opening: dict[str, Any]) -> _Inside:
        text = source.get(name)
        if not isinstance(text, str):
            return []
        opening[name] = ""
        done = {"type": f"{stem}.done", name: text}
        if stem == "response.function_call_arguments" and "name" in source:
            done["name"] = source["name"]
        return [*({"type": f"{stem}.delta", "delta": piece} for piece in pieces(text)), done]

    return inside


def _message_events(source: dict[str, Any], opening: dict[str, Any]) -> _Inside:
    parts = source.get("content")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        return []
    opening["content"] = []
    return [
        {**event, "content_index": index}
        for index, part in enumerate(parts)
        for event in _part_events(part)
    ]


def _part_events(part: dict[str, Any]) -> _Inside:
    stem, name = _STEMS.get(as_text(part.get("type")), ("", ""))
    added: dict[str, Any] = dict(part)
    texts: _Inside = []
    if stem and isinstance(part.get(name), str):
        added[name] = ""
        texts = [{"type": f"{stem}.delta", "delta": piece} for piece in pieces(part[name])]
        texts.append({"type": f"{stem}.done", name: part[name]})
        if stem == "response.output_text":
            texts = [{**event, "logprobs": []} for event in texts]
    notes = as_list(added.get("annotations"))
    if notes:
        added["annotations"] = []
    if added.get("logprobs"):
        added["logprobs"] = []
    noted = [
        {"type": "response.output_text.annotation.added", "annotation_index": n, "annotation": note}
        for n, note in enumerate(notes)
    ]
    before = {"type": "response.content_part.added", "part": added}
    return [before, *texts[:-1], *noted, *texts[-1:],
            {"type": "response.content_part.done", "part": part}]  # fmt: skip


_STEMS: Final = {
    "output_text": ("response.output_text", "text"),
    "refusal": ("response.refusal", "refusal"),
    "reasoning_text": ("response.reasoning_text", "text"),
}


def _reasoning_events(source: dict[str, Any], opening: dict[str, Any]) -> _Inside:
    events: _Inside = []
    summary = source.get("summary")
    if isinstance(summary, list) and all(isinstance(part, dict) for part in summary):
        opening["summary"] = []
        for index, part in enumerate(summary):
            events += ({**event, "summary_index": index} for event in _summary_events(part))
    return [*events, *_message_events(source, opening)]


def _summary_events(part: dict[str, Any]) -> _Inside:
    stem = "response.reasoning_summary"
    text = as_text(part.get("text"))
    return [
        {"type": f"{stem}_part.added", "part": {**part, "text": ""}},
        *({"type": f"{stem}_text.delta", "delta": piece} for piece in pieces(text)),
        {"type": f"{stem}_text.done", "text": text},
        {"type": f"{stem}_part.done", "part": part},
    ]


def _progress(*verbs: str) -> Callable[[dict[str, Any], dict[str, Any]], _Inside]:
    """Events that only say how far one of the provider's own tools is."""

    def inside(source: dict[str, Any], _: dict[str, Any]) -> _Inside:
        return [{"type": f"response.{source['type']}.{verb}"} for verb in verbs]

    return inside


_INSIDE: Final[dict[str, Callable[[dict[str, Any], dict[str, Any]], _Inside]]] = {
    "message": _message_events,
    "reasoning": _reasoning_events,
    **{kind: _field_events(stem) for stem, (kind, _) in _FIELDS.items()},
    "web_search_call": _progress("in_progress", "searching", "completed"),
    "file_search_call": _progress("in_progress", "searching", "completed"),
    "image_generation_call": _progress("in_progress", "generating", "completed"),
}
