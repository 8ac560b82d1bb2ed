"""Putting the hooks into the SDK's classes, and models that are defined later."""

from __future__ import annotations

from agents.models.interface import Model

from workbench.adapters.frameworks.families import hook_family
from workbench.adapters.frameworks.ids import uuid4_at
from workbench.adapters.openai_agents.library import (
    RUN_KEYS,
    AgentBase,
    AgentRunner,
    BatchTraceProcessor,
    Invoker,
)
from workbench.adapters.openai_agents.models import get_response, stream_response
from workbench.adapters.openai_agents.runs import run, run_streamed
from workbench.adapters.openai_agents.tools import get_all_tools, invoke
from workbench.adapters.openai_agents.tracing import at_home
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook runs, models, tools, and the export of the SDK's own traces."""
    hook_family(patches, Model, {"get_response": get_response, "stream_response": stream_response})
    patches.wrap(AgentRunner, "run", run)
    patches.wrap(AgentRunner, "run_streamed", run_streamed)
    patches.wrap(AgentBase, "get_all_tools", get_all_tools)
    patches.wrap(Invoker, "__call__", invoke)
    for name in ("on_trace_start", "on_span_end"):
        patches.wrap(BatchTraceProcessor, name, at_home)
    for module in RUN_KEYS:
        patches.replace(module, "uuid4", uuid4_at("openai_agents:run"))
