"""How one call of a function with ``@workbench.tool`` crosses the seam."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceFormatError, UnencodableError, UsageError
from workbench.seam.calls import Call
from workbench.seam.exceptions import until_cancelled
from workbench.seam.plain_calls import ValueHooks
from workbench.trace.values import decode, decode_as, encode

if TYPE_CHECKING:
    import inspect

    from workbench.seam.calls import Served
    from workbench.seam.tool import Tool


class ToolHooks(ValueHooks):
    """Takes one call of a tool over the seam."""

    def __init__(self, tool: Tool[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        super().__init__(self._call, dump=self._dumped, load=self._loaded)
        self._tool = tool
        self._args = args
        self._kwargs = kwargs
        bound = self._bound = tool.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = {k: v for k, v in bound.arguments.items() if k in tool.parameters}
        self.request: dict[str, Any] = {
            "name": tool.name,
            "arguments": encode(arguments, plain=True),
        }
        if tool.bound_to is not None:
            self.request["self"] = _named(tool.bound_to)
        self.key = tool.key_of(**arguments) if tool.key_of is not None else None
        if self.key is not None:
            self.request["key"] = self.key

    @property
    def call(self) -> Call:
        """The call, as the session takes it."""
        tool = self._tool
        return Call(
            kind="tool",
            name=tool.name,
            effect=tool.effect,
            request=self.request,
            key=self.key,
            stream=tool.yields is not None,
        )

    def _call(self, request: Any) -> Any:
        if request is self.request:
            return self._tool.function(*self._args, **self._kwargs)
        bound = self._changed(request["arguments"])
        return self._tool.function(*bound.args, **bound.kwargs)

    def _changed(self, arguments: dict[str, Any]) -> inspect.BoundArguments:
        """Other arguments than the agent's own: by name, of the types that are declared."""
        tool, bound = self._tool, self._bound
        unknown = sorted(set(arguments) - set(tool.parameters))
        if unknown:
            raise UsageError(f"{tool.name} has no argument '{unknown[0]}', which an edit gives")
        for name, parameter in tool.parameters.items():
            if name not in arguments:
                bound.arguments.pop(name, None)
                continue
            several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            typed = name in tool.hints and not several
            value = arguments[name]
            bound.arguments[name] = decode_as(value, tool.hints[name]) if typed else decode(value)
        bound.apply_defaults()
        return bound

    def _dumped(self, result: Any) -> Any:
        try:
            return encode(result)
        except UnencodableError:
            # Data will do where the annotation can make the type again, or the user said so.
            if self._tool.result_hint is None and not self._tool.plain:
                raise
            return encode(result, plain=True)

    def _loaded(self, response: Any) -> Any:
        if self._tool.result_hint is None:
            return decode(response)
        try:
            return decode_as(response, self._tool.result_hint)
        except TraceFormatError:
            # The annotation is not what the function returns; the recorded value is exact.
            return decode(response)

    def deliver(self, served: Served) -> Any:
        """A result that does not come from the world; a call that was cancelled waits to be."""
        if served.error is not None and self._tool.is_async:
            error = self.exception(served.error)
            if isinstance(error, asyncio.CancelledError):
                return until_cancelled(served.error)
        return super().deliver(served)


def _named(instance: Any) -> Any:
    """What tells two objects' calls apart: their data, where a trace can hold them, else their
    class."""
    if isinstance(instance, type):
        return instance.__qualname__
    try:
        return {type(instance).__qualname__: encode(instance, plain=True)}
    except UnencodableError:
        return type(instance).__qualname__
