"""The ways in which the events of a stream travel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.adapters.http.frames import FrameSplitter, write_frame
from workbench.adapters.http.wire import EVENTS, Splitter, write_event


@dataclass(frozen=True, slots=True)
class Framing:
    """One way."""

    splitter: Callable[[], Splitter | FrameSplitter]
    """Makes what cuts bytes into events."""
    write: Callable[[Any, str | None], bytes]
    """An event's bytes, of its data and its name."""
    content_type: str
    """What such a stream says of itself."""
    is_text: bool = True
    """Whether what is left after the last event can be kept as text."""


TEXT = Framing(Splitter, write_event, EVENTS)
"""Events as text, as most servers send them."""
FRAMES = Framing(FrameSplitter, write_frame, "application/vnd.amazon.eventstream", is_text=False)
"""AWS's binary frames."""
