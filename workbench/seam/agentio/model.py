"""What answers model calls: the door to a provider, in the neutral shape."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeVar

from workbench.errors import UsageError
from workbench.seam.agentio.reply import VIEW

Body = dict[str, Any]
T = TypeVar("T")


class Model:
    """A provider of models. To write one, override :meth:`complete`; the rest is made of that.

    A request is ``{"model", "messages", "tools"?, …parameters}``, a reply ``{"content",
    "tool_calls"?: [{"id", "name", "arguments"}], "finish_reason", "model", "usage"}``; both are
    plain JSON, and neither is to be changed by who gets it. Failures are
    :class:`~workbench.seam.agentio.errors.ModelError`.
    """

    provider: str = "custom"
    """Who answers, as the trace says it."""

    async def complete(self, request: Body) -> Body:
        """Answer a request."""
        raise NotImplementedError

    async def stream(self, request: Body) -> AsyncIterator[Body]:
        """Answer a request in pieces: ``{"text"}``, ``{"reasoning"}``, ``{"tool_call": {"index",
        "id", "name", "arguments"}}``, and everything else."""
        for chunk in VIEW.split(await self.complete(request)):
            yield chunk

    async def embed(self, request: Body) -> Body:  # noqa: ARG002 - for those that have some
        """Give ``{"embeddings": [[…], …], "usage"?}`` for ``{"model", "input": [text, …]}``."""
        raise UsageError(f"{type(self).__name__} has no embeddings: its embed() is not written")

    def complete_sync(self, request: Body) -> Body:
        """:meth:`complete` for code without a loop."""
        return run(self.complete(request))

    def stream_sync(self, request: Body) -> Iterator[Body]:
        """:meth:`stream` for code without a loop."""
        yield from VIEW.split(self.complete_sync(request))

    def embed_sync(self, request: Body) -> Body:
        """:meth:`embed` for code without a loop."""
        return run(self.embed(request))

    async def aclose(self) -> None:
        """Let go of what is held in the running loop, such as connections."""

    def close(self) -> None:
        """Let go of what else is held."""


class FunctionModel(Model):
    """A function, sync or async, that answers requests."""

    provider = "function"

    def __init__(self, function: Callable[[Body], Any]) -> None:
        self.function = function

    async def complete(self, request: Body) -> Body:
        """What the function gives."""
        given = self.function(request)
        return reply_body(self.function, await given if inspect.isawaitable(given) else given)

    def complete_sync(self, request: Body) -> Body:
        """What the function gives."""
        given = self.function(request)
        return reply_body(self.function, run(given) if inspect.isawaitable(given) else given)


class NoModel(Model):
    """Stands where no model was given, and says so when it is asked."""

    def __init__(self, why: str) -> None:
        self.why = why

    async def complete(self, request: Body) -> Body:  # noqa: ARG002 - nobody reads it
        """Never answers.

        Raises:
            UsageError: always.
        """
        raise UsageError(self.why)

    embed = complete


def as_model(model: Any) -> Model:
    """A model, or the function that answers as one.

    Raises:
        UsageError: it is neither.
    """
    if isinstance(model, Model):
        return model
    if inspect.isclass(model) or not callable(model):
        made = f"{model.__name__}()" if inspect.isclass(model) else "workbench.OpenAIModel()"
        raise UsageError(
            f"model={model!r} cannot answer: give a model such as {made}, or a function of the "
            "request"
        )
    return FunctionModel(model)


def run(coroutine: Awaitable[T]) -> T:
    """Wait for a coroutine where no loop runs.

    Raises:
        UsageError: a loop runs in this thread, which waiting would stop.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(_awaited(coroutine))
    if inspect.iscoroutine(coroutine):
        coroutine.close()
    raise UsageError(
        "an async function was reached from the sync twin of an io while a loop is running here: "
        "await the async io instead"
    )


async def _awaited(coroutine: Awaitable[T]) -> T:
    return await coroutine


def reply_body(model: Any, given: Any) -> Body:
    """What a model, or a function, answered, as a reply's body.

    Raises:
        UsageError: it is none.
    """
    if isinstance(given, str):
        return {"content": given, "finish_reason": "stop"}
    if isinstance(given, dict):
        return given
    name = getattr(model, "__name__", None) or type(model).__name__
    raise UsageError(
        f"{name} answered a request with {type(given).__name__}: a model gives a reply's body, "
        'such as {"content": "…"}, or just its text'
    )
