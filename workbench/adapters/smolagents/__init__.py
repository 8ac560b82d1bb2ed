"""smolagents: tools, models without a hooked SDK, and agents by name as steps."""

from __future__ import annotations

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def _hook(patches: Patches) -> None:
    from workbench.adapters.smolagents.patches import hook

    hook(patches)


adapter = Adapter(name="smolagents", module="smolagents", hook=_hook)

__all__ = ["adapter"]
