"""What the model saw in a turn, against what it had seen the turn before."""

from __future__ import annotations

from typing import Any

from workbench.errors import TraceError, UsageError
from workbench.trace.payloads import Change, Message, ToolCall, compare, word_diff
from workbench.trace.trace import Trace, Turn
from workbench.ui.clips import Clipper, clean

LOOK_BACK = 6
"""How many earlier turns may be the one whose conversation this turn continues."""

WORDS = 20_000
"""Characters up to which a changed message is shown word by word."""


def saw_view(turn: Turn, trace: Trace, clip: Clipper, *, everything: bool) -> dict[str, Any]:
    """The protocol's ``saw``, and ``folded`` beside it.

    Only messages that are new or differ since the turn before are listed, unless ``everything``.
    """
    messages = list(turn.messages)
    before, changes = _since(turn, trace, messages)
    same = sum(change.kind == "same" for change in changes)
    grown = _growth(changes, messages)
    listed = []
    for place, change in enumerate(changes):
        if change.kind == "same" and not everything:
            continue
        kind = _kind(change, appended=place >= grown)
        listed.append(_message(messages, before, change, kind, clip))
    return {
        "saw": {
            "total": len(messages),
            "shared": same,
            "shared_with": before[0] if same and before else None,
            "tokens": (turn.usage or {}).get("input_tokens"),
            "messages": listed,
        },
        "folded": 0 if everything else same,
    }


_Before = tuple[int, list[Message]]


def _since(
    turn: Turn, trace: Trace, messages: list[Message]
) -> tuple[_Before | None, list[Change]]:
    """The earlier turn that this one continues, and how the messages stand to it.

    That is the turn before of the same step. Conversations that run beside each other share
    nothing but their first messages, so others are tried while a turn has less in common.
    """
    best: tuple[int, _Before, list[Change]] | None = None
    for earlier in _earlier(turn, trace):
        try:
            old = list(earlier.messages)
        except (TraceError, UsageError):
            continue  # it cannot be read, which its own view says
        changes = compare(old, messages)
        lost = sum(change.kind != "same" for change in changes if change.before is not None)
        if best is None or lost < best[0]:
            best = lost, (earlier.number, old), changes
        if not lost:
            break
    if best is None:
        return None, [Change("injected", None, n) for n in range(len(messages))]
    return best[1], best[2]


def _earlier(turn: Turn, trace: Trace) -> list[Turn]:
    near = range(turn.number - 1, max(0, turn.number - 1 - LOOK_BACK), -1)
    turns = [trace.turns[number - 1] for number in near]
    return sorted(turns, key=lambda each: each.step != turn.step)


def _growth(changes: list[Change], messages: list[Message]) -> int:
    """From which change on a conversation just went on, as it does every turn.

    That is what comes after the last message that was there before, from the model's reply on:
    what stands before that reply was put in.
    """
    end = 1 + max((n for n, c in enumerate(changes) if c.before is not None), default=-1)
    for place, change in enumerate(changes[end:], end):
        if end and change.after is not None and messages[change.after].role == "assistant":
            return place
    return end


def _kind(change: Change, *, appended: bool) -> str | None:
    if change.kind == "same" or (change.kind == "injected" and appended):
        return None
    return change.kind


def _message(
    messages: list[Message],
    before: _Before | None,
    change: Change,
    kind: str | None,
    clip: Clipper,
) -> dict[str, Any]:
    old = before[1][change.before] if before and change.before is not None else None
    message = messages[change.after] if change.after is not None else old
    if message is None:
        raise AssertionError("a change names a message on one side at least")
    number = change.after if change.after is not None else change.before
    name = f"saw.{'old.' if change.after is None else ''}{number}"
    words = None
    if kind in ("changed", "truncated") and old and len(old.text) + len(message.text) <= WORDS:
        words = [list(run) for run in word_diff(old.text, message.text)]
    return {
        "n": (number or 0) + 1,
        "role": clean(message.role),
        "name": message.name,
        "change": kind,
        "text": clip(f"{name}.text", message.text),
        "calls": [call_view(call) for call in message.tool_calls],
        "tool_call_id": message.tool_call_id,
        "images": message.images,
        "words": words,
    }


def call_view(call: ToolCall) -> dict[str, Any]:
    """A tool call as it stands in a message."""
    return {
        "id": call.id,
        "name": call.name,
        "arguments": call.arguments if isinstance(call.arguments, dict) else None,
        "raw": call.raw,
        "error": call.error,
    }
