"""Keys that nobody has where a recording answers: what libraries refuse to be made without."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from workbench.seam.current import current_seam

DUMMY_KEY: Final = "workbench-replay-needs-no-key"
"""Stands in for an API key where no call may go live. It is never sent."""


def is_answered() -> bool:
    """Whether a recording answers here, at least until a fork goes live."""
    seam = current_seam()
    return seam is not None and not seam.recording


def is_offline() -> bool:
    """Whether a recording answers here to the end: no key will be needed."""
    seam = current_seam()
    return seam is not None and seam.offline


def made_without_key(
    wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], name: str
) -> Any:
    """Make an object; where it refuses in a replay, once more with a key that is never sent.

    Args:
        wrapped: makes it.
        args: what it is given by position.
        kwargs: what it is given by name.
        name: the argument that takes the key.

    Raises:
        Exception: its own refusal, where this is no replay, or the key was not the reason.
    """
    try:
        return wrapped(*args, **kwargs)
    except Exception as refusal:
        if kwargs.get(name) or not is_offline():
            raise
        try:
            return wrapped(*args, **{**kwargs, name: DUMMY_KEY})
        except Exception:  # noqa: BLE001 - the first refusal says more
            raise refusal from None
