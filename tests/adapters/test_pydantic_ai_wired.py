"""pydantic-ai over the other hooked SDKs: the wire records, and the library adds nothing."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from loopback import Server
from pydantic_ai import Agent

import workbench as wb

ran: list[int] = []
CLOSE = {"connection": "close"}


def get_order(number: int) -> str:
    """Look up an order."""
    ran.append(number)
    return f"order {number}"


def responses(url: str) -> Any:
    """OpenAI's Responses."""
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=f"{url}/v1", api_key="k", default_headers=CLOSE)
    return OpenAIResponsesModel("ok", provider=OpenAIProvider(openai_client=client))


def anthropic(url: str) -> Any:
    """Anthropic's messages."""
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    client = AsyncAnthropic(base_url=url, api_key="k", default_headers=CLOSE)
    return AnthropicModel("ok", provider=AnthropicProvider(anthropic_client=client))


def google(url: str) -> Any:
    """Google's generateContent, which gives some calls no id."""
    from google.genai import Client
    from google.genai.types import HttpOptions
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    options = HttpOptions(base_url=url, headers=CLOSE)
    client = Client(api_key="k", http_options=options)
    return GoogleModel("ok", provider=GoogleProvider(client=client))


APIS: dict[Callable[[str], Any], str] = {
    responses: "openai.responses",
    anthropic: "anthropic.messages",
    google: "google.generate_content",
}


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("model", list(APIS))
def test_the_wire_records_and_a_replay_is_the_run(
    model: Callable[[str], Any], streams: bool, connections: list[object]
) -> None:
    """One entry for each call, in the agent's step; ids that the library makes up are made up as
    they were, so that what it sends back is what it sent."""
    tools = [get_order] if model is google else []
    ran.clear()

    async def ask(agent: Agent[None, Any]) -> Any:
        if not streams:
            result = await agent.run("hi")
            return result.output, str(result.usage)
        async with agent.run_stream("hi") as stream:
            pieces = [each async for each in stream.stream_text(delta=True, debounce_by=None)]
        return pieces, str(stream.usage)

    with Server() as server:

        def agent() -> Any:
            return asyncio.run(ask(Agent(model(server.url), name="shop", tools=tools)))

        recorded = wb.record(agent)
        assert recorded.status == "ok", recorded.error
        kinds = [(e.kind, e.api, e.step) for e in recorded.trace.entries if e.kind != "value"]
        asked = ("model", APIS[model], "shop")
        tool = ("tool", None, "shop")
        assert kinds == ([asked, tool, tool, asked] if tools else [asked])
        server.stop()
        connections.clear()
        count = len(ran)
        replayed = wb.replay(agent, recorded.trace)
    assert (replayed.status, replayed.output) == ("ok", recorded.output), replayed.drift
    assert (len(ran), connections) == (count, [])
