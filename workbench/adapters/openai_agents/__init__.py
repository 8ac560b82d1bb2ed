"""OpenAI's agents SDK: its tools, its agents as steps, models that no hooked SDK serves, and its
tracing, which is kept at home in a replay."""

from __future__ import annotations

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def _hook(patches: Patches) -> None:
    from workbench.adapters.openai_agents.patches import hook

    hook(patches)


adapter = Adapter(name="openai-agents", module="agents", hook=_hook)

__all__ = ["adapter"]
