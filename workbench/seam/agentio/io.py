"""The io that passes every call over the seam, async and sync."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from workbench.seam.agentio.asking import (
    embed_call,
    event_call,
    input_call,
    model_call,
    tool_call,
)
from workbench.seam.agentio.embeddings import Embeddings
from workbench.seam.agentio.hooks import (
    Ask,
    AsyncEmbedAsk,
    AsyncHumanAsk,
    AsyncModelAsk,
    AsyncToolAsk,
    EmbedAsk,
    EventAsk,
    HumanAsk,
    ModelAsk,
    ToolAsk,
)
from workbench.seam.agentio.reply import Reply
from workbench.seam.agentio.stack import Stack
from workbench.seam.agentio.streams import Stream, SyncStream
from workbench.seam.agentio.world import World
from workbench.seam.current import current_seam
from workbench.seam.drivers import call_async, call_sync, others_first

if TYPE_CHECKING:
    from types import TracebackType

    from workbench.seam.agentio.layers import Layer
    from workbench.seam.agentio.protocols import Messages
    from workbench.seam.result import RunResult
    from workbench.seam.tool import Tool
    from workbench.trace.trace import Trace

Offered = Sequence["Tool[..., Any] | dict[str, Any]"]


class BaseIO:
    """What both twins share: the world, the sessions on the way to it, and their end.

    Args:
        world: what is reached in the end.
        layers: the sessions of its own that a call passes, the outermost first.
    """

    def __init__(self, world: World, layers: Sequence[Layer] = ()) -> None:
        self.world = world
        self.layers = tuple(layers)
        self._stack = Stack(world, self.layers)

    def now(self) -> datetime:
        """The time, in UTC with microseconds."""
        return self._stack.read("now", self.world.now)  # type: ignore[no-any-return]

    def new_id(self) -> str:
        """A new id, 32 hexadecimal digits."""
        return str(self._stack.read("id", self.world.new_id))

    def random(self) -> float:
        """A random number, 0 ≤ x < 1."""
        return float(self._stack.read("random", self.world.random))

    @property
    def trace(self) -> Trace:
        """The trace of the outermost session of this io, as it is now.

        Raises:
            UsageError: this io has no session of its own.
        """
        return self._stack.outermost.trace

    @property
    def result(self) -> RunResult:
        """How the outermost session of this io went, once it is closed.

        Raises:
            UsageError: it is still open, or there is none.
        """
        return self._stack.outermost.result

    def close(self, error: BaseException | None = None) -> None:
        """End the sessions of this io. Those that a ``with`` block opened end with that block.

        Args:
            error: what the agent raised, if it did.

        Raises:
            DriftError: nothing was raised, and the agent did not do what was recorded, or a fault
                hit nothing.
        """
        self._stack.close(error)

    def __enter__(self) -> Self:
        self._stack.enter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.leave(error)

    def __repr__(self) -> str:
        words = [layer.label for layer in self.layers] or ["live"]
        return f"<{type(self).__name__}: {' of '.join(words)}>"


class SeamIO(BaseIO):
    """An :class:`~workbench.AgentIO` whose calls pass the seam."""

    @property
    def sync(self) -> SyncSeamIO:
        """The blocking twin: the same world, the same sessions."""
        return SyncSeamIO(self.world, self.layers)

    async def sleep(self, seconds: float) -> None:
        """Wait. A replay does not really, but lets others go on."""
        if self._stack.sleeps(seconds):
            await self.world.sleep(seconds)
        else:
            await others_first()

    async def call_model(
        self, *, model: str, messages: Messages, tools: Offered = (), **params: Any
    ) -> Reply:
        """Ask a model. See :meth:`workbench.AgentIO.call_model`."""
        call = model_call(model, messages, tools, params, stream=False)
        return Reply(await self._pass(AsyncModelAsk(call, self.world)))

    def stream_model(
        self, *, model: str, messages: Messages, tools: Offered = (), **params: Any
    ) -> Stream:
        """Ask a model for its reply in pieces. See :meth:`workbench.AgentIO.stream_model`."""
        call = model_call(model, messages, tools, params, stream=True)
        return Stream(lambda: self._pass(AsyncModelAsk(call, self.world)))

    async def embed(self, *, model: str, texts: Sequence[str], **params: Any) -> Embeddings:
        """A vector for each text."""
        call = embed_call(model, texts, params)
        return Embeddings(await self._pass(AsyncEmbedAsk(call, self.world)))

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a tool by its name. See :meth:`workbench.AgentIO.call_tool`."""
        given = arguments or {}
        ask = AsyncToolAsk(tool_call(self.world, name, given), self.world, given)
        return await self._pass(ask)

    async def ask_human(self, prompt: str, choices: Sequence[str] | None = None) -> str:
        """Ask a person. See :meth:`workbench.AgentIO.ask_human`."""
        ask = AsyncHumanAsk(input_call(prompt, choices), self.world)
        return await self._pass(ask)  # type: ignore[no-any-return]

    async def write_event(self, type: str, data: Any = None) -> None:  # noqa: A002 - the format's own word
        """Write an event into the trace."""
        await self._pass(EventAsk(event_call(type, data), self.world))

    def _pass(self, ask: Ask) -> Awaitable[Any]:
        if self.layers:
            return self._stack.areach(ask)
        seam = current_seam()
        if seam is not None:
            return call_async(seam, ask.call, ask)
        return _done(ask)

    async def __aenter__(self) -> Self:
        self._stack.enter()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._stack.aleave(error)


class SyncSeamIO(BaseIO):
    """A :class:`~workbench.SyncAgentIO` whose calls pass the seam."""

    def sleep(self, seconds: float) -> None:
        """Wait. A replay does not really."""
        if self._stack.sleeps(seconds):
            self.world.sleep_sync(seconds)

    def call_model(
        self, *, model: str, messages: Messages, tools: Offered = (), **params: Any
    ) -> Reply:
        """Ask a model. See :meth:`workbench.AgentIO.call_model`."""
        call = model_call(model, messages, tools, params, stream=False)
        return Reply(self._pass(ModelAsk(call, self.world)))

    def stream_model(
        self, *, model: str, messages: Messages, tools: Offered = (), **params: Any
    ) -> SyncStream:
        """Ask a model for its reply in pieces. See :meth:`workbench.AgentIO.stream_model`."""
        call = model_call(model, messages, tools, params, stream=True)
        return SyncStream(lambda: self._pass(ModelAsk(call, self.world)))

    def embed(self, *, model: str, texts: Sequence[str], **params: Any) -> Embeddings:
        """A vector for each text."""
        return Embeddings(self._pass(EmbedAsk(embed_call(model, texts, params), self.world)))

    def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a tool by its name. See :meth:`workbench.AgentIO.call_tool`."""
        given = arguments or {}
        return self._pass(ToolAsk(tool_call(self.world, name, given), self.world, given))

    def ask_human(self, prompt: str, choices: Sequence[str] | None = None) -> str:
        """Ask a person. See :meth:`workbench.AgentIO.ask_human`."""
        return self._pass(HumanAsk(input_call(prompt, choices), self.world))  # type: ignore[no-any-return]

    def write_event(self, type: str, data: Any = None) -> None:  # noqa: A002 - the format's own word
        """Write an event into the trace."""
        self._pass(EventAsk(event_call(type, data), self.world))

    def _pass(self, ask: Ask) -> Any:
        if self.layers:
            return self._stack.reach(ask)
        seam = current_seam()
        if seam is not None:
            return call_sync(seam, ask.call, ask)
        return ask.perform(ask.call.request)


async def _done(ask: Ask) -> Any:
    given = ask.perform(ask.call.request)
    return await given if hasattr(given, "__await__") else given
