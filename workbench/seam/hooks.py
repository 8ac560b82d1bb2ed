"""The adapters: hooks into SDKs, found by entry point and installed when a session opens.

A package registers one in the entry-point group ``workbench.adapters``; the name is the SDK's, the
object a function without arguments that hooks the SDK (once it is imported) and may be called
again and again.
"""

from __future__ import annotations

import os
import sys
import threading
from importlib.metadata import entry_points

from workbench.errors import UsageError

GROUP = "workbench.adapters"

_installed: set[str] = set()
_seen: list[tuple[str, int]] = []
"""The folders of installed packages, and when each was last changed, at the last search."""
_lock = threading.Lock()


def install_adapters() -> None:
    """Install every registered adapter that is not installed yet.

    Raises:
        UsageError: one cannot be loaded; the text names it and the package that brought it.
    """
    with _lock:
        folders = _folders()
        if folders == _seen:  # reading what all packages say of themselves takes milliseconds
            return
        for point in entry_points(group=GROUP):
            if point.name in _installed:
                continue
            try:
                install = point.load()
                install()
            except Exception as error:
                package = point.dist.name if point.dist is not None else "an unknown package"
                raise UsageError(
                    f"the adapter '{point.name}' of {package} ({point.value}) cannot be "
                    f"installed: {type(error).__name__}: {error}"
                ) from error
            _installed.add(point.name)
        _seen[:] = folders


def _folders() -> list[tuple[str, int]]:
    found = []
    for folder in sys.path:
        try:
            found.append((folder, os.stat(folder or ".").st_mtime_ns))  # noqa: PTH116 - twice as fast
        except OSError:  # there is no such folder: nothing is installed in it
            continue
    return found
