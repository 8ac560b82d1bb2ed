"""Objects of types that a trace cannot keep as they are."""

import dataclasses
from datetime import date, datetime, timedelta, tzinfo
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, HttpUrl


class Colour(Enum):
    """An Enum."""

    RED = "red"


class Level(IntEnum):
    """An Enum that is an int."""

    LOW = 1


class Word(StrEnum):
    """An Enum that is a str."""

    YES = "yes"


@dataclasses.dataclass
class Order:
    """A dataclass."""

    id: int
    when: date
    colour: Colour = Colour.RED


class Line(BaseModel):
    """A pydantic model."""

    sku: str
    price: Decimal
    tags: set[str] = set()


class Discounted(Line):
    """A model that stands where its base class is declared."""

    off: int


class Basket(BaseModel):
    """A model of models."""

    lines: list[Line]
    url: HttpUrl | None = None


class Point(NamedTuple):
    """A named tuple."""

    x: int
    y: bytes


class Text(str):
    """A str with another text than it shows."""

    __slots__ = ()

    def __str__(self) -> str:
        return "overridden"


class Whole(int):
    """A subclass of int."""


class Zone(tzinfo):
    """A time zone of a third party."""

    def utcoffset(self, _: datetime | None) -> timedelta:
        """Five hours."""
        return timedelta(hours=5)

    def dst(self, _: datetime | None) -> None:
        """None."""
        return

    def tzname(self, _: datetime | None) -> str:
        """Z."""
        return "Z"


class Dictable:
    """An object with data of its own."""

    def to_dict(self) -> dict[str, Any]:
        """Its data."""
        return {"a": (1, 2)}
