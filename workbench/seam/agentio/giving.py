"""Giving an agent its io: found by its parameter, kept out of the recorded input."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError
from workbench.seam.agentio.io import BaseIO, SeamIO, SyncSeamIO
from workbench.seam.agentio.making import served_io
from workbench.seam.opening import Arguments, input_of

if TYPE_CHECKING:
    from workbench.trace.entries import AgentInfo
    from workbench.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Given:
    """An agent's arguments: those that its trace keeps, and those that it is called with."""

    kept: Arguments
    """Without the io, which is no input: it is the world."""
    full: Arguments
    """With the io in its place."""


def given_to_record(
    function: Callable[..., Any], info: AgentInfo, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Given:
    """The arguments of an agent that is recorded. That it had an io is noted in ``info``.

    Args:
        function: the agent's callable.
        info: how its trace names it.
        args: its arguments, ``kwargs`` its keyword arguments, as they were passed.

    Raises:
        UsageError: the agent needs an io to reach the world, and none was passed, or one that is
            async where the agent's annotation is not, or the other way round.
    """
    parameter = io_parameter(function)
    if parameter is None:
        return Given((args, kwargs), (args, kwargs))
    kept, io = _taken(function, parameter, args, kwargs)
    if io is None and parameter.default is parameter.empty:
        name = getattr(function, "__qualname__", repr(function))
        raise UsageError(
            f"{name} takes an io and none was passed: give it one, such as "
            f"{parameter.name}=workbench.live_io(model=workbench.OpenAIModel(), tools=[…])"
        )
    if io is None:
        info.io = _is_io(parameter.default) or None
        return Given(kept, kept)
    _refuse_the_other_way_in(function, parameter, io)
    info.io = True
    return Given(kept, _put(function, parameter, kept, io))


def given_to_replay(
    function: Callable[..., Any],
    info: AgentInfo,
    parent: Trace,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Given:
    """The arguments of an agent that is replayed or forked: those passed, else the recorded ones.

    An agent that was recorded with an io, or needs one, gets one that can only be served where
    none was passed.

    Args:
        function: the agent's callable.
        info: how the new trace names it.
        parent: what was recorded.
        args: the arguments, ``kwargs`` the keyword arguments, as they were passed.

    Raises:
        UsageError: none were passed and the recorded ones cannot be used.
    """
    parameter = io_parameter(function)
    if parameter is None:
        kept = input_of(parent, args, kwargs)
        return Given(kept, kept)
    passed, io = _taken(function, parameter, args, kwargs)
    kept = input_of(parent, *passed)
    if io is None and _has_its_own(parameter, parent):
        info.io = _is_io(parameter.default) or None
        return Given(kept, kept)
    _refuse_the_other_way_in(function, parameter, io)
    if io is None:
        io = served_io() if wants_async(function, parameter) else served_io().sync
    info.io = True
    return Given(kept, _put(function, parameter, kept, io))


def _taken(
    function: Callable[..., Any],
    parameter: inspect.Parameter,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> tuple[Arguments, Any]:
    """The arguments without the io, and the io; None when none was passed."""
    if parameter.name in kwargs:
        rest = {name: value for name, value in kwargs.items() if name != parameter.name}
        return (args, rest), kwargs[parameter.name]
    place = _place(function, parameter)
    if place is not None and len(args) > place and _is_io(args[place]):
        return (args[:place] + args[place + 1 :], kwargs), args[place]
    return (args, kwargs), None


def _put(
    function: Callable[..., Any], parameter: inspect.Parameter, kept: Arguments, io: Any
) -> Arguments:
    args, kwargs = kept
    place = _place(function, parameter)
    if place is None or len(args) < place:
        return args, {**kwargs, parameter.name: io}
    return (*args[:place], io, *args[place:]), kwargs


def io_parameter(function: Callable[..., Any]) -> inspect.Parameter | None:
    """The parameter for an io: annotated as one, or named ``io`` without another annotation."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # some callables in C tell nothing of their arguments
        return None
    possible = [each for each in parameters if each.kind in _ONE_VALUE]
    for each in possible:
        if "AgentIO" in _words(each.annotation):
            return each
    return next((each for each in possible if each.name == "io" and _bare(each)), None)


def wants_async(function: Callable[..., Any], parameter: inspect.Parameter) -> bool:
    """Whether it is the async io, by the annotation, else by the function."""
    words = _words(parameter.annotation)
    if "AgentIO" in words:
        return "SyncAgentIO" not in words
    call = getattr(function, "__call__", None)  # noqa: B004 - an object may have an async one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _refuse_the_other_way_in(
    function: Callable[..., Any], parameter: inspect.Parameter, io: Any
) -> None:
    """An io whose calls are to be awaited is none for an agent that says it awaits nothing."""
    words = _words(parameter.annotation)
    if "AgentIO" not in words or words.count("AgentIO") > 1:  # nothing is said, or either will do
        return
    name = getattr(function, "__qualname__", repr(function))
    if isinstance(io, SeamIO) and not wants_async(function, parameter):
        raise UsageError(
            f"{name} takes a SyncAgentIO, and this io is async: pass its twin, io.sync"
        )
    if isinstance(io, SyncSeamIO) and wants_async(function, parameter):
        raise UsageError(
            f"{name} takes an AgentIO, and this io is its blocking twin: pass the io, not io.sync"
        )


_ONE_VALUE = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def _words(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    return annotation if isinstance(annotation, str) else str(annotation)


def _bare(parameter: inspect.Parameter) -> bool:
    return parameter.annotation in (parameter.empty, Any, object, "Any", "typing.Any")


def _place(function: Callable[..., Any], parameter: inspect.Parameter) -> int | None:
    """Where it stands among the arguments; None for a keyword-only one."""
    if parameter.kind is parameter.KEYWORD_ONLY:
        return None
    names = list(inspect.signature(function).parameters)
    return names.index(parameter.name)


def _has_its_own(parameter: inspect.Parameter, parent: Trace) -> bool:
    """Whether the agent is to keep what it has by default: an io that it brings, or none where it
    was recorded without."""
    if parameter.default is parameter.empty:
        return False
    recorded = parent.header.agent is not None and bool(parent.header.agent.io)
    return _is_io(parameter.default) or not recorded


def _is_io(value: Any) -> bool:
    return isinstance(value, BaseIO) or all(
        callable(getattr(value, name, None)) for name in ("call_model", "call_tool", "write_event")
    )
