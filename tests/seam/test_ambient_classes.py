"""In an ambient session dates stay dates, and modules look like modules."""

# ruff: noqa: DTZ001, DTZ901 - moments without a zone are what is compared

import datetime as dt
import pickle
import time as real_time
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter

import workbench as wb

clockwork: Any = import_module("clockwork")  # whose names change while a session is open


def test_classes_stay_what_they_are() -> None:
    """In an ambient session a date is a date, for isinstance, pickle, dicts and models."""

    def agent() -> list[Any]:
        kind, day = clockwork.datetime, clockwork.date
        told = kind.now()
        return [
            isinstance(told, kind),
            isinstance(told, day),
            issubclass(kind, day),
            isinstance(dt.datetime(2026, 1, 2), kind),
            not isinstance("2026", kind),
            kind(2026, 1, 2) == dt.datetime(2026, 1, 2),
            type(kind.fromisoformat("2026-01-02")) is dt.datetime,
            type(kind.strptime("2026", "%Y")) is dt.datetime,
            pickle.loads(pickle.dumps(kind)) is dt.datetime,  # noqa: S301 - our own
            {kind: 1}[type(told)] == 1,
            kind.max == dt.datetime.max,
            repr(clockwork.time) == repr(real_time),
            clockwork.time.sleep is real_time.sleep,
        ]

    assert wb.record(agent, ambient=["clockwork"]).output == [True] * 13


def test_a_subclass_of_the_agent_s_own() -> None:
    """A class of the agent's that is made of a stand-in has its own instances."""

    def agent() -> list[Any]:
        class Mine(clockwork.datetime):  # type: ignore[misc]
            def year_word(self) -> str:
                return f"the year {self.year}"

        told = Mine.now()
        made = Mine(2026, 5, 4)
        return [type(told) is Mine, made.year_word(), isinstance(told, clockwork.datetime)]

    assert wb.record(agent, ambient=["clockwork"]).output == [True, "the year 2026", True]


def test_a_model_takes_a_stand_in_as_an_annotation() -> None:
    """A model that is defined in the run validates the real class."""

    def agent() -> list[Any]:
        checks = TypeAdapter(clockwork.datetime), TypeAdapter(list[clockwork.date])
        return [checks[0].validate_python("2026-01-02"), checks[1].validate_python(["2026-01-02"])]

    recorded = wb.record(agent, ambient=["clockwork"])
    assert recorded.output == [dt.datetime(2026, 1, 2), [dt.date(2026, 1, 2)]]
    assert type(recorded.output[0]) is dt.datetime


def test_a_stand_in_can_be_patched_by_a_test(monkeypatch: Any) -> None:
    """A test that puts a fake clock into the agent's module gets it, and it is taken out again."""

    def agent() -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(clockwork.time, "time", lambda: 5.0)
            faked = clockwork.time.time()
        return [faked, clockwork.time.time() > 10]

    assert wb.record(agent, ambient=["clockwork"]).output == [5.0, True]
    assert real_time.time() > 10
