"""Methods that each subclass of a framework's class writes anew, hooked where they are written."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from workbench.seam.patching import Patches, Wrapper


class Overrides:
    """The hooks in the methods of a class's subclasses, those made later included.

    A method that calls its superclass's is hooked twice on the way: the wrapper has to know when
    the call is on the seam already.
    """

    def __init__(self, patches: Patches, base: type, wrappers: Mapping[str, Wrapper]) -> None:
        self._patches = patches
        self._base = base
        self._wrappers = wrappers
        self._done: set[tuple[type, str]] = set()
        self._lock = threading.Lock()

    def hook_known(self) -> None:
        """Hook all subclasses that there are."""
        waiting = [self._base]
        while waiting:
            kind = waiting.pop()
            self.hook(kind)
            waiting += kind.__subclasses__()

    def hook(self, kind: type) -> None:
        """Hook a class, and those that it inherits from; again, it changes nothing."""
        with self._lock:
            for owner in kind.__mro__:
                if owner in (object, self._base):
                    continue
                for name, wrapper in self._wrappers.items():
                    if name in vars(owner) and (owner, name) not in self._done:
                        self._done.add((owner, name))
                        self._patches.wrap(owner, name, wrapper)

    def hook_class_of(
        self, wrapped: Any, instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A wrapper for the base's ``__init__``: whoever is made has a class that is hooked."""
        self.hook(type(instance))
        return wrapped(*args, **kwargs)
