"""An agent that reads clocks and draws ids around calls of a model, for ambient sessions."""

# ruff: noqa: DTZ005, S311 - agents read clocks without zones, and draw without secrecy

import asyncio
import random
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

Ask = Callable[[str], Awaitable[str]]


async def hurried(ask: Ask) -> dict[str, Any]:
    """Sleeps, sets time limits and measures, with its clocks on the tape."""
    begun, wall = time.monotonic(), time.time()
    await asyncio.sleep(0.1)
    first = await ask(f"It is {wall}.")
    try:
        await asyncio.wait_for(asyncio.Event().wait(), 0.05)
        limit = "none"
    except TimeoutError:
        limit = "reached"
    second = await asyncio.wait_for(ask(f"After {time.monotonic() - begun}."), 5)
    return {"first": first, "second": second, "limit": limit, "took": time.monotonic() - begun}


async def paced(ask: Ask) -> list[str]:
    """Asks several times, and says each time when that was."""
    return [await ask(f"{number} at {datetime.now().isoformat()}") for number in range(4)]


async def drawing(ask: Ask, more: int = 0) -> list[str]:
    """Draws a number, or some more, before it makes two ids; each is asked about."""
    drawn = [random.random() for _ in range(1 + more)]
    ids = [uuid.uuid4().hex for _ in range(2)]
    return [await ask(f"{drawn[0]}"), *[await ask(each) for each in ids]]
