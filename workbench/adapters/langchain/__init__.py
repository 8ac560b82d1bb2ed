"""LangChain and LangGraph: tools, models without a hooked SDK, and graphs as steps."""

from __future__ import annotations

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def _hook_tools(patches: Patches) -> None:
    from workbench.adapters.langchain.tools import hook

    hook(patches)


def _hook_models(patches: Patches) -> None:
    from workbench.adapters.langchain.models import hook

    hook(patches)


def _hook_graphs(patches: Patches) -> None:
    from workbench.adapters.langchain.graphs import hook

    hook(patches)


def _hook_tracing(patches: Patches) -> None:
    from workbench.adapters.langchain.tracing import hook

    hook(patches)


tool_adapter = Adapter(name="langchain", module="langchain_core.tools.base", hook=_hook_tools)
"""Every tool that is made with LangChain, whoever runs it."""
model_adapter = Adapter(
    name="langchain-models",
    module="langchain_core.language_models.chat_models",
    hook=_hook_models,
)
"""Chat models whose calls no hooked SDK sends, and the caches of all."""
graph_adapter = Adapter(name="langgraph", module="langgraph.pregel.main", hook=_hook_graphs)
"""Graphs and agents that have a name."""
tracing_adapter = Adapter(name="langsmith", module="langsmith.client", hook=_hook_tracing)
"""The reports that LangChain sends of each run."""

__all__ = ["graph_adapter", "model_adapter", "tool_adapter", "tracing_adapter"]
