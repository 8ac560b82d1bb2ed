"""Clock, ids and random numbers: recorded and served by name and call site.

Past a fork's cut they go on being served, so that only one thing changes at a time. Beyond the
recording, ids and random numbers continue from the trace's seed, and the clock goes on from its
last reading.
"""

from __future__ import annotations

import asyncio
import hashlib
import random as _random
import sys
import time
import uuid
from collections import defaultdict, deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import DriftError, UsageError
from workbench.seam.calls import Call, Outcome
from workbench.seam.current import ENCLOSING, current_seam, current_step
from workbench.seam.drivers import call_sync
from workbench.seam.exceptions import describe, rebuild
from workbench.trace.entries import ValueLine
from workbench.trace.times import utc_now
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType

    from workbench.seam.calls import Served
    from workbench.seam.drivers import Seam, Tap
    from workbench.trace.entries import ErrorInfo, Source
    from workbench.trace.trace import Entry, Trace

Site = tuple[str, str, str, bool]
"""What is read, where in the code, in which step, and whether inside a tool."""

# Newer Pythons run these inside their function, older ones as functions of their own.
_INLINED = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


@dataclass(slots=True)
class Reading:
    """A reading of the clock, an id or a random number, on its way through the session."""

    kind: Literal["clock", "value"]
    name: str
    """``now``, ``id`` or ``random``; of a module's own function ``random.choice`` and the like."""
    site: str
    live: Callable[[], Any]
    """Reads it for real."""
    further: Callable[[Pins, Reading], Any] | None = None
    """Makes the reading beyond the recording; by default by its name."""
    fits: Callable[[Any], bool] | None = None
    """Whether a recorded reading is one that could be read here; by default any is."""
    group: Literal["clock", "id", "random"] | None = None
    """By which name an option lets it go; by default its own."""
    goes_on: bool = False
    """Whether one more reading than was recorded is no drift."""
    nth: int = 0
    entry: Entry | None = None
    value: Any = None
    source: Source = "live"

    @property
    def released(self) -> str:
        """By which name an option lets it go."""
        return self.group or ("clock" if self.kind == "clock" else self.name)


class Pins:
    """The recorded readings that are still to be served."""

    def __init__(
        self, trace: Trace | None, seed: str, edits: Mapping[str, Any] | None = None
    ) -> None:
        self.seed = seed
        self._edits = edits or {}
        self.edited: set[str] = set()
        """Readings whose edit was made use of."""
        self._recorded: dict[Site, deque[Entry]] = defaultdict(deque)
        self.inside: dict[str, list[Entry]] = {}
        """Readings inside a tool's call, by that call."""
        self._gone: set[str] = set()
        self._nth: dict[Site, int] = defaultdict(int)
        self._last_clock: tuple[datetime, float] | None = None
        self._ticks: dict[str, tuple[float, float]] = {}
        """The last reading of each clock that never goes back, and when that was."""
        self._beyond: set[str] = set()
        """Those of them that were read beyond the recording."""
        for entry in trace.entries if trace is not None else ():
            if entry.kind in ("clock", "value"):
                key = (str(entry.name), str(entry.site), entry.step, entry.enclosing is not None)
                self._recorded[key].append(entry)
                if entry.enclosing is not None:
                    self.inside.setdefault(entry.enclosing, []).append(entry)

    def find(self, reading: Reading) -> None:
        """Note which reading at that site this is, from 1, and its recorded entry.

        Readings in different steps, inside tools and outside of them do not mix: a tool that is
        served from the trace reads nothing.
        """
        key = (reading.name, reading.site, current_step(), ENCLOSING.get() is not None)
        self._nth[key] += 1
        queue = self._recorded.get(key)
        while queue and queue[0].id in self._gone:
            queue.popleft()
        reading.nth, reading.entry = self._nth[key], queue.popleft() if queue else None

    def consume(self, entry: Entry) -> None:
        """A reading belongs to a tool's call that is served whole: nobody reads it again."""
        self._gone.add(entry.id)

    def serve(self, reading: Reading) -> None:
        """The recorded reading, or what a person made of it."""
        entry = reading.entry
        assert entry is not None  # noqa: S101 - a served reading was found
        if entry.id in self._edits:
            reading.value, reading.source = decode(self._edits[entry.id]), "edited"
            self.edited.add(entry.id)
        else:
            reading.value, reading.source = decode(entry.value), "replayed"
        if reading.fits is not None and not reading.fits(reading.value):
            self.go_on(reading)

    def go_on(self, reading: Reading) -> None:
        """The reading beyond the recording: from the seed, or the clock as it has gone on."""
        reading.source = "simulated"
        if reading.further is not None:
            reading.value = reading.further(self, reading)
        elif reading.kind == "clock":
            reading.value = self.clock()
        elif reading.name == "id":
            reading.value = self.derived(reading).hex()
        else:
            reading.value = int.from_bytes(self.derived(reading)[:7], "big") / (1 << 56)

    def saw_clock(self, moment: datetime) -> None:
        """Remember the last reading of the clock."""
        self._last_clock = (moment, time.monotonic())

    def slept(self, seconds: float) -> None:
        """Nobody really waited, but for the clock beyond the recording somebody did."""
        if self._last_clock is not None:
            moment, at = self._last_clock
            self._last_clock = moment + timedelta(seconds=seconds), at
        for name, (value, at) in self._ticks.items():
            self._ticks[name] = value + seconds, at

    def saw_tick(self, name: str, value: float, *, recorded: bool) -> float:
        """A reading in seconds of a clock that never goes back; it does not here, either, once it
        was read beyond the recording."""
        last = self._ticks.get(name)
        if last is not None and name in self._beyond and recorded:
            value = max(value, last[0])
        self._ticks[name] = value, time.monotonic()
        return value

    def tick(self, name: str, live: float) -> float:
        """The reading of such a clock beyond the recording: as it has gone on since."""
        self._beyond.add(name)
        last = self._ticks.get(name)
        return live if last is None else last[0] + time.monotonic() - last[1]

    def clock(self) -> datetime:
        """The time beyond the recording, in UTC: as it has gone on since the last reading."""
        if self._last_clock is None:
            return datetime.now(UTC)
        moment, at = self._last_clock
        return moment + timedelta(seconds=time.monotonic() - at)

    def derived(self, reading: Reading) -> bytes:
        """16 bytes that depend on nothing but the seed and the reading."""
        text = f"{self.seed}\0{reading.name}\0{reading.site}\0{reading.nth}"
        return hashlib.sha256(text.encode()).digest()[:16]


def now() -> datetime:
    """The time, in UTC with microseconds; on replay the recorded one."""
    return reading("now", lambda: datetime.now(UTC))  # type: ignore[no-any-return]


def new_id() -> str:
    """A new id, 32 hexadecimal digits; on replay the recorded one.

    Past a fork's cut too, except inside a tool that writes: for the key of a write there is
    :func:`workbench.idempotency_key`.
    """
    return str(reading("id", lambda: uuid.uuid4().hex))


def random() -> float:
    """A random number, 0 ≤ x < 1; on replay the recorded one."""
    return float(reading("random", _random.random))


def sleep(seconds: float) -> None:
    """Wait. On replay nobody really waits, unless the replay asks for real time; a fork waits
    once it is live, since then whoever is waited for is real.

    Raises:
        UsageError: the time is negative.
    """
    if sleeps(seconds):
        time.sleep(seconds)


def sleeps(seconds: float) -> bool:
    """Whether a wait is a real one. Where it is not, the clock goes on all the same.

    Raises:
        UsageError: the time is negative.
    """
    if not seconds >= 0:
        raise UsageError(f"sleep({seconds!r}): a time to wait is not negative")
    seam = current_seam()
    if seam is None:
        return True
    with seam.lock:
        session = seam.session
        setting = session.setting
        if setting.recording or setting.policy.realtime or session.live:
            return True
        setting.pins.slept(seconds)
        if _others_go_on():
            session.handing.order.join()
    return False


def _others_go_on() -> bool:
    """Whether this is one of several tasks of a loop."""
    try:
        return len(asyncio.all_tasks()) > 1
    except RuntimeError:  # there is no loop
        return False


def write_event(type: str, data: Any = None) -> None:  # noqa: A002 - the format's own word
    """Write an event into the trace: what happened, with any value that a trace can hold.

    A replay compares it with what was recorded. Outside any session it does nothing.

    Raises:
        UnencodableError: the trace cannot represent the data.
        DriftError: a strict replay, and no such event was recorded here.
    """
    seam = current_seam()
    if seam is not None:
        request = {"type": type, "data": encode(data)}
        call_sync(seam, Call("event", request, name=type), EventHooks())


class EventHooks:
    """Takes an event over the seam."""

    def perform(self, request: Any) -> None:
        """It only has to be written, which the session does."""

    def outcome(self, result: Any) -> Outcome:  # noqa: ARG002 - there is none
        """An event has no outcome."""
        return Outcome()

    def failure(self, error: BaseException) -> Outcome:
        """Why it was not written."""
        return Outcome(error=describe(error))

    def exception(self, info: ErrorInfo) -> BaseException:
        """An injected failure."""
        return rebuild(info)

    def deliver(self, served: Served) -> None:
        """It was recorded like that."""

    def is_stream(self, result: Any) -> bool:  # noqa: ARG002 - it never is
        """It never is one."""
        return False

    def tee(self, result: Any, tap: Tap) -> Any:  # noqa: ARG002 - never called
        """Not asked for."""
        return result


def reading(
    name: Literal["now", "id", "random"],
    live: Callable[[], Any],
    site: str | None = None,
    *,
    goes_on: bool = False,
) -> Any:
    """Take a reading over the seam.

    Args:
        name: what is read.
        live: reads it for real.
        site: the agent's function that reads; by default the one that called the caller.
        goes_on: whether a strict replay, too, goes on beyond the recording: where what comes of it
            drifts anyway, and says more.

    Raises:
        DriftError: a strict replay, and it was not read so often when it was recorded.
    """
    seam = current_seam()
    if seam is None:
        return live()
    kind: Literal["clock", "value"] = "clock" if name == "now" else "value"
    asked = Reading(kind, name, site or agent_site(2), live, goes_on=goes_on)
    with seam.lock:
        seam.session.read(asked)
        write_reading(seam, asked)
        if asked.kind == "clock":
            seam.session.setting.pins.saw_clock(asked.value)
    return asked.value


def write_reading(seam: Seam, asked: Reading) -> None:
    """Write a reading into the trace; to be done under the session's lock."""
    journal = seam.session.setting.journal
    optional = {"step": current_step(), "enclosing": ENCLOSING.get()}
    place: dict[str, Any] = {name: value for name, value in optional.items() if value}
    line = ValueLine(
        line=asked.kind,
        id=journal.new_id(),
        at=utc_now(),
        **place,
        name=asked.name,
        site=asked.site,
        nth=asked.nth,
        source=asked.source,
        value=encode(asked.value),
    )
    journal.append(line)


def unrecorded(asked: Reading) -> DriftError:
    """The error for a reading that the recording does not have."""
    return DriftError(
        f"reading {asked.nth} of {asked.name} in {asked.site} was not recorded: the recording has "
        f"{asked.nth - 1} there. The agent reads it more often than it did; record again to keep "
        "the change"
    )


def agent_site(depth: int = 0) -> str:
    """The agent's function that reads, as ``module:function``: so many calls above the caller."""
    return site_of(sys._getframe(1 + depth))  # noqa: SLF001 - as in current.call_site


def site_of(frame: FrameType) -> str:
    """The function of a frame, as ``module:function``."""
    while frame.f_code.co_name in _INLINED and frame.f_back is not None:
        frame = frame.f_back
    code = frame.f_code
    return f"{frame.f_globals.get('__name__', '?')}:{code.co_qualname}"
