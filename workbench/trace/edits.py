"""Edits: what a person changed in a run, kept apart from what was recorded.

``trace.edit()`` starts a builder; each method gives a new one, so that an edit can be undone by
keeping the one before::

    edits = trace.edit().reply(turn(4), tool_call=("send_email", {"to": "ada@example.com"}))
    print(edits.preview())

Every edit is checked against the trace when it is made: that the place exists, that a tool
result still has its call, that ids stay unique.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from workbench.errors import EditError, PlaceError
from workbench.trace.faults import Fault, check_fault
from workbench.trace.places import Place
from workbench.trace.values import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from workbench.trace.trace import Entry, Trace


class CallEdit(BaseModel):
    """A tool call that the model is to have made instead."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """The tool."""
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    """Its arguments; a string is sent as it is, also when it is not JSON."""
    id: str | None = None
    """The call's id; by default the id that stood at its position, or a new one."""


class _Edit(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReplyEdit(_Edit):
    """The model said this instead."""

    type: Literal["reply"] = "reply"
    at: Place
    """The turn, or its model entry."""
    text: str | None = None
    """The new text; None keeps the recorded one."""
    tool_calls: tuple[CallEdit, ...] | None = None
    """The new tool calls; None keeps the recorded ones, empty drops them."""

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if self.text is None and self.tool_calls is None:
            raise ValueError("a reply edit changes the text, the tool calls, or both")
        return self


class ToolResultEdit(_Edit):
    """The tool returned this instead."""

    type: Literal["tool_result"] = "tool_result"
    at: Place
    """The turn that asked for the tool, or the tool's entry."""
    tool: str | None = None
    """Which tool of the turn; None means its only one."""
    nth: int = Field(default=1, ge=1)
    """The how-manyeth call of that tool in the turn."""
    result: Any = None
    """The new result, as a tagged value."""


class FaultEdit(_Edit):
    """A call fails."""

    type: Literal["fault"] = "fault"
    fault: Fault
    """Which fault, and where it hits."""


Edit = Annotated[ReplyEdit | ToolResultEdit | FaultEdit, Field(discriminator="type")]
"""Any edit."""

EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)
"""Validates plain data into an edit."""

EDIT_TYPES: dict[str, type[BaseModel]] = {
    "reply": ReplyEdit,
    "tool_result": ToolResultEdit,
    "fault": FaultEdit,
}
"""Each edit's model by its type."""


class Edits:
    """A list of edits on one trace, made step by step. Each method gives a new list."""

    def __init__(self, trace: Trace, edits: Iterable[Edit] = ()) -> None:
        self.trace = trace
        self._edits = tuple(edits)

    def __iter__(self) -> Iterator[Edit]:
        return iter(self._edits)

    def __len__(self) -> int:
        return len(self._edits)

    def __repr__(self) -> str:
        return f"<Edits of {self.trace.name or self.trace.id}: {len(self)}>\n{self.preview()}"

    def reply(
        self,
        at: Place,
        *,
        text: str | None = None,
        tool_call: tuple[str, dict[str, Any] | str] | CallEdit | None = None,
        tool_calls: Sequence[tuple[str, dict[str, Any] | str] | CallEdit] | None = None,
    ) -> Edits:
        """The model said this instead: a text, one tool call, or several (none: ``[]``).

        Raises:
            EditError: the place is no model turn, or a provider would refuse the reply.
        """
        if tool_call is not None:
            if tool_calls is not None:
                raise EditError("give either tool_call= or tool_calls=, not both")
            tool_calls = [tool_call]
        calls = None if tool_calls is None else tuple(_call(each) for each in tool_calls)
        return self.add(_make(ReplyEdit, at=at, text=text, tool_calls=calls))

    def tool_result(
        self, at: Place, result: Any, *, tool: str | None = None, nth: int = 1
    ) -> Edits:
        """The tool returned this instead. ``result`` is any value that a trace can hold.

        Raises:
            EditError: the turn made no such tool call, or an edited reply took it away.
            UnencodableError: the trace cannot represent the result.
        """
        return self.add(_make(ToolResultEdit, at=at, tool=tool, nth=nth, result=encode(result)))

    def fault(self, fault: Fault) -> Edits:
        """A call fails: ``fault(HttpError(429).at(turn(2)))``."""
        return self.add(_make(FaultEdit, fault=fault))

    def add(self, edit: Edit) -> Edits:
        """One more edit, in place of one of the same kind at the same place.

        Raises:
            EditError: it does not fit the trace or the other edits; ``problems`` says why.
        """
        target = self._target(edit)
        kept = [each for each in self._edits if self._target(each) != target]
        new = Edits(self.trace, [*kept, edit])
        problems = new.problems()
        if problems:
            raise EditError("this edit cannot be made: " + "; ".join(problems), problems=problems)
        return new

    def _target(self, edit: Edit) -> object:
        """What an edit changes: the same entry may be named by its turn or by its id."""
        try:
            if isinstance(edit, ReplyEdit):
                return _model_entry(self.trace, edit.at).id
            if isinstance(edit, ToolResultEdit):
                return _tool_entry(self.trace, edit).id
        except PlaceError as error:
            return str(error)
        return object()  # several faults may hit the same call

    def undo(self) -> Edits:
        """The list without its last edit."""
        return Edits(self.trace, self._edits[:-1])

    def problems(self) -> list[str]:
        """What is wrong with these edits, a sentence each; empty when nothing is."""
        out: list[str] = []
        for edit in self._edits:
            try:
                out += _check(self, edit)
            except PlaceError as error:
                out.append(str(error))
        return out

    def targets(self) -> dict[str, Edit]:
        """Reply and tool-result edits by the id of the entry that they change."""
        out: dict[str, Edit] = {}
        for edit in self._edits:
            if isinstance(edit, ReplyEdit):
                out[_model_entry(self.trace, edit.at).id] = edit
            elif isinstance(edit, ToolResultEdit):
                out[_tool_entry(self.trace, edit).id] = edit
        return out

    def faults(self) -> list[Fault]:
        """The injected faults, in order."""
        return [edit.fault for edit in self._edits if isinstance(edit, FaultEdit)]

    def preview(self) -> str:
        """The difference that the edits make, as text: what was, what is said instead."""
        from workbench.trace.preview import preview

        return preview(self)

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data, as a fork's header keeps it; :meth:`from_json` reads it."""
        return [edit.model_dump(mode="json", exclude_none=True) for edit in self._edits]

    @classmethod
    def from_json(cls, trace: Trace, data: Iterable[Any]) -> Edits:
        """Read what :meth:`to_json` wrote.

        Raises:
            pydantic.ValidationError: the data are no edits.
        """
        return cls(trace, [EDIT.validate_python(each) for each in data])


def as_edits(trace: Trace, edits: Edits | Iterable[Edit] | None, faults: Iterable[Fault]) -> Edits:
    """One checked list from what ``fork()`` and ``replay()`` take."""
    out = Edits(trace)
    for edit in edits or ():
        out = out.add(edit)
    for fault in faults:
        out = Edits(trace, [*out, FaultEdit(fault=check_fault(fault))])
    problems = out.problems()
    if problems:
        raise EditError("; ".join(problems), problems=problems)
    return out


def _call(value: tuple[str, dict[str, Any] | str] | CallEdit) -> CallEdit:
    if isinstance(value, CallEdit):
        return value
    name, arguments = value
    return CallEdit(name=name, arguments=arguments)


def _make(model: Any, **fields: Any) -> Any:
    try:
        return model(**fields)
    except ValueError as error:
        details: list[dict[str, Any]] = getattr(error, "errors", list)()
        problems = [str(each["msg"]) for each in details] or [str(error)]
        raise EditError("; ".join(problems), problems=problems) from error


def _model_entry(trace: Trace, at: Place) -> Entry:
    if at.kind == "turn":
        return trace.turn(int(at.value)).model
    if at.kind == "entry":
        entry = trace.entry(str(at.value))
        if entry.kind == "model":
            return entry
        raise PlaceError(f"{at} is a {entry.kind} entry; a reply edit wants a model's")
    raise PlaceError(f"{at}: a reply edit names a turn or an entry")


def _tool_entry(trace: Trace, edit: ToolResultEdit) -> Entry:
    if edit.at.kind == "entry":
        entry = trace.entry(str(edit.at.value))
        if entry.kind == "tool":
            return entry
        raise PlaceError(f"{edit.at} is a {entry.kind} entry; a tool result edit wants a tool's")
    if edit.at.kind != "turn":
        raise PlaceError(f"{edit.at}: a tool result edit names a turn or an entry")
    tools = [
        each
        for each in trace.turn(int(edit.at.value)).tools
        if edit.tool is None or each.name == edit.tool
    ]
    if not tools:
        called = f"called no tool '{edit.tool}'" if edit.tool else "called no tool"
        raise PlaceError(f"{edit.at} {called}, so it has no result to change")
    if edit.tool is None and len({each.name for each in tools}) > 1:
        names = ", ".join(sorted({str(each.name) for each in tools}))
        raise PlaceError(f"{edit.at} called several tools ({names}): say which with tool=")
    if edit.nth > len(tools):
        raise PlaceError(f"{edit.at} called '{tools[0].name}' {len(tools)} times, not {edit.nth}")
    return tools[edit.nth - 1]


def _check(edits: Edits, edit: Edit) -> list[str]:
    if isinstance(edit, ReplyEdit):
        _model_entry(edits.trace, edit.at)
        ids = [call.id for call in edit.tool_calls or () if call.id]
        double = sorted({each for each in ids if ids.count(each) > 1})
        return [f"{edit.at}: the tool call id '{each}' is used twice" for each in double]
    if isinstance(edit, ToolResultEdit):
        return _check_pair(edits, edit)
    place = edit.fault.aim.place
    if place is not None and place.kind == "turn":
        edits.trace.turn(int(place.value))
    elif place is not None and place.kind == "entry":
        edits.trace.entry(str(place.value))
    return []


def _check_pair(edits: Edits, edit: ToolResultEdit) -> list[str]:
    entry = _tool_entry(edits.trace, edit)
    turn = entry.turn
    for other in edits:
        if not isinstance(other, ReplyEdit) or other.tool_calls is None or turn is None:
            continue
        if _model_entry(edits.trace, other.at).id != turn.model.id:
            continue
        if not any(call.name == entry.name for call in other.tool_calls):
            return [
                (
                    f"{edit.at}: the edited reply no longer calls '{entry.name}', so its result "
                    "would answer no call, and a provider would refuse the conversation; "
                    "drop one of the two edits"
                )
            ]
    return []
