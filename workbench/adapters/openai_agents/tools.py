"""Tool calls: where a tool's function, or its MCP server, is called.

That is inside of what turns a failure into a message for the model, so that an injected failure is
told to the model as the tool's own would be. An agent that is used as a tool is none: what it asks
and calls is recorded, in a step of its own.
"""

from __future__ import annotations

import json
from typing import Any

from workbench.adapters.frameworks.asking import RUN, asked_by_last
from workbench.adapters.frameworks.steps import agent_step
from workbench.adapters.openai_agents.library import (
    FunctionTool,
    Impl,
    forget_prepared,
    function_of,
    impl_of,
    is_agent,
    name_further_in,
    reads_only,
    with_impl,
    with_invoke,
)
from workbench.adapters.openai_agents.results import Results
from workbench.seam.current import COVERED_TOOL, current_seam
from workbench.seam.plain_calls import atool_call
from workbench.trace.payloads.reading import parse_arguments


async def invoke(wrapped: Any, invoker: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The invoker of a tool that the SDK made."""
    tool, impl = impl_of(invoker)
    if current_seam() is None or tool is None:
        return await wrapped(*args, **kwargs)

    async def recorded(context: Any, given: str) -> Any:
        return await call_tool(tool, impl, context, given)

    return await wrapped.__func__(with_impl(invoker, recorded), *args, **kwargs)


async def get_all_tools(
    wrapped: Any, agent: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """The tools of the agent whose turn it is; those with an invoker of the user's own are hooked
    one by one."""
    tools = await wrapped(*args, **kwargs)
    if current_seam() is None:
        return tools
    run = RUN.get()
    if run is not None:
        run.agent = agent.name
    return [
        with_invoke(tool, call_tool) if isinstance(tool, FunctionTool) else tool for tool in tools
    ]


async def call_tool(tool: Any, impl: Impl, context: Any, given: str) -> Any:
    """Take a tool's call over the seam.

    Args:
        tool: the tool.
        impl: what does its work.
        context: the tool's context; it is in no trace.
        given: the arguments, as the model wrote them.
    """
    if current_seam() is None:
        return await impl(context, given)
    with agent_step(_agent(context)):
        if is_agent(tool):
            return await impl(context, given)
        return await _recorded(tool, impl, context, given)


async def _recorded(tool: Any, impl: Impl, context: Any, given: str) -> Any:
    name = str(getattr(context, "tool_name", None) or tool.name)
    arguments = _arguments(given)

    async def make(changed: dict[str, Any]) -> Any:
        text = given
        if changed is not arguments:
            forget_prepared(context)
            text = json.dumps(changed, ensure_ascii=False)
        token = COVERED_TOOL.set(name_further_in(tool, name))
        try:
            return await impl(context, text)
        finally:
            COVERED_TOOL.reset(token)

    function = function_of(impl)
    results = Results.of(function)
    with asked_by_last():
        return await atool_call(
            name,
            arguments,
            make,
            effect="read" if reads_only(tool) else None,
            of=function,
            dump=results.dump,
            load=results.load,
        )


def _arguments(given: str) -> dict[str, Any]:
    """The arguments by name; a text that is no JSON object stands under ``input``."""
    value, error = parse_arguments(given or "{}")
    return value if error is None and isinstance(value, dict) else {"input": given}


def _agent(context: Any) -> str | None:
    agent = getattr(context, "agent", None)
    run = RUN.get()
    name = getattr(agent, "name", None) or (run.agent if run is not None else None)
    return name if isinstance(name, str) else None
