"""Tokens and money through each SDK: each call is billed once, by its provider's own rule."""

import asyncio
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import anthropic
import pytest
from askers import ASKERS, CHAT, GENERATE, MESSAGES, RESPONSES, Asker
from loopback import Server
from spoken import say

import workbench as wb
from workbench.trace.prices import billed, cost_of, money, price_version, spent_and_saved, total

pytestmark = pytest.mark.skipif(price_version() is None, reason="needs genai-prices")

NOTHING = Decimal(0)
MODELS = {
    "openai.chat": "gpt-4o-mini",
    "openai.responses": "gpt-4o-mini",
    "anthropic.messages": "claude-sonnet-4-20250514",
    "google.generate_content": "gemini-2.5-flash",
}
CACHED: dict[str, dict[str, Any]] = {
    "openai.chat": {
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "total_tokens": 110,
        "prompt_tokens_details": {"cached_tokens": 80},
    },
    "openai.responses": {
        "input_tokens": 100,
        "output_tokens": 10,
        "total_tokens": 110,
        "input_tokens_details": {"cached_tokens": 80},
        "output_tokens_details": {"reasoning_tokens": 0},
    },
    "anthropic.messages": {
        "input_tokens": 20,
        "cache_read_input_tokens": 80,
        "cache_creation_input_tokens": 0,
        "output_tokens": 10,
    },
    "google.generate_content": {
        "promptTokenCount": 100,
        "cachedContentTokenCount": 80,
        "candidatesTokenCount": 10,
        "totalTokenCount": 110,
    },
}
"""A hundred tokens in, of which eighty were cached, and ten out: as each provider counts them."""
COSTS = {
    "openai.chat": Decimal("0.000015"),  # 20 at 0.15, 80 at 0.075, 10 at 0.60 per million
    "openai.responses": Decimal("0.000015"),
    "anthropic.messages": Decimal("0.000234"),  # 20 at 3, 80 at 0.30, 10 at 15
    "google.generate_content": Decimal("0.0000334"),  # 20 at 0.30, 80 at 0.03, 10 at 2.50
}


@pytest.fixture(params=ASKERS, ids=str)
def asker(request: pytest.FixtureRequest) -> Asker:
    """Each API."""
    found: Asker = request.param
    return found


@pytest.fixture
def charging(asker: Asker, speaker: Server, monkeypatch: pytest.MonkeyPatch) -> tuple[Asker, str]:
    """A provider that charges, and where its proxy is."""
    model, usage = MODELS[asker.api], CACHED[asker.api]
    say(monkeypatch, asker.api, [("text", "Hello there.")], model=model, usage=usage)
    return asker, speaker.url


def ask(asker: Asker, proxy: str, *words: str, model: str | None = None) -> list[str]:
    """Ask a provider for each of some words."""
    with asker.behind(proxy) as made:
        name = model or MODELS[asker.api]
        return [asker.text(asker.send(made, name, asker.user(word))) for word in words]


def test_ten_replayed_calls_cost_nothing_again(
    charging: tuple[Asker, str], speaker: Server
) -> None:
    """What the recording cost is known and kept apart: a replay has spent nothing, saved all of
    it, and a fork has spent only what it asked for."""
    asker, proxy = charging
    words = [f"w{number}" for number in range(10)]
    recorded = wb.record(ask, asker, proxy, *words)
    assert recorded.status == "ok", recorded.error
    price = COSTS[asker.api]
    assert (recorded.spent, recorded.saved) == (10 * price, NOTHING)
    assert recorded.trace.cost == 10 * price
    replayed = wb.replay(ask, recorded.trace, asker, proxy, *words)
    assert (replayed.spent, replayed.saved) == (NOTHING, 10 * price)
    forked = wb.fork(ask, recorded.trace, asker, proxy, *words, live_from=wb.turn(8))
    assert (forked.spent, forked.saved) == (3 * price, 7 * price)
    assert len(speaker.seen) == 13


@pytest.mark.parametrize("kind", ["plain", "stream"])
def test_cached_tokens_are_counted_by_the_providers_rule(
    charging: tuple[Asker, str], kind: str
) -> None:
    """Inside the input for some providers, beside it for others: the counts are the same hundred
    and eighty everywhere, the cost is the price list's, and the provider's own words are kept."""
    asker, proxy = charging
    with wb.recording() as recorded, asker.behind(proxy) as made:
        user = asker.user("hello")
        found = asker.send(made, MODELS[asker.api], user, stream=kind == "stream")
        if kind == "stream":
            list(found)
    (entry,) = recorded.trace.entries
    usage = entry.usage or {}
    assert (usage["input_tokens"], usage["cache_read_tokens"], usage["output_tokens"]) == (
        100,
        80,
        10,
    )
    assert cost_of(entry) == COSTS[asker.api]
    name = "usageMetadata" if asker is GENERATE else "usage"
    kept = entry.reply_body[name]
    assert {key: kept[key] for key in CACHED[asker.api]} == CACHED[asker.api]


def test_tokens_that_nobody_counted_are_unknown(
    speaker: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stream of chat completions that did not ask for its usage has an unknown cost, not none."""
    say(monkeypatch, "openai.chat", [("text", "Hello there.")], model="gpt-4o-mini")
    with wb.recording() as recorded, CHAT.behind(speaker.url) as made:
        list(CHAT.send(made, "gpt-4o-mini", CHAT.user("hello"), stream=True))
    assert recorded.trace.entries[0].usage is None
    assert recorded.trace.cost is None
    assert recorded.result.spent is None
    assert str(total(recorded.trace)) == "unknown"


def test_an_unknown_model_is_not_free(
    charging: tuple[Asker, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cost is unknown, and the sum with a known one says that it is at least that much."""
    asker, proxy = charging
    with wb.recording() as recorded:
        ask(asker, proxy, "hello")
        say(monkeypatch, asker.api, [("text", "Hi.")], model="new-x", usage=CACHED[asker.api])
        ask(asker, proxy, "hello", model="new-x")
    known, unknown = recorded.trace.entries
    assert (cost_of(known), cost_of(unknown)) == (COSTS[asker.api], None)
    assert recorded.trace.cost is None
    assert recorded.result.spent is None
    found = total(recorded.trace)
    assert (found.amount, found.complete) == (COSTS[asker.api], False)
    assert str(found) == f"at least {money(COSTS[asker.api])}"


def test_a_tools_model_and_a_retry_are_billed_once(
    charging: tuple[Asker, str], speaker: Server
) -> None:
    """A call inside a tool and one that the SDK had to try twice: one billed entry for each answer
    of the provider, and none for the tool around it."""
    asker, proxy = charging

    @wb.tool(effect="read")
    def look(word: str) -> str:
        return ask(asker, proxy, word)[0]

    with wb.recording() as recorded:
        look("inside")
        ask(asker, proxy, "outside")
    assert [entry.kind for entry in recorded.trace.entries] == ["tool", "model", "model"]
    assert len(billed(recorded.trace)) == len(speaker.seen) == 2
    assert recorded.trace.cost == 2 * COSTS[asker.api]
    spent, saved = spent_and_saved(recorded.trace)
    assert (spent.exact, saved.exact) == (2 * COSTS[asker.api], NOTHING)


@pytest.mark.parametrize("asker", [CHAT, RESPONSES, MESSAGES], ids=str)
def test_a_framework_around_an_sdk_is_not_billed_too(
    charging: tuple[Asker, str], speaker: Server
) -> None:
    """With the hooks of the framework and of the SDK in place, an agent's call is one entry, of the
    wire's own API, at one price."""
    asker, proxy = charging
    ask_it = _pydantic_ai(asker, proxy) if asker is MESSAGES else _langchain(asker, proxy)
    with wb.recording() as recorded:
        assert "Hello there." in ask_it()
    (entry,) = recorded.trace.entries
    assert (entry.kind, entry.api) == ("model", asker.api)
    assert len(billed(recorded.trace)) == len(speaker.seen) == 1
    assert recorded.trace.cost == recorded.result.spent == COSTS[asker.api]


def _langchain(asker: Asker, proxy: str) -> Callable[[], str]:
    """Asks by a chat model of LangChain's on a client of OpenAI's."""
    found = pytest.importorskip("langchain_openai")

    def ask_it() -> str:
        with asker.behind(proxy) as made:
            model = found.ChatOpenAI(
                model=MODELS[asker.api],
                api_key="k",
                root_client=made,
                client=made.chat.completions,
                use_responses_api=asker is RESPONSES,
            )
            return str(model.invoke("hello").content)

    return ask_it


def _pydantic_ai(asker: Asker, proxy: str) -> Callable[[], str]:
    """Asks by an agent of pydantic-ai's on a client of Anthropic's."""
    found = pytest.importorskip("pydantic_ai")
    models = pytest.importorskip("pydantic_ai.models.anthropic")
    providers = pytest.importorskip("pydantic_ai.providers.anthropic")

    async def whole() -> str:
        http = anthropic.DefaultAsyncHttpxClient(verify=False, proxy=proxy)
        address = "http://api.anthropic.com"
        async with anthropic.AsyncAnthropic(
            api_key="k", base_url=address, http_client=http
        ) as made:
            provider = providers.AnthropicProvider(anthropic_client=made)
            agent = found.Agent(models.AnthropicModel(MODELS[asker.api], provider=provider))
            return str((await agent.run("hello")).output)

    return lambda: asyncio.run(whole())
