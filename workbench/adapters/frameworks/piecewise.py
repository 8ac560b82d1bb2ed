"""Runs of agents that are read piece by piece, as steps: the run is inside, its reader is not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from workbench.adapters.frameworks.steps import agent_step


def in_step(run: Any, name: str) -> Iterator[Any]:
    """The same run.

    Args:
        run: a generator.
        name: the agent's name.
    """
    try:
        while True:
            with agent_step(name):
                try:
                    item = next(run)
                except StopIteration:
                    return
            yield item
    finally:
        run.close()


async def ain_step(run: Any, name: str) -> AsyncIterator[Any]:
    """The same for async code."""
    try:
        while True:
            with agent_step(name):
                try:
                    item = await anext(run)
                except StopAsyncIteration:
                    return
            yield item
    finally:
        await run.aclose()
