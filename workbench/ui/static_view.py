"""A trace as HTML without kernel and script, for GitHub, an export or a notebook read later.

All text is escaped. Colours follow the reader's light or dark theme, and nothing is said by
colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from workbench.errors import WorkbenchError
from workbench.trace.payloads import view
from workbench.trace.trace import Trace, Turn
from workbench.ui.clips import clean, label, pretty
from workbench.ui.rows import marks_of, row
from workbench.ui.sheet import Sheet
from workbench.ui.turn_view import error_text, match_calls

if TYPE_CHECKING:
    from workbench.trace.payloads import ToolCall
    from workbench.trace.trace import Entry

MOST_TURNS = 50
"""Turns of a trace that a notebook's output shows."""

MOST_BYTES = 300_000
"""Size of a notebook's output; later turns are left out."""

PAGE_TURNS = 2_000
PAGE_BYTES = 20_000_000
"""The same for a page of its own."""

MOST_TEXT = 2_000
"""Characters of one text."""

_STYLE = """
.wbs{--l:#8886;--r:#b3261e;--s:color-mix(in srgb,currentColor 6%,transparent);
font:13px/1.45 system-ui,sans-serif;color:inherit;max-width:70rem}
.wbs details{border:1px solid var(--l);border-radius:6px;margin:.3em 0;padding:.3em .6em}
.wbs summary{cursor:pointer}
.wbs pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--s);padding:.4em .6em;
border-radius:4px;margin:.3em 0;font:12px/1.45 ui-monospace,monospace}
.wbs b.bad{color:var(--r)}.wbs small{opacity:.75}
@media (prefers-color-scheme:dark){.wbs{--r:#ff8a80}}
"""

_PAGE_STYLE = """
:root{color-scheme:light dark}
body{margin:2rem auto;padding:0 1rem;max-width:70rem;background:Canvas;color:CanvasText}
"""


def to_html(trace: Trace, *, name: str | None = None) -> str:
    """A whole HTML page of a trace, for a file or a browser."""
    sheet = Sheet(trace, name=name or trace.name or trace.id)
    sheet.study()
    body = "".join(_parts([sheet], PAGE_TURNS, PAGE_BYTES))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_text(sheet.name)}</title><style>{_PAGE_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )


def mime_parts(sheets: Sequence[Sheet]) -> dict[str, str]:
    """``text/html`` and ``text/plain`` of what is on the workbench, for where no widget runs."""
    return {
        "text/html": "".join(_parts(sheets, MOST_TURNS, MOST_BYTES)),
        "text/plain": "\n".join(_line(sheet.info()) for sheet in sheets),
    }


def _line(info: dict[str, Any]) -> str:
    facts = [f"{info['n_turns']} turns", _seconds(info["duration_s"]), info["cost"], info["model"]]
    return f"{info['name']} [{info['headline']}] " + " · ".join(fact for fact in facts if fact)


def _parts(sheets: Sequence[Sheet], most_turns: int, most_bytes: int) -> Iterable[str]:
    yield f'<div class="wbs"><style>{_STYLE}</style>'
    for sheet in sheets:
        yield from _trace(sheet, most_turns, most_bytes // len(sheets))
    yield "</div>"


def _trace(sheet: Sheet, most_turns: int, most_bytes: int) -> Iterable[str]:
    info, trace = sheet.info(), sheet.trace
    yield f"<h3>{_text(info['name'])} <small>{_text(info['headline'])}</small></h3>"
    yield f"<p>{_text(_line(info))}</p>"
    if info["divergence"]:
        yield f"<p>First divergence: {_text(info['divergence']['text'])}</p>"
    if info["output"]:
        yield f"<p>Output: <code>{_text(info['output'])}</code></p>"
    if info["findings"]:
        yield "<ul>" + "".join(_finding(each) for each in info["findings"][:10]) + "</ul>"
    size = 0
    for turn in trace.turns[:most_turns]:
        part = _turn(turn, sheet.again)
        size += len(part.encode())
        if size > most_bytes:
            yield from _left_out(len(trace.turns) - turn.number + 1)
            return
        yield part
    yield from _left_out(len(trace.turns) - most_turns)


def _left_out(count: int) -> Iterable[str]:
    if count > 0:
        yield f"<p>… and {count:,} more turns. Open the trace to see them.</p>"


def _finding(finding: dict[str, Any]) -> str:
    place = f"turn {finding['turn']}: " if finding["turn"] else ""
    return f"<li><b>{_text(finding['severity'])}</b> {_text(place + finding['text'])}</li>"


def _turn(turn: Turn, again: set[str]) -> str:
    line = row(turn, again)
    marks = "".join(f' <b class="bad">{_text(mark)}</b>' for mark in marks_of(turn, again))
    head = f"{turn.number} · <b>{_text(line['label'])}</b>{marks}"
    tail = f"<small>{_text(line['summary'])} · {_seconds(line['duration_s'])}</small>"
    return f"<details><summary>{head} {tail}</summary>{_inside(turn)}</details>"


def _inside(turn: Turn) -> str:
    try:
        reply = turn.reply
        parts = _saw(turn)
        if reply is not None and reply.text:
            parts += ["<p>said:</p>", _pre(reply.text)]
        calls = match_calls(reply.tool_calls if reply is not None else (), turn.tools)
        parts += [_call(call, entry) for call, entry in calls]
    except WorkbenchError as error:
        parts = [f"<p>{_text(label(str(error), 400))}</p>"]
    failed = error_text(turn.error)
    return "".join(parts) + (f"<p><b>{_text(failed)}</b></p>" if failed else "")


_ONE_BY_ONE = ("openai.chat", "workbench")
"""The apis whose items are all that a conversation has, and each of them one message."""


def _saw(turn: Turn) -> list[str]:
    """How many messages the model saw, and the last one. In a long conversation nearly all of
    them were seen before: they are not put together for this."""
    if turn.model.hash_only:
        return ["<p>the prompt was not recorded, only its hash</p>"]
    count, own = turn.model.own_messages
    if own and turn.model.api in _ONE_BY_ONE:
        count, last = count + len(own), view(turn.model.api or "").message(own[-1])
    else:
        messages = turn.messages
        if not messages:
            return []
        count, last = len(messages), messages[-1]
    return [f"<p>saw {count} messages; the last one ({_text(last.role)}):</p>", _pre(last.text)]


def _call(call: ToolCall, entry: Entry | None) -> str:
    asked = f"<p>called <b>{_text(call.name)}</b></p>{_pre(call.raw)}"
    if entry is None:
        return asked + "<p>no result</p>"
    error = error_text(entry.error)
    return asked + (f"<p><b>{_text(error)}</b></p>" if error else _pre(pretty(entry.response)))


def _pre(text: str) -> str:
    more = f"\n… {len(text) - MOST_TEXT:,} more characters" if len(text) > MOST_TEXT else ""
    return f"<pre>{_text(text[:MOST_TEXT] + more)}</pre>"


def _text(text: str) -> str:
    return escape(clean(text))


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} s"
