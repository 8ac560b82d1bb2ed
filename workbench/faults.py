"""The faults, for people: ``from workbench.faults import HttpError``."""

from workbench.seam.faulting import SeenCall
from workbench.trace.faults import (
    Aim,
    ConnectionRefused,
    ConnectionReset,
    Crash,
    CutOff,
    EmptyResult,
    Fault,
    HttpError,
    MalformedResponse,
    MalformedToolCall,
    PartialSuccess,
    Refusal,
    StaleResult,
    StreamTruncate,
    Timeout,
    ToolError,
    ToolTimeout,
)

__all__ = [
    "Aim",
    "ConnectionRefused",
    "ConnectionReset",
    "Crash",
    "CutOff",
    "EmptyResult",
    "Fault",
    "HttpError",
    "MalformedResponse",
    "MalformedToolCall",
    "PartialSuccess",
    "Refusal",
    "SeenCall",
    "StaleResult",
    "StreamTruncate",
    "Timeout",
    "ToolError",
    "ToolTimeout",
]
