"""A turn as the page shows it: the JSON of the protocol, texts clipped."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from typing import Any

from workbench.errors import TraceError, UnknownApiError
from workbench.trace.entries import ErrorInfo
from workbench.trace.payloads import Reply, ToolCall, ToolSpec, view
from workbench.trace.prices import cost_of, money
from workbench.trace.trace import Entry, Trace, Turn
from workbench.ui.clips import Clipper, fits_javascript, label, pretty
from workbench.ui.saw import call_view, saw_view


def turn_view(
    trace: Trace,
    turn: Turn,
    clip: Clipper,
    *,
    again: set[str],
    findings: Iterable[str] = (),
    everything: bool = False,
) -> dict[str, Any]:
    """The protocol's turn.

    Args:
        trace: the trace that the turn belongs to.
        turn: the turn.
        clip: clips the texts and keeps the whole of those that it clipped.
        again: ids of the tool entries that repeat an earlier call.
        findings: what is wrong with this turn, a sentence each.
        everything: list the messages that have not changed too.

    What damage in the file made unreadable is left out, and named among the findings.
    """
    problems: list[str] = []
    out = _head(turn)
    out |= _part(
        lambda: saw_view(turn, trace, clip, everything=everything), _NOTHING_SEEN, problems
    )
    out |= _part(lambda: _said(turn, clip, again), _NOTHING_SAID, problems)
    out |= _part(lambda: _asked(turn, clip), _NOTHING_ASKED, problems)
    out["findings"] = [*findings, *dict.fromkeys(problems)]
    return out


_NOTHING_SEEN: dict[str, Any] = {
    "saw": {"total": 0, "shared": 0, "shared_with": None, "tokens": None, "messages": []},
    "folded": 0,
}
_NOTHING_SAID: dict[str, Any] = {
    "said": {"text": None, "reasoning": None, "refusal": None, "calls": []},
    "finish_reason": None,
}
_NOTHING_ASKED: dict[str, Any] = {"parameters": {}, "system": None, "tools": []}


def _part(make: Any, empty: dict[str, Any], problems: list[str]) -> dict[str, Any]:
    try:
        part: dict[str, Any] = make()
    except (TraceError, UnknownApiError) as error:
        problems.append(label(str(error), 400))
        return empty
    return part


def _head(turn: Turn) -> dict[str, Any]:
    model = turn.model
    return {
        "n": turn.number,
        "step": turn.step or "",
        "model": model.model,
        "duration_s": turn.duration_s,
        "first_s": model.first_s,
        "cost": money(cost_of(model)),
        "usage": dict(turn.usage) if turn.usage else None,
        "source": source_of(model),
        "origin": model.origin,
        "reason": model.reason,
        "started": _when(model.at),
        "where": model.where,
        "error": error_text(model.error),
        "fault": _fault(model),
        "open": model.open,
    }


def source_of(entry: Entry) -> str:
    """``recorded`` for what a plain recording made live, else where the outcome came from."""
    if entry.source in (None, "live"):
        return "live" if entry.trace.header.parent else "recorded"
    return str(entry.source)


def ran_again(entry: Entry) -> bool:
    """Whether a recorded tool call was only run once more in a fresh world, before the cut."""
    return entry.reason in ("verify", "rerun")


def error_text(error: ErrorInfo | None) -> str | None:
    """An error in one line."""
    if error is None:
        return None
    status = f" {error.status}" if error.status else ""
    return label(f"{error.type}{status}: {error.message}", 2_000)


def _fault(entry: Entry) -> str | None:
    if entry.fault is None:
        return None
    return str(entry.fault.get("type", "fault")).replace("_", " ")


def _when(at: datetime | None) -> str | None:
    return at.isoformat() if at is not None else None


def _said(turn: Turn, clip: Clipper, again: set[str]) -> dict[str, Any]:
    reply = turn.reply
    if reply is None:
        reply = Reply()
    specs = {spec.name: spec for spec in _specs(turn)}
    entries = match_calls(reply.tool_calls, turn.tools)
    calls = [
        _call(
            call,
            entry,
            specs.get(call.name),
            partial(clip, f"said.{place}.result"),
            again=entry is not None and entry.id in again,
        )
        for place, (call, entry) in enumerate(entries)
    ]
    return {
        "said": {
            "text": clip("said.text", reply.text) if reply.text else None,
            "reasoning": clip("said.reasoning", reply.reasoning) if reply.reasoning else None,
            "refusal": clip("said.refusal", reply.refusal) if reply.refusal else None,
            "calls": calls,
        },
        "finish_reason": reply.finish_reason,
    }


def match_calls(
    calls: Iterable[ToolCall], entries: Iterable[Entry]
) -> list[tuple[ToolCall, Entry | None]]:
    """Each call of a reply with the tool entry that carried it out, in the reply's order.

    Equal name and arguments come first, then the order among calls of one tool; entries that no
    call asked for follow, as calls of their own.
    """
    left = list(entries)
    wanted = list(calls)
    found: dict[int, Entry] = {}
    for exact in (True, False):
        for place, call in enumerate(wanted):
            if place in found:
                continue
            fits = (e for e in left if e.name == call.name)
            hit = next((e for e in fits if not exact or _arguments(e) == call.arguments), None)
            if hit is not None:
                found[place] = hit
                left.remove(hit)
    out = [(call, found.get(place)) for place, call in enumerate(wanted)]
    return out + [(_unasked(entry), entry) for entry in left]


def _unasked(entry: Entry) -> ToolCall:
    arguments = _arguments(entry)
    return ToolCall(None, entry.name or "", arguments, pretty(arguments))


def _arguments(entry: Entry) -> Any:
    """A tool's arguments as stored, which is JSON: tagged values stay tagged."""
    request = None if entry.hash_only else entry.request
    return request.get("arguments") if isinstance(request, dict) else None


def _call(
    call: ToolCall,
    entry: Entry | None,
    spec: ToolSpec | None,
    clip: Callable[[str], dict[str, Any]],
    *,
    again: bool,
) -> dict[str, Any]:
    out = call_view(call)
    if not fits_javascript(out["arguments"]):
        out["arguments"] = None
    out |= {
        "effect": entry.effect if entry else None,
        "schema": dict(spec.parameters) if spec else None,
        "entry": entry.id if entry else None,
        "result": None,
        "result_error": error_text(entry.error) if entry else None,
        "duration_s": entry.duration_s if entry else None,
        "source": source_of(entry) if entry else None,
        "again": again,
        "key": entry.key if entry else None,
    }
    if entry is not None and not entry.open and entry.error is None:
        out["result"] = clip(pretty(entry.response))
    return out


def _specs(turn: Turn) -> list[ToolSpec]:
    api = turn.model.api
    return view(api).tools(turn.model.body) if api and not turn.model.hash_only else []


def _asked(turn: Turn, clip: Clipper) -> dict[str, Any]:
    api = turn.model.api
    if not api:
        return _NOTHING_ASKED
    system = "\n\n".join(m.text for m in turn.messages if m.role in ("system", "developer"))
    parameters = view(api).parameters(turn.model.body)
    return {
        "parameters": parameters if fits_javascript(parameters) else {},
        "system": clip("system", system) if system else None,
        "tools": [
            {"name": s.name, "description": s.description, "schema": dict(s.parameters)}
            for s in _specs(turn)
        ],
    }
