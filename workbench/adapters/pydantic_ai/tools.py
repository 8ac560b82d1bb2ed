"""Tool calls of agents.

An agent calls a tool through toolsets that pass the call on to each other. The first that is not
one of the library's own wrappers is where the call leaves the library, and there it is recorded: by
the name that the model knows, which the library's wrappers may have changed on the way.
"""

from __future__ import annotations

import inspect
from contextvars import ContextVar
from typing import Any, NamedTuple

from pydantic_ai.toolsets import (
    AbstractToolset,
    CombinedToolset,
    ExternalToolset,
    FunctionToolset,
    WrapperToolset,
)

from workbench.adapters.frameworks.asking import asked_by_last
from workbench.adapters.pydantic_ai.results import Results
from workbench.seam.current import COVERED_TOOL, current_seam
from workbench.seam.plain_calls import atool_call
from workbench.trace.entries import Effect


class _Passing(NamedTuple):
    """A tool call on its way through toolsets."""

    messages: Any
    """The conversation of its run: the very list tells runs apart."""
    call_id: str | None
    name: str
    """As the model knows the tool."""
    recorded: bool


_PASSING: ContextVar[_Passing | None] = ContextVar("workbench_pydantic_ai_tool", default=None)


async def call_tool(
    wrapped: Any, toolset: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``call_tool`` of any toolset."""
    if current_seam() is None:
        return await wrapped(*args, **kwargs)
    name, arguments, context, tool = _asked(*args, **kwargs)
    if tool.tool_def.kind == "output":  # it is what the model said, and no call to the world
        return await wrapped(*args, **kwargs)
    passing = _PASSING.get()
    ours = passing is not None and (
        passing.messages is context.messages and passing.call_id == context.tool_call_id
    )
    if passing is None or not ours:
        passing = _Passing(context.messages, context.tool_call_id, name, recorded=False)
    if passing.recorded:
        return await _further_in(wrapped, name, args, kwargs)
    if _only_passes_on(toolset):
        return await _within(passing, wrapped(*args, **kwargs))

    async def make(given: dict[str, Any]) -> Any:
        if given is not arguments:
            given = tool.args_validator.validate_python(given)
        inside = passing._replace(recorded=True)
        return await _within(inside, _further_in(wrapped, name, (name, given, context, tool), {}))

    function = _function(toolset, name)
    results = Results.of(function)
    with asked_by_last():
        return await atool_call(
            passing.name,
            arguments,
            make,
            effect=_effect(tool),
            of=function,
            dump=results.dump,
            load=results.load,
        )


def _asked(name: str, tool_args: Any, ctx: Any, tool: Any, *_more: Any) -> tuple[Any, ...]:
    return name, tool_args, ctx, tool


async def _within(passing: _Passing, call: Any) -> Any:
    token = _PASSING.set(passing)
    try:
        return await call
    finally:
        _PASSING.reset(token)


async def _further_in(
    wrapped: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The same call, in a toolset that may know the tool by another name."""
    token = COVERED_TOOL.set(name)
    try:
        return await wrapped(*args, **kwargs)
    finally:
        COVERED_TOOL.reset(token)


def _only_passes_on(toolset: Any) -> bool:
    """Whether this is a toolset of the library's own that does nothing but pass calls on, or that
    has no tools to call. A wrapper of the user's own may do anything."""
    kind = type(toolset)
    if not kind.__module__.startswith("pydantic_ai."):
        return False
    if isinstance(toolset, CombinedToolset | WrapperToolset | ExternalToolset):
        return True
    return kind.__name__ == "DynamicToolset"  # it is not exported


def _function(toolset: Any, name: str) -> Any:
    """The function behind a tool, where one is; None else."""
    if isinstance(toolset, FunctionToolset):
        return getattr(toolset.tools.get(name), "function", None)
    return None


def _effect(tool: Any) -> Effect | None:
    """What a server says of its tool: ``readOnlyHint`` in the annotations of MCP."""
    metadata = getattr(tool.tool_def, "metadata", None) or {}
    hints = metadata.get("annotations") if isinstance(metadata, dict) else None
    if isinstance(hints, dict):
        return "read" if hints.get("readOnlyHint") is True else None
    newer = getattr(hints, "read_only_hint", None)  # beside it the older name may be deprecated
    reads = getattr(hints, "readOnlyHint", None) if newer is None else newer
    return "read" if reads is True else None


def _check_names() -> None:
    """Say at hooking what a later release may have renamed.

    Raises:
        AttributeError: a toolset is not called as this adapter knows it.
    """
    names = list(inspect.signature(AbstractToolset.call_tool).parameters)
    if names[1:5] != ["name", "tool_args", "ctx", "tool"]:
        raise AttributeError(f"AbstractToolset.call_tool takes {names}")


_check_names()
