"""Every error that this package raises, in one tree.

::

    WorkbenchError
    ├── UsageError                 a call that cannot work as it was made
    │   ├── MissingExtraError      an optional dependency is not installed
    │   ├── UnknownApiError        no payload view is registered for an api
    │   ├── PlaceError             a place that the trace does not have
    │   ├── NobodyToAskError       a person was to be asked, and there is none
    │   └── ScriptEndedError       more was asked for than a script has
    ├── TraceError                 about a trace file or what goes into it
    │   ├── TraceFormatError       the file, or a value in it, is not what the format allows
    │   │   ├── TraceVersionError  written by a newer version, or by none
    │   │   └── UnknownTagError    a tagged value of an unknown type
    │   ├── TraceNotFoundError     there is no such trace file
    │   ├── TraceExistsError       a recording would replace an existing trace
    │   ├── TraceWriteError        an entry could not be written
    │   ├── UnencodableError       a value that a trace cannot represent
    │   └── UnavailableError       a body that damage elsewhere in the file made unreadable
    ├── ReplayError                a replay could not go on
    │   ├── DriftError             the agent does not do what was recorded
    │   └── RecordedError          stands for a recorded exception whose type is not loaded
    ├── UnknownToolError           an io has no tool of that name: the model may have made it up
    ├── ToolFaultError             what a tool raises for an injected fault; never a real error
    ├── EditError                  an edit that cannot be applied, or that a provider would refuse
    ├── ModelError                 an io's model call failed
    │   ├── RateLimitError         status 429: ask again later
    │   ├── RequestRefusedError    another 4xx: the same request will fail again
    │   ├── ServerFailedError      5xx: not the request's fault
    │   ├── ModelTimeoutError      no answer came in time
    │   ├── ConnectionLostError    the connection dropped or was refused
    │   └── BadReplyError          an answer came that is no reply
    └── LocalModelError            the offline model's server did not start or died

    StopRun (BaseException)        ends a run at the next seam; no ``except Exception`` eats it
    ├── RunBlocked                 a live write was not allowed
    ├── RunCancelled               somebody cancelled the run
    └── SimulatedCrash             an injected fault ended the process, as it were

An error's text says what happened, where, and what to do about it. Those of an io (``ModelError``
and its kinds, ``UnknownToolError``, and the last two of ``UsageError``) are defined in
``seam/agentio/errors.py``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


class WorkbenchError(Exception):
    """Base of every error of this package (except those that must pass ``except Exception``)."""


class UsageError(WorkbenchError):
    """A call that cannot work as it was made; the text says how to make it."""


class MissingExtraError(UsageError, ImportError):
    """An optional dependency is not installed; the text holds the pip command.

    Args:
        extra: the extra of this package that brings it; None where none does.
        package: what is missing.
    """

    def __init__(self, extra: str | None, package: str) -> None:
        self.extra = extra
        self.package = package
        what = package if extra is None else f'"trace-workbench[{extra}]"'
        super().__init__(
            f"{package} is not installed, and this needs it. Install it with:  pip install {what}"
        )


class UnknownApiError(UsageError):
    """No payload view is registered for an api."""


class PlaceError(UsageError):
    """A place (``turn(9)``, ``step("x")``, ``entry("1-4")``) that the trace does not have."""


class TraceError(WorkbenchError):
    """Base of the errors about a trace file or what goes into it."""


class TraceFormatError(TraceError):
    """A file, or a value in one, is not what the format allows.

    Attributes:
        file: the file's path, when there is one.
        line: the line's number, counted from 1, when there is one.
        path: where in the value, such as ``$.request.body``, when known.
    """

    def __init__(
        self,
        message: str,
        *,
        file: Path | str | None = None,
        line: int | None = None,
        path: str | None = None,
    ) -> None:
        self.file = file
        self.line = line
        self.path = path
        place = ":".join(str(part) for part in (file, line) if part is not None)
        if path is not None:
            place = f"{place} at {path}".strip()
        super().__init__(f"{place}: {message}" if place else message)


class TraceVersionError(TraceFormatError):
    """The trace's format version is newer than this package, or is no version at all."""


class UnknownTagError(TraceFormatError):
    """A tagged value names a type that this package does not know."""


class TraceNotFoundError(TraceError, FileNotFoundError):
    """There is no trace file at that path."""


class TraceExistsError(TraceError, FileExistsError):
    """A recording would replace an existing trace, and nobody asked for that."""


class TraceWriteError(TraceError, OSError):
    """An entry could not be written to its trace."""


class UnencodableError(TraceError, TypeError):
    """A value that a trace cannot represent.

    Attributes:
        path: where in the value it is, such as ``$.items[3].when``.
    """

    def __init__(self, message: str, *, path: str = "$") -> None:
        self.path = path
        super().__init__(message)


class UnavailableError(TraceError):
    """A body that cannot be rebuilt, because another part of the file is damaged."""


class ReplayError(WorkbenchError):
    """A replay could not go on."""


class DriftError(ReplayError):
    """The agent does not do what was recorded.

    Attributes:
        miss: the explained miss (:class:`workbench.seam.explain.Miss`), when a call was not
            found; None for recorded calls that were never made.
    """

    def __init__(self, message: str, *, miss: Any = None) -> None:
        self.miss = miss
        super().__init__(message)


class RecordedError(ReplayError):
    """Stands for a recorded exception whose type is not loaded in this process.

    Attributes:
        type_name: the recorded type, such as ``mypackage.errors.OutOfStock``.
    """

    def __init__(self, message: str, *, type_name: str) -> None:
        self.type_name = type_name
        super().__init__(f"{type_name}: {message}")


class ToolFaultError(WorkbenchError):
    """What a tool raises for an injected fault that has no exception of Python's own.

    An agent that handles any failure of its tools handles this one. It is never a real error.

    Attributes:
        result: for a partial success, what was done before the failure; else None.
        status: for an HTTP error, the status; else None.
        headers: for an HTTP error, the response's headers; else None.
        body: for an HTTP error, the response's body; else None.
    """

    result: Any = None
    status: int | None = None
    headers: dict[str, str] | None = None
    body: Any = None


class EditError(WorkbenchError):
    """An edit that cannot be applied, or that a provider would refuse.

    Attributes:
        problems: one sentence for each thing that is wrong.
        mends: what would put it right (:class:`workbench.trace.edits.Mend`), the best one first;
            empty where nothing but another edit would.
    """

    def __init__(
        self, message: str, *, problems: Sequence[str] = (), mends: Sequence[Any] = ()
    ) -> None:
        self.problems = tuple(problems)
        self.mends = tuple(mends)
        super().__init__(message)


class LocalModelError(WorkbenchError):
    """The offline model's server did not start, or died; the text ends with its log."""


class StopRun(BaseException):
    """Ends a run at the next seam. A BaseException, so that no ``except Exception`` eats it."""


class RunBlocked(StopRun):
    """A live write was not allowed; the text names the choices."""


class RunCancelled(StopRun):
    """Somebody cancelled the run."""


class SimulatedCrash(StopRun):
    """An injected fault ended the process here, as it were: the trace has no end.

    A second run goes on from there with ``resumes=crash.trace``.

    Attributes:
        trace: the trace of the run that died; None when it was not kept.
        fault: the fault (a :class:`workbench.faults.Crash`).
    """

    def __init__(self, message: str, *, fault: Any = None, trace: Any = None) -> None:
        self.fault = fault
        self.trace = trace
        super().__init__(message)


class UnrecordedWarning(UserWarning):
    """Something that an agent does beside the session, and that is not in its trace."""
