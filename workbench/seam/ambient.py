"""Ambient sessions: what the agent's own modules read of clocks, ids and chance is part of them.

Nothing is patched in Python itself. In each of the agent's modules the names that stand for
``time``, ``datetime``, ``uuid``, ``random``, ``secrets`` or one of their functions stand for ours
while an ambient session is open, and afterwards for the real ones again. Libraries, event loops and
the waits of threads go on by the real clock.
"""

from __future__ import annotations

import importlib.util
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.seam.ambient_scan import unseen
from workbench.seam.ambient_stands import BUILTINS, put_back, put_in, switch
from workbench.seam.current import caller, is_foreign
from workbench.seam.process_lock import ProcessLock
from workbench.seam.scripts import Script

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from importlib.machinery import ModuleSpec


Asked: TypeAlias = "bool | Sequence[str]"
"""Whether, or for which modules."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which modules are the agent's own."""

    names: tuple[str, ...]
    """These, and what is inside those of them that are packages."""
    folder: Path | None = None
    """And what lies in this folder, but for installed packages."""

    def covers(self, name: str, file: Any) -> bool:
        """Whether a module is one of them."""
        if any(name == each or name.startswith(f"{each}.") for each in self.names):
            return not isinstance(file, str) or not is_foreign(file) or name in self.names
        if self.folder is None or not isinstance(file, str) or not file.endswith(".py"):
            return False
        return not is_foreign(file) and Path(file).resolve().is_relative_to(self.folder)


def scope_of(asked: Asked, agent: Callable[..., Any] | None) -> Scope | None:
    """The modules that an option means.

    Args:
        asked: False, True (the agent's own), or names.
        agent: who runs; None for the code that opens the session.
    """
    if not asked:
        return None
    if asked is not True:
        return Scope(tuple(asked))
    if isinstance(agent, Script):
        return _of_script(agent)
    if agent is None:
        frame = caller()
        name = "__main__" if frame is None else str(frame.f_globals.get("__name__"))
    else:
        name = _module_of(agent)
    return _of_module(name)


def _of_script(script: Script) -> Scope:
    if not script.module:
        return Scope(("__main__",), script.path.resolve().parent)
    top = script.target.partition(".")[0]
    spec = importlib.util.find_spec(top)
    alone = spec is not None and spec.submodule_search_locations is None and spec.origin
    return Scope(("__main__", top), Path(str(alone)).parent if alone else None)


def _of_module(name: str) -> Scope:
    top = name.partition(".")[0]
    module = sys.modules.get(top)
    if hasattr(module, "__path__"):
        return Scope((top,))
    file = getattr(module, "__file__", None)
    folder = Path(file).resolve().parent if file else Path.cwd()
    return Scope((top,), folder)


def _module_of(agent: Any) -> str:
    while isinstance(agent, partial):
        agent = agent.func
    return str(getattr(agent, "__module__", None) or "__main__")


@contextmanager
def ambient(asked: Asked, agent: Any, tell: Callable[[str], None]) -> Iterator[None]:
    """While a session is open: the agent's modules read through it.

    Args:
        asked: which modules, as :func:`scope_of`.
        agent: who runs.
        tell: told, a sentence each, of what cannot be seen.
    """
    scope = scope_of(asked, agent)
    if scope is None:
        yield
        return
    for sentence in _all.begin(scope):
        tell(sentence)
    try:
        yield
    finally:
        _all.end(scope)


class _Scopes:
    """The scopes that are open in this process, and the modules that were changed for them."""

    def __init__(self) -> None:
        self._lock = ProcessLock()
        self._open: list[Scope] = []
        self._changed: dict[int, ModuleType] = {}
        self._finder = _Finder(self)

    def begin(self, scope: Scope) -> list[str]:
        """Open a scope; gives what of it cannot be seen."""
        found: list[str] = []
        with self._lock:
            self._open.append(scope)
            if self._finder not in sys.meta_path:
                sys.meta_path.insert(0, self._finder)
            switch(on=True)
            there: list[tuple[str, Any]] = list(sys.modules.items())  # some have None there
            for name, module in there:
                if isinstance(module, ModuleType) and scope.covers(name, _file(module)):
                    self._changed[id(module)] = module
                    put_in(vars(module))
                    found += unseen(module)
        return found

    def end(self, scope: Scope) -> None:
        """Close it. Modules that another scope covers as well stay as they are."""
        with self._lock:
            self._open.remove(scope)
            for key, module in list(self._changed.items()):
                if not self.covers(module.__name__, _file(module)):
                    put_back(vars(module))
                    del self._changed[key]
            if not self._open:
                switch(on=False)
                if self._finder in sys.meta_path:
                    sys.meta_path.remove(self._finder)

    def covers(self, name: str, file: Any) -> bool:
        """Whether any of them has such a module."""
        return any(each.covers(name, file) for each in self._open)

    def comes(self, module: ModuleType) -> None:
        """A module is about to be run: what it imports stands in from its first line on."""
        with self._lock:
            if self._open:
                self._changed[id(module)] = module
                vars(module)["__builtins__"] = BUILTINS


def script_globals() -> dict[str, Any]:
    """What the globals of a script begin with, which is run now."""
    return {"__builtins__": BUILTINS} if _all.covers("__main__", None) else {}


def _file(module: ModuleType) -> Any:
    return vars(module).get("__file__")


class _Finder:
    """Finds modules as the others do, and has a word with those that are the agent's."""

    def __init__(self, scopes: _Scopes) -> None:
        self._scopes = scopes

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The spec that the other finders give, with a loader of ours around theirs."""
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec: ModuleSpec | None = find(name, path, target)
            if spec is not None:
                if self._scopes.covers(name, spec.origin) and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, self._scopes)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """Loads a module as another loader does, which it then says that it was loaded by."""

    def __init__(self, inner: Any, scopes: _Scopes) -> None:
        self._inner = inner
        self._scopes = scopes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The other loader's module."""
        made: ModuleType | None = self._inner.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Run it."""
        module.__loader__ = self._inner
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        self._scopes.comes(module)
        self._inner.exec_module(module)


_all = _Scopes()
