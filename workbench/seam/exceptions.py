"""Exceptions as a trace keeps them, and back. Nothing is imported to rebuild one."""

from __future__ import annotations

import asyncio
import builtins
import sys
import time
from types import BuiltinFunctionType, ModuleType
from typing import Any

from workbench.errors import DriftError, RecordedError, ToolFaultError, UnencodableError
from workbench.trace.entries import ErrorInfo
from workbench.trace.values import decode, encode


def describe(error: BaseException) -> ErrorInfo:
    """An exception's type, text, arguments and attributes, as far as a trace can hold them."""
    info: dict[str, Any] = {
        "type": type(error).__qualname__,
        "module": type(error).__module__,
        "message": _text(error),
    }
    notes = [each for each in getattr(error, "__notes__", ()) if isinstance(each, str)]
    if notes:
        info["notes"] = notes
    if isinstance(error, BaseExceptionGroup):
        info["message"] = error.message
        info["members"] = [describe(each) for each in error.exceptions]
        return ErrorInfo(**info)
    args = _encodable(_arguments(error))
    if args is not None:
        info["args"] = args
    attributes = {
        name: value
        for name, given in vars(error).items()
        if name[:1] != "_" and ((value := _encodable(given)) is not None or given is None)
    }
    if attributes:
        info["attributes"] = attributes
    return ErrorInfo(**info)


def rebuild(info: ErrorInfo) -> BaseException:
    """The recorded exception: of its own type where that is loaded in this process, else a
    :class:`workbench.errors.RecordedError` that names the type.

    The type's ``__init__`` is not run: arguments and attributes are put back as recorded. A stream
    that its reader left, and that is read further now, is a :class:`workbench.errors.DriftError`.
    """
    error = _rebuilt(info)
    for note in info.notes or ():
        error.add_note(note)
    return error


def _rebuilt(info: ErrorInfo) -> BaseException:
    if info.type == "stopped" and info.module == "workbench":
        return DriftError(info.message)
    if info.members and info.type in ("ExceptionGroup", "BaseExceptionGroup"):
        return BaseExceptionGroup(info.message, [rebuild(each) for each in info.members])
    kind = _loaded(info)
    args = tuple(decode(info.args)) if info.args is not None else (info.message,)
    error = _made(kind, args) if kind is not None else None
    if error is None:
        return RecordedError(info.message, type_name=f"{info.module}.{info.type}")
    error.__dict__.update({name: decode(v) for name, v in (info.attributes or {}).items()})
    return error


def plain_error(info: ErrorInfo) -> BaseException:
    """What a tool or a person fails with: they have no SDK that would have a type of its own.

    An injected failure is Python's own exception for it, else a
    :class:`workbench.errors.ToolFaultError`; a recorded one is rebuilt.
    """
    kind = _PLAIN.get(info.type) if info.module is None else None
    if kind is None:
        return rebuild(info)
    error = kind(info.message)
    if isinstance(error, ToolFaultError):
        error.status, error.headers, error.body = info.status, info.headers, info.body
    return error


_PLAIN: dict[str, type[Exception]] = {
    "timeout": TimeoutError,
    "http_error": ToolFaultError,
    "connection_reset": ConnectionResetError,
    "connection_refused": ConnectionRefusedError,
}


def _arguments(error: BaseException) -> list[Any]:
    """What the exception is made of. An OSError keeps its file's name apart from ``args``."""
    args = list(error.args)
    if isinstance(error, OSError) and error.filename is not None and len(args) == 2:
        args.append(error.filename)
        if error.filename2 is not None:
            args += [None, error.filename2]
    return args


def _made(kind: type[BaseException], args: tuple[Any, ...]) -> BaseException | None:
    """An exception of that type, its own ``__init__`` not run; None when that cannot be."""
    if isinstance(kind.__new__, BuiltinFunctionType):
        base = next(each for each in kind.__mro__ if each.__module__ == "builtins")
        try:
            error: BaseException = kind.__new__(kind, *args)
            base.__init__(error, *args)  # type: ignore[misc] # Python's own, which only keeps them
        except (TypeError, ValueError):
            return None
        return error
    return None


def _loaded(info: ErrorInfo) -> type[BaseException] | None:
    found: Any = builtins if info.module == "builtins" else sys.modules.get(str(info.module))
    for part in info.type.split("."):
        # Not getattr: a package may import what it is asked for, and a trace is a stranger's.
        found = vars(found).get(part) if isinstance(found, ModuleType | type) else None
    if isinstance(found, type) and issubclass(found, Exception):
        return found
    if info.type == "CancelledError":
        return asyncio.CancelledError
    return None


def _encodable(value: Any) -> Any:
    try:
        return encode(value)
    except UnencodableError:
        return None


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as broken:  # noqa: BLE001 - an agent's own code, which may do anything
        return f"(its text cannot be made: {type(broken).__name__})"


_PATIENCE_S = 2.0
"""So much longer than a call had lasted when it was cancelled is waited for that again."""


def timed(info: ErrorInfo, since: float) -> ErrorInfo:
    """An exception; one that cancelled a call with how long that had lasted."""
    if info.type != "CancelledError":
        return info
    return info.model_copy(update={"after_s": round(time.monotonic() - since, 3)})


async def until_cancelled(info: ErrorInfo) -> None:
    """A call that was cancelled is cancelled again: whoever did it will do it again.

    Where nobody does, it was cancelled from within, and is again.
    """
    lasted = (info.model_extra or {}).get("after_s")
    patience = 1.5 * lasted if isinstance(lasted, int | float) else 10 * _PATIENCE_S
    await asyncio.sleep(_PATIENCE_S + patience)
    raise asyncio.CancelledError
