"""Faults in the words of a command line."""

import re
from typing import Any

import pytest
from shopcli import Shop, here

from workbench.cli.fault_words import read_fault
from workbench.errors import WorkbenchError
from workbench.faults import (
    Crash,
    CutOff,
    EmptyResult,
    HttpError,
    MalformedToolCall,
    PartialSuccess,
    Refusal,
    StreamTruncate,
    Timeout,
    ToolError,
    ToolTimeout,
)
from workbench.trace.faults import FAULT_TYPES
from workbench.trace.places import entry, step, turn


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("http_error:429@turn:2", HttpError(429).at(turn(2))),
        (
            "http_error:503@turn:2,below,times:2",
            HttpError(503).at(turn(2), layer="below", times=2),
        ),
        ("http_error:503@below", HttpError(503).at(layer="below")),
        ("timeout:500@nth:3,attempt:1", Timeout(after_ms=500).at(nth=3, attempt=1)),
        ("timeout@tool:get_order#2", Timeout().at(tool="get_order", nth=2)),
        ("timeout@turn:3,tool:get_order", Timeout().at(turn(3), tool="get_order")),
        ("timeout@step:plan,above", Timeout().at(step("plan"))),
        ("timeout@plan", Timeout().at(step("plan"))),
        ("stream_truncate:3@entry:1-7", StreamTruncate(3).at(entry("1-7"))),
        ("malformed_tool_call:wrong_type", MalformedToolCall("wrong_type")),
        ("refusal:Not today.", Refusal("Not today.")),
        ("cut_off:20@turn:1", CutOff(20).at(turn(1))),
        (
            "tool_error:no such order@tool:get_order",
            ToolError("no such order").at(tool="get_order"),
        ),
        ("tool_error:a@b.c is gone@tool:mail", ToolError("a@b.c is gone").at(tool="mail")),
        ("tool_timeout@tool:refund,times:3", ToolTimeout().at(tool="refund", times=3)),
        ('partial_success:{"paid": 5}@tool:refund', PartialSuccess({"paid": 5}).at(tool="refund")),
        ("partial_success:half", PartialSuccess("half")),
        ("empty_result@tool:search", EmptyResult().at(tool="search")),
        ("crash:after@event:tool_succeeded", Crash(after="tool_succeeded")),
        ("crash:before@tool:refund", Crash(when="before").at(tool="refund")),
        ("crash@event:paid", Crash(after="paid")),
        (
            '{"type": "timeout", "aim": {"place": "turn:2"}, "times": 2}',
            Timeout(times=2).at(turn(2)),
        ),
    ],
)
def test_a_fault_in_short(text: str, fault: Any) -> None:
    """The words give the very fault that Python's objects give."""
    assert read_fault(text) == fault


def test_the_helps_examples_are_faults() -> None:
    """Every fault that --help shows can be copied as it is, and each type is among them."""
    for command in ("replay", "fork"):
        text = here(command, "--help").out
        part = text[text.index("Faults, TYPE") : text.index("Without an aim")].splitlines()[1:]
        lines = [re.split(r" {2,}|, (?=[a-z_]+\b)", line.strip())[:4] for line in part]
        shown = [
            word
            for words in lines
            for word in words
            if word.split(":")[0].split("@")[0] in FAULT_TYPES
        ]
        assert {read_fault(each).type for each in shown} == set(FAULT_TYPES), shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("crash@", "'' is not a place"),
        ("timeout@turn:2,turn:3", "'turn:3' is said twice"),
        (
            "timeout@turn:2,step:x",
            "'step:x' is said twice, or against another: it is read as a place",
        ),
        ("timeout@below,above", "'above' is said twice, or against another"),
        ("timeout@times:0", "times count from 1, such as times:2"),
        ("crash:below", "crash.when: "),
        ("connection_reset:5", "'5' does not fit; write connection_reset@turn:2, or JSON"),
        ("tool_error@event:paid", "an event only is written down: tool_error hits tool calls"),
        ("refusal@below", "refusal is nothing that an SDK retries"),
    ],
)
def test_what_is_no_fault(text: str, said: str) -> None:
    """The error says what is wrong with these words."""
    with pytest.raises(WorkbenchError) as error:
        read_fault(text)
    assert said in str(error.value)
    assert text in str(error.value)


def test_a_fault_of_a_tool_hits_once_in_its_turn(shop: Shop, recorded: str) -> None:
    """What a tool raises for it reaches the agent, and the report says where it hit."""
    words = ["--fault", "tool_error:no such order@turn:1,tool:get_order"]
    ran = shop("replay", recorded, "--recorded-agent", *words, "--to", "f.trace.jsonl")
    assert ran.code == 1
    assert ran.err.splitlines()[-1].endswith("ToolFaultError: no such order")
    assert "1 fault hit: tool error at get_order in turn 1; the agent ended with" in ran.out
    shown = here("show", str(shop.folder / "f.trace.jsonl"), "--turn", "1").out
    assert '  fault: it fails with "no such order" (aimed at turn:1, tool get_order, call 1)' in (
        shown.splitlines()
    )
