"""Parts of a request that an edit left as they were, found again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbench.adapters.frameworks.codec import Body


def aligned(
    messages: Iterable[Body], said: Sequence[tuple[Body, Any]], made: Callable[[Body], Any]
) -> list[Any]:
    """What a framework's own conversation is for edited messages.

    Args:
        messages: the neutral messages, as edited.
        said: the neutral messages as they were, each with the framework's own object; with None
            where there is none to be found again.
        made: makes an object for a message that is new.

    Returns:
        An object for each message: the framework's own, once each, where the message stayed as it
        was.
    """
    left = [each for each in said if each[1] is not None]
    found = []
    for message in messages:
        place = next((n for n, (was, _) in enumerate(left) if was == message), None)
        found.append(made(message) if place is None else left.pop(place)[1])
    return found
