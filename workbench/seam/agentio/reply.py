"""What a model said, and the messages that go back to it."""

from __future__ import annotations

from typing import Any, Final

from pydantic import TypeAdapter

from workbench.errors import UnencodableError
from workbench.trace.payloads import Reply as ReplyView
from workbench.trace.payloads import ToolCall, Usage
from workbench.trace.payloads.neutral import NeutralView

VIEW: Final = NeutralView()
"""Reads bodies of the neutral shape."""

_JSON: Final[TypeAdapter[Any]] = TypeAdapter(Any)


class Reply:
    """A model's reply. Read when looked at; :attr:`raw` is all there is.

    Attributes:
        raw: the body in the neutral shape, ``{"content", "tool_calls", "finish_reason", "model",
            "usage", …}``.
    """

    __slots__ = ("_read", "raw")

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw
        self._read: ReplyView | None = None

    @property
    def text(self) -> str:
        """The visible text; empty when there is none."""
        content = self.raw.get("content")
        return content if isinstance(content, str) else self._view.text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls that the model asks for: ``id``, ``name``, ``arguments`` (None where they are
        not JSON; ``raw`` has the text, ``error`` the reason)."""
        return self._view.tool_calls if self.raw.get("tool_calls") else ()

    @property
    def reasoning(self) -> str:
        """The readable reasoning; empty when there is none."""
        return self._view.reasoning

    @property
    def refusal(self) -> str | None:
        """Why the model declined, where the provider says it apart."""
        return self._view.refusal

    @property
    def finish_reason(self) -> str | None:
        """Why it ended, in the provider's word, such as ``stop``, ``tool_calls`` or ``length``."""
        return self._view.finish_reason

    @property
    def model(self) -> str | None:
        """The model that answered."""
        return VIEW.model(self.raw)

    @property
    def usage(self) -> Usage | None:
        """Token counts; None when the provider gave none."""
        return VIEW.usage(self.raw)

    @property
    def message(self) -> dict[str, Any]:
        """The reply as a message for the next request's ``messages``."""
        message: dict[str, Any] = {"role": "assistant", "content": self.raw.get("content")}
        if self.raw.get("tool_calls"):
            message["tool_calls"] = self.raw["tool_calls"]
        return message

    @property
    def _view(self) -> ReplyView:
        if self._read is None:
            self._read = VIEW.reply(self.raw)
        return self._read

    def __eq__(self, other: object) -> bool:
        return self.raw == other.raw if isinstance(other, Reply) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        said = ", ".join(call.name for call in self.tool_calls) or self.text
        return f"<Reply {said if len(said) <= 60 else said[:59] + '…'!r}>"


class Chunk:
    """One piece of a streamed reply.

    Attributes:
        raw: the piece in the neutral shape: ``{"text"}``, ``{"reasoning"}``, ``{"tool_call"}``, or
            what comes at the end.
    """

    __slots__ = ("raw",)

    def __init__(self, raw: dict[str, Any]) -> None:
        self.raw = raw

    @property
    def text(self) -> str:
        """The text that this piece adds; empty when it adds none."""
        text = self.raw.get("text")
        return text if isinstance(text, str) else ""

    @property
    def reasoning(self) -> str:
        """The reasoning that this piece adds; empty when it adds none."""
        text = self.raw.get("reasoning")
        return text if isinstance(text, str) else ""

    def __repr__(self) -> str:
        return f"<Chunk {self.raw!r}>"


def tool_message(call: ToolCall, result: Any) -> dict[str, Any]:
    """A tool's result as a message for the next request's ``messages``.

    Args:
        call: the model's call that it answers, from :attr:`Reply.tool_calls`.
        result: what the tool gave: a string as it is, anything else as JSON, in which a date or a
            Decimal is text.

    Raises:
        UnencodableError: the result holds what JSON cannot.
    """
    try:
        text = result if isinstance(result, str) else _JSON.dump_json(result).decode()
    except ValueError as error:
        raise UnencodableError(
            f"the result of {call.name or 'a tool'} cannot be given to a model: {error}"
        ) from error
    return {"role": "tool", "tool_call_id": call.id, "content": text}
