"""The recorded entries that are most like a call that was not found, and what differs in each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError, UnavailableError
from workbench.seam.calls import MISSING
from workbench.seam.writing import clip
from workbench.trace.canonical import digest
from workbench.trace.payloads import compare, has_view, view, word_diff
from workbench.trace.toollists import specs, tool_changes
from workbench.trace.values import dumps, encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workbench.seam.calls import Call
    from workbench.seam.tape import Tape
    from workbench.trace.payloads import Message, PayloadView
    from workbench.trace.trace import Entry

_CONTEXT = 40
_NEAREST = 3
_LOOKED_AT = 50
_COMPARED = 5
"""So many entries are compared in full, however long they are."""
_MESSAGES = 1_000
"""Further ones are, up to that many messages in all."""
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
    r"|\b[0-9a-fA-F]{32}\b|\b1[5-9]\d{8}(?:\.\d+)?\b|(?:/[\w.-]+){2,}"
)
_WORD = re.compile(r"[^\s,;\[\](){}\"']+")


@dataclass(frozen=True, slots=True)
class Difference:
    """One field in which a call and a recorded entry differ."""

    where: str
    """What differs, for people: ``message 1 (system)``, ``temperature``."""
    pointer: str
    """The same as a JSON pointer into the request, for an ignore rule."""
    recorded: str
    now: str
    note: str = ""
    volatile: bool = False
    """Only a time, an id or a path differs."""
    reordered: bool = False
    """The same words in another order, as of a folder's files."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A recorded entry, and why it does not answer the call."""

    entry: str
    turn: int | None
    served: bool
    """It was served already."""
    agreed: tuple[str, ...]
    differs: tuple[Difference, ...]


def nearest(call: Call, tape: Tape, only: Entry | None = None) -> list[Candidate]:
    """The recorded entries that are most like a call; of one entry, how it differs.

    Putting a long conversation together and comparing it takes a while, and the run waits for it.
    So the entries are ranked by what their lines say first, and few of them are compared.
    """
    alike = [
        entry
        for entry in (tape.entries if only is None else [only])
        if entry.kind == call.kind and (call.kind == "model" or named(entry) == call.name)
    ]
    waiting = [each for each in alike if not tape.gone(each)]
    messages = _items(call)
    found: list[Candidate] = []
    compared = 0
    for entry in _ranked(call, messages, waiting or alike):
        candidate = _candidate(call, entry, tape)
        if candidate is not None:
            found.append(candidate)
        compared += entry.shared_count + len(messages)
        if len(found) >= _COMPARED and compared > _MESSAGES:
            break
    found.sort(key=lambda each: (each.served, _weight(each)))
    return found[:_NEAREST]


def named(entry: Entry) -> str | None:
    """A tool's name, an event's type."""
    return entry.type if entry.kind == "event" else entry.name


def _ranked(call: Call, messages: list[Any], entries: list[Entry]) -> list[Entry]:
    """The likeliest entries, the best first. The next one in the call's step is always there."""

    def by_head(entry: Entry) -> tuple[bool, bool, int]:
        distance = abs(len(messages) - entry.shared_count) if messages else 0
        return entry.step != call.step, entry.model != call.model, distance

    following = [entry for entry in entries if entry.step == call.step][:1]
    near = sorted(entries, key=by_head)[:_LOOKED_AT]
    if messages:
        near.sort(key=lambda entry: (entry.step != call.step, -_in_place(entry, messages)))
    return list(dict.fromkeys([*near[: _COMPARED - 1], *following, *near]))


def _in_place(entry: Entry, messages: list[Any]) -> int:
    """How many of the items that an entry's own line holds stand at the same place in a call."""
    try:
        shared, own = entry.own_messages
    except TraceError:
        return 0
    return sum(old == new for old, new in zip(own, messages[shared:], strict=False))


def _items(call: Call) -> list[Any]:
    """The conversation that a call asks with; empty where it has none."""
    if call.kind != "model" or not has_view(str(call.api)):
        return []
    value = call.request
    for key in view(str(call.api)).conversation_path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def _weight(candidate: Candidate) -> int:
    return sum(1 if each.volatile else 10 for each in candidate.differs)


def _candidate(call: Call, entry: Entry, tape: Tape) -> Candidate | None:
    agreed: list[str] = []
    if entry.hash_only:
        now = clip(dumps(encode((_items(call) or [call.request])[-1])).decode())
        differs = [Difference("request", "", "only its hash, not its words", now)]
    else:
        try:
            recorded = entry.request
        except UnavailableError:
            return None
        agreed, differs = _compare(call, entry, recorded)
    if entry.step != call.step:
        differs.insert(0, Difference("step", "", entry.step or "(none)", call.step or "(none)"))
    return Candidate(
        entry=entry.id,
        turn=entry.turn.number if entry.turn is not None else None,
        served=tape.gone(entry),
        agreed=tuple(agreed),
        differs=tuple(differs),
    )


def _compare(call: Call, entry: Entry, recorded: Any) -> tuple[list[str], list[Difference]]:
    read = entry.api == call.api and has_view(str(call.api)) and isinstance(recorded, dict)
    if call.kind == "model" and read:
        return _compare_model(view(str(call.api)), recorded, call.request)
    return _compare_plain(recorded, call.request)


def _compare_model(shape: PayloadView, was: Any, now: Any) -> tuple[list[str], list[Difference]]:
    before, after = was.get("body", {}), now.get("body", {})
    agreed: list[str] = []
    differs: list[Difference] = []
    said, says = shape.messages(before), shape.messages(after)
    spoken = {str(message.at[0]) for message in (*said, *says) if message.at}
    differs += _compare_messages(said, says)
    agreed += [] if differs else [name for name in before if name in spoken]
    for name in dict.fromkeys([*before, *after]):
        old, new = before.get(name, MISSING), after.get(name, MISSING)
        if name in spoken:
            continue
        if old is not MISSING and new is not MISSING and digest(old) == digest(new):
            agreed.append(name)
        elif name not in ("stream", "stream_options"):
            other = _offered(shape, name, old, new)
            differs.append(other or _plain_difference(name, f"/body/{name}", old, new))
    for part in ("path", "query", "headers"):
        if was.get(part) != now.get(part):
            differs.append(_plain_difference(part, f"/{part}", was.get(part), now.get(part)))
    return agreed, differs


def _compare_messages(before: list[Message], after: list[Message]) -> Iterator[Difference]:
    for change in compare(before, after):
        if change.kind == "same" and change.exact:
            continue
        index = change.after if change.after is not None else change.before
        number = (index or 0) + 1
        if change.before is not None and change.after is not None:
            old, new = before[change.before], after[change.after]
            yield _changed_message(old, new, number)
        elif change.after is not None:
            new = after[change.after]
            where = f"message {number} ({new.role})"
            yield Difference(where, _pointer(new), "(not there)", _said(new), "new")
        elif change.before is not None:
            old = before[change.before]
            where = f"message {number} ({old.role})"
            yield Difference(where, _pointer(old), _said(old), "(not there)", "dropped")


def _pointer(message: Message) -> str:
    return "/".join(("/body", *map(str, message.at)))


def _offered(shape: PayloadView, name: str, old: Any, new: Any) -> Difference | None:
    """How the tools differ that a model is offered; None where a field holds none, or says the
    same of them in other words."""
    tools = [shape.tools({} if each is MISSING else {name: each}) for each in (old, new)]
    changes = tool_changes(specs(tools[0]), specs(tools[1]))
    if not changes:
        return None
    was, now = (clip(", ".join(tool.name for tool in each) or "(none)", 80) for each in tools)
    return Difference(name, f"/body/{name}", was, now, "; ".join(changes))


def _changed_message(old: Message, new: Message, number: int) -> Difference:
    where, pointer = f"message {number} ({new.role})", _pointer(new)
    if old.text == new.text:
        return Difference(
            where, pointer, _said(old), _said(new), "ids, tool calls or other fields changed"
        )
    was, is_now, note = _windows(old.text, new.text)
    return Difference(where, pointer, was, is_now, note, **_kind(old.text, new.text))


def _said(message: Message) -> str:
    calls = ", ".join(f"{call.name}({call.raw})" for call in message.tool_calls)
    return clip(message.text or calls or "(empty)", 80)


def _windows(old: str, new: str) -> tuple[str, str, str]:
    start = 0
    limit = min(len(old), len(new))
    while start < limit and old[start] == new[start]:
        start += 1
    begin = max(0, start - _CONTEXT)
    words = word_diff(old, new)
    dropped = sum(len(text.split()) for kind, text in words if kind == "del")
    added = sum(len(text.split()) for kind, text in words if kind == "add")
    notes = [f"{dropped} {_words(dropped)} dropped"] if dropped else []
    notes += [f"{added} {_words(added)} added"] if added else []
    return _window(old, begin), _window(new, begin), ", ".join(notes)


def _words(count: int) -> str:
    return "word" if count == 1 else "words"


def _window(text: str, begin: int) -> str:
    piece = " ".join(text[begin : begin + 2 * _CONTEXT].split())
    more = begin + 2 * _CONTEXT < len(text)
    return f"{'…' if begin else ''}{piece}{'…' if more else ''}"


def _kind(old: Any, new: Any) -> dict[str, bool]:
    """Which kind of difference two texts have, if it is one that happens by itself."""
    if not isinstance(old, str) or not isinstance(new, str):
        return {}
    return {
        "volatile": _VOLATILE.sub("\0", old) == _VOLATILE.sub("\0", new),
        "reordered": sorted(_WORD.findall(old)) == sorted(_WORD.findall(new)),
    }


def _compare_plain(was: Any, now: Any) -> tuple[list[str], list[Difference]]:
    agreed: list[str] = []
    differs: list[Difference] = []
    for path, old, new in _walk(was, now, ""):
        if digest(_or_none(old)) == digest(_or_none(new)) and (old is MISSING) == (new is MISSING):
            agreed.append(path.strip("/").replace("/", "."))
        else:
            differs.append(_plain_difference(path.strip("/").replace("/", "."), path, old, new))
    return agreed, differs


def _walk(was: Any, now: Any, path: str, depth: int = 0) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(was, dict) and isinstance(now, dict) and depth < 6:
        for name in dict.fromkeys([*was, *now]):
            yield from _walk(
                was.get(name, MISSING), now.get(name, MISSING), f"{path}/{name}", depth + 1
            )
    else:
        yield path, was, now


def _plain_difference(where: str, pointer: str, old: Any, new: Any) -> Difference:
    was, now = _show(old), _show(new)
    return Difference(where, pointer, was, now, "", **_kind(old, new))


def _show(value: Any) -> str:
    return "(absent)" if value is MISSING else clip(dumps(value).decode(), 80)


def _or_none(value: Any) -> Any:
    return None if value is MISSING else value
