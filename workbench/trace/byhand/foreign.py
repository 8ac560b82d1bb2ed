"""AgentLoom's own hash of a request, by which its strict replay notices a change.

It is the SHA-256 of a JSON text with sorted keys: messages, model, temperature, max_tokens, and
``extra``, which holds every other argument. A trace's own hash (scheme 1) is another one.

It can be made from a request of the neutral shape or of ``openai.chat``, whose messages AgentLoom
has too. In ``extra`` tools, their choice and a response schema have names of AgentLoom's own; an
argument that only AgentLoom passes (such as a thinking budget) is not in a request that an SDK
sends, and with it the hash differs.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from workbench.trace.payloads import view
from workbench.trace.payloads.reading import parse_arguments

if TYPE_CHECKING:
    from workbench.trace.trace import Entry

_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_NAMED = ("messages", "model", "temperature", "max_tokens", "max_completion_tokens")
_TRAVEL = ("stream", "stream_options")
_RENAMED = ("tools", "functions", "tool_choice", "response_schema")
SPOKEN = ("workbench", "openai.chat")
"""The apis whose requests can be hashed like AgentLoom's."""


def is_digest(text: Any) -> bool:
    """Whether it is a SHA-256 in hexadecimal digits."""
    return isinstance(text, str) and _DIGEST.match(text) is not None


def agentloom_hash(body: Any, *, api: str = "workbench", step: str = "") -> str:
    """AgentLoom's hash of a request body: 64 hexadecimal digits.

    Args:
        body: what was asked: ``{"model", "messages", "temperature", "max_tokens", "tools", …}``.
        api: the body's shape, ``workbench`` or ``openai.chat``.
        step: the step's id, which counts only beside a ``response_schema``.
    """
    asked: dict[str, Any] = body if isinstance(body, dict) else {}
    extra = {
        key: value
        for key, value in asked.items()
        if key not in (*_NAMED, *_TRAVEL, *_RENAMED) and value is not None
    }
    tools = view(api).tools(asked)
    if tools:
        extra["agentloom_tools"] = [
            {"name": t.name, "description": t.description, "parameters": dict(t.parameters)}
            for t in tools
        ]
        extra["agentloom_tool_choice"] = _choice(asked.get("tool_choice"))
    if asked.get("response_schema") is not None:
        extra["agentloom_response_schema"] = asked["response_schema"]
        extra["agentloom_step_id"] = step
    limit, messages = asked.get("max_tokens"), asked.get("messages")
    if isinstance(messages, list):
        messages = [_message(each) for each in messages]
    hashed = {
        "messages": messages,
        "model": asked.get("model"),
        "temperature": asked.get("temperature"),
        "max_tokens": asked.get("max_completion_tokens") if limit is None else limit,
        "extra": extra,
    }
    return hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()


def matches(
    entry: Entry, request: Any, *, api: str | None = "workbench", step: str = ""
) -> bool | None:
    """Whether a call asks what an entry of a recording was recorded for.

    Of a list of turns the first one for which this is not False answers the call. Where it is
    False for all, the request has changed: strict replay refuses it, lenient replay serves the
    next turn with a warning.

    Args:
        entry: an entry of a trace that was loaded from a recording.
        request: the call's request, ``{"body": …}``.
        api: the call's api.
        step: the call's step.

    Returns:
        None when there is nothing to compare: the entry has no hash (or one that is no SHA-256,
        such as a shortened one), or the request's shape is not one that AgentLoom hashes. An entry
        that stands under a hash instead of a step is then False.
    """
    recorded = entry.foreign_hash or entry.hand_key
    body = request.get("body") if isinstance(request, dict) else None
    if not is_digest(recorded) or api not in SPOKEN or not isinstance(body, dict):
        return None if entry.hand_key is None else False  # without a step only the hash can tell
    if agentloom_hash(body, api=api, step=step) == recorded:
        return True
    return entry.foreign_hash is None and messages_hash(body.get("messages")) == recorded


def messages_hash(messages: Any) -> str:
    """What AgentLoom 0.4 recorded calls under: the hash of their messages alone."""
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()


def _choice(choice: Any) -> Any:
    if isinstance(choice, dict):
        function = choice.get("function")
        return {"name": function.get("name") if isinstance(function, dict) else choice.get("name")}
    return "auto" if choice is None else choice


def _message(message: Any) -> Any:
    """A message as AgentLoom has it. A reply that asks for tools is reduced to what it says: an
    SDK's other fields, and how the arguments are spaced, are not in its form."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    if not isinstance(calls, list) or not calls:
        return message
    return {
        "role": message.get("role"),
        "content": message.get("content") or None,
        "tool_calls": [_call(each) for each in calls],
    }


def _call(call: Any) -> Any:
    if not isinstance(call, dict):
        return call
    function = call.get("function")
    named = function if isinstance(function, dict) else call
    arguments = named.get("arguments")
    if isinstance(arguments, str):
        value, error = parse_arguments(arguments)
        text = arguments if error else json.dumps(value)
    else:
        text = json.dumps(arguments)
    return {
        "id": call.get("id"),
        "type": "function",
        "function": {"name": named.get("name"), "arguments": text},
    }
