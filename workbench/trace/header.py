"""The first line of a trace file, and what all lines share."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

FORMAT: Literal["workbench-trace"] = "workbench-trace"
VERSION = 1


class BaseLine(BaseModel):
    """What all lines share."""

    model_config = ConfigDict(extra="allow")

    heavy: ClassVar[str | None] = None
    """The name of the field that is written last because it can be large."""

    @classmethod
    def made(cls, fields: dict[str, Any]) -> Self:
        """A line of fields that are of the right types already: nothing is checked.

        A model is checked where it is read; what a session writes it made itself.
        """
        line = cls.__new__(cls)
        put = object.__setattr__
        put(line, "__dict__", {**_defaults(cls), **fields})
        put(line, "__pydantic_fields_set__", set(fields))
        put(line, "__pydantic_extra__", {})
        put(line, "__pydantic_private__", None)
        return line

    def as_dict(self) -> dict[str, Any]:
        """The line as a plain object: ``line`` first, then the set fields in written order.

        Values are the very objects that the model holds: nothing is copied.
        """
        fields = self.model_fields_set
        values = self.__dict__
        out: dict[str, Any] = {"line": values["line"]}
        for name, written in _small_fields(type(self)):
            if name in fields:
                value = values[name]
                out[written] = (
                    value.model_dump(exclude_unset=True) if isinstance(value, BaseModel) else value
                )
        if self.__pydantic_extra__:
            out.update(self.__pydantic_extra__)
        if self.heavy is not None and self.heavy in fields:
            out[self.heavy] = values[self.heavy]
        return out


@cache
def _defaults(model: type[BaseLine]) -> dict[str, Any]:
    return {
        name: field.default
        for name, field in model.model_fields.items()
        if not field.is_required() and field.default_factory is None
    }


@cache
def _small_fields(model: type[BaseLine]) -> tuple[tuple[str, str], ...]:
    """A model's fields but the heavy one, with the names that they have in a file, in order."""
    return tuple(
        (name, field.alias or name)
        for name, field in model.model_fields.items()
        if name not in ("line", model.heavy)
    )


class AgentInfo(BaseModel):
    """How the agent was started. Only words: nothing is imported because of them."""

    model_config = ConfigDict(extra="allow")

    kind: Literal["function", "script", "module", "code"]
    """``function`` (``module:name``), ``script`` (a path), ``module`` (``-m``), or ``code``
    (a ``with recording(…)`` block)."""
    target: str | None = None
    """``module:name``, the script's path as it was given, or the module's name."""
    argv: list[str] | None = None
    """A script's or module's arguments."""
    io: bool | None = None
    """Whether it reached the world through an :class:`workbench.AgentIO` that it was given."""


class HashInfo(BaseModel):
    """How requests were hashed."""

    model_config = ConfigDict(extra="allow")

    scheme: int = 1
    """The hash scheme; this version writes and reads 1."""
    ignore: dict[str, list[str]] = Field(default_factory=dict)
    """JSON pointers into the request that do not count, per api."""


class ParentInfo(BaseModel):
    """Where a fork comes from. The parent's file is never changed."""

    model_config = ConfigDict(extra="allow")

    id: str
    """The parent's trace id."""
    name: str | None = None
    """The parent's name."""
    path: str | None = None
    """Where the parent lay when the fork was made: a hint, not a promise."""
    digest: str | None = None
    """SHA-256 of the parent's file at that moment."""
    cut: str | None = None
    """The place from which calls ran live, such as ``turn:5``."""
    options: dict[str, Any] = Field(default_factory=dict)
    """The other choices of the fork, such as ``on_miss`` and ``tools_before``."""
    edits: list[dict[str, Any]] = Field(default_factory=list)
    """What a person changed, each as :mod:`workbench.trace.edits` has it."""


class TrimmedInfo(BaseModel):
    """What a trace was cut down from."""

    model_config = ConfigDict(extra="allow")

    id: str
    """The whole trace's id."""
    name: str | None = None
    """Its name."""
    path: str | None = None
    """Where it lay: a hint, not a promise."""
    digest: str | None = None
    """SHA-256 of its bytes."""
    first: str | None = None
    """The place from which entries were kept, such as ``turn:2``."""
    last: str | None = None
    """The place up to which entries were kept."""
    keep: list[str] | None = None
    """Further places that were kept."""
    left_out: int
    """How many entries were left out."""
    lost: list[str] | None = None
    """Ids of kept entries of which a part was damaged in the whole trace, and is missing here."""


class TraceLine(BaseLine):
    """The first line: what the whole file is."""

    line: Literal["trace"] = "trace"
    format: Literal["workbench-trace"] = FORMAT
    version: int = VERSION
    """The format's version; a reader refuses a newer one."""
    id: str
    """The trace's own id."""
    name: str | None = None
    """A name for people."""
    created_at: str | None = None
    """UTC, RFC 3339 with microseconds."""
    tags: list[str] = Field(default_factory=list)
    """Words to find it by."""
    agent: AgentInfo | None = None
    """How the agent was started."""
    runtime: dict[str, str] = Field(default_factory=dict)
    """Versions of Python, this package and the SDKs in use."""
    hash: HashInfo | None = None
    """How requests were hashed."""
    requests: Literal["full", "hash"] = "full"
    """``hash``: of what was asked only the hashes were written, no prompts and no arguments."""
    redact: list[str] = Field(default_factory=list)
    """The names of the redaction rules in force."""
    seed: str | None = None
    """Where ids and random numbers continue from, once the recording has no more."""
    salt: str | None = None
    """Salt of redaction placeholders."""
    parent: ParentInfo | None = None
    """Where a fork comes from."""
    trimmed: TrimmedInfo | None = None
    """For a part of a trace: what it was cut down from."""
    steps: dict[str, list[str]] | None = None
    """The step graph: for each step those that it depends on."""
    ambient: bool | list[str] | None = None
    """Whether the clocks, ids and random numbers that the agent's own modules read were recorded;
    names of modules where those were named."""
    hand: dict[str, Any] | None = None
    """Set when the trace was written by hand: ``version`` of the recording, and what it ``kept``
    beside its steps."""
    input: Any = None
    """The agent's arguments, ``{"args": […], "kwargs": {…}}``, as tagged values."""

    heavy = "input"
