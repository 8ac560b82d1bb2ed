"""Fields of a result that are made when somebody looks at them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Later(Generic[T]):
    """A value that is yet to be made."""

    make: Callable[[], T]


class Lazily(Generic[T]):
    """A dataclass's field that may be given as a :class:`Later`, and is made once.

    Args:
        default: gives the value where none is given.
    """

    def __init__(self, default: Callable[[], T]) -> None:
        self._default = Later(default)
        self._name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, owner: None, kind: type) -> Later[T]: ...
    @overload
    def __get__(self, owner: object, kind: type) -> T: ...
    def __get__(self, owner: object | None, kind: type) -> T | Later[T]:
        if owner is None:
            return self._default
        found: Any = vars(owner)[self._name]
        if isinstance(found, Later):
            found = vars(owner)[self._name] = found.make()
        made: T = found
        return made

    def __set__(self, owner: object, value: T | Later[T]) -> None:
        vars(owner)[self._name] = value
