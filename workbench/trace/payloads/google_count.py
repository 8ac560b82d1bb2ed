"""The view of Google's counts of tokens: a conversation goes in, a number comes out."""

from __future__ import annotations

from .base import JSON, Message, Reply, ToolSpec, Usage
from .google import GoogleView
from .google_parts import field
from .reading import as_count
from .wordless import Wordless


class GoogleCountView(Wordless, GoogleView):
    """Reads bodies of `:countTokens`, which asks as `:generateContent` does, if need be with the
    whole of such a request inside."""

    api = "google.count_tokens"
    refusal_to_write = (
        "a count of tokens holds a number, and neither text nor tool calls: give the whole "
        'body instead, such as {"totalTokens": 12}'
    )

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


def _asked(body: JSON) -> JSON:
    inner = field(body, "generateContentRequest")
    return body if inner is None else inner
