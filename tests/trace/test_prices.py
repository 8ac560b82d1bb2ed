"""What calls cost: each provider's own rule, never a guess, replayed calls not spent."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import genai_prices
import pytest
from runmaker import RunMaker, refund

from workbench.trace import prices
from workbench.trace.entries import ErrorInfo, ResultLine
from workbench.trace.payloads import view
from workbench.trace.prices import Total, cost_of, money, price, spent_and_saved, total

AT = datetime(2026, 1, 5, 10, tzinfo=UTC)
USAGE: dict[str, int | None] = {"input_tokens": 100, "output_tokens": 10}


def test_cached_tokens_of_openai_are_part_of_the_input() -> None:
    """80 of 100 input tokens from the cache cost half, and are not counted a second time."""
    found = price({**USAGE, "cache_read_tokens": 80}, provider="openai", model="gpt-4o-mini", at=AT)
    # $0.15, $0.075 cached and $0.60 out for a million tokens.
    assert found == Decimal("0.000003") + Decimal("0.000006") + Decimal("0.000006")


@pytest.mark.parametrize(
    ("provider", "flavor", "model", "raw", "ours"),
    [
        (
            "openai", "chat", "gpt-4o-2024-08-06",
            {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
             "prompt_tokens_details": {"cached_tokens": 80},
             "completion_tokens_details": {"reasoning_tokens": 4}},
            {"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 80,
             "reasoning_tokens": 4},
        ),
        (
            "anthropic", "default", "claude-3-5-sonnet-20241022",
            {"input_tokens": 20, "cache_read_input_tokens": 80, "output_tokens": 10},
            {"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 80},
        ),
        (
            "anthropic", "default", "claude-3-5-sonnet-20241022",
            {"input_tokens": 20, "cache_read_input_tokens": 0, "output_tokens": 10,
             "cache_creation_input_tokens": 80},
            {"input_tokens": 100, "output_tokens": 10, "cache_read_tokens": 0,
             "cache_write_tokens": 80},
        ),
    ],
)  # fmt: skip
def test_a_price_is_the_price_list_s_own(
    provider: str, flavor: str, model: str, raw: dict[str, Any], ours: dict[str, int]
) -> None:
    """Cached tokens lie inside OpenAI's input count and outside Anthropic's."""
    theirs = genai_prices.extract_usage(
        {"model": model, "usage": raw}, provider_id=provider, api_flavor=flavor
    ).calc_price(genai_request_timestamp=AT)
    assert price(ours, provider=provider, model=model, at=AT) == theirs.total_price
    assert theirs.total_price > 0


def test_the_view_s_counts_give_the_same_price() -> None:
    """From the response on the wire to the price, no cached token is lost or counted twice."""
    body = {
        "model": "gpt-4o-mini",
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 80},
        },
    }
    usage = view("openai.chat").usage(body)
    assert usage is not None
    counts = {name: getattr(usage, name) for name in prices._TOKENS}
    theirs = genai_prices.extract_usage(body, provider_id="openai", api_flavor="chat")
    expected = theirs.calc_price(genai_request_timestamp=AT).total_price
    assert price(counts, provider="openai", model="gpt-4o-mini", at=AT) == expected


@pytest.mark.parametrize(
    ("usage", "provider", "model"),
    [
        (USAGE, "openai", "new-x"),
        (USAGE, "no-such-provider", "gpt-4o-mini"),
        (USAGE, None, "gpt-4o-mini"),
        (USAGE, "openai", None),
        (None, "openai", "gpt-4o-mini"),
        ({"input_tokens": 100}, "openai", "gpt-4o-mini"),
        ({"output_tokens": 10}, "openai", "gpt-4o-mini"),
        ({"input_tokens": 20, "output_tokens": 1, "cache_read_tokens": 80}, "openai", "gpt-4o"),
        ({"input_tokens": -1, "output_tokens": 1}, "openai", "gpt-4o-mini"),
        ({"input_tokens": "many", "output_tokens": 1}, "openai", "gpt-4o-mini"),
        ({"input_tokens": 9, "output_tokens": 1, "cache_read_tokens": []}, "openai", "gpt-4o-mini"),
    ],
)
def test_what_is_not_known_has_no_price(
    usage: dict[str, Any] | None, provider: str | None, model: str | None
) -> None:
    """A new model, absent counts and counts that contradict each other never cost 0."""
    assert price(usage, provider=provider, model=model, at=AT) is None


def test_the_offline_model_is_free() -> None:
    """A local run shows $0, which is known, and not `unknown`."""
    assert price(None, provider="local", model="smollm2-135m") == 0
    assert price(USAGE, provider="openai", model="smollm2-135m") == 0
    trace = RunMaker().turn("Hello.", provider="local", model="smollm2-135m", usage=USAGE).end()
    assert cost_of(trace) == 0
    assert str(total(trace)) == "$0"


def test_without_the_price_list_costs_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The core works without the extra: costs are unknown, the reason is told, nothing raises."""
    monkeypatch.setattr(prices, "_genai_prices", lambda: None)
    assert price(USAGE, provider="openai", model="gpt-4o-mini", at=AT) is None
    assert price(USAGE, provider="local", model="smollm2-135m") == 0
    assert prices.price_version() is None
    assert 'pip install "trace-workbench[analysis]"' in prices.price_note()


def test_the_price_list_is_named() -> None:
    """A sum can be checked later: which price list gave it is part of the answer."""
    assert prices.price_note() == (
        f"prices in US dollars by genai-prices {genai_prices.__version__}"
    )


def test_a_sum_with_unknown_parts_says_at_least() -> None:
    """An unknown model does not make a run look cheap."""
    run = RunMaker().turn("One.", usage=USAGE).turn("Two.", usage=USAGE, model="new-x")
    trace = run.end()
    known = cost_of(trace.turns[0])
    assert known == Decimal("0.000021")
    assert cost_of(trace.turns[1]) is None
    assert cost_of(trace) is None
    assert total(trace) == Total(Decimal("0.000021"), complete=False)
    assert str(total(trace)) == "at least $0.000021"


def test_replayed_calls_are_saved_and_not_spent() -> None:
    """Ten replayed calls cost nothing now; what the recording cost stays known beside it."""
    run = RunMaker()
    for _ in range(10):
        run.turn("Again.", refund(), usage=USAGE, source="replayed", origin="1-1")
    run.turn("Other.", usage=USAGE, source="edited").turn("Live.", usage=USAGE)
    spent, saved = spent_and_saved(run.end())
    assert spent == Total(Decimal("0.000021"))
    assert saved == Total(Decimal("0.000021") * 11)


def test_a_refused_call_is_free_and_a_broken_one_unknown() -> None:
    """A 429 is not billed; nobody knows what a call cost whose answer never came."""
    refused = ErrorInfo(type="RateLimitError", status=429)
    lost = ErrorInfo(type="APIConnectionError", message="Connection error.")
    fault = {"type": "http_error", "status_code": 503}
    run = (
        RunMaker()
        .turn(error=refused)
        .turn(error=lost)
        .turn(error=lost, source="fault", fault=fault)
    )
    trace = run.turn(hanging=True).cut()
    costs = [cost_of(entry) for entry in trace.models()]
    assert costs == [Decimal(0), None, Decimal(0), None]


def test_a_call_around_another_is_not_billed_twice() -> None:
    """Where a framework's call and the SDK's inside it are both recorded, the wire call counts."""
    run = RunMaker()
    outer = run.ask()
    trace = run.turn("Inner.", usage=USAGE, enclosing=outer).cut()
    assert [each.enclosing for each in trace.models()] == [None, outer]
    assert total(trace) == Total(Decimal("0.000021"))


def test_the_model_that_answered_sets_the_price() -> None:
    """An alias that was asked for is priced as the dated model that answered."""
    alias = RunMaker().turn("Hi.", usage=USAGE, model="my-alias").end()
    assert cost_of(alias) is None
    run = RunMaker()
    run.journal.append(
        ResultLine(
            of=run.ask("my-alias"), provider="openai", model="gpt-4o-mini-2024-07-18", usage=USAGE
        )
    )
    assert cost_of(run.end()) == Decimal("0.000021")


def test_all_attempts_of_a_turn_are_counted() -> None:
    """A try that broke off may have been billed, so the turn's cost is not known."""
    lost = ErrorInfo(type="APIConnectionError")
    trace = RunMaker().turn(error=lost).turn("Hi.", usage=USAGE, attempt=2).end()
    assert len(trace.turns) == 1
    assert cost_of(trace.turns[0]) is None
    assert total(trace) == Total(Decimal("0.000021"), complete=False)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (None, "unknown"),
        ("0", "$0"),
        ("0.000021", "$0.000021"),
        ("0.0004", "$0.0004"),
        ("0.25", "$0.25"),
        ("12.3", "$12.30"),
        ("1234.5", "$1,234.50"),
    ],
)
def test_money_for_people(amount: str | None, text: str) -> None:
    """Fractions of a cent stay visible."""
    assert money(None if amount is None else Decimal(amount)) == text
