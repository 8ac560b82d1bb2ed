"""What a fault is aimed at, and which aims can never be met."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    WithJsonSchema,
    field_validator,
)

from workbench.trace.places import Place

if TYPE_CHECKING:
    from workbench.trace.faults.base import BaseFault
    from workbench.trace.trace import Trace

Kind: TypeAlias = Literal["model", "tool", "input", "event"]
"""The kinds of call that a fault can hit."""

ANY: frozenset[Kind] = frozenset({"model", "tool", "input", "event"})
"""All of them."""


def _name_of(predicate: Any) -> str | None:
    """How a predicate stands in a trace: by its name."""
    if predicate is None or isinstance(predicate, str):
        return predicate
    name = getattr(predicate, "__qualname__", None) or type(predicate).__qualname__
    return str(name).rpartition("<locals>.")[2]


Predicate = Annotated[
    Callable[[Any], bool] | str | None,
    PlainSerializer(_name_of, return_type=str | None),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "null"}]}),
]
"""A function of the call, which a trace keeps the name of."""


class Aim(BaseModel):
    """Which calls a fault hits: those to which every given field applies.

    With nothing given it is every model call (every tool call, for a fault of tools) until the
    fault's ``times`` is used up: by default the first one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: Place | None = None
    """A recorded turn's model call (or its tool calls, with `tool` or a fault of tools), every
    call of a step, or one recorded entry."""
    tool: str | None = Field(default=None, min_length=1)
    """Calls of that tool."""
    event: str | None = Field(default=None, min_length=1)
    """Events of that type."""
    nth: int | None = Field(default=None, ge=1)
    """The how-manyeth call (from 1) among those that the other fields pick; a retry of a call
    is not counted anew."""
    attempt: int | None = Field(default=None, ge=1)
    """Only that try of a call, from 1."""
    when: Predicate = None
    """Calls of any kind for which this function is true. It gets a
    `workbench.seam.faulting.SeenCall`. A trace keeps only its name."""

    @field_validator("when")
    @classmethod
    def _answers_at_once(cls, when: Any) -> Any:
        if inspect.iscoroutinefunction(when):
            raise ValueError(
                f"{_name_of(when)} is async, and a call cannot wait for its answer: give a plain "
                "function"
            )
        return when

    @property
    def predicate(self) -> Callable[[Any], bool] | None:
        """The function in `when`; None without one, and where only its name is known."""
        return self.when if callable(self.when) else None

    @property
    def predicate_name(self) -> str | None:
        """The name of the function in `when`."""
        return _name_of(self.when)

    def __str__(self) -> str:
        words = [str(self.place)] if self.place else []
        if self.tool:
            words.append(f"tool {self.tool}")
        if self.event:
            words.append(f"event {self.event}")
        if self.nth:
            words.append(f"call {self.nth}")
        if self.attempt:
            words.append(f"attempt {self.attempt}")
        if self.when is not None:
            words.append(f"when {self.predicate_name}")
        return ", ".join(words) or "any call"


def aimed_kinds(fault: BaseFault) -> frozenset[Kind]:
    """The kinds of call that a fault could hit, by what it is and where it is aimed."""
    aim = fault.aim
    if aim.tool is not None:
        return fault.kinds & {"tool"}
    if aim.event is not None:
        return fault.kinds & {"event"}
    if aim.when is not None or (aim.place is not None and aim.place.kind == "entry"):
        return fault.kinds
    return fault.kinds & {"model"} or fault.kinds


def impossible(fault: BaseFault) -> str | None:
    """Why a fault's aim can never be met; None when it can."""
    aim, name = fault.aim, fault.name
    only = _listed(fault.kinds)
    if aim.tool is not None and aim.event is not None:
        return f"{name} is aimed at a tool and at an event, which no call is at once"
    if aim.tool is not None and "tool" not in fault.kinds:
        why = fault.not_tools or "a tool has nothing of the kind"
        return f"{why}: {name} hits {only} calls, so aim it without tool="
    if aim.event is not None and "event" not in fault.kinds:
        return f"an event only is written down: {name} hits {only} calls, so aim it without event="
    if fault.layer == "below":
        return _not_below(fault)
    return None


def only_named(fault: BaseFault) -> str | None:
    """Why a fault that was read from a trace cannot be used as it is; None when it can."""
    aim = fault.aim
    if aim.when is None or aim.predicate is not None:
        return None
    return (
        f"the predicate {aim.predicate_name} of the fault {fault.label} is a function, of which a "
        "trace keeps the name only: aim the fault again with .at(when=...)"
    )


def _not_below(fault: BaseFault) -> str | None:
    name = fault.name
    if not fault.reaches_below:
        return (
            f"{name} is nothing that an SDK retries, so layer='below' would change nothing: leave "
            "it out. Below the retries are http_error, timeout, connection_reset and "
            "connection_refused"
        )
    if fault.aim.tool is not None:
        return f"{name} below an SDK's retries hits model calls: a tool has no SDK that retries"
    return None


def check_entry(fault: BaseFault, trace: Trace) -> str | None:
    """Why a fault cannot hit the recorded entry that it is aimed at; None when it can.

    Raises:
        PlaceError: the trace has no such entry.
    """
    place = fault.aim.place
    if place is None or place.kind != "entry":
        return None
    entry = trace.entry(str(place.value))
    kinds = aimed_kinds(fault) - (ANY - {"model"} if fault.layer == "below" else frozenset())
    if entry.kind in kinds:
        return None
    return f"{place} is a {entry.kind} entry, and {fault.name} hits {_listed(kinds)} calls"


def _listed(kinds: frozenset[Kind]) -> str:
    order = ("model", "tool", "input", "event")
    return " and ".join(kind for kind in order if kind in kinds)
