"""smolagents' tools on the seam: what a tool does, inside all that the framework does around it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import wrapt

from workbench.adapters.smolagents import names
from workbench.adapters.smolagents.values import dump, load, shown
from workbench.seam.current import current_seam
from workbench.seam.plain_calls import tool_call

if TYPE_CHECKING:
    from workbench.trace.entries import Effect

    _Proxy = wrapt.ObjectProxy[Any]  # generic in its newer releases only
else:
    _Proxy = wrapt.ObjectProxy

SANITIZES: Final = "sanitize_inputs_outputs"
"""What an agent tells a tool besides its arguments."""


def call(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps ``Tool.__call__``."""
    if current_seam() is None or names.is_final_answer(tool):
        return wrapped(*args, **kwargs)
    return wrapped.__func__(_Seen(tool), *args, **kwargs)


def whole(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps ``__call__`` of a class of tools that has one of its own, which may do anything."""
    if current_seam() is None or names.is_final_answer(tool):
        return wrapped(*args, **kwargs)
    clean = {key: value for key, value in kwargs.items() if key == SANITIZES}
    given = {key: value for key, value in kwargs.items() if key != SANITIZES}
    arguments = shown(_named(tool, args, given))

    def make(changed: dict[str, Any]) -> Any:
        return (
            wrapped(*args, **kwargs) if changed is arguments else wrapped(**clean, **load(changed))
        )

    def _dump(result: Any) -> Any:
        return dump(result, f"the result of the tool {tool.name}")

    return tool_call(tool.name, arguments, make, dump=_dump, load=load)


class _Seen(_Proxy):
    """A tool as the framework sees it while it runs: what it does is on the seam."""

    @property
    def is_initialized(self) -> bool:
        """A tool is made ready only where it is run for real."""
        return True

    @property
    def forward(self) -> Callable[..., Any]:
        """The tool's own method, on the seam."""
        tool: Any = self.__wrapped__
        method = tool.forward

        @functools.wraps(method)
        def forward(*args: Any, **kwargs: Any) -> Any:
            given = _named(tool, args, kwargs)
            arguments = shown(given)

            def make(changed: dict[str, Any]) -> Any:
                if not tool.is_initialized:
                    tool.setup()
                return method(*args, **kwargs) if changed is arguments else method(**load(changed))

            effect: Effect | None = "read" if names.only_reads(tool) else None
            options: Any = {"effect": effect, "of": method, "dump": _dump, "load": load}
            return tool_call(tool.name, arguments, make, **options)

        def _dump(result: Any) -> Any:
            return dump(result, f"the result of the tool {tool.name}")

        return forward


def _named(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments by name; an agent's code may give them by position."""
    known = list(tool.inputs)
    known += [f"argument_{place}" for place in range(len(known), len(args))]
    return {**dict(zip(known, args, strict=False)), **kwargs}
