"""LangGraph's graphs as steps: each that has a name, and those that are another graph's nodes."""

from __future__ import annotations

from typing import Any

from workbench.adapters.frameworks.families import hook_family
from workbench.adapters.frameworks.piecewise import ain_step, in_step
from workbench.adapters.langchain import names
from workbench.seam.current import ENCLOSING, current_seam
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook what runs a graph, whichever way, and the caches of what its nodes gave."""
    patches.wrap(names.graph_class(), "stream", _stream)
    patches.wrap(names.graph_class(), "astream", _astream)
    caches = {"get": _nothing, "set": _kept_nowhere, "aget": _anothing, "aset": _akept_nowhere}
    hook_family(patches, names.node_cache_class(), caches)


# What a cache of nodes knows would hide calls from a recording that a replay then makes, or the
# other way: in a session it knows nothing, and keeps nothing.


def _nothing(wrapped: Any, _cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return wrapped(*args, **kwargs) if current_seam() is None else {}


async def _anothing(
    wrapped: Any, _cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    return await wrapped(*args, **kwargs) if current_seam() is None else {}


def _kept_nowhere(wrapped: Any, _cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    if current_seam() is None:
        wrapped(*args, **kwargs)


async def _akept_nowhere(
    wrapped: Any, _cache: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    if current_seam() is None:
        await wrapped(*args, **kwargs)


def _stream(wrapped: Any, graph: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = _name(graph, args, kwargs)
    run = wrapped(*args, **kwargs)
    return run if name is None else in_step(run, name)


def _astream(wrapped: Any, graph: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name = _name(graph, args, kwargs)
    run = wrapped(*args, **kwargs)
    return run if name is None else ain_step(run, name)


def _name(graph: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """The step that a run of a graph is; None where it is none.

    A graph that a tool runs, and that has no name, is known by the tool already.
    """
    if current_seam() is None:
        return None
    name = graph.get_name()
    if name != names.NO_NAME:
        return str(name)
    if ENCLOSING.get() is not None:
        return None
    return names.node(kwargs.get("config", args[1] if len(args) > 1 else None))
