"""A customer-refund agent on the openai SDK, with a small shop in SQLite behind its tools.

It is small and not clever, so that its runs go wrong as real ones do: it pays whatever the model
asks for, hands a tool's error to the model and goes on, and notices only late that it is going
round in circles. ::

    python notebooks/agents/refund.py --order 101
    workbench record notebooks/agents/refund.py -- --order 101

The model is the offline one, or what ``OPENAI_BASE_URL`` and ``OPENAI_MODEL`` name.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from contextvars import ContextVar, Token
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import openai

import workbench

MAX_TURNS = 10
"""Model calls in one run."""

MAX_REPEATS = 6
"""How often in a row the model may ask for the very same call before the run ends as stuck."""

SYSTEM = (
    "You are the refund agent of a shop. Work in this order: look the customer up, read the order, "
    "refund it, write an e-mail to the customer, then answer."
)
SUM_UP = "Sum up in one sentence what the refund agent did."

SEED_DATA = """\
CREATE TABLE customers (email TEXT PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, email TEXT NOT NULL, item TEXT NOT NULL, total REAL NOT NULL);
CREATE TABLE refunds (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL, amount REAL NOT NULL, key TEXT UNIQUE);
CREATE TABLE emails (
    id INTEGER PRIMARY KEY, recipient TEXT NOT NULL, text TEXT NOT NULL, key TEXT UNIQUE);
INSERT INTO customers VALUES ('ada@example.com', 'Ada'), ('bo@example.com', 'Bo');
INSERT INTO orders VALUES
    (101, 'ada@example.com', 'coffee grinder', 149.99), (102, 'bo@example.com', 'kettle', 39.5);
"""

Ask = Callable[..., Any]
"""Asks the model: takes messages and options, gives the message that it replies with."""

_shop: ContextVar[Shop | None] = ContextVar("shop", default=None)


class Shop:
    """A database of its own in a temporary file, for as long as its ``with`` block lasts.

    What was written in it can still be read afterwards.
    """

    def __enter__(self) -> Self:
        self._folder = tempfile.TemporaryDirectory(prefix="shop-")
        self._path = Path(self._folder.name) / "shop.sqlite"
        with closing(sqlite3.connect(self._path)) as connection:
            connection.executescript(SEED_DATA)
        self._written: dict[str, list[dict[str, Any]]] | None = None
        self._token: Token[Shop | None] = _shop.set(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._written = {"refunds": self.refunds(), "emails": self.emails()}
        _shop.reset(self._token)
        self._folder.cleanup()

    def query(self, sql: str, *values: object) -> list[dict[str, Any]]:
        """The rows that a statement gives; what it wrote is kept."""
        with closing(sqlite3.connect(self._path)) as connection, connection:
            connection.row_factory = sqlite3.Row
            return [dict(row) for row in connection.execute(sql, values)]

    def refunds(self) -> list[dict[str, Any]]:
        """Each refund that was paid: ``id``, ``order_id``, ``amount`` and its idempotency key."""
        return self._rows("refunds")

    def emails(self) -> list[dict[str, Any]]:
        """Each e-mail that was sent: ``id``, ``recipient``, ``text`` and its idempotency key."""
        return self._rows("emails")

    def _rows(self, table: str) -> list[dict[str, Any]]:
        if self._written is not None:
            return self._written[table]
        return self.query(f"SELECT * FROM {table} ORDER BY id")  # noqa: S608 - one of two names


def fresh_database() -> Shop:
    """A shop in which nothing has happened yet; as ``setup=`` it gives each run its own."""
    return Shop()


@contextmanager
def open_shop() -> Iterator[Shop]:
    """The shop of this run: the one that is open, or else a fresh one."""
    shop = _shop.get()
    if shop is not None:
        yield shop
    else:
        with fresh_database() as shop:
            yield shop


@workbench.tool(effect="read")
def find_customer(email: str) -> dict[str, Any]:
    """Find a customer by e-mail address."""
    with open_shop() as shop:
        found = shop.query("SELECT * FROM customers WHERE email = ?", email)
    if not found:
        raise LookupError(f"no customer has the address {email}")
    return found[0]


@workbench.tool(effect="read")
def get_order(order_id: int) -> dict[str, Any]:
    """Read an order: its customer, item and total."""
    with open_shop() as shop:
        found = shop.query("SELECT * FROM orders WHERE id = ?", order_id)
    if not found:
        raise LookupError(f"there is no order {order_id}")
    return found[0]


@workbench.tool(effect="write")
def refund(order_id: int, amount: float) -> dict[str, Any]:
    """Pay money back for an order."""
    with open_shop() as shop:
        if not shop.query("SELECT id FROM orders WHERE id = ?", order_id):
            raise LookupError(f"there is no order {order_id}")
        key = workbench.idempotency_key()
        shop.query(
            "INSERT INTO refunds (order_id, amount, key) VALUES (?, ?, ?)", order_id, amount, key
        )
    return {"refunded": amount, "order_id": order_id}


@workbench.tool(effect="write")
def send_email(to: str, text: str) -> dict[str, Any]:
    """Write to the customer how much money was paid back."""
    with open_shop() as shop:
        key = workbench.idempotency_key()
        shop.query("INSERT INTO emails (recipient, text, key) VALUES (?, ?, ?)", to, text, key)
    return {"sent_to": to}


TOOLS = {tool.name: tool for tool in (find_customer, get_order, refund, send_email)}


def answer(
    order: int = 101,
    email: str = "ada@example.com",
    message: str = "It arrived broken.",
    *,
    temperature: float = 0.4,
    seed: int | None = None,
) -> dict[str, Any]:
    """Let the model deal with what a customer writes about an order.

    Returns:
        ``status`` (``refunded``, ``answered`` without a refund, ``stuck`` or ``max_turns``), the
        ``answer`` in the model's words, and the number of ``refunds`` that were paid.
    """
    options: dict[str, Any] = {"temperature": temperature}
    if seed is not None:
        options["seed"] = seed
    with chat_model(options) as ask, open_shop():
        return run(ask, f"Customer: {email}\nOrder: {order}\nMessage: {message}")


def run(ask: Ask, task: str) -> dict[str, Any]:
    """Ask the model and call its tools, turn by turn, until the customer has an e-mail."""
    messages: list[Any] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": task},
    ]
    log: list[str] = []
    refunds = 0
    for _ in range(MAX_TURNS):
        said = ask(messages, tools=[tool.openai for tool in TOOLS.values()])
        messages.append(said.model_dump(include={"role", "content", "tool_calls"}))
        if not said.tool_calls:
            return outcome("refunded" if refunds else "answered", said.content, refunds)
        for call in said.tool_calls:
            name, arguments = call.function.name, call.function.arguments
            result = call_tool(name, arguments)
            content = json.dumps(result)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
            log.append(f"{name} {arguments}")
            refunds += name == "refund" and "error" not in result
        if log[-1].startswith("send_email"):
            return outcome("refunded" if refunds else "answered", sum_up(ask, log), refunds)
        if log[-MAX_REPEATS:] == [log[-1]] * MAX_REPEATS:
            return outcome("stuck", None, refunds)
    return outcome("max_turns", None, refunds)


def sum_up(ask: Ask, log: list[str]) -> Any:
    """One sentence for the shop's log."""
    messages = [
        {"role": "system", "content": SUM_UP},
        {"role": "user", "content": "\n".join(log)},
    ]
    return ask(messages, max_tokens=60).content


def call_tool(name: str, arguments: str) -> dict[str, Any]:
    """What a tool returns; what goes wrong becomes text for the model."""
    try:
        return TOOLS[name](**json.loads(arguments))
    except (KeyError, TypeError, ValueError, LookupError) as error:
        return {"error": str(error)}


def outcome(status: str, text: str | None, refunds: int) -> dict[str, Any]:
    """What a run gives back."""
    return {"status": status, "answer": text, "refunds": refunds}


@contextmanager
def chat_model(options: dict[str, Any]) -> Iterator[Ask]:
    """Ask the model that the environment names, or else the offline one."""
    name = os.environ.get("OPENAI_MODEL", "smollm2-135m")
    with ExitStack() as stack:
        if os.environ.get("OPENAI_BASE_URL"):
            client = openai.OpenAI()
        else:
            base_url = stack.enter_context(workbench.local_model())
            client = openai.OpenAI(base_url=base_url, api_key="none")
        stack.enter_context(client)

        def ask(messages: list[Any], **more: Any) -> Any:
            reply = client.chat.completions.create(model=name, messages=messages, **options, **more)
            return reply.choices[0].message

        yield ask


def main() -> None:
    """Run the agent from a command line, and print what it gives back."""
    parser = argparse.ArgumentParser(description="Refund an order.")
    parser.add_argument("--order", type=int, default=101)
    parser.add_argument("--email", default="ada@example.com")
    parser.add_argument("--message", default="It arrived broken.")
    parser.add_argument("--temperature", type=float, default=0.4)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    print(json.dumps(answer(**vars(options))))


if __name__ == "__main__":
    main()
