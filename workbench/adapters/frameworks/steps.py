"""Agents of frameworks as steps, by their names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from workbench.seam.current import current_seam, step


@contextmanager
def agent_step(name: Any) -> Iterator[None]:
    """The step of an agent while it runs; nothing for one without a name, and outside a session.

    Slashes in a name would look like steps within steps, and become dashes.

    Args:
        name: the agent's name, if it has one.
    """
    if not isinstance(name, str) or not name or current_seam() is None:
        yield
        return
    entered = step(name.replace("/", "-"))
    entered.__enter__()
    try:
        yield
    finally:
        leave(entered)


def leave(entered: Any) -> None:
    """Leave a step. An agent that was let go is closed by the loop, in a context of its own, where
    there is nothing to go back to."""
    try:
        entered.__exit__(None, None, None)
    except ValueError as error:
        if "different Context" not in str(error):
            raise
