"""Anthropic's SDK, sync and async, plain and streamed."""

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook the SDK's classes."""
    from workbench.adapters.anthropic.description import describe
    from workbench.adapters.anthropic.tools import hook_tools
    from workbench.adapters.stainless.patches import hook_sdk

    hook_sdk(describe(), patches)
    hook_tools(patches)


adapter = Adapter(name="anthropic", module="anthropic", hook=hook)

__all__ = ["adapter"]
