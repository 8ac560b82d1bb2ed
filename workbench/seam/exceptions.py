"""Exceptions as a trace keeps them, and back. Nothing is imported to rebuild one."""

from __future__ import annotations

import builtins
import sys
from typing import Any

from workbench.errors import RecordedError, UnencodableError
from workbench.trace.entries import ErrorInfo
from workbench.trace.values import decode, encode


def describe(error: BaseException) -> ErrorInfo:
    """An exception's type, text, arguments and attributes, as far as a trace can hold them."""
    info: dict[str, Any] = {
        "type": type(error).__qualname__,
        "module": type(error).__module__,
        "message": _text(error),
    }
    args = _encodable(list(error.args))
    if args is not None:
        info["args"] = args
    attributes = {
        name: value
        for name, value in ((k, _encodable(v)) for k, v in vars(error).items() if k[:1] != "_")
        if value is not None
    }
    if attributes:
        info["attributes"] = attributes
    return ErrorInfo(**info)


def rebuild(info: ErrorInfo) -> BaseException:
    """The recorded exception: of its own type where that is loaded in this process, else a
    :class:`workbench.errors.RecordedError` that names the type.

    The type's ``__init__`` is not run: arguments and attributes are put back as recorded.
    """
    kind = _loaded(info)
    if kind is None:
        return RecordedError(info.message, type_name=f"{info.module}.{info.type}")
    error = kind.__new__(kind)
    error.args = tuple(decode(info.args)) if info.args is not None else (info.message,)
    error.__dict__.update({name: decode(v) for name, v in (info.attributes or {}).items()})
    return error


def _loaded(info: ErrorInfo) -> type[BaseException] | None:
    module = builtins if info.module == "builtins" else sys.modules.get(str(info.module))
    found: Any = module
    for part in info.type.split("."):
        found = getattr(found, part, None)
    if isinstance(found, type) and issubclass(found, Exception):
        return found
    if found in (KeyboardInterrupt, SystemExit):
        return found  # type: ignore[no-any-return]
    if info.type == "CancelledError":
        import asyncio

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
