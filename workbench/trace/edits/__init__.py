"""Edits: what a person changed in a run, kept apart from what was recorded.

``trace.edit()`` starts a builder; each method gives a new one, so that an edit can be undone by
keeping the one before::

    edits = trace.edit().reply(turn(4), tool_call=("send_email", {"to": "ada@example.com"}))
    print(edits.preview())

Every edit is checked against the trace when it is made: that the place exists, that a tool
result still has its call, that ids stay unique, that a provider would take what is sent. One that
is refused says why, and what would mend it (:class:`Mend`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.errors import UsageError
from workbench.trace.edits.builder import Edits
from workbench.trace.edits.checking import check
from workbench.trace.edits.mends import Mend, refusal
from workbench.trace.edits.models import (
    EDIT,
    EDIT_TYPES,
    DropEdit,
    Edit,
    EventEdit,
    FaultEdit,
    InsertEdit,
    ReplyEdit,
    RequestEdit,
    ToolArgumentsEdit,
    ToolResultEdit,
    ValueEdit,
)
from workbench.trace.edits.parts import CallEdit, MessageEdit, NewEvent, NewTool, NewTurn, Part
from workbench.trace.edits.requests import Requests
from workbench.trace.faults import Fault, check_fault

if TYPE_CHECKING:
    from collections.abc import Iterable

    from workbench.trace.trace import Trace

__all__ = [
    "EDIT",
    "EDIT_TYPES",
    "CallEdit",
    "DropEdit",
    "Edit",
    "Edits",
    "EventEdit",
    "FaultEdit",
    "InsertEdit",
    "Mend",
    "MessageEdit",
    "NewEvent",
    "NewTool",
    "NewTurn",
    "ReplyEdit",
    "RequestEdit",
    "Requests",
    "ToolArgumentsEdit",
    "ToolResultEdit",
    "ValueEdit",
    "as_edits",
]


def as_edits(trace: Trace, edits: Edits | Iterable[Edit] | None, faults: Iterable[Fault]) -> Edits:
    """One checked list from what ``fork()`` and ``replay()`` take.

    Raises:
        UsageError: one of them is no edit, or no fault.
        EditError: they do not fit the trace.
    """
    for each in edits or ():
        if not isinstance(each, Part):
            raise UsageError(
                f"{each!r} is no edit: edits= takes trace.edit()… or a list of edits, such as "
                '[ReplyEdit(at=turn(2), text="…")]'
            )
    given = [*(edits or ()), *(FaultEdit(fault=check_fault(fault)) for fault in faults)]
    out = Edits.of(trace, given)
    problems = check(out)
    if problems:
        raise refusal(problems)
    return out
