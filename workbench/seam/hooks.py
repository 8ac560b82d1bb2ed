"""The adapters: hooks into SDKs and frameworks, found by entry point.

A package registers an :class:`Adapter` in the entry-point group ``workbench.adapters``. It is
installed when the first session opens, and hooks its library then, or when that is imported.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, metadata, version
from importlib.util import find_spec
from typing import Any

from workbench.errors import MissingExtraError, UsageError
from workbench.seam.patching import Patches

GROUP = "workbench.adapters"
WITHOUT = "WORKBENCH_WITHOUT"
"""The environment variable that names adapters, with commas between them, to do without."""


@dataclass(frozen=True, slots=True)
class Adapter:
    """A hook into somebody's library.

    Args:
        name: the library's name for people, such as ``openai``; it stands in messages.
        module: the module whose import makes the hooks possible, such as ``openai``.
        hook: called once with that module imported: puts the hooks in through the
            :class:`~workbench.seam.patching.Patches` that it is given, which take them out again.

    Raises:
        UsageError: one of them is not what it should be.
    """

    name: str
    module: str
    hook: Callable[[Patches], None]
    patches: Patches = field(default_factory=Patches, init=False, repr=False, compare=False)
    """What is hooked: made with the adapter, and no argument of it."""

    def __post_init__(self) -> None:
        for what in ("name", "module"):
            value: Any = getattr(self, what)
            if not isinstance(value, str) or not value:
                raise UsageError(f"Adapter({what}={value!r}): give the {what} as text")
        if not callable(self.hook):
            raise UsageError(
                f"Adapter({self.name!r}): hook={self.hook!r} is no function; give one that takes "
                "the patches"
            )

    def install(self) -> None:
        """Hook the library, now or when it is imported. Again, it changes nothing.

        Raises:
            MissingExtraError: the library is installed, but ``wrapt``, which this needs, is not.
            UsageError: the library is not as this adapter knows it.
        """
        try:
            import wrapt
        except ImportError:
            if find_spec(self.module.partition(".")[0]) is None:
                return
            raise MissingExtraError(_extra(self.name), "wrapt") from None
        if self.patches.active:
            return
        self.patches.active = True
        if self.module in sys.modules:
            self._hook()
        elif id(self) not in _waiting:
            _waiting.add(id(self))
            wrapt.register_post_import_hook(lambda _: self._imported(), self.module)

    def uninstall(self) -> None:
        """Take the hooks out: the library is as it was."""
        self.patches.undo()

    def _imported(self) -> None:
        _waiting.discard(id(self))
        if self.patches.active:
            self._hook()

    def _hook(self) -> None:
        try:
            self.hook(self.patches)
        except Exception as error:
            self.patches.undo()
            raise UsageError(
                f"the adapter '{self.name}' does not fit {_release(self.module)}, so that calls "
                f"through it could not be recorded: {type(error).__name__}: {error}. Install a "
                f"release that it fits, or go without it: {WITHOUT}={self.name}"
            ) from error


_waiting: set[int] = set()
"""The adapters whose library is still to be imported, by identity: two may have one name."""
_installed: set[tuple[str, str]] = set()
"""The entry points whose adapters are installed: what they are called, and what they lead to."""
_seen: list[tuple[str, int]] = []
"""The folders of installed packages, and when each was last changed, at the last search."""
_lock = threading.Lock()


def install_adapters() -> None:
    """Install every registered adapter that is not installed yet.

    Raises:
        UsageError: one cannot be loaded, is no adapter, or does not fit its library; the text
            names it and the package that brought it.
    """
    with _lock:
        folders = _folders()
        if folders == _seen:  # reading what all packages say of themselves takes milliseconds
            return
        unwanted = {name.strip() for name in os.environ.get(WITHOUT, "").split(",")}
        for point in entry_points(group=GROUP):
            if (point.name, point.value) in _installed:
                continue
            try:
                adapter = _loaded(point)
                if not {adapter.name, point.name} & unwanted:
                    adapter.install()
            except Exception as error:
                package = point.dist.name if point.dist is not None else "an unknown package"
                told = str(error) if isinstance(error, UsageError) else _told(error)
                raise UsageError(
                    f"the adapter '{point.name}' of {package} ({point.value}) cannot be "
                    f"installed: {told}"
                ) from error
            _installed.add((point.name, point.value))
        _seen[:] = folders


def _loaded(point: EntryPoint) -> Adapter:
    found = point.load()
    if not isinstance(found, Adapter):
        raise UsageError(
            f"it is {found!r}, and no workbench.plugins.Adapter. Register an instance of that class"
        )
    return found


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _extra(name: str) -> str | None:
    """The extra of this package that is called like an adapter, if one is."""
    with suppress(PackageNotFoundError):
        extras = metadata("trace-workbench").get_all("Provides-Extra") or ()
        return name if name in extras else None
    return None


def _release(module: str) -> str:
    """The library and its version, as far as it tells."""
    for name in (module.replace(".", "-"), module.partition(".")[0]):
        with suppress(PackageNotFoundError):
            return f"{name} {version(name)}"
    return f"this version of {module}"


def _folders() -> list[tuple[str, int]]:
    found = []
    for folder in sys.path:
        try:
            found.append((folder, os.stat(folder or ".").st_mtime_ns))  # noqa: PTH116 - twice as fast
        except OSError:  # there is no such folder: nothing is installed in it
            continue
    return found
