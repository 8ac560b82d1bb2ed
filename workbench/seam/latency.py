"""How long a served answer takes: a latency model, for answers that cost no time otherwise."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args

from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.trace.trace import Entry

LatencyModel = Literal["none", "constant", "normal", "recorded"]

_SPREAD = 0.1
"""The spread of ``normal``, as a part of its mean."""
_LEAST_S = 0.001


@dataclass(frozen=True, slots=True)
class Latency:
    """How long the agent waits for an answer that is served.

    Args:
        model: ``none``; ``constant``: ``ms`` each; ``normal``: around ``ms``, with a spread of a
            tenth of it and at least 1 ms; ``recorded``: as long as it took when it was recorded,
            ``ms`` where that is not known.
        ms: milliseconds.
        seed: makes the waits of ``normal`` the same in every run.

    Raises:
        UsageError: there is no such model, or the time is negative or no number.
    """

    model: LatencyModel = "none"
    ms: float = 0.0
    seed: int = 0
    _random: random.Random = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.model not in get_args(LatencyModel):
            known = ", ".join(repr(each) for each in get_args(LatencyModel))
            raise UsageError(f"latency={self.model!r}: choose one of {known}")
        if not 0 <= self.ms < math.inf:
            raise UsageError(f"a latency of {self.ms!r} ms: give a number of milliseconds from 0")
        object.__setattr__(self, "_random", random.Random(self.seed))  # noqa: S311 - no secret

    @classmethod
    def of(cls, latency: Latency | str | None) -> Latency | None:
        """The model that an option names, for one run; None for no waiting at all.

        Raises:
            UsageError: there is no such model, or its name alone does not say how long.
        """
        if latency is None:
            return None
        # Each run draws from the seed anew, also when the same object is given to several.
        found = replace(latency) if isinstance(latency, cls) else cls(latency)  # type: ignore[arg-type]
        if found.model in ("constant", "normal") and not isinstance(latency, cls):
            raise UsageError(
                f"latency={latency!r} does not say how long: give Latency({latency!r}, ms=200)"
            )
        return None if found.model == "none" else found

    def seconds(self, entry: Entry | None) -> float:
        """How long to wait before the answer, or the first piece of it, is handed over."""
        if self.model == "recorded" and entry is not None:
            known = entry.first_s if entry.first_s is not None else entry.duration_s
            if known is not None:
                return known
        if self.model == "normal":
            drawn = self._random.gauss(self.ms, self.ms * _SPREAD)
            return max(drawn / 1000, _LEAST_S)
        return self.ms / 1000
