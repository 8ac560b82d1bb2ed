"""Ids that a framework makes up and sends: a replay makes up the recorded ones."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from workbench.seam.current import COVERED
from workbench.seam.pins import reading


def uuid4_at(site: str) -> Callable[[], uuid.UUID]:
    """What stands in for :func:`uuid.uuid4` in one place of a framework.

    Inside of a call that is recorded whole, ids are part of what is recorded.

    Args:
        site: where the ids are made up, such as ``pydantic_ai:tool_call_id``; readings are found
            by it.
    """

    def uuid4() -> uuid.UUID:
        if COVERED.get():
            return uuid.uuid4()
        # One more than recorded is sent with what it was made for, which tells what has changed.
        return uuid.UUID(hex=reading("id", lambda: uuid.uuid4().hex, site, goes_on=True))

    return uuid4
