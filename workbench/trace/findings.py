"""What is wrong with a run, read from its trace: a short list, the worst first.

Everything comes from the heads of the entries, so that a trace of ten thousand turns is read in
a moment. Bodies are opened only where a head cannot tell: what a tool returned, and a reply of
whose calls one was never made. That many and no more are opened (:data:`LOOKS`); a longer run
says so in its list.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import TraceError, UsageError
from workbench.trace.callcheck import reply_problems
from workbench.trace.toollists import OPENING, PROBE
from workbench.trace.toolresults import failure

if TYPE_CHECKING:
    from workbench.trace.payloads import Reply
    from workbench.trace.trace import Entry, Trace

LOOKS = 1_000
"""How many tool results and how many replies are opened in one trace."""

LOOP = 3
"""How often a tool that only reads may be asked the same before it looks like a loop."""

GOOD = frozenset({"complete", "completed", "done", "finished", "ok", "success", "succeeded"})
"""Values of ``status`` in a run's output that say that all went well."""

BAD = frozenset(
    {
        "aborted", "blocked", "budget_exhausted", "cancelled", "denied", "error", "expired",
        "failed", "failure", "gave_up", "incomplete", "max_turns", "rejected", "stuck", "timeout",
        "timed_out",
    }
)  # fmt: skip
"""Values of ``status`` in a run's output that say that it failed. Other words are only told."""

Severity = Literal["error", "warning", "info"]
SAYS_THE_END = frozenset(
    {"openai.chat", "openai.responses", "anthropic.messages", "google.generate_content"}
)
"""APIs that say inside a stream that it is complete."""

_RANK = {"error": 0, "warning": 1, "info": 2}
_END = float("inf")
_MAX_TEXT = 160


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to look at."""

    kind: str
    """What it is: ``repeated_write``, ``repeated_read``, ``tool_error``, ``ignored_error``,
    ``model_error``, ``stream_cut``, ``stream_unfinished``, ``unknown_tool``,
    ``bad_arguments``, ``fault``, ``agent_error``, ``status``, ``cut_short``,
    ``damaged``, ``not_looked_at``."""
    severity: Severity
    """``error``: it went wrong here. ``warning``: it may have. ``info``: good to know."""
    turn: int | None
    """The turn's number, when it happened in one."""
    entry: str | None
    """The entry's id, when it is about one."""
    text: str
    """One short sentence."""
    short: str = ""
    """A word or two, for a chip."""


def findings(trace: Trace) -> list[Finding]:
    """What is wrong with a run; the first is its headline. Empty when nothing was found.

    The most severe come first and, among those, what happened first. What is about the run as
    a whole (its status, an exception of the agent) counts as having happened at its end.
    """
    run = _Run(trace)
    found = [
        *_repeats(run),
        *_tool_errors(run),
        *_model_errors(run),
        *_bad_calls(run),
        *_faults(run),
        *_ending(run),
    ]
    return sorted(found, key=lambda each: (_RANK[each.severity], run.place(each.entry)))


def headline(trace: Trace, found: Sequence[Finding] | None = None) -> str:
    """One short line for a chip, such as ``stuck · refund 6×`` or ``ok``.

    ``found`` are the trace's findings, if they are there already.
    """
    found = findings(trace) if found is None else found
    status = _output_status(trace)
    word = trace.status if status is None or trace.status != "ok" else status
    top = next((each.short for each in found if each.short and each.severity != "info"), "")
    return f"{word} · {top}" if top and top != word else word


def again(trace: Trace) -> set[str]:
    """The ids of the tool entries that do once more what an earlier one had done.

    For a tool that writes (or does not say) that is every call after the first; for one that
    only reads, every call after the first of a group of :data:`LOOP` or more.
    """
    run = _Run(trace)
    return {each.id for group in run.groups() for each in group[1:]}


class _Run:
    """A trace's entries, put in the order that the questions need, in one pass."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.models: list[Entry] = []
        self.tools: list[Entry] = []
        self.open: list[Entry] = []
        self._places: dict[str, int] = {}
        for place, entry in enumerate(trace.entries):
            self._places[entry.id] = place
            if entry.kind == "model":
                self.models.append(entry)
            elif entry.kind == "tool":
                self.tools.append(entry)
            if entry.open:
                self.open.append(entry)

    def place(self, entry_id: str | None) -> float:
        """Where an entry stands; the end for what is about the whole run."""
        return _END if entry_id is None else self._places[entry_id]

    def turn(self, entry: Entry) -> int | None:
        """The number of an entry's turn."""
        return self.trace.turn_table.numbers[entry.seq - 1] or None

    def finding(
        self, kind: str, severity: Severity, entry: Entry, text: str, short: str
    ) -> Finding:
        """A finding about an entry."""
        return Finding(kind, severity, self.turn(entry), entry.id, clip(text), short)

    def groups(self) -> Iterator[list[Entry]]:
        """Calls of one tool with equal arguments, where there are too many of them.

        A call that failed is no repeat: trying again is what it asks for.
        """
        groups: dict[tuple[str | None, str], list[Entry]] = defaultdict(list)
        for entry in self.tools:
            if entry.error is None and entry.hash is not None and entry.name not in OPENING:
                groups[entry.name, entry.hash].append(entry)
        for group in groups.values():
            if len(group) >= (LOOP if group[0].effect == "read" else 2):
                yield group


def _repeats(run: _Run) -> Iterator[Finding]:
    for group in run.groups():
        reads = group[0].effect == "read"
        yield run.finding(
            "repeated_read" if reads else "repeated_write",
            "warning" if reads else "error",
            group[1],
            f"{group[0].name} called {len(group)} times with the same arguments",
            f"{group[0].name} {len(group)}×",
        )


def _tool_errors(run: _Run) -> Iterator[Finding]:
    succeeded: dict[str | None, int] = {}  # where a tool last succeeded
    failed: list[tuple[Entry, str]] = []
    looks = 0
    for entry in run.tools:
        if entry.name == PROBE:  # a server that knows no such question is asked another way
            continue
        text = _error_text(entry) if entry.error is not None else None
        if entry.error is None and not entry.open and looks < LOOKS:
            looks += 1
            text = _returned_error(entry)
        if text is not None:
            failed.append((entry, text))
        elif not entry.open:
            succeeded[entry.name] = entry.seq
    writes = [e for e in run.tools if e.effect == "write" and e.error is None and not e.open]
    places = [e.seq for e in writes]
    for entry, why in failed:
        mended = succeeded.get(entry.name, -1) > entry.seq
        later = bisect(places, entry.seq)
        went_on = None if mended or later == len(writes) else writes[later]
        if went_on is not None and went_on.name != entry.name:
            text = f"tool error ignored: {entry.name} failed ({why}), then {went_on.name} ran"
            yield run.finding("ignored_error", "error", entry, text, f"{entry.name} error ignored")
        else:
            text = f"{entry.name} failed: {why}"
            yield run.finding("tool_error", "warning", entry, text, f"{entry.name} failed")
    if len(run.tools) - len([e for e in run.tools if e.error is not None]) > LOOKS:
        yield Finding(
            "not_looked_at", "info", None, None,
            f"only the first {LOOKS:,} tool results were searched for errors",
        )  # fmt: skip


def _model_errors(run: _Run) -> Iterator[Finding]:
    answered = {e.hash: e.seq for e in run.models if e.error is None and not e.open and e.hash}
    for entry in run.models:
        if entry.error is not None and entry.source != "fault":
            retried = entry.hash is not None and answered.get(entry.hash, -1) > entry.seq
            what = _with_status(entry.error.type, entry.error.status)
            text = f"model call failed: {what}" + (", then tried again" if retried else "")
            severity: Severity = "warning" if retried else "error"
            yield run.finding("model_error", severity, entry, text, what)
        elif entry.ended == "cut" and entry.source != "fault":
            text = f"stream cut after {_chunks(entry)}"
            yield run.finding("stream_cut", "error", entry, text, "stream cut")


def _bad_calls(run: _Run) -> Iterator[Finding]:
    """Calls that no tool could run, which shows as calls that the agent never made."""
    turns = run.trace.turns
    small = len(turns) <= LOOKS
    looks = 0
    for turn in turns:
        if (turn.tools and not small) or turn.model.open or looks >= LOOKS:
            continue
        looks += 1
        for kind, text, short in reply_problems(turn):
            yield run.finding(kind, "warning", turn.model, text, short)
        yield from _odd_reply(run, turn.model)


def _odd_reply(run: _Run, entry: Entry) -> Iterator[Finding]:
    """A reply that is none, or that lacks its end, though no exception said so."""
    if entry.error is not None or entry.open or entry.source == "fault":
        return
    try:
        reply = entry.reply
        error = _answered_error(entry, reply)
        unfinished = _unfinished(entry, reply)
    except (TraceError, UsageError):
        return  # the file is damaged there, or the API one that nobody here knows
    if error is not None:
        text = f"model answered with an error in place of a reply: {error}"
        yield run.finding("model_error", "error", entry, text, "error as a reply")
    elif unfinished:
        text = f"stream just ended after {_chunks(entry)}: nothing said that it was complete"
        yield run.finding("stream_unfinished", "warning", entry, text, "stream unfinished")


def _answered_error(entry: Entry, reply: Reply | None) -> str | None:
    """What went wrong, where an answer with a good status holds an error and says nothing."""
    if reply is not None and (reply.text or reply.tool_calls):
        return None
    body = entry.reply_body
    error = body.get("error") if isinstance(body, dict) else None
    if not error:
        return None
    return str(error.get("message") or "error") if isinstance(error, dict) else str(error)


def _unfinished(entry: Entry, reply: Reply | None) -> bool:
    """Whether a stream was read to an end that was none."""
    if entry.ended != "complete" or entry.api not in SAYS_THE_END:
        return False
    reason = reply.finish_reason if reply is not None else None
    if entry.api == "openai.chat":  # some servers give no reason, and say that they are done
        response = entry.response if reason is None else None
        return isinstance(response, dict) and response.get("done") is False
    return reason in (None, "in_progress")


def _chunks(entry: Entry) -> str:
    count = len(entry.chunks)
    return f"{count} chunk{'' if count == 1 else 's'}"


def _faults(run: _Run) -> Iterator[Finding]:
    for entry in (*run.models, *run.tools):
        if entry.source == "fault" or entry.fault is not None:
            label = str((entry.fault or {}).get("type", "fault")).replace("_", " ")
            what = entry.name if entry.kind == "tool" else "model call"
            yield run.finding("fault", "info", entry, f"injected into {what}: {label}", label)


def _ending(run: _Run) -> Iterator[Finding]:
    trace = run.trace
    if trace.notices:
        count = len(trace.notices)
        text = f"{count} place{'' if count == 1 else 's'} in the file could not be read"
        yield Finding("damaged", "warning", None, None, text, "damaged")
    if trace.header.hand is not None and trace.end is None:
        return  # it was written by hand, and never ran
    if trace.end is None:
        yield _cut_short(run)
    elif trace.error is not None and trace.status != "drifted":
        text = f"agent raised {trace.error.type}: {trace.error.message}"
        yield Finding("agent_error", "error", None, None, clip(text), trace.error.type)
    elif trace.status != "ok":
        reason = f": {trace.error.message}" if trace.error is not None else ""
        text = f"ends with status {trace.status}{reason}"
        yield Finding("status", "error", None, None, clip(text), trace.status)
    status = _output_status(trace)
    if status is not None and status.lower() not in GOOD:
        text = f"ends with status {status}{_output_reason(trace)}"
        severity: Severity = "error" if status.lower() in BAD else "info"
        yield Finding("status", severity, None, None, clip(text), clip(status, 24))


def _cut_short(run: _Run) -> Finding:
    last = run.open[-1] if run.open else None
    turns = len(run.trace.turns)
    number = run.turn(last) if last is not None else None
    if number is not None:
        text = f"cut short in the middle of turn {number}"
    elif turns:
        text = f"cut short after turn {turns}"
    else:
        text = "cut short before the first turn"
    return Finding("cut_short", "error", number, last.id if last else None, text, "cut short")


def _output_status(trace: Trace) -> str | None:
    output = trace.end.output if trace.end is not None else None
    status = output.get("status") if isinstance(output, dict) else None
    return status if isinstance(status, str) and status else None


def _output_reason(trace: Trace) -> str:
    output = trace.end.output if trace.end is not None else None
    if isinstance(output, dict):
        for key in ("reason", "error", "message", "detail", "answer"):
            if isinstance(output.get(key), str) and output[key]:
                return f": {output[key]}"
    return ""


def _error_text(entry: Entry) -> str:
    error = entry.error
    return "" if error is None else error.message or error.type


def _returned_error(entry: Entry) -> str | None:
    """The text of an error that a tool returned instead of raising it."""
    try:
        value = entry.response
    except TraceError:
        return None  # the file is damaged there, which is a finding of its own
    if not isinstance(value, dict) or not value.get("error"):
        return failure(value)
    error = value["error"]
    if isinstance(error, dict):
        error = error.get("message") or error.get("type") or "error"
    return error if isinstance(error, str) else str(value.get("message") or "error")


def _with_status(name: str, status: int | None) -> str:
    return name if status is None else f"{name} {status}"


def clip(text: str, length: int = _MAX_TEXT) -> str:
    """A text on one line, and not longer than ``length`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1] + "…"


def counts(found: Iterable[Finding]) -> dict[str, int]:
    """How many findings there are of each severity."""
    numbers: dict[str, Any] = Counter(each.severity for each in found)
    return dict(numbers)
