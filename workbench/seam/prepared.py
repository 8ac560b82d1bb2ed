"""A run that is ready to begin: the blocking and the awaitable forms of a call are made of it."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

from workbench.seam.running import acall_agent, call_agent

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from workbench.seam.result import RunResult
    from workbench.seam.running import Run

P = ParamSpec("P")


@dataclass(slots=True)
class Prepared:
    """A session that is open, and the agent that is to run in it."""

    run: Run
    agent: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    setup: Callable[[], Any] | None = None


def blocking(prepare: Callable[P, Prepared]) -> Callable[P, RunResult]:
    """The form that runs the agent to its end."""

    @functools.wraps(prepare)
    def run(*args: P.args, **kwargs: P.kwargs) -> RunResult:
        ready = prepare(*args, **kwargs)
        return call_agent(ready.run, ready.agent, ready.args, ready.kwargs, ready.setup)

    _name(run, prepare.__name__.strip("_"))
    return run


def awaitable(
    prepare: Callable[P, Prepared],
) -> Callable[P, Coroutine[Any, Any, RunResult]]:
    """The form to be awaited where a loop is running."""

    @functools.wraps(prepare)
    async def run(*args: P.args, **kwargs: P.kwargs) -> RunResult:
        ready = prepare(*args, **kwargs)
        return await acall_agent(ready.run, ready.agent, ready.args, ready.kwargs, ready.setup)

    name = prepare.__name__.strip("_")
    run.__doc__ = f":func:`workbench.{name}`, to be awaited where a loop is running."
    _name(run, f"a{name}")
    return run


def _name(function: Any, name: str) -> None:
    function.__name__ = function.__qualname__ = name
    function.__annotations__ = {**function.__annotations__, "return": "RunResult"}
