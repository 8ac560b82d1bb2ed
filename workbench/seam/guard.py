"""What keeps the live world safe: which calls must be allowed, and the keys that they carry."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING

from workbench.errors import RunBlocked
from workbench.seam.calls import Question
from workbench.trace.values import dumps

if TYPE_CHECKING:
    from workbench.seam.calls import Call, Ticket


def writes(call: Call) -> bool:
    """Whether a call may change the world: a tool that does not say that it only reads."""
    return call.kind == "tool" and call.effect != "read"


def write_key(owner: str, ticket: Ticket, *, recording: bool) -> str | None:
    """The idempotency key of a tool call that writes; None for one that reads.

    While recording it is the tool's own key, or one made of the trace and the call. In a fork it
    always begins with the fork's id: a live write never carries a recorded key, so that a system
    which remembers keys does not take it for the recorded write.
    """
    call = ticket.call
    if not writes(call):
        return None
    if recording and call.key is not None:
        return call.key
    return f"{owner}:{call.key or ticket.id}"


def question_about(ticket: Ticket) -> Question:
    """What is asked before a live write runs."""
    call = ticket.call
    kind = "writes" if call.effect == "write" else "does not say whether it writes"
    return Question(
        id=ticket.id,
        tool=str(call.name),
        arguments=call.request.get("arguments"),
        key=str(ticket.key),
        turn=ticket.turn,
        text=f"{call.name} {kind} and is about to run for real: {arguments_text(call)}",
        future=Future(),
    )


def arguments_text(call: Call, limit: int = 200) -> str:
    """A tool call as code, such as ``refund(order_id=101, amount=149.99)``, clipped."""
    arguments = call.request.get("arguments") if isinstance(call.request, dict) else None
    if isinstance(arguments, dict):
        inner = ", ".join(f"{name}={_json(value)}" for name, value in arguments.items())
    else:
        inner = _json(arguments)
    text = f"{call.name}({inner})"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def blocked(ticket: Ticket, why: str) -> RunBlocked:
    """The error that ends a run at a live write, naming the choices."""
    call = ticket.call
    at = f" at {call.where}" if call.where else ""
    return RunBlocked(
        f"{arguments_text(call)}{at} was not run: {why}. "
        'Let it run with tools_after="allow", or be asked for each with tools_after="ask"; '
        'if it only reads, declare it with @workbench.tool(effect="read")'
    )


def _json(value: object) -> str:
    return dumps(value).decode()
