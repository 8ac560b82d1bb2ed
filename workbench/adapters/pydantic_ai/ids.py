"""Ids of tool calls that a provider gave none: the library makes them up, and sends them back."""

from __future__ import annotations

import uuid
from typing import Any

from workbench.seam.current import COVERED
from workbench.seam.pins import reading

SITE = "pydantic_ai:tool_call_id"


class Ids:
    """Stands for the module :mod:`uuid` in the library's own, whose only use of it are these ids.

    A replay makes up the recorded ones, so that its requests are the recorded ones too. Inside of a
    call that is recorded whole they are part of what is recorded.
    """

    def __getattr__(self, name: str) -> Any:
        return getattr(uuid, name)

    def uuid4(self) -> uuid.UUID:
        """An id; on replay the recorded one."""
        if COVERED.get():
            return uuid.uuid4()
        return uuid.UUID(hex=reading("id", lambda: uuid.uuid4().hex, SITE))
