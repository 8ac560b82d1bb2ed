"""Whether a conversation pairs its tool calls and results as providers demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .base import Message, ToolCall


@dataclass(slots=True)
class _Turn:
    """The calls of one turn of the model, and which of them still wait for a result."""

    number: int
    """The message with the first call."""
    calls: list[ToolCall] = field(default_factory=list)
    waiting: list[ToolCall] = field(default_factory=list)
    later: dict[int, int] = field(default_factory=dict)
    """By the identity of a call the message that makes it, where the turn has several."""

    def number_of(self, call: ToolCall) -> int:
        """The message that makes a call."""
        return self.later.get(id(call), self.number)

    def made(self, call_id: str | None) -> ToolCall | None:
        """The call of this turn with an id."""
        return next((call for call in self.calls if call.id == call_id), None)


def check_pairs(messages: Sequence[Message], *, complete: bool = True) -> list[str]:
    """What a provider would refuse about tool calls and results; empty when all is well.

    Each problem is one sentence or two that name the message by its number, counted from 1, the
    call's id, and what to do. Ids are compared within a turn only, since some providers use them
    again in later turns. With `complete=False` the calls of the last turn may still be open.
    """
    return _Check(messages).run(complete=complete)


class _Check:
    def __init__(self, messages: Sequence[Message]) -> None:
        self.messages = messages
        self.problems: list[str] = []
        self.turn: _Turn | None = None
        self.late: set[int] = set()

    def run(self, *, complete: bool) -> list[str]:
        for number, message in enumerate(self.messages, 1):
            if message.role == "tool":
                if number not in self.late:
                    self._result(number, message)
                continue
            if not message.continues:
                self._interrupt(number)
            if message.tool_calls:
                self._open(number, message)
        if complete and self.turn:
            self._missing(self.turn, f"before the end of the conversation ({self._count()})")
        return self.problems

    def _count(self) -> str:
        return f"{len(self.messages)} messages"

    def _open(self, number: int, message: Message) -> None:
        turn = self.turn = self.turn or _Turn(number)
        seen = {call.id for call in turn.calls}
        for call in message.tool_calls:
            if call.id is not None and call.id in seen:
                self.problems.append(
                    f"message {number}: two tool calls have the id {call.id!r}. "
                    "Give one of them, and its result, another id."
                )
            elif call.id is not None:
                seen.add(call.id)
            turn.calls.append(call)
            turn.waiting.append(call)
            turn.later[id(call)] = number

    def _result(self, number: int, message: Message) -> None:
        turn = self.turn
        if turn and (call := _answered(turn.waiting, message)):
            turn.waiting.remove(call)
            return
        called = _called(message)
        if message.tool_call_id is None:
            self._unnamed(number, message)
        elif turn and (made := turn.made(message.tool_call_id)):
            self.problems.append(
                f"message {number}: a second result for the call {called} of message "
                f"{turn.number_of(made)}. Remove one of the two."
            )
        elif later := self._call_after(number, message.tool_call_id):
            self.problems.append(
                f"message {number}: the result for the call {called} comes before the call, "
                f"which is in message {later}. Move the result directly after it."
            )
        else:
            self.problems.append(
                f"message {number}: the result for the call {called} has no call directly "
                f"before it{_ids(turn)}. Put back the assistant message that made the call, "
                "correct the id, or remove this result."
            )

    def _unnamed(self, number: int, message: Message) -> None:
        waiting = self.turn.waiting if self.turn else []
        which = f"{len(waiting)} calls wait for one" if waiting else "no call waits for one"
        name = f" of {message.name!r}" if message.name else ""
        self.problems.append(
            f"message {number}: a tool result{name} without a tool call id, and {which}"
            f"{_ids(self.turn)}. Give the id of the call that it answers, or remove it."
        )

    def _interrupt(self, number: int) -> None:
        """Another message comes: no call of the turn may still wait."""
        if self.turn:
            role = self.messages[number - 1].role
            turn, self.turn = self.turn, None
            left = [call for call in turn.waiting if not self._late_result(turn, call, number)]
            turn.waiting = left
            self._missing(turn, f"before message {number} ({role})")

    def _late_result(self, turn: _Turn, call: ToolCall, number: int) -> bool:
        """Find a result that follows after other messages, and say that it is too late."""
        for later in range(number, len(self.messages) + 1):
            message = self.messages[later - 1]
            if any(other.id == call.id for other in message.tool_calls):
                return False
            if message.role == "tool" and call.id and message.tool_call_id == call.id:
                self.late.add(later)
                self.problems.append(
                    f"message {later}: the result for the call {_name(call)} of message "
                    f"{turn.number_of(call)} comes after message {number}. "
                    f"Move it directly after message {turn.number_of(call)}."
                )
                return True
        return False

    def _missing(self, turn: _Turn, before: str) -> None:
        self.problems += [
            f"message {turn.number_of(call)}: the call {_name(call)} has no result {before}. "
            f"Add its result directly after message {turn.number_of(call)}, or remove the call."
            for call in turn.waiting
        ]

    def _call_after(self, number: int, call_id: str) -> int | None:
        for later, message in enumerate(self.messages[number:], number + 1):
            if any(call.id == call_id for call in message.tool_calls):
                return later
        return None


def _answered(waiting: list[ToolCall], result: Message) -> ToolCall | None:
    """The call that a result answers; without an id only where there is one candidate."""
    if result.tool_call_id is not None:
        fitting = [call for call in waiting if call.id == result.tool_call_id]
        return fitting[0] if fitting else None
    fitting = [call for call in waiting if result.name in (None, call.name)]
    return fitting[0] if len(fitting) == 1 else None


def _called(message: Message) -> str:
    return f"{message.tool_call_id!r}" + (f" ({message.name})" if message.name else "")


def _name(call: ToolCall) -> str:
    return f"{call.id!r} ({call.name})" if call.id is not None else f"of {call.name} without an id"


def _ids(turn: _Turn | None) -> str:
    waiting = ", ".join(_name(call) for call in turn.waiting) if turn else ""
    return f" (waiting: {waiting})" if waiting else ""
