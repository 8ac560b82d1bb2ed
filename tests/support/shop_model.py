"""The model that the shops' agents ask, played by a function, and a loop of a test's own."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from chat_server import call, results

QUESTION = "What did order 101 cost?"


def shop(asked: dict[str, Any]) -> Any:
    """Looks the order up, pays it back, and says so."""
    got = results(asked)
    if not got:
        return call("get_order", number=101)
    if len(got) == 1:
        amount = 149.99 if "149.99" in got[0] else 0.5
        return call("refund", number=101, amount=amount)
    return "Done: " + ", ".join(got)


@contextmanager
def own_loop() -> Iterator[None]:
    """A loop for ``run_sync``, which would leave one of its own open."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        yield
    finally:
        asyncio.set_event_loop(None)
        loop.close()
