"""Faults of tools."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Literal

from pydantic import field_validator

from workbench.trace.entries import ErrorInfo
from workbench.trace.faults.aims import Kind
from workbench.trace.faults.base import TOOL, BaseFault, Phase
from workbench.trace.values import encode

ERROR_TYPE = "ToolFaultError"
"""The exception that a tool raises, of :mod:`workbench.errors`."""


def tool_error(message: str, **attributes: Any) -> ErrorInfo:
    """A :class:`workbench.errors.ToolFaultError`, as a trace keeps it."""
    return ErrorInfo(
        type=ERROR_TYPE,
        module="workbench.errors",
        message=message,
        args=[message],
        attributes=attributes or None,
    )


def _is_json(value: Any) -> bool:
    """Whether a value is made of what JSON has, and so may be encoded already."""
    if type(value) is dict:
        return all(type(key) is str and _is_json(item) for key, item in value.items())
    if type(value) is list:
        return all(map(_is_json, value))
    if type(value) is float:
        return math.isfinite(value)
    if type(value) is int:
        return -(2**63) <= value < 2**63
    return value is None or type(value) in (str, bool)


class _ToolFault(BaseFault):
    kinds: ClassVar[frozenset[Kind]] = TOOL


class ToolError(_ToolFault):
    """The tool raises an error; it does not run."""

    short: ClassVar[str | None] = "message"

    type: Literal["tool_error"] = "tool_error"
    message: str = "injected tool error"
    """What the error says."""

    def __init__(self, message: str | None = None, /, **data: Any) -> None:
        if message is not None:
            data["message"] = message
        super().__init__(**data)

    @property
    def words(self) -> str:
        """Such as ``fails with "no such order"``."""
        return f'fails with "{self.message}"'

    def error(self) -> ErrorInfo:
        """A :class:`workbench.errors.ToolFaultError` with that message."""
        return tool_error(self.message)


class ToolTimeout(_ToolFault):
    """The tool takes too long; it does not run, and nobody waits."""

    short: ClassVar[str | None] = "message"

    type: Literal["tool_timeout"] = "tool_timeout"
    message: str = "injected tool time-out"
    """What the error says."""

    def __init__(self, message: str | None = None, /, **data: Any) -> None:
        if message is not None:
            data["message"] = message
        super().__init__(**data)

    @property
    def words(self) -> str:
        """``times out``."""
        return "times out"

    def error(self) -> ErrorInfo:
        """A time-out with that message."""
        return ErrorInfo(type="timeout", message=self.message, cause="ReadTimeout")


class PartialSuccess(_ToolFault):
    """The tool does a part of its work, then raises an error that holds what was done.

    A tool that runs live runs as always; only what the agent hears of it is changed.
    """

    short: ClassVar[str | None] = "result"
    _phase: ClassVar[Phase] = "outcome"

    type: Literal["partial_success"] = "partial_success"
    result: Any = None
    """What was done, as the error's `result`; by default the tool's real result."""

    def __init__(self, result: Any = None, /, **data: Any) -> None:
        if result is not None:
            data["result"] = result
        super().__init__(**data)

    @field_validator("result", mode="before")
    @classmethod
    def _encoded(cls, value: Any) -> Any:
        """Any value that a trace can hold, as the trace holds it."""
        return value if _is_json(value) else encode(value)

    @property
    def words(self) -> str:
        """``does a part of its work, then fails``."""
        return "does a part of its work, then fails"

    def error(self) -> ErrorInfo:
        """A :class:`workbench.errors.ToolFaultError` whose ``result`` is what was done."""
        return tool_error("injected failure after a part of the work", result=self.result)


class StaleResult(_ToolFault):
    """The tool gives its previous result of this run again. Its first call has none."""

    _phase: ClassVar[Phase] = "outcome"

    type: Literal["stale_result"] = "stale_result"

    @property
    def words(self) -> str:
        """``gives its previous result again``."""
        return "gives its previous result again"


class EmptyResult(_ToolFault):
    """The tool gives nothing: an empty text, list or map, or None, by what its result was."""

    _phase: ClassVar[Phase] = "outcome"

    type: Literal["empty_result"] = "empty_result"

    @property
    def words(self) -> str:
        """``gives nothing``."""
        return "gives nothing"
