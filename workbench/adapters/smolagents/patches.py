"""Putting the hooks into smolagents' classes."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

from workbench.adapters.frameworks.families import hook_family
from workbench.adapters.frameworks.piecewise import in_step
from workbench.adapters.frameworks.steps import agent_step
from workbench.adapters.smolagents import names
from workbench.adapters.smolagents.models import generate, stream
from workbench.adapters.smolagents.tools import call, whole
from workbench.seam.current import current_seam
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook tools, models, agents, and what runs an agent's code."""
    agent, model, tool, executor = names.classes()
    hook_family(patches, model, {"generate": generate}, {"generate_stream": stream})
    patches.wrap(model, "parse_tool_calls", _parsed)
    patches.wrap(tool, "__call__", call)
    hook_family(patches, tool, {"__call__": whole})
    patches.wrap(agent, "run", _Runs(patches, model))
    patches.wrap(executor, "__call__", _execute)
    if names.has_time_limit():
        patches.wrap(names.executor_module(), "timeout", _limited)


class _Runs:
    """Runs of agents: each that has a name is a step."""

    def __init__(self, patches: Patches, model: type) -> None:
        self._patches = patches
        self._model = model
        self._hooked: set[type] = set()

    def __call__(
        self, wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        self._hook(type(agent.model))
        name = getattr(agent, "name", None)
        with agent_step(name):
            run = wrapped(*args, **kwargs)
        streams = kwargs.get("stream", args[1] if len(args) > 1 else False)
        return in_step(run, name) if streams and name and current_seam() is not None else run

    def _hook(self, kind: type) -> None:
        """Hook the class of a model that is none of the framework's, and only looks like one."""
        if issubclass(kind, self._model) or kind in self._hooked:
            return
        self._hooked.add(kind)
        for name, wrapper in (("generate", generate), ("generate_stream", stream)):
            if hasattr(kind, name):
                self._patches.wrap(kind, name, wrapper)


def _parsed(wrapped: Any, _model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls that are read off a model's text have random ids, which the next request repeats."""
    message = args[0] if args else kwargs["message"]
    had = bool(message.tool_calls)
    parsed = wrapped(*args, **kwargs)
    if current_seam() is not None and not had:
        for place, each in enumerate(parsed.tool_calls):
            each.id = names.steady_id(str(message.content), place)
    return parsed


def _execute(wrapped: Any, executor: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Code that imports what it may not is told what it may: in the same order in each process."""
    allowed = getattr(executor, "authorized_imports", None)
    if current_seam() is not None and isinstance(allowed, list):
        allowed.sort()
    return wrapped(*args, **kwargs)


def _limited(wrapped: Any, _module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Code with a time limit runs in a thread of its own, which is to know whose it is."""
    limit = wrapped(*args, **kwargs)

    def decorator(function: Any) -> Any:
        context = copy_context()

        def within(*given: Any, **named: Any) -> Any:
            return context.run(function, *given, **named)

        return limit(within)

    return decorator
