"""The calls of an io, as the drivers want to see them."""

from __future__ import annotations

import inspect
from time import monotonic
from typing import TYPE_CHECKING, Any

from workbench.errors import UsageError
from workbench.seam.agentio.errors import BadReplyError, to_error, to_info
from workbench.seam.agentio.model import reply_body, run
from workbench.seam.agentio.streams import APulled, Pulled, atee, tee
from workbench.seam.calls import MISSING, Call, Outcome, Served
from workbench.seam.current import COVERED
from workbench.seam.exceptions import describe, plain_error, timed, until_cancelled
from workbench.trace.values import decode, encode

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from workbench.seam.agentio.world import World
    from workbench.seam.drivers import Tap
    from workbench.trace.entries import ErrorInfo


class Ask:
    """One call of an io: what the seam is told of it, and how to make it for real.

    It is made anew for each call, and holds nothing but its parts.
    """

    __slots__ = ("call", "since", "world")

    def __init__(self, call: Call, world: World) -> None:
        self.call = call
        self.world = world
        self.since = monotonic()

    def perform(self, request: Any) -> Any:
        """Make the call for real."""
        raise NotImplementedError

    def outcome(self, result: Any) -> Outcome:
        """A finished result."""
        return Outcome(response=encode(result))

    def failure(self, error: BaseException) -> Outcome:
        """A failed call."""
        return Outcome(error=timed(describe(error), self.since))

    def exception(self, info: ErrorInfo) -> BaseException:
        """A recorded or injected error."""
        return plain_error(info)

    def deliver(self, served: Served) -> Any:
        """A result that does not come from the world."""
        if served.error is not None:
            raise self.exception(served.error)
        return None if served.response is MISSING else decode(served.response)

    def is_stream(self, result: Any) -> bool:  # noqa: ARG002 - only a model's can be
        """Whether the result is yet to be read."""
        return False

    def tee(self, result: Any, tap: Tap) -> Any:  # noqa: ARG002 - only for streams
        """The same stream."""
        return result


class ModelAsk(Ask):
    """A model call of sync code."""

    __slots__ = ()

    def perform(self, request: Any) -> Any:
        """Ask the model."""
        token = COVERED.set(True)
        try:
            return self._answer(request["body"])
        finally:
            COVERED.reset(token)

    def _answer(self, body: dict[str, Any]) -> Any:
        model = self.world.model
        if self.call.stream:
            return Pulled(model.stream_sync(body))
        return reply_body(model, model.complete_sync(body))

    def outcome(self, result: Any) -> Outcome:
        """The reply's body."""
        model = result.get("model")
        return Outcome(
            response={"body": result},
            provider=self.world.model.provider,
            model=model if isinstance(model, str) else None,
        )

    def failure(self, error: BaseException) -> Outcome:
        """A failed call."""
        return Outcome(error=timed(to_info(error), self.since), provider=self.world.model.provider)

    def exception(self, info: ErrorInfo) -> BaseException:
        """The error that the model would have raised."""
        return to_error(info)

    def deliver(self, served: Served) -> Any:
        """The body, or the chunks."""
        if served.chunks is not None:
            return self._chunks(served)
        return self._served_body(served)

    def _served_body(self, served: Served) -> Any:
        if served.error is not None:
            raise self.exception(served.error)
        body = served.response.get("body") if isinstance(served.response, dict) else None
        if not isinstance(body, dict):
            raise BadReplyError("what was recorded here is no reply of a model", body=body)
        return body

    def _chunks(self, served: Served) -> Iterator[Any]:
        yield from served.chunks or ()
        if served.error is not None:
            raise self.exception(served.error)

    def is_stream(self, result: Any) -> bool:
        """Whether chunks are yet to be read."""
        return self.call.stream and not isinstance(result, dict)

    def tee(self, result: Any, tap: Tap) -> Any:
        """The same chunks, told to the tap."""
        tap.known.provider = self.world.model.provider
        return tee(iter(result), tap)


class AsyncModelAsk(ModelAsk):
    """A model call of async code."""

    __slots__ = ()

    async def perform(self, request: Any) -> Any:
        """Ask the model."""
        token = COVERED.set(True)
        try:
            return await self._answer(request["body"])
        finally:
            COVERED.reset(token)

    async def _answer(self, body: dict[str, Any]) -> Any:
        model = self.world.model
        if self.call.stream:
            return await APulled(model.stream(body)).start()
        return reply_body(model, await model.complete(body))

    def deliver(self, served: Served) -> Any:
        """The body, or the chunks."""
        if served.chunks is not None:
            return self._achunks(served)
        if served.error is not None and served.error.type == "CancelledError":
            return until_cancelled(served.error)
        return self._served_body(served)

    async def _achunks(self, served: Served) -> AsyncIterator[Any]:
        for chunk in served.chunks or ():
            yield chunk
        if served.error is not None:
            if served.error.type == "CancelledError":
                await until_cancelled(served.error)
            raise self.exception(served.error)

    def tee(self, result: Any, tap: Tap) -> Any:
        """The same chunks, told to the tap."""
        tap.known.provider = self.world.model.provider
        return atee(aiter(result), tap)


class EmbedAsk(ModelAsk):
    """A call for embeddings, of sync code."""

    __slots__ = ()

    def _answer(self, body: dict[str, Any]) -> Any:
        return self.world.model.embed_sync(body)


class AsyncEmbedAsk(AsyncModelAsk):
    """A call for embeddings, of async code."""

    __slots__ = ()

    async def _answer(self, body: dict[str, Any]) -> Any:
        return await self.world.model.embed(body)


class ToolAsk(Ask):
    """A call of a tool by its name. What it gives is data: what a trace can hold."""

    __slots__ = ("_given", "_request")

    def __init__(self, call: Call, world: World, given: dict[str, Any]) -> None:
        super().__init__(call, world)
        self._given = given
        self._request = call.request

    def perform(self, request: Any) -> Any:
        """Call the function."""
        return as_data(_sync(self._call(request)))

    def _call(self, request: Any) -> Any:
        tool = self.world.tool(str(self.call.name))
        # The agent's own objects, unless somebody changed what the tool is called with.
        edited = request is not self._request
        arguments = decode(request["arguments"]) if edited else self._given
        owner = () if tool.bound_to is None else (tool.bound_to,)
        token = COVERED.set(False)  # a model that the tool asks is another call
        try:
            return tool.function(*owner, **arguments)
        finally:
            COVERED.reset(token)


class AsyncToolAsk(ToolAsk):
    """The same in async code."""

    __slots__ = ()

    async def perform(self, request: Any) -> Any:
        """Call the function."""
        return as_data(await _settled(self._call(request)))

    def deliver(self, served: Served) -> Any:
        """The recorded result."""
        if served.error is not None and served.error.type == "CancelledError":
            return until_cancelled(served.error)
        return super().deliver(served)


class HumanAsk(Ask):
    """A question to a person."""

    __slots__ = ()

    def perform(self, request: Any) -> Any:
        """Ask the person."""
        return _answer(_sync(self._asked(request)), request)

    def _asked(self, request: Any) -> Any:
        return self.world.ask(request["prompt"], request.get("choices"))


class AsyncHumanAsk(HumanAsk):
    """The same in async code."""

    __slots__ = ()

    async def perform(self, request: Any) -> Any:
        """Ask the person."""
        return _answer(await _settled(self._asked(request)), request)


class EventAsk(Ask):
    """An event: it is written, and nothing is done."""

    __slots__ = ()

    def perform(self, request: Any) -> None:
        """Nothing is to be done for real."""

    def deliver(self, served: Served) -> None:
        """Nothing comes of it."""
        if served.error is not None:
            raise self.exception(served.error)


def as_data(result: Any) -> Any:
    """A tool's result as the same data that a replay gives.

    Raises:
        UnencodableError: a trace cannot hold it.
    """
    return decode(encode(result, plain=True))


def _answer(said: Any, request: Any) -> str:
    choices = request.get("choices")
    if not isinstance(said, str):
        raise UsageError(
            f"the human= of this io answered {request['prompt']!r} with {type(said).__name__}: "
            "an answer is text"
        )
    if choices and said not in choices:
        raise UsageError(
            f"the human= of this io answered {request['prompt']!r} with {said!r}, which is none of "
            + ", ".join(repr(each) for each in choices)
        )
    return said


def _sync(given: Any) -> Any:
    return run(given) if inspect.isawaitable(given) else given


async def _settled(given: Any) -> Any:
    return await given if inspect.isawaitable(given) else given
