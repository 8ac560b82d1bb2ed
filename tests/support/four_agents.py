"""One small support agent, written in four ways: on OpenAI's SDK, pydantic-ai, the agents SDK, and
(in :mod:`langgraph_agent`) LangGraph. All take the same arguments, and use the same functions."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, cast

import agents
import openai
import pydantic_ai
from chat_server import call, results
from langgraph_agent import langgraph_agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

import workbench

Agent = Callable[[str], str]
Tools = Sequence[Callable[..., Any]]

PROMPT = "You answer customers of a shop. Find the order, then write to the customer."
MOST_TURNS = 4
"""A real model may go round in circles."""
SENT: list[str] = []
"""What was really sent."""


@workbench.tool(effect="read")
def find_order(number: int) -> dict[str, Any]:
    """Find an order by its number."""
    return {"number": number, "item": "two lamps", "email": "ada@example.com"}


@workbench.tool(effect="write", idempotency_key=lambda to, **_: f"email:{to}")
def send_email(to: str, text: str) -> str:
    """Write to a customer."""
    SENT.append(f"{to}: {text}")
    return "sent"


TOOLS: Tools = [find_order, send_email]


def openai_agent(
    base_url: str, tools: Tools, *, model: str = "local", prompt: str = PROMPT
) -> Agent:
    """A plain loop on OpenAI's SDK."""
    known = {cast("Any", tool).name: tool for tool in tools}
    offered: Any = [cast("Any", tool).openai for tool in tools]

    def agent(question: str) -> str:
        messages: list[Any] = [
            {"role": "system", "content": prompt},
            {"role": "user", "content": question},
        ]
        with openai.OpenAI(base_url=base_url, api_key="none") as client:
            for _ in range(MOST_TURNS):
                reply = client.chat.completions.create(
                    model=model, messages=messages, tools=offered, temperature=0
                )
                message = reply.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                if not message.tool_calls:
                    return message.content or ""
                for asked in message.tool_calls:
                    function = cast("Any", asked).function
                    result = known[function.name](**json.loads(function.arguments))
                    text = result if isinstance(result, str) else json.dumps(result)
                    messages.append({"role": "tool", "tool_call_id": asked.id, "content": text})
        raise RuntimeError(f"no answer in {MOST_TURNS} turns")

    return agent


def pydantic_ai_agent(
    base_url: str, tools: Tools, *, model: str = "local", prompt: str = PROMPT
) -> Agent:
    """The same on pydantic-ai."""

    async def answer(question: str) -> str:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as client:
            chat = OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client))
            agent = pydantic_ai.Agent(
                chat, instructions=prompt, tools=tools, model_settings={"temperature": 0}
            )
            limits = pydantic_ai.UsageLimits(request_limit=MOST_TURNS)
            return (await agent.run(question, usage_limits=limits)).output

    return lambda question: asyncio.run(answer(question))


def openai_agents_agent(
    base_url: str, tools: Tools, *, model: str = "local", prompt: str = PROMPT
) -> Agent:
    """The same on OpenAI's agents SDK."""

    async def answer(question: str) -> str:
        async with openai.AsyncOpenAI(base_url=base_url, api_key="none") as client:
            agent: agents.Agent[None] = agents.Agent(
                name="support",
                instructions=prompt,
                model=agents.OpenAIChatCompletionsModel(model, client),
                model_settings=agents.ModelSettings(temperature=0),
                tools=[agents.function_tool(tool) for tool in tools],
            )
            result = await agents.Runner.run(agent, question, max_turns=MOST_TURNS)
            return str(result.final_output)

    return lambda question: asyncio.run(answer(question))


WAYS: dict[str, Callable[..., Agent]] = {
    "openai": openai_agent,
    "pydantic-ai": pydantic_ai_agent,
    "langgraph": langgraph_agent,
    "openai-agents": openai_agents_agent,
}


def decide(asked: dict[str, Any]) -> Any:
    """The scripted model: finds the order, writes to the customer, and says what it did."""
    got = results(asked)
    if not got:
        return call("find_order", number=101)
    if len(got) == 1:
        item = "two lamps" if "two lamps" in got[0] else "something else"
        return call("send_email", to="ada@example.com", text=f"Your {item} will come.")
    return f"I wrote to the customer: {got[-1]}."
