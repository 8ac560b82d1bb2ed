"""Times as a trace has them: UTC, RFC 3339, with microseconds."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from time import time_ns
from typing import Any


def utc_now() -> str:
    """This moment, such as ``2025-11-03T09:15:30.120000Z``."""
    second, nanoseconds = divmod(time_ns(), 1_000_000_000)
    return f"{_second(second)}{nanoseconds // 1000:06d}Z"


@lru_cache(maxsize=2)
def _second(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat()[:-6] + "."


def moment(seconds: float) -> str:
    """A moment given in seconds since 1970, written as :func:`utc_now` does."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")[:-6] + "Z"


def parse_time(text: Any) -> datetime | None:
    """Read a time; None when it is none. One without an offset counts as UTC."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def last_end(starts: Iterable[float], durations: Iterable[float]) -> float | None:
    """The latest end, in seconds; NaN stands for what was not recorded. None when all is that."""
    ends = [
        start + (seconds if seconds == seconds else 0.0)  # noqa: PLR0124 - NaN is not itself
        for start, seconds in zip(starts, durations, strict=True)
        if start == start  # noqa: PLR0124
    ]
    return max(ends, default=None)
