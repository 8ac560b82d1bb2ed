"""Hooking a method in every class below one of a framework's, and in those made later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.seam.patching import Patches, Wrapper


def hook_family(
    patches: Patches,
    base: type,
    wrappers: Mapping[str, Wrapper],
    optional: Mapping[str, Wrapper] | None = None,
) -> None:
    """Hook the methods that each class below a base has for itself, now and later.

    A class that is made later is seen by the base's ``__init_subclass__``, which is replaced.

    Args:
        patches: takes the hooks out again.
        base: the class.
        wrappers: by the method's name.
        optional: the same for methods that the base itself need not have.

    Raises:
        AttributeError: the base has no such method, in this version of the library.
    """
    for name in wrappers:
        getattr(base, name)
    wrappers = {**wrappers, **(optional or {})}

    def hook_one(kind: type) -> None:
        for name, wrapper in wrappers.items():
            if name in vars(kind):
                patches.wrap(kind, name, wrapper)

    for kind in _below(base):
        hook_one(kind)
    above: Any = base
    had = vars(base).get("__init_subclass__")

    def begin(kind: type, /, **options: Any) -> None:
        if had is not None:
            had.__get__(None, kind)(**options)
        else:
            super(above, kind).__init_subclass__(**options)
        if patches.active:
            hook_one(kind)

    patches.replace(base, "__init_subclass__", classmethod(begin))


def _below(base: type) -> Iterator[type]:
    seen: set[type] = set()
    left: list[type] = list(base.__subclasses__())
    while left:
        kind = left.pop()
        if kind not in seen:
            seen.add(kind)
            yield kind
            left += kind.__subclasses__()
