"""How each kind of edit is said in Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from workbench.errors import EditError
from workbench.trace.edits.models import (
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
from workbench.trace.edits.parts import CallEdit, MessageEdit, NewEvent, NewTool, NewTurn
from workbench.trace.values import encode

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workbench.trace.faults import Fault
    from workbench.trace.places import Place

    Call = tuple[str, dict[str, Any] | str] | CallEdit
    Said = str | tuple[str, str] | Mapping[str, Any]

Scope = Literal["onwards", "once"]
Side = Literal["before", "after"]


class Making:
    """One method for each kind of edit; each gives a new list."""

    def add(self, edit: Edit, *, mend: bool = False) -> Self:
        """One more edit."""
        raise NotImplementedError

    def reply(
        self,
        at: Place,
        *,
        text: str | None = None,
        tool_call: Call | None = None,
        tool_calls: Sequence[Call] | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
    ) -> Self:
        """The model said this instead: a text, one tool call, or several (none: ``[]``).

        Args:
            at: the turn, or its model entry.
            text: what it said; None keeps the recorded text.
            tool_call: ``("refund", {"amount": 5})``, in place of all recorded calls.
            tool_calls: the same for several calls.
            refusal: the words with which it refused; text and calls that are not given go.
            finish_reason: why it ended, such as ``"length"``.

        Raises:
            EditError: the place is no model turn, or a provider would refuse the reply.
        """
        if tool_call is not None:
            if tool_calls is not None:
                raise EditError("give either tool_call= or tool_calls=, not both")
            tool_calls = [tool_call]
        calls = None if tool_calls is None else _calls(tool_calls)
        return self.add(
            _make(
                ReplyEdit,
                at=at,
                text=text,
                tool_calls=calls,
                refusal=refusal,
                finish_reason=finish_reason,
            )
        )

    def request(
        self,
        at: Place,
        *,
        system: str | None = None,
        model: str | None = None,
        set: Mapping[str, Any] | None = None,  # noqa: A002 - what it does
        unset: Sequence[str] = (),
        replace: Mapping[int, Said] | None = None,
        append: Sequence[Said] = (),
        drop: Sequence[int] = (),
        messages: Sequence[MessageEdit] = (),
        scope: Scope = "onwards",
    ) -> Self:
        """The model was asked this instead, and answers live.

        Args:
            at: the turn, or its model entry.
            system: another system prompt.
            model: another model.
            set: parameters by name, such as ``{"temperature": 0}``; None is sent as null.
            unset: parameters that are not sent at all.
            replace: other messages by number (from 1; -1 is the last one): a text, a role and a
                text, or a whole message in the provider's shape.
            append: messages put after the last one; a text alone is the user's.
            drop: numbers of messages that are left out.
            messages: changes of the conversation written out.
            scope: ``onwards`` rewrites the later model calls of the step in the same way, ``once``
                only this one.

        Raises:
            EditError: the place is no model turn, or a provider would refuse the request.
        """
        changes = [*messages, *message_edits(replace=replace, append=append, drop=drop)]
        fields: dict[str, Any] = {"at": at, "scope": scope, "system": system, "model": model}
        fields |= {"set": dict(set or {}), "unset": tuple(unset), "messages": tuple(changes)}
        return self.add(_make(RequestEdit, **fields))

    def tool_result(self, at: Place, result: Any, *, tool: str | None = None, nth: int = 1) -> Self:
        """The tool returned this instead. ``result`` is any value that a trace can hold.

        Raises:
            EditError: the turn made no such tool call, or an edited reply took it away.
            UnencodableError: the trace cannot represent the result.
        """
        return self.add(_make(ToolResultEdit, at=at, tool=tool, nth=nth, result=encode(result)))

    def tool_arguments(
        self, at: Place, arguments: Mapping[str, Any], *, tool: str | None = None, nth: int = 1
    ) -> Self:
        """The tool was called with this instead, and runs. The model's reply stays as it was.

        Args:
            at: the turn that asked for the tool, or the tool's entry.
            arguments: all arguments by name.
            tool: which tool of the turn; needed where it called several.
            nth: the how-manyeth call of that tool in the turn.

        Raises:
            EditError: the turn made no such tool call, or an edited reply took it away.
            UnencodableError: the trace cannot represent the arguments.
        """
        given = encode(dict(arguments))
        return self.add(_make(ToolArgumentsEdit, at=at, tool=tool, nth=nth, arguments=given))

    def fault(self, fault: Fault) -> Self:
        """A call fails: ``fault(HttpError(429).at(turn(2)))``."""
        return self.add(_make(FaultEdit, fault=fault))

    def event(self, at: Place, data: Any) -> Self:
        """The agent is expected to write this event data instead: a replay compares with it.

        Raises:
            EditError: the place is no event.
            UnencodableError: the trace cannot represent the data.
        """
        return self.add(_make(EventEdit, at=at, data=encode(data)))

    def value(self, at: Place, value: Any) -> Self:
        """The clock, an id, a random number or a human gave this instead.

        Raises:
            EditError: the place is no such entry, or a clock would give another type.
            UnencodableError: the trace cannot represent the value.
        """
        return self.add(_make(ValueEdit, at=at, value=encode(value)))

    def insert_turn(
        self,
        at: Place,
        *,
        text: str = "",
        tool_calls: Sequence[Call] = (),
        results: Sequence[Any] | None = None,
        where: Side = "after",
    ) -> Self:
        """One more turn: what the model says, and what its tool calls give.

        Args:
            at: the turn or entry beside which it is put, in that one's step.
            text: what the model says.
            tool_calls: the tools that it calls.
            results: what these return, one each; without them no tool entries are made.
            where: on which side.

        Raises:
            EditError: there is no such place, or the turn would stand between a call and its
                result.
        """
        given = None if results is None else [encode(each) for each in results]
        new = _make(NewTurn, text=text, tool_calls=_calls(tool_calls), results=given)
        return self.add(_make(InsertEdit, at=at, where=where, what=new))

    def insert_tool(
        self,
        at: Place,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        result: Any = None,
        *,
        where: Side = "after",
    ) -> Self:
        """One more tool entry, for a call that the turn's reply makes.

        Raises:
            EditError: there is no such place, or the reply makes no such call.
        """
        fields = {"arguments": encode(dict(arguments or {})), "result": encode(result)}
        new = _make(NewTool, name=name, **fields)
        return self.add(_make(InsertEdit, at=at, where=where, what=new))

    def insert_event(
        self,
        at: Place,
        type: str,  # noqa: A002 - the event's own field
        data: Any = None,
        *,
        where: Side = "after",
    ) -> Self:
        """One more event. Raises EditError when there is no such place."""
        new = _make(NewEvent, event=type, data=encode(data))
        return self.add(_make(InsertEdit, at=at, where=where, what=new))

    def drop(self, at: Place, *, pair: bool = False) -> Self:
        """A turn with its tools, or one entry, did not happen.

        Args:
            at: the turn, or the entry.
            pair: for a tool's entry: the call in the reply goes too.

        Raises:
            EditError: what is left would be refused, such as a call without its result.
        """
        return self.add(_make(DropEdit, at=at, pair=pair))


def _calls(given: Sequence[Call]) -> tuple[CallEdit, ...]:
    return tuple(
        each if isinstance(each, CallEdit) else _make(CallEdit, name=each[0], arguments=each[1])
        for each in given
    )


def message_edits(
    *,
    replace: Mapping[int, Said] | None = None,
    append: Sequence[Said] = (),
    drop: Sequence[int] = (),
) -> list[MessageEdit]:
    """Changes of a conversation in their short forms: see :meth:`Making.request`.

    Raises:
        EditError: one cannot be.
    """
    return [
        *(_said("replace", number, said) for number, said in (replace or {}).items()),
        *(_make(MessageEdit, op="drop", number=number) for number in drop),
        *(_said("insert", None, said) for said in append),
    ]


def _said(op: str, number: int | None, said: Said) -> MessageEdit:
    fields: dict[str, Any] = {"op": op, "number": number}
    if isinstance(said, str):
        fields["text"] = said
    elif isinstance(said, tuple):
        fields["role"], fields["text"] = said
    else:
        fields["message"] = dict(said)
    made: MessageEdit = _make(MessageEdit, **fields)
    return made


def _make(model: Any, /, **fields: Any) -> Any:
    try:
        return model(**fields)
    except ValueError as error:
        details: list[dict[str, Any]] = getattr(error, "errors", list)()
        problems = [_problem(each) for each in details] or [str(error)]
        raise EditError("; ".join(problems), problems=problems) from error


def _problem(detail: dict[str, Any]) -> str:
    if detail.get("loc") == ("at",):
        return f"{detail['input']!r} is not a place: say turn(n) or entry('id')"
    return str(detail["msg"]).removeprefix("Value error, ")
