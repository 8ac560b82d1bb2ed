"""What is sent instead: rewriting a request, and which model calls are rewritten."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import EditError, UnencodableError
from workbench.trace.canonical import digest
from workbench.trace.edits.models import RequestEdit
from workbench.trace.edits.places import target
from workbench.trace.payloads import MessageChange, view

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from workbench.trace.edits.models import Edit
    from workbench.trace.edits.parts import MessageEdit
    from workbench.trace.payloads import JSON, Message
    from workbench.trace.trace import Entry, Trace


Clean = Callable[[Any], Any]
"""What makes a message as the trace keeps it: its redaction."""


@dataclass(frozen=True, slots=True)
class _Reach:
    """From where on a request edit holds."""

    edit: RequestEdit
    first: int
    """The seq of the first attempt of its turn."""
    last: int
    step: str
    enclosed: bool
    nth: int
    """The how-manyeth model call it is in its step, from 1, retries not counted."""


class Requests:
    """Which request edits hold for a model call.

    A call that a recorded entry answers is rewritten by an edit with ``scope="once"`` when the
    entry is an attempt of the edit's turn, and by one with ``scope="onwards"`` when the entry is
    in the same step (that very step, not one inside it), is inside a tool just when the edit's own
    call is, and began no earlier. A call without an entry (past the end, or off the recorded path)
    counts by its order: as the nth model call of its step, retries not counted, it is rewritten
    like the recorded nth one; past the last one only the edits with ``scope="onwards"`` hold. Where
    several hold, they are applied in the order of their places.
    """

    def __init__(self, trace: Trace | None = None, edits: Iterable[Edit] = ()) -> None:
        found: list[_Reach] = []
        if trace is not None:
            wanted = [edit for edit in edits if isinstance(edit, RequestEdit)]
            found = [reach for edit in wanted if (reach := _reach(trace, edit)) is not None]
        self._reaches = sorted(found, key=lambda reach: reach.first)

    def __bool__(self) -> bool:
        return bool(self._reaches)

    def at(
        self,
        entry: Entry | None,
        *,
        step: str = "",
        nth: int = 1,
        enclosed: bool = False,
    ) -> tuple[RequestEdit, ...]:
        """The edits that rewrite a model call, in order; empty when it is sent as it is asked.

        Args:
            entry: the recorded entry that would answer it; None when there is none.
            step: the call's step.
            nth: without an entry: which model call of its step it is, from 1, counting those with
                the same ``enclosed``, retries not counted.
            enclosed: whether it is made inside a tool.
        """
        return tuple(
            reach.edit
            for reach in self._reaches
            if (reach.step, reach.enclosed) == (step, enclosed)
            and (_by_order(reach, nth) if entry is None else _by_entry(reach, entry))
        )


def _by_entry(reach: _Reach, entry: Entry) -> bool:
    if reach.edit.scope == "once":
        return reach.first <= entry.seq <= reach.last
    return entry.seq >= reach.first


def _by_order(reach: _Reach, nth: int) -> bool:
    return nth == reach.nth if reach.edit.scope == "once" else nth >= reach.nth


def _reach(trace: Trace, edit: RequestEdit) -> _Reach | None:
    entry = target(trace, edit)
    if entry is None:
        return None
    turn = entry.turn
    first = last = entry.seq
    if turn is not None and turn.model == entry:
        first = turn.attempts[0].seq
    enclosed = entry.enclosing is not None
    nth = 1
    for other in trace.turns[: turn.number - 1] if turn is not None else ():
        model = other.model
        nth += model.step == entry.step and (model.enclosing is not None) == enclosed
    return _Reach(edit, first, last, entry.step, enclosed, nth)


def rewrite(edit: RequestEdit, api: str, request: Any, clean: Clean | None = None) -> Any:
    """See :meth:`RequestEdit.rewrite`."""
    body = request.get("body") if isinstance(request, dict) else None
    shape = view(api)
    said = shape.messages(body)
    new = shape.with_request(
        body,
        system=edit.system,
        messages=[
            change for each in edit.messages if (change := _change(each, said, clean)) is not None
        ],
        model=edit.model,
        set=edit.set,
        unset=edit.unset,
    )
    return request if new is body else {**request, "body": new}


def unfit(edit: RequestEdit, api: str, request: Any, clean: Clean | None = None) -> list[str]:
    """See :meth:`RequestEdit.unfit`."""
    body = request.get("body") if isinstance(request, dict) else None
    said = view(api).messages(body)
    out = []
    for each in edit.messages:
        if _change(each, said, clean) is None:
            what = "put in" if each.op == "insert" else f"{each.op}d"
            place = each.number if each.op != "insert" else f"at {each.number}"
            out.append(
                f"message {place} is not {what}: this request has another conversation there"
            )
    return out


def settled(edit: RequestEdit, entry: Entry) -> RequestEdit:
    """The edit with the numbers and digests of the messages that it is made for.

    Raises:
        EditError: the request has no such message.
        TraceError: the recorded request cannot be read.
    """
    if not edit.messages or entry.body is None:
        return edit
    said = view(entry.api or "").messages(entry.body)
    return edit.model_copy(update={"messages": tuple(_settle(m, said) for m in edit.messages)})


def _settle(edit: MessageEdit, said: Sequence[Message]) -> MessageEdit:
    count = len(said)
    number = edit.number
    if number is None:
        number = count + 1
    elif number < 0:
        number += count + 1
    if not 1 <= number <= count + (edit.op == "insert"):
        raise EditError(
            f"there is no message {edit.number}: the request has the messages 1 to {count}"
        )
    beside = number - 1 if edit.op == "insert" else number
    was = _digest(said[beside - 1].raw) if beside else None
    return edit.model_copy(update={"number": number, "was": edit.was or was})


def _change(
    edit: MessageEdit, said: Sequence[Message], clean: Clean | None
) -> MessageChange | None:
    """The change of a conversation; None where another message stands in its place."""
    number = len(said) + 1 if edit.number is None else edit.number
    if number < 0:
        number += len(said) + 1
    beside = number - 1 if edit.op == "insert" else number
    if not 0 <= beside <= len(said):
        return None
    if edit.was is not None:
        there = said[beside - 1].raw if beside else None
        if not beside or _digest(there if clean is None else clean(there)) != edit.was:
            return None
    return MessageChange(edit.op, number - 1, edit.role, edit.text, edit.message)


def _digest(raw: JSON) -> str | None:
    try:
        return digest(raw)
    except UnencodableError:
        return None
