"""A shop's agents, written with pydantic-ai, over a model server on loopback."""

import asyncio
from collections.abc import Callable
from typing import Any

from openai import AsyncOpenAI, DefaultAsyncHttpxClient
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

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


def chat(url: str, **options: Any) -> OpenAIChatModel:
    """A model on the server, whose connections are closed after each answer."""
    http = DefaultAsyncHttpxClient(headers={"connection": "close"})
    client = AsyncOpenAI(base_url=url, api_key="k", http_client=http)
    return OpenAIChatModel("m", provider=OpenAIProvider(openai_client=client), **options)


def shop_agent(url: str, **options: Any) -> Agent[None, Any]:
    """The agent with its two tools."""
    given: dict[str, Any] = {"name": "shop", "tools": [get_order, refund], **options}
    return Agent(chat(url), **given)


Way = Callable[[Agent[None, Any], str], Any]


def ran_sync(agent: Agent[None, Any], question: str) -> Any:
    """``run_sync``."""
    return seen(agent.run_sync(question))


def ran_async(agent: Agent[None, Any], question: str) -> Any:
    """``run``."""
    return seen(asyncio.run(agent.run(question)))


def streamed(agent: Agent[None, Any], question: str) -> Any:
    """``run_stream``, its text piece by piece."""

    async def read() -> Any:
        async with agent.run_stream(question) as stream:
            pieces = [each async for each in stream.stream_text(delta=True, debounce_by=None)]
        return pieces, seen(stream)

    return asyncio.run(read())


def iterated(agent: Agent[None, Any], question: str) -> Any:
    """``iter``, node by node."""

    async def read() -> Any:
        async with agent.iter(question) as run:
            names = [type(node).__name__ async for node in run]
        return names, seen(run.result)

    return asyncio.run(read())


def events(agent: Agent[None, Any], question: str) -> Any:
    """``run_stream_events``, the kind of each."""

    async def read() -> Any:
        running: Any = agent.run_stream_events(question)
        if not hasattr(running, "__aenter__"):  # so it was before version 2
            return [event.event_kind async for event in running]
        async with running as stream:
            return [event.event_kind async for event in stream]

    return asyncio.run(read())


WAYS: list[Way] = [ran_sync, ran_async, streamed, iterated, events]


def seen(result: Any) -> Any:
    """What an agent's author sees of a run: every part's content with its type, and the usage."""
    parts = [
        (type(part).__name__, _content(part), getattr(part, "tool_call_id", None))
        for message in result.all_messages()
        for part in message.parts
    ]
    usage = result.usage
    usage = usage if hasattr(usage, "requests") else usage()  # a method, before version 2
    return parts, (usage.requests, usage.input_tokens, usage.output_tokens, usage.tool_calls)


def _content(part: Any) -> Any:
    return part.args if hasattr(part, "args") else part.content
