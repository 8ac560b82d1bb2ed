"""Whether a framework's model is served by an SDK whose calls are recorded where they are sent."""

from __future__ import annotations

from typing import Any

_WIRED = ("openai", "anthropic", "google.genai")
"""The SDKs that are hooked, by module."""


def is_wired(*holders: Any) -> bool:
    """Whether one of these objects holds a client of a hooked SDK.

    It is told by the objects alone, so that a replay decides as the recording did.

    Args:
        holders: the model, its provider, and whatever else may have the client as ``client`` or
            ``_client``.
    """
    found = (_attribute(holder, name) for holder in holders for name in ("client", "_client"))
    return any(_is_hooked(type(client)) for client in found if client is not None)


def _attribute(holder: Any, name: str) -> Any:
    try:
        return getattr(holder, name, None)
    except Exception:  # noqa: BLE001 - a property of somebody's class, which may do anything
        return None


def _is_hooked(kind: type) -> bool:
    modules = {each.__module__ for each in kind.__mro__}
    return any(name == sdk or name.startswith(f"{sdk}.") for name in modules for sdk in _WIRED)
