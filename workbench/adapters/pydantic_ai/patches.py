"""Putting the hooks into the library's classes, those that are defined later included.

Private is only this: the base classes' ``__init_subclass__`` is set, so that a model or a toolset
of the user's own is hooked when its class is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models import Model
from pydantic_ai.toolsets import AbstractToolset

from workbench.adapters.pydantic_ai.models import request, request_stream
from workbench.adapters.pydantic_ai.steps import run_as_step
from workbench.adapters.pydantic_ai.tools import call_tool
from workbench.seam.patching import Patches, Wrapper


def hook(patches: Patches) -> None:
    """Hook agents, models and toolsets."""
    _hook_family(patches, Model, {"request": request, "request_stream": request_stream})
    _hook_family(patches, AbstractToolset, {"call_tool": call_tool})
    patches.wrap(Agent, "iter", run_as_step)


def _hook_family(patches: Patches, base: type, wrappers: dict[str, Wrapper]) -> None:
    """Hook the methods that each class below a base has for itself, now and later."""
    for name in wrappers:
        getattr(base, name)

    def hook_one(kind: type) -> None:
        for name, wrapper in wrappers.items():
            if name in vars(kind):
                patches.wrap(kind, name, wrapper)

    for kind in _below(base):
        hook_one(kind)
    patches.replace(base, "__init_subclass__", classmethod(_beginning(patches, base, hook_one)))


def _beginning(
    patches: Patches, base: type, hook_one: Callable[[type], None]
) -> Callable[..., None]:
    above: Any = base

    def begin(kind: type, **options: Any) -> None:
        super(above, kind).__init_subclass__(**options)
        if patches.active:
            hook_one(kind)

    return begin


def _below(base: type) -> Iterator[type]:
    seen: set[type] = set()
    left: list[type] = list(base.__subclasses__())
    while left:
        kind = left.pop()
        if kind not in seen:
            seen.add(kind)
            yield kind
            left += kind.__subclasses__()
