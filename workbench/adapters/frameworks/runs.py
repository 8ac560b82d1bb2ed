"""Runs of agents: which agent is at it, and which of its model calls was answered last.

A framework makes model calls and tool calls in tasks of their own, so that no context variable
goes from one to the other. They share one object instead, which belongs to the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from workbench.seam.current import LAST_MODEL


class Run:
    """One run of an agent, or of several that hand over to each other."""

    __slots__ = ("agent", "asker")

    def __init__(self) -> None:
        self.agent: str | None = None
        """The agent that is at it, by name."""
        self.asker: str | None = None
        """The model call that was answered last."""


RUN: ContextVar[Run | None] = ContextVar("workbench_framework_run", default=None)


@contextmanager
def own_run() -> Iterator[Run]:
    """What is called here belongs to a new run."""
    outer, run = RUN.get(), Run()
    RUN.set(run)
    try:
        yield run
    finally:
        RUN.set(outer)  # not by a token: a run that was let go is closed in another context


def answered() -> None:
    """Note in the run that a model call was answered just now, in this very task."""
    run, asker = RUN.get(), LAST_MODEL.get()
    if run is not None and asker is not None:
        run.asker = asker


@contextmanager
def asked_by_last() -> Iterator[None]:
    """A tool that is called here was asked for by the run's last model call."""
    run = RUN.get()
    if run is None or run.asker is None:
        yield
        return
    token = LAST_MODEL.set(run.asker)
    try:
        yield
    finally:
        LAST_MODEL.reset(token)
