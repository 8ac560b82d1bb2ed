"""Streams of Google's shape: each chunk is a whole response that holds the next parts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from .base import JSON
from .deltas import Growing, pieces
from .google_parts import call_of, field, is_thought, key_of
from .reading import as_count, as_dict, as_list

_PLAIN = frozenset({"text", "thought"})
_JOINED = frozenset({"citations", "citationSources", "chosenCandidates", "topCandidates"})
_NESTED = frozenset({"citationMetadata", "logprobsResult"})
_COUNTED = frozenset({"usageMetadata"})
_ON_EVERY_CHUNK = ("modelVersion", "responseId")
_STEP = re.compile(r"\.([^.\[\]]+)|\[(\d+)\]|\['([^']*)'\]|\[\"([^\"]*)\"\]")
_FARTHEST = 10_000
"""No list in the arguments of a streamed call is longer."""


def assemble(chunks: Sequence[JSON]) -> dict[str, Any]:
    """The chunks of a stream as one response; a missing finish reason stays missing."""
    whole = Growing(nested=_COUNTED)
    candidates: dict[int, _Candidate] = {}
    for chunk in chunks:
        for key, value in as_dict(chunk).items():
            if key != "candidates":
                whole.add(key, value)
            for place, candidate in enumerate(as_list(value) if key == "candidates" else ()):
                given = as_count(as_dict(candidate).get("index"))
                index = place if given is None else given
                candidates.setdefault(index, _Candidate()).take(as_dict(candidate))
    listed = [candidates[index].done() for index in sorted(candidates)]
    if not listed and any("candidates" not in as_dict(chunk) for chunk in chunks):
        return whole.done()
    return {"candidates": listed, **whole.done()}


class _Candidate:
    """One candidate of a stream."""

    def __init__(self) -> None:
        self.fields = Growing(_JOINED, _NESTED)
        self.content: dict[str, Any] | None = None
        self.parts: list[Any] | None = None

    def take(self, candidate: dict[str, Any]) -> None:
        for key, value in candidate.items():
            if key == "content" and isinstance(value, dict):
                self._take_content(value)
            else:
                self.fields.add(key, value)

    def _take_content(self, content: dict[str, Any]) -> None:
        self.content = self.content or {}
        for key, value in content.items():
            if key == "parts" and isinstance(value, list):
                self._take_parts(value)
            elif key not in self.content or value:
                self.content[key] = value

    def _take_parts(self, parts: list[Any]) -> None:
        """Only a chunk's first part goes on with what came before."""
        self.parts = [] if self.parts is None else self.parts
        for place, part in enumerate(parts):
            last: Any = self.parts[-1] if self.parts and place == 0 else None
            if _alike(last, part):
                self.parts[-1] = {**last, "text": last["text"] + part["text"]}
            elif self.parts and _goes_on(self.parts[-1]) and call_of(part) is not None:
                self.parts[-1] = _continued(self.parts[-1], part)
            else:
                self.parts.append(part)

    def done(self) -> dict[str, Any]:
        found = self.fields.done()
        if self.content is None:
            return found
        content = dict(self.content)
        if self.parts is not None:
            content["parts"] = [_filled(part) for part in self.parts]
        return {"content": content, **found}


def _is_plain(part: JSON) -> bool:
    """Whether it is text, or reasoning, and nothing else; a signed part stays by itself."""
    return isinstance(part, dict) and isinstance(part.get("text"), str) and _PLAIN.issuperset(part)


def _alike(one: JSON, other: JSON) -> bool:
    """Whether both are text, or both are reasoning, and so can be one part."""
    return _is_plain(one) and _is_plain(other) and is_thought(one) == is_thought(other)


# -- calls whose arguments are streamed


def _goes_on(part: JSON) -> bool:
    return field(call_of(part), "willContinue") is True


def _continued(part: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    """A call with the next piece of its arguments."""
    old, new = call_of(part) or {}, call_of(more) or {}
    name = key_of(old, "partialArgs")
    grown = {**old, **new, key_of(old, "willContinue"): field(new, "willContinue") is True}
    arrived = [*as_list(field(old, "partialArgs")), *as_list(field(new, "partialArgs"))]
    if arrived:
        grown.pop(key_of(grown, "partialArgs"), None)
        grown[name] = arrived
    return {**part, **more, key_of(part, "functionCall"): grown}


def _filled(part: JSON) -> JSON:
    """A call whose arguments came in pieces, with whole arguments; one that ended early too."""
    call = call_of(part)
    if call is None or (field(call, "partialArgs") is None and not _goes_on(part)):
        return part
    arguments = as_dict(call.get("args"))
    for piece in as_list(field(call, "partialArgs")):
        arguments = _placed(arguments, _path(field(piece, "jsonPath")), piece)
    gone = {key_of(call, "partialArgs"), key_of(call, "willContinue")}
    whole = {key: value for key, value in call.items() if key not in gone}
    return {**part, key_of(part, "functionCall"): {**whole, "args": arguments}}


def _path(text: JSON) -> list[str | int]:
    found = _STEP.findall(text) if isinstance(text, str) else []
    return [int(number) if number else name or a or b for name, number, a, b in found]


def _placed(into: Any, path: list[str | int], piece: JSON) -> Any:
    """A value with a piece put in its place; text is added to the text that is there."""
    if not path:
        value = _value(piece)
        return into + value if isinstance(into, str) and isinstance(value, str) else value
    step, rest = path[0], path[1:]
    if isinstance(step, int):
        items = list(into) if isinstance(into, list) else []
        items += [None] * (min(step, _FARTHEST) + 1 - len(items))
        items[min(step, _FARTHEST)] = _placed(items[min(step, _FARTHEST)], rest, piece)
        return items
    inner = as_dict(into)
    return {**inner, step: _placed(inner.get(step), rest, piece)}


def _value(piece: JSON) -> Any:
    for name in ("stringValue", "numberValue", "boolValue"):
        value = field(piece, name)
        if value is not None:
            return value
    return None


# -- cutting


def split(body: JSON) -> list[JSON]:
    """A response as chunks: text by words, each other part whole, the rest in the last one."""
    source = as_dict(body)
    if not source:
        return []
    head = {key: source[key] for key in _ON_EVERY_CHUNK if key in source}
    rest = {k: v for k, v in source.items() if k not in {*head, "candidates"}}
    listed = as_list(source.get("candidates"))
    chunks: list[dict[str, Any]] = [
        {"candidates": [part], **head}
        for place, candidate in enumerate(listed)
        for part in _split_candidate(as_dict(candidate), place)
    ]
    if not chunks:
        return [dict(source)]
    chunks[-1].update(rest)
    return list(chunks)


def _split_candidate(candidate: dict[str, Any], place: int) -> list[dict[str, Any]]:
    rest = {k: v for k, v in candidate.items() if k not in ("content", "index")}
    index = candidate.get("index", place or None)
    given = {} if index is None else {"index": index}
    content = candidate.get("content")
    if not isinstance(content, dict) or not isinstance(content.get("parts"), list):
        return [{**candidate, **given}]
    beside = {key: value for key, value in content.items() if key != "parts"}
    groups = _groups(content["parts"]) or [[]]
    chunks = [{"content": {"parts": group, **beside}, **given} for group in groups]
    chunks[-1].update(rest)
    return chunks


def _groups(parts: list[Any]) -> list[list[Any]]:
    """The parts of each chunk, so that nothing grows together that was apart."""
    groups: list[list[Any]] = []
    before: Any = None
    for part in parts:
        cut = [part]
        if _is_plain(part):
            cut = [{**part, "text": piece} for piece in pieces(part["text"]) or [""]]
        if _alike(before, part):
            groups[-1].append(cut.pop(0))
        groups += [[piece] for piece in cut]
        before = part
    return groups
