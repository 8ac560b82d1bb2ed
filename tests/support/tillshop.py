"""A small shop behind tools that write, and an agent that does whatever its model says."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from scripted import ask

import workbench as wb
from workbench.seam.calls import Question
from workbench.seam.result import Controller, Progress

TOOLS = [
    {"name": name, "description": name, "parameters": {"type": "object"}}
    for name in ("get_order", "refund", "send_email")
]


class Shop:
    """A database of refunds and mails."""

    def __init__(self) -> None:
        self.db = sqlite3.connect(":memory:", check_same_thread=False)
        self.db.execute("create table refunds (id integer primary key, order_id, amount, key)")
        self.db.execute("create table mails (id integer primary key, address)")

    def refunds(self) -> list[tuple[Any, ...]]:
        """The refunds that were really made."""
        return self.db.execute("select order_id, amount, key from refunds order by id").fetchall()


shop = Shop()


@contextmanager
def fresh_shop() -> Iterator[Shop]:
    """A world for one run."""
    global shop
    before, shop = shop, Shop()
    try:
        yield shop
    finally:
        shop = before


@wb.tool(effect="read")
def get_order(order_id: int) -> dict[str, Any]:
    """Read an order."""
    return {"id": order_id, "total": 149.99}


@wb.tool(effect="write")
def refund(order_id: int, amount: float) -> dict[str, Any]:
    """Pay money back."""
    cursor = shop.db.execute(
        "insert into refunds (order_id, amount, key) values (?, ?, ?)",
        (order_id, amount, wb.idempotency_key()),
    )
    return {"refund_id": f"RF-{cursor.lastrowid}"}


@wb.tool(effect="write")
def send_email(to: str) -> str:
    """Write a mail."""
    shop.db.execute("insert into mails (address) values (?)", (to,))
    return "sent"


CALLABLE: dict[str, Any] = {"get_order": get_order, "refund": refund, "send_email": send_email}


def agent(order_id: int) -> str:
    """A tool loop that does whatever the model says."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"refund {order_id}"}]
    for _ in range(8):
        reply = ask(messages, tools=TOOLS)
        messages.append({"role": "assistant", **reply})
        if not reply.get("tool_calls"):
            return str(reply["content"])
        for call in reply["tool_calls"]:
            result = CALLABLE[call["name"]](**call["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": str(result)})
    return "turn limit"


def script(*replies: Any) -> Any:
    """A model that says these one after the other."""
    left = list(replies)
    return lambda _: left.pop(0)


def call(name: str, **arguments: Any) -> dict[str, Any]:
    """A reply that calls one tool."""
    made = {"id": f"c-{name}", "name": name, "arguments": arguments}
    return {"content": "", "tool_calls": [made]}


DONE = {"content": "all done"}


class Clerk(Controller):
    """Answers each question, and remembers it."""

    def __init__(self, *verdicts: str) -> None:
        super().__init__()
        self.verdicts = list(verdicts)
        self.questions: list[Question] = []
        self.progress: list[Progress] = []

    def on_question(self, question: Question) -> None:
        """Answer as told."""
        self.questions.append(question)
        if self.verdicts.pop(0) == "allow":
            question.allow()
        else:
            question.deny()

    def on_progress(self, progress: Progress) -> None:
        """Remember."""
        self.progress.append(progress)
