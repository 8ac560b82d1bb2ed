"""Hooks in other people's classes: put in, taken out again, doing nothing while they are out."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeAlias

Wrapper: TypeAlias = Callable[[Any, Any, tuple[Any, ...], dict[str, Any]], Any]
"""Called instead of a function, as ``wrapper(wrapped, instance, args, kwargs)``; ``wrapped`` is
bound already, and ``instance`` the object (None for a plain function)."""


class Patches:
    """What one adapter has hooked in this process. An adapter's ``hook`` is given its own.

    Wrappers do something only while the adapter is installed (:attr:`active`).
    """

    def __init__(self) -> None:
        self.active = False
        """Whether the hooks do anything. Somebody else's hook above ours may keep them in place."""
        self._undo: list[Callable[[], None]] = []
        self._lock = threading.Lock()

    def wrap(self, owner: type | ModuleType, name: str, wrapper: Wrapper) -> None:
        """Hook a function of a class or of a module.

        Args:
            owner: the class that defines it, or inherits it and should have it for itself and
                its subclasses only; or the module.
            name: the function's name.
            wrapper: what is called instead of it.

        Raises:
            AttributeError: there is no such function, in this version of the library.
        """
        from wrapt import wrap_function_wrapper

        def guarded(
            wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> Any:
            if not self.active:
                return wrapped(*args, **kwargs)
            return wrapper(wrapped, instance, args, kwargs)

        had = vars(owner).get(name)
        ours = wrap_function_wrapper(owner, name, guarded)
        self._keep(owner, name, had, ours)

    def replace(self, owner: type | ModuleType, name: str, value: Any) -> None:
        """Put another value in the place of a class's or module's attribute, until :meth:`undo`.

        Unlike what :meth:`wrap` puts in, it is in effect as it stands, in and outside sessions.

        Args:
            owner: the class or module.
            name: the attribute's name; a class may inherit it, and then has its own.
            value: what takes its place.

        Raises:
            AttributeError: there is no such attribute, in this version of the library.
        """
        getattr(owner, name)
        had = vars(owner).get(name)
        setattr(owner, name, value)
        self._keep(owner, name, had, value)

    def _keep(self, owner: type | ModuleType, name: str, had: Any, ours: Any) -> None:
        def undo() -> None:
            # Somebody else's hook above ours stays; ours then only passes on.
            if vars(owner).get(name) is not ours:
                return
            if had is None:
                delattr(owner, name)
            else:
                setattr(owner, name, had)

        with self._lock:
            self._undo.append(undo)

    def undo(self) -> None:
        """Take everything out: the library is as it was."""
        self.active = False
        with self._lock:
            while self._undo:
                self._undo.pop()()
