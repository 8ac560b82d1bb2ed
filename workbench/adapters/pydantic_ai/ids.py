"""Ids of tool calls that a provider gave none: the library makes them up, and sends them back."""

from __future__ import annotations

import uuid
from typing import Any

from workbench.adapters.frameworks.ids import uuid4_at


class Ids:
    """Stands for :mod:`uuid` in the library's own module, whose only use of it are these ids."""

    uuid4 = staticmethod(uuid4_at("pydantic_ai:tool_call_id"))

    def __getattr__(self, name: str) -> Any:
        return getattr(uuid, name)
