"""The hooks themselves, for the SDK's generation that is installed."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from workbench.adapters.mcp.transports import hook_transports

if TYPE_CHECKING:
    from workbench.seam.patching import Patches


def hook_sdk(patches: Patches) -> None:
    """Hook client sessions, and what opens the way to a server.

    Raises:
        AttributeError: the SDK has not the names that are hooked.
    """
    if hasattr(import_module("mcp.shared.exceptions"), "MCPError"):
        from workbench.adapters.mcp.second import hook_sessions
    else:
        from workbench.adapters.mcp.first import hook_sessions
    hook_sessions(patches)
    hook_transports(patches)
