"""``@workbench.tool``: a function of the agent's own that crosses the seam."""

from __future__ import annotations

import functools
import inspect
import weakref
from types import MethodType
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, cast, overload

from workbench.errors import UsageError
from workbench.seam import tool_signature as told
from workbench.seam.current import COVERED_TOOL, current_seam
from workbench.seam.declared import declare
from workbench.seam.drivers import call_async, call_sync
from workbench.seam.tool_hooks import ToolHooks
from workbench.seam.tool_streams import agenerated, generated

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.trace.entries import Effect

P = ParamSpec("P")
R = TypeVar("R")
Binds = Literal["instance", "class", "nothing"]
"""What a tool in a class gets first."""


class Tool(Generic[P, R]):
    """A function whose calls are recorded, replayed, and guarded when they write.

    It is called, awaited, read and inspected like the function itself: a generator's values cross
    the seam one by one.

    Attributes:
        name: the name in traces; by default the function's.
        effect: ``"read"``, ``"write"``, or None (unknown, which counts as a write).
        function: the function itself, whose calls cross no seam.
        key_of: gives a call's idempotency key, from its arguments by name; None where it has none.
        plain: whether results of types that a trace does not know are kept as plain data.
        is_async: whether a call is awaited.
        yields: ``"sync"`` or ``"async"`` where a call gives a generator, else None.
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
        self._binds, self._bound, function = _taken_apart(function)
        if not callable(function):
            raise UsageError(f"@workbench.tool wraps a function, not {function!r}")
        if effect not in (None, "read", "write"):
            raise UsageError(
                f"effect={effect!r}: a tool's effect is 'read' or 'write'; leave it out where it "
                "is not known"
            )
        self._look_like(function)
        self.function = function
        self.key_of = idempotency_key
        self.plain = plain
        self.name: str = name or str(self.__dict__["__name__"])
        self.__name__ = self.name  # so a framework knows it by the name that it has in traces
        self.effect = effect
        self.is_async = told.is_async(function)
        self.yields = told.yields(function)
        if self._bound:
            self._look_bound()
        declare(self)

    def _look_like(self, function: Any) -> None:
        """Be inspected like the function; what was set on it is there, too."""
        more = getattr(function, "__dict__", {}) if inspect.isroutine(function) else {}
        self.__dict__.update({k: v for k, v in more.items() if not hasattr(type(self), k)})
        self.__dict__.update(told.like_function(function))
        self._answer_for_call()

    def _answer_for_call(self) -> None:
        """Who asks the ``__call__`` of what is no function for its annotations gets these."""
        self.__dict__["__call__"] = weakref.proxy(self)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function, through the session if one is open here."""
        seam = current_seam()
        if seam is None:
            return self.function(*self._bound, *args, **kwargs)
        if COVERED_TOOL.get() == self.name:
            return self._covered(*args, **kwargs)
        if not self._bound and self._takes(args):  # Order.pay(order, 5) is order.pay(5)
            return self.__get__(args[0])(*args[1:], **kwargs)
        given = (*self._bound, *args)
        if self.yields is not None:
            self.signature.bind(*given, **kwargs)  # what does not fit is refused at once
            made = generated if self.yields == "sync" else agenerated
            return cast("R", made(self, given, kwargs))
        hooks = ToolHooks(self, given, kwargs)
        if self.is_async:
            return cast("R", call_async(seam, hooks.call, hooks))
        return cast("R", call_sync(seam, hooks.call, hooks))

    def _takes(self, args: tuple[Any, ...]) -> bool:
        """Whether the first argument is the object whose method this is."""
        first = self._first
        return bool(args) and (first == "self" or (first == "cls" and isinstance(args[0], type)))

    @functools.cached_property
    def _first(self) -> str | None:
        return next(iter(self.signature.parameters), None)

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
        if self._binds == "class" and not self._bound:
            instance = owner or type(instance)
        if instance is None or self._binds == "nothing" or self._bound:
            return self
        bound = Tool.__new__(Tool)
        bound.__dict__.update(self.__dict__)
        for cached in ("parameters", "schema"):
            bound.__dict__.pop(cached, None)
        bound.__dict__["_bound"] = (instance,)
        bound._look_bound()  # noqa: SLF001 - of this very class
        return bound

    def _look_bound(self) -> None:
        self.__signature__ = self._without_self()
        self._answer_for_call()

    def _without_self(self) -> inspect.Signature:
        rest = list(self.signature.parameters.values())[1:]
        return self.signature.replace(parameters=rest)

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
        return inspect.cleandoc(self.__doc__ or "").split("\n\n")[0]

    @functools.cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the arguments, from the annotations; no ``self``.

        Raises:
            UsageError: an annotation names something unknown, or has no form in JSON.
        """
        hints = told.hints_of(self.function, self.name, extras=True)
        return told.schema_of(self.name, self.parameters, hints)

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
        return told.hints_of(self.function, self.name)

    @functools.cached_property
    def result_hint(self) -> Any:
        """What it gives, or yields one by one, by its annotation; None where that says nothing,
        or names what is not defined when the program runs."""
        try:
            return told.result_hint(self.hints, each=self.yields is not None)
        except UsageError:
            return None

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The function's signature, ``self`` included."""
        return told.signature_of(self.function, self.name)

    @functools.cached_property
    def parameters(self) -> dict[str, inspect.Parameter]:
        """The function's parameters, by name, without ``self``."""
        parameters = dict(self.signature.parameters)
        if self._bound or self._first == "self":
            parameters.pop(str(self._first), None)
        return parameters


def _taken_apart(function: Any) -> tuple[Binds, tuple[Any, ...], Any]:
    """What a function in a class gets first, what it got already, and the function itself."""
    if isinstance(function, staticmethod):
        return "nothing", (), function.__func__
    if isinstance(function, classmethod):
        return "class", (), function.__func__
    if isinstance(function, MethodType):
        return "instance", (function.__self__,), function.__func__
    return "instance", (), function


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
        UsageError: what is wrapped is no function, or the effect is none of the two.
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
