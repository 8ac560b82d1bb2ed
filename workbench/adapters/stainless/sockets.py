"""WebSockets of an SDK: nothing of them is recorded, and none is opened where a recording answers.

Their modules are imported only by those who use them, and hooked then.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from workbench.adapters.stainless.description import Sdk
from workbench.adapters.stainless.passing import pass_by
from workbench.seam.current import COVERED, current_seam
from workbench.seam.patching import Patches, Wrapper

_OPENERS = "ConnectionManager"
"""How the names of the classes end that open one."""
_OPENS = ("__enter__", "enter", "__aenter__")
_awaited: set[str] = set()
"""The modules whose import is waited for, by whichever hooks are in then."""


def hook_sockets(about: Sdk, patches: Patches) -> None:
    """Hook the classes that open connections, those of modules still to be imported too."""
    from wrapt import register_post_import_hook

    def imported(module: ModuleType) -> None:
        _awaited.discard(module.__name__)
        if patches.active:
            _hook_module(about, patches, module)

    for name in about.sockets:
        if name not in _awaited:
            _awaited.add(name)
            register_post_import_hook(imported, name)


def _hook_module(about: Sdk, patches: Patches, module: ModuleType) -> None:
    for name, owner in list(vars(module).items()):
        if not isinstance(owner, type) or owner.__module__ != module.__name__:
            continue
        if name.endswith(_OPENERS):
            for method in _OPENS:
                if method in vars(owner):
                    patches.wrap(owner, method, _opening(about, name))


def _opening(about: Sdk, name: str) -> Wrapper:
    def opening(wrapped: Any, _owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        seam = None if COVERED.get() else current_seam()
        if seam is not None:
            pass_by(seam, about, f"the WebSocket of {name}")
        return wrapped(*args, **kwargs)

    return opening
