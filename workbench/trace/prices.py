"""What calls cost, in US dollars, computed when a trace is read and never while recording.

Prices come from the ``genai-prices`` package (extra ``analysis``), which carries each provider's
published prices by date and works offline. The rules:

- A cost that is not known is None, never 0: an unknown model or provider, tokens that were not
  recorded, a call that was still open. A sum over such calls is a lower bound (:class:`Total`).
- Recorded ``input_tokens`` hold the cached ones and ``output_tokens`` the reasoning, whatever a
  provider's own convention is; the payload views see to that.
- The offline model (provider ``local``) is known to be free. So is a call that a provider refused
  with an HTTP error, and one that a fault or an edit answered before it was sent.
- A reply served from a trace costs nothing now; what it cost when it was made stays known.
  :func:`spent_and_saved` keeps the two apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workbench.errors import TraceError
from workbench.trace.entry import Entry
from workbench.trace.turns import Turn

if TYPE_CHECKING:
    from workbench.trace.trace import Trace

FREE_PROVIDERS = frozenset({"local"})
"""Providers that charge nothing: the offline model runs on this machine."""

FREE_MODELS = frozenset({"smollm2-135m"})
"""Models known to be free whoever serves them under that name."""

_FREE_APIS = frozenset({"anthropic.count_tokens", "google.count_tokens"})
"""What no provider charges for."""
_HTTP_ERROR = 400
_ZERO = Decimal(0)
_TOKENS = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_tokens",
    "cache_write_tokens": "cache_write_tokens",
    "reasoning_tokens": "output_reasoning_tokens",
}
"""Our names of token counts, and the price list's."""


@dataclass(frozen=True, slots=True)
class Total:
    """A sum of costs that may lack parts."""

    amount: Decimal = _ZERO
    """US dollars: the sum of the known parts."""
    complete: bool = True
    """Whether every part was known. If not, the true sum is at least ``amount``."""

    @property
    def exact(self) -> Decimal | None:
        """The sum, or None when a part of it is unknown."""
        return self.amount if self.complete else None

    def __add__(self, other: Total) -> Total:
        return Total(self.amount + other.amount, self.complete and other.complete)

    def __str__(self) -> str:
        if not self.complete and not self.amount:
            return "unknown"
        return money(self.amount) if self.complete else f"at least {money(self.amount)}"


def money(amount: Decimal | None) -> str:
    """An amount of US dollars for people: ``$0.0004``, ``$12.30``, ``unknown``."""
    if amount is None:
        return "unknown"
    if not amount:
        return "$0"
    if abs(amount) >= 1:
        return f"${amount:,.2f}"
    # Two significant digits, as calls cost fractions of a cent and "$0.00" would say nothing.
    places = max(2, 1 - amount.adjusted())
    text = f"{amount:.{places}f}"
    return f"${text.rstrip('0') if places > 2 else text}"


def price_version() -> str | None:
    """The price list in use, such as ``genai-prices 0.2.3``; None when none is installed."""
    prices = _genai_prices()
    if prices is None:
        return None
    name = f"genai-prices {prices.__version__}"
    snapshot = _snapshot(prices)
    return f"{name}, updated {snapshot.timestamp.date()}" if snapshot.from_auto_update else name


def price_note() -> str:
    """One sentence on where prices come from, or on what is missing to have any."""
    version = price_version()
    if version is None:
        return (
            "costs are unknown, because genai-prices is not installed: "
            'pip install "trace-workbench[analysis]"'
        )
    return f"prices in US dollars by {version}"


def price(
    usage: Mapping[str, Any] | None,
    *,
    provider: str | None,
    model: str | None,
    at: datetime | None = None,
) -> Decimal | None:
    """The price of one call in US dollars, or None when it is not known.

    Args:
        usage: token counts by the names that a trace's result line has. ``input_tokens`` include
            the cached ones. A count of cached or reasoning tokens that is absent counts as none;
            without ``input_tokens`` or ``output_tokens`` there is no price.
        provider: who answered, such as ``openai``. Never guessed from the model's name.
        model: the model that answered, dated or not.
        at: when, since prices change; without it the price of today.
    """
    if provider in FREE_PROVIDERS or model in FREE_MODELS:
        return _ZERO
    if usage is None or provider is None or model is None:
        return None
    counts = tuple((theirs, usage.get(ours)) for ours, theirs in _TOKENS.items())
    if any(value is None for _, value in counts[:2]):
        return None
    if any(value is not None and type(value) is not int for _, value in counts):
        return None  # not a count; a damaged or foreign file can hold anything
    prices = _genai_prices()
    if prices is None:
        return None
    return _look_up(counts, provider, model, at, price_version())


def cost_of(what: Entry | Turn | Trace) -> Decimal | None:
    """What an entry, a turn or a whole trace cost when it was made, in US dollars.

    A turn's cost is that of all attempts of its model call. None means unknown: also for a trace
    of which a single call's cost is unknown (see :func:`total` for the sum of the known ones),
    and for tools, whose prices nobody records.
    """
    if isinstance(what, Entry):
        return _entry_cost(what)
    if isinstance(what, Turn):
        return _sum(_entry_cost(attempt) for attempt in what.attempts).exact
    return total(what).exact


def total(what: Trace | Iterable[Entry]) -> Total:
    """What the model calls of a trace, or among some entries, cost when they were made."""
    return _sum(_entry_cost(entry) for entry in billed(what))


def spent_and_saved(what: Trace | Iterable[Entry]) -> tuple[Total, Total]:
    """What the live calls cost, and what the calls served from a trace would have cost.

    Only calls that were really made count as spent. A call that was served from a recording,
    with or without an edit, counts as saved, at the price of the recorded call.
    """
    spent, saved = Total(), Total()
    for entry in billed(what):
        part = _sum([_entry_cost(entry)])
        if entry.source in ("live", None):
            spent += part
        elif entry.source in ("replayed", "edited"):
            saved += part
    return spent, saved


def billed(what: Trace | Iterable[Entry]) -> list[Entry]:
    """The model calls that a provider bills: one for each call over the wire.

    Where one model call encloses another (a framework's call around the SDK's), only the inner
    one went over the wire.
    """
    found: Iterable[Entry] = what if isinstance(what, Iterable) else what.entries
    entries = [each for each in found if each.kind == "model"]
    ids = {each.id for each in entries}
    outer = {each.enclosing for each in entries if each.enclosing in ids}
    return [each for each in entries if each.id not in outer]


def _entry_cost(entry: Entry) -> Decimal | None:
    if entry.kind != "model":
        return None
    if entry.cost_usd is not None:
        return Decimal(str(entry.cost_usd))
    try:
        usage = entry.usage
    except TraceError:
        return None  # the file is damaged there
    if usage is None and not entry.open and _never_charged(entry):
        return _ZERO
    return price(
        usage, provider=entry.provider, model=entry.reply_model or entry.model, at=entry.at
    )


def _never_charged(entry: Entry) -> bool:
    if entry.api in _FREE_APIS:
        return True
    if entry.fault is not None or entry.source in ("fault", "simulated", "hand"):
        return True
    return entry.error is not None and (entry.error.status or 0) >= _HTTP_ERROR


def _sum(costs: Iterable[Decimal | None]) -> Total:
    amount, complete = _ZERO, True
    for cost in costs:
        if cost is None:
            complete = False
        else:
            amount += cost
    return Total(amount, complete)


def _genai_prices() -> ModuleType | None:
    try:
        import genai_prices
    except ImportError:
        return None
    return genai_prices


def _snapshot(prices: ModuleType) -> Any:
    return prices.data_snapshot.get_snapshot()


@lru_cache(maxsize=32_768)
def _look_up(
    counts: tuple[tuple[str, int | None], ...],
    provider: str,
    model: str,
    at: datetime | None,
    version: str | None,  # noqa: ARG001 - part of the cache's key: a new price list, a new price
) -> Decimal | None:
    prices = _genai_prices()
    if prices is None:
        return None
    # A cached or reasoning count of 0 says no more than an absent one, and the price list wants
    # no detail that a model has no price for.
    known = dict(counts[:2]) | {n: v for n, v in counts[2:] if v}
    try:
        found = prices.calc_price(
            prices.Usage(**known), model, provider_id=provider, genai_request_timestamp=at
        )
    except (LookupError, ValueError, TypeError):
        # No such model or provider, or counts that contradict each other: unknown, not 0.
        return None
    return Decimal(found.total_price)
