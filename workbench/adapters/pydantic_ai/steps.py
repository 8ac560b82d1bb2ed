"""Runs of agents as steps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from workbench.adapters.frameworks.asking import own_run
from workbench.adapters.frameworks.steps import agent_step
from workbench.seam.current import current_seam


def run_as_step(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``Agent.iter``, which all ways to run an agent come to."""
    running = wrapped(*args, **kwargs)
    return running if current_seam() is None else _stepped(running, agent)


@asynccontextmanager
async def _stepped(running: Any, agent: Any) -> AsyncIterator[Any]:
    with own_run():
        async with running as run:
            with agent_step(agent.name):  # the run has found a name for it by now
                yield run
