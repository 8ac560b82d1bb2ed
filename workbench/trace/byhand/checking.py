"""Refusing a malformed recording: what is wrong, where, and what would be right."""

from __future__ import annotations

from typing import Any

from workbench.trace.byhand.faulty import check_fault_of
from workbench.trace.byhand.model import TOOL_FIELDS, TURN_FIELDS, VERSION, Recording, Step
from workbench.trace.byhand.places import Document, KeyPath, containers, kind_of, shown
from workbench.trace.jcs import MAX_DEPTH

_MAX_DEPTH = MAX_DEPTH // 2  # what stands around a value in a trace comes on top
_MOST = 10**15
_CALL_FIELDS = ("name", "arguments", "id")


def read_document(document: Document) -> Recording:
    """The recording that a parsed file holds.

    Raises:
        TraceVersionError: its ``_version`` is not 2.
        TraceFormatError: it is malformed.
    """
    data = document.data
    if not isinstance(data, dict):
        document.refuse(
            (), f"a recording is an object with an entry per step, and this is {kind_of(data)}"
        )
    _check_depth(document)
    _check_version(document, data)
    found = Recording()
    for key, value in data.items():
        if not key.startswith("_"):
            found.steps[key] = _step(document, value, (key,))
        elif key == "_tools":
            found.tools = _tools(document, value)
        elif key == "_inter_agent_events":
            found.events = _events(document, value)
        elif key != "_version":
            found.kept[key] = value
    return found


def _check_depth(document: Document) -> None:
    for _, where in containers(document.data):
        if len(where) >= _MAX_DEPTH:
            document.refuse(where[:3], f"nested more than {_MAX_DEPTH} levels deep; flatten it")


def _check_version(document: Document, data: dict[str, Any]) -> None:
    if "_version" not in data:
        return
    version, where = data["_version"], ("_version",)
    if not isinstance(version, int) or isinstance(version, bool):
        document.refuse_version(
            where, f"the version is a whole number, {VERSION}, not {shown(version)}"
        )
    if version < VERSION:
        document.refuse_version(
            where,
            f"version {version} is not read, since its hashes meant something else; record again, "
            f"or write {VERSION} here if all entries are keyed by step and none has a request_hash",
        )
    if version > VERSION:
        document.refuse_version(
            where,
            f"version {version} is newer than {VERSION}, which this workbench reads. Update it: "
            "pip install -U trace-workbench",
        )


def _step(document: Document, value: Any, where: KeyPath) -> Step:
    if isinstance(value, dict):
        _check_turn(document, value, where)
        return Step([value], repeats=True)
    if not isinstance(value, list):
        document.refuse(
            where, f"a step holds an entry (an object) or a list of turns, not {kind_of(value)}"
        )
    if not value:
        document.refuse(where, "the list is empty; a step needs a turn, or leave the step out")
    for number, turn in enumerate(value):
        if not isinstance(turn, dict):
            document.refuse((*where, number), f"a turn is an object, not {kind_of(turn)}")
        _check_turn(document, turn, (*where, number))
    return Step(value, repeats=False)


def _check_turn(document: Document, turn: dict[str, Any], where: KeyPath) -> None:
    document.check_keys(turn, TURN_FIELDS, where)
    for name in ("content", "model", "provider", "finish_reason", "request_hash"):
        _check_text(document, turn.get(name), (*where, name))
    for name in ("cost_usd", "latency_ms"):
        value = turn.get(name)
        if value is not None and (not _is_number(value) or not 0 <= value <= _MOST):
            document.refuse((*where, name), f"{name} is a number from 0 up, not {shown(value)}")
    if turn.get("usage") is not None:
        _check_usage(document, turn["usage"], (*where, "usage"))
    meta = turn.get("meta")
    if meta is not None and not isinstance(meta, dict):
        document.refuse((*where, "meta"), f"meta is an object, not {kind_of(meta)}")
    if turn.get("tool_calls") is not None:
        _check_calls(document, turn["tool_calls"], (*where, "tool_calls"))
    if turn.get("embeddings") is not None:
        _check_vectors(document, turn["embeddings"], (*where, "embeddings"))
    if turn.get("fault") is not None:
        check_fault_of(document, turn, where, kind="model")


def _check_text(document: Document, value: Any, where: KeyPath) -> None:
    if value is not None and not isinstance(value, str):
        hint = "" if isinstance(value, dict | list) else "; put it in quotes"
        document.refuse(where, f"{where[-1]} is text, not {kind_of(value)}{hint}")


def _check_usage(document: Document, usage: Any, where: KeyPath) -> None:
    if not isinstance(usage, dict):
        document.refuse(
            where, f'usage is an object such as {{"prompt_tokens": 12}}, not {kind_of(usage)}'
        )
    for name, count in usage.items():
        place = (*where, name)
        whole = isinstance(count, int) and not isinstance(count, bool)
        if (
            name.endswith("_tokens")
            and count is not None
            and (not whole or not 0 <= count <= _MOST)
        ):
            document.refuse(place, f"tokens are a whole number from 0 up, not {shown(count)}")


def _check_calls(document: Document, calls: Any, where: KeyPath) -> None:
    if not isinstance(calls, list):
        document.refuse(where, f"tool_calls is a list of calls, not {kind_of(calls)}")
    seen: set[str] = set()
    for number, call in enumerate(calls):
        place = (*where, number)
        if not isinstance(call, dict):
            document.refuse(place, f'a call is {{"name", "arguments", "id"}}, not {kind_of(call)}')
        document.check_keys(call, _CALL_FIELDS, place)
        _check_named(document, call, place)
        call_id = call.get("id")
        _check_text(document, call_id, (*place, "id"))
        if call_id and call_id in seen:
            document.refuse((*place, "id"), f"two calls of one turn have the id {call_id!r}")
        seen.add(call_id or "")
        arguments = call.get("arguments")
        if arguments is not None and not isinstance(arguments, dict | str):
            document.refuse(
                (*place, "arguments"),
                f"arguments are an object, or text for JSON that is broken, not "
                f"{kind_of(arguments)}",
            )


def _check_named(document: Document, found: dict[str, Any], where: KeyPath) -> None:
    name = found.get("name")
    if not isinstance(name, str) or not name:
        given = "and it has none" if name is None else f"not {shown(name)}"
        document.refuse((*where, "name"), f"the tool's name is text, {given}")


def _check_vectors(document: Document, vectors: Any, where: KeyPath) -> None:
    if not isinstance(vectors, list):
        document.refuse(where, f"embeddings are a list of vectors, not {kind_of(vectors)}")
    for number, vector in enumerate(vectors):
        place = (*where, number)
        if not isinstance(vector, list) or not all(map(_is_number, vector)):
            document.refuse(place, "a vector is a list of numbers")
        if len(vector) != len(vectors[0]):
            document.refuse(
                place, f"it has {len(vector)} numbers, and the first one has {len(vectors[0])}"
            )


def _tools(document: Document, value: Any) -> dict[str, list[dict[str, Any]]]:
    if not isinstance(value, dict):
        document.refuse(("_tools",), f"_tools is an object by step, not {kind_of(value)}")
    for step, results in value.items():
        where: KeyPath = ("_tools", step)
        if not isinstance(results, list):
            document.refuse(where, f"a list of tool results, not {kind_of(results)}")
        for number, result in enumerate(results):
            _check_result(document, result, (*where, number))
    return {step: results for step, results in value.items() if results}


def _check_result(document: Document, result: Any, where: KeyPath) -> None:
    if not isinstance(result, dict):
        document.refuse(where, f"a tool result is an object, not {kind_of(result)}")
    document.check_keys(result, TOOL_FIELDS, where)
    _check_named(document, result, where)
    arguments = result.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        document.refuse((*where, "arguments"), f"arguments are an object, not {kind_of(arguments)}")
    success = result.get("success")
    if success is not None and not isinstance(success, bool):
        document.refuse((*where, "success"), f"true or false, not {shown(success)}")
    if result.get("fault") is not None:
        check_fault_of(document, result, where, kind="tool")


def _events(document: Document, value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        document.refuse(
            ("_inter_agent_events",), f"a list of events in order, not {kind_of(value)}"
        )
    for number, event in enumerate(value):
        where: KeyPath = ("_inter_agent_events", number)
        if not isinstance(event, dict):
            document.refuse(where, f"an event is an object, not {kind_of(event)}")
        if not isinstance(event.get("type"), str) or not event["type"]:
            document.refuse((*where, "type"), "an event's type is text, such as task_sent")
    return list(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
