"""The view of Anthropic's counts of tokens: a conversation goes in, a number comes out."""

from __future__ import annotations

from .anthropic_messages import AnthropicMessagesView
from .base import JSON, Reply, Usage
from .reading import as_count, as_dict
from .wordless import Wordless


class AnthropicCountView(Wordless, AnthropicMessagesView):
    """Reads bodies of `POST /v1/messages/count_tokens`, whose requests are those of messages."""

    api = "anthropic.count_tokens"
    refusal_to_write = (
        "a count of tokens holds a number, and neither text nor tool calls: give the whole "
        'body instead, such as {"input_tokens": 12}'
    )

    def reply(self, body: JSON) -> Reply:
        """How many tokens there are, in words."""
        count = as_count(as_dict(body).get("input_tokens"))
        return Reply(text="" if count is None else f"{count} tokens")

    def usage(self, body: JSON) -> Usage | None:  # noqa: ARG002
        """None: what is counted is not used, and costs nothing."""
        return None
