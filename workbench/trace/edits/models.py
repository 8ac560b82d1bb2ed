"""The edits themselves: one model for each kind, as a tagged union.

The same objects stand in Python, in a fork's header, in the notebook's forms and on the command
line. Values of the agent's own types (a result, an event's data) are held encoded
(:mod:`workbench.trace.values`); a provider's JSON is held as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, TypeAdapter, model_validator

from workbench.trace.edits.parts import CallEdit, MessageEdit, New, Part
from workbench.trace.faults import Fault
from workbench.trace.payloads import JSON, view
from workbench.trace.places import Place


class ReplyEdit(Part):
    """The model said this instead."""

    type: Literal["reply"] = "reply"
    at: Place
    """The turn, or its model entry."""
    text: str | None = None
    """The new text; None keeps the recorded one."""
    tool_calls: tuple[CallEdit, ...] | None = None
    """The new tool calls; None keeps the recorded ones, empty drops them."""
    refusal: str | None = None
    """The model refuses with these words; text and calls that are not given go."""
    finish_reason: str | None = None
    """Why the reply is said to have ended, such as ``length``; None lets it follow from the
    rest."""

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if all(getattr(self, name) is None for name in _SAID):
            raise ValueError("a reply edit changes the text, the tool calls, or both")
        return self

    @property
    def label(self) -> str:
        """A few words for a list."""
        return _at(self.at)

    def rewrite(self, api: str, body: JSON) -> JSON:
        """The recorded response body in which the model said this instead; a new one.

        Raises:
            EditError: a call cannot be written.
            UnknownApiError: there is no view of that api.
        """
        calls = self.tool_calls
        return view(api).with_reply(
            body,
            text=self.text,
            tool_calls=None if calls is None else [each.written() for each in calls],
            refusal=self.refusal,
            finish_reason=self.finish_reason,
        )


_SAID = ("text", "tool_calls", "refusal", "finish_reason")


class RequestEdit(Part):
    """The model was asked this instead; it answers live.

    The agent goes on asking as before: with ``scope="onwards"`` the later model calls of the same
    step are rewritten in the same way (:class:`workbench.trace.edits.requests.Requests`).
    """

    type: Literal["request"] = "request"
    at: Place
    """The turn, or its model entry."""
    scope: Literal["onwards", "once"] = "onwards"
    """Whether the later model calls of the step are rewritten too."""
    system: str | None = None
    """Another text of the system prompt; None keeps it."""
    messages: tuple[MessageEdit, ...] = ()
    """Changes of the conversation, which all name messages as they were recorded."""
    model: str | None = None
    """Another model; None keeps it."""
    set: dict[str, Any] = Field(default_factory=dict)
    """Other fields of the request by name, such as ``temperature``. None is sent as null."""
    unset: tuple[str, ...] = ()
    """Fields that are not sent at all."""

    @model_validator(mode="after")
    def _changes_something(self) -> Self:
        if (
            self.system is None
            and self.model is None
            and not (self.messages or self.set or self.unset)
        ):
            raise ValueError(
                "a request edit changes the system prompt, messages, the model or parameters"
            )
        if both := sorted(self.set.keys() & set(self.unset)):
            raise ValueError(f"'{both[0]}' is both set and unset")
        return self

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"the request of {_at(self.at)}"

    def rewrite(self, api: str, request: Any, *, clean: Callable[[Any], Any] | None = None) -> Any:
        """A model call's request, ``{path, …, body}``, as it is to be sent.

        A new one that shares with the old all that is not changed; the old one itself where
        nothing is. A change of a message that is not there in this request is left out: see
        :meth:`unfit`.

        Args:
            api: the request's shape.
            request: what the agent asks.
            clean: the trace's redaction, by which a message is known again that was recorded
                without its secrets.

        Raises:
            EditError: the request cannot be changed so.
            UnknownApiError: there is no view of that api.
        """
        from workbench.trace.edits.requests import rewrite

        return rewrite(self, api, request, clean)

    def unfit(
        self, api: str, request: Any, *, clean: Callable[[Any], Any] | None = None
    ) -> list[str]:
        """Which changes of messages do not apply to a request, a sentence each.

        A change follows the message that it was made for: where another one stands in its place
        (another conversation in the same step, a shortened one), it is left out.
        """
        from workbench.trace.edits.requests import unfit

        return unfit(self, api, request, clean)


class ToolResultEdit(Part):
    """The tool returned this instead."""

    encoded: ClassVar[frozenset[str]] = frozenset({"result"})

    type: Literal["tool_result"] = "tool_result"
    at: Place
    """The turn that asked for the tool, or the tool's entry."""
    tool: str | None = None
    """Which tool of the turn; None means its only one."""
    nth: int = Field(default=1, ge=1)
    """The how-manyeth call of that tool in the turn."""
    result: Any = None
    """The new result, as a tagged value."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"the result of {self.tool or 'the tool'} at {_at(self.at)}"


class ToolArgumentsEdit(Part):
    """The tool was called with this instead. What the model said stays as it was."""

    encoded: ClassVar[frozenset[str]] = frozenset({"arguments"})

    type: Literal["tool_arguments"] = "tool_arguments"
    at: Place
    """The turn that asked for the tool, or the tool's entry."""
    tool: str | None = None
    """Which tool of the turn; None means its only one."""
    nth: int = Field(default=1, ge=1)
    """The how-manyeth call of that tool in the turn."""
    arguments: Any
    """The new arguments by name, all of them, as tagged values."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"the arguments of {self.tool or 'the tool'} at {_at(self.at)}"

    def rewrite(self, request: Any) -> Any:
        """A tool call's request, ``{name, arguments}``, as it is to run; a new one."""
        return {**request, "arguments": self.arguments}


class FaultEdit(Part):
    """A call fails."""

    encoded: ClassVar[frozenset[str]] = frozenset({"fault"})

    type: Literal["fault"] = "fault"
    fault: Fault
    """Which fault, and where it hits."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"{self.fault.label} at {self.fault.aim}"


class EventEdit(Part):
    """The agent is expected to write this instead: what a replay compares its event with."""

    encoded: ClassVar[frozenset[str]] = frozenset({"data"})

    type: Literal["event"] = "event"
    at: Place
    """The event's entry."""
    data: Any
    """What the event is to carry, as a tagged value."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"the event {self.at.value}"


class ValueEdit(Part):
    """The clock, an id, a random number or a human gave this instead."""

    encoded: ClassVar[frozenset[str]] = frozenset({"value"})

    type: Literal["value"] = "value"
    at: Place
    """The entry of the reading, or of the question to a human."""
    value: Any
    """The new reading or answer, as a tagged value."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"the value {self.at.value}"


class InsertEdit(Part):
    """Something more happened. For traces written by hand."""

    type: Literal["insert"] = "insert"
    at: Place
    """The turn or entry beside which it is put."""
    where: Literal["before", "after"] = "after"
    """On which side of it."""
    what: New
    """A turn, a tool's entry or an event."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"{self.what.label} put {self.where} {_at(self.at)}"


class DropEdit(Part):
    """Something did not happen. For traces written by hand."""

    type: Literal["drop"] = "drop"
    at: Place
    """The turn, with its tools, or one entry."""
    pair: bool = False
    """For a tool's entry: the call in the reply that asked for it goes too."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"{_at(self.at)} dropped" + (" with its call" if self.pair else "")


Edit = Annotated[
    ReplyEdit
    | ToolResultEdit
    | FaultEdit
    | RequestEdit
    | ToolArgumentsEdit
    | EventEdit
    | ValueEdit
    | InsertEdit
    | DropEdit,
    Field(discriminator="type"),
]
"""Any edit."""

EDIT: TypeAdapter[Edit] = TypeAdapter(Edit)
"""Validates plain data into an edit."""

EDIT_TYPES: dict[str, type[Part]] = {
    "reply": ReplyEdit,
    "request": RequestEdit,
    "tool_result": ToolResultEdit,
    "tool_arguments": ToolArgumentsEdit,
    "fault": FaultEdit,
    "event": EventEdit,
    "value": ValueEdit,
    "insert": InsertEdit,
    "drop": DropEdit,
}
"""Each edit's model by its type."""


def _at(place: Place) -> str:
    return f"{place.kind} {place.value}"
