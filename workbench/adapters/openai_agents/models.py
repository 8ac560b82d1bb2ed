"""Model calls: those that no hooked SDK sends are recorded here; of all of them the step is set."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from workbench.adapters.frameworks.asking import RUN, answered
from workbench.adapters.frameworks.models import amodel_call, amodel_stream
from workbench.adapters.frameworks.steps import agent_step
from workbench.adapters.openai_agents.codec import ResponseCodec
from workbench.adapters.openai_agents.conversation import Asked, request_body
from workbench.adapters.openai_agents.library import is_ours
from workbench.seam.agentio.streams import aclose
from workbench.seam.current import COVERED, current_seam


async def get_response(
    wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``Model.get_response`` of any model."""
    if COVERED.get() or current_seam() is None:
        return await wrapped(*args, **kwargs)
    with agent_step(_agent()):
        if is_ours(model):
            asked = Asked(args, kwargs)
            response = await amodel_call(
                _codec(model),
                request_body(_name(model), asked),
                asked,
                lambda given: wrapped(*given.args, **given.kwargs),
            )
        else:
            response = await wrapped(*args, **kwargs)
    answered()
    return response


def stream_response(wrapped: Any, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """``Model.stream_response`` of any model."""
    if COVERED.get() or current_seam() is None:
        return wrapped(*args, **kwargs)
    return _streamed(wrapped, model, Asked(args, kwargs))


async def _streamed(wrapped: Any, model: Any, asked: Asked) -> AsyncIterator[Any]:
    with agent_step(_agent()):
        events: Any = await _opened(wrapped, model, asked)
        first = await anext(events, None)
    answered()
    try:
        if first is not None:
            yield first
        async for event in events:
            yield event
    finally:
        await aclose(events)


async def _opened(wrapped: Any, model: Any, asked: Asked) -> Any:
    if not is_ours(model):
        return aiter(wrapped(*asked.args, **asked.kwargs))
    return await amodel_stream(
        _codec(model),
        request_body(_name(model), asked),
        asked,
        lambda given: wrapped(*given.args, **given.kwargs),
    )


def _agent() -> str | None:
    run = RUN.get()
    return None if run is None else run.agent


def _codec(model: Any) -> ResponseCodec:
    return ResponseCodec(_name(model), type(model).__module__.partition(".")[0])


def _name(model: Any) -> str:
    name = getattr(model, "model", None)
    return name if isinstance(name, str) else type(model).__name__
