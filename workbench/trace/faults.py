"""Faults: failures injected on purpose, as a tagged union.

The same object stands in a trace, in Python, in the notebook's form and on the command line::

    HttpError(429, retry_after_s=2).at(turn(2))
    Timeout().at(tool="get_order", nth=1)

A fault is never a real error: a result that came from one says so. A fault that never fired is
reported, and fails a strict replay.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, model_validator

from workbench.trace.places import Place


class Aim(BaseModel):
    """Which calls a fault hits: those to which every given field applies.

    With nothing given it is every model call, until the fault's ``times`` is used up: by default
    the first one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    place: Place | None = None
    """A recorded turn's model call, every call of a step, or one recorded entry."""
    tool: str | None = None
    """Calls of that tool."""
    nth: int | None = Field(default=None, ge=1)
    """The how-manyeth call (from 1) among those that the other fields pick; a retry of a call
    is not counted anew."""
    attempt: int | None = Field(default=None, ge=1)
    """Only that try of a call, from 1."""

    def __str__(self) -> str:
        words = [str(self.place)] if self.place else []
        if self.tool:
            words.append(f"tool {self.tool}")
        if self.nth:
            words.append(f"call {self.nth}")
        if self.attempt:
            words.append(f"attempt {self.attempt}")
        return ", ".join(words) or "the first model call"


class BaseFault(BaseModel):
    """What all faults share."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    aim: Aim = Field(default_factory=Aim)
    """Which calls it hits."""
    times: int = Field(default=1, ge=1)
    """How many calls it hits before it is used up."""

    def at(
        self,
        place: Place | None = None,
        *,
        tool: str | None = None,
        nth: int | None = None,
        attempt: int | None = None,
        times: int | None = None,
    ) -> Self:
        """The same fault, aimed: at a place, a tool, the nth such call, one attempt of it."""
        if tool is not None and place is not None and place.kind == "turn":
            nth = nth or 1
        aim = Aim(place=place, tool=tool, nth=nth, attempt=attempt)
        return self.model_copy(update={"aim": aim, "times": times or self.times})

    @property
    def label(self) -> str:
        """A few words for a list, such as ``429`` or ``timeout``."""
        return str(getattr(self, "type", "fault")).replace("_", " ")


class HttpError(BaseFault):
    """The provider answers with an HTTP error, raised as the SDK's own exception for it.

    It is the call's final failure: the agent's own code gets it at once, as if the SDK had used up
    its retries. A retry by the agent itself is another attempt of the call.
    """

    type: Literal["http_error"] = "http_error"
    status_code: int = Field(ge=400, le=599)
    """The HTTP status, 400 to 599."""
    retry_after_s: float | None = Field(default=None, ge=0)
    """Seconds, sent as the ``retry-after`` header."""
    body: Any = None
    """The response's body; by default the provider's usual error object."""
    headers: dict[str, str] = Field(default_factory=dict)
    """Further response headers."""

    def __init__(self, status_code: int | None = None, /, **data: Any) -> None:
        if status_code is not None:
            data["status_code"] = status_code
        super().__init__(**data)

    @property
    def label(self) -> str:
        """Such as ``HTTP 429``."""
        return f"HTTP {self.status_code}"


class Timeout(BaseFault):
    """The call times out. No real waiting: the wait is only reported."""

    type: Literal["timeout"] = "timeout"
    after_ms: float | None = Field(default=None, ge=0)
    """Milliseconds after which it is said to have timed out."""


class ConnectionReset(BaseFault):
    """The connection drops before an answer comes."""

    type: Literal["connection_reset"] = "connection_reset"


class StreamTruncate(BaseFault):
    """A streamed reply breaks off. A reply that is not streamed fails at once."""

    type: Literal["stream_truncate"] = "stream_truncate"
    after_chunks: int = Field(default=1, ge=0)
    """How many chunks are delivered first."""
    end: Literal["reset", "stall", "clean"] = "reset"
    """How it breaks off: the connection drops, the reader times out, or it just ends."""

    def __init__(self, after_chunks: int | None = None, /, **data: Any) -> None:
        if after_chunks is not None:
            data["after_chunks"] = after_chunks
        super().__init__(**data)

    @property
    def label(self) -> str:
        """Such as ``stream cut after 3``."""
        return f"stream cut after {self.after_chunks}"


Fault = Annotated[
    HttpError | Timeout | ConnectionReset | StreamTruncate, Field(discriminator="type")
]
"""Any fault."""

FAULT: TypeAdapter[Fault] = TypeAdapter(Fault)
"""Validates plain data into a fault."""

FAULT_TYPES: dict[str, type[BaseFault]] = {
    "http_error": HttpError,
    "timeout": Timeout,
    "connection_reset": ConnectionReset,
    "stream_truncate": StreamTruncate,
}
"""Each fault's model by its type: what a form is made from."""


class _Checked(BaseModel):
    """Refuses an aim that can never be met."""

    fault: Fault

    @model_validator(mode="after")
    def _aim_can_hit(self) -> Self:
        if self.fault.aim.tool and self.fault.type == "stream_truncate":
            raise ValueError("a tool's result is not streamed: stream_truncate hits model calls")
        return self


def check_fault(fault: Fault) -> Fault:
    """The fault, once it is sure that it could hit something.

    Raises:
        pydantic.ValidationError: the aim can never be met.
    """
    return _Checked(fault=fault).fault
