"""Options that are given in a wrong form are refused with what would be right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import workbench as wb
from workbench.faults import HttpError


def agent() -> str:
    """Reads the clock, which needs no model."""
    return wb.now().isoformat()


@pytest.fixture(name="recorded")
def _recorded() -> wb.RunResult:
    return wb.record(agent)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"faults": ["429"]}, "'429' is no fault: faults= takes a list of them, such as ["),
        ({"faults": HttpError(429)}, "is no fault: faults= takes a list of them, such as ["),
        ({"edits": ["x"]}, "'x' is no edit: edits= takes trace.edit()… or a list of edits"),
        ({"ignore": ["/x"]}, "ignore=['/x']: give a list of JSON pointers for each api, such as {"),
        ({"ignore": {"openai.chat": "/x"}}, "give a list of JSON pointers for each api, such as {"),
        ({"resumes": 3}, "3 is no trace and no file's path"),
        ({"latency": "slow"}, "latency='slow': choose one of 'none', 'constant', "),
        ({"latency": "normal"}, "latency='normal' does not say how long: give Latency('normal', "),
    ],
)
def test_a_replay_says_what_an_option_takes(
    recorded: wb.RunResult, options: dict[str, Any], text: str
) -> None:
    """A single value where a list belongs fails with the right form, not deep inside."""
    with pytest.raises(wb.UsageError, match=re.escape(text)):
        wb.replay(agent, recorded.trace, **options)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"tags": "staging"}, "tags='staging': give a list of words, such as ['staging']"),
        ({"steps": ["plan"]}, "steps=['plan']: give for each step a list of those that it depends"),
        ({"steps": {"plan": "x"}}, "steps={'plan': 'x'}: give a list of steps"),
        ({"mode": "once"}, "mode='once' is about a trace that may be there already: say to="),
        (
            {"mode": "once", "to": "x.trace.jsonl", "replace": True},
            "mode='once' and replace=True both say what becomes of a trace that is there: give one",
        ),
    ],
)
def test_a_recording_says_what_an_option_takes(options: dict[str, Any], text: str) -> None:
    """A text is not taken for a list of letters."""
    with pytest.raises(wb.UsageError, match=re.escape(text)):
        wb.record(agent, **options)


def test_a_result_is_not_taken_for_its_trace(recorded: wb.RunResult) -> None:
    """Who passes what `record` gave learns where the trace is."""
    with pytest.raises(wb.UsageError, match=r"<RunResult ok: .*> is no trace .*: its \.trace is"):
        wb.replay(agent, recorded)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: wb.scripted_io("Hello!"), "replies='Hello!': give a list with one item a call"),
        (lambda: wb.scripted_io(human="yes"), "human='yes': give a list of answers, one for each"),
        (
            lambda: wb.faulty_io(wb.live_io(), ["429"]),  # type: ignore[list-item]
            "'429' is no fault: faults= takes a list",
        ),
        (
            lambda: wb.recording_io(wb.live_io(), mode="once"),
            "recording_io() has no option mode=; beside those of its signature it has durability, ",
        ),
    ],
)
def test_an_io_says_what_an_option_takes(make: Callable[[], Any], text: str) -> None:
    """The makers of an io refuse a slip when they are called, not at the first call."""
    with pytest.raises(wb.UsageError, match=re.escape(text)):
        make()


def test_an_io_records_which_steps_depend_on_which() -> None:
    """`recording_io` takes what `recording` takes, `steps` included."""
    with wb.recording_io(wb.scripted_io(["Hi."]), steps={"plan": [], "write": ["plan"]}) as io:
        io.sync.call_model(model="m", messages=[{"role": "user", "content": "Hello?"}])
    assert io.trace.header.steps == {"plan": [], "write": ["plan"]}
