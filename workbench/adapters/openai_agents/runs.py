"""Runs, in which agents hand over to each other."""

from __future__ import annotations

from typing import Any

from workbench.adapters.frameworks.asking import own_run
from workbench.seam.current import current_seam


async def run(wrapped: Any, _runner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``Runner.run``, to which ``run_sync`` comes too."""
    if current_seam() is None:
        return await wrapped(*args, **kwargs)
    with own_run():
        return await wrapped(*args, **kwargs)


def run_streamed(wrapped: Any, _runner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``Runner.run_streamed``: the task that it begins belongs to the run."""
    if current_seam() is None:
        return wrapped(*args, **kwargs)
    with own_run():
        return wrapped(*args, **kwargs)
