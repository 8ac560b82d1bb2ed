"""Whether a provider would take an edited request."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from workbench.trace.edits.mends import Mend, Problem, either, instead
from workbench.trace.edits.models import ReplyEdit, RequestEdit
from workbench.trace.edits.parts import MessageEdit
from workbench.trace.edits.places import target
from workbench.trace.payloads import PayloadView, check_pairs, view
from workbench.trace.payloads.reading import compact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from workbench.trace.edits.builder import Edits
    from workbench.trace.payloads import Message
    from workbench.trace.trace import Entry

REMOVED = "[This result was taken out by an edit.]"
"""The text of a result that stands in for a dropped one, marked as such."""

_OWN_WORDS = {
    "model": "another model is given with model=",
    "stream": "how an answer travels is the agent's to say, which reads it in that way",
}


def check_request(edits: Edits, edit: RequestEdit) -> list[Problem]:
    """What a provider would refuse in an edited request."""
    entry = target(edits.trace, edit)
    assert entry is not None  # noqa: S101 - a request edit has one
    out = _check_reply_too(edits, edit, entry)
    shape = view(entry.api or "")
    out += _check_fields(edits, edit, shape)
    if entry.body is None:
        return out
    said = shape.messages(entry.body)
    out += _check_messages(edits, edit, shape, said)
    if out:
        return out
    new = shape.messages(edit.rewrite(entry.api or "", entry.request)["body"])
    if said and not new:
        return [Problem(f"{edit.at}: no message would be left, so nothing would be asked")]
    return _check_pairs(edits, edit, said, new)


def _check_reply_too(edits: Edits, edit: RequestEdit, entry: Entry) -> list[Problem]:
    """A turn whose reply is said by another edit asks nothing."""
    if edit.scope != "once":
        return []
    for other in edits:
        if isinstance(other, ReplyEdit) and target(edits.trace, other) == entry:
            onwards = edit.model_copy(update={"scope": "onwards"})
            mend = Mend("change only the later requests", instead(edits, edit, onwards))
            text = (
                f"{edit.at}: another edit says what the model replied, so its request would not be "
                "sent"
            )
            return [Problem(text, (mend, *either(edits, edit, other)))]
    return []


def _check_fields(edits: Edits, edit: RequestEdit, shape: PayloadView) -> list[Problem]:
    out = []
    words = _OWN_WORDS | dict.fromkeys(
        shape.conversation_path[-1:], "its messages are changed with replace=, append= and drop="
    )
    for name in [*edit.set, *edit.unset]:
        if name not in words and shape.messages({name: "x"}):
            words = {**words, name: "the system prompt is given with system="}
        if name not in words:
            continue
        kept = {key: value for key, value in edit.set.items() if key != name}
        left = {"set": kept, "unset": tuple(each for each in edit.unset if each != name)}
        new = edit.model_copy(update=left)
        rest = new.system is not None or new.model is not None or new.messages or kept
        mends = (Mend(f"leave '{name}' as it is", instead(edits, edit, new)),)
        text = f"{edit.at}: '{name}' is no parameter: {words[name]}"
        out.append(Problem(text, mends if rest or left["unset"] else ()))
    for name, value in edit.set.items():
        out += _check_json(edit, f"'{name}'", value)
    return out


def _check_json(edit: RequestEdit, what: str, value: Any) -> list[Problem]:
    try:
        compact(value)
    except (TypeError, ValueError, RecursionError) as error:
        return [Problem(f"{edit.at}: {what} can't be sent as JSON: {error}")]
    return []


def _check_messages(
    edits: Edits, edit: RequestEdit, shape: PayloadView, said: Sequence[Message]
) -> list[Problem]:
    out: list[Problem] = []
    seen: set[int | None] = set()
    for each in edit.messages:
        if each.op != "insert" and each.number in seen:
            out.append(Problem(f"{edit.at}: message {each.number} is changed twice"))
        seen.add(each.number if each.op != "insert" else None)
        what = "the new message" if each.op == "insert" else f"message {each.number}"
        out += _check_json(edit, what, each.message)
        role = each.role if each.message is None else each.message.get("role")
        if not _known_role(shape, each, role):
            known = ", ".join(shape.roles)
            out.append(Problem(f"{edit.at}: {what} has the role {role!r}; known are {known}"))
        out += _check_empty(edits, edit, each, said)
    return out


def _known_role(shape: PayloadView, each: MessageEdit, role: Any) -> bool:
    """Whether the shape has the role, or knows by its type whose a whole item without one is."""
    if role is not None or each.message is None:
        return role is None or role in shape.roles
    return "type" in each.message and shape.message(each.message).role != "unknown"


def _check_empty(
    edits: Edits, edit: RequestEdit, each: MessageEdit, said: Sequence[Message]
) -> list[Problem]:
    if each.text is None or each.text.strip():
        return []
    number = each.number
    old = said[number - 1] if each.op == "replace" and number and number <= len(said) else None
    if old is not None and (old.tool_calls or old.images or old.role == "tool"):
        return []
    changes: list[MessageEdit] = []
    for other in edit.messages:
        if other is not each:
            changes.append(other)
        elif old is not None:
            changes.append(MessageEdit(op="drop", number=number, was=each.was))
    new = edit.model_copy(update={"messages": tuple(changes)})
    keeps = new.messages or new.system is not None or new.model or new.set or new.unset
    mends = (Mend("leave the message out", instead(edits, edit, new)),) if keeps else ()
    what = "a new message" if each.op == "insert" else f"message {number}"
    return [Problem(f"{edit.at}: {what} would be empty, and providers refuse that", mends)]


# -- pairs of calls and results


def _check_pairs(
    edits: Edits, edit: RequestEdit, said: Sequence[Message], new: Sequence[Message]
) -> list[Problem]:
    """What is wrong with the new conversation and was not wrong with the old one."""
    known = Counter(_unnumbered(text) for text in check_pairs(said))
    found = []
    for text in check_pairs(new):
        key = _unnumbered(text)
        if known[key]:
            known[key] -= 1
        else:
            found.append(text)
    mends = _pair_mends(edits, edit, said) if found else ()
    return [Problem(f"{edit.at}: in what would be sent, {text}", mends) for text in found]


def _unnumbered(text: str) -> str:
    return re.sub(r"(?<!')\b\d+\b", "#", text)


def _pair_mends(edits: Edits, edit: RequestEdit, said: Sequence[Message]) -> tuple[Mend, ...]:
    dropped = {each.number for each in edit.messages if each.op == "drop" and each.number}
    more: set[int] = set()
    inside: dict[int, int] = {}
    for first, last in _groups(said):
        group = range(first, last + 1)
        more |= _tied(said, group, dropped) - dropped
        inside |= dict.fromkeys(group[1:], last + 1)
    mends = []
    if more:
        drops = [MessageEdit(op="drop", number=number) for number in sorted(more)]
        kept = [each for each in edit.messages if each.number not in more or each.op == "insert"]
        label = f"leave out message {', '.join(map(str, sorted(more)))} too"
        mends.append(_mend(edits, edit, label, [*kept, *drops]))
    if any(said[number - 1].role == "tool" for number in dropped):
        label = "keep the result's message, with words that say that it was taken out"
        mends.append(_mend(edits, edit, label, [_stands_in(each, said) for each in edit.messages]))
    if any(each.op == "insert" and each.number in inside for each in edit.messages):
        label = "put the new message after the results"
        mends.append(_mend(edits, edit, label, [_behind(each, inside) for each in edit.messages]))
    return tuple(mends)


def _mend(edits: Edits, edit: RequestEdit, label: str, changes: Sequence[MessageEdit]) -> Mend:
    from workbench.trace.edits.requests import settled

    new = edit.model_copy(update={"messages": tuple(changes)})
    entry = target(edits.trace, edit)
    return Mend(label, instead(edits, edit, new if entry is None else settled(new, entry)))


def _groups(said: Sequence[Message]) -> list[tuple[int, int]]:
    """The first and last number of each turn that calls tools, with the results after it."""
    out = []
    at = 0
    while at < len(said):
        if not said[at].tool_calls:
            at += 1
            continue
        first = at
        while at + 1 < len(said) and said[at + 1].continues:
            at += 1
        while at + 1 < len(said) and said[at + 1].role == "tool":
            at += 1
        out.append((first + 1, at + 1))
        at += 1
    return out


def _tied(said: Sequence[Message], group: range, dropped: set[int]) -> set[int]:
    """What of a turn goes with what is dropped: the results of a call, the call of a result."""
    gone = dropped.intersection(group)
    while gone:
        called = {call.id for n in gone for call in said[n - 1].tool_calls}
        answered = {said[n - 1].tool_call_id for n in gone if said[n - 1].role == "tool"}
        more = {n for n in group if _goes(said[n - 1], called, answered)} - gone
        if not more:
            break
        gone |= more
    return gone


def _goes(message: Message, called: set[str | None], answered: set[str | None]) -> bool:
    """Whether a message answers one of these calls, or makes a call that one of these answers."""
    if message.role == "tool":
        return bool(called) and (message.tool_call_id is None or message.tool_call_id in called)
    return any(None in answered or call.id in answered for call in message.tool_calls)


def _stands_in(each: MessageEdit, said: Sequence[Message]) -> MessageEdit:
    if each.op == "drop" and each.number and said[each.number - 1].role == "tool":
        return MessageEdit(op="replace", number=each.number, text=REMOVED, was=each.was)
    return each


def _behind(each: MessageEdit, inside: dict[int, int]) -> MessageEdit:
    if each.op == "insert" and each.number in inside:
        return each.model_copy(update={"number": inside[each.number], "was": None})
    return each
