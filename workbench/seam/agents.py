"""What an agent can be: a callable, ``"module:function"``, a script, a module."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from workbench.errors import UsageError
from workbench.seam.scripts import Script
from workbench.trace.entries import AgentInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


def resolve(agent: Callable[..., Any] | str) -> tuple[Callable[..., Any], AgentInfo]:
    """The callable that an agent is, and how a trace names it.

    Raises:
        UsageError: it is neither callable nor the name of something that is.
    """
    if isinstance(agent, str):
        if agent.endswith(".py"):
            script = Script(agent)
            return script, script.info
        return _named(agent), AgentInfo(kind="function", target=agent)
    if not callable(agent):
        raise UsageError(
            f"an agent is a function or 'module:function', not {type(agent).__name__} {agent!r}"
        )
    if isinstance(agent, Script):
        return agent, agent.info
    name = getattr(agent, "__qualname__", type(agent).__qualname__)
    if inspect.isgeneratorfunction(agent) or inspect.isasyncgenfunction(agent):
        raise UsageError(
            f"{name} is a generator: it would run only when somebody reads it, after the session "
            f"has ended. Give a function that reads it whole, such as lambda: list({name}(…))"
        )
    return agent, AgentInfo(kind="function", target=f"{agent.__module__}:{name}")


def check_arguments(
    agent: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    caller: Callable[..., Any],
    options: Mapping[str, Any],
) -> None:
    """Refuse arguments that the agent does not take, before anything is run or written.

    Args:
        agent: the agent's callable.
        args: its arguments, ``kwargs`` its keyword arguments.
        caller: our own function that was called, one of whose options may have been misspelt.
        options: the values that its options have.

    Raises:
        UsageError: the agent cannot be called so.
    """
    try:
        signature = inspect.signature(agent)
    except (TypeError, ValueError):  # some callables in C tell nothing of their arguments
        return
    clash = sorted(
        name
        for name, parameter in inspect.signature(caller).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
        and name in signature.parameters
        and options.get(name) != parameter.default
    )
    if clash:
        raise UsageError(
            f"{clash[0]}= is an option of {caller.__name__}() and an argument of the agent, so it "
            "cannot be told whose it is. Give the agent its own by position, or by "
            f"functools.partial(agent, {clash[0]}=…)"
        )
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        name = getattr(agent, "__qualname__", repr(agent))
        theirs = inspect.signature(caller).parameters.values()
        names = [each.name for each in theirs if each.kind is each.KEYWORD_ONLY]
        unknown = [each for each in kwargs if each not in signature.parameters]
        near = [difflib.get_close_matches(each, names, 1) for each in unknown]
        hints = [f"did you mean {close[0]}=?" for close in near if close]
        hint = "; " + " ".join(hints) if hints else ""
        given = "no arguments" if not args and not kwargs else "these arguments"
        raise UsageError(
            f"{name}{signature} cannot be called with {given}: {error}{hint}. Pass the agent's own "
            "arguments after the trace, or after the agent when recording"
        ) from error


def _named(target: str) -> Callable[..., Any]:
    module_name, colon, path = target.partition(":")
    if not colon or not path:
        raise UsageError(f"'{target}' names no agent: write module:function, or a script's path")
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not module_name.startswith(error.name):
            raise
        raise UsageError(
            f"'{target}': there is no module {module_name} here or among the installed packages"
            + (f"; write {module_name[:-3]}:{path}" if module_name.endswith(".py") else "")
        ) from error
    for part in path.split("."):
        found = getattr(found, part, None)
        if found is None:
            raise UsageError(f"'{target}': the module {module_name} has no {path}")
    if not callable(found):
        raise UsageError(f"'{target}' is {type(found).__name__}, which cannot be called")
    return cast("Callable[..., Any]", found)


def recorded_agent(info: AgentInfo, argv: Sequence[str] | None = None) -> Callable[..., Any]:
    """The agent that a trace names. Only call this once its user said that it may be imported."""
    if info.kind in ("script", "module"):
        arguments = tuple(info.argv or ()) if argv is None else tuple(argv)
        return Script(str(info.target), arguments, module=info.kind == "module")
    if info.kind == "function" and info.target:
        return _named(info.target)
    raise UsageError("the trace was recorded from a block of code, and names no agent to run")
