"""A whole trace in lines: how it ended, what is wrong, and its turns."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING, Any

from workbench.cli.agents import agent_words
from workbench.cli.words import cost, count, error_data, seconds, stored_output, table, usd
from workbench.trace.findings import headline
from workbench.trace.labels import clip
from workbench.trace.prices import total
from workbench.trace.scan import ENTRY_KINDS
from workbench.trace.summary import marks_of
from workbench.trace.toollists import called

if TYPE_CHECKING:
    from workbench.trace.trace import Entry, Trace

_NOTICES = 10
_FINDINGS = 10
_OTHER_LINES = 20
_OTHERS = {"event": ("event",), "question": ("input",), "reading": ("clock", "value")}
_LISTED = ("event", "input")
"""Kinds that are listed below the turns; readings are counted, and shown turn by turn."""


def lines(trace: Trace) -> list[str]:
    """The trace for people."""
    counts = _counts(trace)
    out = [*_head(trace, counts), ""]
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
    out += [""] if out[-1] else []
    return [*out, *_turns(trace), *_others(trace, counts)]


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
        "header": header.model_dump(mode="json", exclude_unset=True, by_alias=True),
        "counts": _counts(trace),
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


def _head(trace: Trace, counts: dict[str, int]) -> list[str]:
    out = [f"{trace.name or trace.id} · {headline(trace, trace.findings)}"]
    turns = len(trace.turns)
    facts = [count(turns, "turn"), count(called(trace.tools()), "tool call")]
    for word, kinds in _OTHERS.items():
        number = sum(counts.get(kind, 0) for kind in kinds)
        facts += [count(number, word)] if number else []
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
    out += _origins(trace)
    if trace.header.tags:
        out.append(f"  tags {', '.join(trace.header.tags)}")
    if trace.status == "cut short" and trace.header.trimmed is not None:
        out.append("  it ends before that run did")
    elif trace.status == "cut short":
        out.append("  cut short: the recording has no end, so its process died")
    if trace.error is not None:
        out.append(f"  {trace.error.type}: {clip(trace.error.message, 300)}")
    return out


def _origins(trace: Trace) -> list[str]:
    """Where a trace comes from, when it is no plain recording."""
    header, parent, out = trace.header, trace.parent, []
    if header.hand is not None:
        out.append("  written by hand")
    if header.trimmed is not None:
        whole = header.trimmed.name or header.trimmed.id
        out.append(f"  a part of {whole}: {header.trimmed.left_out:,} of its entries left out")
    if parent is None:
        return out
    cut = f", live from {parent.cut}" if parent.cut else ""
    edits = f", {count(len(parent.edits), 'edit')}" if parent.edits else ""
    out.append(f"  a fork of {parent.name or parent.id}{edits}{cut}")
    out += [f"    {_edit(each)}" for each in parent.edits[:_NOTICES]]
    if len(parent.edits) > _NOTICES:
        out.append(f"    … and {len(parent.edits) - _NOTICES:,} more")
    return out


def _edit(data: dict[str, Any]) -> str:
    """An edit in a few words."""
    from pydantic import ValidationError

    from workbench.trace.edits import EDIT, FaultEdit, ReplyEdit
    from workbench.trace.faults import fault_sentence

    try:
        edit = EDIT.validate_python(data)
    except ValidationError:  # of a newer version
        return f"{data.get('type')} (this version cannot read it)"
    if isinstance(edit, FaultEdit):
        return f"fault: {fault_sentence(edit.fault)}"
    return f"the reply of {edit.label}" if isinstance(edit, ReplyEdit) else edit.label


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


def _counts(trace: Trace) -> dict[str, int]:
    """How many entries there are of each kind."""
    index = trace.index
    found = Counter(index.kinds[line] for line in index.calls)
    return {ENTRY_KINDS[kind]: number for kind, number in sorted(found.items())}


def _others(trace: Trace, counts: dict[str, int]) -> list[str]:
    """Events, questions to a human and readings, which are not in the list of turns."""
    from workbench.cli.oneline import entry_line

    number = sum(counts.get(kind, 0) for kind in _LISTED)
    if not number:
        return []
    kinds = (each for each in trace.entries if each.kind in _LISTED)
    found = list(islice(kinds, _OTHER_LINES))
    out = ["", *(f"  {each.id}  {clip(entry_line(each), 120)}" for each in found)]
    if number > len(found):
        out.append(f"  … and {number - len(found):,} more (--raw shows all)")
    return out


def _loose(trace: Trace) -> list[str]:
    """Tool calls of a run without a single model call: they belong to no turn."""
    from workbench.cli.oneline import tool_line

    tools = trace.tools()
    out = [f"  {entry.id}  {clip(tool_line(entry), 120)}" for entry in tools[:50]]
    if len(tools) > len(out):
        out.append(f"  … and {len(tools) - len(out):,} more")
    return out
