"""A small refund agent on the openai SDK, and a scripted model on the loopback that it asks.

The agent has one flaw on purpose: it refunds an order again until the model says that it is done.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import workbench
from workbench.trace.trace import Trace

ORDER = {"order_id": 101, "total": 149.99, "state": "broken"}
MOST_TURNS = 8
WORLD: list[str] = []
"""What the tools that write did for real, in this process."""


@workbench.tool(effect="read")
def get_order(order_id: int) -> dict[str, Any]:
    """Look an order up."""
    return {**ORDER, "order_id": order_id}


@workbench.tool(effect="write")
def refund(order_id: int, amount: float) -> dict[str, Any]:
    """Pay money back."""
    WORLD.append(f"refund {order_id} {amount}")
    return {"refund_id": f"RF-{len(WORLD)}", "amount": amount}


@workbench.tool(effect="write")
def send_email(to: str, text: str = "") -> dict[str, Any]:
    """Write to a customer."""
    WORLD.append(f"email {to}")
    return {"sent": True}


TOOLS = {tool.name: tool for tool in (get_order, refund, send_email)}


def agent(base_url: str, request: str = "Order 101 arrived broken.") -> dict[str, Any]:
    """Handle a request until the model calls no tool any more."""
    from openai import OpenAI

    client = OpenAI(base_url=base_url, api_key="none", max_retries=0)
    messages: list[Any] = [
        {"role": "system", "content": "You handle refunds."},
        {"role": "user", "content": request},
    ]
    for _ in range(MOST_TURNS):
        tools: Any = [tool.openai for tool in TOOLS.values()]
        reply = client.chat.completions.create(model="scripted", messages=messages, tools=tools)
        message = reply.choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return {"status": "done", "answer": message.content}
        for call in message.tool_calls:
            function: Any = getattr(call, "function", None)
            result = TOOLS[function.name](**json.loads(function.arguments))
            content = json.dumps(result)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    return {"status": "stuck", "answer": None}


def raising_agent(base_url: str) -> Any:
    """Fails in its own code, after the first call."""
    get_order(order_id=101)
    raise KeyError(f"no account for {base_url[:4]}")


def decide(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """What the scripted model says: look up, refund thrice, done. An e-mail ends it at once."""
    called = [
        call["function"]["name"] for message in messages for call in message.get("tool_calls") or ()
    ]
    if "send_email" in called:
        return {"role": "assistant", "content": "The customer has been told."}
    if called.count("refund") >= 3:  # the flaw
        return {"role": "assistant", "content": "Refunded."}
    if not called:
        return _call(len(called), "get_order", {"order_id": 101})
    return _call(len(called), "refund", {"order_id": 101, "amount": 149.99})


def _call(number: int, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


class ModelServer(ThreadingHTTPServer):
    """Answers chat completions by :func:`decide`, after ``delay_s`` seconds."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.delay_s = 0.0
        self.asked = 0

    @property
    def base_url(self) -> str:
        """Where the SDK finds it."""
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        body = json.loads(self.rfile.read(size))
        self.server.asked += 1
        time.sleep(float(self.headers.get("x-delay") or self.server.delay_s))
        message = decide(body["messages"])
        finish = "tool_calls" if message.get("tool_calls") else "stop"
        answer = {
            "id": f"chatcmpl-{self.server.asked}",
            "object": "chat.completion",
            "created": 1_767_225_600,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": 40, "completion_tokens": 8, "total_tokens": 48},
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as in the base class
        """Says nothing."""


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A scripted model on a free loopback port."""
    server = ModelServer()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def record_refund(base_url: str, path: Path) -> Trace:
    """Record the flawed agent: five turns, three refunds."""
    result = workbench.record(agent, base_url, to=path, name="refund-order-101")
    assert result.status == "ok", result
    return workbench.load(path)
