"""Sessions of MCP clients, of the official SDK: what is asked of a server, and what it says."""

from workbench.seam.hooks import Adapter
from workbench.seam.patching import Patches


def hook(patches: Patches) -> None:
    """Hook the SDK's client sessions and transports."""
    from workbench.adapters.mcp.patches import hook_sdk

    hook_sdk(patches)


adapter = Adapter(name="mcp", module="mcp", hook=hook)

__all__ = ["adapter"]
