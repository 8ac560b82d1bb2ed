"""What goes wrong with a server: as a trace keeps it, and as the SDK raises it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from workbench.seam.exceptions import describe, rebuild
from workbench.trace.entries import ErrorInfo
from workbench.trace.faults.tools import ERROR_TYPE
from workbench.trace.values import decode, dumps

if TYPE_CHECKING:
    from collections.abc import Mapping

CLOSED = -32000
INTERNAL = -32603
_OWN = ("MCPError", "McpError")
_CLOSED = ("connection_reset", "connection_refused")


class Errors(Protocol):
    """The SDK's exception for what a server answers with, or does not answer."""

    timed_out: int
    """The code of a call that took too long."""

    def make(self, code: int, message: str, data: Any) -> Exception:
        """The exception."""

    def parts(self, error: BaseException) -> tuple[int, str, Any] | None:
        """Its code, message and data; None for another exception."""


class InsteadError(Exception):
    """No error: the result that a call has instead of running."""

    def __init__(self, result: dict[str, Any]) -> None:
        super().__init__()
        self.result = result


def kept(errors: Errors, error: BaseException) -> ErrorInfo:
    """An exception as the trace keeps it."""
    found = errors.parts(error)
    if found is None:
        return describe(error)
    code, message, data = found
    body = {"code": code, "message": message, **({"data": data} if data is not None else {})}
    kind = type(error)
    return ErrorInfo(type=kind.__qualname__, module=kind.__module__, message=message, body=body)


def raised_again(errors: Errors, info: ErrorInfo, *, of_tool: bool) -> BaseException:
    """A recorded or injected error as the SDK's user gets it.

    A tool that fails gives a result that says so; what keeps an answer from coming is raised.
    """
    if info.type in _OWN and isinstance(info.body, dict):
        body = info.body
        code = body.get("code")
        return errors.make(
            code if isinstance(code, int) else INTERNAL,
            str(body.get("message", info.message)),
            body.get("data"),
        )
    if info.type == ERROR_TYPE:
        return InsteadError(_failed(info)) if of_tool else _internal(errors, info.message)
    if info.module is not None:
        return rebuild(info)
    if info.type == "timeout":
        return errors.make(errors.timed_out, info.message, None)
    if info.type in _CLOSED:
        return errors.make(CLOSED, "Connection closed", None)
    return _internal(errors, f"HTTP {info.status}: {info.message}" if info.status else info.message)


def _internal(errors: Errors, message: str) -> Exception:
    return errors.make(INTERNAL, message, None)


def _failed(info: ErrorInfo) -> dict[str, Any]:
    """A tool's result that says that it failed; with what was done, if a part was."""
    content: list[Any] = [{"type": "text", "text": info.message}]
    done = decode((info.attributes or {}).get("result"))
    if done is not None:
        content += as_tool_result(done)["content"]
    return {"content": content, "isError": True}


_RESULT = frozenset({"content", "structuredContent", "isError", "resultType", "task"})


def as_tool_result(value: Any) -> dict[str, Any]:
    """A value as the result of a tool's call: what is none already becomes its text."""
    if isinstance(value, dict) and (not value or _RESULT & value.keys()):
        return value if "resultType" in value or "task" in value else {"content": [], **value}
    if value is None:
        return {"content": []}
    text = value if isinstance(value, str) else dumps(value).decode()
    structured = {"structuredContent": value} if isinstance(value, dict) else {}
    return {"content": [{"type": "text", "text": text}], **structured}


def as_result(method: str, value: Any) -> dict[str, Any]:
    """A value as the result of any other request: nothing becomes the result that has nothing."""
    if isinstance(value, dict) and value:
        return value
    return dict(_NOTHING.get(method, {}))


_NOTHING: Mapping[str, Mapping[str, Any]] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "serverInfo": {"name": "unknown", "version": "0"},
    },
    "tools/list": {"tools": []},
    "resources/list": {"resources": []},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": []},
    "prompts/list": {"prompts": []},
    "prompts/get": {"messages": []},
    "completion/complete": {"completion": {"values": []}},
}
