"""Short ways to write a small trace through the real journal."""

from pathlib import Path
from typing import Any

from workbench.trace.entries import CallLine, ResultLine, TraceLine
from workbench.trace.journal import Journal
from workbench.trace.values import encode

HEADER = TraceLine(id="t-1", name="small", created_at="2025-11-03T09:15:30.000000Z")


def journal_at(path: Path, **options: Any) -> Journal:
    """A journal on a new file."""
    return Journal.create(path, HEADER, **options)


def request(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An OpenAI chat request."""
    return {"path": "/chat/completions", "body": {"model": "m", "messages": [*messages], **more}}


def user(text: str) -> dict[str, Any]:
    """A user's message."""
    return {"role": "user", "content": text}


def response(text: str | None = None, *tools: tuple[str, str]) -> dict[str, Any]:
    """An OpenAI chat response that says a text, or calls tools (name, arguments' JSON)."""
    calls = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": args}}
        for n, (name, args) in enumerate(tools)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    return {"status": 200, "body": {"choices": [{"index": 0, "message": message}]}}


def ask(
    journal: Journal,
    asked: Any,
    said: Any = None,
    *,
    result: dict[str, Any] | None = None,
    **call: Any,
) -> str:
    """A model call with its result; gives its id. ``result=None`` and no ``said``: left open."""
    name = journal.new_id()
    journal.call(CallLine(id=name, kind="model", api="openai.chat", request=asked, **call))
    if said is not None or result is not None:
        fields = dict(result or {})
        if said is not None:
            fields["response"] = said
        journal.append(ResultLine(of=name, **fields))
    return name


def use(journal: Journal, tool: str, arguments: dict[str, Any], result: Any, **call: Any) -> str:
    """A tool call with its result; gives its id."""
    name = journal.new_id()
    asked = {"name": tool, "arguments": encode(arguments)}
    journal.call(CallLine(id=name, kind="tool", name=tool, request=asked, **call))
    journal.append(ResultLine(of=name, duration_s=0.5, response=encode(result)))
    return name
