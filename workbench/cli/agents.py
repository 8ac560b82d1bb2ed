"""From the words of a command line to an agent and its arguments."""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.own import recorded_in
from workbench.errors import UsageError, WorkbenchError

if TYPE_CHECKING:
    from workbench.cli.output import Output
    from workbench.trace.entries import AgentInfo
    from workbench.trace.trace import Trace

_KEYWORD = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True)
class Given:
    """An agent, ready for ``record()``, ``replay()`` and ``fork()``."""

    agent: Callable[..., Any] | str
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    is_script: bool = False
    """Whether it prints its output itself."""
    name: str = "run"
    """A name for its traces."""
    spelled: tuple[str, ...] = ()
    """How a command line names it."""
    words: tuple[str, ...] = ()
    """What stood after ``--``."""
    folder: Path | None = None
    """Where it runs, if that is elsewhere."""


class AgentImportError(WorkbenchError):
    """The agent's module raised while it was imported; its own error is the cause."""


def given_agent(
    target: str | None,
    words: Sequence[str],
    *,
    module: str | None = None,
    folder: Path | None = None,
) -> Given:
    """The agent that somebody named.

    Args:
        target: a script's path or ``module:function``.
        words: what stood after ``--``.
        module: the name of a module to run like ``python -m``, instead of a target.
        folder: where it was recorded, if that is elsewhere: names are meant from there.

    Raises:
        UsageError: there is no such agent.
        AgentImportError: its module cannot be imported.
    """
    from workbench.seam.scripts import Script

    if module is not None:
        if target is not None:
            raise UsageError(f"give a script or -m {module}, not both ({target} and -m {module})")
        return _module(module, words, folder)
    if target is None:
        raise UsageError("name an agent: a script, module:function, or -m MODULE")
    if target.endswith(".py") or Path(target).is_file():
        agent = Script(target, tuple(words), folder=folder)
        if not agent.path.is_file():
            raise UsageError(f"there is no script {agent.path}")
        spelled, own = (target,), tuple(words)
        return Given(agent, is_script=True, name=Path(target).stem, spelled=spelled, words=own)
    if folder is not None:
        sys.path.insert(0, str(folder))
    imported(target)
    args, kwargs = function_arguments(words)
    name = target.rpartition(":")[2]
    return Given(target, args, kwargs, name=name, spelled=(target,), words=tuple(words))


def _module(name: str, words: Sequence[str], folder: Path | None) -> Given:
    import importlib.util

    from workbench.seam.scripts import Script

    if folder is not None or (str(Path.cwd()) not in sys.path and "" not in sys.path):
        sys.path.insert(0, str(folder or Path.cwd()))
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise UsageError(f"there is no module {name} here or among the installed packages")
    return Given(
        Script(name, tuple(words), module=True, folder=folder),
        is_script=True,
        name=name.rpartition(".")[2],
        spelled=("-m", name),
        words=tuple(words),
    )


def imported(target: str) -> Callable[..., Any]:
    """The function that ``module:function`` names.

    Raises:
        UsageError: there is none.
        AgentImportError: its module raised.
    """
    from workbench.seam.agents import resolve

    try:
        return resolve(target)[0]
    except UsageError:
        raise
    except Exception as error:
        module = target.partition(":")[0]
        raise AgentImportError(
            f"the module {module} cannot be imported: {type(error).__name__}: {error}"
        ) from error


@contextlib.contextmanager
def shown_import_errors(out: Output) -> Iterator[None]:
    """When the agent's module raises, its traceback is what helps, so it is shown."""
    try:
        yield
    except AgentImportError as error:
        from workbench.cli.words import agent_traceback

        out.warn(agent_traceback(error))
        raise


def by_name(run: Callable[..., Any], kwargs: dict[str, Any]) -> dict[str, Any]:
    """An agent's keyword arguments, once it is sure that ``run`` passes them on.

    Raises:
        UsageError: ``run`` has an option of that name, and would take it for its own.
    """
    options = inspect.signature(run).parameters
    taken = next((name for name in kwargs if name in options), None)
    if taken is not None:
        raise UsageError(
            f"the agent's argument {taken}= cannot be given by name, since {run.__name__}() has an "
            "option of that name; give it by position"
        )
    return kwargs


def function_arguments(words: Sequence[str]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A function's arguments: JSON where a word is JSON, else the word; ``key=value`` by name."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for word in words:
        if _KEYWORD.match(word):
            name, _, text = word.partition("=")
            kwargs[name] = _value(text)
        else:
            args.append(_value(word))
    return tuple(args), kwargs


def _value(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word


def agent_for(
    trace: Trace, target: str | None, words: Sequence[str], command: str, *, recorded: bool
) -> Given:
    """The agent to run against a trace: the one given, or the recorded one if that was asked for.

    A trace's agent is never run, or even imported, because a trace names it: somebody must say so,
    or have recorded the trace here. Without words of its own, a script gets the recorded ones.

    Raises:
        UsageError: no agent was given, or it cannot be called with the recorded arguments; the
            text names the recorded one and the command to run it.
    """
    info = trace.header.agent
    if target is not None:
        given = given_agent(target, words)
        if given.is_script and not words and info is not None and info.argv:
            given = given_agent(target, info.argv)
        check_recorded_arguments(trace, given)
        return given
    if info is None or not info.target:
        raise UsageError(
            f"name the agent: workbench {command} {trace.path} module:function "
            "(the trace does not say which agent made it)"
        )
    home = recorded_in(trace.header)
    if home is None and not recorded:
        raise UsageError(
            f"name the agent to run. This trace was recorded from {agent_words(info)}; "
            f"to run that:\n  workbench {command} {shlex.quote(str(trace.path))} --recorded-agent"
        )
    stays = home is None or home == Path.cwd() or (recorded and _is_here(info))
    return _as_recorded(info, words, None if stays else home)


def _is_here(info: AgentInfo) -> bool:
    """Whether what a trace names is in this folder, too: asked for by name, it is that one."""
    return info.kind != "script" or Path(str(info.target)).is_file()


def _as_recorded(info: AgentInfo, words: Sequence[str], folder: Path | None) -> Given:
    """The agent that a trace names, from the folder where it was recorded."""
    if folder is not None and not folder.is_dir():
        raise UsageError(
            f"the folder {folder}, where this was recorded, is not there any more: name the agent "
            f"to run (it was {agent_words(info)})"
        )
    said = words or info.argv or ()
    if info.kind == "module":
        given = given_agent(None, said, module=info.target, folder=folder)
        return replace(given, folder=folder)
    if info.kind == "script" and not ((folder or Path()) / str(info.target)).is_file():
        where = f"in {folder}" if folder is not None else "here"
        raise UsageError(
            f"there is no script {info.target} {where}, from which this trace was recorded: go to "
            "the folder that it was in, or name the script to run"
        )
    return replace(given_agent(info.target, said, folder=folder), folder=folder)


def check_recorded_arguments(trace: Trace, given: Given) -> None:
    """Refuse an agent that gets the recorded arguments and cannot be called with them.

    Raises:
        UsageError: the text names the recorded agent.
    """
    from workbench.seam.agentio.giving import given_to_replay
    from workbench.seam.agents import resolve

    if given.args or given.kwargs:
        return  # checked by the run itself
    function, how = resolve(given.agent)
    arguments = given_to_replay(function, how, trace, (), {})
    (args, kwargs), (full_args, full_kwargs) = arguments.kept, arguments.full
    try:
        inspect.signature(function).bind(*full_args, **full_kwargs)
    except TypeError as error:
        info = trace.header.agent
        known = info is not None and info.target
        maker = agent_words(info) if info is not None and known else "another agent"
        shown = ", ".join([*map(repr, args), *(f"{name}={kwargs[name]!r}" for name in kwargs)])
        why = "a script cannot be given those" if given.is_script else f"this one: {error}"
        remedy = "a function" if given.is_script else "it"
        raise UsageError(
            f"the trace was recorded from {maker} with ({shown}), and {why}; run that agent, or "
            f"give {remedy} arguments of its own after --"
        ) from error
    except ValueError:  # some callables in C tell nothing of their arguments
        return


def named_agent(
    path: str, target: str | None, words: Sequence[str], command: str, *, recorded: bool
) -> tuple[Trace, Given]:
    """A trace, and the agent to run against it: see :func:`agent_for`."""
    from workbench.trace.trace import load

    trace = load(path)
    return trace, agent_for(trace, target, words, command, recorded=recorded)


def agent_words(info: AgentInfo) -> str:
    """A recorded agent in words, such as ``my_script.py --order 101``."""
    head = ["-m"] if info.kind == "module" else []
    return shlex.join([*head, str(info.target), *(info.argv or ())])
