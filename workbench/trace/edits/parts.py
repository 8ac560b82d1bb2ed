"""What edits are made of: calls, messages, new entries; and how they stand in a file."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workbench.trace.values import decode, encode


class Part(BaseModel):
    """An edit, or a part of one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    encoded: ClassVar[frozenset[str]] = frozenset()
    """The fields that hold what a trace can hold already."""

    def as_json(self) -> dict[str, Any]:
        """Plain data that a trace can hold; :func:`from_stored` gives the edit back.

        Raises:
            UnencodableError: it holds what a trace cannot represent.
        """
        return as_stored(self)


def as_stored(model: BaseModel) -> dict[str, Any]:
    """A model's fields as encoded values: the tag, and those that differ from their default."""
    encoded: frozenset[str] = getattr(model, "encoded", frozenset())
    out: dict[str, Any] = {}
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        tag = name in ("type", "kind")
        if not (tag or field.is_required() or name in encoded):
            default = field.get_default(call_default_factory=True)
            if type(value) is type(default) and value == default:
                continue
        if name not in encoded:
            out[name] = _stored(value)
        elif isinstance(value, BaseModel):
            out[name] = value.model_dump(mode="json", exclude_none=True)
        else:
            out[name] = value
    return out


def _stored(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return as_stored(value)
    if isinstance(value, tuple):
        return [_stored(each) for each in value]
    return encode(value)


def from_stored(data: Any, model: type[BaseModel] | None) -> Any:
    """What :func:`as_stored` wrote as plain data, ready to be validated into the model."""
    encoded: frozenset[str] = getattr(model, "encoded", frozenset())
    if not isinstance(data, dict):
        return data
    return {key: each if key in encoded else _plain(key, each) for key, each in data.items()}


def _plain(name: str, value: Any) -> Any:
    if name == "what" and isinstance(value, dict):
        return from_stored(value, NEW_TYPES.get(str(value.get("kind"))))
    return decode(value)


class CallEdit(Part):
    """A tool call that the model is to have made instead."""

    name: str
    """The tool."""
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    """Its arguments; a string is sent as it is, also when it is not JSON."""
    id: str | None = None
    """The call's id; by default the id that stood at its position, or a new one."""

    def written(self) -> dict[str, Any]:
        """The call as a payload view takes it."""
        return {"name": self.name, "arguments": self.arguments, "id": self.id}


class MessageEdit(Part):
    """One change of a conversation: see :meth:`Edits.request` for the short forms."""

    op: Literal["replace", "insert", "drop"]
    """What is done with the message."""
    number: int | None = None
    """Which message, from 1, negative from the end (-1 is the last one); for ``insert`` the number
    that the new one gets, None for after the last one. Numbers are those of the recorded request,
    before any change."""
    role: str | None = None
    """The new role; None keeps the old one, and for a new message means ``user``."""
    text: str | None = None
    """The new text; None keeps the old one."""
    message: dict[str, Any] | None = None
    """A whole message in the provider's own shape, instead of a role and a text."""
    was: str | None = None
    """The digest of the message that it was made for: of the changed one; for ``insert`` of the
    one before. Filled in by :meth:`Edits.add`."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        given = self.role is not None or self.text is not None
        if self.number == 0:
            raise ValueError("messages count from 1, and from -1 backwards; there is no message 0")
        if self.op != "insert" and self.number is None:
            raise ValueError(f"say which message to {self.op}, by its number")
        if self.op == "drop" and (given or self.message is not None):
            raise ValueError("a dropped message has no role, text or message")
        if self.op != "drop" and given == (self.message is not None):
            raise ValueError("give either a role and text, or a whole message")
        if self.op == "insert" and self.message is None and self.text is None:
            raise ValueError("a new message has a text")
        return self


class NewTurn(Part):
    """A turn to put in: what the model says, and what its tool calls give."""

    encoded: ClassVar[frozenset[str]] = frozenset({"results"})

    kind: Literal["turn"] = "turn"
    text: str = ""
    """What the model says."""
    tool_calls: tuple[CallEdit, ...] = ()
    """The tools that it calls."""
    results: list[Any] | None = None
    """What these return, one each, as tagged values; None where no entry is made for them."""

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not self.text and not self.tool_calls:
            raise ValueError("a new turn says something, or calls a tool")
        if self.results is not None and len(self.results) != len(self.tool_calls):
            raise ValueError(
                f"{len(self.results)} results for {len(self.tool_calls)} tool calls: give one for "
                "each, or none at all"
            )
        return self

    @property
    def label(self) -> str:
        """A few words for a list."""
        return "a turn"


class NewTool(Part):
    """A tool's entry to put in, for a call that the turn's reply makes."""

    encoded: ClassVar[frozenset[str]] = frozenset({"arguments", "result"})

    kind: Literal["tool"] = "tool"
    name: str = Field(min_length=1)
    """The tool."""
    arguments: Any = Field(default_factory=dict)
    """Its arguments by name, as tagged values."""
    result: Any = None
    """What it returns, as a tagged value."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"a call of {self.name}"


class NewEvent(Part):
    """An event to put in."""

    encoded: ClassVar[frozenset[str]] = frozenset({"data"})

    kind: Literal["event"] = "event"
    event: str = Field(min_length=1)
    """The event's type."""
    data: Any = None
    """What it carries, as a tagged value."""

    @property
    def label(self) -> str:
        """A few words for a list."""
        return f"an event {self.event}"


New = Annotated[NewTurn | NewTool | NewEvent, Field(discriminator="kind")]
"""What can be put in."""

NEW_TYPES: dict[str, type[Part]] = {"turn": NewTurn, "tool": NewTool, "event": NewEvent}
"""Each new thing's model by its kind."""
