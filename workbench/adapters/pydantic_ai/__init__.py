"""pydantic-ai: tool calls of its agents, agents as steps, and models that no hooked SDK serves."""

from __future__ import annotations

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def _hook(patches: Patches) -> None:
    from workbench.adapters.pydantic_ai.patches import hook

    hook(patches)


adapter = Adapter(name="pydantic-ai", module="pydantic_ai", hook=_hook)

__all__ = ["adapter"]
