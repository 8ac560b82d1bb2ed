"""What the process's functions with ``@workbench.tool`` say of themselves, by name.

A framework calls a tool by its name, and knows nothing of effects and idempotency keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import ref

if TYPE_CHECKING:
    from workbench.seam.tool import Tool
    from workbench.trace.entries import Effect


class Declared(NamedTuple):
    """What is said of the tools of one name."""

    effect: Effect | None = None
    """None where nothing is said, or not the same of all."""
    key_of: Callable[..., str] | None = None
    """The idempotency key of a call; that of the tool that was declared last."""


_declared: defaultdict[str, list[ref[Tool[..., Any]]]] = defaultdict(list)


def declare(tool: Tool[..., Any]) -> None:
    """Note a tool under its name."""
    alive = [each for each in _declared[tool.name] if each() is not None]
    _declared[tool.name] = [*alive, ref(tool)]


def declared(name: str) -> Declared:
    """What is said of the tools of a name."""
    found = [tool for each in _declared.get(name, ()) if (tool := each()) is not None]
    effects = {tool.effect for tool in found}
    effect = effects.pop() if len(effects) == 1 else None
    return Declared(effect, found[-1].key_of if found else None)
