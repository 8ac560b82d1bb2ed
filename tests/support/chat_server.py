"""A model server on loopback whose replies a function makes of what was asked.

The function gets the request's body, and gives the assistant's message: a text, or the calls that
it makes as ``call(name, **arguments)`` or a list of such; or a status, such as 429.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from openai_server import Handler, Server

Said = str | dict[str, Any] | list[dict[str, Any]] | int
Answer = Callable[[dict[str, Any]], Said]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """One call of a tool, as a model asks for it."""
    return {"name": name, "arguments": json.dumps(arguments)}


def results(asked: dict[str, Any]) -> list[str]:
    """The results of tools that came since the last question, as text."""
    found: list[str] = []
    for message in asked["messages"]:
        if message["role"] == "user":
            found.clear()
        elif message["role"] == "tool":
            found.append(str(message["content"]))
    return found


def message(said: Any, number: int) -> dict[str, Any]:
    """The assistant's message in OpenAI's shape."""
    if isinstance(said, str):
        return {"role": "assistant", "content": said}
    calls = [said] if isinstance(said, dict) else said
    listed = [
        {"id": f"call_{number}_{place}", "type": "function", "function": each}
        for place, each in enumerate(calls)
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


class ChatHandler(Handler):
    """Answers one connection."""

    server: "ChatServer"

    def do_POST(self) -> None:  # noqa: N802 - as its base class wants it
        """A chat completion."""
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        self._note(asked)
        said = self.server.answer(asked)
        if isinstance(said, int):
            self._json(said, {"error": {"message": "Slow down"}}, {"retry-after-ms": "5"})
            return
        made = message(said, next(self.server.numbers))
        finish = "tool_calls" if "tool_calls" in made else "stop"
        base = {"id": "chatcmpl-1", "created": 1, "model": asked["model"]}
        if asked.get("stream"):
            self._head(200, "text/event-stream", {"transfer-encoding": "chunked"})
            for delta in (*_deltas(made), {}):
                choice = {"index": 0, "delta": delta, "finish_reason": None if delta else finish}
                data = {**base, "object": "chat.completion.chunk", "choices": [choice]}
                self._write(b"data: " + json.dumps(data).encode() + b"\n\n")
            self._write(b"data: [DONE]\n\n")
            self._write(b"")
            return
        choice = {"index": 0, "message": made, "finish_reason": finish, "logprobs": None}
        usage = {"prompt_tokens": 12, "completion_tokens": 5, "total_tokens": 17}
        self._json(200, {**base, "object": "chat.completion", "choices": [choice], "usage": usage})


def _deltas(made: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for place, each in enumerate(made.get("tool_calls", ())):
        arguments = each["function"]["arguments"]
        yield {
            "tool_calls": [
                {**each, "index": place, "function": {**each["function"], "arguments": ""}}
            ]
        }
        yield {"tool_calls": [{"index": place, "function": {"arguments": arguments}}]}
    for word in re.findall(r"\s*\S+", made["content"] or ""):
        yield {"content": word}


class ChatServer(Server):
    """The server; ``answer`` may be changed between calls."""

    def __init__(self, answer: Answer) -> None:
        super().__init__()
        self.RequestHandlerClass = ChatHandler
        self.answer = answer
        self.numbers = itertools.count(1)
        """Of the replies; each call has an id of its own, whoever asks beside it."""
