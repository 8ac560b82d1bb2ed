"""One ambient reading: a function of Python's own that the agent's module calls."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from workbench.seam.current import own_frame, whose
from workbench.seam.pins import Pins, Reading, site_of, write_reading

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType


def looking_like(function: Callable[..., Any], real: Any) -> Callable[..., Any]:
    """A stand-in with the name and the docstring of the function that it stands for."""
    for each in ("__name__", "__qualname__", "__doc__"):
        setattr(function, each, getattr(real, each))
    return function


@dataclass(frozen=True, slots=True)
class Ambient:
    """A kind of reading that is recorded where the session is ambient, and just live elsewhere."""

    name: str
    """As the agent calls it: ``time.time``, ``random.choice``."""
    group: Literal["clock", "id", "random"]
    """What it is one of."""
    seen: Callable[[Pins, Reading], None] | None = None
    """Told of each reading."""

    def read(
        self,
        live: Callable[[], Any],
        further: Callable[[Pins, Reading], Any],
        fits: Callable[[Any], bool] | None = None,
    ) -> Any:
        """What is read: by the session, if there is an ambient one.

        Args:
            live: reads it for real.
            further: makes what comes beyond the recording.
            fits: whether a recorded reading is one that could come here.

        Raises:
            DriftError: a strict replay, and no such draw was recorded here. Clocks go on.
        """
        seam = whose()
        if seam is None or seam.over or not seam.session.setting.ambient:
            return live()
        is_clock = self.group == "clock"
        asked = Reading(
            "clock" if is_clock else "value",
            self.name,
            _site(),
            live,
            further=further,
            fits=fits,
            group=self.group,
            goes_on=is_clock,
        )
        with seam.lock:
            seam.session.read(asked)
            if self.seen is not None:
                self.seen(seam.session.setting.pins, asked)
            write_reading(seam, asked)
        return asked.value


def _site() -> str:
    """The agent's function that reads; what stands between is a library that was given ours."""
    frame: FrameType | None = sys._getframe(2)  # noqa: SLF001 - as in current.call_site
    while frame is not None:
        if own_frame(frame):
            return site_of(frame)
        frame = frame.f_back
    return "?"
