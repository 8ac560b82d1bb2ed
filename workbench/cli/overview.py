"""A whole trace in lines: how it ended, what is wrong, and its turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.cli.agents import agent_words
from workbench.cli.words import cost, count, error_data, seconds, stored_output, table, usd
from workbench.trace.findings import headline
from workbench.trace.labels import clip
from workbench.trace.prices import total
from workbench.trace.summary import marks_of

if TYPE_CHECKING:
    from workbench.trace.trace import Entry, Trace

_NOTICES = 10
_FINDINGS = 10


def lines(trace: Trace) -> list[str]:
    """The trace for people."""
    out = [*_head(trace), ""]
    found = trace.findings
    if found:
        out += [f"  {each.severity:<8}{_where(each.turn)}{each.text}" for each in found[:_FINDINGS]]
        if len(found) > _FINDINGS:
            out.append(f"  … and {count(len(found) - _FINDINGS, 'more finding')}")
        out.append("")
    out += _open_lines(trace)
    out += [f"  {gap}" for gap in trace.gaps]
    out += [f"  damaged: {notice}" for notice in trace.notices[:_NOTICES]]
    if len(trace.notices) > _NOTICES:
        out.append(f"  … and {count(len(trace.notices) - _NOTICES, 'more notice')}")
    return [*out, *_turns(trace)]


def data(trace: Trace) -> dict[str, Any]:
    """The trace for JSON."""
    header, parent = trace.header, trace.parent
    return {
        "path": str(trace.path),
        "id": trace.id,
        "name": trace.name,
        "tags": list(header.tags),
        "status": trace.status,
        "headline": headline(trace, trace.findings),
        "agent": None if header.agent is None else header.agent.model_dump(exclude_none=True),
        "started_at": None if trace.started_at is None else trace.started_at.isoformat(),
        "duration_s": trace.elapsed_s,
        "cost_usd": usd(total(trace)),
        "usage": trace.usage,
        "entries": len(trace.entries),
        "output": stored_output(trace),
        "error": error_data(trace),
        "parent": None if parent is None else parent.model_dump(exclude_none=True),
        "findings": [
            {
                "kind": each.kind, "severity": each.severity, "turn": each.turn,
                "entry": each.entry, "text": each.text,
            }
            for each in trace.findings
        ],
        "open": [entry.id for entry in open_entries(trace)],
        "notices": [{"line": each.line, "message": each.message} for each in trace.notices],
        "turns": trace.rows(),
    }  # fmt: skip


def open_entries(trace: Trace) -> list[Entry]:
    """Calls without a result: the process died in the middle of them."""
    return [entry for entry in trace.entries if entry.open]


def _head(trace: Trace) -> list[str]:
    out = [f"{trace.name or trace.id} · {headline(trace, trace.findings)}"]
    turns = len(trace.turns)
    facts = [count(turns, "turn"), count(len(trace.tools()), "tool call")]
    if trace.elapsed_s is not None:
        facts.append(seconds(trace.elapsed_s))
    if turns:
        facts.append(cost(total(trace)))
    out.append("  " + " · ".join(facts))
    agent = trace.header.agent
    if agent is not None and agent.target:
        out.append(f"  recorded from {agent_words(agent)}")
    if trace.started_at is not None:
        out.append(f"  at {trace.started_at:%Y-%m-%d %H:%M:%S} UTC")
    if trace.header.tags:
        out.append(f"  tags {', '.join(trace.header.tags)}")
    if trace.parent is not None:
        cut = f", live from {trace.parent.cut}" if trace.parent.cut else ""
        edits = len(trace.parent.edits)
        edited = f", {count(edits, 'edit')}" if edits else ""
        out.append(f"  a fork of {trace.parent.name or trace.parent.id}{edited}{cut}")
    if trace.status == "cut short":
        out.append("  cut short: the recording has no end, so its process died")
    if trace.error is not None:
        out.append(f"  {trace.error.type}: {clip(trace.error.message, 300)}")
    return out


def _where(turn: int | None) -> str:
    return "" if turn is None else f"turn {turn}: "


def _open_lines(trace: Trace) -> list[str]:
    found = open_entries(trace)
    if not found:
        return []
    out = [f"  {count(len(found), 'call')} open, without a result:"]
    for entry in found[:_NOTICES]:
        at = f" at {entry.where}" if entry.where else ""
        out.append(f"    {entry.id} {entry.kind} {entry.name or entry.model or ''}{at}")
    if len(found) > _NOTICES:
        out.append(f"    … and {len(found) - _NOTICES:,} more")
    return [*out, ""]


def _turns(trace: Trace) -> list[str]:
    rows = [
        (
            str(row["number"]),
            str(row["step"]),
            seconds(row["duration_s"]),
            clip(str(row["label"]), 40),
            clip(str(row["summary"]), 60),
            ", ".join(marks_of(row)),
        )
        for row in trace.rows()
    ]
    if not rows:
        return [*_loose(trace), "  no turns were recorded"]
    names = ("turn", "step", "time", "what the model did", "what came of it", "")
    if not any(row[1] for row in rows):
        return table((names[0], *names[2:]), [(row[0], *row[2:]) for row in rows])
    return table(names, rows)


def _loose(trace: Trace) -> list[str]:
    """Tool calls of a run without a single model call: they belong to no turn."""
    from workbench.cli.details import tool_line

    tools = trace.tools()
    out = [f"  {entry.id}  {clip(tool_line(entry), 120)}" for entry in tools[:50]]
    if len(tools) > len(out):
        out.append(f"  … and {len(tools) - len(out):,} more")
    return out
