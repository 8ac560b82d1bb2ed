"""What all faults share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from workbench.trace.entries import ErrorInfo
from workbench.trace.faults.aims import Aim, Kind, impossible
from workbench.trace.places import Place, parse_place

Phase: TypeAlias = Literal["before", "outcome", "after"]
"""When a fault strikes: instead of the call, on what came of it, or once it is over."""

Layer: TypeAlias = Literal["above", "below"]
"""Above an SDK's own retries, which then never run, or below, so that they meet the fault."""

MODEL: frozenset[Kind] = frozenset({"model"})
TOOL: frozenset[Kind] = frozenset({"tool"})
BOTH: frozenset[Kind] = frozenset({"model", "tool"})


class BaseFault(BaseModel):
    """What all faults share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kinds: ClassVar[frozenset[Kind]] = MODEL
    """The kinds of call that it can hit."""
    in_form: ClassVar[bool] = True
    """Whether the notebook offers it; what ends the whole run is for scripts."""
    reaches_below: ClassVar[bool] = False
    """Whether it can strike below an SDK's retries."""
    not_tools: ClassVar[str] = ""
    """Why it cannot hit a tool's call, for a message."""
    short: ClassVar[str | None] = None
    """The field that is given by position, and after the colon on a command line."""
    _phase: ClassVar[Phase] = "before"

    aim: Aim = Field(default_factory=Aim)
    """Which calls it hits."""
    times: int = Field(default=1, ge=1)
    """How many calls it hits before it is used up; below the SDK's retries, how many tries."""
    layer: Layer = "above"
    """Above the SDK's own retries the agent gets the failure at once; below, the SDK tries again
    by itself."""

    @model_validator(mode="after")
    def _aim_can_hit(self) -> Self:
        reason = impossible(self)
        if reason is not None:
            raise ValueError(reason)
        return self

    def at(
        self,
        place: Place | None = None,
        *,
        tool: str | None = None,
        event: str | None = None,
        nth: int | None = None,
        attempt: int | None = None,
        when: Callable[[Any], bool] | None = None,
        times: int | None = None,
        layer: Layer | None = None,
    ) -> Self:
        """The same fault, aimed anew; what is left out does not matter.

        Args:
            place: a turn's model call, every call of a step, or one recorded entry.
            tool: calls of that tool.
            event: events of that type.
            nth: the how-manyeth such call, from 1; a retry is not counted anew.
            attempt: only that try of a call, from 1.
            when: a function of a :class:`workbench.seam.faulting.SeenCall`; it says whether this
                call is meant. It is asked once for each call that fits the rest.
            times: how many calls it hits; as before when left out.
            layer: ``"below"`` the SDK's own retries, or ``"above"`` them; as before when left out.

        Raises:
            pydantic.ValidationError: no call could ever meet this aim.
            PlaceError: ``place`` is none, such as a bare number.
        """
        place = None if place is None else parse_place(place)
        if tool is not None and place is not None and place.kind == "turn":
            nth = nth or 1
        if event is None and tool is None:
            event = self.aim.event
        aim = Aim(place=place, tool=tool, event=event, nth=nth, attempt=attempt, when=when)
        given = {name: getattr(self, name) for name in type(self).model_fields}
        given |= {"aim": aim}
        given |= {} if times is None else {"times": times}
        given |= {} if layer is None else {"layer": layer}
        return type(self).model_validate(given)

    @property
    def phase(self) -> Phase:
        """``before`` the call, on its ``outcome``, or ``after`` it."""
        return self._phase

    @property
    def name(self) -> str:
        """Its type, such as ``http_error``."""
        return str(getattr(self, "type", "fault"))

    @property
    def label(self) -> str:
        """A few words for a list, such as ``429`` or ``timeout``."""
        return self.name.replace("_", " ")

    @property
    def words(self) -> str:
        """What the call does, after its subject: ``fails with HTTP 429``."""
        return f"has a {self.label}"

    def error(self) -> ErrorInfo | None:
        """What the call fails with, before an adapter gives it its SDK's own type; None when it
        does not fail, or when that depends on the answer."""
        return None
