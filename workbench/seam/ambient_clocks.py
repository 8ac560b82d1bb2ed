"""The clocks of the agent's own modules: stand-ins for what :mod:`time` and :mod:`datetime` have.

``sleep`` is none of them: a wait is real, and the loop's and the threads' clocks stay as they are.
"""

from __future__ import annotations

import copyreg
import datetime as dt
import time as _time
from typing import TYPE_CHECKING, Any

from workbench.seam.ambient_reads import Ambient, looking_like

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.seam.pins import Pins, Reading

_NS = 1_000_000_000


def _moment(value: Any) -> dt.datetime | None:
    """The moment that a reading of the wall clock tells, in UTC; None where it tells a part."""
    if isinstance(value, dt.datetime):
        return value.astimezone(dt.UTC)
    if isinstance(value, int) and value > 10**12:
        return dt.datetime.fromtimestamp(value / _NS, dt.UTC)
    if isinstance(value, float):
        return dt.datetime.fromtimestamp(value, dt.UTC)
    return None


def _saw(pins: Pins, asked: Reading) -> None:
    moment = _moment(asked.value)
    if moment is not None:
        pins.saw_clock(moment)


def _ticked(pins: Pins, asked: Reading) -> None:
    name, in_ns = asked.name.removesuffix("_ns"), asked.name.endswith("_ns")
    seconds = asked.value / _NS if in_ns else asked.value
    steady = pins.saw_tick(name, seconds, recorded=asked.source == "replayed")
    if steady != seconds:
        asked.value = round(steady * _NS) if in_ns else steady


def _wall(name: str, further: Callable[[dt.datetime], Any]) -> Callable[[], Any]:
    ambient = Ambient(f"time.{name}", "clock", _saw)

    def read() -> Any:
        return ambient.read(getattr(_time, name), lambda pins, _: further(pins.clock()))

    return looking_like(read, getattr(_time, name))


def _steady(name: str) -> Callable[[], Any]:
    """A clock that never goes back."""
    ambient = Ambient(f"time.{name}", "clock", _ticked)
    seconds = name.removesuffix("_ns")

    def further(pins: Pins, _: Reading) -> Any:
        value = pins.tick(f"time.{seconds}", getattr(_time, seconds)())
        return value if name == seconds else round(value * _NS)

    def read() -> Any:
        return ambient.read(getattr(_time, name), further)

    return looking_like(read, getattr(_time, name))


def _broken_down(name: str) -> Callable[..., Any]:
    """``localtime`` and ``gmtime``: without a time they read the clock."""
    ambient = Ambient(f"time.{name}", "clock")
    real = getattr(_time, name)

    def read(secs: float | None = None, /) -> Any:
        if secs is not None:
            return real(secs)
        told = ambient.read(
            lambda: _parts(getattr(_time, name)()),
            lambda pins, _: _parts(real(pins.clock().timestamp())),
        )
        return _time.struct_time(told)

    return looking_like(read, getattr(_time, name))


def _parts(moment: _time.struct_time) -> list[Any]:
    return [*moment, moment.tm_zone, moment.tm_gmtoff]


def _worded(name: str, words: int) -> Callable[..., Any]:
    """``strftime``, ``ctime`` and ``asctime``, with so many words before the time."""
    ambient = Ambient(f"time.{name}", "clock")
    real = getattr(_time, name)

    def read(*args: Any) -> Any:
        if len(args) != words:
            return real(*args)

        def further(pins: Pins, _: Reading) -> Any:
            seconds = pins.clock().timestamp()
            return real(*args, seconds if name == "ctime" else _time.localtime(seconds))

        return ambient.read(lambda: getattr(_time, name)(*args), further)

    return looking_like(read, getattr(_time, name))


TIME: dict[str, Any] = {
    "time": _wall("time", lambda moment: moment.timestamp()),
    "time_ns": _wall("time_ns", lambda moment: round(moment.timestamp() * _NS)),
    **{each: _steady(each) for each in ("monotonic", "perf_counter")},
    **{each: _steady(each) for each in ("monotonic_ns", "perf_counter_ns")},
    **{each: _broken_down(each) for each in ("localtime", "gmtime")},
    "strftime": _worded("strftime", 1),
    "ctime": _worded("ctime", 0),
    "asctime": _worded("asctime", 0),
}
"""What stands in for functions of :mod:`time`, by name."""


class _Real(type):
    """What is an instance of the real class is one of the stand-in, which has none of its own."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _real(cls)) or type.__instancecheck__(cls, instance)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, _real(cls)) or type.__subclasscheck__(cls, other)

    def __eq__(cls, other: object) -> bool:
        return cls is other or _real(cls) is other

    def __hash__(cls) -> int:
        return type.__hash__(_real(cls))


def _real(cls: type) -> type:
    """The class that a stand-in stands for; a subclass of a stand-in is only itself."""
    found: type = vars(cls).get("_stands_for", cls)
    return found


def _schema(cls: type, _source: Any, handler: Any) -> Any:
    """A model with such an annotation validates the real class."""
    return handler(_real(cls))


def _new(cls: type, *args: Any, **kwargs: Any) -> Any:
    real = _real(cls)
    if real is not cls:
        return real(*args, **kwargs)
    base = next(each for each in cls.__mro__ if "_stands_for" in vars(each))
    return _real(base).__new__(cls, *args, **kwargs)


class Date(dt.date, metaclass=_Real):
    """Stands in for :class:`datetime.date`."""

    _stands_for = dt.date
    __new__ = _new
    __get_pydantic_core_schema__: Any = classmethod(_schema)

    @classmethod
    def today(cls) -> Any:
        """The date; on replay the recorded one."""
        told = _TODAY.read(dt.date.today, lambda pins, _: _local(pins).date())
        return told if cls is Date else cls(told.year, told.month, told.day)


class DateTime(dt.datetime, metaclass=_Real):
    """Stands in for :class:`datetime.datetime`."""

    _stands_for = dt.datetime
    __new__ = _new
    __get_pydantic_core_schema__: Any = classmethod(_schema)

    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> Any:
        """The time; on replay the recorded one."""
        if tz is None:
            return _of(cls, _NOW.read(dt.datetime.now, lambda pins, _: _local(pins), _naive))
        told = _NOW.read(lambda: dt.datetime.now(dt.UTC), lambda pins, _: pins.clock(), _aware)
        return _of(cls, told.astimezone(tz))

    @classmethod
    def today(cls) -> Any:
        """The time without a zone; on replay the recorded one."""
        return _of(cls, _NOW.read(dt.datetime.now, lambda pins, _: _local(pins), _naive))

    @classmethod
    def utcnow(cls) -> Any:
        """The time of UTC, without a zone; on replay the recorded one."""
        told = _NOW.read(lambda: dt.datetime.now(dt.UTC), lambda pins, _: pins.clock(), _aware)
        return _of(cls, told.replace(tzinfo=None))


_NOW = Ambient("datetime.now", "clock", _saw)
_TODAY = Ambient("date.today", "clock")


def _naive(told: Any) -> bool:
    return isinstance(told, dt.datetime) and told.tzinfo is None


def _aware(told: Any) -> bool:
    return isinstance(told, dt.datetime) and told.tzinfo is not None


def _local(pins: Pins) -> dt.datetime:
    return pins.clock().astimezone().replace(tzinfo=None)


def _of(cls: type, told: dt.datetime) -> Any:
    """A moment as the class has it: a stand-in gives the real class's, so that nothing of it is
    left when the session is over."""
    if cls is DateTime:
        return told
    parts = told.year, told.month, told.day, told.hour, told.minute, told.second
    return cls(*parts, told.microsecond, told.tzinfo, fold=told.fold)


def real_class(name: str) -> type:
    """A class of :mod:`datetime`: what a pickled stand-in comes back as."""
    found: type = getattr(dt, name)
    return found


def _by_name(cls: type) -> str | tuple[Any, ...]:
    real = _real(cls)
    return cls.__qualname__ if real is cls else (real_class, (real.__name__,))


for _stand in (Date, DateTime):
    _stand.__module__ = "datetime"
    _stand.__name__ = _stand.__qualname__ = _real(_stand).__name__
copyreg.pickle(_Real, _by_name)

DATETIME: dict[str, Any] = {"date": Date, "datetime": DateTime}
"""What stands in for classes of :mod:`datetime`, by name."""
