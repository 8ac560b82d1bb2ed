"""DSPy's tools on the seam: what a tool does, inside the validation that the framework does."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import wrapt

from workbench.adapters.dspy import names
from workbench.adapters.frameworks.results import Results
from workbench.seam.current import current_seam
from workbench.seam.plain_calls import atool_call, tool_call

if TYPE_CHECKING:
    _Proxy = wrapt.ObjectProxy[Any]  # generic in its newer releases only
else:
    _Proxy = wrapt.ObjectProxy


def call(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps ``Tool.__call__``."""
    if current_seam() is None or names.is_own(tool):
        return wrapped(*args, **kwargs)
    return wrapped.__func__(_Seen(tool, kwargs), *args, **kwargs)


async def acall(wrapped: Any, tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Wraps ``Tool.acall``."""
    if current_seam() is None or names.is_own(tool):
        return await wrapped(*args, **kwargs)
    return await wrapped.__func__(_Seen(tool, kwargs), *args, **kwargs)


class _Results(Results):
    """What DSPy's tools give: it has no types of its own for that."""

    mark = "$dspy"

    def own(self, value: Any) -> str | None:  # noqa: ARG002 - there are none
        """Never."""
        return None


class _Seen(_Proxy):
    """A tool as the framework sees it while it runs: its function is on the seam."""

    def __init__(self, tool: Any, given: dict[str, Any]) -> None:
        super().__init__(tool)
        self._self_given = given

    @property
    def func(self) -> Callable[..., Any]:
        """The tool's own function, on the seam."""
        tool: Any = self.__wrapped__
        function, given = tool.func, self._self_given
        results = _Results.of(function)
        take = atool_call if _is_async(function) else tool_call

        @functools.wraps(function)
        def run(**parsed: Any) -> Any:
            def make(arguments: dict[str, Any]) -> Any:
                if arguments is given:
                    return function(**parsed)
                return function(**tool._validate_and_parse_args(**arguments))  # noqa: SLF001

            options: Any = {"of": function, "dump": results.dump, "load": results.load}
            return take(tool.name, given, make, **options)

        return run


def _is_async(function: Any) -> bool:
    if inspect.iscoroutinefunction(inspect.unwrap(function)):
        return True
    return inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
