"""Taking a context along: into a thread, a pool's worker, or the steps of something awaited."""

from __future__ import annotations

import functools
import inspect
from contextvars import copy_context
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from contextvars import Context

P = ParamSpec("P")
R = TypeVar("R")


def bind(function: Callable[P, R]) -> Callable[P, R]:
    """The function, to be called elsewhere as if it were called here.

    Hand it to a pool, a thread or a queue: wherever it runs, its calls belong to the session, the
    step and the tool in which it was bound. Tasks, ``asyncio.to_thread``, ``loop.run_in_executor``
    and Python's own pools of threads do that by themselves; work that a thread from before the
    session takes out of a queue does not::

        jobs.put(workbench.bind(look_up))

    Each call has a copy of the context: several may run at once, and what one sets no other sees.

    Args:
        function: any callable, sync or async.
    """
    context = copy_context()
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def abound(*args: Any, **kwargs: Any) -> Any:
            return await Within(context.copy(), function(*args, **kwargs))

        return cast("Callable[P, R]", abound)

    @functools.wraps(function)
    def bound(*args: P.args, **kwargs: P.kwargs) -> R:
        return context.copy().run(function, *args, **kwargs)

    return bound


class Within:
    """Awaits something whose steps run in another context than the task's.

    Args:
        context: where they run.
        awaitable: what is awaited.
    """

    def __init__(self, context: Context, awaitable: Any) -> None:
        self._context = context
        self._awaitable = awaitable

    def __await__(self) -> Generator[Any, Any, Any]:
        inner = self._awaitable.__await__()
        step = functools.partial(inner.send, None)
        while True:
            try:
                waited = self._context.run(step)
            except StopIteration as stop:
                return stop.value
            try:
                step = functools.partial(inner.send, (yield waited))
            except GeneratorExit:
                self._context.run(inner.close)
                raise
            except BaseException as error:  # noqa: BLE001 - it goes on where it belongs
                step = functools.partial(inner.throw, error)
