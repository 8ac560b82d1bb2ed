"""Replies written whole in the shapes of OpenAI's Responses, of Anthropic's messages and of
Google's generateContent.

Reasoning is left out: these providers take it back signed or sealed only, which nobody can write
by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from workbench.trace.payloads import JSON, Reply, ToolCall, Usage, view
from workbench.trace.payloads.base import TOKEN_COUNTS
from workbench.trace.payloads.calls import derived_id, seed_of, settle_calls

RESPONSES, MESSAGES = "openai.responses", "anthropic.messages"
GENERATE = "google.generate_content"

_CUT: Final = frozenset(
    {"length", "max_tokens", "max_output_tokens", "MAX_TOKENS", "model_context_window_exceeded"}
)
_FILTERED: Final = frozenset({"content_filter", "refusal", "SAFETY"})
"""Finish reasons of all apis that mean: too long, and not allowed."""


@dataclass(slots=True)
class Said:
    """A reply read out of one api's body."""

    reply: Reply
    usage: Usage | None
    model: str | None
    body: JSON

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls, each with an id."""
        return settle_calls(self.reply.tool_calls, (), seed_of(self.body, None))

    @property
    def seed(self) -> str:
        """What ids are derived from."""
        return seed_of(self.body, None)

    @property
    def counts(self) -> dict[str, int]:
        """The token counts that are known, by name."""
        found = {name: getattr(self.usage, name, None) for name in TOKEN_COUNTS}
        return {name: count for name, count in found.items() if count is not None}


def write_responses(said: Said) -> JSON:
    """A reply as a body of `POST /responses`."""
    body: dict[str, Any] = {
        "id": derived_id("resp_wb_", said.seed),
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": said.model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": _responses_usage(said.counts),
    }
    return _written(said, RESPONSES, body, cut="max_output_tokens", filtered="content_filter")


def write_messages(said: Said) -> JSON:
    """A reply as a body of `POST /v1/messages`."""
    counts = said.counts
    cached = {
        "cache_read_input_tokens": counts.get("cache_read_tokens"),
        "cache_creation_input_tokens": counts.get("cache_write_tokens"),
    }
    known = {name: count for name, count in cached.items() if count is not None}
    # The SDK needs both counts; what is not known is not billed.
    fresh = max(0, counts.get("input_tokens", 0) - sum(known.values()))
    body: dict[str, Any] = {
        "id": derived_id("msg_wb_", said.seed),
        "type": "message",
        "role": "assistant",
        "model": said.model,
        "content": [],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": fresh, **known, "output_tokens": counts.get("output_tokens", 0)},
    }
    return _written(said, MESSAGES, body, cut="max_tokens", filtered="refusal")


def write_generate(said: Said) -> JSON:
    """A reply as a body of `:generateContent`."""
    body: dict[str, Any] = {"candidates": [], "responseId": derived_id("wb_", said.seed)}
    if said.model is not None:
        body["modelVersion"] = said.model
    counts = said.counts
    if counts:
        asked, output = counts.get("input_tokens", 0), counts.get("output_tokens", 0)
        thoughts = counts.get("reasoning_tokens")
        usage = {
            "promptTokenCount": asked,
            "cachedContentTokenCount": counts.get("cache_read_tokens"),
            "candidatesTokenCount": output - (thoughts or 0),
            "thoughtsTokenCount": thoughts,
            "totalTokenCount": asked + output,
        }
        body["usageMetadata"] = {name: each for name, each in usage.items() if each is not None}
    return _written(said, GENERATE, body, cut="MAX_TOKENS", filtered="SAFETY")


WRITERS: Final[dict[str, Callable[[Said], JSON]]] = {
    RESPONSES: write_responses,
    MESSAGES: write_messages,
    GENERATE: write_generate,
}
"""The shapes that are written here."""


def _written(said: Said, api: str, body: JSON, *, cut: str, filtered: str) -> JSON:
    reply, reason = said.reply, None
    if reply.finish_reason in _CUT:
        reason = cut
    elif reply.finish_reason in _FILTERED and reply.refusal is None:
        reason = filtered
    text: str | None = reply.text
    if reply.refusal is not None and reply.text in ("", reply.refusal):
        text = None
    return view(api).with_reply(
        body, text=text, tool_calls=said.calls, refusal=reply.refusal, finish_reason=reason
    )


def _responses_usage(counts: dict[str, int]) -> dict[str, Any] | None:
    if not counts:
        return None
    asked, said = counts.get("input_tokens", 0), counts.get("output_tokens", 0)
    return {
        "input_tokens": asked,
        "input_tokens_details": {
            "cached_tokens": counts.get("cache_read_tokens", 0),
            "cache_write_tokens": counts.get("cache_write_tokens", 0),
        },
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": counts.get("reasoning_tokens", 0)},
        "total_tokens": asked + said,
    }


_OPEN: Final[dict[str, dict[str, Any]]] = {
    RESPONSES: {"status": "in_progress"},
    MESSAGES: {"stop_reason": None},
}
_TEXT: Final = {
    RESPONSES: ("response.output_text.delta", ("delta",)),
    MESSAGES: ("content_block_delta", ("delta", "text")),
}
"""The event that brings a piece of text, and where in it."""


def begun_stream(api: str, body: JSON, texts: Sequence[str]) -> list[JSON]:
    """The events of a stream that broke off, with these pieces of text and nothing after them.

    Args:
        api: one of :data:`WRITERS`.
        body: the reply, its text the pieces put together.
        texts: how the text is cut.
    """
    if api == GENERATE:
        return [_generated(body, text) for text in texts]
    events = view(api).split({**body, **_OPEN[api]})
    name, path = _TEXT[api]
    at = next((n for n, event in enumerate(events) if event["type"] == name), None)
    if at is None or not texts:
        before = {"response.created", "response.in_progress", "message_start"}
        return [event for event in events if event["type"] in before]
    deltas = [_with(events[at], path, text) for text in texts]
    cut = [*events[:at], *deltas]
    numbered = "sequence_number" in events[at]
    return [{**e, "sequence_number": n} for n, e in enumerate(cut)] if numbered else cut


def _generated(body: JSON, text: str) -> dict[str, Any]:
    """One piece of a stream of Google's."""
    said = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    head = {key: body[key] for key in ("modelVersion", "responseId") if key in body}
    return {"candidates": [said], **head}


def _with(event: dict[str, Any], path: tuple[str, ...], text: str) -> dict[str, Any]:
    key, *rest = path
    return {**event, key: _with(event[key], tuple(rest), text) if rest else text}
