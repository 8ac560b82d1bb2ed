"""Places: points in a trace that people name.

``turn(3)``, ``step("summarize")``, ``entry("1-7")``; on a command line ``turn:3``, ``step:x``,
``entry:1-7``, or a step's bare name. Turns count from 1. A bare integer is refused, since it
could mean a turn, an entry or an index; so is any other word before a colon, since it is more
likely a slip than a step (a step whose name has a colon is written ``step:a:b``).
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, model_validator

from workbench.errors import PlaceError


class Place(BaseModel):
    """A point in a trace. Make one with :func:`turn`, :func:`step` or :func:`entry`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["turn", "step", "entry"]
    """What is named."""
    value: int | str
    """The turn's number (from 1), the step's path, or the entry's id."""

    @model_validator(mode="after")
    def _fits(self) -> Place:
        if self.kind == "turn":
            if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 1:
                raise ValueError(f"turns count from 1, and {self.value!r} is no turn")
        elif not isinstance(self.value, str):
            raise ValueError(f"a {self.kind} is named by a string, not by {self.value!r}")
        return self

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def turn(number: int) -> Place:
    """The turn with that number, counted from 1.

    Raises:
        PlaceError: the number is not a whole number from 1 on.
    """
    if type(number) is not int or number < 1:  # a bool is an int, and no turn
        raise PlaceError(f"turn({number!r}): turns are whole numbers and count from 1")
    return Place(kind="turn", value=number)


def step(path: str) -> Place:
    """The step with that path, such as ``"plan"`` or ``"outer/inner"``."""
    if not isinstance(path, str):
        raise PlaceError(f"step({path!r}): a step is named by a string")
    return Place(kind="step", value=path)


def entry(entry_id: str) -> Place:
    """The entry with that id, such as ``"1-7"``."""
    if not isinstance(entry_id, str):
        raise PlaceError(f"entry({entry_id!r}): an entry is named by its id, a string")
    return Place(kind="entry", value=entry_id)


def in_step(step: str, outer: str) -> bool:
    """Whether a step's path is that of another step, or of one inside it."""
    return step == outer or step.startswith(f"{outer}/")


def parse_place(text: str | Place) -> Place:
    """Read a place as it is written on a command line.

    Raises:
        PlaceError: the text is a bare number, begins with an unknown word and a colon, or is no
            place at all.
    """
    if isinstance(text, Place):
        return text
    if not isinstance(text, str):
        raise PlaceError(
            f"{text!r} is not a place: say turn(n), step('name') or entry('id'); "
            "a bare number could mean any of them"
        )
    head, colon, rest = text.partition(":")
    if colon and head in {"turn", "step", "entry"} and rest:
        if head == "turn":
            if not rest.isdecimal() or int(rest) < 1:
                raise PlaceError(f"'{text}': turns are whole numbers and count from 1")
            return turn(int(rest))
        return Place(kind="step" if head == "step" else "entry", value=rest)
    if colon:
        known = head in {"turn", "step", "entry"}
        named = "" if known else f" (a step of that name is written step:{text})"
        raise PlaceError(f"'{text}' is not a place: write turn:3, entry:1-7 or step:x{named}")
    if not text or text.isdecimal():
        raise PlaceError(
            f"'{text}' is not a place: write turn:3, entry:1-7, step:x or a step's name"
        )
    return step(text)
