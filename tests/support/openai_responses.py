"""Asking for responses, for the tests of them."""

from typing import Any

import openai
from openai_results import async_client, client

TOOL: Any = {
    "type": "function",
    "name": "get_order",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
        "additionalProperties": False,
    },
}


def made(url: str, **changes: Any) -> openai.OpenAI:
    """A sync client for the server's address, which has no path."""
    return client(f"{url}/v1", **changes)


def amade(url: str, **changes: Any) -> openai.AsyncOpenAI:
    """The same, async."""
    return async_client(f"{url}/v1", **changes)


def given(kind: str = "plain", text: str = "hello", model: str = "ok") -> dict[str, Any]:
    """The arguments of a call: ``plain``, ``stream`` or ``tools`` (streamed, with a tool)."""
    found: dict[str, Any] = {"model": model, "input": text}
    if kind != "plain":
        found["stream"] = True
    if kind == "tools":
        found["tools"] = [TOOL]
    return found


def said(response: Any) -> str:
    """The text of a response, without a later release's helper."""
    texts = [
        part.text if part.type == "output_text" else part.refusal
        for item in response.output
        if item.type == "message"
        for part in item.content
    ]
    return "".join(texts)
