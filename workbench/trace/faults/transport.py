"""Faults of the connection and of the server behind it."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from workbench.trace.entries import ErrorInfo
from workbench.trace.faults.aims import Kind
from workbench.trace.faults.base import BOTH, BaseFault, Phase

_WAITING: frozenset[Kind] = frozenset({"model", "tool", "input"})


class HttpError(BaseFault):
    """The provider answers with an HTTP error, raised as the SDK's own exception for it.

    Above the SDK's retries it is the call's final failure: the agent's own code gets it at once,
    as if the SDK had used up its retries. A retry by the agent itself is another attempt of the
    call.
    """

    kinds: ClassVar[frozenset[Kind]] = BOTH
    reaches_below: ClassVar[bool] = True
    short: ClassVar[str | None] = "status_code"

    type: Literal["http_error"] = "http_error"
    status_code: int = Field(ge=400, le=599)
    """The HTTP status, 400 to 599."""
    retry_after_s: float | None = Field(default=None, ge=0)
    """Seconds, sent as the `retry-after` header."""
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

    @property
    def words(self) -> str:
        """Such as ``fails with HTTP 429, retry after 2 s``."""
        wait = f", retry after {self.retry_after_s:g} s" if self.retry_after_s is not None else ""
        return f"fails with HTTP {self.status_code}{wait}"

    def error(self) -> ErrorInfo:
        """The status, with headers and body."""
        headers = dict(self.headers)
        if self.retry_after_s is not None and "retry-after" not in map(str.lower, headers):
            headers["retry-after"] = f"{self.retry_after_s:g}"
        return ErrorInfo(
            type="http_error",
            message=f"injected HTTP {self.status_code}",
            status=self.status_code,
            headers=headers,
            body=self.body,
        )


class Timeout(BaseFault):
    """The call times out. No real waiting: the wait is only reported."""

    kinds: ClassVar[frozenset[Kind]] = _WAITING
    reaches_below: ClassVar[bool] = True
    short: ClassVar[str | None] = "after_ms"

    type: Literal["timeout"] = "timeout"
    after_ms: float | None = Field(default=None, ge=0)
    """Milliseconds after which it is said to have timed out."""

    @property
    def words(self) -> str:
        """Such as ``times out after 500 ms``."""
        return f"times out{self._after}"

    def error(self) -> ErrorInfo:
        """A time-out while waiting for the answer."""
        message = f"injected time-out{self._after}"
        return ErrorInfo(type="timeout", message=message, cause="ReadTimeout")

    @property
    def _after(self) -> str:
        return f" after {self.after_ms:g} ms" if self.after_ms is not None else ""


class ConnectionReset(BaseFault):
    """The connection drops before an answer comes."""

    kinds: ClassVar[frozenset[Kind]] = BOTH
    reaches_below: ClassVar[bool] = True

    type: Literal["connection_reset"] = "connection_reset"

    @property
    def words(self) -> str:
        """``loses its connection``."""
        return "loses its connection"

    def error(self) -> ErrorInfo:
        """A connection that was lost while reading."""
        message = "injected connection reset"
        return ErrorInfo(type="connection_reset", message=message, cause="ReadError")


class ConnectionRefused(BaseFault):
    """Nobody listens where the call goes: no connection comes about."""

    kinds: ClassVar[frozenset[Kind]] = BOTH
    reaches_below: ClassVar[bool] = True

    type: Literal["connection_refused"] = "connection_refused"

    @property
    def words(self) -> str:
        """``is refused a connection``."""
        return "is refused a connection"

    def error(self) -> ErrorInfo:
        """A connection that never was."""
        message = "injected connection refusal"
        return ErrorInfo(type="connection_refused", message=message, cause="ConnectError")


class StreamTruncate(BaseFault):
    """A streamed reply breaks off. A reply that is not streamed fails at once.

    Of tools it hits those that are generators: what they yield breaks off.
    """

    kinds: ClassVar[frozenset[Kind]] = BOTH
    short: ClassVar[str | None] = "after_chunks"
    _phase: ClassVar[Phase] = "outcome"

    type: Literal["stream_truncate"] = "stream_truncate"
    after_chunks: int = Field(default=1, ge=0)
    """How many chunks are delivered first."""
    end: Literal["reset", "stall", "clean", "error"] = "reset"
    """How it breaks off: the connection drops, the reader times out, it just ends, or the provider
    says that it is overloaded."""

    def __init__(self, after_chunks: int | None = None, /, **data: Any) -> None:
        if after_chunks is not None:
            data["after_chunks"] = after_chunks
        super().__init__(**data)

    @property
    def label(self) -> str:
        """Such as ``stream cut after 3``."""
        return f"stream cut after {self.after_chunks}"

    @property
    def words(self) -> str:
        """Such as ``sends 3 chunks of its reply, then stalls``."""
        ends = {"reset": "is reset", "stall": "stalls", "clean": "just ends", "error": "fails"}
        chunks = f"{self.after_chunks} chunk{'' if self.after_chunks == 1 else 's'}"
        return f"sends {chunks} of its reply, then {ends[self.end]}"

    def error(self) -> ErrorInfo:
        """What is raised after the chunks; a plain call fails with it at once."""
        if self.end == "stall":
            return ErrorInfo(type="timeout", message="injected stall", cause="ReadTimeout")
        if self.end == "error":
            message = "injected error inside a stream"
            return ErrorInfo(type="http_error", message=message, status=529, headers={})
        message = "injected cut of a stream"
        return ErrorInfo(type="connection_reset", message=message, cause="ReadError")
