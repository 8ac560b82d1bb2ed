"""Faults: failures injected on purpose, as a tagged union.

The same object stands in a trace, in Python, in the notebook's form and on the command line::

    HttpError(429, retry_after_s=2).at(turn(2))
    Timeout().at(tool="get_order", nth=1)
    Crash(after="tool_succeeded")

A fault is never a real error: a result that came from one says so. A fault that never fired is
reported, and fails a strict replay.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, Field, TypeAdapter

from workbench.errors import UsageError
from workbench.trace.faults.aims import (
    Aim,
    Kind,
    Predicate,
    aimed_kinds,
    check_entry,
    impossible,
    only_named,
)
from workbench.trace.faults.base import BaseFault, Layer, Phase
from workbench.trace.faults.crash import Crash
from workbench.trace.faults.replies import (
    CutOff,
    MalformedResponse,
    MalformedToolCall,
    Mutation,
    Refusal,
)
from workbench.trace.faults.tools import (
    EmptyResult,
    PartialSuccess,
    StaleResult,
    ToolError,
    ToolTimeout,
)
from workbench.trace.faults.transport import (
    ConnectionRefused,
    ConnectionReset,
    HttpError,
    StreamTruncate,
    Timeout,
)
from workbench.trace.faults.words import fault_sentence

__all__ = [
    "FAULT",
    "FAULT_TYPES",
    "Aim",
    "BaseFault",
    "ConnectionRefused",
    "ConnectionReset",
    "Crash",
    "CutOff",
    "EmptyResult",
    "Fault",
    "HttpError",
    "Kind",
    "Layer",
    "MalformedResponse",
    "MalformedToolCall",
    "Mutation",
    "PartialSuccess",
    "Phase",
    "Predicate",
    "Refusal",
    "StaleResult",
    "StreamTruncate",
    "Timeout",
    "ToolError",
    "ToolTimeout",
    "aimed_kinds",
    "check_entry",
    "check_fault",
    "fault_sentence",
    "impossible",
    "only_named",
]

Fault = Annotated[
    HttpError
    | Timeout
    | ConnectionReset
    | ConnectionRefused
    | StreamTruncate
    | MalformedResponse
    | Refusal
    | MalformedToolCall
    | CutOff
    | ToolError
    | ToolTimeout
    | PartialSuccess
    | StaleResult
    | EmptyResult
    | Crash,
    Field(discriminator="type"),
]
"""Any fault."""

FAULT: TypeAdapter[Fault] = TypeAdapter(Fault)
"""Validates plain data into a fault."""

FAULT_TYPES: dict[str, type[BaseFault]] = {
    "http_error": HttpError,
    "timeout": Timeout,
    "connection_reset": ConnectionReset,
    "connection_refused": ConnectionRefused,
    "stream_truncate": StreamTruncate,
    "malformed_response": MalformedResponse,
    "refusal": Refusal,
    "malformed_tool_call": MalformedToolCall,
    "cut_off": CutOff,
    "tool_error": ToolError,
    "tool_timeout": ToolTimeout,
    "partial_success": PartialSuccess,
    "stale_result": StaleResult,
    "empty_result": EmptyResult,
    "crash": Crash,
}
"""Each fault's model by its type: what a form is made from."""


class _Checked(BaseModel):
    fault: Fault


def check_fault(fault: Fault) -> Fault:
    """The fault, once it is sure that it could hit something.

    Raises:
        UsageError: it is no fault.
        pydantic.ValidationError: its aim can never be met.
        ValueError: its predicate is only known by name.
    """
    if not isinstance(fault, BaseFault):
        raise UsageError(
            f"{fault!r} is no fault: faults= takes a list of them, such as "
            "[HttpError(429).at(turn(2))]"
        )
    checked = _Checked(fault=fault).fault
    problem = only_named(checked)
    if problem is not None:
        raise ValueError(problem)
    return checked
