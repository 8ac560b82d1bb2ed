"""What stands in for modules, functions and classes of Python's own in the agent's modules."""

from __future__ import annotations

import builtins
import datetime as dt
import random
import secrets
import time
import uuid
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workbench.seam.ambient_clocks import DATETIME, TIME
from workbench.seam.ambient_draws import RANDOM, SECRETS, UUID

if TYPE_CHECKING:
    from collections.abc import Callable


class Stand(ModuleType):
    """A module of Python's own but for what reads clocks and chance."""

    def __init__(self, real: ModuleType, instead: dict[str, Any]) -> None:
        super().__init__(real.__name__, real.__doc__)
        names = [name for name in vars(real) if not name.startswith("_")]
        self.__dict__.update(instead)
        self.__dict__["__all__"] = list(getattr(real, "__all__", names))
        self.__dict__["_stands_for"] = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_stands_for"], name)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_stands_for"])

    def __repr__(self) -> str:
        return repr(self.__dict__["_stands_for"])


_PARTS: list[tuple[ModuleType, dict[str, Any]]] = [
    (time, TIME),
    (dt, DATETIME),
    (random, RANDOM),
    (secrets, SECRETS),
    (uuid, UUID),
]
MODULES = {real.__name__: Stand(real, instead) for real, instead in _PARTS}
"""The stand-ins of whole modules, by name."""
_PAIRS: list[tuple[Any, Any, str]] = [
    *((real, MODULES[real.__name__], real.__name__) for real, _ in _PARTS),
    *(
        (getattr(real, name), stand, f"{real.__name__}.{name}")
        for real, instead in _PARTS
        for name, stand in instead.items()
    ),
]
_STANDS = {id(real): stand for real, stand, _ in _PAIRS}
_REALS = {id(stand): real for real, stand, _ in _PAIRS}
_NAMES = {id(real): name for real, _, name in _PAIRS}


def put_in(names: dict[str, Any]) -> None:
    """Let a module's names stand for what reads through the session."""
    for name, value in list(names.items()):
        stand = _STANDS.get(id(value))
        if stand is not None:
            names[name] = stand


def put_back(names: dict[str, Any]) -> None:
    """Let them be the real ones again; a name that has got another value keeps it."""
    for name, value in list(names.items()):
        real = _REALS.get(id(value))
        if real is not None:
            names[name] = real
    if names.get("__builtins__") is BUILTINS:
        names["__builtins__"] = vars(builtins)


def name_of(value: Any) -> str | None:
    """What a value is called that has a stand-in, such as ``uuid.uuid4``."""
    return _NAMES.get(id(value))


def _imported(active: Callable[[], bool]) -> Callable[..., Any]:
    def find(name: str, *args: Any, **kwargs: Any) -> Any:
        found = builtins.__import__(name, *args, **kwargs)
        # A module of the agent's own that has such a name, in a package, is another one.
        return MODULES[name] if active() and found is _real(name) else found

    return find


def _real(name: str) -> Any:
    """The module that one of that name stands in for; of another name, nothing that is one."""
    stand = MODULES.get(name)
    return MODULES if stand is None else vars(stand)["_stands_for"]


_open = [False]
BUILTINS: dict[str, Any] = {**vars(builtins), "__import__": _imported(lambda: _open[0])}
"""The builtins of a module that is imported or run in an ambient session: what it imports stands in
for the real thing from its first line on."""


def switch(*, on: bool) -> None:
    """Whether imports give stand-ins."""
    _open[0] = on
