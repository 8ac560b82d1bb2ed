"""Runs of agents as steps, and which model call of a run was the last."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any

from workbench.adapters.frameworks.steps import agent_step
from workbench.seam.current import LAST_MODEL, current_seam


class Run:
    """One run of an agent. Its model calls and its tool calls are made in tasks of their own, so
    that no context variable goes from one to the other."""

    __slots__ = ("asker",)

    def __init__(self) -> None:
        self.asker: str | None = None
        """The model call that was answered last."""


RUN: ContextVar[Run | None] = ContextVar("workbench_pydantic_ai_run", default=None)


def answered() -> None:
    """Note in the run that a model call was answered just now, in this very task."""
    run, asker = RUN.get(), LAST_MODEL.get()
    if run is not None and asker is not None:
        run.asker = asker


def run_as_step(wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``Agent.iter``, which all ways to run an agent come to."""
    running = wrapped(*args, **kwargs)
    return running if current_seam() is None else _stepped(running, agent)


@asynccontextmanager
async def _stepped(running: Any, agent: Any) -> AsyncIterator[Any]:
    outer = RUN.get()
    RUN.set(Run())
    try:
        async with running as run:
            with agent_step(agent.name):  # the run has found a name for it by now
                yield run
    finally:
        RUN.set(outer)  # not by its token: a run that was let go is closed in another context
