"""A shop that agents reach through an io: tools, a script, and an agent in both twins."""

from __future__ import annotations

import asyncio
import dataclasses
from decimal import Decimal
from typing import Any

import workbench as wb

MODEL = "m-1"


@dataclasses.dataclass
class Order:
    """A tool's own type, which reaches the agent as data."""

    number: int
    total: Decimal
    items: tuple[str, ...] = ("cup",)


class Shop:
    """Its tools, and what really ran."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, dict[str, Any]]] = []

    @wb.tool(effect="read")
    def get_order(self, number: int, detail: str = "short") -> Order:
        """Read an order."""
        self.ran.append(("get_order", {"number": number, "detail": detail}))
        if number == 404:
            raise KeyError(number)
        return Order(number, Decimal("149.90"))

    @wb.tool(effect="write", idempotency_key=lambda number, amount: f"refund:{number}:{amount}")
    async def refund(self, number: int, amount: str) -> str:
        """Pay money back."""
        await asyncio.sleep(0)
        self.ran.append(("refund", {"number": number, "amount": amount}))
        return f"paid {amount} under {wb.idempotency_key()}"

    @property
    def tools(self) -> list[Any]:
        """Both tools."""
        return [self.get_order, self.refund]


SCRIPT: list[Any] = [
    [("get_order", {"number": 101})],
    [("refund", {"number": 101, "amount": "149.90"}), ("no_such_tool", {})],
    "Order 101 is paid back.",
]


def said(text: str) -> list[dict[str, Any]]:
    """A conversation that begins."""
    return [{"role": "user", "content": text}]


async def agent(io: wb.AgentIO, question: str) -> dict[str, Any]:
    """Runs the model's tools until it answers, streaming the last turns; asks and notes."""
    begun, ident, dice = io.now(), io.new_id(), io.random()
    messages, results = said(question), []
    while True:
        with wb.step("think"):
            reply = await io.stream_model(model=MODEL, messages=messages).read()
        messages.append(reply.message)
        if not reply.tool_calls:
            break
        for call in reply.tool_calls:
            try:
                result = await io.call_tool(call.name, call.arguments)
            except wb.WorkbenchError as error:
                result = f"{type(error).__name__}: {error}"
            results.append(result)
            messages.append(wb.tool_message(call, result))
    await io.sleep(30)
    choice = await io.ask_human("Send it?", choices=["yes", "no"])
    await io.write_event("answered", {"at": begun, "choice": choice})
    return {
        "text": reply.text,
        "results": results,
        "readings": (begun, ident, dice),
        "choice": choice,
        "later": io.now() >= begun,
    }


def sync_agent(io: wb.SyncAgentIO, question: str) -> dict[str, Any]:
    """The same without a loop."""
    begun, ident, dice = io.now(), io.new_id(), io.random()
    messages, results = said(question), []
    while True:
        with wb.step("think"):
            reply = io.stream_model(model=MODEL, messages=messages).read()
        messages.append(reply.message)
        if not reply.tool_calls:
            break
        for call in reply.tool_calls:
            try:
                result = io.call_tool(call.name, call.arguments)
            except wb.WorkbenchError as error:
                result = f"{type(error).__name__}: {error}"
            results.append(result)
            messages.append(wb.tool_message(call, result))
    io.sleep(30)
    choice = io.ask_human("Send it?", choices=["yes", "no"])
    io.write_event("answered", {"at": begun, "choice": choice})
    return {
        "text": reply.text,
        "results": results,
        "readings": (begun, ident, dice),
        "choice": choice,
        "later": io.now() >= begun,
    }
