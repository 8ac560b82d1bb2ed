"""Payload views: the only code that looks inside a provider's request or response.

`view("openai.chat")` gives pure functions that read a body and write an edit back into it.
Adding a provider is one file with one class, named in `_VIEWS`, or `register()` from outside.
"""

from __future__ import annotations

import difflib

from workbench.errors import UnknownApiError

from .anthropic_count import AnthropicCountView
from .anthropic_messages import AnthropicMessagesView
from .base import (
    JSON,
    Message,
    MessageChange,
    PayloadView,
    Reply,
    ToolCall,
    ToolCallLike,
    ToolSpec,
    Usage,
)
from .compare import Change, compare, word_diff
from .embeddings import GoogleEmbedContentView, OpenAIEmbeddingsView
from .google import GoogleView
from .google_count import GoogleCountView
from .neutral import NeutralView
from .openai_chat import OpenAIChatView
from .openai_responses import OpenAIResponsesView
from .pairs import check_pairs

__all__ = [
    "JSON",
    "Change",
    "Message",
    "MessageChange",
    "PayloadView",
    "Reply",
    "ToolCall",
    "ToolCallLike",
    "ToolSpec",
    "UnknownApiError",
    "Usage",
    "check_pairs",
    "compare",
    "has_view",
    "known_apis",
    "register",
    "view",
    "word_diff",
]

_VIEWS: dict[str, PayloadView] = {}


def register(added: PayloadView) -> None:
    """Make a view known under its `api`, in place of an earlier one of that name."""
    _VIEWS[added.api] = added


register(OpenAIChatView())
register(OpenAIResponsesView())
register(AnthropicMessagesView())
register(AnthropicCountView())
register(NeutralView())
register(GoogleView())
register(GoogleCountView())
register(OpenAIEmbeddingsView())
register(GoogleEmbedContentView())


def known_apis() -> list[str]:
    """The APIs that have a view, sorted."""
    return sorted(_VIEWS)


def has_view(api: str) -> bool:
    """Whether payloads of this API can be read."""
    return api in _VIEWS


def view(api: str) -> PayloadView:
    """The view of an API. Raises UnknownApiError, which names those there are."""
    try:
        return _VIEWS[api]
    except KeyError:
        near = difflib.get_close_matches(api, _VIEWS, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        known = ", ".join(known_apis())
        raise UnknownApiError(
            f"there is no payload view for the API {api!r}. {hint}Known: {known}. "
            "Its payloads can be kept, replayed and shown as JSON, not read or edited."
        ) from None
