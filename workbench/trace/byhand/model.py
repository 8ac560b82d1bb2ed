"""What a recording holds, once it was found to be well formed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TURN_FIELDS = (
    "content",
    "tool_calls",
    "model",
    "provider",
    "usage",
    "cost_usd",
    "latency_ms",
    "finish_reason",
    "request_hash",
    "meta",
    "embeddings",
    "fault",
)
"""The fields of an entry, none of them required."""

TOOL_FIELDS = ("name", "arguments", "result", "success", "fault")
"""The fields of a recorded tool result; only the name is required."""

VERSION = 2
"""The version that is read and written."""

USAGE_NAMES = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
"""How a recording's token counts are called in a trace, where the names differ."""


@dataclass(slots=True)
class Step:
    """One step's answers."""

    turns: list[dict[str, Any]]
    """In the order of calls, as they were written."""
    repeats: bool
    """It is one entry, not a list: it answers every call of the step."""


@dataclass(slots=True)
class Recording:
    """A whole recording."""

    steps: dict[str, Step] = field(default_factory=dict)
    """By step id."""
    tools: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The recorded tool results of each step, in order."""
    events: list[dict[str, Any]] = field(default_factory=list)
    """The run's event log."""
    kept: dict[str, Any] = field(default_factory=dict)
    """Other keys that begin with ``_``: they are kept, and mean nothing here."""
