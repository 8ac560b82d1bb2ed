"""DSPy: language models through whichever engine, tools, and no caches in a session."""

from __future__ import annotations

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def _hook(patches: Patches) -> None:
    from workbench.adapters.dspy.patches import hook

    hook(patches)


adapter = Adapter(name="dspy", module="dspy", hook=_hook)

__all__ = ["adapter"]
