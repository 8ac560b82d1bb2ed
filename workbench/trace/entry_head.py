"""What the heads of an entry's lines say: its small fields, read without its bodies."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from workbench.trace.entries import ErrorInfo
from workbench.trace.scan import ENTRY_KINDS, MODEL, TOOL
from workbench.trace.times import parse_time

if TYPE_CHECKING:
    from workbench.trace.trace import Trace


class EntryHead:
    """An entry's small fields. What is not recorded is None."""

    __slots__ = ("_index", "trace")

    def __init__(self, trace: Trace, index: int) -> None:
        self.trace = trace
        self._index = index

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EntryHead):
            return NotImplemented
        return self.trace is other.trace and self._index == other._index

    def __hash__(self) -> int:
        return hash((id(self.trace), self._index))

    # -- the head of the line that begins it

    @property
    def _line(self) -> int:
        return self.trace.index.calls[self._index]

    @property
    def _head(self) -> dict[str, Any]:
        return self.trace.lines.head(self._line)

    @property
    def _result_line(self) -> int | None:
        line = self.trace.index.results[self._index]
        return None if line < 0 else line

    @property
    def _result_head(self) -> dict[str, Any]:
        line = self._result_line
        return {} if line is None else self.trace.lines.head(line)

    def _text(self, name: str) -> str | None:
        value = self._head.get(name)
        return value if isinstance(value, str) else None

    @property
    def seq(self) -> int:
        """Its position in the trace, from 1, in the order of starts."""
        return self._index + 1

    @property
    def line(self) -> int:
        """The number of the line that begins it, from 1."""
        return self._line + 1

    @property
    def id(self) -> str:
        """Its id, such as ``1-7``."""
        return self._text("id") or f"?{self.seq}"

    @property
    def kind(self) -> str:
        """``model``, ``tool``, ``input``, ``event``, ``clock`` or ``value``."""
        return ENTRY_KINDS[self.trace.index.kind(self._index)]

    @property
    def step(self) -> str:
        """The step's path; empty outside any step."""
        return self._text("step") or ""

    @property
    def at(self) -> datetime | None:
        """When it began, UTC."""
        return parse_time(self._head.get("at"))

    @property
    def at_s(self) -> float | None:
        """Seconds from the trace's start until it began."""
        at, start = self.at, self.trace.started_at
        return None if at is None or start is None else (at - start).total_seconds()

    @property
    def enclosing(self) -> str | None:
        """The id of the call inside which it happened."""
        return self._text("in")

    @property
    def asked_by(self) -> str | None:
        """For a tool: the id of the model entry that asked for it."""
        return self._text("asked_by")

    @property
    def origin(self) -> str | None:
        """In a fork or replay: the parent's entry that answered it."""
        return self._text("origin")

    @property
    def reason(self) -> str | None:
        """In a fork or replay: why it was served or run."""
        return self._text("reason")

    @property
    def held_s(self) -> float | None:
        """Seconds for which it waited to be allowed, before it began."""
        value = self._head.get("held_s")
        return float(value) if isinstance(value, int | float) else None

    @property
    def where(self) -> str | None:
        """The line of the agent's code that made it, ``file.py:41``."""
        return self._text("where")

    @property
    def api(self) -> str | None:
        """For a model: the payload's shape, such as ``openai.chat``."""
        return self._text("api")

    @property
    def name(self) -> str | None:
        """A tool's name, or that of a value."""
        return self._text("name")

    @property
    def model(self) -> str | None:
        """For a model: the model asked for."""
        return self._text("model")

    @property
    def stream(self) -> bool:
        """The reply of a model was asked for as a stream; a tool is a generator."""
        return self._head.get("stream") is True

    @property
    def effect(self) -> str | None:
        """For a tool: ``read`` or ``write``."""
        return self._text("effect")

    @property
    def key(self) -> str | None:
        """For a tool that writes: its idempotency key."""
        return self._text("key")

    @property
    def hash(self) -> str | None:
        """SHA-256 of the request as asked."""
        return self._text("hash")

    @property
    def repeat(self) -> bool:
        """Written by hand: it is served as often as it is asked for."""
        return self._head.get("repeat") is True

    @property
    def foreign_hash(self) -> str | None:
        """Written by hand: another system's hash of the request."""
        return self._text("foreign_hash")

    @property
    def hand_key(self) -> str | None:
        """Written by hand: the key under which it stands, when that is a hash and no step."""
        return self._text("hand_key")

    @property
    def handed_over(self) -> int:
        """The line with which its answer began to come: the first chunk's, else the result's."""
        chunks = self.trace.chunk_lines(self._index)
        if len(chunks):
            return int(chunks[0])
        result = self._result_line
        return self._line if result is None else result

    @property
    def hash_only(self) -> bool:
        """What it asked was not recorded, but for its hash: the trace has ``requests: "hash"``."""
        if self.trace.header.requests != "hash" or self.hash is None:
            return False
        if self.kind == "input":
            return "prompt" not in self._head
        return self._is_call and self.trace.lines.heavy(self._line)[0] is None

    @property
    def attempt(self) -> int:
        """Which try of the same call this is, from 1."""
        value = self._head.get("attempt")
        return value if isinstance(value, int) and not isinstance(value, bool) else 1

    @property
    def type(self) -> str | None:
        """An event's type."""
        return self._text("type")

    @property
    def site(self) -> str | None:
        """A value's call site, ``module:function``."""
        return self._text("site")

    @property
    def nth(self) -> int | None:
        """The how-manyeth reading at that site."""
        value = self._head.get("nth")
        return value if isinstance(value, int) else None

    # -- the head of its result

    @property
    def open(self) -> bool:
        """A call without a result: its process died, or it is not over."""
        return self.trace.index.results[self._index] < 0 and self._is_call

    @property
    def _is_call(self) -> bool:
        return self.trace.index.kind(self._index) in (MODEL, TOOL)

    def _outcome(self, name: str, *types: Any) -> Any:
        value = (self._result_head if self._is_call else self._head).get(name)
        return value if isinstance(value, types) and not isinstance(value, bool) else None

    @property
    def source(self) -> str | None:
        """Where the outcome came from, such as ``live`` or ``replayed``; None while it is open."""
        found: str | None = self._outcome("source", str)
        return found or (None if self.open else "live")

    @property
    def duration_s(self) -> float | None:
        """Seconds that the call took."""
        found: float | None = self._outcome("duration_s", int, float)
        return found

    @property
    def first_s(self) -> float | None:
        """Seconds until the first chunk."""
        found: float | None = self._outcome("first_s", int, float)
        return found

    @property
    def ended(self) -> str | None:
        """How a stream ended: ``complete``, ``cut``, ``stopped`` or ``cancelled``."""
        found: str | None = self._outcome("ended", str)
        return found

    @property
    def provider(self) -> str | None:
        """Who answered, such as ``openai``."""
        found: str | None = self._outcome("provider", str)
        return found

    @property
    def cost_usd(self) -> float | None:
        """What the call cost, in US dollars, where a recording written by hand says so."""
        found: float | None = self._outcome("cost_usd", int, float)
        return found

    @property
    def success(self) -> bool | None:
        """For a tool in a recording written by hand: whether it succeeded."""
        found = self._result_head.get("success")
        return found if isinstance(found, bool) else None

    @property
    def reply_model(self) -> str | None:
        """The model that answered."""
        found: str | None = self._outcome("model", str) if self.kind == "model" else None
        return found

    @property
    def fault(self) -> dict[str, Any] | None:
        """The injected fault."""
        found: dict[str, Any] | None = self._outcome("fault", dict)
        return found

    @property
    def error(self) -> ErrorInfo | None:
        """What was raised."""
        found = self._outcome("error", dict)
        return None if found is None else read_error(found)


def read_error(found: dict[str, Any]) -> ErrorInfo:
    """A recorded error; of a malformed one what can be read."""
    try:
        return ErrorInfo.model_validate(found)
    except ValidationError:
        kind, message = found.get("type", "Exception"), found.get("message", "")
        return ErrorInfo(type=str(kind), message=str(message))
