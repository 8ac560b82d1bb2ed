"""What a server answers now, beside what it answered: its list of tools in words, not in JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.errors import DriftError
from workbench.trace.canonical import digest
from workbench.trace.toollists import (
    BEGIN,
    LIST,
    list_changed,
    tool_changes,
    tools_in,
    without_heard,
)

if TYPE_CHECKING:
    from workbench.seam.calls import Ticket
    from workbench.trace.trace import Entry


def same_answer(name: str | None, was: Any, now: Any) -> bool:
    """Whether two answers of a server are the same but for what is no part of the result: what it
    said meanwhile, and at the beginning of a session its version and what else it says of itself.
    """
    if not (isinstance(was, dict) and isinstance(now, dict)):
        return False
    if name in BEGIN:
        return bool(_server(was) == _server(now))
    return bool(digest(without_heard(was)) == digest(without_heard(now)))


def changed_list(ticket: Ticket, entry: Entry, now: Any) -> DriftError | None:
    """The error for a server that has other tools than were recorded; None for any other answer."""
    call = ticket.call
    tools = [tools_in(each) for each in (entry.response, now)]
    if call.name != LIST or tools[0] is None or tools[1] is None:
        return None
    changes = tool_changes(tools[0], tools[1])
    if not changes:
        return None
    said = list_changed((call.request or {}).get("server"), changes)
    where = f" · {call.where}" if call.where else ""
    return DriftError(
        f"{said}"
        f"\n  asked     {LIST}{where} (entry {entry.id})"
        "\n  record again to keep the change, or serve the recorded answers: "
        'tools_before="replay"'
    )


def _server(answer: dict[str, Any]) -> Any:
    info = answer.get("serverInfo")
    return info.get("name") if isinstance(info, dict) else None
