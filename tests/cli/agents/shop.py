"""A shop's agent: it looks an order up, refunds it and writes to the customer.

The model is the scripted one, the tools write to a file beside the script, if it is there.
"""

import sys
from pathlib import Path
from typing import Any

import scripted

import workbench

SYSTEM = "You handle refunds. Refund the order total once."
LEDGER = Path(__file__).with_name("ledger.txt")
TEXT = "Sorry about that."


def note(line: str) -> None:
    """Write a line to the ledger, if the test has put one there."""
    if LEDGER.exists():
        with LEDGER.open("a") as file:
            file.write(line + "\n")


@workbench.tool(effect="read")
def get_order(order: int) -> dict[str, Any]:
    """Look an order up."""
    return {"order": order, "total": 149.99}


@workbench.tool(effect="write")
def refund(order: int, amount: float) -> str:
    """Pay money back."""
    note(f"refund {order} {amount}")
    return f"RF-{order}"


@workbench.tool(effect="write")
def send_email(to: str, text: str = TEXT) -> str:
    """Write to the customer."""
    note(f"email {to}")
    return "sent"


TOOLS = {tool.name: tool for tool in (get_order, refund, send_email)}


def decide(body: dict[str, Any]) -> dict[str, Any]:
    """What the scripted model says."""
    messages = body["messages"]
    order = int(messages[1]["content"].split()[1])
    called = [message["name"] for message in messages if message["role"] == "tool"]
    if "get_order" not in called:
        return call("get_order", {"order": order})
    if "refund" not in called and "send_email" not in called:
        return call("refund", {"order": order, "amount": 149.99})
    return {"content": "Refunded." if "refund" in called else "Written to."}


def call(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A reply that calls one tool."""
    return {"content": "", "tool_calls": [{"id": name, "name": name, "arguments": arguments}]}


scripted.world.answer = decide


def handle(order: int = 101) -> dict[str, Any]:
    """Handle one complaint."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": f"Order {order} arrived broken."},
    ]
    while True:
        reply = scripted.ask(messages)
        messages.append({"role": "assistant", **reply})
        calls = reply.get("tool_calls") or []
        for each in calls:
            result = TOOLS[each["name"]](**each["arguments"])
            messages.append({"role": "tool", "name": each["name"], "content": str(result)})
        if not calls:
            return {"order": order, "answer": reply["content"]}


def fresh_world() -> None:
    """An empty ledger."""
    LEDGER.write_text("")


if __name__ == "__main__":
    number = int(sys.argv[sys.argv.index("--order") + 1]) if "--order" in sys.argv else 101
    print(handle(number)["answer"])
