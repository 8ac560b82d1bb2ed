"""A trace at a glance, as text and as HTML that needs no kernel.

Every text from the trace is escaped: nothing in a trace is ever markup or script.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.trace.trace import Trace

ROWS = 50
"""So many turns are shown."""

_NOTICES = 5

# Colours come from the page: JupyterLab's theme where there is one, else the text's own colour.
_STYLE = """
.wb-trace { font: 13px/1.45 var(--jp-ui-font-family, system-ui, sans-serif);
  color: var(--jp-ui-font-color1, currentColor); color-scheme: light dark; }
.wb-trace h4 { margin: 0 0 2px; font-size: 15px; }
.wb-trace p { margin: 0 0 6px; }
.wb-trace .wb-muted { opacity: .7; }
.wb-trace table { border-collapse: collapse; margin: 0; font-size: 12px; }
.wb-trace th, .wb-trace td { text-align: left; padding: 2px 10px 2px 0; vertical-align: top;
  border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
.wb-trace .wb-number { text-align: right; font-variant-numeric: tabular-nums; }
.wb-trace .wb-code { font-family: var(--jp-code-font-family, ui-monospace, monospace); }
.wb-trace .wb-mark { border: 1px solid currentColor; border-radius: 3px; padding: 0 4px;
  margin-right: 3px; }
.wb-trace .wb-bad { color: var(--jp-error-color1, #c62828); }
@media (prefers-color-scheme: dark) {
  .wb-trace .wb-bad { color: var(--jp-error-color1, #ef9a9a); } }
"""


def text(trace: Trace) -> str:
    """A trace as lines of text: what it is, and a line for each turn."""
    lines = [repr(trace), *(f"  {gap}" for gap in trace.gaps)]
    lines += [f"  ! {notice}" for notice in trace.notices[:_NOTICES]]
    for row in trace.rows(0, ROWS):
        seconds = _seconds(row["duration_s"])
        parts = [f"{row['number']:>4}", f"{seconds:>8}", row["label"], row["summary"]]
        marks = " ".join(f"[{mark}]" for mark in marks_of(row))
        lines.append("  ".join(part for part in [*parts, marks] if part))
    left = len(trace.turns) - ROWS
    if left > 0:
        lines.append(f"  … and {left:,} more turns")
    return "\n".join(lines)


def html(trace: Trace) -> str:
    """A trace as a small table that stands alone."""
    rows = trace.rows(0, ROWS)
    left = len(trace.turns) - len(rows)
    more = f'<p class="wb-muted">… and {left:,} more turns</p>' if left > 0 else ""
    return (
        f'<div class="wb-trace"><style>{_STYLE}</style>{_head(trace)}'
        f"{_table(rows) if rows else '<p>No turns were recorded.</p>'}{more}</div>"
    )


def marks_of(row: dict[str, Any]) -> list[str]:
    """What is special about a turn, a word each."""
    marks = []
    if row["error"]:
        marks.append("error")
    if row["fault"]:
        marks.append(f"fault: {row['fault']}")
    marks += [source for source in row["sources"] if source not in ("live", "fault")]
    if row["open"]:
        marks.append("open")
    if row["attempts"] > 1:
        marks.append(f"{row['attempts']} attempts")
    return marks


def _head(trace: Trace) -> str:
    facts = [trace.status, f"{len(trace.turns):,} turns", f"{len(trace.entries):,} entries"]
    if trace.duration_s is not None:
        facts.append(_seconds(trace.duration_s))
    if trace.parent is not None:
        facts.append(f"a fork of {trace.parent.name or trace.parent.id}")
    bad = "" if trace.status in ("ok", "by hand") else ' class="wb-bad"'
    first = f"<span{bad}>{escape(facts[0])}</span>"
    out = [
        f"<h4>{escape(trace.name or trace.id)}</h4>",
        f"<p>{' · '.join([first, *map(escape, facts[1:])])}</p>",
    ]
    if trace.error is not None:
        said = f"{trace.error.type}: {trace.error.message}"
        out.append(f'<p class="wb-bad">{escape(said[:300])}</p>')
    out += [f'<p class="wb-muted">{escape(gap[:300])}</p>' for gap in trace.gaps]
    notices = trace.notices
    out += [f'<p class="wb-bad">{escape(str(notice))}</p>' for notice in notices[:_NOTICES]]
    if len(notices) > _NOTICES:
        out.append(f'<p class="wb-bad">and {len(notices) - _NOTICES:,} more notices</p>')
    return "".join(out)


def _table(rows: list[dict[str, Any]]) -> str:
    names: tuple[str, ...] = ("#", "step", "what the model did", "what came of it", "time", "")
    if not any(row["step"] for row in rows):
        names = tuple(name for name in names if name != "step")
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    body = "".join(_row(row, step="step" in names) for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row(row: dict[str, Any], *, step: bool) -> str:
    marks = "".join(map(_mark, marks_of(row)))
    cells = [
        f'<td class="wb-number">{row["number"]}</td>',
        f"<td>{escape(row['step'])}</td>" if step else "",
        f'<td class="wb-code">{escape(row["label"])}</td>',
        f"<td>{escape(row['summary'])}</td>",
        f'<td class="wb-number">{_seconds(row["duration_s"])}</td>',
        f"<td>{marks}</td>",
    ]
    return f"<tr>{''.join(cells)}</tr>"


def _mark(mark: str) -> str:
    bad = " wb-bad" if mark in ("error", "open") else ""
    return f'<span class="wb-mark{bad}">{escape(mark)}</span>'


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
