"""Real answers of OpenAI and Anthropic through their SDKs: recorded, then replayed with no server.

The data is what other projects recorded; what it says is read from the raw bodies (cassettes.py).
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest
from cassettes import Exchange, Replayer, Told, exchanges, told
from openai.lib.streaming.chat import ChatCompletionStreamState

import workbench

pytest.importorskip("yaml")


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> list[Exchange]:
    """Every exchange that there is."""
    return exchanges(shared_data)


# -- the agent: it asks what was asked, and tells what the SDK's own objects say -------------------


def ask(url: str, exchange: Exchange) -> tuple[Told, type]:
    """Ask with the sync SDK; gives what it said, and the type of what came."""
    asked: dict[str, Any] = dict(exchange.request)
    if exchange.api == "anthropic.messages":
        del asked["stream"]
        with (
            anthropic.Anthropic(api_key="none", base_url=url, max_retries=0) as claude,
            claude.beta.messages.stream(**asked) as stream,
        ):
            return _from_message(stream.get_final_message()), type(stream)
    with openai.OpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0) as gpt:
        responses = exchange.api == "openai.responses"
        answer: Any = (gpt.responses if responses else gpt.chat.completions).create(**asked)
        said = list(answer) if exchange.streamed else answer
    return _READERS[exchange.api, exchange.streamed](said), type(answer)


async def ask_async(url: str, exchange: Exchange) -> tuple[Told, type]:
    """The same with the async SDK."""
    asked: dict[str, Any] = dict(exchange.request)
    if exchange.api == "anthropic.messages":
        del asked["stream"]
        async with (
            anthropic.AsyncAnthropic(api_key="none", base_url=url, max_retries=0) as claude,
            claude.beta.messages.stream(**asked) as stream,
        ):
            return _from_message(await stream.get_final_message()), type(stream)
    async with openai.AsyncOpenAI(api_key="none", base_url=f"{url}/v1", max_retries=0) as gpt:
        responses = exchange.api == "openai.responses"
        answer: Any = await (gpt.responses if responses else gpt.chat.completions).create(**asked)
        said = [chunk async for chunk in answer] if exchange.streamed else answer
    return _READERS[exchange.api, exchange.streamed](said), type(answer)


def _from_response(response: Any) -> Told:
    made = [item for item in response.output if item.type == "function_call"]
    calls = [(item.call_id, item.name, json.loads(item.arguments)) for item in made]
    used = response.usage
    counts = {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "cache_read_tokens": getattr(used.input_tokens_details, "cached_tokens", None),
        "reasoning_tokens": used.output_tokens_details.reasoning_tokens,
    }
    return Told(response.output_text, calls, counts, response.status)


def _from_completion(answer: Any) -> Told:
    (choice,), used = answer.choices, answer.usage
    made = choice.message.tool_calls or []
    calls = [(e.id, e.function.name, json.loads(e.function.arguments)) for e in made]
    counts = {
        "input_tokens": used.prompt_tokens,
        "output_tokens": used.completion_tokens,
        "cache_read_tokens": used.prompt_tokens_details.cached_tokens,
        "reasoning_tokens": used.completion_tokens_details.reasoning_tokens,
    }
    return Told(choice.message.content or "", calls, counts, choice.finish_reason)


def _from_chunks(chunks: list[Any]) -> Told:
    state: Any = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    return _from_completion(state.current_completion_snapshot)


_READERS: dict[tuple[str, bool], Callable[[Any], Told]] = {
    ("openai.responses", False): _from_response,
    ("openai.chat", False): _from_completion,
    ("openai.chat", True): _from_chunks,
}


def _from_message(message: Any) -> Told:
    used = message.usage
    cached = (used.cache_read_input_tokens or 0) + (used.cache_creation_input_tokens or 0)
    counts = {
        "input_tokens": used.input_tokens + cached,
        "output_tokens": used.output_tokens,
        "cache_read_tokens": used.cache_read_input_tokens,
        "reasoning_tokens": None,
    }
    text = "".join(block.text for block in message.content if block.type == "text")
    made = [block for block in message.content if block.type == "tool_use"]
    return Told(text, [(e.id, e.name, e.input) for e in made], counts, message.stop_reason)


# -- recorded and replayed --------------------------------------------------------------------


def all_sync(url: str, wanted: list[Exchange]) -> list[tuple[Told, type]]:
    """Every exchange in turn."""
    return [ask(url, each) for each in wanted]


def all_async(url: str, wanted: list[Exchange]) -> list[tuple[Told, type]]:
    """Every exchange in turn, in an event loop."""

    async def agent() -> list[tuple[Told, type]]:
        return [await ask_async(url, each) for each in wanted]

    return asyncio.run(agent())


@pytest.mark.parametrize("agent", [all_sync, all_async])
def test_replays_say_what_the_wire_said(
    agent: Callable[[str, list[Exchange]], list[tuple[Told, type]]],
    recorded: list[Exchange],
    connections: list[object],
    tmp_path: Path,
) -> None:
    """Text, tool calls and usage of every answer, live and replayed, in the SDK's own types; and
    the trace says the same once more."""
    path = tmp_path / "wire.trace.jsonl"
    with Replayer(recorded) as server, workbench.recording(path):
        live = agent(server.url, recorded)
    assert [each.request for each in recorded] == server.asked
    trace = workbench.load(path)
    made = len(connections)
    with workbench.replaying(trace):
        replayed = agent(server.url, recorded)
    assert len(connections) == made
    wire = [told(each) for each in recorded]
    assert [said for said, _ in live] == wire
    assert replayed == live
    assert [each.api for each in trace.entries] == [each.api for each in recorded]
    for entry, said in zip(trace.entries, wire, strict=True):
        assert entry.text == said.text
        assert [(c.id, c.name, c.arguments) for c in entry.tool_calls] == said.calls
        counts = {name: count for name, count in said.counts.items() if count is not None}
        assert (entry.usage or {}).items() >= counts.items()
