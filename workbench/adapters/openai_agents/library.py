"""What is private in the agents SDK, or differs between its releases; nothing else touches it.

Private: ``agents.tool._FailureHandlingFunctionToolInvoker`` with ``_invoke_tool_impl`` and
``_function_tool``, the markers of a tool's function, ``FunctionTool._is_agent_tool`` and
``._mcp_tool_binding``, ``ToolContext._function_tool_arguments``, ``agents.run.AgentRunner``,
``BatchTraceProcessor``'s methods, and ``agents.run_internal.run_grouping``, where the key is made
up that tells OpenAI which requests are of one run.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from agents import FunctionTool
from agents.agent import AgentBase
from agents.run import AgentRunner
from agents.tool import _FailureHandlingFunctionToolInvoker as Invoker
from agents.tracing.processors import BatchTraceProcessor

from workbench.adapters.frameworks.clients import is_wired

__all__ = [
    "RUN_KEYS",
    "AgentBase",
    "AgentRunner",
    "BatchTraceProcessor",
    "FunctionTool",
    "Invoker",
]

RUN_KEYS = (
    (import_module("agents.run_internal.run_grouping"),)
    if find_spec("agents.run_internal.prompt_cache_key") is not None
    else ()
)
"""The module that makes a run's key up, in releases that send one."""
Impl = Callable[[Any, str], Awaitable[Any]]
"""What does a tool's work: called with the tool's context and the arguments as JSON text."""

_FUNCTION = "__agents_function_tool_wrapped_callable__"
_OURS = "__workbench__"


def is_ours(model: Any) -> bool:
    """Whether a model's calls are recorded at the SDK's seam: not those that are sent by a hooked
    client. A model that keeps a web socket open sends nothing through its client."""
    over_socket = "WSModel" in type(model).__name__
    return over_socket or not is_wired(model)


def impl_of(invoker: Any) -> tuple[Any, Impl]:
    """The tool that an invoker belongs to, and what does its work."""
    impl: Impl = invoker._invoke_tool_impl  # noqa: SLF001
    return invoker._function_tool, impl  # noqa: SLF001


def with_impl(invoker: Any, impl: Impl) -> Any:
    """The same invoker with something else that does the work; it handles failures as it did."""
    made = copy.copy(invoker)
    made._invoke_tool_impl = impl  # noqa: SLF001
    return made


def function_of(impl: Impl) -> Any:
    """The Python function behind a tool, where this release tells; None else."""
    return getattr(impl, _FUNCTION, None)


def is_agent(tool: Any) -> bool:
    """Whether a tool is an agent, which asks models and calls tools of its own."""
    return bool(getattr(tool, "_is_agent_tool", False))


def name_further_in(tool: Any, name: str) -> str:
    """By which name the tool is called at its server, which may not be that for the model."""
    binding = getattr(tool, "_mcp_tool_binding", None)
    return str(binding[1]) if binding else name


def reads_only(tool: Any) -> bool:
    """Whether its server says that a tool only reads."""
    hints = getattr(tool, "mcp_annotations", None)
    newer = getattr(hints, "read_only_hint", None)  # beside it the older name may be deprecated
    return (getattr(hints, "readOnlyHint", None) if newer is None else newer) is True


def forget_prepared(context: Any) -> None:
    """A tool is called with other arguments than those that were prepared for an approval."""
    if hasattr(context, "_function_tool_arguments"):
        context._function_tool_arguments = None  # noqa: SLF001


def with_invoke(tool: Any, call: Callable[[Any, Impl, Any, str], Awaitable[Any]]) -> Any:
    """A copy of a tool with an ``on_invoke_tool`` of the user's own, which goes through ``call``;
    the very tool where the SDK made it, since its invoker is hooked."""
    original = tool.on_invoke_tool
    if isinstance(original, Invoker) or getattr(original, _OURS, False):
        return tool

    @functools.wraps(original)
    async def invoke(context: Any, given: str) -> Any:
        return await call(tool, original, context, given)

    setattr(invoke, _OURS, True)
    made = copy.copy(tool)
    made.on_invoke_tool = invoke
    return made
