"""How a model call can fail, the same live, replayed and on purpose.

::

    ModelError                    a model call failed
    ├── RateLimitError            status 429: ask again later, after ``retry_after_s``
    ├── RequestRefusedError       another 4xx: the same request will fail again
    ├── ServerFailedError         5xx: not the request's fault
    ├── ModelTimeoutError         no answer came in time; also a TimeoutError
    ├── ConnectionLostError       the connection dropped or was refused; also a ConnectionError
    └── BadReplyError             an answer came that is no reply

A provider raises these, whatever its SDK raises; :func:`to_info` and :func:`to_error` take them
into a trace and out again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from workbench.errors import UsageError, WorkbenchError
from workbench.seam.exceptions import describe, rebuild
from workbench.trace.entries import ErrorInfo

_TIMED_OUT = frozenset({"timeout", "ModelTimeoutError", "APITimeoutError"})
_LOST = frozenset(
    {"connection_reset", "connection_refused", "ConnectionLostError", "APIConnectionError"}
)
_BAD = frozenset({"malformed_response", "JSONDecodeError", "BadReplyError"})


class ModelError(WorkbenchError):
    """A model call failed.

    Attributes:
        status: the HTTP status; None where there was no answer.
        headers: the answer's headers that matter, names in lower case.
        body: the answer's body, as parsed JSON where it is JSON.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = {name.lower(): value for name, value in (headers or {}).items()}
        self.body = body

    @property
    def retry_after_s(self) -> float | None:
        """Seconds to wait before asking again, where the answer says so in seconds."""
        try:
            if "retry-after-ms" in self.headers:
                return float(self.headers["retry-after-ms"]) / 1000
            return float(self.headers["retry-after"])
        except (KeyError, ValueError):
            return None

    @classmethod
    def of_status(
        cls, message: str, status: int, headers: Mapping[str, str] | None, body: Any
    ) -> ModelError:
        """The error for an HTTP status, 400 or above."""
        kind: type[ModelError] = RequestRefusedError
        if status == 429:
            kind = RateLimitError
        elif status >= 500:
            kind = ServerFailedError
        return kind(message, status=status, headers=headers, body=body)


class RateLimitError(ModelError):
    """Too many requests (429); ``retry_after_s`` says when to ask again."""


class RequestRefusedError(ModelError):
    """The request was not accepted (4xx); the same request will not be accepted later either."""


class ServerFailedError(ModelError):
    """The provider failed (5xx)."""


class ModelTimeoutError(ModelError, TimeoutError):
    """No answer came in time."""


class ConnectionLostError(ModelError, ConnectionError):
    """The connection dropped or was refused."""


class BadReplyError(ModelError):
    """An answer came that is no reply; ``body`` holds it."""


class UnknownToolError(WorkbenchError, LookupError):
    """A tool was called by a name that no tool of this io has: often the model made it up."""


class NobodyToAskError(UsageError):
    """A person was to be asked, and there is none."""


class ScriptEndedError(UsageError):
    """More was asked for than a script has."""


def to_info(error: BaseException) -> ErrorInfo:
    """A failed model call as a trace keeps it."""
    if not isinstance(error, ModelError):
        return describe(error)
    info = ErrorInfo(type=type(error).__name__, module=__name__, message=str(error))
    if error.status is not None:
        info.status = error.status
    if error.headers:
        info.headers = dict(error.headers)
    if error.body is not None:
        info.body = error.body
    if error.__cause__ is not None:
        info.cause = type(error.__cause__).__name__
    return info


def to_error(info: ErrorInfo) -> BaseException:
    """What the agent gets for a recorded or injected failure, whoever recorded it."""
    if info.type == "CancelledError":
        return asyncio.CancelledError(*(info.args or ()))
    if info.status is not None and info.status >= 400:
        return ModelError.of_status(info.message, info.status, info.headers, info.body)
    for types, kind in _KINDS:
        if info.type in types:
            return kind(info.message, status=info.status, headers=info.headers, body=info.body)
    if info.module == __name__ and info.type == "ModelError":
        return ModelError(info.message, headers=info.headers, body=info.body)
    return rebuild(info)


_KINDS: tuple[tuple[frozenset[str], type[ModelError]], ...] = (
    (_TIMED_OUT, ModelTimeoutError),
    (_LOST, ConnectionLostError),
    (_BAD, BadReplyError),
)
