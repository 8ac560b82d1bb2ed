"""The lines of a trace file, one model for each kind, and their union.

A line is a JSON object whose key ``line`` says what it is. Small fields come first and the one
heavy field last (:attr:`BaseLine.heavy`), so that a reader can look at a line's head without
parsing its body. A field that was not set is not written: absent means *not recorded*, which is
neither null nor zero. Fields that this version does not know are kept.

``docs/trace-format.md`` shows each of them with an example.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from workbench.trace.header import (
    FORMAT,
    VERSION,
    AgentInfo,
    BaseLine,
    HashInfo,
    ParentInfo,
    TraceLine,
)

__all__ = [
    "FORMAT",
    "LINE",
    "VERSION",
    "AgentInfo",
    "BaseLine",
    "BlobLine",
    "CallLine",
    "ChunkLine",
    "Effect",
    "EndLine",
    "Ended",
    "ErrorInfo",
    "EventLine",
    "HashInfo",
    "InputLine",
    "Kind",
    "Line",
    "ParentInfo",
    "ResultLine",
    "Source",
    "Status",
    "TraceLine",
    "ValueLine",
    "WriterLine",
]

Kind = Literal["model", "tool", "input", "event", "clock", "value"]
Source = Literal["live", "replayed", "edited", "fault", "simulated", "hand"]
Ended = Literal["complete", "cut", "stopped", "cancelled"]
Status = Literal["ok", "failed", "drifted", "blocked", "cancelled"]
Effect = Literal["read", "write"]


class WriterLine(BaseLine):
    """A process joins; its id is the first part of the ids of its entries."""

    line: Literal["writer"] = "writer"
    id: str
    """The writer's id, unique in the file."""
    pid: int | None = None
    """Its process id."""
    started_at: str | None = None
    """When it joined, UTC."""


class CallLine(BaseLine):
    """A call begins. A call without a result was open when its process died."""

    line: Literal["call"] = "call"
    id: str
    """``writer-n``, unique in the file."""
    kind: Literal["model", "tool"]
    """What is called."""
    at: str | None = None
    """When it began, UTC."""
    step: str = ""
    """The step's path; empty outside any step."""
    attempt: int = 1
    """Which try of the same call this is."""
    enclosing: str | None = Field(default=None, alias="in")
    """The call inside which this one was made (a model call inside a tool)."""
    asked_by: str | None = None
    """For a tool: the model call whose reply asked for it, when known."""
    api: str | None = None
    """For a model: the payload's shape, such as ``openai.chat``."""
    name: str | None = None
    """For a tool: its name."""
    model: str | None = None
    """For a model: the model asked for."""
    stream: bool | None = None
    """The reply of a model was asked for as a stream; a tool is a generator."""
    effect: Effect | None = None
    """For a tool: whether it changes the world."""
    key: str | None = None
    """For a tool that writes: its idempotency key."""
    hash: str | None = None
    """SHA-256 of the request as asked (hash scheme 1)."""
    where: str | None = None
    """The line of the agent's code that made the call, ``file.py:41``."""
    origin: str | None = None
    """In a fork or replay: the parent's entry that answered it."""
    held_s: float | None = None
    """Seconds for which it waited to be allowed, before it began."""
    reason: str | None = None
    """In a fork or replay: why it was served or run (``hit``, ``miss``, ``forced``, …)."""
    repeat: bool | None = None
    """Written by hand: it is served as often as it is asked for, and not only once."""
    foreign_hash: str | None = None
    """Written by hand: another system's hash of the request, as the recording has it."""
    hand_key: str | None = None
    """Written by hand: the key under which it stands, when that is a hash and no step."""
    base: tuple[str, int] | None = None
    """``[call id, n]``: the conversation begins with the first n items of that call's."""
    sent: Any = None
    """What was sent, when an edit changed it."""
    request: Any = None
    """What was asked. Model: ``{path, query, headers, body}``. Tool: ``{name, arguments}``."""

    heavy = "request"
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class ChunkLine(BaseLine):
    """One piece of a streamed reply, or a value that a tool yielded, written before it is
    delivered."""

    line: Literal["chunk"] = "chunk"
    of: str
    """The call's id."""
    offset_s: float | None = None
    """Seconds since the call began."""
    data: Any = None
    """The piece as the SDK parsed it; a value that a tool yielded, as a tagged value."""

    heavy = "data"


class ErrorInfo(BaseModel):
    """An exception, kept well enough to be raised again."""

    model_config = ConfigDict(extra="allow")

    type: str
    """The class's name, such as ``RateLimitError``."""
    module: str | None = None
    """The module that defines it."""
    message: str = ""
    """Its text."""
    args: list[Any] | None = None
    """Its arguments, as tagged values, where they can be represented."""
    attributes: dict[str, Any] | None = None
    """Its further attributes, as tagged values, where they can be represented."""
    status: int | None = None
    """An HTTP error's status code."""
    headers: dict[str, str] | None = None
    """The headers that matter of an HTTP error's response."""
    body: Any = None
    """The body of an HTTP error's response."""
    cause: str | None = None
    """For a lost connection: the class of the transport's own error."""
    notes: list[str] | None = None
    """The notes that were added to it."""
    members: list[ErrorInfo] | None = None
    """Of an exception group: the exceptions in it."""


class ResultLine(BaseLine):
    """A call ended: with a response, an error, or both (a stream that broke)."""

    line: Literal["result"] = "result"
    of: str
    """The call's id."""
    at: str | None = None
    """When it ended, UTC."""
    source: Source = "live"
    """Where the outcome came from."""
    duration_s: float | None = None
    """Seconds, from a monotonic clock."""
    first_s: float | None = None
    """Seconds until the first chunk."""
    ended: Ended | None = None
    """How a stream ended: to its end, cut by the server, stopped by its reader, cancelled."""
    provider: str | None = None
    """Who answered, such as ``openai``."""
    model: str | None = None
    """The model that answered."""
    usage: dict[str, int | None] | None = None
    """Tokens: ``input_tokens``, ``output_tokens``, ``cache_read_tokens``,
    ``cache_write_tokens``, ``reasoning_tokens``."""
    cost_usd: float | None = None
    """Written by hand: what the call cost, in US dollars."""
    success: bool | None = None
    """Written by hand, for a tool: whether it succeeded, where its result only tells of it."""
    fault: dict[str, Any] | None = None
    """The injected fault, as :mod:`workbench.trace.faults` has it."""
    error: ErrorInfo | None = None
    """What was raised."""
    response: Any = None
    """Model: ``{status, headers, body}``. Tool: what it returned, as a tagged value; of a
    generator what it returned at its end."""

    heavy = "response"


class EventLine(BaseLine):
    """Something that the agent wrote down."""

    line: Literal["event"] = "event"
    id: str
    """``writer-n``, unique in the file."""
    at: str | None = None
    """When, UTC."""
    step: str = ""
    """The step's path."""
    enclosing: str | None = Field(default=None, alias="in")
    """The call inside which it was written."""
    type: str
    """What kind of event."""
    hash: str | None = None
    """SHA-256 of its type and what it carries."""
    where: str | None = None
    """The line of the agent's code that wrote it."""
    origin: str | None = None
    """In a fork or replay: the parent's entry."""
    reason: str | None = None
    """In a fork or replay: why it is there, as of a call."""
    source: Source = "live"
    """Where it came from."""
    data: Any = None
    """What it carries, as a tagged value."""

    heavy = "data"
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class ValueLine(BaseLine):
    """A reading of the clock, an id or a random number."""

    line: Literal["value", "clock"]
    id: str
    """``writer-n``, unique in the file."""
    at: str | None = None
    """When, UTC."""
    step: str = ""
    """The step's path."""
    enclosing: str | None = Field(default=None, alias="in")
    """The tool call inside which it was read."""
    name: str
    """What was read: ``now``, ``id``, ``random``, …"""
    site: str | None = None
    """The call site, ``module:function``."""
    nth: int | None = None
    """The how-manyeth reading at that site, from 1."""
    source: Source = "live"
    """Where the value came from."""
    value: Any = None
    """The reading, as a tagged value."""

    heavy = "value"
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class InputLine(BaseLine):
    """A human was asked and answered."""

    line: Literal["input"] = "input"
    id: str
    """``writer-n``, unique in the file."""
    at: str | None = None
    """When, UTC."""
    step: str = ""
    """The step's path."""
    enclosing: str | None = Field(default=None, alias="in")
    """The call inside which it was asked."""
    hash: str | None = None
    """SHA-256 of the question."""
    where: str | None = None
    """The line of the agent's code that asked."""
    origin: str | None = None
    """In a fork or replay: the parent's entry."""
    reason: str | None = None
    """In a fork or replay: why it was served or asked again, as of a call."""
    source: Source = "live"
    """Where the answer came from."""
    duration_s: float | None = None
    """Seconds until the answer came."""
    error: ErrorInfo | None = None
    """What was raised instead of an answer."""
    fault: dict[str, Any] | None = None
    """The injected fault."""
    prompt: Any = None
    """What was asked, as a tagged value."""
    choices: list[Any] | None = None
    """The answers to choose from."""
    value: Any = None
    """What was answered, as a tagged value."""

    heavy = "value"
    model_config = ConfigDict(extra="allow", populate_by_name=True)


class BlobLine(BaseLine):
    """A large or repeated value, named by its content and written once."""

    line: Literal["blob"] = "blob"
    sha256: str
    """SHA-256 of the value's JSON as written."""
    value: Any = None
    """The value."""

    heavy = "value"


class EndLine(BaseLine):
    """The run ended. A file without it is a run that was cut short."""

    line: Literal["end"] = "end"
    at: str | None = None
    """When, UTC."""
    status: Status
    """How the run ended."""
    duration_s: float | None = None
    """Seconds, from a monotonic clock."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Entries of each kind."""
    notes: list[str] | None = None
    """What happened beside the agent, and is not in the trace or may not belong there, a sentence
    each: other processes, calls of threads that the run did not begin."""
    error: ErrorInfo | None = None
    """What the agent raised."""
    output: Any = None
    """What the agent returned, as a tagged value; absent where it cannot be represented."""

    heavy = "output"


Line = Annotated[
    TraceLine
    | WriterLine
    | CallLine
    | ChunkLine
    | ResultLine
    | EventLine
    | ValueLine
    | InputLine
    | BlobLine
    | EndLine,
    Field(discriminator="line"),
]
"""Any line of a trace file."""

LINE: TypeAdapter[Line] = TypeAdapter(Line)
"""Validates a parsed line into its model."""
