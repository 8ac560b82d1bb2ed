"""A shop's agent on DSPy: its tools, and the model that plays it."""

import asyncio
import json
import re
from typing import Any

import dspy
from chat_server import ChatServer

import workbench as wb

ran: list[Any] = []


@wb.tool(effect="read")
def get_order(number: int) -> dict[str, Any]:
    """Look up an order."""
    ran.append(("get_order", number))
    if number == 13:
        raise ValueError("no such order")
    return {"number": number, "total": 149.99}


@wb.tool(effect="write", idempotency_key=lambda number, **_: f"refund:{number}")
async def refund(number: int, amount: float) -> str:
    """Pay an order back."""
    ran.append(("refund", number, amount))
    return f"refunded {amount}"


def fields(**values: Any) -> str:
    """An answer in the form that DSPy asks for."""
    parts = [f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()]
    return "\n\n".join([*parts, "[[ ## completed ## ]]"])


def shop(asked: dict[str, Any]) -> str:
    """The model: looks the order up, pays it back if it costs what it did, and says so."""
    text = str(asked["messages"][-1]["content"])
    if "next_thought" not in text:
        found = re.findall(r"refunded [\d.]+|no such order|149.99", text) or ["nothing"]
        return fields(reasoning="as seen", answer=found[-1])
    number = 13 if "13" in text else 101
    step = "get_order", {"number": number}
    if '"total"' in text or "no such order" in text:
        step = "finish", {}
    return fields(next_thought="go on", next_tool_name=step[0], next_tool_args=json.dumps(step[1]))


def model(server: ChatServer, **settings: Any) -> dspy.LM:
    """A model on the server."""
    return dspy.LM("openai/m", api_base=server.url, api_key="k", **settings)


def ask(lm: Any, question: str, tools: Any = (get_order,)) -> Any:
    """An agent on a model; gives its answer, and what it knows of its calls."""
    with dspy.context(lm=lm):
        found = dspy.ReAct("question -> answer", tools=list(tools))(question=question)
    usage = [each["usage"].get("prompt_tokens") for each in lm.history]
    return [found.answer, len(lm.history), usage]


def aask(lm: Any, question: str, tools: Any = (get_order,)) -> Any:
    """The same by async code."""

    async def run() -> Any:
        with dspy.context(lm=lm):
            return await dspy.ReAct("question -> answer", tools=list(tools)).acall(
                question=question
            )

    return [asyncio.run(run()).answer, len(lm.history)]
