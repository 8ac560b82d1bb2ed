"""Putting the hooks into the library's classes, those that are defined later included."""

from __future__ import annotations

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models import Model
from pydantic_ai.providers import Provider
from pydantic_ai.toolsets import AbstractToolset

from workbench.adapters.frameworks.families import hook_family
from workbench.adapters.http.keys import made_without_key
from workbench.adapters.pydantic_ai.ids import Ids
from workbench.adapters.pydantic_ai.library import module_of_ids
from workbench.adapters.pydantic_ai.models import request, request_stream
from workbench.adapters.pydantic_ai.steps import run_as_step
from workbench.adapters.pydantic_ai.tools import call_tool
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook agents, models and their providers, toolsets, and the making up of ids."""
    patches.replace(module_of_ids(), "uuid", Ids())
    hook_family(patches, Model, {"request": request, "request_stream": request_stream})
    hook_family(patches, AbstractToolset, {"call_tool": call_tool})
    hook_family(patches, Provider, {"__init__": _construct})
    patches.wrap(Agent, "iter", run_as_step)


def _construct(wrapped: Any, _provider: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    made_without_key(wrapped, args, kwargs, "api_key")
