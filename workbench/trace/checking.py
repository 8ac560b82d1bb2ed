"""Checking a whole trace: every line against its model, every request against its hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from workbench.errors import TraceError, UnavailableError
from workbench.trace.entries import LINE
from workbench.trace.notices import Notice
from workbench.trace.scan import BAD, OTHER

if TYPE_CHECKING:
    from workbench.trace.trace import Trace


def check_lines(trace: Trace) -> list[Notice]:
    """The lines that are not what the format says."""
    found = []
    for line, kind in enumerate(trace.index.kinds):
        if kind in (BAD, OTHER):
            continue  # found when the file was opened
        try:
            LINE.validate_python(trace.lines.whole(line))
        except ValidationError as error:
            found.append(Notice(first_problem(error), line + 1))
        except UnavailableError:
            continue  # noted as it was read
    return found


def check_requests(trace: Trace) -> list[Notice]:
    """The calls whose request cannot be put together, or has another hash than was recorded."""
    found = []
    for entry in trace.entries:
        try:
            if entry.verify() is False:
                message = "the request does not have the hash that was recorded"
                found.append(Notice(message, entry.line))
        except TraceError as error:
            found.append(Notice(str(error), entry.line))
    return found


def first_problem(error: ValidationError) -> str:
    """What a validation found first: the field, and what is wrong with it."""
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else str(problem["msg"])
