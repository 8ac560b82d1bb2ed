"""Makes small traces through the real journal, a turn at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.trace.canonical import DEFAULT_IGNORE, request_hash
from workbench.trace.entries import (
    CallLine,
    EndLine,
    ErrorInfo,
    EventLine,
    ParentInfo,
    ResultLine,
    Status,
    TraceLine,
)
from workbench.trace.journal import Journal
from workbench.trace.payloads.reading import compact
from workbench.trace.trace import Trace
from workbench.trace.values import encode

API = "openai.chat"
WRITES = frozenset({"refund", "send_email"})
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "refund",
            "description": "Pay money back.",
            "parameters": {
                "type": "object",
                "properties": {
                    "order_id": {"type": "integer"},
                    "amount": {"type": "number"},
                },
                "required": ["order_id", "amount"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "get_order",
            "description": "Look an order up.",
            "parameters": {
                "type": "object",
                "properties": {"order_id": {"type": "integer"}},
                "required": ["order_id"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "send_email",
            "description": "Write to a customer.",
            "parameters": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
                "required": ["to"],
            },
        },
    },
]


@dataclass
class Ran:
    """A tool call of a turn, and what came of it."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)
    result: Any = None
    error: ErrorInfo | None = None
    effect: str | None = "guess"
    """`read`, `write` or None; by default as the name says."""
    run: bool = True
    """False: the model asked for it, and the agent never ran it."""
    hanging: bool = False
    source: str = "live"
    origin: str | None = None


class RunMaker:
    """A run of an agent on the openai API: its conversation grows turn by turn."""

    def __init__(
        self,
        name: str = "run",
        *,
        path: Path | None = None,
        system: str = "You help customers.",
        ids: str = "call",
        parent: str | None = None,
        trace_id: str | None = None,
        **header_fields: Any,
    ) -> None:
        header = TraceLine(id=trace_id or f"id-{name}", name=name, **header_fields)
        if parent is not None:
            header.parent = ParentInfo(id=parent)
        self.journal = Journal.create(path, header) if path else Journal.in_memory(header)
        self.path = path
        self.ids = ids
        self.messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": "Order 101 arrived broken."},
        ]
        self.number = 0

    def say(self, role: str, text: str) -> RunMaker:
        """Put a message into the conversation."""
        self.messages.append({"role": role, "content": text})
        return self

    def turn(
        self,
        text: str = "",
        *tools: Ran,
        usage: dict[str, Any] | None = None,
        model: str = "gpt-4o-mini",
        provider: str = "openai",
        step: str = "",
        error: ErrorInfo | None = None,
        source: Any = "live",
        origin: str | None = None,
        duration_s: float | None = 0.5,
        hanging: bool = False,
        at: str | None = "2026-01-05T10:00:00.000000Z",
        enclosing: str | None = None,
        attempt: int | None = None,
        **result: Any,
    ) -> RunMaker:
        """The model is asked, and says this; the tools are run."""
        self.number += 1
        entry_id = self.ask(
            model, at=at, step=step, origin=origin, enclosing=enclosing, attempt=attempt
        )
        if hanging:
            return self
        line: dict[str, Any] = {"of": entry_id, "source": source, "provider": provider, **result}
        if duration_s is not None:
            line["duration_s"] = duration_s
        if usage is not None:
            line["usage"] = usage
        message = self._message(text, tools)
        if error is not None:
            line["error"] = error
        else:
            line["response"] = {"status": 200, "body": self._body(model, message)}
            self.messages.append(message)
        self.journal.append(ResultLine(**line))
        for place, tool in enumerate(tools):
            self._run(tool, entry_id, message["tool_calls"][place]["id"], step)
        return self

    def ask(
        self,
        model: str = "gpt-4o-mini",
        *,
        at: str | None = "2026-01-05T10:00:00.000000Z",
        **head: Any,
    ) -> str:
        """A model call begins; gives its id."""
        body = {"model": model, "messages": list(self.messages), "tools": TOOLS}
        request = {"path": "/chat/completions", "body": body}
        entry_id = self.journal.new_id()
        line: dict[str, Any] = {
            "id": entry_id, "kind": "model", "api": API, "model": model, "at": at,
            "hash": request_hash("model", API, request, DEFAULT_IGNORE[API]), "request": request,
        }  # fmt: skip
        line.update(head)
        self.journal.append(CallLine(**{k: v for k, v in line.items() if v is not None}))
        return entry_id

    def event(self, kind: str, data: Any) -> RunMaker:
        """The agent writes an event."""
        self.journal.append(EventLine(id=self.journal.new_id(), type=kind, data=encode(data)))
        return self

    def end(
        self, output: Any = None, status: Status = "ok", error: ErrorInfo | None = None, **more: Any
    ) -> Trace:
        """The run ends."""
        fields: dict[str, Any] = {"status": status, "output": encode(output), **more}
        if error is not None:
            fields["error"] = error
        self.journal.close(EndLine(**fields))
        return self.journal.trace()

    def cut(self) -> Trace:
        """What is there when the process dies now."""
        return self.journal.trace()

    def _message(self, text: str, tools: tuple[Ran, ...]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        if tools:
            message["tool_calls"] = [
                {
                    "id": f"{self.ids}_{self.number}_{place}",
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "arguments": tool.arguments
                        if isinstance(tool.arguments, str)
                        else compact(tool.arguments),
                    },
                }
                for place, tool in enumerate(tools)
            ]
        return message

    def _body(self, model: str, message: dict[str, Any]) -> dict[str, Any]:
        finish = "tool_calls" if "tool_calls" in message else "stop"
        return {
            "id": f"chatcmpl-{self.ids}-{self.number}",
            "object": "chat.completion",
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }

    def _run(self, tool: Ran, asked_by: str, call_id: str, step: str) -> None:
        if not tool.run:
            return
        entry_id = self.journal.new_id()
        request = {"name": tool.name, "arguments": encode(tool.arguments)}
        line: dict[str, Any] = {
            "id": entry_id, "kind": "tool", "name": tool.name, "asked_by": asked_by, "step": step,
            "hash": request_hash("tool", None, request), "request": request,
        }  # fmt: skip
        effect = tool.effect
        if effect == "guess":
            effect = "write" if tool.name in WRITES else "read"
        if effect is not None:
            line["effect"] = effect
        if tool.origin is not None:
            line["origin"] = tool.origin
        self.journal.append(CallLine(**line))
        if tool.hanging:
            return
        result: dict[str, Any] = {"of": entry_id, "duration_s": 0.1, "source": tool.source}
        if tool.error is not None:
            result["error"] = tool.error
        else:
            result["response"] = encode(tool.result)
        self.journal.append(ResultLine(**result))
        told = str(tool.error.message if tool.error else tool.result)
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": told})


def order(number: int = 101) -> Ran:
    """The order is looked up."""
    return Ran("get_order", {"order_id": number}, {"total": 149.99})


def refund(amount: float = 149.99, number: int = 101) -> Ran:
    """The order is refunded."""
    return Ran("refund", {"order_id": number, "amount": amount}, {"ok": True})


def email(to: str = "ada@example.com") -> Ran:
    """The customer is written to."""
    return Ran("send_email", {"to": to}, {"sent": True})
