"""The tools that the SDK's own tool runner calls, in releases that have one.

Functions with ``@beta_tool`` or ``@beta_async_tool``, and the memory tool, are recorded where the
runner calls them, so that a replay gives their results and runs none of them.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from workbench.seam.patching import Patches
from workbench.seam.plain_calls import atool_call, tool_call

_HOME = "anthropic.lib.tools"
_SYNC = ("BetaFunctionTool", "BetaAbstractMemoryTool")
_ASYNC = ("BetaAsyncFunctionTool", "BetaAsyncAbstractMemoryTool")


def hook_tools(patches: Patches) -> None:
    """Hook the classes of tools."""
    if find_spec(_HOME) is None:
        return
    home = import_module(_HOME)
    for name in _SYNC:
        patches.wrap(getattr(home, name), "call", _call)
    for name in _ASYNC:
        patches.wrap(getattr(home, name), "call", _acall)


def _call(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = args[0] if args else kwargs["input"]
    if not isinstance(given, dict):  # the SDK says so itself
        return wrapped(*args, **kwargs)
    return tool_call(tool.name, given, lambda arguments: _listed(wrapped(arguments)))


def _acall(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    given = args[0] if args else kwargs["input"]
    if not isinstance(given, dict):
        return wrapped(*args, **kwargs)

    async def made(arguments: dict[str, Any]) -> Any:
        return _listed(await wrapped(arguments))

    return atool_call(tool.name, given, made)


def _listed(result: Any) -> Any:
    """A tool gives a text, or anything that yields blocks: an iterator can be read only once."""
    return list(result) if hasattr(result, "__next__") else result
