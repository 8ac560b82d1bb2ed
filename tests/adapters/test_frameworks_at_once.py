"""Several runs of one agent at once: whose tool call is whose, and a replay keeps them apart."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import agents_shop
import pydantic_shop
import pytest
from agents import Runner
from chat_server import ChatServer, call, results

import workbench as wb

Ask = Callable[[str, str], Awaitable[Any]]


async def pydantic_ai(url: str, question: str) -> Any:
    """One run of pydantic-ai's."""
    return (await pydantic_shop.shop_agent(url).run(question)).output


async def openai_agents(url: str, question: str) -> Any:
    """One run of the agents SDK's."""
    return (await Runner.run(agents_shop.shop_agent(url), question)).final_output


@pytest.fixture
def server() -> Iterator[ChatServer]:
    """The model looks up the order that it is asked about, and says what it found."""

    def answer(asked: dict[str, Any]) -> Any:
        got = results(asked)
        question = next(m["content"] for m in asked["messages"] if m["role"] == "user")
        return f"{question}: {got[0]}" if got else call("get_order", number=int(question))

    pydantic_shop.ran.clear()
    agents_shop.ran.clear()
    with ChatServer(answer) as running:
        yield running


@pytest.mark.parametrize("ask", [pydantic_ai, openai_agents])
def test_each_tool_belongs_to_the_model_call_that_asked_for_it(
    server: ChatServer, ask: Ask
) -> None:
    """Five runs of agents with one name share a step, and no turn."""
    numbers = [str(number) for number in range(5)]

    async def agent() -> Any:
        return await asyncio.gather(*(ask(server.url, number) for number in numbers))

    recorded = wb.record(agent)
    assert recorded.status == "ok", recorded.error
    tools = recorded.trace.tools("get_order")
    asked = [recorded.trace.entry(str(tool.asked_by)).messages[-1].text for tool in tools]
    assert [str(tool.arguments["number"]) for tool in tools] == asked
    assert sorted(asked) == numbers
    server.stop()
    replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output)
    assert len([*pydantic_shop.ran, *agents_shop.ran]) == 5
