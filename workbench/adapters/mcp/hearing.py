"""What a server says or asks for while a call of its runs: to whom it belongs, and once more."""

from __future__ import annotations

import asyncio
import logging
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from workbench.seam.current import COVERED_TOOL, LAST_MODEL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextvars import Context

    from workbench.adapters.mcp.link import Link, Progress

_TURNS = 50
"""So many turns of the loop a callback has for what the server said, before the call goes on."""

logger = logging.getLogger(__name__)


@contextmanager
def within(context: Context | None) -> Iterator[None]:
    """Code that a server asks for belongs to the call that runs meanwhile."""
    tokens: list[tuple[ContextVar[Any], Any]] = []
    for variable, value in context.items() if context is not None else ():
        if variable.name.startswith("workbench_") and variable not in (COVERED_TOOL, LAST_MODEL):
            tokens.append((variable, variable.set(value)))
    tokens += [(other, other.set(None)) for other in (COVERED_TOOL, LAST_MODEL)]
    try:
        yield
    finally:
        for variable, token in reversed(tokens):
            variable.reset(token)


async def heard_again(link: Link, heard: list[Any], progress: Progress | None) -> None:
    """Let the callbacks have what the server said during a recorded call, in its order."""
    tasks = []
    for said in heard:
        if not isinstance(said, dict):
            continue
        if "method" in said:
            tasks.append(asyncio.create_task(link.wire.hear(said["method"], said.get("params"))))
            continue
        if progress is not None:
            tasks.append(asyncio.create_task(_progressed(progress, said)))
        tasks.append(
            asyncio.create_task(
                link.wire.hear("notifications/progress", {"progressToken": 0, **said})
            )
        )
    # They run beside the call, as they did: one that waits for what comes later holds nothing up.
    for _ in range(_TURNS):
        if all(task.done() for task in tasks):
            break
        await asyncio.sleep(0)
    _beside.update(task for task in tasks if not task.done())
    for task in tasks:
        task.add_done_callback(_beside.discard)


_beside: set[asyncio.Task[None]] = set()
"""Callbacks that go on while the agent does; a task that nobody holds may vanish."""


async def _progressed(progress: Progress, said: dict[str, Any]) -> None:
    try:
        await progress(said["progress"], said.get("total"), said.get("message"))
    except Exception:  # the SDK keeps a callback's failure from its session in the same way
        logger.exception("the progress callback of an MCP call failed")
