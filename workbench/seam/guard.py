"""What keeps the live world safe: which calls must be allowed, and what they carry."""

from __future__ import annotations

from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from workbench.errors import RunBlocked, UsageError
from workbench.seam.calls import MISSING, Question
from workbench.seam.served import simulated
from workbench.trace.places import Place, in_step
from workbench.trace.values import dumps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from workbench.seam.calls import Call, Served, Ticket
    from workbench.seam.setting import Setting


KEPT_THERE = frozenset({"openai.responses"})
"""The apis whose answers stay with the provider, where a later request may name them."""
_PAST = "response"


def writes(call: Call) -> bool:
    """Whether a call may change the world: a tool that does not say that it only reads."""
    return call.kind == "tool" and call.effect != "read"


class Guard:
    """Says what may reach the live world, and how. It decides by the policy alone."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._policy = setting.policy
        self.wrote = False
        """Whether a tool that writes has run live."""
        self._replayed: set[str] = set()
        """Ids of responses and conversations that the provider does not know, or not like that."""

    def key(self, ticket: Ticket) -> str | None:
        """The idempotency key of a tool call that writes; None for one that reads.

        While recording it is the tool's own key, or one made of the trace and the call. In a fork
        it always begins with the fork's id: a live write never carries a recorded key, so that a
        system which remembers keys does not take it for the recorded write. A retry of a call has
        the call's own key.
        """
        call = ticket.call
        if not writes(call):
            return None
        if self._setting.recording and call.key is not None:
            return call.key
        own = call.key or f"{ticket.digest[:16]}-{ticket.nth + 1}"
        return f"{self._setting.key_owner}:{own}"

    def pauses(self, ticket: Ticket) -> Question | None:
        """What is asked at a breakpoint; None where there is none."""
        if not any(_stops_at(each, ticket) for each in self._policy.breakpoints):
            return None
        return _question(ticket, f"paused before {_called(ticket)}", "pause")

    def holds(self, ticket: Ticket) -> Question | RunBlocked | None:
        """Whether a live call may run: None if so, else what is asked, or why it ends the run."""
        call, choice = ticket.call, self._policy.tools_after
        if choice == "allow" or not writes(call):
            return None
        if choice == "simulate":
            if call.name in self._policy.simulate:
                return None
            return _blocked(
                ticket, f"nothing stands in for it: simulate={{'{call.name}': a function}}"
            )
        if choice == "deny":
            return _blocked(ticket, "live writes are denied")
        kind = "writes" if call.effect == "write" else "does not say whether it writes"
        text = f"{call.name} {kind} and is about to run for real: {_called(ticket)}"
        return _question(ticket, text, "write")

    def answer(self, ticket: Ticket, question: Question) -> Served:
        """What somebody says that a call gave; what was recorded of it is done with."""
        if ticket.entry is not None:
            self._setting.tape.take(ticket.entry)
        ticket.how, ticket.source = "simulated", "simulated"
        ticket.reason = "edited" if ticket.reason == "record" else ticket.reason
        return simulated(ticket.call, question.result)

    def refusal(self, ticket: Ticket, question: Question | None) -> RunBlocked:
        """Why the run ends, since somebody said no."""
        why = question.why_denied if question is not None else "it was denied"
        if question is not None and question.kind == "pause":
            return RunBlocked(f"stopped before {_called(ticket)}: {why}")
        return _blocked(ticket, why)

    def passes(self, ticket: Ticket) -> Any:
        """The request that goes to the live world, or why none may.

        What stands for a redacted secret is replaced by the secret. What the provider does not
        know does not reach it.
        """
        request = ticket.call.request if ticket.sent is MISSING else ticket.sent
        if self._setting.recording:
            return request
        for what, named in _referred(ticket.call, request):
            if named in self._replayed:
                return RunBlocked(
                    f"{_called(ticket)} goes live and names the {what} '{named}', which the "
                    "provider did not make in this run, or not as this run has it. Go live from "
                    "the turn that made it, or send the whole conversation as input"
                )
        try:
            request = self._setting.redactor.resolve(request, self._setting.secrets)
        except UsageError as error:
            return RunBlocked(f"{_called(ticket)} was not made: {error}")
        if writes(ticket.call) and ticket.reason not in ("verify", "rerun"):
            self.wrote = True
        return request

    def stand_in(self, ticket: Ticket) -> Callable[..., Any] | None:
        """What runs instead of a tool that writes."""
        call = ticket.call
        if self._policy.tools_after != "simulate" or not writes(call):
            return None
        if ticket.reason in ("verify", "rerun") and self._policy.fresh_world:
            return None
        ticket.how, ticket.source = "simulated", "simulated"
        return self._policy.simulate[str(call.name)]

    def served(self, ticket: Ticket, served: Served) -> None:
        """An answer is handed over that the provider did not give just now."""
        call = ticket.call
        if call.kind != "model" or call.api not in KEPT_THERE:
            return
        self._replayed |= {named for what, named in _referred(call, call.request) if what != _PAST}
        body = served.response.get("body") if isinstance(served.response, dict) else None
        for each in (body, *(served.chunks or ())):
            made = each.get("response", each) if isinstance(each, dict) else None
            if isinstance(made, dict) and isinstance(made.get("id"), str):
                self._replayed.add(made["id"])


def _referred(call: Call, request: Any) -> Iterator[tuple[str, str]]:
    """What a request continues that the provider keeps: what it is, and its id."""
    body = request.get("body") if isinstance(request, dict) else None
    if call.api not in KEPT_THERE or not isinstance(body, dict):
        return
    if isinstance(body.get("previous_response_id"), str):
        yield _PAST, body["previous_response_id"]
    named = body.get("conversation")
    named = named.get("id") if isinstance(named, dict) else named
    if isinstance(named, str):
        yield "conversation", named


def _stops_at(where: Any, ticket: Ticket) -> bool:
    if not isinstance(where, Place):
        return bool(where(ticket.call))
    if where.kind == "turn":
        return ticket.call.kind == "model" and ticket.turn == where.value
    if where.kind == "entry":
        return ticket.entry is not None and ticket.entry.id == where.value
    return in_step(ticket.call.step, str(where.value))


def _question(ticket: Ticket, text: str, kind: Any) -> Question:
    call = ticket.call
    asked = call.request if ticket.sent is MISSING else ticket.sent
    arguments = asked.get("arguments") if call.kind == "tool" else None
    return Question(
        id=ticket.id,
        tool=str(call.name or call.model or call.kind),
        arguments=arguments,
        key=str(ticket.key),
        turn=ticket.turn,
        text=text,
        future=Future(),
        kind=kind,
        of=call.kind,
    )


def _called(ticket: Ticket) -> str:
    call = ticket.call
    if call.kind == "tool":
        return arguments_text(call, ticket.sent)
    name = call.name or call.model
    return f"the {call.kind} call{f' of {name}' if name else ''}"


def arguments_text(call: Call, sent: Any = MISSING, limit: int = 200) -> str:
    """A tool call as code, such as ``refund(order_id=101, amount=149.99)``, clipped; with
    ``sent`` as it is really to run."""
    request = call.request if sent is MISSING else sent
    arguments = request.get("arguments") if isinstance(request, dict) else None
    if isinstance(arguments, dict):
        inner = ", ".join(f"{name}={_json(value)}" for name, value in arguments.items())
    else:
        inner = _json(arguments)
    text = f"{call.name}({inner})"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _blocked(ticket: Ticket, why: str) -> RunBlocked:
    """The error that ends a run at a live write, naming the choices."""
    call = ticket.call
    at = f" at {call.where}" if call.where else ""
    return RunBlocked(
        f"{_called(ticket)}{at} was not run: {why}. "
        'Let it run with tools_after="allow", or be asked for each with tools_after="ask"; '
        f"if it only reads, {_as_read(call)}"
    )


def _as_read(call: Call) -> str:
    """What whoever owns a tool does to say that it only reads."""
    server = call.request.get("server") if isinstance(call.request, dict) else None
    if server is None:
        return 'declare it with @workbench.tool(effect="read")'
    return f"let the server '{server}' say so in the tool's annotations: readOnlyHint=True"


def _json(value: object) -> str:
    return dumps(value).decode()
