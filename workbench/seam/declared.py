"""What the process's functions with ``@workbench.tool`` say of themselves, by name.

A framework calls a tool by its name, and knows nothing of effects and idempotency keys.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
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


def declared(name: str, arguments: Mapping[str, Any] | None = None, of: Any = None) -> Declared:
    """What is said of the tools of a name.

    Args:
        name: the name that the model knows.
        arguments: what the tool is called with. Tools of that name that take others are not meant:
            two modules may each have a tool of the same name.
        of: the function itself, where the framework has it. If it is a tool, or wraps one, what
            that says of itself is what counts.
    """
    known = _itself(of)
    if known is not None:
        return Declared(known.effect, known.key_of)
    found = [tool for each in _declared.get(name, ()) if (tool := each()) is not None]
    if arguments is not None:
        found = [tool for tool in found if _takes(tool, arguments)]
    effects = {tool.effect for tool in found}
    effect = effects.pop() if len(effects) == 1 else None
    return Declared(effect, found[-1].key_of if found else None)


def _itself(function: Any) -> Tool[..., Any] | None:
    """The tool that a function is or wraps."""
    from workbench.seam.tool import Tool  # which declares itself here

    while function is not None and not isinstance(function, Tool):
        function = getattr(function, "__wrapped__", None)
    return function


def _takes(tool: Tool[..., Any], arguments: Mapping[str, Any]) -> bool:
    """Whether a tool can be called with arguments of these names; it may get others besides."""
    takes = tool.parameters
    several = any(each.kind is each.VAR_KEYWORD for each in takes.values())
    return several or arguments.keys() <= takes.keys()
