"""The one seam of an agent's own loop: everything that it asks of the world, in ten methods."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from workbench.seam.agentio.embeddings import Embeddings
    from workbench.seam.agentio.reply import Reply
    from workbench.seam.agentio.streams import Stream, SyncStream
    from workbench.seam.tool import Tool

Messages = Sequence[dict[str, Any]]
"""A conversation: ``{"role", "content", "tool_calls"?, "tool_call_id"?}`` each."""


class AgentIO(Protocol):
    """What an async agent may ask of the world.

    Write agents against this::

        async def agent(io: workbench.AgentIO, question: str) -> str:
            reply = await io.call_model(model="gpt-4o-mini", messages=[…])
            return reply.text

    Production passes :func:`workbench.live_io`; tests pass one that records, replays, fails on
    purpose, or answers by a script.
    """

    def now(self) -> datetime:
        """The time, in UTC with microseconds."""

    def new_id(self) -> str:
        """A new id, 32 hexadecimal digits."""

    def random(self) -> float:
        """A random number, 0 ≤ x < 1."""

    async def sleep(self, seconds: float) -> None:
        """Wait. A replay does not really."""

    async def call_model(
        self,
        *,
        model: str,
        messages: Messages,
        tools: Sequence[Tool[..., Any] | dict[str, Any]] = (),
        **params: Any,
    ) -> Reply:
        """Ask a model.

        Args:
            model: its name, as the provider has it.
            messages: the conversation.
            tools: what it may ask for: tools, or ``{"name", "description", "parameters"}``.
            **params: the provider's own parameters, such as ``temperature``.

        Raises:
            ModelError: the call failed.
        """

    def stream_model(
        self,
        *,
        model: str,
        messages: Messages,
        tools: Sequence[Tool[..., Any] | dict[str, Any]] = (),
        **params: Any,
    ) -> Stream:
        """Ask a model for its reply in pieces, to be read with ``async for``.

        The arguments are those of :meth:`call_model`. The call is made when the first piece is
        asked for, and raises what :meth:`call_model` raises; so does any piece.
        """

    async def embed(self, *, model: str, texts: Sequence[str], **params: Any) -> Embeddings:
        """A vector for each text, in their order.

        Args:
            model: its name, as the provider has it.
            texts: what is embedded; a single text goes into a list.
            **params: the provider's own parameters, such as ``dimensions``.

        Raises:
            ModelError: the call failed.
        """

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a tool by its name. The result is data, the same live and replayed: an object of a
        class of one's own comes as its fields.

        Raises:
            UnknownToolError: no tool has that name.
            Exception: what the tool raises.
        """

    async def ask_human(self, prompt: str, choices: Sequence[str] | None = None) -> str:
        """Ask a person, and give the answer: one of the choices, if there are any.

        Raises:
            NobodyToAskError: there is nobody.
        """

    async def write_event(self, type: str, data: Any = None) -> None:  # noqa: A002 - the format's own word
        """Write an event into the trace: what happened, with any value that a trace can hold."""


class SyncAgentIO(Protocol):
    """:class:`AgentIO` for code without a loop: the same names, blocking."""

    def now(self) -> datetime:
        """The time, in UTC with microseconds."""

    def new_id(self) -> str:
        """A new id, 32 hexadecimal digits."""

    def random(self) -> float:
        """A random number, 0 ≤ x < 1."""

    def sleep(self, seconds: float) -> None:
        """Wait. A replay does not really."""

    def call_model(
        self,
        *,
        model: str,
        messages: Messages,
        tools: Sequence[Tool[..., Any] | dict[str, Any]] = (),
        **params: Any,
    ) -> Reply:
        """Ask a model. See :meth:`AgentIO.call_model`."""

    def stream_model(
        self,
        *,
        model: str,
        messages: Messages,
        tools: Sequence[Tool[..., Any] | dict[str, Any]] = (),
        **params: Any,
    ) -> SyncStream:
        """Ask a model for its reply in pieces, to be read with ``for``. See
        :meth:`AgentIO.stream_model`."""

    def embed(self, *, model: str, texts: Sequence[str], **params: Any) -> Embeddings:
        """A vector for each text. See :meth:`AgentIO.embed`."""

    def call_tool(self, name: str, arguments: dict[str, Any] | None = None) -> Any:
        """Call a tool by its name. See :meth:`AgentIO.call_tool`."""

    def ask_human(self, prompt: str, choices: Sequence[str] | None = None) -> str:
        """Ask a person. See :meth:`AgentIO.ask_human`."""

    def write_event(self, type: str, data: Any = None) -> None:  # noqa: A002 - the format's own word
        """Write an event into the trace."""
