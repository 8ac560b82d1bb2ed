"""An agent that reads every clock and draws in every way, for the tests of ambient sessions."""

# ruff: noqa: DTZ002, DTZ003, DTZ005, DTZ011, S311 - agents read clocks without zones, and draw without secrecy

import datetime as dt
import random
import secrets
import time
import uuid
from datetime import date, datetime, timedelta, timezone
from random import choice, randint
from time import monotonic, perf_counter
from typing import Any
from uuid import uuid4

ELSEWHERE = timezone(timedelta(hours=2))
ITEMS = ["a", "b", "c", "d", "e", "f", "g", "h"]


def clocks() -> dict[str, Any]:
    """Every clock, by every way of importing it."""
    return {
        "time": time.time(),
        "time_ns": time.time_ns(),
        "monotonic": [time.monotonic(), monotonic(), time.monotonic_ns()],
        "perf": [time.perf_counter(), perf_counter(), time.perf_counter_ns()],
        "now": [
            datetime.now(),
            dt.datetime.now(dt.UTC),
            datetime.now(tz=timezone(timedelta(hours=2))),
        ],
        "utcnow": datetime.utcnow(),
        "today": [datetime.today(), date.today(), dt.date.today()],
        "parts": [list(time.localtime()), list(time.gmtime()), time.localtime().tm_zone],
        "words": [time.strftime("%Y-%m-%d %H:%M:%S"), time.ctime(), time.asctime()],
    }


def draws() -> dict[str, Any]:
    """Every kind of draw."""
    shuffled = list(ITEMS)
    random.shuffle(shuffled)
    return {
        "numbers": [random.random(), randint(1, 10**6), random.uniform(1, 9), random.gauss(0, 1)],
        "bytes": [random.randbytes(8), random.getrandbits(80)],
        "one": [random.choice(ITEMS), choice(ITEMS)],
        "some": [random.choices(ITEMS, k=5), random.sample(ITEMS, 3)],
        "counted": random.sample(["x", "y"], 3, counts=[5, 5]),
        "weighted": random.choices(["x", "y"], weights=[1, 3], k=6),
        "shuffled": shuffled,
        "ids": [uuid.uuid4(), uuid4(), uuid.uuid1()],
        "tokens": [secrets.token_hex(8), secrets.token_urlsafe(), secrets.token_bytes(4)],
        "secret": [secrets.choice(ITEMS), secrets.randbelow(1000), secrets.randbits(40)],
    }


def agent() -> dict[str, Any]:
    """All of it."""
    return clocks() | draws()


def some_ids(count: int, before: int = 0) -> list[Any]:
    """Ids; after so many draws."""
    drawn = [random.random() for _ in range(before)]
    return [drawn, [uuid4() for _ in range(count)]]
