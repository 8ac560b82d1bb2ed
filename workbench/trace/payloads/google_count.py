"""The view of Google's counts of tokens: a conversation goes in, a number comes out."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.errors import EditError

from .base import JSON, Message, Reply, ToolCallLike, ToolSpec, Usage
from .google import GoogleView
from .google_parts import field
from .reading import as_count, as_dict


class GoogleCountView(GoogleView):
    """Reads bodies of `:countTokens`, which asks as `:generateContent` does, if need be with the
    whole of such a request inside."""

    api = "google.count_tokens"

    def messages(self, body: JSON) -> list[Message]:
        """What is counted."""
        return super().messages(_asked(body))

    def tools(self, body: JSON) -> list[ToolSpec]:
        """The tools that are counted."""
        return super().tools(_asked(body))

    def reply(self, body: JSON) -> Reply:
        """How many tokens there are, in words."""
        count = as_count(field(body, "totalTokens"))
        return Reply(text="" if count is None else f"{count} tokens")

    def usage(self, body: JSON) -> Usage | None:  # noqa: ARG002
        """None: what is counted is not used, and costs nothing."""
        return None

    def assemble(self, chunks: Sequence[JSON]) -> JSON:
        """The body that :meth:`split` gave; an empty one where there is none."""
        return dict(as_dict(chunks[-1])) if chunks else {}

    def split(self, body: JSON, include_usage: bool = False) -> list[JSON]:  # noqa: ARG002, FBT001, FBT002
        """The body itself, as it is not streamed."""
        return [body] if as_dict(body) else []

    def with_reply(
        self,
        body: JSON,
        *,
        text: str | None = None,
        tool_calls: Sequence[ToolCallLike] | None = None,
        refusal: str | None = None,
        finish_reason: str | None = None,
    ) -> JSON:
        """The body, unless words are to be written: raises EditError then."""
        if text is None and not tool_calls and refusal is None and finish_reason is None:
            return body
        raise EditError(
            "a count of tokens holds a number, and neither text nor tool calls: give the whole "
            'body instead, such as {"totalTokens": 12}'
        )


def _asked(body: JSON) -> JSON:
    inner = field(body, "generateContentRequest")
    return body if inner is None else inner
