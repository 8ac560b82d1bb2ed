"""A sequence whose items are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class LazySequence(Sequence[T], Generic[T]):
    """As long as a range; each item is made from its place, anew each time.

    Args:
        places: the places of the items.
        make: gives the item of a place.
    """

    def __init__(self, places: range, make: Callable[[int], T]) -> None:
        self._places = places
        self._make = make

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return LazySequence(self._places[index], self._make)
        return self._make(self._places[index])

    def __repr__(self) -> str:
        return f"<{len(self)} items>"
