"""Agents of frameworks as steps, by their names."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from workbench.seam.current import current_seam, step


def agent_step(name: Any) -> AbstractContextManager[Any]:
    """The step of an agent while it runs; nothing for one without a name, and outside a session.

    It is left in the task, thread and context in which it was entered. Slashes in a name would
    look like steps within steps, and become dashes.

    Args:
        name: the agent's name, if it has one.
    """
    if not isinstance(name, str) or not name or current_seam() is None:
        return nullcontext()
    return step(name.replace("/", "-"))
