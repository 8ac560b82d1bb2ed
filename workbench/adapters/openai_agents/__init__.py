"""OpenAI's agents SDK: its tools, its agents as steps, models that no hooked SDK serves, and its
tracing, which is kept at home in a replay."""

from __future__ import annotations

import sys

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def _hook(patches: Patches) -> None:
    if not hasattr(sys.modules["agents"], "set_default_openai_client"):
        return  # a module of somebody else's with that name, which many a project has
    from workbench.adapters.openai_agents.patches import hook

    hook(patches)


adapter = Adapter(name="openai-agents", module="agents", hook=_hook)

__all__ = ["adapter"]
