"""What faults and edits make of a tool that is a generator."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import workbench as wb
from workbench.errors import EditError
from workbench.faults import (
    EmptyResult,
    Fault,
    PartialSuccess,
    StaleResult,
    StreamTruncate,
    ToolError,
    ToolTimeout,
)


@dataclass
class Line:
    """A line of a file."""

    number: int


@wb.tool(effect="read")
def lines(count: int) -> Iterator[Line]:
    """Some lines."""
    yield from (Line(number) for number in range(1, count + 1))


FAULTS: list[tuple[Fault, list[Any], str | None]] = [
    (StreamTruncate(1).at(tool="lines"), [1], "ConnectionResetError"),
    (StreamTruncate(2, end="stall").at(tool="lines"), [1, 2], "TimeoutError"),
    (StreamTruncate(1, end="clean").at(tool="lines"), [1], None),
    (ToolError("locked"), [], "ToolFaultError"),
    (ToolTimeout(), [], "TimeoutError"),
    (PartialSuccess().at(tool="lines"), [1, 2, 3], "ToolFaultError"),
    (EmptyResult(), [], None),
]


def numbers() -> list[Any]:
    """The numbers of the lines, then what went wrong."""
    read: list[Any] = []
    try:
        read += [line.number for line in lines(2)]
        for line in lines(3):
            read.append(line.number)
    except Exception as error:
        read.append(type(error).__name__)
    return read


@pytest.mark.parametrize("live", [False, True])
@pytest.mark.parametrize(("fault", "values", "error"), FAULTS)
def test_faults(fault: Fault, values: list[Any], error: str | None, live: bool) -> None:
    """A fault breaks off or changes what a generator yields, recorded or live."""
    recorded = wb.record(numbers)
    aimed = fault.at(tool="lines", nth=2)
    options: dict[str, Any] = {"tools": "live", "tools_after": "allow"} if live else {}
    result = wb.replay(numbers, recorded.trace, faults=[aimed], **options)
    assert result.output == [1, 2, *values, *([error] if error else [])]
    assert [each for each, _ in result.fired] == [aimed]


def test_a_stale_result_yields_what_it_yielded_before() -> None:
    """The second call yields the values of the first once more."""
    recorded = wb.record(numbers)
    stale = wb.replay(numbers, recorded.trace, faults=[StaleResult().at(tool="lines", nth=2)])
    assert stale.output == [1, 2, 1, 2]


def test_a_cut_stream_cannot_hit_a_tool_that_is_none() -> None:
    """A fault of streams that is aimed at a plain tool says why it never fired."""

    @wb.tool(effect="read")
    def price() -> int:
        return 5

    recorded = wb.record(price)
    result = wb.replay(price, recorded.trace, faults=[StreamTruncate(1).at(tool="price")])
    assert "price is no generator" in str(result.drift)


def test_an_edit_says_what_is_yielded() -> None:
    """The result of a generator is edited as a list; anything else is refused, with a way out."""

    @wb.tool(effect="read")
    def ticks() -> Iterator[int]:
        yield from range(3)

    def agent() -> list[int]:
        return list(ticks())

    recorded = wb.record(agent)
    (call,) = recorded.trace.tools()
    edited = wb.replay(
        agent, recorded.trace, edits=recorded.trace.edit().tool_result(wb.entry(call.id), [7, 8])
    )
    assert (edited.status, edited.output) == ("ok", [7, 8])
    assert edited.trace.tools()[0].result == [7, 8]
    with pytest.raises(EditError, match="give the list of what it yields"):
        recorded.trace.edit().tool_result(wb.entry(call.id), 7)
