"""Python's own pools of threads: what they are handed while a session is open is done as a part of
where it was handed over.

Their methods are wrapped while a session is open, and are Python's own again afterwards. The pools
of ``multiprocessing`` take long to import, so that they are only looked at once somebody has.
"""

from __future__ import annotations

import functools
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from workbench.seam.current import any_open, taken_along

_METHODS = ("apply_async", "map", "map_async", "starmap", "starmap_async", "imap", "imap_unordered")
"""Methods of ``multiprocessing.pool.ThreadPool`` that are handed work; ``apply`` uses the first."""
_SUBMIT: Any = ThreadPoolExecutor.submit


@functools.wraps(_SUBMIT)
def _submitted(pool: Any, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
    return _SUBMIT(pool, taken_along(fn) if any_open() else fn, *args, **kwargs)


def hook() -> None:
    """Wrap what is there and not wrapped yet."""
    if ThreadPoolExecutor.submit is _SUBMIT:
        ThreadPoolExecutor.submit = _submitted  # type: ignore[method-assign]
    owner = _thread_pool()
    if owner is not None and _METHODS[0] not in vars(owner):
        for name in _METHODS:
            setattr(owner, name, _handed(getattr(owner, name)))


def unhook() -> None:
    """Take the wrappers out again."""
    if ThreadPoolExecutor.submit is _submitted:
        ThreadPoolExecutor.submit = _SUBMIT  # type: ignore[method-assign]
    owner = _thread_pool()
    for name in _METHODS if owner is not None else ():
        if getattr(vars(owner).get(name), "__module__", None) == __name__:
            delattr(owner, name)  # its parent's shows again


def _thread_pool() -> Any:
    module = sys.modules.get("multiprocessing.pool")
    return getattr(module, "ThreadPool", None)


def _handed(original: Any) -> Any:
    def handed(self: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        return original(self, taken_along(func) if any_open() else func, *args, **kwargs)

    handed.__name__, handed.__doc__ = original.__name__, original.__doc__
    return handed
