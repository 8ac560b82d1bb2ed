"""Clock, ids and random numbers: recorded and served by name and call site.

Past a fork's cut they go on being served, so that only one thing changes at a time. Beyond the
recording, ids and random numbers continue from the trace's seed, and the clock goes on from its
last reading.
"""

from __future__ import annotations

import hashlib
import random as _random
import sys
import time
import uuid
from collections import defaultdict, deque
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import DriftError, UsageError
from workbench.seam.current import ENCLOSING, LIVE_WRITE, current_seam, current_step
from workbench.trace.entries import EventLine, ValueLine
from workbench.trace.times import utc_now
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.seam.drivers import Seam
    from workbench.trace.entries import Source
    from workbench.trace.trace import Entry, Trace

Site = tuple[str, str, str, bool]
"""What is read, where in the code, in which step, and whether inside a tool."""

# Newer Pythons run these inside their function, older ones as functions of their own.
_INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


class Pins:
    """The recorded readings that are still to be served."""

    def __init__(self, trace: Trace | None, seed: str) -> None:
        self.seed = seed
        self._recorded: dict[Site, deque[Entry]] = defaultdict(deque)
        self._nth: dict[Site, int] = defaultdict(int)
        self._last_clock: tuple[datetime, float] | None = None
        for entry in trace.entries if trace is not None else ():
            if entry.kind in ("clock", "value"):
                key = (str(entry.name), str(entry.site), entry.step, entry.enclosing is not None)
                self._recorded[key].append(entry)

    def next(self, name: str, site: str) -> tuple[int, Entry | None]:
        """Which reading at that site this is, from 1, and its recorded entry.

        Readings in different steps, inside tools and outside of them do not mix: a tool that is
        served from the trace reads nothing.
        """
        key = (name, site, current_step(), ENCLOSING.get() is not None)
        self._nth[key] += 1
        queue = self._recorded.get(key)
        return self._nth[key], queue.popleft() if queue else None

    def saw_clock(self, moment: datetime) -> None:
        """Note the last reading of the clock."""
        self._last_clock = (moment, time.monotonic())

    def clock(self) -> datetime | None:
        """The clock beyond the recording: the last reading plus what has passed since."""
        if self._last_clock is None:
            return None
        moment, at = self._last_clock
        return moment + timedelta(seconds=time.monotonic() - at)

    def derived(self, name: str, site: str, nth: int) -> bytes:
        """16 bytes that depend on nothing but the seed and the reading."""
        text = f"{self.seed}\0{name}\0{site}\0{nth}"
        return hashlib.sha256(text.encode()).digest()[:16]


def now() -> datetime:
    """The time, in UTC with microseconds; on replay the recorded one."""

    def beyond(pins: Pins, _site: str, _nth: int) -> datetime:
        return pins.clock() or datetime.now(UTC)

    moment = _read("clock", "now", lambda: datetime.now(UTC), beyond)
    seam = current_seam()
    if seam is not None:
        seam.session.setting.pins.saw_clock(moment)
    return moment  # type: ignore[no-any-return]


def new_id() -> str:
    """A new id, 32 hexadecimal digits; on replay the recorded one.

    Past a fork's cut too, except inside a tool that writes: for the key of a write there is
    :func:`workbench.idempotency_key`.
    """
    return str(
        _read(
            "value",
            "id",
            lambda: uuid.uuid4().hex,
            lambda pins, site, nth: pins.derived("id", site, nth).hex(),
        )
    )


def random() -> float:
    """A random number, 0 ≤ x < 1; on replay the recorded one."""

    def beyond(pins: Pins, site: str, nth: int) -> float:
        return int.from_bytes(pins.derived("random", site, nth)[:7], "big") / (1 << 56)

    return float(_read("value", "random", _random.random, beyond))


def sleep(seconds: float) -> None:
    """Wait; on replay nobody really waits, unless the replay asks for real time.

    Raises:
        UsageError: the time is negative.
    """
    if seconds < 0:
        raise UsageError(f"sleep({seconds!r}): a time to wait is not negative")
    seam = current_seam()
    setting = seam.session.setting if seam is not None else None
    if setting is None or setting.recording or setting.policy.realtime:
        time.sleep(seconds)


def write_event(type: str, data: Any = None) -> None:  # noqa: A002 - the format's own word
    """Write an event into the trace: what happened, with any value that a trace can hold.

    Outside any session it does nothing.

    Raises:
        UnencodableError: the trace cannot represent the data.
    """
    seam = current_seam()
    if seam is None:
        return
    value = encode(data)
    with seam.lock:
        journal = seam.session.journal
        optional = {"step": current_step(), "enclosing": ENCLOSING.get()}
        fields = {name: value for name, value in optional.items() if value}
        journal.append(
            EventLine(
                line="event", id=journal.new_id(), at=utc_now(), type=type, data=value, **fields
            )
        )


def _read(
    kind: Literal["clock", "value"],
    name: str,
    live: Callable[[], Any],
    beyond: Callable[[Pins, str, int], Any],
) -> Any:
    seam = current_seam()
    if seam is None:
        return live()
    site = _site()
    with seam.lock:
        if seam.session.stopped is not None:
            raise seam.session.stopped
        setting = seam.session.setting
        nth, entry = setting.pins.next(name, site)
        source: Source = "live"
        if setting.recording or LIVE_WRITE.get():
            # Inside a live write nothing recorded may reach the world: an id may be a key there.
            value = live()
        elif entry is not None:
            value, source = decode(entry.value), "replayed"
        else:
            if setting.offline and setting.policy.strict:
                raise _unrecorded(seam, name, site, nth)
            value, source = beyond(setting.pins, site, nth), "simulated"
        _write(seam, kind, name, site, nth, source, value)
    return value


def _write(
    seam: Seam,
    kind: Literal["clock", "value"],
    name: str,
    site: str,
    nth: int,
    source: Source,
    value: Any,
) -> None:
    journal = seam.session.journal
    optional = {"step": current_step(), "enclosing": ENCLOSING.get()}
    place: dict[str, Any] = {name: value for name, value in optional.items() if value}
    line = ValueLine(
        line=kind,
        id=journal.new_id(),
        at=utc_now(),
        **place,
        name=name,
        site=site,
        nth=nth,
        source=source,
        value=encode(value),
    )
    journal.append(line)


def _unrecorded(seam: Seam, name: str, site: str, nth: int) -> DriftError:
    drift = DriftError(
        f"reading {nth} of {name} in {site} was not recorded: the recording has "
        f"{nth - 1} there. The agent reads it more often than it did; record again to keep the "
        "change"
    )
    seam.session.drift = seam.session.drift or drift
    return drift


def _site() -> str:
    """The agent's function that reads, as ``module:function``."""
    frame = sys._getframe(3)  # noqa: SLF001 - as in current.call_site
    while frame.f_code.co_name in _INLINED and frame.f_back is not None:
        frame = frame.f_back
    code = frame.f_code
    return f"{frame.f_globals.get('__name__', '?')}:{code.co_qualname}"
