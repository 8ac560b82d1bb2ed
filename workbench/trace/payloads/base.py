"""What a payload view is, and the neutral shapes that it reads a provider's JSON into.

A payload is a request or response body exactly as it was on the wire. A view reads one
provider's shape and writes an edit back into it; it holds no state, changes nothing it is
given, and reads a malformed body as far as it goes instead of raising.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol, TypeAlias

JSON: TypeAlias = Any
"""Parsed JSON of any shape."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asked for."""

    id: str | None
    """The provider's id. Unique inside one turn only: some providers use it again later."""
    name: str
    """The tool's name; empty when the payload has none."""
    arguments: Any | None
    """The parsed arguments; None when `raw` can't be parsed (`error` says why)."""
    raw: str
    """The argument text as sent."""
    error: str | None = None
    """Why `raw` is not JSON, or None."""


@dataclass(frozen=True, slots=True)
class Message:
    """One item of a conversation."""

    role: str
    """`system`, `user`, `assistant`, `tool`, or whatever other role the provider has."""
    text: str = ""
    """All text parts, joined; empty when there are none."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls that an assistant message makes, in the order of the payload."""
    tool_call_id: str | None = None
    """In a tool's result: the id of the call that it answers."""
    name: str | None = None
    """The tool's or participant's name, where the payload gives one."""
    reasoning: str = ""
    """The readable reasoning that travels with the message."""
    images: int = 0
    """How many parts are not text: images, audio, files."""
    signed: tuple[str, ...] = ()
    """What of it is signed or opaque reasoning, which a provider takes back only as it was."""
    raw: JSON = None
    """The message as it was on the wire."""
    at: tuple[str | int, ...] = field(default=(), compare=False)
    """Where the message is in the request body, such as `("messages", 3)` or `("system",)`; that
    of one result among several in one item is `("messages", 3, "content", 1)`."""
    continues: bool = field(default=False, compare=False)
    """Whether it goes on with the turn of the message before it, as where a shape gives every
    call an item of its own."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool that was offered to the model."""

    name: str
    """The tool's name."""
    description: str
    """What the model is told about it; empty when nothing is."""
    parameters: Mapping[str, Any]
    """The JSON Schema of its arguments; empty when there is none."""
    raw: JSON = field(default=None, compare=False)
    """The tool as it was on the wire; None where a view does not give it."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model said: the first choice where a response has several."""

    text: str = ""
    """The visible text; empty when there is none."""
    tool_calls: tuple[ToolCall, ...] = ()
    """The calls asked for, in the order of the payload, several of one tool included."""
    reasoning: str = ""
    """The readable reasoning."""
    finish_reason: str | None = None
    """As the provider gave it; None when it gave none. Never guessed."""
    refusal: str | None = None
    """The text of a refusal, or None."""
    role: str = "assistant"
    """The role in the payload."""
    signed: tuple[str, ...] = ()
    """What of it is signed or opaque reasoning, which a provider takes back only as it was."""


@dataclass(frozen=True, slots=True)
class MessageChange:
    """One change of a request's conversation.

    Places are those of :meth:`PayloadView.messages`, from 0, before any of the changes.
    """

    op: Literal["replace", "insert", "drop"]
    """What is done with the message there; ``insert`` puts a new one before it."""
    place: int
    """Which message; for ``insert`` also one past the last."""
    role: str | None = None
    """The new role; None keeps the old one, and for a new message means ``user``."""
    text: str | None = None
    """The new text; None keeps the old one."""
    message: JSON = None
    """The whole new message in the provider's own shape, instead of a role and a text."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts. None means *not recorded*, which is not 0.

    `input_tokens` counts every input token, cached ones included, whatever the provider's own
    convention is; `output_tokens` counts reasoning tokens too.
    """

    input_tokens: int | None = None
    """All input tokens."""
    output_tokens: int | None = None
    """All output tokens."""
    cache_read_tokens: int | None = None
    """The part of the input that was read from a cache."""
    cache_write_tokens: int | None = None
    """The part of the input that was written to a cache."""
    reasoning_tokens: int | None = None
    """The part of the output that was reasoning."""
    raw: JSON = None
    """The usage object as it was on the wire."""


TOKEN_COUNTS: Final[tuple[str, ...]] = (
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
)
"""The counts of a `Usage`, and of usage in the neutral shape, by name."""

ToolCallLike: TypeAlias = ToolCall | tuple[str, Any] | Mapping[str, Any]
"""A `ToolCall`, a pair `(name, arguments)`, or `{"name", "arguments", "id"?}`.

Arguments that are a string are taken as the argument text itself, valid JSON or not.
"""


class PayloadView(Protocol):
    """Reads and edits one provider's payloads. `body` is a request or response body."""

    @property
    def api(self) -> str:
        """The name of the shape, such as `openai.chat`."""

    @property
    def conversation_path(self) -> tuple[str, ...]:
        """Where a request keeps the list that grows, such as `("body", "messages")`."""

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles that a message of a request may have on the wire."""

    def messages(self, body: JSON) -> list[Message]:
        """The conversation of a request, system prompt first, each with its place (`at`).

        What answers several calls at once is several messages, one for each result.
        """

    def message(self, raw: JSON) -> Message:
        """One message of a conversation."""

    def tools(self, body: JSON) -> list[ToolSpec]:
        """The tools that a request offers."""

    def model(self, body: JSON) -> str | None:
        """The model that a request asks for or a response names."""

    def parameters(self, body: JSON) -> dict[str, Any]:
        """Everything in a request but its conversation and its tools."""

    def streams(self, body: JSON) -> bool:
        """Whether a request asks for a stream."""

    def wants_usage(self, body: JSON) -> bool:
        """Whether a streaming request asks for the usage to be streamed as well."""

    def reply(self, body: JSON) -> Reply:
        """What the model said."""

    def usage(self, body: JSON) -> Usage | None:
        """The token counts of a response; None when it has none."""

    def assemble(self, chunks: Sequence[JSON]) -> JSON:
        """Stream chunks as the body that the plain call would have given."""

    def split(self, body: JSON, include_usage: bool = False) -> list[JSON]:  # noqa: FBT001, FBT002
        """A plain response body as stream chunks; `assemble` gives it back."""

    def with_reply(
        self,
        body: JSON,
        *,
        text: str | None = None,
        tool_calls: Sequence[ToolCallLike] | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
    ) -> JSON:
        """A new body in which the model said this instead; None keeps what is there.

        An empty `tool_calls` removes all calls. A refusal stands alone: text and calls that are
        not given go. The finish reason follows from the rest unless it is given. What is not
        named stays as it was, except for what described or signed the old words. Raises EditError
        for a call without a name, for two calls with one id, and for arguments that JSON can't
        hold.
        """

    def with_request(
        self,
        body: JSON,
        *,
        system: str | None = None,
        messages: Sequence[MessageChange] = (),
        model: str | None = None,
        set: Mapping[str, JSON] | None = None,  # noqa: A002 - what it does
        unset: Sequence[str] = (),
    ) -> JSON:
        """A new request body that asks this instead; None keeps what is there.

        Messages that no change names are the same objects; a body that would stay the same is
        returned itself. A new text, and another model, drop the signed reasoning of the messages
        concerned.

        Args:
            body: what was asked.
            system: the text of the (first) system prompt; one is put first where there is none.
            messages: changes of the conversation.
            model: another model.
            set: further fields by name, None included.
            unset: fields to leave out.
        """
