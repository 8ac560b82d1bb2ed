"""One trace on the workbench: the trace, what was found in it, and what the page asked of it."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.trace.findings import Finding, again, headline
from workbench.trace.prices import Total, billed, money, total
from workbench.trace.trace import Entry, Trace, Turn
from workbench.ui.clips import Clipper, label, pretty
from workbench.ui.rows import row
from workbench.ui.turn_view import ran_again, turn_view

if TYPE_CHECKING:
    from workbench.seam.result import RunResult

KEPT_TEXTS = 24
"""Long texts kept for the page's "show more"."""

SHOWN_FINDINGS = 50
"""Findings that the page is told of."""

_STATUS_TONES = {"ok": "ok", "cancelled": "warn", "blocked": "warn", "cut short": "warn"}


class Sheet:
    """A trace as the workbench keeps it. ``study()`` reads all of it; before, little is known."""

    def __init__(
        self,
        trace: Trace,
        *,
        name: str,
        result: RunResult | None = None,
        parent: int | None = None,
    ) -> None:
        self.trace = trace
        self.name = name
        self.result = result
        self.parent = parent
        self.path = Path(trace.path) if trace.path else None
        self.findings: list[Finding] = []
        self.again: set[str] = set()
        self.studied = False
        self.divergence: dict[str, Any] | None = None
        self._long: dict[str, str] = {}
        self._facts: dict[str, Any] = {}
        self.costs: dict[str, Total] = {}

    def study(self) -> None:
        """Find what is wrong and what it cost. May take seconds for a very long trace."""
        trace = self.trace
        found = list(trace.findings)
        repeated = again(trace)
        costs = _costs(trace)
        facts = {
            "headline": label(headline(trace, found)),
            "cost": str(sum(costs.values(), Total())),
            "model": _models(trace),
            "tools_called": dict(Counter(str(entry.name) for entry in trace.tools())),
        }
        if len(costs) > 1:
            costs["all"] = sum(costs.values(), Total())
        self.findings, self.again, self._facts, self.costs = found, repeated, facts, costs
        self.studied = True

    def info(self) -> dict[str, Any]:
        """The protocol's trace object."""
        trace, facts = self.trace, self._facts
        return {
            "name": label(self.name, 60),
            "status": trace.status,
            "headline": facts.get("headline", trace.status),
            "tone": self._tone(),
            "n_turns": len(trace.turns),
            "duration_s": trace.elapsed_s,
            "cost": facts.get("cost", ""),
            "model": facts.get("model", ""),
            "path": str(self.path) if self.path else None,
            "saved": self.path is not None,
            "findings": [
                {"turn": each.turn, "severity": each.severity, "text": label(each.text)}
                for each in self.findings[:SHOWN_FINDINGS]
            ],
            "cut": self._cut(),
            "edited_turns": self._edited_turns(),
            "divergence": self.divergence,
            "output": _output(trace),
            "tools_called": facts.get("tools_called", {}),
            "parent": self.parent,
            "spent": cost_text(self.result.spent) if self.result else "$0",
        }

    def rows(self, start: int, stop: int) -> list[dict[str, Any]]:
        """The protocol's rows of the turns from ``start`` to before ``stop``, from 1."""
        turns = self.trace.turns
        stop = min(stop, len(turns) + 1)
        return [row(turns[number - 1], self.again) for number in range(max(1, start), stop)]

    def turn(self, number: int, *, everything: bool = False) -> dict[str, Any]:
        """The protocol's turn.

        Raises:
            PlaceError: the trace has no such turn.
        """
        turn = self.trace.turn(number)
        clip = Clipper(f"turn/{number}")
        found = [each.text for each in self.findings if each.turn == number]
        out = turn_view(
            self.trace, turn, clip, again=self.again, findings=found, everything=everything
        )
        self._keep(clip)
        return out

    def raw(self, number: int) -> dict[str, Any]:
        """A turn's request and reply as they were on the wire."""
        turn = self.trace.turn(number)
        clip = Clipper(f"raw/{number}")
        out = {
            "request": clip("request", pretty(turn.model.request)),
            "reply": clip("reply", _raw_reply(turn)),
            "chunks": len(turn.model.chunks),
        }
        self._keep(clip)
        return out

    def text(self, ref: str) -> str:
        """The whole of a text that was clipped; "" when the trace has no such text."""
        if ref not in self._long:
            kind, _, rest = ref.partition("/")
            number = rest.partition("/")[0]
            if number.isdecimal():
                _ = (
                    self.raw(int(number))
                    if kind == "raw"
                    else self.turn(int(number), everything=True)
                )
        return self._long.get(ref, "")

    def _keep(self, clip: Clipper) -> None:
        self._long.update(clip.long)
        for ref in list(self._long)[: max(0, len(self._long) - KEPT_TEXTS - len(clip.long))]:
            del self._long[ref]

    def _tone(self) -> str:
        tone = _STATUS_TONES.get(self.trace.status, "bad")
        worst = {each.severity for each in self.findings}
        if tone == "ok" and worst & {"error", "warning"}:
            return "bad" if "error" in worst else "warn"
        return tone

    def _cut(self) -> int | None:
        """The first turn of a fork that did not come from its parent."""
        if self.trace.header.parent is None:
            return None
        turns = (
            turn.number
            for turn in self.trace.turns
            if any(entry.source != "replayed" and not ran_again(entry) for entry in turn.entries)
        )
        return next(turns, None)

    def _edited_turns(self) -> list[int]:
        if self.trace.header.parent is None:
            return []
        changed = {"edited", "fault"}
        return [
            turn.number
            for turn in self.trace.turns
            if any(entry.source in changed for entry in (turn.model, *turn.tools))
        ]


def cost_text(amount: Any) -> str:
    """An amount or a sum of amounts as the page writes it."""
    return money(amount) if amount is None or isinstance(amount, Decimal) else str(amount)


def _costs(trace: Trace) -> dict[str, Total]:
    calls: dict[str, list[Entry]] = {}
    for entry in billed(trace):
        calls.setdefault(entry.model or "unknown", []).append(entry)
    return {model: total(entries) for model, entries in calls.items()}


def _models(trace: Trace) -> str:
    names = dict.fromkeys(entry.model for entry in trace.models() if entry.model)
    return label(", ".join(names), 60)


def _output(trace: Trace) -> str | None:
    if trace.end is None or trace.end.output is None:
        error = trace.error
        return label(f"{error.type}: {error.message}") if error else None
    return label(pretty(trace.end.output))


def _raw_reply(turn: Turn) -> str:
    model = turn.model
    if model.response is not None:
        return pretty(model.response)
    if model.error is not None:
        return pretty(model.error.model_dump(exclude_unset=True))
    return pretty(model.reply_body) if model.reply_body is not None else ""
