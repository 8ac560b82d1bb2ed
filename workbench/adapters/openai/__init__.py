"""OpenAI's SDK, sync and async, plain and streamed."""

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook the SDK's classes."""
    from workbench.adapters.openai.description import OPENAI
    from workbench.adapters.stainless.patches import hook_sdk

    hook_sdk(OPENAI, patches)


adapter = Adapter(name="openai", module="openai", hook=hook)

__all__ = ["adapter"]
