"""Putting the hooks into DSPy's modules and classes."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

from workbench.adapters.dspy import names
from workbench.adapters.dspy.engines import on_seam
from workbench.adapters.dspy.forward import aforward, forward
from workbench.adapters.dspy.tools import acall, call
from workbench.adapters.frameworks.families import hook_family
from workbench.errors import RecordedError
from workbench.seam.current import current_seam
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook engines, caches, tools, and what agents are told of errors."""
    execution = names.execution()
    if execution is not None:
        patches.wrap(execution, "_select_engine", on_seam)
    else:
        hook_family(patches, names.model_class(), {"forward": forward, "aforward": aforward})
    patches.wrap(names.cache_class(), "get", _get)
    patches.wrap(names.cache_class(), "put", _put)
    patches.wrap(names.tool_class(), "__call__", call)
    patches.wrap(names.tool_class(), "acall", acall)
    for module, name in names.error_texts():
        patches.wrap(module, name, _told)
    if names.metadata_module() is not None:
        patches.wrap(names.metadata_module(), "_load", _known)
    patches.replace(names.threads_module(), "ThreadPoolExecutor", _Pool)


def _get(wrapped: Any, _cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A cache would hide calls from a recording that a replay then makes, or the other way."""
    return wrapped(*args, **kwargs) if current_seam() is None else None


def _put(wrapped: Any, _cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return wrapped(*args, **kwargs) if current_seam() is None else None


def _known(wrapped: Any, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What DSPy knows of models decides on how it asks them. Where it would look that up on the
    network, a session uses what DSPy brings: the same each time, without a connection."""
    if current_seam() is None or names.metadata_module()._data is not None:  # noqa: SLF001
        return wrapped(*args, **kwargs)
    return names.bundled_metadata()


def _told(wrapped: Any, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a model is told of an error: in a session without the lines of code, which are others on
    another machine, and in a replay that does not run the tool."""
    error = args[0] if args else kwargs.get("error", kwargs.get("err"))
    if current_seam() is None or kwargs.get("traceback_frames", 1) == 0:
        return wrapped(*args, **kwargs)
    if isinstance(error, RecordedError):
        return f"\n{error.type_name}: {error}"
    return "\n" + "".join(traceback.format_exception_only(error)).strip()


class _Pool(ThreadPoolExecutor):
    """Threads that know whose they are: they run in a copy of the context of who asked for it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(copy_context().run, fn, *args, **kwargs)
