"""A shop's agents, written with OpenAI's agents SDK, over a model server on loopback."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from agents import Agent, OpenAIChatCompletionsModel, Runner, RunResult, function_tool
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

import workbench as wb

ran: list[Any] = []
"""What the tools did for real."""


@wb.tool(effect="read")
def get_order(number: int) -> dict[str, Any]:
    """Look up an order."""
    ran.append(("get_order", number))
    return {"number": number, "total": 149.99}


@wb.tool(effect="write", idempotency_key=lambda number, **_: f"refund:{number}")
def refund(number: int, amount: float) -> str:
    """Pay an order back."""
    ran.append(("refund", number, amount))
    return f"refunded {amount}"


TOOLS = [function_tool(get_order), function_tool(refund)]


def chat(url: str) -> OpenAIChatCompletionsModel:
    """A model on the server, whose connections are closed after each answer."""
    http = DefaultAsyncHttpxClient(headers={"connection": "close"})
    client = AsyncOpenAI(base_url=url, api_key="k", http_client=http)
    return OpenAIChatCompletionsModel("m", client)


def shop_agent(url: str, **options: Any) -> Agent[None]:
    """The agent with its two tools."""
    given: dict[str, Any] = {"name": "shop", "tools": TOOLS, "model": chat(url), **options}
    return Agent(**given)


Way = Callable[[Agent[Any], Any], Any]


def ran_sync(agent: Agent[Any], question: Any) -> Any:
    """``run_sync``."""
    return seen(Runner.run_sync(agent, question))


def ran_async(agent: Agent[Any], question: Any) -> Any:
    """``run``."""
    return seen(asyncio.run(Runner.run(agent, question)))


def streamed(agent: Agent[Any], question: Any) -> Any:
    """``run_streamed``, event by event."""

    async def read() -> Any:
        stream = Runner.run_streamed(agent, question)
        kinds = []
        async for event in stream.stream_events():
            data = getattr(event, "data", None)
            kinds.append((event.type, getattr(data, "type", None), getattr(data, "delta", None)))
        return kinds, seen(stream)

    return asyncio.run(read())


WAYS: list[Way] = [ran_sync, ran_async, streamed]


def seen(result: RunResult | Any) -> Any:
    """What an agent's author sees of a run: items, output, usage, who answered."""
    items = [(item.type, json.dumps(_raw(item.raw_item))) for item in result.new_items]
    usage = result.context_wrapper.usage
    counts = usage.requests, usage.input_tokens, usage.output_tokens
    return items, result.final_output, result.last_agent.name, counts


def _raw(item: Any) -> Any:
    return item if isinstance(item, dict) else item.model_dump(mode="json", exclude_unset=True)
