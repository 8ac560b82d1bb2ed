"""``@workbench.tool``: a function of the agent's own that crosses the seam."""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
import typing
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, cast, overload

from pydantic import BaseModel, create_model

from workbench.errors import TraceFormatError, UnencodableError, UsageError
from workbench.seam.calls import MISSING, Call, Outcome, Served
from workbench.seam.current import COVERED_TOOL, current_seam
from workbench.seam.declared import declare
from workbench.seam.drivers import call_async, call_sync
from workbench.seam.exceptions import describe, plain_error, timed, until_cancelled
from workbench.trace.values import decode, decode_as, encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.seam.drivers import Tap
    from workbench.trace.entries import Effect, ErrorInfo

P = ParamSpec("P")
R = TypeVar("R")


class Tool(Generic[P, R]):
    """A function whose calls are recorded, replayed, and guarded when they write.

    It is called, awaited and inspected like the function itself.

    Attributes:
        name: the name in traces; by default the function's.
        effect: ``"read"``, ``"write"``, or None (unknown, which counts as a write).
        schema: JSON Schema of its arguments, from the signature's annotations.
    """

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        effect: Effect | None = None,
        idempotency_key: Callable[..., str] | None = None,
        plain: bool = False,
    ) -> None:
        if not callable(function):
            raise UsageError(f"@workbench.tool wraps a function, not {function!r}")
        if effect not in (None, "read", "write"):
            raise UsageError(f"effect={effect!r}: a tool's effect is 'read' or 'write'")
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise UsageError(
                f"{function.__qualname__} is a generator: a tool returns its result whole; "
                "return a list"
            )
        functools.update_wrapper(self, function)
        self.function = function
        self.key_of = idempotency_key
        self.plain = plain
        self._bound: tuple[Any, ...] = ()
        self.name: str = name or str(getattr(function, "__name__", type(function).__name__))
        self.effect = effect
        self.is_async = inspect.iscoroutinefunction(inspect.unwrap(function))
        if self.is_async:
            mark = getattr(inspect, "markcoroutinefunction", None)
            if mark is not None:
                mark(self)
        declare(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, through the session if one is open here."""
        seam = current_seam()
        if seam is None:
            return self.function(*self._bound, *args, **kwargs)
        if COVERED_TOOL.get() == self.name:
            return self._covered(*args, **kwargs)
        hooks = _ToolHooks(self, (*self._bound, *args), kwargs)
        call = Call(
            kind="tool",
            name=self.name,
            effect=self.effect,
            request=hooks.request,
            key=hooks.key,
        )
        if self.is_async:
            return cast("R", call_async(seam, call, hooks))
        return cast("R", call_sync(seam, call, hooks))

    def _covered(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function as part of a call that is on the seam already, a framework's."""
        if self.is_async:
            return cast("R", self._acovered(*args, **kwargs))
        token = COVERED_TOOL.set(None)  # a tool of this name that it calls is another call
        try:
            return self.function(*self._bound, *args, **kwargs)
        finally:
            COVERED_TOOL.reset(token)

    async def _acovered(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        token = COVERED_TOOL.set(None)
        try:
            return await cast("Any", self.function(*self._bound, *args, **kwargs))
        finally:
            COVERED_TOOL.reset(token)

    def __get__(self, instance: object, owner: type | None = None) -> Tool[..., R]:
        """A tool in a class is bound like a method."""
        if instance is None:
            return self
        bound = Tool.__new__(Tool)
        bound.__dict__.update(self.__dict__)
        for cached in ("parameters", "schema"):
            bound.__dict__.pop(cached, None)
        bound.__dict__["_bound"] = (instance,)
        return bound

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickled by its name, as the function itself is, for pools of processes."""
        if self._bound:
            return getattr, (self._bound[0], self.function.__name__)
        return self.function.__qualname__

    @property
    def bound_to(self) -> Any:
        """The object whose method this is; None for a function."""
        return self._bound[0] if self._bound else None

    def __repr__(self) -> str:
        return f"<tool {self.name}, effect {self.effect or 'unknown'}>"

    @property
    def description(self) -> str:
        """The first paragraph of the function's docstring."""
        return (inspect.getdoc(self.function) or "").split("\n\n")[0]

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, from the annotations; no ``self``."""
        fields: dict[str, Any] = {}
        hints = self.hints
        for name, parameter in self.parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[name] = (hints.get(name, Any), default)
        model: type[BaseModel] = create_model(self.name, **fields)
        schema: dict[str, Any] = model.model_json_schema()
        schema.pop("title", None)
        for each in schema.get("properties", {}).values():
            each.pop("title", None)
        schema["additionalProperties"] = False
        return schema

    @property
    def openai(self) -> dict[str, Any]:
        """The tool as OpenAI's chat completions take it."""
        function = {
            "name": self.name,
            "description": self.description,
            "parameters": self.schema,
        }
        return {"type": "function", "function": function}

    @functools.cached_property
    def hints(self) -> dict[str, Any]:
        """The function's annotations, by name."""
        try:
            return typing.get_type_hints(self.function)
        except NameError as error:
            raise UsageError(
                f"tool {self.name}: its annotations name something that is not defined ({error}); "
                "import it where the function is defined, not only for type checking"
            ) from error

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature, ``self`` included."""
        return inspect.signature(self.function)

    @functools.cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The function's parameters, by name, without ``self``."""
        parameters = dict(self.signature.parameters)
        first = next(iter(parameters), None)
        if self._bound or first == "self":
            parameters.pop(str(first), None)
        return parameters


def _named(instance: Any) -> Any:
    """What tells two objects' calls apart: their data, where a trace can hold them, else their
    class."""
    if isinstance(instance, type):
        return instance.__qualname__
    try:
        return {type(instance).__qualname__: encode(instance, plain=True)}
    except UnencodableError:
        return type(instance).__qualname__


class _ToolHooks:
    """Takes one call of a tool over the seam."""

    def __init__(self, tool: Tool[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self._since = 0.0
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

    def perform(self, request: Any) -> Any:
        self._since = time.monotonic()
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

    def outcome(self, result: Any) -> Outcome:
        try:
            return Outcome(response=encode(result))
        except UnencodableError:
            # Data will do where the annotation can make the type again, or the user said so.
            if self._annotation is None and not self._tool.plain:
                raise
            return Outcome(response=encode(result, plain=True))

    def failure(self, error: BaseException) -> Outcome:
        return Outcome(error=timed(describe(error), self._since))

    def exception(self, info: ErrorInfo) -> BaseException:
        return plain_error(info)

    def deliver(self, served: Served) -> Any:
        if served.error is not None:
            error = self.exception(served.error)
            if isinstance(error, asyncio.CancelledError) and self._tool.is_async:
                return until_cancelled(served.error)
            raise error
        response = None if served.response is MISSING else served.response
        if self._annotation is None:
            return decode(response)
        try:
            return decode_as(response, self._annotation)
        except TraceFormatError:
            # The annotation is not what the function returns; the recorded value is exact.
            return decode(response)

    def is_stream(self, result: Any) -> bool:  # noqa: ARG002 - a tool's never is
        return False

    def tee(self, result: Any, tap: Tap) -> Any:  # noqa: ARG002 - never called
        return result

    @property
    def _annotation(self) -> Any:
        annotation = self._tool.hints.get("return")
        if annotation is None or annotation is Any or annotation is type(None):
            return None
        return annotation


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    effect: Effect | None = None,
    idempotency_key: Callable[..., str] | None = None,
    plain: bool = False,
) -> Callable[[Callable[P, R]], Tool[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    effect: Effect | None = None,
    idempotency_key: Callable[..., str] | None = None,
    plain: bool = False,
) -> Tool[P, R] | Callable[[Callable[P, R]], Tool[P, R]]:
    """Make a function a tool, so that its calls are recorded, replayed and guarded.

    Args:
        name: the name in traces; by default the function's.
        effect: ``"read"`` when it changes nothing, ``"write"`` when it does. Unknown counts as a
            write: in a fork it does not run unless that is allowed.
        idempotency_key: from the tool's arguments (by name) the key under which the write happens
            once, such as ``lambda order_id, **_: f"refund:{order_id}"``. The key of a live call is
            :func:`workbench.idempotency_key`.
        plain: record results of types that a trace does not know as plain data. Not needed where
            the function's return annotation names the type.

    Raises:
        UsageError: what is wrapped is no function, or a generator.
    """
    options: dict[str, Any] = {
        "name": name,
        "effect": effect,
        "idempotency_key": idempotency_key,
        "plain": plain,
    }
    if function is not None:
        return Tool(function, **options)
    return lambda each: Tool(each, **options)
